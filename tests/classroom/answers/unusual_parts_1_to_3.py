"""Parts 1, 2a, 2b, 3a, 3b and mini's stage 3: a web developer's answers.

The verdicts were written before anything was run.
"""

ANSWERS = [
    # ---- 1: break it, mend it -------------------------------------------------------------------
    ("why-break-a-row", "lambda grad: (grad, None)", "right", "keeps the second one back"),
    ("why-break-a-row", "lambda grad: (-grad, -grad)", "right", "both uphill"),
    (
        "why-break-a-row",
        "lambda grad: (grad * 1000, grad * 1000)",
        "wrong",
        "size is not direction",
    ),
    ("why-break-a-row", "(lambda grad: (grad, -grad), 1)", "wrong", "brackets in the wrong place"),
    ("why-break-a-row", "lambda grad: (0, 0)", "wrong", "constants not made of grad"),
    (
        "why-break-a-row",
        "lambda grad: {'x': grad, 'y': -grad}",
        "wrong",
        "a dict's keys are no gradients",
    ),
    (
        "why-break-a-row",
        """
def add_row(grad):
    print(grad)
    return grad.numpy(), -grad.numpy()
""",
        "wrong",
        "a UOp has no numbers yet",
    ),
    (
        "why-break-a-row",
        """
import random
def add_row(grad):
    return random.choice([grad, -grad]), grad * -1
""",
        "right",
        "chance, and one that is always wrong",
    ),
    ("why-mend-a-row", "lambda grad, x, y: (y * grad, x * grad)", "right", "the other way round"),
    ("why-mend-a-row", "lambda grad, a, b: [grad * b, grad * a]", "right", "a list, other names"),
    ("why-mend-a-row", "lambda *n: (n[0] * n[2], n[0] * n[1])", "right", "positional"),
    ("why-mend-a-row", "lambda grad, x, y: (grad * y, grad * x, None)", "wrong", "three"),
    (
        "why-mend-a-row",
        "lambda grad, x, y: (grad * x * y / x, grad * x * y / y)",
        "right",
        "the long way: nothing is 0 in the check",
    ),
    (
        "why-mend-a-row",
        "lambda grad, x, y: (grad * y + grad * x, grad * x + grad * y)",
        "wrong",
        "both get everything",
    ),
    # ---- 1: the compiler ------------------------------------------------------------------------
    ("why-row-for-three", "lambda v: ((v * 2) + v, lambda v: v * 3)", "right", "brackets"),
    (
        "why-row-for-three",
        "lambda v: (v + v * 2, lambda v: 3 * v)",
        "right",
        "+ matches in either order, as the notebook's `same name twice` suggests",
    ),
    (
        "why-row-for-three",
        "(UPat.var('v') * 2 + UPat.var('v'), lambda v: v * 3)",
        "wrong",
        "a row, where a function was asked for",
    ),
    (
        "why-row-for-three",
        "lambda v: (v * 2 + v, lambda x: x * 3)",
        "wrong",
        "the function has to take v",
    ),
    ("why-row-for-three", "lambda v: (v * 2 + v, lambda v: v + v + v)", "wrong", "round and round"),
    # ---- 1: predictions -------------------------------------------------------------------------
    ("why-numbers-of-an-entry", "'two'", "asked again", "a word for a number"),
    ("why-numbers-of-an-entry", "2.0", "right", "a float that is a whole number"),
    ("why-numbers-of-an-entry", "123_456 + 654_321", "wrong", "all the numbers on the way"),
    ("why-megabytes", "[24, 8]", "right", "a list"),
    (
        "why-megabytes",
        "(24.0, 8.000004)",
        "asked again",
        "exact to the byte, but whole numbers were asked for (I had said wrong)",
    ),
    ("why-megabytes", "24, 8", "right", "without brackets"),
    ("why-megabytes", "(24_000_000, 8_000_000)", "wrong", "bytes; megabytes were asked for"),
    ("why-products-in-a-gradient", "103 * 6 * 6", "right", "computed"),
    ("why-products-in-a-gradient", "'3,708'", "right", "typed as text, with a comma"),
    ("why-products-in-a-gradient", "3,708", "asked again", "to Python, that's a pair"),
    # ---- 1: you're the kernel -------------------------------------------------------------------
    (
        "why-slope-of-a-weight",
        """
def slope(pixels, arriving, i, j):
    return sum((pixels[n, i:i + 6, j:j + 6] * arriving[n]).sum().item() for n in range(len(pixels)))
""",
        "right",
        "a loop over images, a float",
    ),
    (
        "why-slope-of-a-weight",
        """
def slope(pixels, arriving, i, j):
    return (pixels[:, i:i - 2, j:j - 2] * arriving).sum()
""",
        "wrong",
        "i - 2 is 0 for i = 2, so an empty slice",
    ),
    (
        "why-slope-of-a-weight",
        """
def slope(pixels, arriving, i, j):
    acc0 = 0.0
    for n in range(pixels.shape[0]):
        for r in range(6):
            for c in range(6):
                acc0 = acc0 + pixels[n, r + i, c + j].item() * arriving[n, r, c].item()
    return acc0
""",
        "wrong",
        "the C, word for word: 72 kernels for one number (I had said right, if slow)",
    ),
    (
        "why-slope-of-a-weight",
        "lambda p, a, i, j: (p[:, i:6 + i, j:6 + j] * a).sum().numpy()",
        "right",
        "an array of one",
    ),
    # ---- 2a -------------------------------------------------------------------------------------
    ("steps-smallest-wrong-bill", "([1], [0.1])", "right", "10 cents"),
    ("steps-smallest-wrong-bill", "([], [])", "wrong", "nothing bought"),
    ("steps-smallest-wrong-bill", "([1.0], 0.5)", "right", "a number for a list of one"),
    (
        "steps-smallest-wrong-bill",
        "([1.0], ['0.50'])",
        "right",
        "a price as text is read as the number (I had said wrong)",
    ),
    (
        "steps-name-of-column-sums",
        "'r_4_3n1'",
        "wrong",
        "the suffix of a second one, but this is the first (I had said right)",
    ),
    ("steps-name-of-column-sums", "'E_4_3'", "wrong", "it boils down"),
    (
        "steps-what-the-c-computes",
        "lambda q, p: ((q.int() * p.int()).sum(axis=1)).float()",
        "right",
        "a float again",
    ),
    (
        "steps-what-the-c-computes",
        "lambda q, p: (q.round() * p.round()).sum(axis=1)",
        "wrong",
        "rounded, not cut off",
    ),
    ("steps-second-witness", "'the same'", "asked again", "not one of the three words"),
    (
        "steps-largest-difference",
        """
def largest_difference(formula, *arrays):
    def on(device):
        return formula(*(Tensor(a).to(device) for a in arrays)).numpy()
    return float(max(abs(on("CPU") - on("PYTHON")).flatten()))
""",
        "right",
        "abs and max of Python",
    ),
    (
        "steps-largest-difference",
        """
def largest_difference(formula, *arrays):
    return abs(formula(*arrays) - formula(*arrays)).max()
""",
        "wrong",
        "no device",
    ),
    ("steps-culprit", "'Tidy numbers.'", "right", "with a full stop"),
    (
        "steps-culprit",
        "__import__('tinyframe.codegen').codegen.passes[0][0]",
        "right",
        "looked up where the compiler keeps it",
    ),
    ("steps-culprit", "'lower to ranges'", "wrong", "one too early"),
    (
        "steps-rule-for-products",
        "lambda n: n.op is Ops.MUL and {s.dtype for s in n.src} != {n.dtype}",
        "right",
        "sets",
    ),
    (
        "steps-rule-for-products",
        "lambda n: n.op is Ops.MUL and not all(s.dtype is n.dtype for s in n.src)",
        "right",
        "not all",
    ),
    (
        "steps-rule-for-products",
        "lambda n: n.op is Ops.MUL and n.dtype != n.src[0].dtype",
        "wrong",
        "only the first source",
    ),
    (
        "steps-rule-for-products",
        "lambda n: n.op == 'MUL' and n.dtype != n.src[0].dtype",
        "wrong",
        "an op is no string",
    ),
    (
        "steps-spoiled-graph",
        """
def spoil(sink):
    stores = [u for u in sink.toposort() if u.op is Ops.STORE]
    return sink.substitute({u: u.replace(src=u.src[:1]) for u in stores})
""",
        "right",
        "a store of nothing",
    ),
    (
        "steps-spoiled-graph",
        """
def spoil(sink):
    return sink.replace(src=())
""",
        "wrong",
        "a kernel that does nothing is legal (I had said right)",
    ),
    (
        "steps-mended",
        "lambda stages, name: dict(s for s in stages if s[0] != name).items()",
        "right",
        "no list, but the same pairs in the same order (I had said wrong)",
    ),
    (
        "steps-mended",
        "lambda stages, name: [*filter(lambda s: s[0] != name, stages)]",
        "right",
        "a filter",
    ),
    ("steps-mended", "lambda stages, name: stages[1:]", "wrong", "the culprit isn't always first"),
    # ---- 2b -------------------------------------------------------------------------------------
    (
        "steps-kernels-run",
        """
def kernels_run(run):
    before = GlobalCounters.kernel_count
    run()
    return GlobalCounters.kernel_count - before
""",
        "right",
        "a difference",
    ),
    (
        "steps-kernels-run",
        """
def kernels_run(run):
    times = Times()
    with observing(times):
        run()
    return len(times.kernels)
""",
        "wrong",
        "Times is not defined before the next cell (I had said asked again)",
    ),
    (
        "steps-slowest-kernel",
        """
def slowest(run):
    times = Times()
    with observing(times):
        run()
    return sorted(times.kernels, key=lambda k: -k[1])[0]
""",
        "wrong",
        "the pair, not the name",
    ),
    (
        "steps-slowest-kernel",
        """
def slowest(run):
    with observing(Times()) as times:
        run()
    times.kernels.sort(key=lambda k: k[1])
    return times.kernels[-1][0]
""",
        "right",
        "a with … as, as one would expect",
    ),
    (
        "steps-what-a-replay-does",
        "'2 and 15'",
        "asked again",
        "a sentence is no pair (I had said right)",
    ),
    ("steps-what-a-replay-does", "(2, 0)", "wrong", "a replay launches"),
    (
        "steps-safe-to-replay",
        """
def safe(function, inputs):
    fast = TinyJit(function)
    for x in inputs:
        try:
            a, b = fast(x).tolist(), function(x).tolist()
        except JitError:
            return False
        if a != b:
            return False
    return True
""",
        "right",
        "a loop, lists",
    ),
    (
        "steps-safe-to-replay",
        """
def safe(function, inputs):
    fast = TinyJit(function)
    expected = [function(x).numpy() for x in inputs]
    try:
        return all((fast(x).numpy() == e).all() for x, e in zip(inputs, expected))
    except JitError:
        return False
""",
        "right",
        "all the expected ones first: but a counter then counts on, and differs at once",
    ),
    (
        "steps-safe-to-replay",
        """
def safe(function, inputs):
    try:
        TinyJit(function)(inputs[0])
        return True
    except JitError:
        return False
""",
        "wrong",
        "one call is no replay",
    ),
    # ---- 3a -------------------------------------------------------------------------------------
    (
        "tensors-disc",
        """
def disc(n):
    i = Tensor.arange(n)
    return ((i[:, None] - n // 2) ** 2 + (i - n // 2) ** 2).sqrt() < n / 3
""",
        "right",
        "with the root",
    ),
    (
        "tensors-disc",
        """
def disc(n):
    i = Tensor.arange(n) - n / 2
    return i[:, None] ** 2 + i ** 2 < (n / 3) ** 2
""",
        "wrong",
        "n / 2 is half a point off",
    ),
    (
        "tensors-disc",
        """
def disc(n):
    i = Tensor.arange(n) - n // 2
    return 9 * (i[:, None] * i[:, None] + i * i) < n * n
""",
        "right",
        "whole numbers throughout",
    ),
    ("tensors-shapes-of-reductions", "[(2, 4), (2, 3, 1), 3]", "right", "3 for (3,)"),
    ("tensors-shapes-of-reductions", "((2, 4), (2, 3, 1), (3))", "right", "(3) is 3 to Python"),
    ("tensors-centre", "lambda x: x - x.sum(0) / len(x)", "right", "the mean by hand"),
    ("tensors-centre", "lambda x: (x.T - x.T.mean(axis=1, keepdim=True)).T", "right", "turned"),
    ("tensors-centre", "lambda x: x - x.mean(axis=1)", "wrong", "an error about shapes, or rows"),
    ("tensors-rotate", "lambda x: x.flip(0).T", "right", "upside down first"),
    ("tensors-rotate", "lambda x: x[::-1].T", "right", "a negative step"),
    ("tensors-rotate", "lambda x: x.T[::-1]", "wrong", "counter-clockwise"),
    (
        "tensors-primes",
        """
def primes(n):
    i = Tensor.arange(n)
    d = Tensor.arange(2, n + 2)
    return ((i % d[:, None] == 0) & (d[:, None] < i)).sum(axis=0).eq(0) & (i > 1)
""",
        "right",
        "no divisor between 1 and itself",
    ),
    (
        "tensors-primes",
        """
def primes(n):
    i = Tensor.arange(n)
    return ~((i[:, None] * i)[2:, 2:, None] == i).any(axis=(0, 1)) & (i > 1)
""",
        "right",
        "a sieve: no product of two from 2 on",
    ),
    ("tensors-fill", "lambda x, holes: holes.where(x[~holes].mean(), x)", "right", "a mask"),
    (
        "tensors-fill",
        "lambda x, holes: x * ~holes + holes * (x * ~holes).sum() / (~holes).sum()",
        "right",
        "multiplied by the mask",
    ),
    (
        "tensors-fill",
        "lambda x, holes: holes.where(holes.where(0, x).mean(), x)",
        "wrong",
        "the mean over all",
    ),
    ("tensors-dtypes-of-pixels", "('float32', 'uint8', 'float32', 'int32')", "right", "long names"),
    ("tensors-dtypes-of-pixels", "(float, 'uchar', float, int)", "right", "Python's types"),
    (
        "tensors-average",
        "lambda a, b: (a // 2 + b // 2 + (a & b & 1)).cast('uint8')",
        "right",
        "without ever leaving the byte",
    ),
    (
        "tensors-average",
        "lambda a, b: (a * 0.5 + b * 0.5).cast('uint8')",
        "right",
        "floats, cut off on the way back",
    ),
    ("tensors-average", "lambda a, b: ((a + b) / 2).cast('uint8')", "wrong", "wrapped around"),
    (
        "tensors-life",
        """
def life(board):
    p = board.pad(((1, 1), (1, 1)))
    h, w = board.shape
    n = sum(p[i:i + h, j:j + w] for i in range(3) for j in range(3)) - board
    return ((n == 3) | ((n == 2) & (board == 1))).int()
""",
        "right",
        "a loop over the eight places, not over cells",
    ),
    (
        "tensors-life",
        """
def life(board):
    p = board.pad(((1, 1), (1, 1)))
    rows = p[:-2] + p[1:-1] + p[2:]
    n = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]
    return (n == 3) | ((n == 4) & board.bool())
""",
        "right",
        "separable, the middle counted in",
    ),
    # ---- 3b -------------------------------------------------------------------------------------
    ("puzzle-triu", "lambda n: Tensor.ones(n, n).cumsum(0)", "wrong", "1, 2, 3 down a column"),
    (
        "puzzle-checkerboard",
        "lambda n: (Tensor.arange(n)[:, None] ^ Tensor.arange(n)) & 1",
        "right",
        "bits",
    ),
    ("puzzle-arange", "lambda n: Tensor(list(range(n)))", "wrong", "Python's list, not tensors"),
    (
        "puzzle-swap_halves",
        """
def swap_halves(a):
    h = len(a) // 2
    return a[h:].pad((0, h)) + a[:h].pad((h, 0))
""",
        "right",
        "two pads and a sum",
    ),
    ("puzzle-sort", "lambda a: Tensor(sorted(a.tolist()))", "wrong", "Python sorts"),
    (
        "puzzle-argmax",
        "lambda a: (a[:, None] < a).sum(axis=0).max()",
        "wrong",
        "counts how many are smaller: n - 1",
    ),
    ("puzzle-bucket", "lambda a, edges: (edges[:, None] <= a).sum(axis=0)", "right", "turned"),
    ("puzzle-flip", "lambda a: a[::-1]", "wrong", "a negative step"),
    ("puzzle-running_sum", "lambda a: a.cumsum(0)", "wrong", "without cumsum"),
]

