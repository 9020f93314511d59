"""Parts 4 to 6, and mini's stages 4 to 6, as a web developer would answer who knows Python well.

The verdicts were written before anything was run.
"""

ANSWERS = [
    # ---- 4a -------------------------------------------------------------------------------------
    ("lazy-who-asks", "{1: 0, 2: 0, 3: 1, 4: 1}", "asked again", "a dict, line by line"),
    (
        "lazy-count-nodes",
        """
from collections import Counter

def count_nodes(tensor, op):
    return Counter(node.op for node in tensor.uop.toposort())[op]
""",
        "right",
        "a Counter of all ops; an op that isn't there counts 0",
    ),
    (
        "lazy-count-nodes",
        """
def count_nodes(tensor, op):
    return len([node for node in tensor.uop.toposort().values() if node.op is op])
""",
        "wrong",
        "the nodes are the keys of the dict, not its values",
    ),
    (
        "lazy-power",
        """
from functools import reduce

def power(a, n):
    squares = [a]
    for _ in range(n.bit_length() - 1):
        squares.append(squares[-1] * squares[-1])
    return reduce(lambda x, y: x * y, [s for k, s in enumerate(squares) if n >> k & 1])
""",
        "right",
        "all the squares first, then the product of those that n has a bit for",
    ),
    (
        "lazy-power",
        """
def power(a, n):
    return a.unsqueeze(0).expand(n, *a.shape).prod(0)
""",
        "wrong",
        "n copies, multiplied by a reduction: no MUL at all, and still n multiplications",
    ),
    (
        "lazy-multiply-add",
        """
def multiply_add(a, b):
    return a.alu(Ops.MUL, b).alu(Ops.ADD, a)
""",
        "wrong",
        "the right node, by a method in place of UOp(…)",
    ),
    (
        "lazy-dot-product",
        """
def dot_product(a, b):
    nodes = [UOp(Ops.MUL, a.dtype, (a, b))]
    for op, arg in ((Ops.REDUCE_AXIS, (Ops.ADD, (0,))), (Ops.RESHAPE, ())):
        nodes.append(UOp(op, a.dtype, (nodes[-1],), arg))
    return nodes.pop()
""",
        "right",
        "in a loop over ops and arguments",
    ),
    # ---- 4b -------------------------------------------------------------------------------------
    (
        "lazy-bytes-touched",
        """
import math

def bytes_touched(items):
    return math.fsum(buf.nbytes for item in items for buf in item.bufs)
""",
        "right",
        "fsum makes a float of it, which is a whole number",
    ),
    ("lazy-fewest-rows", "'32'", "right", "the number, as text"),
    (
        "lazy-one-less",
        """
def one_less(a):
    total = a.flatten().sum()
    return Tensor.stack(*[column.sum() / total for column in a.T])
""",
        "wrong",
        "64 sums, stacked",
    ),
    (
        "lazy-one-less",
        """
def one_less(a):
    return a.sum(axis=0, keepdim=True) / a.sum()
""",
        "wrong",
        "two kernels, but of shape (1, 64)",
    ),
    (
        "lazy-any-number",
        """
def exactly(a, n):
    t = a
    for _ in range(n):
        t = (t.unsqueeze(2) * a.unsqueeze(0)).sum(1)
    return t
""",
        "right",
        "a matrix product written out: the exercise rules out @, and there is none",
    ),
    (
        "lazy-any-number",
        """
def exactly(a, n):
    return sum(((a + k).sum(axis=k % 2, keepdim=True) for k in range(n)), a)
""",
        "wrong",
        "n sums, none of which waits for another",
    ),
    # ---- 4c -------------------------------------------------------------------------------------
    (
        "lazy-sines-once",
        """
def three_cheaper_sums(u):
    totals = (Tensor([2.0, 3.0, 4.0]) * u.sin().exp().sum()).contiguous()
    return list(totals)
""",
        "right",
        "one Tensor of three numbers, stored, taken apart",
    ),
    (
        "lazy-sines-once",
        """
def three_cheaper_sums(u):
    totals = Tensor([2.0, 3.0, 4.0]) * u.sin().exp().sum()
    return [totals[0], totals[1], totals[2]]
""",
        "right",
        "thought wrong: a slice is a view, so the first one realizes all of `totals`",
    ),
    (
        "lazy-swap",
        """
def swap(x, y):
    x.uop, y.uop = y.uop, x.uop
    return x, y
""",
        "right",
        "thought it could only be read; the two boxes exchange their graphs, and views look there",
    ),
    (
        "lazy-swap",
        """
def swap(x, y):
    both = Tensor.stack(x, y)
    x.assign(both[1])
    y.assign(both[0])
    return x, y
""",
        "right",
        "a stack is a result, and its slices are views of the result",
    ),
    (
        "lazy-push",
        """
def push(window, value):
    window[:] = [*window.tolist()[1:], value]
    return window
""",
        "right",
        "by way of a Python list; the window stays in its memory",
    ),
    (
        "lazy-push",
        """
def push(window, value):
    place = Tensor.arange(len(window))
    return window.assign((place == len(window) - 1).where(value, window.roll(-1)))
""",
        "right",
        "a condition on the place",
    ),
    (
        "lazy-swing",
        """
def swing(now, before):
    old = now + 0
    now += now - before + 0.5 * bend(now)
    before.assign(old)
    return now, before
""",
        "right",
        "in place with +=, and the old values kept by a sum",
    ),
    (
        "lazy-swing",
        """
def swing(now, before):
    now, before = 2 * now - before + 0.5 * bend(now), now
    return now, before
""",
        "wrong",
        "two names, and nothing in place",
    ),
    # ---- 5a -------------------------------------------------------------------------------------
    (
        "kinds-views-from-strides",
        """
def three_views(grid):
    return (
        grid.rearrange("h w -> w h").flip(0),
        grid.reshape(2, 2, 3, 2)[:, 1, :, 0],
        grid.T[2].repeat(3, 1),
    )
""",
        "right",
        "rearrange, a reshape to four axes, and repeat",
    ),
    (
        "kinds-views-from-strides",
        """
def three_views(grid):
    return grid.flip(0).T, grid[1::2, ::2], grid[:, 2].expand(3, 4)
""",
        "wrong",
        "the first one flips the other axis",
    ),
    (
        "kinds-anti-transpose",
        """
def anti_transpose(a):
    n, m = a.shape
    return Tensor.stack(*[a[:, m - 1 - k].flip(0) for k in range(m)])
""",
        "wrong",
        "the right numbers, put together by a kernel",
    ),
    (
        "kinds-cache-lines",
        """
def lines_touched(first, stride, count):
    return len({cell // 16 for cell in range(first, first + stride * count, stride)})
""",
        "wrong",
        "a range refuses a step of 0",
    ),
    (
        "kinds-fetches",
        """
from collections import OrderedDict

def fetches(cells, room):
    lines, count = OrderedDict(), 0
    for cell in cells:
        if cell // 16 not in lines:
            count += 1
            if len(lines) == room:
                lines.popitem(last=False)
        lines[cell // 16] = True
        lines.move_to_end(cell // 16)
    return count
""",
        "right",
        "an OrderedDict, as one writes an LRU cache on the server",
    ),
    (
        "kinds-fetches",
        """
def fetches(cells, room):
    lines, count = {}, 0
    for now, cell in enumerate(cells):
        line = cell // 16
        if line not in lines:
            count += 1
            if len(lines) > room:
                del lines[min(lines, key=lines.get)]
        lines[line] = now
    return count
""",
        "wrong",
        "room for one line too many",
    ),
    # ---- 5b -------------------------------------------------------------------------------------
    (
        "kinds-cheapest-trips",
        """
def cheapest(a, b):
    trips = [a[:, k : k + 1] + b[k] for k in range(a.shape[1])]
    return Tensor.stack(*trips).min(0)
""",
        "right",
        "a stack of one table for each airport",
    ),
    ("kinds-matmul-cost", "{'kernels': 1, 'megabytes': 3}", "asked again", "a dict is no tuple"),
    (
        "kinds-shear",
        """
def shear(x):
    n, m = x.shape
    seen = x.pad(((0, 0), (n - 1, n - 1))).unfold(1, n + m - 1, 1)
    return seen.reshape(n * n, n + m - 1)[n - 1 :: n - 1][:n]
""",
        "right",
        "every window of the padded rows, and the diagonal of them",
    ),
    (
        "kinds-honest-average",
        """
def average(x, size):
    ones = Tensor.ones(1, 1, size)
    total = x.reshape(1, 1, -1).conv1d(ones, padding=size // 2)
    number = x.ones_like().reshape(1, 1, -1).conv1d(ones, padding=size // 2)
    return (total / number).flatten()
""",
        "right",
        "two convolutions with ones, of the numbers and of ones",
    ),
    (
        "kinds-honest-average",
        """
def average(x, size):
    return Tensor.stack(
        *[x[max(0, i - size // 2) : i + size // 2 + 1].mean() for i in range(len(x))]
    )
""",
        "wrong",
        "slices as in Python, one mean for each: many kernels",
    ),
    (
        "kinds-where-it-belongs",
        """
def mismatch(scene, piece):
    high, wide = piece.shape
    seen = scene.unfold(0, high, 1).unfold(1, wide, 1)
    return (seen * seen).sum((2, 3)) - 2 * (seen * piece).sum((2, 3)) + (piece * piece).sum()
""",
        "wrong",
        "multiplied out: the squares of the piece are summed by themselves, in a second kernel",
    ),
    # ---- 6a -------------------------------------------------------------------------------------
    (
        "gradient-by-counting",
        """
def counting_down(v):
    n = len(v)
    return v.pad((n - 1, 0)).unfold(0, n, 1).sum()
""",
        "right",
        "all windows of n elements of the padded v: the first element is in every one",
    ),
    (
        "gradient-by-counting",
        """
def counting_down(v):
    n = len(v)
    return v.reshape(n, 1).expand(n, n).tril().sum()
""",
        "wrong",
        "the triangle of rows instead of columns: 1, 2, 3",
    ),
    (
        "gradient-of-cumsum",
        """
def back_through_cumsum(grad):
    n = len(grad)
    return grad.pad((0, n - 1)).unfold(0, n, 1).sum(1)
""",
        "right",
        "window i has everything from i on",
    ),
    (
        "gradient-numerical",
        """
def numerical(f, x, eps=1e-2):
    here = f(x)
    return np.array([(f(x + eps * (np.arange(len(x)) == i)) - here) / eps for i in range(len(x))])
""",
        "wrong",
        "only up: the bend of the curve is in the result",
    ),
    (
        "gradient-safe-sqrt",
        """
def safe_sqrt(x):
    return (x > 0).where((x.log() * 0.5).exp(), 0)
""",
        "wrong",
        "a logarithm has the same trouble at 0",
    ),
    (
        "gradient-straight-through",
        "(UPat(), lambda grad: (grad,))",
        "wrong",
        "a row for every op there is",
    ),
    # ---- 6b -------------------------------------------------------------------------------------
    (
        "training-optimizer-memory",
        """
def remembered(optimizer):
    state = nn.state.get_state_dict(optimizer)
    return sum(t.numel() for t in state.values() if t not in optimizer.params)
""",
        "wrong",
        "`in` compares Tensors by ==, which is a Tensor or an error",
    ),
    (
        "training-number-as-tensor",
        "lambda captured, x, number: captured(x, Tensor.full((1,), number))",
        "wrong",
        "full makes a constant, which has no memory",
    ),
    (
        "training-number-as-tensor",
        "lambda captured, x, number: captured(x, Tensor(np.array(number)))",
        "wrong",
        "a single number of NumPy's is a constant, too; thought it went into memory",
    ),
    # ---- 6c -------------------------------------------------------------------------------------
    (
        "triumph-newton-throw",
        """
def next_throw(place, vx, vy, hoop):
    x, y = place(vx, vy)
    miss = ((x - hoop[0]) * (x - hoop[0]) + (y - hoop[1]) * (y - hoop[1])).sum()
    dvx, dvy = miss.gradient(vx, vy)
    return (vx - 0.9 * dvx).numpy().item(), (vy - 0.9 * dvy).numpy().item()
""",
        "wrong",
        "the step of 6a, with the rate that was found for that flight",
    ),
    (
        "triumph-own-op",
        """
def forward(values):
    return np.sinh(values)

def row(grad, node, x):
    return (grad * (x.exp() + (-x).exp()) / 2,)

def numerical(f, x, eps=1e-2):
    return np.array([f(x + e) - f(x - e) for e in np.diag([eps] * len(x))]) / (2 * eps)
""",
        "right",
        "a hyperbolic sine",
    ),
]

