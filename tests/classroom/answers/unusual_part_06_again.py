"""Parts 6a to 6c, and stage 6 of mini. The verdicts were written before anything was run."""

EXAMINER = """
import numpy as np

def numerical(f, x, eps=1e-2):
    return np.array([(f(x + e) - f(x - e)) / (2 * eps) for e in eps * np.eye(len(x))])
"""

ANSWERS = [
    # ---- 6a -------------------------------------------------------------------------------------
    ("gradient-two-paths", "(5 + 1, 2)", "right", "worked out in the cell"),
    ("gradient-two-paths", "(5, 2)", "wrong", "the addition is forgotten"),
    ("gradient-two-paths", "{'a': 6, 'b': 2}", "asked again", "a dict is no pair"),
    (
        "gradient-flow-by-hand",
        """
def flow(grad, a, b):
    z = a * b
    at_product = grad * (z + 1.5707963267948966).sin()
    return at_product * b + grad, at_product * a
""",
        "right",
        "a cosine as a sine a quarter turn ahead",
    ),
    (
        "gradient-flow-by-hand",
        """
def flow(grad, a, b):
    at_sum = [grad, grad]
    (at_product,) = flow_back((a * b).sin(), at_sum[0])
    to_a, to_b = flow_back(a * b, at_product)
    return to_a + at_sum[1], to_b
""",
        "wrong",
        "the notebook imports flow_back: tinyframe's rows do the work, node by node",
    ),
    (
        "gradient-flow-by-hand",
        "lambda grad, a, b: ((a * b).cos() * b + 1, (a * b).cos() * a)",
        "wrong",
        "forgets grad",
    ),
    (
        "gradient-by-counting",
        "lambda v: Tensor.stack(*[v[:k].sum() for k in range(1, len(v) + 1)]).sum()",
        "right",
        "stacks partial sums",
    ),
    (
        "gradient-by-counting",
        "lambda v: v.cumsum(0).sum() + 100",
        "wrong",
        "has the gradient, but it's no total of elements of v",
    ),
    (
        "gradient-by-counting",
        "lambda v: v.reshape(1, -1).expand(v.shape[0], -1).tril().sum()",
        "right",
        "a triangle of copies, by tril: row i keeps the first i + 1",
    ),
    (
        "gradient-by-counting",
        "lambda v: v.reshape(1, -1).expand(v.shape[0], -1).triu().sum()",
        "wrong",
        "the other triangle: 1, 2, 3",
    ),
    (
        "gradient-by-counting",
        "lambda v: (Tensor.arange(v.shape[0], 0, -1).log2() + v.log2()).exp2().sum()",
        "wrong",
        "a multiplication by logarithms",
    ),
    (
        "gradient-of-cumsum",
        "lambda grad: grad.flip(0).cumsum(0).flip(0)",
        "right",
        "what most will write",
    ),
    (
        "gradient-of-cumsum",
        """
from tinyframe.tensor.gradient import compute_gradient as theirs

def back_through_cumsum(grad):
    x = Tensor.zeros(*grad.shape).contiguous()
    c = x.cumsum(0)
    return Tensor(theirs(c.uop, grad.uop, [x.uop])[x.uop])
""",
        "wrong",
        "tinyframe does the walk, under a different name",
    ),
    (
        "gradient-of-cumsum",
        """
def back_through_cumsum(grad):
    n = grad.shape[0]
    return Tensor.ones(n, n).triu() @ grad
""",
        "right",
        "as a matrix: row i adds up what comes from place i on",
    ),
    ("gradient-of-cumsum", "lambda grad: grad.cumsum(0).flip(0)", "wrong", "one flip too few"),
    (
        "gradient-numerical",
        """
def numerical(f, x, eps=1e-2):
    found = []
    for i in range(len(x)):
        old = x[i]
        x[i] = old + eps
        up = f(x)
        x[i] = old - eps
        down = f(x)
        x[i] = old
        found.append((up - down) / (2 * eps))
    return found
""",
        "right",
        "nudges x itself and puts the number back",
    ),
    (
        "gradient-numerical",
        """
def numerical(f, x, eps=1e-2):
    g = lambda k: np.array([f(x + k * eps * e) for e in np.eye(len(x))])
    return (8 * (g(1) - g(-1)) - (g(2) - g(-2))) / (12 * eps)
""",
        "right",
        "the stencil with four points",
    ),
    (
        "gradient-numerical",
        """
def numerical(f, x, eps=1e-2):
    nudges = np.diag(np.full(x.shape, eps / 2))
    return np.apply_along_axis(lambda n: (f(x + n) - f(x - n)) / eps, 1, nudges)
""",
        "right",
        "half the nudge and half the distance, with apply_along_axis",
    ),
    (
        "gradient-numerical",
        """
def numerical(f, x, eps=1e-2):
    rows = zip(eps * np.eye(len(x)), x)
    return [(f(x * (1 + e)) - f(x * (1 - e))) / (2 * eps * k) for e, k in rows]
""",
        "wrong",
        "nudges by a share of x, which is nothing at 0",
    ),
    (
        "gradient-guilty-rows",
        """
def guilty(suspects, x):
    def slopes(f):
        t = Tensor(x, dtype="float64")
        return f(t).sum().gradient(t)[0].numpy()
    def measured(f):
        return numerical(lambda v: f(Tensor(v, dtype="float64")).sum().item(), x, 1e-4)
    def numerical(f, x, eps):
        return np.array([(f(x + e) - f(x - e)) / (2 * eps) for e in eps * np.eye(len(x))])
    return [n for n, f in suspects.items() if not np.allclose(slopes(f), measured(f), rtol=1e-3)]
""",
        "right",
        "in float64, with a tolerance of a thousandth",
    ),
    (
        "gradient-guilty-rows",
        """
def guilty(suspects, x):
    found = []
    for name, f in suspects.items():
        t = Tensor(x.astype(np.float32))
        table = f(t).sum().gradient(t)[0].numpy()
        up, down = (f(Tensor((x + s).astype(np.float32))).numpy() for s in (1e-2, -1e-2))
        if np.abs(table - (up - down) / 2e-2).max() > 0.01:
            found.append(name)
    return found
""",
        "wrong",
        "max() of a nan is nan, and nan > 0.01 is False (the row of log2 gave infinity until now)",
    ),
    (
        "gradient-guilty-rows",
        """
def guilty(suspects, x):
    t = Tensor(x.astype(np.float32))
    return (n for n, f in suspects.items() if np.isnan(f(t).sum().gradient(t)[0].numpy()).any())
""",
        "wrong",
        "finds only rows that give nan",
    ),
    (
        "gradient-safe-sqrt",
        "lambda x: (x > 0).where(x, 1).sqrt() - (x > 0).where(0.0, 1.0)",
        "right",
        "the root of 1, and 1 off, elsewhere",
    ),
    (
        "gradient-safe-sqrt",
        "lambda x: (x > 0).where((x > 0).where(x, 1.0) ** 0.5, 0.0)",
        "right",
        "a power in place of a root",
    ),
    (
        "gradient-safe-sqrt",
        "lambda x: x.abs().sqrt() * (x > 0)",
        "right",
        "I expected nan at 0; but abs() takes a constant there, so nothing gets back to x",
    ),
    (
        "gradient-safe-sqrt",
        "lambda x: (x > 0).where(x.abs().sqrt(), 0.0)",
        "right",
        "I expected nan at 0; but abs() takes a constant there, so nothing gets back to x",
    ),
    (
        "gradient-safe-sqrt",
        "lambda x: (x > 0).where((x.detach() > 0).where(x, 1.0).sqrt().detach(), 0.0)",
        "wrong",
        "no nan, and no gradient",
    ),
    (
        "gradient-nth-derivative",
        """
from functools import reduce

def nth_derivative(f, x, n):
    return reduce(lambda y, _: y.gradient(x, gradient=Tensor.ones(*y.shape))[0], range(n), f(x))
""",
        "right",
        "a fold, and ones in place of the sum",
    ),
    (
        "gradient-nth-derivative",
        """
def nth_derivative(f, x, n):
    y = f(x)
    while n:
        y, n = y.sum().gradient(x)[0].realize(), n - 1
    return y
""",
        "right",
        "realizes on the way: that cuts nothing in tinyframe",
    ),
    (
        "gradient-nth-derivative",
        """
def nth_derivative(f, x, n):
    if n == 0:
        return f(x)
    below, above = (nth_derivative(f, x + e, n - 1) for e in (-0.01, 0.01))
    return (above - below) / 0.02
""",
        "wrong",
        "differences of differences, in 32 bits",
    ),
    (
        "gradient-straight-through",
        "(UPat(Ops.TRUNC, src=(UPat.var('x'),)), lambda grad, x: (grad,))",
        "right",
        "names the source, and doesn't use it",
    ),
    (
        "gradient-straight-through",
        "(UPat(Ops.TRUNC, name='z'), lambda z, grad: (grad * z / z,))",
        "wrong",
        "0 / 0 where the whole number is 0",
    ),
    ("gradient-straight-through", "(UPat(Ops.TRUNC), lambda grad: grad)", "wrong", "no tuple"),
    (
        "gradient-straight-through",
        "(UPat(Ops.TRUNC), lambda grad: (grad.const_like(1),))",
        "wrong",
        "passes on 1, whatever arrives",
    ),
    # ---- 6b -------------------------------------------------------------------------------------
    (
        "training-stuck-start",
        """
def stuck_start(hidden):
    dice = np.random.default_rng(3)
    w1 = Tensor(0.01 * dice.choice([-1, 1], (2, hidden)).astype(np.float32) * dice.uniform(0.5, 1))
    return w1, Tensor.full((hidden,), 4.0), Tensor(dice.uniform(0.5, 1, (hidden, 1)).astype("f"))
""",
        "wrong",
        "not copies: all are far out, where tanh is nearly 1, and differ in what little they see",
    ),
    (
        "training-stuck-start",
        """
def stuck_start(hidden):
    one = Tensor.randn(2, 1), Tensor.randn(1), Tensor.randn(1, 1)
    return one[0].expand(2, hidden), one[1].expand(hidden), one[2].expand(hidden, 1)
""",
        "right",
        "random, and the same for all: views of one draw",
    ),
    (
        "training-stuck-start",
        """
def stuck_start(hidden):
    w2 = 1.0 + Tensor.arange(hidden).reshape(hidden, 1) / 10
    return Tensor.full((2, hidden), 0.5), Tensor.full((hidden,), 0.1), w2
""",
        "wrong",
        "the hidden values begin as copies, but are weighted differently, so they part",
    ),
    (
        "training-stuck-start",
        "lambda h: (Tensor.full((2, h), 50.0), Tensor.full((h,), 900.0), Tensor.full((h, 1), 0.5))",
        "wrong",
        "copies, but so far out that they never move",
    ),
    (
        "training-momentum",
        """
def momentum_step(parameter, velocity, gradient, rate):
    velocity = velocity.lerp(gradient * 10, 0.1)
    return parameter - rate * velocity, velocity
""",
        "right",
        "lerp from v to 10 g by a tenth is 0.9 v + g",
    ),
    (
        "training-momentum",
        """
def momentum_step(parameter, velocity, gradient, rate):
    velocity = 0.9 * velocity + gradient
    return parameter - rate * (0.9 * velocity + gradient), velocity
""",
        "wrong",
        "Nesterov's, which looks one step ahead",
    ),
    (
        "training-momentum",
        """
def momentum_step(parameter, velocity, gradient, rate):
    velocity = 0.9 * velocity - rate * gradient
    return parameter + velocity, velocity
""",
        "wrong",
        "the classical form, whose velocity holds the rate: not what was asked",
    ),
    (
        "training-optimizer-memory",
        """
def remembered(optimizer):
    state = nn.state.get_state_dict(optimizer)
    return sum(map(Tensor.numel, state.values())) - sum(map(Tensor.numel, optimizer.params))
""",
        "right",
        "everything, minus the parameters",
    ),
    (
        "training-optimizer-memory",
        """
def remembered(optimizer):
    kept = nn.state.get_parameters(optimizer)
    return float(np.sum([t.numel() for t in kept]) - sum(p.numel() for p in optimizer.params))
""",
        "right",
        "a float that is a whole number",
    ),
    (
        "training-optimizer-memory",
        "lambda o: len(nn.state.get_state_dict(o)) - len(o.params)",
        "wrong",
        "counts Tensors, not numbers",
    ),
    ("training-jit-two-changes", "3 * 10", "right", "worked out in the cell"),
    ("training-jit-two-changes", "300", "wrong", "what Python would give"),
    (
        "training-number-as-tensor",
        "lambda captured, x, number: captured(x, Tensor.full(x.shape, number).contiguous())",
        "right",
        "a number for each element",
    ),
    (
        "training-number-as-tensor",
        "lambda captured, x, number: captured(x * number, Tensor([1.0]))",
        "right",
        "the number goes in through x, which is computed for each call",
    ),
    (
        "training-number-as-tensor",
        "lambda captured, x, number: x * number",
        "wrong",
        "captured isn't called",
    ),
    (
        "training-number-as-tensor",
        "lambda captured, x, number: TinyJit(lambda x, k: x * k)(x, Tensor([number]))",
        "wrong",
        "a function of its own in place of captured",
    ),
    (
        "training-folded-batchnorm",
        """
def folded(linear, norm):
    class Both(nn.Linear):
        def __call__(self, x):
            return norm(linear(x))
    return Both(1, 1)
""",
        "wrong",
        "still two layers, dressed up as a Linear",
    ),
    (
        "training-folded-batchnorm",
        """
def folded(linear, norm):
    scale = norm.weight * (norm.running_var + norm.eps).rsqrt()
    new = nn.Linear(*reversed(linear.weight.shape))
    bias = (linear.bias - norm.running_mean) * scale + norm.bias
    state = {"weight": (linear.weight.T * scale).T, "bias": bias}
    nn.state.load_state_dict(new, {k: v.contiguous().realize() for k, v in state.items()})
    return new
""",
        "right",
        "turned to scale the columns and turned back, loaded as a state",
    ),
    (
        "training-folded-batchnorm",
        """
def folded(linear, norm):
    scale = norm.weight / (norm.running_var + norm.eps).sqrt()
    new = nn.Linear(linear.weight.shape[1], linear.weight.shape[0])
    new.weight = linear.weight * scale
    new.bias = (linear.bias - norm.running_mean) * scale + norm.bias
    return new
""",
        "wrong",
        "scales the columns, where it should scale the rows",
    ),
    (
        "training-folded-batchnorm",
        """
def folded(linear, norm):
    scale = norm.weight / (norm.running_var + norm.eps).sqrt()
    linear.weight.assign(linear.weight * scale.reshape(-1, 1)).realize()
    linear.bias.assign((linear.bias - norm.running_mean) * scale + norm.bias).realize()
    return linear
""",
        "wrong",
        "changes the original",
    ),
    # ---- 6c -------------------------------------------------------------------------------------
    (
        "triumph-newton-throw",
        """
def next_throw(place, vx, vy, hoop):
    x, y = place(vx, vy)
    slopes = [g.numpy().item() for part in (x, y) for g in part.sum().gradient(vx, vy)]
    off = [x.numpy().item() - hoop[0], y.numpy().item() - hoop[1]]
    change, *_ = np.linalg.lstsq(np.reshape(slopes, (2, 2)), off, rcond=None)
    return [vx.numpy().item() - change[0], vy.numpy().item() - change[1]]
""",
        "right",
        "least squares, and the miss the other way round",
    ),
    (
        "triumph-newton-throw",
        """
def next_throw(place, vx, vy, hoop):
    for _ in range(6):
        x, y = place(vx, vy)
        (a, b), (c, d) = x.sum().gradient(vx, vy), y.sum().gradient(vx, vy)
        u, v, det = hoop[0] - x, hoop[1] - y, a * d - b * c
        vx, vy = (vx + (u * d - v * b) / det).realize(), (vy + (a * v - c * u) / det).realize()
    return vx, vy
""",
        "wrong",
        "six steps, where one was asked for",
    ),
    (
        "triumph-newton-throw",
        """
def next_throw(place, vx, vy, hoop):
    def landed(a, b):
        return np.array([part.numpy().item() for part in place(Tensor([a]), Tensor([b]))])
    a, b, e = vx.numpy().item(), vy.numpy().item(), 0.05
    J = np.column_stack([landed(a + e, b) - landed(a - e, b), landed(a, b + e) - landed(a, b - e)])
    return tuple(np.array([a, b]) + np.linalg.solve(J / (2 * e), np.subtract(hoop, landed(a, b))))
""",
        "right",
        "slopes that are measured: the same step, by the examiner's way",
    ),
    (
        "triumph-newton-throw",
        """
def next_throw(place, vx, vy, hoop):
    x, y = place(vx, vy)
    J = [[g.numpy().item() for g in part.sum().gradient(vx, vy)] for part in (x, y)]
    miss = [hoop[0] - x.numpy().item(), hoop[1] - y.numpy().item()]
    return np.array([vx.numpy().item(), vy.numpy().item()]) + np.linalg.solve(np.transpose(J), miss)
""",
        "wrong",
        "the slopes are transposed",
    ),
    (
        "triumph-circles",
        """
def circle(f, x):
    y = f(x)
    (s,) = y.sum().gradient(x)
    (b,) = s.sum().gradient(x)
    x, y, s, b = (t.numpy() for t in (x, y, s, b))
    return np.array([x - s * (1 + s**2) / b, y + (1 + s**2) / b, (1 + s**2) ** 1.5 / abs(b)])
""",
        "right",
        "one array with three rows",
    ),
    (
        "triumph-circles",
        """
def circle(f, x):
    (s,) = f(x).sum().gradient(x)
    (b,) = s.sum().gradient(x)
    t = f(x)
    up = t + (1 + s * s) / b
    across = x - (up - t) * s
    return across, up, ((up - t) * (up - t) + (across - x) * (across - x)).sqrt()
""",
        "right",
        "the radius as the distance between the centre and the point",
    ),
    (
        "triumph-circles",
        """
def circle(f, x):
    (s,) = f(x).sum().gradient(x)
    (b,) = s.sum().gradient(x)
    s, b = s.numpy(), b.numpy()
    return x.numpy() + s * (1 + s**2) / b, f(x).numpy() + (1 + s**2) / b, (1 + s**2) ** 1.5 / abs(b)
""",
        "wrong",
        "the centre on the wrong side: a sign",
    ),
    (
        "triumph-cnn",
        """
def network(dice):
    w, b = Tensor(dice.standard_normal((64, 24, 1, 1)) / 8), Tensor(np.zeros(24))
    v, c = Tensor(dice.standard_normal((24, 10)) / 5), Tensor(np.zeros(10))
    def model(images):
        x = images.reshape(images.shape[0], 64)
        return (x @ w.reshape(64, 24) + b).relu() @ v + c
    return [w, b, v, c], model
""",
        "wrong",
        "a matrix that only looks like filters: no conv2d",
    ),
    (
        "triumph-own-op",
        EXAMINER
        + """
forward = np.tanh
row = lambda grad, node, x: (1 - node * node,)
""",
        "wrong",
        "forgets grad: it's the slope alone",
    ),
    (
        "triumph-own-op",
        EXAMINER
        + """
forward = np.arctan
row = lambda grad, node, x: (grad / (x * x + 1),)
""",
        "right",
        "arctan; np.arctan itself is the function",
    ),
    (
        "triumph-own-op",
        EXAMINER
        + """
forward = lambda v: np.cumsum(v)
row = lambda grad, node, x: (grad,)
""",
        "wrong",
        "not element by element",
    ),
    (
        "triumph-own-op",
        """
forward = np.tanh
row = lambda grad, node, x: (grad * (1 - node * node),)
numerical = lambda f, x, eps=1e-2: 1 - np.tanh(x) ** 2
""",
        "wrong",
        "an examiner that knows the answer",
    ),
]

