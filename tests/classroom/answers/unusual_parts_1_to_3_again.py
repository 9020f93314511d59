"""Parts 1, 2a, 2b, 3a, 3b and mini's stage 3: answers of somebody who has used PyTorch for years.

The verdicts were written before anything was run. "(I had said …)" marks those that changed.
"""

ANSWERS = [
    # ---- 1 --------------------------------------------------------------------------------------
    ("why-break-a-row", "lambda grad: -grad", "wrong", "one gradient for two sources"),
    ("why-break-a-row", "lambda grad: (grad * 0, grad * 0)", "right", "zeros: nothing moves"),
    ("why-break-a-row", "lambda grad: (grad.detach() * -1, grad)", "right", "detached, uphill"),
    ("why-break-a-row", "lambda grad: (grad + 1, grad + 1)", "right", "one that the text offers"),
    ("why-mend-a-row", "lambda g, a, b: (g.mul(b), g.mul(a))", "right", "methods for operators"),
    ("why-mend-a-row", "lambda ctx, x, y: (y, x)", "wrong", "backward without grad_output"),
    ("why-mend-a-row", "lambda x, y, grad: (grad * y, grad * x)", "wrong", "grad comes first"),
    (
        "why-row-for-three",
        "lambda v: (v * UPat.cvar('c') + v, lambda v, c: v * (c.arg + 1))",
        "right",
        "a rule for i + i + … as long as you like",
    ),
    (
        "why-row-for-three",
        "lambda _: (UPat.var('v') * 2 + UPat.var('v'), lambda v: v * 3)",
        "right",
        "makes its own v",
    ),
    ("why-row-for-three", "lambda v: [v * 2 + v, lambda v: v * 3]", "right", "a list of two"),
    ("why-row-for-three", "lambda v: (v * 2 + v, v * 3)", "wrong", "two patterns, no function"),
    ("why-numbers-of-an-entry", "len({123_456, 654_321})", "right", "counted"),
    ("why-megabytes", "Tensor([24, 8])", "asked again", "a Tensor of two (I had said right)"),
    ("why-megabytes", "('24 MB', '8 MB')", "asked again", "with units"),
    (
        "why-products-in-a-gradient",
        "Tensor(103 * 6 * 6)",
        "asked again",
        "a Tensor for a number (I had said right)",
    ),
    ("why-products-in-a-gradient", "(103, 6, 6)", "asked again", "its factors"),
    (
        "why-slope-of-a-weight",
        "lambda p, a, i, j: Tensor.einsum('nhw,nhw->', p[:, i:i + 6, j:j + 6], a).item()",
        "right",
        "einsum and item",
    ),
    (
        "why-slope-of-a-weight",
        "lambda p, a, i, j: p[None].conv2d(a[None])[0, 0, i, j]",
        "right",
        "the gradient of a convolution is a convolution",
    ),
    (
        "why-slope-of-a-weight",
        "lambda p, a, i, j: (p.unfold(1, 6, 1).unfold(2, 6, 1)[:, i, j] * a).sum(keepdim=True)",
        "right",
        "unfold, and shape (1, 1, 1)",
    ),
    (
        "why-slope-of-a-weight",
        "lambda p, a, i, j: p[:, i:i + 6, j:j + 6].reshape(-1) @ a.reshape(-1)",
        "right",
        "a dot product",
    ),
    (
        "why-slope-of-a-weight",
        "lambda p, a, i, j: (p[:, i:i + 6, j:j + 6] * a).sum(dim=(1, 2))",
        "wrong",
        "a number for each image",
    ),
    (
        "why-slope-of-a-weight",
        "lambda p, a, i, j: (p[:, i:i + 6, j:j + 6] * a).mean(0).sum()",
        "wrong",
        "the mean over the batch, as a loss has",
    ),
    # ---- 2a -------------------------------------------------------------------------------------
    ("steps-smallest-wrong-bill", "(np.array([0.5]), np.ones(1))", "right", "half a thing"),
    ("steps-smallest-wrong-bill", "([-1], [0.25])", "right", "brought back"),
    ("steps-smallest-wrong-bill", "([1, 0], [0.5, 7])", "wrong", "one thing too many"),
    ("steps-name-of-column-sums", "'r_3_4'", "wrong", "the order of the table"),
    (
        "steps-what-the-c-computes",
        "lambda q, p: (q.trunc() * p.trunc()).sum(dim=-1)",
        "right",
        "trunc, and dim for axis",
    ),
    (
        "steps-what-the-c-computes",
        "lambda q, p: Tensor.einsum('ct,t->c', q.long(), p.long())",
        "right",
        "einsum, of longs",
    ),
    ("steps-what-the-c-computes", "lambda q, p: (q * p).int().sum(1)", "wrong", "cut off too late"),
    (
        "steps-what-the-c-computes",
        "lambda q, p: (q.int() * p.int()).sum(1, keepdim=True)",
        "wrong",
        "a column, where the bills are a row",
    ),
    (
        "steps-largest-difference",
        """
def largest_difference(formula, *arrays):
    a, b = [formula(*map(lambda x: Tensor(x, device=d), arrays)).to("CPU")
            for d in ("CPU", "PYTHON")]
    return (a - b).abs().max()
""",
        "right",
        "a Tensor of one number, from a difference of Tensors",
    ),
    (
        "steps-largest-difference",
        """
def largest_difference(formula, *arrays):
    a, b = [formula(*[Tensor(x).to(d) for x in arrays]).numpy() for d in ("CPU", "PYTHON")]
    return np.linalg.norm((a - b).ravel(), np.inf).item()
""",
        "right",
        "the maximum norm",
    ),
    (
        "steps-largest-difference",
        """
def largest_difference(formula, *arrays):
    a, b = [formula(*[Tensor(x).to(d) for x in arrays]).numpy() for d in ("CPU", "PYTHON")]
    return np.abs(a - b).mean()
""",
        "wrong",
        "the mean, as in an L1 loss",
    ),
    (
        "steps-largest-difference",
        """
def largest_difference(formula, *arrays):
    a, b = [formula(*[Tensor(x).to(d) for x in arrays]) for d in ("CPU", "PYTHON")]
    return (a - b).abs().max().item()
""",
        "wrong",
        "Tensors on two devices",
    ),
    (
        "steps-rule-for-products",
        "lambda n: n.op.name == 'MUL' and len({n.dtype, *(s.dtype for s in n.src)}) > 1",
        "right",
        "by its name",
    ),
    (
        "steps-rule-for-products",
        "lambda n: n.op is Ops.MUL and n.src[0].dtype != n.src[1].dtype",
        "wrong",
        "the sources agree with each other and not with the product",
    ),
    (
        "steps-spoiled-graph",
        """
def spoil(sink):
    ranges = [u for u in sink.toposort() if u.op is Ops.RANGE]
    return sink.substitute({u: u.replace(arg=None) for u in ranges})
""",
        "right",
        "loops that have lost their number",
    ),
    (
        "steps-spoiled-graph",
        """
def spoil(sink):
    from tinyframe.dtype import dtypes
    loads = [u for u in sink.toposort() if u.op is Ops.LOAD]
    return sink.substitute({u: u.replace(dtype=dtypes.half) for u in loads})
""",
        "right",
        "half precision by decree: the load, and not only the product, contradicts its memory",
    ),
    (
        "steps-mended",
        "lambda stages, name: [s for s in stages if name not in s]",
        "right",
        "in, on a pair",
    ),
    (
        "steps-mended",
        "lambda stages, name: [f for n, f in stages if n != name]",
        "wrong",
        "no names",
    ),
    # ---- 2b -------------------------------------------------------------------------------------
    (
        "steps-kernels-run",
        """
def kernels_run(run):
    GlobalCounters.reset()
    result = run()
    if isinstance(result, Tensor):
        result.numpy()
    return np.int64(GlobalCounters.kernel_count)
""",
        "right",
        "to be sure that it has happened, as one synchronizes; and a NumPy number",
    ),
    (
        "steps-slowest-kernel",
        """
def slowest(run):
    seconds = {}
    with observing(t := Times()):
        run()
    for name, s in t.kernels:
        seconds[name] = max(s, seconds.get(name, 0))
    return max(seconds, key=seconds.get)
""",
        "right",
        "a dictionary by name",
    ),
    (
        "steps-slowest-kernel",
        """
def slowest(run):
    with observing(t := Times()):
        run()
    return max(t.kernels)[0]
""",
        "wrong",
        "the largest name",
    ),
    ("steps-what-a-replay-does", "(1, 15)", "wrong", "a trace at the first call, as in torch.jit"),
    (
        "steps-safe-to-replay",
        """
def safe(function, inputs):
    fast = TinyJit(function)
    try:
        return all((fast(x) == function(x)).all().item() for x in inputs)
    except JitError:
        return False
""",
        "right",
        "compared as Tensors; item gives a bool",
    ),
    (
        "steps-safe-to-replay",
        """
def safe(function, inputs):
    fast = TinyJit(function)
    try:
        return (fast(inputs[-1]) == function(inputs[-1])).all()
    except JitError:
        return False
""",
        "wrong",
        "one call, and a Tensor for a bool",
    ),
    (
        "steps-safe-to-replay",
        """
def safe(function, inputs):
    fast = TinyJit(function)
    try:
        fast(inputs[0]), fast(inputs[0])
        return all(np.allclose(fast(x).numpy(), function(x).numpy()) for x in inputs)
    except JitError:
        return False
""",
        "wrong",
        "warmed up first, as for a benchmark: the inputs are to come in their order, once",
    ),
    # ---- 3a -------------------------------------------------------------------------------------
    (
        "tensors-disc",
        """
def disc(n):
    r = Tensor.arange(n).float() - n // 2
    y, x = Tensor.meshgrid(r, r)
    return x.hypot(y).lt(n / 3)
""",
        "right",
        "meshgrid, hypot, lt",
    ),
    (
        "tensors-disc",
        """
def disc(n):
    r = Tensor.linspace(-1, 1, n)
    return r.unsqueeze(0).square() + r.unsqueeze(1).square() < (2 / 3) ** 2
""",
        "wrong",
        "a picture from -1 to 1: half a point off, and a little too large",
    ),
    (
        "tensors-disc",
        """
def disc(n):
    r = Tensor.arange(n) - (n - 1) / 2
    return r[:, None] ** 2 + r**2 < (n / 3) ** 2
""",
        "wrong",
        "the middle of a picture, between two points if n is even",
    ),
    (
        "tensors-disc",
        """
def disc(n):
    r = (Tensor.arange(n) - n // 2).abs()
    return r[:, None] + r < n / 3
""",
        "wrong",
        "a diamond",
    ),
    (
        "tensors-disc",
        """
def disc(n):
    r = (Tensor.arange(n) - n // 2) * 3
    return (r.square()[:, None] + r.square()).lt(n * n).where(1, 0)
""",
        "right",
        "1 and 0 for True and False",
    ),
    ("tensors-shapes-of-reductions", "((2, 4), (2, 3, 1), (1, 3, 1))", "wrong", "kept"),
    ("tensors-shapes-of-reductions", "[[2, 4], [2, 3, 1], [3]]", "right", "lists"),
    ("tensors-centre", "lambda x: x.sub(x.mean(dim=0, keepdim=True))", "right", "sub, dim"),
    ("tensors-centre", "lambda x: x - x.mean(-2).expand_as(x)", "right", "from behind"),
    (
        "tensors-centre",
        """
def centre(x):
    x -= x.mean(0)
    return x
""",
        "right",
        "in place; nobody said that x has to stay as it is",
    ),
    ("tensors-centre", "lambda x: (x - x.mean(0)) / x.std(0)", "wrong", "all of BatchNorm"),
    ("tensors-centre", "lambda x: x.zero_()", "wrong", "each column's mean is 0 now, true enough"),
    ("tensors-rotate", "lambda x: x.permute(1, 0).flip(-1)", "right", "permute"),
    ("tensors-rotate", "lambda x: x.transpose(-2, -1).flip([1])", "right", "a list of axes"),
    (
        "tensors-rotate",
        "lambda x: x.t().flip(dims=(1,))",
        "wrong",
        "PyTorch's name for the axes, which tinyframe hasn't (I had said right)",
    ),
    ("tensors-rotate", "lambda x: x.flip(0, 1).t()", "wrong", "mirrored"),
    ("tensors-shapes-that-meet", "[(5, 7), (2, 3, 4), [6, 2, 5]]", "right", "mixed"),
    (
        "tensors-primes",
        """
def primes(n):
    r = Tensor.arange(n)
    table = r.unsqueeze(0).remainder(Tensor.arange(1, n + 1).unsqueeze(1))
    return table.eq(0).sum(dim=0).eq(2).logical_and(r.gt(0))
""",
        "right",
        "a chain of methods (and since 0 isn't prime for n = 2, one more)",
    ),
    (
        "tensors-primes",
        """
def primes(n):
    r = Tensor.arange(1, n + 1)
    return (r % r[:, None] == 0).count_nonzero(dim=0) == 2
""",
        "wrong",
        "begins at 1, so everything is one place off",
    ),
    (
        "tensors-fill",
        "lambda x, holes: x.masked_fill(holes, x.masked_select(~holes).mean())",
        "right",
        "masked_fill and masked_select",
    ),
    (
        "tensors-fill",
        """
def fill(x, holes):
    x[holes] = x[~holes].mean().item()
    return x
""",
        "right",
        "in place, with a mask: PyTorch's way",
    ),
    (
        "tensors-fill",
        """
def fill(x, holes):
    x[holes] = x.mean()
    return x
""",
        "wrong",
        "in place, and the mean of everything",
    ),
    (
        "tensors-fill",
        "lambda x, holes: x.where(~holes, x[~holes].mean())",
        "wrong",
        "PyTorch's x.where(mask, other); here the mask stands in front",
    ),
    (
        "tensors-fill",
        "lambda x, holes: Tensor.where(holes, x[~holes].mean(), x)",
        "right",
        "torch.where's order",
    ),
    (
        "tensors-dtypes-of-pixels",
        "('torch.float32', 'torch.uint8', 'torch.float32', 'torch.int32')",
        "right",
        "what PyTorch would print",
    ),
    (
        "tensors-dtypes-of-pixels",
        "('float32', 'uint8', 'float32', 'int64')",
        "wrong",
        "PyTorch counts in int64",
    ),
    (
        "tensors-average",
        "lambda a, b: ((a.long() + b.long()) >> 1).cast('uint8')",
        "right",
        "a shift",
    ),
    (
        "tensors-average",
        "lambda a, b: Tensor.stack([a, b]).mean(dim=0).cast('uint8')",
        "right",
        "stack",
    ),
    (
        "tensors-average",
        "lambda a, b: a.float().add(b).div(2).round().cast('uint8')",
        "wrong",
        "rounded",
    ),
    ("tensors-average", "lambda a, b: (a.int() + b.int()) // 2", "wrong", "not cast back"),
    ("tensors-average", "lambda a, b: a + (b - a) // 2", "wrong", "b - a wraps around"),
    (
        "tensors-life",
        """
def life(board):
    b = board.float()[None, None]
    n = b.conv2d(Tensor.ones(1, 1, 3, 3), padding=1)[0, 0] - board
    return (n == 3) | ((n == 2) & (board == 1))
""",
        "right",
        "a convolution, in floats",
    ),
    (
        "tensors-life",
        """
def life(board):
    n = board.pad((1, 1, 1, 1)).unfold(0, 3, 1).unfold(1, 3, 1).sum(dim=(-1, -2)) - board
    return n.eq(3).logical_or(n.eq(2).logical_and(board.bool())).float()
""",
        "right",
        "the flat pad of F.pad, unfold, and a board of floats",
    ),
    (
        "tensors-life",
        """
def life(board):
    n = sum(board.roll((i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
    return (n == 3) | ((n == 2) & board.bool())
""",
        "wrong",
        "a torus",
    ),
    # ---- 3b -------------------------------------------------------------------------------------
    ("puzzle-outer", "lambda a, b: a.unsqueeze(1) * b", "wrong", "not among the tools"),
    (
        "puzzle-outer",
        "lambda a, b: a.reshape(-1, 1) @ b[None, :]",
        "right",
        "a product of matrices",
    ),
    (
        "puzzle-eye",
        "lambda n: Tensor.arange(n) == Tensor.arange(n).reshape(n, 1)",
        "right",
        "turned",
    ),
    ("puzzle-one_hot", "lambda labels, n: labels[..., None] == Tensor.arange(n)", "right", "…"),
    (
        "puzzle-normalise",
        "lambda x: x / x.sum(dim=-1, keepdim=True)",
        "right",
        "dim, and from behind",
    ),
    ("puzzle-normalise", "lambda x: x / x.sum(-1)[:, None]", "right", "without keepdim"),
    ("puzzle-moving_average", "lambda a: a.unfold(0, 3, 1).mean(-1)", "wrong", "unfold is no tool"),
    (
        "puzzle-histogram",
        "lambda labels, n: Tensor.ones(len(labels)) @ (labels[:, None] == Tensor.arange(n))",
        "right",
        "ones times one-hot",
    ),
    ("puzzle-take", "lambda a, index: a.gather(0, index)", "wrong", "gather is no tool"),
    (
        "puzzle-distances",
        "lambda a, b: (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * (a @ b.T)",
        "right",
        "|a|² + |b|² - 2ab, as cdist does it",
    ),
    (
        "puzzle-moving_average",
        "lambda a: sum([a[:-2], a[1:-1], a[2:]]) / 3",
        "right",
        "Python's sum, of three tensors",
    ),
    ("puzzle-arange", "lambda n: Tensor.ones(n).cumsum(dim=0) - 1", "right", "dim"),
    (
        "puzzle-argmax",
        "lambda a: (a == a.max()) @ Tensor.arange(len(a))",
        "right",
        "one-hot times indices",
    ),
    (
        "puzzle-argmax",
        "lambda a: (a == a.max()).where(Tensor.arange(len(a)), 0).sum(0, keepdim=True)",
        "wrong",
        "shape (1,)",
    ),
    (
        "puzzle-distances",
        "lambda a, b: ((a[:, None] - b[None]) ** 2).sum(dim=-1) ** 0.5",
        "wrong",
        "the distance, as cdist gives it, and not its square",
    ),
    ("puzzle-normalise", "lambda x: x / x.sum(dim=1)", "wrong", "the trap of part 3a"),
    (
        "puzzle-repeat",
        "lambda a, k: a[:, None].expand(-1, k).reshape(-1)",
        "right",
        "-1 for an axis that stays",
    ),
]

