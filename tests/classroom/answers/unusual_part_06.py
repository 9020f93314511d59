"""Part 6. The verdicts were written before anything was run."""

ANSWERS = [
    # ---- 6a -------------------------------------------------------------------------------------
    ("gradient-two-paths", "[6.0, 2.0]", "right", "floats that are whole numbers, in a list"),
    ("gradient-two-paths", "'6, 2'", "right", "typed as text"),
    ("gradient-two-paths", "np.array([6, 2])", "right", "an array"),
    ("gradient-two-paths", "6", "asked again", "one number of two"),
    (
        "gradient-flow-by-hand",
        """
def flow(grad, a, b):
    half = (a * b).cos() * grad
    return [grad + b * half, a * half]
""",
        "right",
        "a list, and the factors the other way round",
    ),
    (
        "gradient-flow-by-hand",
        """
def flow(grad, a, b):
    x, y = Tensor(a), Tensor(b)
    return tuple(t.uop for t in ((x * y).sin() + x).gradient(x, y, gradient=Tensor(grad)))
""",
        "wrong",
        "tinyframe does the walk",
    ),
    (
        "gradient-by-counting",
        "lambda v: sum(v[: k + 1].sum() for k in range(v.shape[0]))",
        "right",
        "a sum of sums",
    ),
    (
        "gradient-by-counting",
        """
def counting_down(v):
    n = v.shape[0]
    return Tensor.ones(n, n).tril().where(v.reshape(1, n).expand(n, n), 0.0).sum()
""",
        "right",
        "a triangle of copies",
    ),
    (
        "gradient-by-counting",
        "lambda v: v.flip(0).pad(((0, 1),)).flip(0).cumsum(0).sum()",
        "right",
        "the padding is a zero in front, which counts for nothing (I had it at the other end)",
    ),
    ("gradient-by-counting", "lambda v: (v.cumsum(0).sum(),)", "wrong", "a tuple is no Tensor"),
    (
        "gradient-by-counting",
        "lambda v: (v * v.detach() / v.detach()).cumsum(0).sum()",
        "wrong",
        "multiplies and divides",
    ),
    (
        "gradient-of-cumsum",
        "lambda g: g.sum() - g.cumsum(0) + g",
        "right",
        "the total without what came before",
    ),
    (
        "gradient-of-cumsum",
        """
def back_through_cumsum(grad):
    n = grad.shape[0]
    return (Tensor.ones(n, n).tril() * grad.reshape(n, 1)).sum(0)
""",
        "right",
        "a matrix that knows who counts where",
    ),
    (
        "gradient-of-cumsum",
        """
def back_through_cumsum(grad):
    parts = [grad[i:].sum().reshape(1) for i in range(grad.shape[0])]
    return parts[0].cat(*parts[1:])
""",
        "right",
        "one sum for each place",
    ),
    (
        "gradient-of-cumsum",
        """
def helper(x):
    return x.cumsum(0)

def back_through_cumsum(grad):
    x = Tensor.zeros(*grad.shape)
    return getattr(helper(x), "grad" + "ient")(x, gradient=grad)[0]
""",
        "wrong",
        "asks tinyframe by a name put together",
    ),
    (
        "gradient-numerical",
        """
def numerical(f, x, eps=1e-2):
    return [(f(x + n) - f(x - n)) / (2 * eps) for n in eps * np.eye(len(x))]
""",
        "right",
        "rows of a unit matrix; a list",
    ),
    (
        "gradient-numerical",
        """
def numerical(f, x, eps=1e-2):
    out = np.empty(len(x))
    for i, _ in enumerate(x):
        up, down = x.copy(), x.copy()
        up[i] += eps
        down[i] -= eps
        out[i] = (f(up) - f(down)) / (up[i] - down[i])
    return Tensor(out)
""",
        "right",
        "a Tensor, and the width as it really is",
    ),
    (
        "gradient-numerical",
        """
def numerical(f, x, eps=1e-2):
    h, e = eps / 2, np.eye(len(x))
    g = lambda h: np.array([(f(x + h * r) - f(x - h * r)) / (2 * h) for r in e])
    return (4 * g(h) - g(eps)) / 3
""",
        "right",
        "Richardson's extrapolation: better than what was asked for",
    ),
    (
        "gradient-numerical",
        """
def numerical(f, x, eps=1e-2):
    for i in range(len(x)):
        x[i] += eps
    return x
""",
        "wrong",
        "no slope at all",
    ),
    (
        "gradient-numerical",
        "lambda f, x, eps=1e-2: Tensor(x).sum().gradient(Tensor(x))",
        "wrong",
        "does not even look at f",
    ),
    (
        "gradient-guilty-rows",
        """
def guilty(suspects, x):
    def bad(f):
        t = Tensor(x.astype(np.float32))
        table = f(t).sum().gradient(t)[0].numpy()
        up, down = f(Tensor(x + 1e-3)).numpy(), f(Tensor(x - 1e-3)).numpy()
        return not (np.abs(table - (up - down) / 2e-3) < 0.02 * np.abs(table)).all()
    return {name for name in suspects if bad(suspects[name])}
""",
        "right",
        "a set; measures every element at once, which these functions allow",
    ),
    (
        "gradient-guilty-rows",
        """
def guilty(suspects, x):
    for name, f in suspects.items():
        t = Tensor(x)
        m = (f(Tensor(x + 1e-4)) - f(Tensor(x - 1e-4))).numpy() / 2e-4
        if not np.allclose(f(t).sum().gradient(t)[0].numpy(), m, rtol=1e-2):
            yield name
""",
        "right",
        "a generator",
    ),
    ("gradient-guilty-rows", "lambda suspects, x: ['sqrt', 'exp2', 'log2']", "wrong", "a guess"),
    (
        "gradient-safe-sqrt",
        "lambda x: (x > 0).where((x > 0).where(x, 4.0).sqrt(), 0)",
        "right",
        "any positive number does inside",
    ),
    (
        "gradient-safe-sqrt",
        """
def safe_sqrt(x):
    inside = (x > 0).detach()
    safe = x * inside.float() + (1 - inside.float())
    return safe.sqrt() * inside.float()
""",
        "right",
        "arithmetic in place of where",
    ),
    ("gradient-safe-sqrt", "lambda x: x.maximum(0).sqrt()", "wrong", "nan, or infinite, at 0"),
    (
        "gradient-safe-sqrt",
        "lambda x: (x > 0).where(x.maximum(1e-8).sqrt(), 0.0)",
        "wrong",
        "positive numbers below 1e-8 are cut off",
    ),
    (
        "gradient-nth-derivative",
        """
def nth_derivative(f, x, n):
    return f(x) if n == 0 else nth_derivative(lambda t: f(t).sum().gradient(t)[0], x, n - 1)
""",
        "right",
        "by recursion, the innermost first",
    ),
    (
        "gradient-straight-through",
        "(UPat(Ops.TRUNC, name='z'), lambda grad, z: (grad,))",
        "right",
        "names the node and does not use it",
    ),
    (
        "gradient-straight-through",
        "[UPat(Ops.TRUNC), lambda grad: [grad]]",
        "right",
        "lists for tuples",
    ),
    (
        "gradient-straight-through",
        "(UPat(Ops.TRUNC), lambda grad: (grad * 2,))",
        "wrong",
        "trains, but twice as fast as it should",
    ),
    # ---- 6b -------------------------------------------------------------------------------------
    (
        "training-stuck-start",
        """
def stuck_start(hidden):
    column = Tensor([[0.5], [-0.25]]).expand(2, hidden)
    return column, Tensor.full((hidden,), 0.1), Tensor.full((hidden, 1), 0.3)
""",
        "right",
        "the rows differ, the columns don't; a view",
    ),
    (
        "training-stuck-start",
        """
def stuck_start(hidden):
    signs = Tensor([1.0 if k % 2 else -1.0 for k in range(hidden)])
    return Tensor([[0.5], [0.3]]) * signs, 0.2 * signs, 0.4 * signs.reshape(hidden, 1)
""",
        "right",
        "copies up to a sign, which tanh passes on",
    ),
    (
        "training-stuck-start",
        "lambda h: (Tensor.randn(2, h), Tensor.randn(h), Tensor.randn(h, 1))",
        "wrong",
        "random, as it should be",
    ),
    (
        "training-stuck-start",
        "lambda h: (Tensor.ones(2, h), Tensor.zeros(h), Tensor.ones(h, 1))",
        "wrong",
        "zeros",
    ),
    (
        "training-optimizer-memory",
        """
def remembered(optimizer):
    kept = [optimizer.lr]
    for name in ("b", "m", "v"):
        kept += getattr(optimizer, name, [])
    kept += [optimizer.t] if hasattr(optimizer, "t") else []
    return sum(t.numel() for t in kept)
""",
        "right",
        "two averages, the rate and the steps: that none was missed is nothing to keep",
    ),
    (
        "training-momentum",
        """
def momentum_step(parameter, velocity, gradient, rate):
    step = rate * gradient + velocity * (rate * 0.9)
    return [parameter - step, step / rate]
""",
        "right",
        "the step first, and the velocity from it",
    ),
    (
        "training-momentum",
        """
def momentum_step(parameter, velocity, gradient, rate):
    p = Tensor(parameter.numpy(), requires_grad=True)
    p.grad = gradient
    o = nn.optim.SGD([p], lr=rate, momentum=0.9)
    return p, o
""",
        "wrong",
        "an optimizer is no velocity",
    ),
    (
        "training-optimizer-memory",
        """
def remembered(optimizer):
    mine = {id(p) for p in optimizer.params}
    return sum(t.numel() for t in nn.state.get_parameters(optimizer) if id(t) not in mine)
""",
        "right",
        "told apart by identity",
    ),
    (
        "training-optimizer-memory",
        """
def remembered(optimizer):
    named = nn.state.get_state_dict(optimizer).items()
    return np.sum([t.numel() for name, t in named if not name.startswith("params")])
""",
        "right",
        "told apart by name; np.int64",
    ),
    (
        "training-optimizer-memory",
        "lambda optimizer: 2 * sum(p.numel() for p in optimizer.params)",
        "wrong",
        "what Adam keeps, for all of them",
    ),
    ("training-jit-two-changes", "30.0", "right", "a float"),
    ("training-jit-two-changes", "Tensor([30.0])", "asked again", "a Tensor is no number here"),
    (
        "training-number-as-tensor",
        "lambda captured, x, n: captured(x, Tensor([n]))",
        "right",
        "a Tensor of shape (1,) has memory",
    ),
    (
        "training-number-as-tensor",
        "lambda captured, x, n: captured(x, Tensor(n).realize())",
        "wrong",
        "a constant that is realized is still a constant",
    ),
    (
        "training-number-as-tensor",
        "lambda captured, x, n: captured(x, x * 0 + n)",
        "right",
        "computed, so it gets memory of its own",
    ),
    (
        "training-number-as-tensor",
        """
kept = Tensor([0.0]).realize()

def scale(captured, x, number):
    kept.assign(Tensor([number])).realize()
    return captured(x, kept)
""",
        "right",
        "one piece of memory, written anew",
    ),
    (
        "training-number-as-tensor",
        "lambda captured, x, n: captured(x, Tensor([1.0])) * n",
        "right",
        "captured does its part for 1, and the number comes in outside",
    ),
    (
        "training-folded-batchnorm",
        """
def folded(linear, norm):
    new = nn.Linear(linear.weight.shape[1], linear.weight.shape[0])
    s = norm.weight.numpy() / np.sqrt(norm.running_var.numpy() + norm.eps)
    new.weight = Tensor(linear.weight.numpy() * s[:, None])
    new.bias = Tensor((linear.bias.numpy() - norm.running_mean.numpy()) * s + norm.bias.numpy())
    return new
""",
        "right",
        "in NumPy",
    ),
    (
        "training-folded-batchnorm",
        """
import copy

def folded(linear, norm):
    new = copy.copy(linear)
    zero = Tensor.zeros(1, linear.weight.shape[1])
    new.bias = norm(linear(zero))[0]
    new.weight = (norm(linear(Tensor.eye(linear.weight.shape[1]))) - new.bias).T
    return new
""",
        "right",
        "asks both layers what they do to 0 and to the unit vectors",
    ),
    (
        "training-folded-batchnorm",
        "lambda linear, norm: nn.Sequential(linear, norm)",
        "wrong",
        "that's still two",
    ),
    # ---- 6c -------------------------------------------------------------------------------------
    (
        "triumph-newton-throw",
        """
def next_throw(place, vx, vy, hoop):
    x, y = place(vx, vy)
    (a, b), (c, d) = x.sum().gradient(vx, vy), y.sum().gradient(vx, vy)
    u, v, det = hoop[0] - x, hoop[1] - y, a * d - b * c
    return vx + (u * d - v * b) / det, vy + (a * v - c * u) / det
""",
        "right",
        "Cramer's rule, in mini's Tensors",
    ),
    (
        "triumph-newton-throw",
        """
def next_throw(place, vx, vy, hoop):
    x, y = place(vx, vy)
    J = np.array([[float(g.numpy().reshape(())) for g in e.sum().gradient(vx, vy)] for e in (x, y)])
    off = np.array([hoop[0] - x.numpy()[0], hoop[1] - y.numpy()[0]])
    return np.array([vx.numpy()[0], vy.numpy()[0]]) + np.linalg.inv(J) @ off
""",
        "right",
        "an array of two",
    ),
    (
        "triumph-newton-throw",
        "lambda place, vx, vy, hoop: (5.2764, 7.0291)",
        "wrong",
        "the answer of the real flight, learned by heart",
    ),
    (
        "triumph-circles",
        """
def circle(f, x):
    (s,) = f(x).sum().gradient(x)
    (b,) = s.sum().gradient(x)
    q = 1 + s * s
    return x - s * q / b, f(x) + q / b, q * q.sqrt() / (b * b).sqrt()
""",
        "right",
        "all in mini's Tensors, the absolute value as a root",
    ),
    (
        "triumph-circles",
        """
def circle(f, x):
    y = f(x).numpy()
    s = f(x).sum().gradient(x)[0].numpy()
    b = f(x).sum().gradient(x)[0].sum().gradient(x)[0].numpy()
    x = x.numpy()
    return [x - s * (1 + s**2) / b, y + (1 + s**2) / b, (1 + s**2) ** 1.5 / b]
""",
        "wrong",
        "without the absolute value",
    ),
    (
        "triumph-cnn",
        """
def network(dice):
    f, g = Tensor(dice.standard_normal((8, 1, 3, 3)) / 3), Tensor(np.zeros((8, 1, 1)))
    w, b = Tensor(dice.standard_normal((72, 10)) / 9), Tensor(np.zeros(10))
    pool = lambda x: x.reshape(x.shape[0], 8, 3, 2, 3, 2).max(3, 5)
    return (f, g, w, b), lambda i: pool((i.conv2d(f) + g).relu()).reshape(i.shape[0], 72) @ w + b
""",
        "right",
        "eight filters, a tuple, and lambdas",
    ),
    (
        "triumph-own-op",
        """
def bell(v):
    return np.exp(-v * v)

def bell_row(grad, node, x):
    return (grad * node * x * -2,)

def measured(f, x, eps=1e-2):
    return [(f(x + e) - f(x - e)) / (2 * eps) for e in eps * np.eye(len(x))]

forward, row, numerical = bell, bell_row, measured
check("6.20", (forward, row, numerical))
""",
        "right",
        "a bell; the functions have names of their own",
    ),
    (
        "triumph-own-op",
        """
forward = lambda v: np.cos(v)
row = lambda grad, node, x: (-grad * (x - math.pi / 2).alu(node.op),)
numerical = lambda f, x, eps=1e-2: np.array(
    [(f(x + e) - f(x - e)) / (2 * eps) for e in eps * np.eye(len(x))])
""",
        "right",
        "a cosine, whose row uses the op itself: cos(x - pi/2) is sin(x)",
    ),
    (
        "triumph-own-op",
        """
forward = lambda v: v**3
row = lambda grad, node, x: [grad * 3 * x * x]
numerical = lambda f, x, eps=1e-2: np.array(
    [(f(x + e) - f(x - e)) / (2 * eps) for e in eps * np.eye(len(x))])
""",
        "right",
        "a cube; a list for a tuple",
    ),
    (
        "triumph-own-op",
        """
forward = lambda v: v**3
row = lambda grad, node, x: (grad * 3 * x,)
numerical = lambda f, x, eps=1e-2: np.array(
    [(f(x + e) - f(x - e)) / (2 * eps) for e in eps * np.eye(len(x))])
""",
        "wrong",
        "right at 0 and at 1 only",
    ),
]