MINI = [
    # ---- stage 4 --------------------------------------------------------------------------------
    (
        "4",
        "UOp.__new__",
        """
def __new__(cls, op, src=(), arg=None):
    sign = math.copysign(1, arg) if isinstance(arg, float) else None
    key = (op, src, type(arg), arg, sign)
    try:
        return cls.table[key]
    except KeyError:
        node = object.__new__(cls)
        node.__dict__.update(op=op, src=src, arg=arg)
        return cls.table.setdefault(key, node)
""",
        "right",
        "the sign as part of the key, and an exception for what is new",
    ),
    (
        "4",
        "UOp.__new__",
        """
import pickle

def __new__(cls, op, src=(), arg=None):
    key = (op, src, pickle.dumps(arg))
    node = cls.table.get(key)
    if node is None:
        node = cls.table[key] = object.__new__(cls)
        node.op, node.src, node.arg = op, src, arg
    return node
""",
        "wrong",
        "two Buffers with the same numbers become one",
    ),
    (
        "4",
        "UOp.toposort",
        """
def toposort(self):
    order, path = {}, [(self, iter(self.src))]
    while path:
        node, sources = path[-1]
        below = next((s for s in sources if s not in order), None)
        if below is None:
            order[node] = None
            path.pop()
        else:
            path.append((below, iter(below.src)))
    return list(order)
""",
        "right",
        "depth first, with a stack of iterators",
    ),
    (
        "4",
        "UOp.toposort",
        """
def toposort(self):
    seen, todo = set(), [(self, False)]
    while todo:
        node, ready = todo.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            todo.append((node, True))
            todo.extend((source, False) for source in node.src)
""",
        "wrong",
        "a generator is no list",
    ),
    (
        "4",
        "Derived",
        """
class Derived:
    def __neg__(x): return x * -1
    def __sub__(x, y): return x + y * -1
    def __rsub__(x, y): return x * -1 + y
    def __truediv__(x, y): return x * x.const(y).recip()
    def __rtruediv__(x, y): return x.recip() * y
    def __gt__(x, y): return y < x
    def eq(x, y): return 1 - (x < y) - (x > y)
    def relu(x): return x.maximum(0)
    def exp(x): return (x / math.log(2)).exp2()
    def log(x): return x.log2() * math.log(2)
""",
        "wrong",
        "with a number for y, Python turns y < x around, and asks __gt__ again",
    ),
    (
        "4",
        "Derived",
        """
class Derived:
    def __neg__(x): return x * -1
    def __sub__(x, y): return x + y * -1
    def __rsub__(x, y): return x * -1 + y
    def __truediv__(x, y): return x * x.const(y).recip()
    def __rtruediv__(x, y): return x.recip() * y
    def __gt__(x, y): return x.const(y) < x
    def eq(x, y): return (x - y).maximum(y - x) < 1e-6
    def relu(x): return x * (x > 0)
    def exp(x): return (x / math.log(2)).exp2()
    def log(x): return x.log2() * math.log(2)
""",
        "wrong",
        "nearly equal is not equal",
    ),
    # ---- stage 4b -------------------------------------------------------------------------------
    (
        "4b",
        "run_kernels",
        """
def run_kernels(sink):
    memory = {}
    for kernel in cut(sink):
        kernel.memory.arg.data[...] = interpret(UOp(Ops.SINK, (kernel.value,)))[0]
        memory[kernel.value] = kernel.memory
    return [memory.get(source, source).arg.data for source in sink.src]
""",
        "wrong",
        "computes the values from scratch, not from the memory of the kernels before",
    ),
    # ---- stage 5 --------------------------------------------------------------------------------
    (
        "5",
        "expand_index",
        """
def expand_index(index, shape, new):
    return tuple(i * (size == new_size) for i, size, new_size in zip(index, shape, new))
""",
        "right",
        "times False is 0; an axis of size 1 that stays has no other index than 0",
    ),
    (
        "5",
        "broadcast",
        """
def broadcast(*nodes):
    shape = np.broadcast_shapes(*(n.shape for n in nodes))
    out = []
    for n in nodes:
        if n.op is not Ops.CONST:
            n = n.reshape(*(1,) * (len(shape) - len(n.shape)), *n.shape).expand(*shape)
        out.append(n)
    return tuple(out)
""",
        "right",
        "NumPy's rules, by NumPy",
    ),
    (
        "5",
        "windows",
        """
def windows(x, size):
    *lead, n = x.shape
    keep = [(0, d) for d in lead]
    rows = 0
    for j in range(size):
        row = x.shrink(*keep, (j, j + n - size + 1)).reshape(*lead, 1, n - size + 1)
        rows = row.pad(*[(0, 0)] * len(lead), (j, size - 1 - j), (0, 0)) + rows
    return rows
""",
        "right",
        "row by row, padded and added up",
    ),
    (
        "5",
        "log_softmax",
        """
@method
def log_softmax(x):
    x = x - x.max()
    return x - x.exp().sum(-1, keepdim=True).log()
""",
        "wrong",
        "the largest of everything: in a row far below it, all exponentials are 0",
    ),
    # ---- stage 6 --------------------------------------------------------------------------------
    (
        "6",
        "max_gradient",
        """
@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    first = x < y
    return grad * (1 - first), grad * first
""",
        "wrong",
        "on a tie, x gets all of it",
    ),
    (
        "6",
        "where_gradient",
        """
@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    zero = grad - grad
    return None, condition.where(grad, zero), condition.where(zero, grad)
""",
        "right",
        "a zero made from grad itself",
    ),
    (
        "6",
        "SGD",
        """
class SGD:
    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr

    def step(self, loss):
        for p in self.params:
            (g,) = loss.gradient(p)
            p.uop = (p - g * self.lr).realize().uop
        return loss.realize()
""",
        "right",
        "thought wrong; but the graph of the loss holds the old nodes, so no gradient changes",
    ),
]
