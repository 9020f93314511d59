"""Read: 4a and the puzzles of 3b. The verdicts were written before anything was run."""

ANSWERS = [
    # ---- a prediction of a whole number, and 4a's -----------------------------------------------
    ("why-products-in-a-gradient", "3708", "right", "the number itself"),
    ("why-products-in-a-gradient", "3.708e3", "right", "a float that is a whole number"),
    (
        "why-products-in-a-gradient",
        "__import__('numpy').int32(3708)",
        "right",
        "a whole number of NumPy's",
    ),
    ("why-products-in-a-gradient", "Tensor([3708])", "asked again", "a Tensor is no number here"),
    ("why-products-in-a-gradient", "36", "wrong", "the positions in one image"),
    (
        "why-products-in-a-gradient",
        "sum(36 for _ in range(103))",
        "right",
        "computed in place of typed",
    ),
    ("lazy-who-asks", "[0, 0, 1, 1]", "right", "a list for a tuple"),
    ("lazy-who-asks", "'0, 0, 1, 1'", "right", "typed as text"),
    ("lazy-who-asks", "(0, 0, 1, 2)", "wrong", "as if y computed again"),
    ("lazy-who-asks", "(0, 0, 1)", "asked again", "three numbers of four"),
    ("lazy-who-asks", "{0: 1}", "asked again", "a dict is nothing of the sort"),
    ("lazy-who-asks", "range(4)", "wrong", "0, 1, 2, 3: four numbers, if by an odd road"),
    ("lazy-same-node", "(False, True, False, False)", "right", "as asked"),
    ("lazy-same-node", "('no', 'yes', 'no', 'no')", "right", "in words"),
    ("lazy-same-node", "(0, 1, 0, 0)", "right", "0 and 1 are False and True to Python"),
    ("lazy-same-node", "(True, True, False, False)", "wrong", "A and B are two Tensors"),
    # ---- 4a: functions --------------------------------------------------------------------------
    (
        "lazy-count-nodes",
        """
def count_nodes(tensor, op):
    return len([*filter(lambda u: u.op is op, tensor.uop.toposort())])
""",
        "right",
        "a filter in place of a comprehension",
    ),
    (
        "lazy-count-nodes",
        """
def count_nodes(tensor, op):
    seen, stack, found = set(), [tensor.uop], 0
    while stack:
        u = stack.pop()
        if u not in seen:
            seen.add(u)
            found += u.op == op
            stack.extend(u.src)
    return found
""",
        "right",
        "a walk of one's own; == for is",
    ),
    (
        "lazy-count-nodes",
        """
from collections import Counter

def count_nodes(tensor, op):
    return Counter(u.op for u in tensor.uop.toposort())[op]
""",
        "right",
        "counts every op, and gives one",
    ),
    (
        "lazy-count-nodes",
        """
import numpy as np

def count_nodes(tensor, op):
    return np.sum([u.op is op for u in tensor.uop.toposort()])
""",
        "right",
        "np.int64 is a whole number",
    ),
    (
        "lazy-count-nodes",
        "lambda tensor, op: summary(tensor.uop).count(op.name)",
        "wrong",
        "counts in text, where the args of a REDUCE_AXIS name an op too",
    ),
    (
        "lazy-count-nodes",
        """
def count_nodes(tensor, op, walk=None):
    u = tensor if isinstance(tensor, UOp) else tensor.uop
    return (u.op is op) + sum(count_nodes(s, op) for s in u.src)
""",
        "wrong",
        "counts a shared node for every path to it",
    ),
    (
        "lazy-count-nodes",
        """
def count_nodes(tensor, op):
    sum(u.op is op for u in tensor.uop.toposort())
""",
        "asked again",
        "no return",
    ),
    (
        "lazy-power",
        "lambda a, n: a if n == 1 else power(a * a, n // 2) * (a if n % 2 else 1)",
        "wrong",
        "a lambda cannot call itself by a name that still holds the starter",
    ),
    (
        "lazy-power",
        """
power = lambda a, n: a if n == 1 else power(a * a, n // 2) * a if n % 2 else power(a * a, n // 2)
""",
        "right",
        "a lambda with a name, squares first",
    ),
    (
        "lazy-power",
        """
def power(a, n):
    result, square = None, a
    while n:
        if n & 1:
            result = square if result is None else result * square
        n >>= 1
        if n:
            square = square * square
    return result
""",
        "right",
        "binary digits from the right, in a loop",
    ),
    (
        "lazy-power",
        """
def power(a, n):
    result = a
    for digit in bin(n)[3:]:
        result = result * result * (a if digit == "1" else 1)
    return result
""",
        "right",
        "binary digits from the left, with a times 1 that goes away or costs one MUL",
    ),
    ("lazy-power", "lambda a, n: a ** n", "wrong", "a POW is no product"),
    (
        "lazy-power",
        """
from functools import reduce

def power(a, n):
    return reduce(lambda x, y: x * y, [a] * n)
""",
        "wrong",
        "n - 1 products",
    ),
    (
        "lazy-power",
        """
def power(a, n):
    return (a.log() * n).exp()
""",
        "wrong",
        "no products only",
    ),
    (
        "lazy-multiply-add",
        """
def multiply_add(a, b):
    return UOp(dtype=a.dtype, op=Ops.ADD, src=(UOp(src=(a, b), op=Ops.MUL, dtype=b.dtype), a))
""",
        "right",
        "by keyword",
    ),
    (
        "lazy-multiply-add",
        """
def multiply_add(a, b):
    make = lambda op, *src: UOp(op, a.dtype, src)
    return make(Ops.ADD, make(Ops.MUL, a, b), a)
""",
        "right",
        "with a helper",
    ),
    ("lazy-multiply-add", "lambda a, b: a * b + a", "wrong", "operators, not UOp(…)"),
    (
        "lazy-multiply-add",
        "lambda a, b: UOp(Ops.ADD, a.dtype, (a, UOp(Ops.MUL, a.dtype, (a, b))))",
        "wrong",
        "a + a * b: the sources in the other order are another node",
    ),
    (
        "lazy-dot-product",
        """
def dot_product(a, b):
    product = UOp(Ops.MUL, a.dtype, (a, b))
    total = UOp(Ops.REDUCE_AXIS, a.dtype, (product,), (Ops.ADD, (0,)))
    return UOp(Ops.RESHAPE, a.dtype, (total,), ())
""",
        "right",
        "as the listing of a.max() has it",
    ),
    (
        "lazy-dot-product",
        """
def dot_product(a, b):
    product = UOp(Ops.MUL, a.dtype, (a, b))
    return UOp(Ops.REDUCE_AXIS, a.dtype, (product,), (Ops.ADD, (0,)))
""",
        "wrong",
        "shape (1,), not ()",
    ),
    # ---- the puzzles ----------------------------------------------------------------------------
    (
        "puzzle-outer",
        "lambda a, b: a.reshape(-1, 1) @ b.reshape(1, -1)",
        "right",
        "a product of matrices",
    ),
    ("puzzle-outer", "lambda a, b: (a[None] * b[:, None]).T", "right", "transposed twice"),
    (
        "puzzle-outer",
        "lambda x, y: x.reshape(len(x), 1) * y.reshape(1, len(y))",
        "right",
        "other names",
    ),
    (
        "puzzle-outer",
        "lambda a, b: a.reshape(1, -1) * b.reshape(-1, 1)",
        "wrong",
        "a row for each of b",
    ),
    (
        "puzzle-eye",
        "lambda n: (Tensor.arange(n * n) % (n + 1) == 0).reshape(n, n)",
        "right",
        "every (n+1)th element of the flat matrix",
    ),
    (
        "puzzle-eye",
        """
def eye(n):
    i = Tensor.arange(n)
    return ((i[:, None] <= i) & (i[:, None] >= i)).where(1, 0)
""",
        "right",
        "not more and not less is equal",
    ),
    ("puzzle-eye", "lambda n: Tensor.eye(n)", "wrong", "that is the tool one is to make"),
    ("puzzle-eye", "Tensor.eye", "wrong", "not even a function of one's own"),
    (
        "puzzle-triu",
        "lambda n: 1 - (Tensor.arange(n)[:, None] > Tensor.arange(n))",
        "right",
        "one minus what is below",
    ),
    (
        "puzzle-triu",
        "lambda n: (Tensor.arange(n)[:, None] <= Tensor.arange(n)) * 1.0",
        "right",
        "floats that are equal",
    ),
    ("puzzle-triu", "lambda n: Tensor.ones(n, n).triu()", "wrong", "`triu` is no tool"),
    (
        "puzzle-one_hot",
        "lambda labels, n: 1 * (labels.reshape(len(labels), 1) == Tensor.arange(n))",
        "right",
        "ints from a comparison",
    ),
    (
        "puzzle-checkerboard",
        "lambda n: (Tensor.arange(n)[:, None] % 2) != (Tensor.arange(n) % 2)",
        "right",
        "different parities",
    ),
    (
        "puzzle-checkerboard",
        "lambda n: (Tensor.arange(n)[:, None] - Tensor.arange(n)) % 2",
        "right",
        "a difference is odd where a sum is; % of a negative number is not negative",
    ),
    (
        "puzzle-arange",
        "lambda n: Tensor.ones(n).cumsum(0) - Tensor.ones(n)",
        "right",
        "ones for the 1",
    ),
    (
        "puzzle-arange",
        """
def arange(n):
    return Tensor([k for k in range(n)])
""",
        "wrong",
        "a Python list, with no tool at all",
    ),
    ("puzzle-diff", "lambda a: -(a[:-1] - a[1:])", "right", "turned round twice"),
    (
        "puzzle-diff",
        "lambda a: a[1 : len(a)] - a[0 : len(a) - 1]",
        "right",
        "slices written in full",
    ),
    (
        "puzzle-moving_average",
        "lambda a: (a[2:] + a[1:-1] + a[:-2]) * (1 / 3)",
        "right",
        "times a third",
    ),
    ("puzzle-moving_average", "lambda a: (a[:-2] + a[1:-1] + a[2:]) // 3", "wrong", "rounds down"),
    (
        "puzzle-repeat",
        "lambda a, k: (a[:, None] * Tensor.ones(k)).reshape(-1)",
        "right",
        "by multiplying with ones, and as floats",
    ),
    (
        "puzzle-repeat",
        "lambda a, k: (a.reshape(-1, 1) + 0 * Tensor.arange(k)).reshape(len(a) * k)",
        "right",
        "by adding a row of zeros",
    ),
    (
        "puzzle-swap_halves",
        """
def swap_halves(a):
    n, half = len(a), len(a) // 2
    return a[half:].pad(((0, half),)) + a[:half].pad(((half, 0),))
""",
        "right",
        "two halves, each padded on one side",
    ),
    ("puzzle-swap_halves", "lambda a: a.roll(len(a) // 2)", "wrong", "`roll` is no tool"),
    ("puzzle-normalise", "lambda x: x / x.sum(1).reshape(-1, 1)", "right", "reshape for keepdim"),
    (
        "puzzle-normalise",
        "lambda x: (x.T / x.sum(axis=1)).T",
        "right",
        "transposed, so that rows meet",
    ),
    ("puzzle-normalise", "lambda x: x / x.sum(axis=1)", "wrong", "sums meet the columns"),
    (
        "puzzle-running_sum",
        """
def running_sum(a):
    n = len(a)
    return (a * (Tensor.arange(n)[:, None] >= Tensor.arange(n))).sum(axis=1)
""",
        "right",
        "a mask and a sum for the product",
    ),
    (
        "puzzle-flip",
        """
def flip(a):
    n = len(a)
    return ((Tensor.arange(n)[:, None] + Tensor.arange(n) == n - 1) * a).sum(1)
""",
        "right",
        "a mask and a sum for the product",
    ),
    (
        "puzzle-pad",
        """
def pad(a, n):
    return (Tensor.arange(n)[:, None] == Tensor.arange(len(a))) @ a
""",
        "right",
        "the matrix that picks",
    ),
    (
        "puzzle-pad",
        "lambda a, n: (Tensor.arange(n) < len(a)).where(a.expand(n), 0)",
        "wrong",
        "expand stretches an axis of size 1 only, so this raises",
    ),
    (
        "puzzle-take",
        "lambda a, index: ((index[:, None] == Tensor.arange(len(a))) * a).sum(axis=1)",
        "right",
        "a mask and a sum",
    ),
    ("puzzle-take", "lambda a, index: a[index]", "right", "as the text says, with 19 ops"),
    (
        "puzzle-argmax",
        "lambda a: ((a == a.max()) * Tensor.arange(len(a))).max()",
        "right",
        "max for sum",
    ),
    (
        "puzzle-argmax",
        "lambda a: (a == a.max()).where(Tensor.arange(len(a)), 0).sum()",
        "right",
        "where",
    ),
    (
        "puzzle-histogram",
        "lambda labels, n: (Tensor.arange(n)[:, None] == labels).sum(axis=1)",
        "right",
        "the table the other way round",
    ),
    (
        "puzzle-histogram",
        "lambda labels, n: (Tensor.arange(n)[:, None] == labels) @ Tensor.ones(len(labels))",
        "right",
        "a product with ones, and as floats",
    ),
    ("puzzle-bucket", "lambda a, edges: (edges <= a[:, None]).sum(1)", "right", "turned round"),
    (
        "puzzle-bucket",
        "lambda a, edges: len(edges) - (edges[:, None] > a).sum(0)",
        "right",
        "all edges but those above",
    ),
    (
        "puzzle-distances",
        """
def distances(a, b):
    return (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * (a @ b.T)
""",
        "right",
        "the binomial formula",
    ),
    (
        "puzzle-distances",
        "lambda a, b: ((a[:, None] - b[None]) * (b[None] - a[:, None])).sum(2) * -1",
        "right",
        "the sign turned twice",
    ),
    (
        "puzzle-distances",
        "lambda a, b: ((a[:, None] - b) ** 2).sum(2) ** 0.5",
        "wrong",
        "the root of it",
    ),
    (
        "puzzle-sort",
        """
def sort(a):
    n = len(a)
    rank = (a < a[:, None]).sum(axis=1)
    return ((rank == Tensor.arange(n)[:, None]) * a).sum(axis=1)
""",
        "right",
        "a mask and a sum for the product",
    ),
]

MINI = [
    (
        "3",
        "flat",
        """
def flat(index, shape):
    place = 0
    for i, n in zip(index, shape, strict=True):
        place = place * n + i
    return place
""",
        "right",
        "Horner's rule",
    ),
    (
        "3",
        "flat",
        """
def flat(index, shape):
    return sum(i * n for i, n in zip(index, shape))
""",
        "wrong",
        "a step is the product of the sizes to the right, not the size",
    ),
    (
        "3",
        "unflat",
        """
def unflat(place, shape):
    index = ()
    for n in reversed(shape):
        place, i = divmod(place, n)
        index = (i, *index)
    return index
""",
        "right",
        "divmod, from the right",
    ),
    (
        "3",
        "unflat",
        """
import math

def unflat(place, shape):
    steps = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return tuple(place // step % n for step, n in zip(steps, shape))
""",
        "right",
        "all steps first, from the left",
    ),
    (
        "3",
        "unflat",
        """
def unflat(place, shape):
    index = []
    for n in reversed(shape):
        index.append(place % n)
        place //= n
    return tuple(index)
""",
        "wrong",
        "the axes come out in reverse",
    ),
]