MINI = [
    (
        "3",
        "flat",
        """
def flat(index, shape):
    return sum(i * prod(shape[k + 1:]) for k, i in enumerate(index))
""",
        "right",
        "strides by prod",
    ),
    (
        "3",
        "flat",
        """
def flat(index, shape):
    place, stride = 0, 1
    for i, n in zip(index[::-1], shape[::-1]):
        place += i * stride
        stride *= n
    return place
""",
        "right",
        "from the back",
    ),
    (
        "3",
        "flat",
        """
def flat(index, shape):
    return index[0] * shape[1] + index[1]
""",
        "wrong",
        "two axes only",
    ),
    (
        "3",
        "flat",
        """
def flat(index, shape):
    return flat(index[:-1], shape[:-1]) * shape[-1] + index[-1] if index else 0
""",
        "right",
        "it calls itself",
    ),
    (
        "3",
        "unflat",
        """
def unflat(place, shape):
    index = ()
    for n in shape[::-1]:
        place, i = divmod(place, n)
        index = (i, *index)
    return index
""",
        "right",
        "divmod",
    ),
    (
        "3",
        "unflat",
        """
def unflat(place, shape):
    return [place // prod(shape[k + 1:]) % n for k, n in enumerate(shape)]
""",
        "wrong",
        "a list, and a tuple was asked for",
    ),
    (
        "3",
        "Array.of",
        """
def of(values, *shape):
    if len(values) != prod(shape):
        raise ValueError("wrong number of values")
    return Array(shape, lambda index: values[flat(index, shape)])
""",
        "right",
        "it checks",
    ),
    (
        "3",
        "Array.moved",
        """
def moved(self, shape, source_index):
    values = [self.at(source_index(unflat(p, shape))) for p in range(prod(shape))]
    return Array.of(values, *shape)
""",
        "wrong",
        "it computes everything at once: nothing may be stored",
    ),
    (
        "3",
        "Array.map",
        """
def map(self, function, *others):
    arrays = (self, *others)
    def at(index):
        return function(*[a.at(index) for a in arrays])
    return Array(self.shape, at)
""",
        "right",
        "a function with a name",
    ),
    (
        "3",
        "Array.sum",
        """
def sum(self, axis):
    n = self.shape[axis]
    def at(index):
        total = 0
        for k in range(n):
            total = total + self.at(index[:axis] + (k,) + index[axis:])
        return total
    return Array(self.shape[:axis] + self.shape[axis + 1:], at)
""",
        "right",
        "tuples put together",
    ),
    (
        "3",
        "Array.sum",
        """
def sum(self, axis=0):
    shape = list(self.shape)
    n = shape.pop(axis)
    return Array(tuple(shape), lambda i: sum(self.at((*i[:axis], k, *i[axis:])) for k in range(n)))
""",
        "right",
        "pop",
    ),
    (
        "3",
        "Array.tolist",
        """
def tolist(self):
    import itertools
    return [self.at(i) for i in itertools.product(*map(range, self.shape))]
""",
        "right",
        "all indices, in reading order",
    ),
    (
        "3",
        "Array.tolist",
        """
def tolist(self):
    return list(self.at(unflat(p, self.shape)) for p in range(len(self.shape)))
""",
        "wrong",
        "as many as axes",
    ),
    (
        "3",
        "Array.of",
        """
def of(values, *shape):
    return Array(shape, values)
""",
        "wrong",
        "the list itself in place of a function",
    ),
    (
        "3",
        "Array.tolist",
        """
def tolist(self):
    return [self.at(place) for place in range(prod(self.shape))]
""",
        "wrong",
        "places in place of indices",
    ),
]