STEP = "def step(self, loss):"

MINI = [
    (
        "6",
        "mul_gradient",
        """
@gradient_rule(Ops.MUL)
def mul_gradient(grad, node, x, y):
    return [y * grad, x * grad]
""",
        "right",
        "a list, factors swapped",
    ),
    (
        "6",
        "max_gradient",
        """
@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    tie = x.eq(y)
    return grad * ((y < x) + tie * 0.5), grad * ((x < y) + tie * 0.5)
""",
        "right",
        "comparisons are numbers",
    ),
    (
        "6",
        "max_gradient",
        """
@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    a, b = x.eq(node), y.eq(node)
    return grad * a / (a + b), grad * b / (a + b)
""",
        "right",
        "whoever is the maximum shares; for a NaN nobody is, and 0 / 0 is NaN there only",
    ),
    (
        "6",
        "recip_gradient",
        """
@gradient_rule(Ops.RECIP)
def recip_gradient(grad, node, x):
    return (-grad / (x * x),)
""",
        "right",
        "by x",
    ),
    (
        "6",
        "sqrt_gradient",
        """
@gradient_rule(Ops.SQRT)
def sqrt_gradient(grad, node, x):
    return (grad * 0.5 * x.recip().sqrt(),)
""",
        "right",
        "the root of 1 / x",
    ),
    (
        "6",
        "exp2_gradient",
        """
@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    return (grad * x.exp2() / math.log2(math.e),)
""",
        "right",
        "the same node built again, and ln 2 as 1 / log2(e)",
    ),
    (
        "6",
        "exp2_gradient",
        """
@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    return (node * math.log(2),)
""",
        "wrong",
        "forgets grad, which is 1 in both examples",
    ),
    (
        "6",
        "log2_gradient",
        """
@gradient_rule(Ops.LOG2)
def log2_gradient(grad, node, x):
    return (1 / (x * math.log(2)),)
""",
        "wrong",
        "forgets grad, which is 1 in both examples",
    ),
    (
        "6",
        "where_gradient",
        """
@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    return None, grad * condition, grad * (1 - condition)
""",
        "right",
        "a condition is 1 or 0",
    ),
    (
        "6",
        "permute_gradient",
        """
@gradient_rule(Ops.PERMUTE)
def permute_gradient(grad, node, x):
    return (grad.permute(*np.argsort(node.arg)),)
""",
        "right",
        "argsort undoes a permutation",
    ),
    (
        "6",
        "permute_gradient",
        """
@gradient_rule(Ops.PERMUTE)
def permute_gradient(grad, node, x):
    for _ in range(5):
        grad = grad.permute(*node.arg)
    return (grad,)
""",
        "wrong",
        "six times around is no change only for permutations of up to three axes",
    ),
    (
        "6",
        "expand_gradient",
        """
@gradient_rule(Ops.EXPAND)
def expand_gradient(grad, node, x):
    for axis, (was, now) in enumerate(zip(x.shape, node.shape)):
        if was != now:
            grad = grad.sum(axis, keepdim=True)
    return (grad,)
""",
        "right",
        "one axis at a time",
    ),
    (
        "6",
        "expand_gradient",
        """
@gradient_rule(Ops.EXPAND)
def expand_gradient(grad, node, x):
    return (grad.sum(*[k for k, n in enumerate(x.shape) if n == 1]).reshape(*x.shape),)
""",
        "right",
        "all axes of size 1, stretched or not, and a reshape",
    ),
    (
        "6",
        "shrink_gradient",
        """
from mini.part4 import UOp

@gradient_rule(Ops.SHRINK)
def shrink_gradient(grad, node, x):
    widths = [(a, n - b) for (a, b), n in zip(node.arg, x.shape)]
    return (UOp(Ops.PAD, (grad,), tuple(widths)),)
""",
        "right",
        "the node itself (I had forgotten that UOp isn't imported, and was told so)",
    ),
    (
        "6",
        "pad_gradient",
        """
@gradient_rule(Ops.PAD)
def pad_gradient(grad, node, x):
    return (grad.shrink(*((a, size - b) for (a, b), size in zip(node.arg, grad.shape))),)
""",
        "right",
        "counted from the end of grad",
    ),
    (
        "6",
        "flip_gradient",
        """
@gradient_rule(Ops.FLIP)
def flip_gradient(grad, node, x):
    return (grad.alu(Ops.FLIP),)
""",
        "wrong",
        "FLIP is no elementwise op",
    ),
    (
        "6",
        "reduce_gradient",
        """
@gradient_rule(Ops.REDUCE_AXIS)
def reduce_gradient(grad, node, x):
    op, axes = node.arg
    if op is Ops.ADD:
        return (grad.expand(*x.shape),)
    mask = x.eq(node)
    return (mask * (grad / mask.sum(*axes, keepdim=True)),)
""",
        "right",
        "broadcasting stretches node and grad; divided before it is spread",
    ),
    (
        "6",
        "gradient",
        """
def gradient(loss, *wanted):
    table = {loss: loss.const(1.0)}
    for node in reversed(loss.toposort()):
        if node in table and node.op in GRADIENT:
            parts = GRADIENT[node.op](table[node], node, *node.src)
            for source, part in zip(node.src, parts):
                if part is not None:
                    table[source] = table[source] + part if source in table else part
    return tuple(table.get(node, loss.const(0.0)) for node in wanted)
""",
        "right",
        "a tuple for a list",
    ),
    (
        "6",
        "gradient",
        """
def gradient(loss, *wanted):
    arrived = {loss: [loss.const(1.0)]}
    for node in loss.toposort()[::-1]:
        if node.op not in GRADIENT or node not in arrived:
            continue
        total, *rest = arrived[node]
        for one in rest:
            total = total + one
        for source, part in zip(node.src, GRADIENT[node.op](total, node, *node.src)):
            if part is not None:
                arrived.setdefault(source, []).append(part)
    return [sum(arrived.get(node, []), loss.const(0.0)) for node in wanted]
""",
        "right",
        "lists of what has arrived, added up when it's the node's turn",
    ),
    (
        "6",
        "gradient",
        """
from collections import Counter

def gradient(loss, *wanted):
    users = Counter(s for node in loss.toposort() for s in node.src)
    table, ready = {loss: loss.const(1.0)}, [loss]
    while ready:
        node = ready.pop()
        row = GRADIENT.get(node.op)
        known = row and node in table
        parts = row(table[node], node, *node.src) if known else [None] * len(node.src)
        for source, part in zip(node.src, parts):
            if part is not None:
                table[source] = table[source] + part if source in table else part
            users[source] -= 1
            if users[source] == 0:
                ready.append(source)
    return [table.get(node, loss.const(0.0)) for node in wanted]
""",
        "right",
        "counts users down (Kahn's algorithm), no order asked for",
    ),
    (
        "6",
        "SGD",
        """
class SGD:
    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr

    def step(self, loss):
        for p, g in zip(self.params, loss.gradient(*self.params)):
            p.uop = (p - self.lr * g).uop
        return loss.realize(*self.params)
""",
        "right",
        "short; the graphs of the steps still hold the old nodes",
    ),
    (
        "6",
        "SGD",
        """
class SGD:
    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr

    def step(self, loss):
        for p, g in zip(self.params, loss.gradient(*self.params)):
            p.uop = (p - self.lr * g).realize().uop
        return loss
""",
        "wrong",
        "the loss isn't realized",
    ),
    (
        "6",
        "SGD",
        """
class SGD:
    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr

    def step(self, loss):
        grads = loss.gradient(*self.params)
        new = [(p.numpy() - self.lr * g.numpy()) for p, g in zip(self.params, grads)]
        for p, values in zip(self.params, new):
            p.uop = Tensor(values).uop
        return loss.realize()
""",
        "right",
        "with NumPy in between, but every promise is kept",
    ),
    (
        "6",
        "Adam",
        """
class Adam:
    def __init__(self, params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8):
        self.params, self.rest, self.t = list(params), (lr, b1, b2, eps), 0
        self.m, self.v = ([Tensor(np.zeros(p.shape)) for p in params] for _ in "mv")

    def step(self, loss):
        lr, b1, b2, eps = self.rest
        self.t += 1
        c1, c2 = Tensor(1 - b1**self.t), Tensor(1 - b2**self.t)
        grads = loss.gradient(*self.params)
        for p, m, v, g in zip(self.params, self.m, self.v, grads):
            m.uop, v.uop = (m * b1 + g * (1 - b1)).uop, (v * b2 + g * g * (1 - b2)).uop
            p.uop = (p - lr * (m / c1) / ((v / c2).sqrt() + eps)).uop
        return loss.realize(*self.params, *self.m, *self.v)
""",
        "right",
        "counts in Python, and puts the two corrections into Tensors",
    ),
    (
        "6",
        "Adam",
        """
class Adam:
    def __init__(self, params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8):
        self.params, self.rest = list(params), (lr, b1, b2, eps)
        self.t = Tensor(0.0)
        self.m, self.v = ([Tensor(np.zeros(p.shape)) for p in params] for _ in "mv")

    def step(self, loss):
        lr, b1, b2, eps = self.rest
        self.t.uop = (self.t + 1).uop
        c1, c2 = (1 - (self.t * math.log2(b)).exp2() for b in (b1, b2))
        grads = loss.gradient(*self.params)
        for p, m, v, g in zip(self.params, self.m, self.v, grads):
            m.uop, v.uop = (m * b1 + g * (1 - b1)).uop, (v * b2 + g * g * (1 - b2)).uop
            p.uop = (p - lr * (m / c1) / ((v / c2).sqrt() + eps)).uop
        return loss.realize(self.t, *self.params, *self.m, *self.v)
""",
        "right",
        "t in a Tensor, and the power by exp2",
    ),
    (
        "6",
        "Adam",
        """
class Adam:
    def __init__(self, params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8):
        self.params, self.rest, self.t = list(params), (lr, b1, b2, eps), 0
        self.m, self.v = ([Tensor(np.zeros(p.shape)) for p in params] for _ in "mv")

    def step(self, loss):
        lr, b1, b2, eps = self.rest
        self.t += 1
        c1, c2 = Tensor(1 - b1**self.t), Tensor(1 - b2**self.t)
        grads = loss.gradient(*self.params)
        for p, m, v, g in zip(self.params, self.m, self.v, grads):
            m.uop, v.uop = (m * b1 + g * (1 - b1)).uop, (v * b2 + g * g * (1 - b2)).uop
            p.uop = (p - lr * (m / c1) / (v / c2 + eps).sqrt()).uop
        return loss.realize(*self.params, *self.m, *self.v)
""",
        "wrong",
        "eps under the root",
    ),
    (
        "6",
        "Mine",
        """
class Mine:
    def __pow__(x, n):
        size = (x.maximum(-x).log2() * n).exp2()
        return (x < 0).where(-size, size) if n % 2 == 1 else size

    def __abs__(x):
        return x.maximum(-x)

    def sigmoid(x):
        return ((-x).maximum(-80.0).minimum(80.0).exp() + 1).recip()

    def minimum(x, y):
        return -((-x).maximum(-y if not isinstance(y, (int, float)) else x.const(-y)))
""",
        "wrong",
        "the power of 0: log2(0) is minus infinity, and the gradient of 0 ** 2 is nan",
    ),
    (
        "6",
        "Mine",
        """
class Mine:
    def tanh(x):
        e = (-(x.maximum(-x)) * 2).exp()
        return (x < 0).where(-1.0, x.const(1.0)) * (1 - e) / (1 + e)

    def silu(x):
        return x / ((-x).maximum(-60.0) * -1).maximum(-60.0).__neg__().exp().__add__(1)

    def cumsum(x):
        n = x.shape[-1]
        keep = Tensor(np.tril(np.ones((n, n)))).uop
        return (x.reshape(*x.shape[:-1], 1, n) * keep).sum(-1)
""",
        "wrong",
        "tanh: at 0 the slope is 0 in place of 1, since x and -x share",
    ),
    (
        "6",
        "Mine",
        """
add_op("sine", np.sin, lambda grad, node, x: (grad * (x + math.pi / 2).alu("sine"),))
add_op("hyper", np.tanh, lambda grad, node, x: (grad * (1 - node * node),))

def soft_gradient(grad, node, x):
    return (grad * (1 + (x * 0.5).alu("hyper")) * 0.5,)

add_op("soft", lambda v: np.logaddexp(0, v), soft_gradient)

class Mine:
    def sin(x):
        return x.alu("sine")

    def tanh(x):
        return x.alu("hyper")

    def softplus(x):
        return x.alu("soft")
""",
        "right",
        "three ops of their own; the slope of softplus is (1 + tanh(x / 2)) / 2",
    ),
]