MINI = [
    (
        "3",
        "flat",
        """
def strides_of(shape):
    return [prod(shape[k + 1:]) for k in range(len(shape))]


def flat(index, shape):
    return sum(map(operator.mul, index, strides_of(shape)))
""",
        "right",
        "contiguous strides, and a dot product",
    ),
    (
        "3",
        "flat",
        """
def flat(index, shape):
    import numpy as np
    return int(np.ravel_multi_index(index, shape)) if shape else 0
""",
        "wrong",
        "NumPy has it, but not for an index of arrays or counters",
    ),
    (
        "3",
        "unflat",
        """
def unflat(place, shape):
    return tuple(place // prod(shape[k + 1:]) % shape[k] for k in range(len(shape)))
""",
        "right",
        "each axis by itself",
    ),
    (
        "3",
        "unflat",
        """
def unflat(place, shape):
    return unflat(place // shape[-1], shape[:-1]) + (place % shape[-1],) if len(shape) else ()
""",
        "right",
        "it calls itself, and asks about the shape only",
    ),
    (
        "3",
        "unflat",
        """
def unflat(place, shape):
    index = []
    for n in shape:
        index.append(place % n)
        place //= n
    return tuple(index)
""",
        "wrong",
        "Fortran's order",
    ),
    (
        "3",
        "Array.of",
        """
def of(values, *shape):
    strides = [prod(shape[k + 1:]) for k in range(len(shape))]
    return Array(shape, lambda i: values[sum(a * s for a, s in zip(i, strides))])
""",
        "right",
        "strides worked out once",
    ),
    (
        "3",
        "Array.of",
        """
def of(values, *shape):
    copy = tuple(values)
    return Array(tuple(shape), lambda index: copy[flat(index, shape)])
""",
        "right",
        "torch.tensor copies",
    ),
    (
        "3",
        "Array.map",
        """
def map(self, function, *others):
    assert all(o.shape == self.shape for o in others), "shapes differ"
    return Array(self.shape, lambda i: function(self.at(i), *(o.at(i) for o in others)))
""",
        "right",
        "refuses shapes that differ",
    ),
    (
        "3",
        "Array.map",
        """
def map(self, function, *others):
    return Array(self.shape, lambda i: function(self.at(i), others[0].at(i)))
""",
        "wrong",
        "always a second one",
    ),
    (
        "3",
        "Array.sum",
        """
def sum(self, dim):
    axis = dim % len(self.shape)
    n = self.shape[axis]
    return Array(
        self.shape[:axis] + self.shape[axis + 1:],
        lambda i: sum(self.at(i[:axis] + (k,) + i[axis:]) for k in range(n)),
    )
""",
        "right",
        "dim for axis, negative ones too",
    ),
    (
        "3",
        "Array.sum",
        """
def sum(self, axis):
    shape = tuple(1 if k == axis else n for k, n in enumerate(self.shape))
    return Array(shape, lambda i: sum(
        self.at(i[:axis] + (k,) + i[axis + 1:]) for k in range(self.shape[axis])))
""",
        "wrong",
        "keepdim",
    ),
    (
        "3",
        "Array.sum",
        """
def sum(self, axis):
    shape = self.shape[:axis] + self.shape[axis + 1:]
    total = lambda i: sum(self.at((*i[:axis], k, *i[axis:])) for k in range(self.shape[axis]))
    return Array(shape, total)
""",
        "right",
        "a lambda with a name",
    ),
    (
        "3",
        "Array.tolist",
        """
def tolist(self):
    return [*map(lambda place: self.at(unflat(place, self.shape)), range(prod(self.shape)))]
""",
        "right",
        "a map",
    ),
    (
        "3",
        "Array.tolist",
        """
def tolist(self):
    if not self.shape:
        return self.at(())
    rows = [Array(self.shape[1:], lambda i, k=k: self.at((k, *i))) for k in range(self.shape[0])]
    return [row.tolist() for row in rows]
""",
        "wrong",
        "nested lists, as PyTorch's tolist gives; flat ones were asked for",
    ),
    (
        "3",
        "Array.moved",
        """
def moved(self, shape, source_index):
    return Array(tuple(shape), lambda index: self.at(tuple(source_index(index))))
""",
        "right",
        "tuples whatever comes",
    ),
    (
        "3",
        "Array.moved",
        """
def moved(self, shape, source_index):
    self.shape, old = shape, self.at
    self.at = lambda index: old(source_index(index))
    return self
""",
        "wrong",
        "in place",
    ),
]
