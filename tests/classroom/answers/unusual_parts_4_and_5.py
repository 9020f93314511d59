"""Parts 4 and 5, and mini's stages 4, 4b and 5, as somebody who knows PyTorch would answer.

The verdicts were written before anything was run.
"""

ANSWERS = [
    # ---- 4a -------------------------------------------------------------------------------------
    ("lazy-who-asks", "'0 0 1 1'", "asked again", "as text, it needs its commas; thought right"),
    ("lazy-who-asks", "[0, 0, 1, 2]", "wrong", "a list; as if the second tolist() ran again"),
    ("lazy-who-asks", "(0, 1, 1)", "asked again", "three numbers of four"),
    (
        "lazy-count-nodes",
        """
def count_nodes(tensor, op):
    seen = set()

    def walk(u):
        if u in seen:
            return 0
        seen.add(u)
        return int(u.op is op) + sum(walk(s) for s in u.src)

    return walk(tensor.uop)
""",
        "right",
        "a walk of its own that remembers where it has been",
    ),
    (
        "lazy-count-nodes",
        """
def count_nodes(tensor, op):
    return summary(tensor.uop).count(op.name)
""",
        "wrong",
        "as the notebook counts ADD: the argument of a REDUCE_AXIS says MAX or ADD as well",
    ),
    (
        "lazy-count-nodes",
        """
def count_nodes(tensor, op):
    def walk(u):
        return int(u.op is op) + sum(walk(s) for s in u.src)

    return walk(tensor.uop)
""",
        "wrong",
        "paths, not nodes",
    ),
    ("lazy-same-node", "[0, 1, 0, 0]", "right", "0 and 1 for False and True"),
    ("lazy-same-node", "'F T F F'", "asked again", "letters without commas; thought right"),
    ("lazy-same-node", "(False, True, True, False)", "wrong", "addition commutes, nodes don't"),
    (
        "lazy-power",
        """
def power(a, n):
    result = 1
    for bit in f"{n:b}":
        result = result * result
        if bit == "1":
            result = result * a
    return result
""",
        "right",
        "bits from the left, starting from the number 1",
    ),
    (
        "lazy-power",
        """
def power(a, n):
    if n == 1:
        return a
    half = power(a, n // 2)
    return half.square() * a if n % 2 else half.square()
""",
        "right",
        "recursion, and square()",
    ),
    (
        "lazy-power",
        """
def power(a, n):
    if n == 1:
        return a
    return power(a, n // 2) * power(a, n - n // 2)
""",
        "right",
        "two halves without a cache: equal halves are one node, and at most two sizes a level",
    ),
    (
        "lazy-power",
        """
def power(a, n):
    t = a
    for _ in range(n - 1):
        t = t * a
    return t
""",
        "wrong",
        "99 multiplications",
    ),
    (
        "lazy-power",
        """
def power(a, n):
    return a * a.pow(n - 1) if n > 1 else a
""",
        "wrong",
        "a POW after all",
    ),
    (
        "lazy-multiply-add",
        """
def multiply_add(a, b):
    return UOp(op=Ops.ADD, dtype=b.dtype, src=(UOp(Ops.MUL, b.dtype, (a, b), None), a), arg=None)
""",
        "right",
        "by keyword, and the dtype of the other one",
    ),
    (
        "lazy-multiply-add",
        """
def multiply_add(a, b):
    return UOp(Ops.ADD, a.dtype, (a, UOp(Ops.MUL, a.dtype, (a, b))))
""",
        "wrong",
        "a + a * b is a different node",
    ),
    (
        "lazy-multiply-add",
        """
def multiply_add(a, b):
    return UOp(Ops.MULACC, a.dtype, (a, b, a))
""",
        "wrong",
        "a fused multiply-add is one node, not these two",
    ),
    (
        "lazy-multiply-add",
        """
def multiply_add(a, b):
    return (Tensor(a) * Tensor(b) + Tensor(a)).uop
""",
        "wrong",
        "operators after all",
    ),
    (
        "lazy-dot-product",
        """
def dot_product(a, b):
    product = UOp(Ops.MUL, a.dtype, (a, b))
    total = UOp(Ops.REDUCE_AXIS, product.dtype, (product,), (Ops.ADD, tuple(range(1))))
    return UOp(Ops.RESHAPE, total.dtype, (total,), tuple())
""",
        "right",
        "the axes and the shape, computed",
    ),
    (
        "lazy-dot-product",
        """
def dot_product(a, b):
    product = UOp(Ops.MUL, a.dtype, (a, b))
    total = UOp(Ops.REDUCE_AXIS, a.dtype, (product,), (Ops.ADD, (-1,)))
    return UOp(Ops.RESHAPE, a.dtype, (total,), ())
""",
        "wrong",
        "axis -1 is axis 0 in PyTorch, but a different node here",
    ),
    # ---- 4b -------------------------------------------------------------------------------------
    (
        "lazy-bytes-touched",
        """
from itertools import chain

def bytes_touched(items):
    return sum(map(lambda b: b.size * b.dtype.itemsize, chain(*(item.bufs for item in items))))
""",
        "right",
        "sizes by item sizes, through chain",
    ),
    (
        "lazy-bytes-touched",
        """
def bytes_touched(items):
    return sum(buf.size * 4 for item in items for buf in item.bufs)
""",
        "wrong",
        "not every number has four bytes",
    ),
    (
        "lazy-bytes-touched",
        """
def bytes_touched(items):
    return sum(buf.nbytes for buf in {buf for item in items for buf in item.bufs})
""",
        "wrong",
        "a buffer in two items counts twice",
    ),
    ("lazy-five-counts", "[1, 1, 2, 1, 2]", "right", "a list"),
    ("lazy-five-counts", "(2, 2, 2, 2, 2)", "wrong", "PyTorch's habit, rounded down"),
    (
        "lazy-fewest-rows",
        """
def shares(n):
    rows = Tensor.rand(n, 64).realize()
    return rows / rows.sum(axis=1, keepdim=True)

fewest_rows = next(n for n in range(1, 200) if kernels(shares(n)) == 1)
""",
        "right",
        "searched with the notebook's own function",
    ),
    ("lazy-fewest-rows", "'32 rows'", "wrong", "told to give a whole number; thought right"),
    ("lazy-fewest-rows", "31", "wrong", "the largest that takes two"),
    ("lazy-fewest-rows", "kernels", "wrong", "a function; measured, so it can be tried again"),
    (
        "lazy-one-less",
        """
def one_less(a):
    return Tensor.einsum("ij->j", a) / Tensor.einsum("ij->", a)
""",
        "right",
        "einsum",
    ),
    (
        "lazy-one-less",
        """
def one_less(a):
    return (a / a.sum()).sum(0)
""",
        "right",
        "divided first, added up afterwards",
    ),
    (
        "lazy-one-less",
        """
def one_less(a):
    return a.mean(0) / a.mean() / len(a.T)
""",
        "right",
        "means, and their number of columns",
    ),
    (
        "lazy-one-less",
        """
def one_less(a):
    columns = a.sum(axis=0)
    return columns / columns.sum()
""",
        "wrong",
        "the same three kernels, with a name",
    ),
    (
        "lazy-one-less",
        """
def one_less(a):
    return (a.sum(axis=0) / a.sum(axis=0).sum()).fuse()
""",
        "wrong",
        "the cuts are the scheduler's",
    ),
    (
        "lazy-any-number",
        """
def exactly(a, n):
    t = a
    for k in range(n):
        t = t.softmax(k % 2)
    return t
""",
        "right",
        "softmax down, then across, then down",
    ),
    (
        "lazy-any-number",
        """
def exactly(a, n):
    t = a.sum(0)
    for _ in range(n - 1):
        t = (a * t).sum(1)
    return t
""",
        "right",
        "matrix times vector, again and again, without @",
    ),
    (
        "lazy-any-number",
        """
def exactly(a, n):
    t = a + 1
    for _ in range(n - 1):
        t = t / t.sum()
    return t
""",
        "wrong",
        "the cell above: two kernels, however often",
    ),
    # ---- 4c -------------------------------------------------------------------------------------
    (
        "lazy-sines-once",
        """
def three_cheaper_sums(u):
    first = (u.sin().exp() * 2).sum()
    return [first, first * 1.5, first * 2]
""",
        "right",
        "the second and third are made from the first, which is in memory by then",
    ),
    (
        "lazy-sines-once",
        """
def three_cheaper_sums(u):
    total = u.sin().exp().sum()
    return [total * k for k in (2, 3, 4)]
""",
        "wrong",
        "the common sum is not stored by anyone",
    ),
    (
        "lazy-sines-once",
        """
def three_cheaper_sums(u):
    total = u.sin().exp().sum().contiguous()
    return tuple(total * k for k in (2, 3, 4))
""",
        "right",
        "one number is stored, instead of a million; a tuple",
    ),
    (
        "lazy-sines-once",
        """
def three_cheaper_sums(u):
    waves = u.sin().exp().clone()
    return [(waves * k).sum() for k in (2, 3, 4)]
""",
        "right",
        "clone, which has memory of its own",
    ),
    (
        "lazy-sines-once",
        """
def three_cheaper_sums(u):
    waves = u.sin().exp().realize()
    return [(waves * k).sum() for k in (2, 3, 4)]
""",
        "wrong",
        "the function runs something",
    ),
    ("lazy-old-values-and-views", "'10 20 4'", "asked again", "no commas; thought right"),
    ("lazy-old-values-and-views", "(10, 20, 3)", "wrong", "tail as it was when it was made"),
    ("lazy-old-values-and-views", "([10], [20], [4])", "right", "lists of one; thought too odd"),
    (
        "lazy-swap",
        """
def swap(x, y):
    old = x.clone()
    x.copy_(y)
    y.copy_(old)
    return x, y
""",
        "right",
        "as in PyTorch",
    ),
    (
        "lazy-swap",
        """
def swap(x, y):
    x[:], y[:] = y + 0, x + 0
    return [x, y]
""",
        "right",
        "a slice of everything; both right sides come first; a list",
    ),
    (
        "lazy-swap",
        """
def swap(x, y):
    x[:], y[:] = y, x
    return x, y
""",
        "wrong",
        "NumPy's classic: by the second assignment, x has changed",
    ),
    (
        "lazy-swap",
        """
def swap(x, y):
    old = x.detach()
    x.assign(y)
    y.assign(old)
    return x, y
""",
        "wrong",
        "detach shares memory, in PyTorch too",
    ),
    (
        "lazy-swap",
        """
def swap(x, y):
    return y, x
""",
        "wrong",
        "two names, and nothing changed",
    ),
    ("lazy-waiting-results", "(1, 1, 2, 2)", "right", "the answer"),
    ("lazy-waiting-results", "(1, 2, 2, 2)", "wrong", "a copy for the slice"),
    (
        "lazy-push",
        """
def push(window, value):
    window.assign(window.roll(-1))
    window[-1] = value
    return window
""",
        "right",
        "roll, then the last",
    ),
    (
        "lazy-push",
        """
def push(window, value):
    return window.assign(window.pad(((0, 1),), value=value)[1:])
""",
        "right",
        "padded with the new value",
    ),
    (
        "lazy-push",
        """
def push(window, value):
    for k in range(len(window) - 1):
        window[k] = window[k + 1]
    window[len(window) - 1] = value
    return window
""",
        "right",
        "one by one, from left to right",
    ),
    (
        "lazy-push",
        """
def push(window, value):
    window[-1] = value
    window[:-1] = window[1:]
    return window
""",
        "wrong",
        "the new value twice, and one lost",
    ),
    (
        "lazy-push",
        """
def push(window, value):
    return window[1:].cat(Tensor([value]))
""",
        "wrong",
        "a new Tensor; the window is as it was",
    ),
    (
        "lazy-swing",
        """
def swing(now, before):
    velocity = now - before
    before.assign(now)
    now.assign(now + velocity + bend(now) / 2)
    return now, before
""",
        "right",
        "velocity is a result and keeps its values",
    ),
    (
        "lazy-swing",
        """
def swing(now, before):
    later = 2 * now - before + 0.5 * bend(now)
    now.assign(later)
    before.assign(now)
    return now, before
""",
        "wrong",
        "before becomes later",
    ),
    (
        "lazy-swing",
        """
def swing(now, before):
    before.assign(2 * now - before + 0.5 * bend(now))
    return before, now
""",
        "wrong",
        "one kernel and the roles exchanged: a trick in C, but not the same two Tensors",
    ),
    # ---- 5a -------------------------------------------------------------------------------------
    (
        "kinds-views-from-strides",
        """
def three_views(grid):
    return [grid.T[::-1], grid[1::2, ::2], grid[:, 2:3].T.expand(3, 4)]
""",
        "right",
        "a negative step, which PyTorch does not have; a list",
    ),
    (
        "kinds-views-from-strides",
        """
def three_views(grid):
    return grid.flip(1).T, grid.unfold(0, 2, 1)[0], grid[:, 2].repeat(3, 1)
""",
        "wrong",
        "the second is rows 0 and 1",
    ),
    (
        "kinds-views-from-strides",
        """
def three_views(grid):
    flat = grid.flatten()
    return (
        flat.reshape(4, 6).permute(1, 0).flip(0),
        flat[6:].reshape(3, 6)[::2, ::2],
        flat[2:].unfold(0, 1, 6).reshape(1, 4).expand(3, -1),
    )
""",
        "right",
        "from one line of cells, with windows of one, and -1 for a size that stays",
    ),
    (
        "kinds-views-from-strides",
        """
def three_views(grid):
    return grid.T.flip(0).contiguous(), grid[1::2, ::2], grid[:, 2].expand(3, 4)
""",
        "wrong",
        "the first has memory of its own",
    ),
    ("kinds-view-kernels", "(False, True)", "asked again", "truths for counts"),
    ("kinds-view-kernels", "'0, 1'", "right", "text"),
    ("kinds-view-kernels", "(1, 1)", "wrong", "reshape after a transpose copies in PyTorch"),
    (
        "kinds-anti-transpose",
        """
def anti_transpose(a):
    n, m = a.shape
    return a.flatten().flip(0).reshape(n, m).T
""",
        "right",
        "one flip of the whole line",
    ),
    (
        "kinds-anti-transpose",
        """
def anti_transpose(a):
    return a.transpose(0, 1).flip([-1, -2])
""",
        "right",
        "a list of negative axes, as in PyTorch",
    ),
    (
        "kinds-anti-transpose",
        """
def anti_transpose(a):
    return a.T.flip(0)
""",
        "wrong",
        "that's a rotation",
    ),
    ("kinds-strides-suffice", "'T T T F T F'", "asked again", "no commas; thought right"),
    ("kinds-strides-suffice", "(True, True, False, False, True, False)", "wrong", "0 is a stride"),
    (
        "kinds-cache-lines",
        """
import numpy as np

def lines_touched(first, stride, count):
    return np.unique((first + stride * np.arange(count)) // 16).size
""",
        "right",
        "NumPy",
    ),
    (
        "kinds-cache-lines",
        """
def lines_touched(first, stride, count):
    if stride >= 16:
        return count
    return (first + stride * (count - 1)) // 16 - first // 16 + 1
""",
        "right",
        "a formula: steps below 16 skip no line; the exercise shows no negative stride",
    ),
    (
        "kinds-cache-lines",
        """
def lines_touched(first, stride, count):
    return -(-count * stride // 16)
""",
        "wrong",
        "bytes divided by lines: forgets where the first cell lies",
    ),
    (
        "kinds-fetches",
        """
from functools import lru_cache

def fetches(cells, room):
    @lru_cache(maxsize=room)
    def line(number):
        return number

    for cell in cells:
        line(cell // 16)
    return line.cache_info().misses
""",
        "right",
        "Python has one already",
    ),
    (
        "kinds-fetches",
        """
def fetches(cells, room):
    lines, count = [], 0
    for cell in cells:
        line = cell >> 4
        if line in lines:
            lines.remove(line)
        else:
            count += 1
        lines.append(line)
        lines = lines[-room:]
    return count
""",
        "right",
        "the last few of a list",
    ),
    (
        "kinds-fetches",
        """
from collections import deque

def fetches(cells, room):
    lines, count = deque(maxlen=room), 0
    for cell in cells:
        if cell // 16 not in lines:
            lines.append(cell // 16)
            count += 1
    return count
""",
        "wrong",
        "first in, first out",
    ),
    # ---- 5b -------------------------------------------------------------------------------------
    (
        "kinds-cheapest-trips",
        """
def cheapest(a, b):
    return -(-a.unsqueeze(-1) - b).max(1)
""",
        "right",
        "the largest of the negated; b lines up on the right by itself",
    ),
    (
        "kinds-cheapest-trips",
        """
def cheapest(a, b):
    best = a[:, :1] + b[:1]
    for k in range(1, len(b)):
        best = best.minimum(a[:, k : k + 1] + b[k : k + 1])
    return best
""",
        "right",
        "airport by airport, still one kernel",
    ),
    (
        "kinds-cheapest-trips",
        """
def cheapest(a, b):
    return (a[:, :, None] + b[None]).amin(1)
""",
        "right",
        "amin",
    ),
    (
        "kinds-cheapest-trips",
        """
def cheapest(a, b):
    return -((-a).unsqueeze(2) - b.unsqueeze(0)).logsumexp(1)
""",
        "wrong",
        "a soft minimum",
    ),
    ("kinds-matmul-cost", "'1 kernel, 3 MB'", "asked again", "words in it; thought right"),
    ("kinds-matmul-cost", "(1, 3.145728)", "asked again", "right, but not rounded down yet"),
    ("kinds-matmul-cost", "(2, 1076)", "wrong", "with all products in memory"),
    (
        "kinds-shear",
        """
def shear(x):
    n, m = x.shape
    return x.pad((0, n)).flatten()[:-n].reshape(n, -1)
""",
        "right",
        "PyTorch's pad, last axis first",
    ),
    (
        "kinds-shear",
        """
def shear(x):
    n, m = x.shape
    return Tensor.stack(*[x[i].pad((i, n - 1 - i)) for i in range(n)])
""",
        "wrong",
        "putting rows together takes a kernel",
    ),
    (
        "kinds-shear",
        """
def shear(x):
    n, m = x.shape
    return x.pad(((0, 0), (0, n - 2))).reshape(-1)
""",
        "wrong",
        "the shape isn't",
    ),
    ("kinds-loops-of-conv", "4 + 3", "right", "a sum"),
    ("kinds-loops-of-conv", "'7 loops'", "asked again", "a word in it; thought right"),
    ("kinds-loops-of-conv", "6", "wrong", "one forgotten"),
    (
        "kinds-honest-average",
        """
def average(x, size):
    half = size // 2
    return x.reshape(1, 1, -1).avg_pool1d(
        size, stride=1, padding=half, count_include_pad=False
    ).flatten()
""",
        "wrong",
        "PyTorch has a switch for that; thought right, and the exercise now rules pooling out",
    ),
    (
        "kinds-honest-average",
        """
def average(x, size):
    half, n = size // 2, len(x)
    i = Tensor.arange(n)
    count = (i + half).minimum(n - 1) - (i - half).maximum(0) + 1
    return x.pad((half, half)).unfold(0, size, 1).sum(1) / count
""",
        "right",
        "the number of neighbours by arithmetic",
    ),
    (
        "kinds-honest-average",
        """
def average(x, size):
    return x.pad((size // 2, size // 2)).unfold(0, size, 1).mean(1)
""",
        "wrong",
        "zeros drag the mean down",
    ),
    (
        "kinds-honest-average",
        """
def average(x, size):
    half = size // 2
    return x.pad((half, half), mode="replicate").unfold(0, size, 1).mean(1)
""",
        "wrong",
        "the last number counts several times",
    ),
    (
        "kinds-where-it-belongs",
        """
def mismatch(scene, piece):
    (h, w), (high, wide) = scene.shape, piece.shape
    total = 0
    for i in range(high):
        for j in range(wide):
            seen = scene[i : i + h - high + 1, j : j + w - wide + 1]
            total = total + (seen - piece[i, j]) ** 2
    return total
""",
        "right",
        "a pixel of the piece at a time, added up",
    ),
    (
        "kinds-where-it-belongs",
        """
def mismatch(scene, piece):
    high, wide = piece.shape
    return (scene.unfold(1, wide, 1).unfold(0, high, 1) - piece.T).square().sum(-1).sum(-1)
""",
        "right",
        "the other axis first, and two sums",
    ),
    (
        "kinds-where-it-belongs",
        """
def mismatch(scene, piece):
    high, wide = piece.shape
    return ((scene.unfold(0, high, 1).unfold(1, wide, 1) - piece) ** 2).mean((2, 3))
""",
        "wrong",
        "means, not sums",
    ),
    (
        "kinds-where-it-belongs",
        """
def mismatch(scene, piece):
    high, wide = piece.shape
    return (scene.unfold(0, high, 1).unfold(1, wide, 1) - piece).abs().sum((2, 3))
""",
        "wrong",
        "not squared",
    ),
]

MINI = [
    # ---- stage 4 --------------------------------------------------------------------------------
    (
        "4",
        "UOp.__new__",
        """
def __new__(cls, op, src=(), arg=None):
    key = (op, tuple(src), repr(arg))
    node = cls.table.get(key)
    if node is None:
        node = object.__new__(cls)
        node.op, node.src, node.arg = op, tuple(src), arg
        cls.table[key] = node
    return node
""",
        "right",
        "how a number is written tells 2, 2.0 and True apart, and -0.0",
    ),
    (
        "4",
        "UOp.__new__",
        """
def __new__(cls, op, src=(), arg=None):
    new = object.__new__(cls)
    new.op, new.src, new.arg = op, src, arg
    return cls.table.setdefault((op, src, type(arg), arg, str(arg)), new)
""",
        "right",
        "made first, looked up afterwards",
    ),
    (
        "4",
        "UOp.__new__",
        """
from functools import lru_cache

@lru_cache(maxsize=None, typed=True)
def __new__(cls, op, src=(), arg=None):
    node = object.__new__(cls)
    node.op, node.src, node.arg = op, src, arg
    return node
""",
        "wrong",
        "Python's cache keeps every node for good, and thinks 0.0 is -0.0",
    ),
    (
        "4",
        "UOp.__new__",
        """
def __new__(cls, op, src=(), arg=None):
    key = hash((op, src, type(arg), arg))
    node = cls.table.get(key)
    if node is None:
        cls.table[key] = node = object.__new__(cls)
        node.op, node.src, node.arg = op, src, arg
    return node
""",
        "wrong",
        "different things may have one hash",
    ),
    (
        "4",
        "UOp.toposort",
        """
from graphlib import TopologicalSorter

def toposort(self):
    below, todo = {}, [self]
    while todo:
        node = todo.pop()
        if node not in below:
            below[node] = node.src
            todo.extend(node.src)
    return list(TopologicalSorter(below).static_order())
""",
        "right",
        "Python has one already",
    ),
    (
        "4",
        "UOp.toposort",
        """
def toposort(self):
    users, todo, seen = {}, [self], {self}
    while todo:
        node = todo.pop()
        for source in set(node.src):
            users[source] = users.get(source, 0) + 1
            if source not in seen:
                seen.add(source)
                todo.append(source)
    order, ready = [], [self]
    while ready:
        node = ready.pop()
        order.append(node)
        for source in set(node.src):
            users[source] -= 1
            if users[source] == 0:
                ready.append(source)
    return order[::-1]
""",
        "right",
        "Kahn's way, backwards",
    ),
    (
        "4",
        "UOp.toposort",
        """
def toposort(self):
    order, todo = {}, [self]
    while todo:
        node = todo.pop(0)
        if node not in order:
            order[node] = None
            todo.extend(node.src)
    return list(order)[::-1]
""",
        "wrong",
        "breadth first, reversed: a source with a long and a short way down comes too late",
    ),
    (
        "4",
        "UOp.toposort",
        """
import sys

def toposort(self):
    sys.setrecursionlimit(10**6)
    order = {}

    def visit(node):
        if node not in order:
            for source in node.src:
                visit(source)
            order[node] = None

    visit(self)
    return list(order)
""",
        "right",
        "since Python 3.12, plain calls need no C stack; ugly, but it has every node in order",
    ),
    (
        "4",
        "interpret",
        """
def interpret(sink):
    *nodes, _ = sink.toposort()
    left = {}
    for node in [*nodes, sink]:
        for source in set(node.src):
            left[source] = left.get(source, 0) + 1
    values = {}
    for node in nodes:
        values[node] = COMPUTE[node.op](node, *map(values.get, node.src))
        for source in set(node.src):
            left[source] -= 1
            if left[source] == 0:
                del values[source]
    return [values[source] for source in sink.src]
""",
        "right",
        "forgets what nobody needs any more",
    ),
    (
        "4",
        "interpret",
        """
def interpret(sink):
    def value(node):
        return COMPUTE[node.op](node, *map(value, node.src))

    return [value(source) for source in sink.src]
""",
        "wrong",
        "along every path",
    ),
    (
        "4",
        "Tensor",
        """
class Tensor:
    __slots__ = ("uop",)

    def __init__(self, data):
        self.uop = data if isinstance(data, UOp) else UOp(Ops.BUFFER, arg=Buffer(data))

    shape = property(lambda self: self.uop.shape)

    def realize(self, *others):
        waiting = {t.uop: None for t in (self, *others) if t.uop.op != Ops.BUFFER}
        if waiting:
            found = Tensor.run(UOp(Ops.SINK, tuple(waiting)))
            for node, value in zip(waiting, found):
                waiting[node] = UOp(Ops.BUFFER, arg=Buffer(value))
        for t in (self, *others):
            t.uop = waiting.get(t.uop, t.uop)
        return self

    def numpy(self):
        self.realize()
        return self.uop.arg.data

    def __repr__(self):
        return f"<{'realized' if self.uop.op == Ops.BUFFER else 'unrealized'} {self.shape}>"
""",
        "right",
        "slots; Tensors of one node share one BUFFER afterwards",
    ),
    (
        "4",
        "Tensor",
        """
class Tensor:
    def __init__(self, data):
        self.uop = data if isinstance(data, UOp) else UOp(Ops.BUFFER, (), Buffer(data))
        self.shape = self.uop.shape

    def realize(self, *others):
        for t in (self, *others):
            if t.uop.op is not Ops.BUFFER:
                t.uop = UOp(Ops.BUFFER, (), Buffer(Tensor.run(UOp(Ops.SINK, (t.uop,)))[0]))
        return self

    def numpy(self):
        return self.realize().uop.arg.data

    def __repr__(self):
        return f"Tensor({self.shape}, realized={self.uop.op is Ops.BUFFER})"
""",
        "wrong",
        "one after another: shared work is done twice",
    ),
    (
        "4",
        "Derived",
        """
class Derived:
    def __neg__(x): return x * -1
    def __sub__(x, y): return x + y * -1
    def __rsub__(x, y): return x * -1 + y
    def __truediv__(x, y): return x * (y.recip() if isinstance(y, UOp) else 1 / y)
    def __rtruediv__(x, y): return x.recip() * y
    def __gt__(x, y): return x.const(y) < x
    def eq(x, y): return (x < y).where(0.0, (x > y).where(0.0, 1.0))
    def relu(x): return (x > 0).where(x, 0.0)
    def exp(x): return (x * (1 / math.log(2))).exp2()
    def log(x): return x.log2() / math.log2(math.e)
""",
        "right",
        "where, and the logarithms of math",
    ),
    (
        "4",
        "Derived",
        """
class Derived:
    def __neg__(x): return 0 - x
    def __sub__(x, y): return x + -y
    def __rsub__(x, y): return y - x
    def __truediv__(x, y): return x * x.const(y).recip()
    def __rtruediv__(x, y): return x.const(y) * x.recip()
    def __gt__(x, y): return x.const(y) < x
    def eq(x, y): return 1 - (x < y) - (x > y)
    def relu(x): return x.maximum(0)
    def exp(x): return (x * 1.4426950408889634).exp2()
    def log(x): return x.log2() * 0.6931471805599453
""",
        "wrong",
        "0 - x asks __rsub__, which asks itself",
    ),
    # ---- stage 4b -------------------------------------------------------------------------------
    (
        "4b",
        "stored",
        """
def stored(sink):
    order = [n for n in sink.toposort() if n is not sink]
    users = {n: [] for n in order}
    for n in order:
        for s in dict.fromkeys(n.src):
            users[s].append(n)
    keep = {n for n in sink.src if n.op not in MEMORY}
    hosts = set()
    for r in reversed(order):
        if r.op is not Ops.REDUCE_AXIS:
            continue
        roots, todo, seen, bad = set(), [r], set(), False
        while todo:
            n = todo.pop()
            if n in seen:
                continue
            seen.add(n)
            if n in keep:
                roots.add(n)
                continue
            for u in users[n]:
                bad |= u.op is Ops.REDUCE_AXIS or u.shape != n.shape
                todo.append(u)
        if bad or len(roots) != 1 or roots & hosts:
            keep.add(r)
            roots = {r}
        hosts |= roots
    return [n for n in order if n in keep]
""",
        "right",
        "from the end: a reduction stays in a kernel if all ways lead to that one",
    ),
    (
        "4b",
        "stored",
        """
def stored(sink):
    keep = set(sink.src)
    return [
        n
        for n in sink.toposort()
        if n.op not in MEMORY and (n in keep or n.op is Ops.REDUCE_AXIS)
    ]
""",
        "wrong",
        "every reduction by itself is one kernel too many for (s + 1).sqrt()",
    ),
    (
        "4b",
        "stored",
        """
def stored(sink):
    return [n for n in sink.toposort() if n.op not in MEMORY and n is not sink]
""",
        "wrong",
        "PyTorch: everything is stored",
    ),
    (
        "4b",
        "stored",
        """
def stored(sink):
    order = sink.toposort()[:-1]
    keep, held = {n for n in sink.src if n.op not in MEMORY}, {}
    for n in order:
        for s in n.src:
            if held.get(s) and s not in keep:
                others = set().union(*(held[o] for o in n.src if o not in keep)) - held[s]
                if n.op is Ops.REDUCE_AXIS or n.shape != s.shape or others:
                    keep.add(s)
        below = set().union(*(held[s] for s in n.src if s not in keep))
        held[n] = {n} if n.op is Ops.REDUCE_AXIS else below
    return [n for n in order if n in keep]
""",
        "wrong",
        "from the start, without looking at who else needs a reduction",
    ),
    (
        "4b",
        "cut",
        """
def cut(sink, memory_for=new_memory):
    inside = {}
    kernels = []
    nodes = stored(sink)
    for node in sink.toposort()[:-1]:
        graph = UOp(node.op, tuple(inside[s] for s in node.src), node.arg)
        inside[node] = graph
        if node in nodes:
            kernels.append(Kernel(node, memory_for(node), graph))
            inside[node] = kernels[-1].memory
    return kernels
""",
        "right",
        "one pass for all kernels",
    ),
    (
        "4b",
        "cut",
        """
def cut(sink, memory_for=new_memory):
    return [Kernel(node, memory_for(node), node) for node in stored(sink)]
""",
        "wrong",
        "each graph still reaches past what is stored",
    ),
    (
        "4b",
        "run_kernels",
        """
def run_kernels(sink):
    memory = {}
    for value, place, graph in cut(sink):
        place.arg.data = interpret(UOp(Ops.SINK, (graph,)))[0]
        memory[value] = place
    return [memory.get(source, source).arg.data for source in sink.src]
""",
        "right",
        "the memory gets a new array, and the values are where they belong",
    ),
    (
        "4b",
        "run_kernels",
        """
def run_kernels(sink):
    return interpret(sink)
""",
        "wrong",
        "no kernels",
    ),
    # ---- stage 5 --------------------------------------------------------------------------------
    (
        "5",
        "moved_shape",
        """
def moved_shape(op, shape, arg):
    match op:
        case Ops.RESHAPE | Ops.EXPAND:
            return arg
        case Ops.PERMUTE:
            return [shape[axis] for axis in arg]
        case Ops.SHRINK:
            return [end - start for start, end in arg]
        case Ops.PAD:
            return [sum(width) + size for size, width in zip(shape, arg)]
    return shape
""",
        "right",
        "lists, of which the table makes tuples; thought wrong",
    ),
    (
        "5",
        "reshape_index",
        """
def reshape_index(index, shape, new):
    return np.unravel_index(np.ravel_multi_index(index, new), shape)
""",
        "wrong",
        "NumPy has both, but loop counters are not for NumPy",
    ),
    (
        "5",
        "permute_index",
        """
def permute_index(index, shape, order):
    return tuple(index[axis] for axis in np.argsort(order))
""",
        "right",
        "argsort is the inverse of a permutation",
    ),
    (
        "5",
        "permute_index",
        """
def permute_index(index, shape, order):
    return tuple(i for _, i in sorted(zip(order, index)))
""",
        "right",
        "sorted by axis, and no two axes are equal",
    ),
    (
        "5",
        "permute_index",
        """
def permute_index(index, shape, order):
    return tuple(index[axis] for axis in order)
""",
        "wrong",
        "the inverse; right for transposes, not for three axes",
    ),
    (
        "5",
        "expand_index",
        """
def expand_index(index, shape, new):
    return tuple(i % n for i, n in zip(index, shape))
""",
        "right",
        "a remainder by 1 is 0, and by the size it changes nothing",
    ),
    (
        "5",
        "expand_index",
        """
def expand_index(index, shape, new):
    return tuple(min(i, n - 1) for i, n in zip(index, shape))
""",
        "wrong",
        "min asks arrays for a truth",
    ),
    (
        "5",
        "flip_index",
        """
def flip_index(index, shape, axes):
    return tuple(-1 - i if axis in axes else i for axis, i in enumerate(index))
""",
        "wrong",
        "NumPy counts from the end; memory doesn't",
    ),
    (
        "5",
        "flip_index",
        """
def flip_index(index, shape, axes):
    turned = list(index)
    for axis in axes:
        turned[axis] = (shape[axis] - 1) + turned[axis] * -1
    return tuple(turned)
""",
        "right",
        "axis by axis",
    ),
    (
        "5",
        "inside",
        """
def inside(index, shape, widths):
    outside = sum((i < b) + (i > b + n - 1) for i, n, (b, _) in zip(index, shape, widths))
    return outside < 1
""",
        "right",
        "not outside anywhere",
    ),
    (
        "5",
        "inside",
        """
def inside(index, shape, widths):
    return math.prod((i > b - 1) * (i < b + n) for i, n, (b, _) in zip(index, shape, widths))
""",
        "right",
        "a product of products",
    ),
    (
        "5",
        "inside",
        """
def inside(index, shape, widths):
    return all(b <= i < b + n for i, n, (b, _) in zip(index, shape, widths))
""",
        "wrong",
        "for single numbers only",
    ),
    (
        "5",
        "pad_index",
        """
def pad_index(index, shape, widths):
    return tuple((i - b) % n for i, n, (b, _) in zip(index, shape, widths))
""",
        "right",
        "a remainder is always inside; what is read there is thrown away",
    ),
    (
        "5",
        "pad_index",
        """
def pad_index(index, shape, widths):
    return tuple(np.clip(i - b, 0, n - 1) for i, n, (b, _) in zip(index, shape, widths))
""",
        "wrong",
        "clip is for NumPy only",
    ),
    (
        "5",
        "expand",
        """
def expand(x, *shape):
    if np.broadcast_shapes(x.shape, shape) != shape:
        raise ValueError(f"{x.shape} cannot be expanded to {shape}")
    return x if x.shape == shape else UOp(Ops.EXPAND, (x,), shape)
""",
        "wrong",
        "as in PyTorch, (4,) could become (3, 4), which the rule can't follow",
    ),
    (
        "5",
        "broadcast",
        """
def broadcast(*nodes):
    rank = max(len(n.shape) for n in nodes)
    lined = [
        n if n.op is Ops.CONST else n.reshape(*(1,) * (rank - len(n.shape)), *n.shape)
        for n in nodes
    ]
    full = [n.shape for n in lined if n.op is not Ops.CONST]
    shape = [max(sizes, key=lambda size: (size != 1, size)) for sizes in zip(*full)]
    return tuple(n if n.op is Ops.CONST else n.expand(*shape) for n in lined)
""",
        "right",
        "by hand; expand refuses what does not fit",
    ),
    (
        "5",
        "reduce",
        """
def reduce(x, op, axes, keepdim):
    kept = range(len(x.shape))
    axes = tuple(sorted({kept[axis] for axis in axes} or set(kept)))
    y = UOp(Ops.REDUCE_AXIS, (x,), (op, axes))
    return y if keepdim else y.reshape(*(x.shape[axis] for axis in kept if axis not in axes))
""",
        "right",
        "a range knows negative places, and refuses axes that don't exist",
    ),
    (
        "5",
        "reduce",
        """
def reduce(x, op, axes, keepdim):
    axes = axes or tuple(range(len(x.shape)))
    y = UOp(Ops.REDUCE_AXIS, (x,), (op, axes))
    return y if keepdim else y.reshape(*(size for size in y.shape if size != 1))
""",
        "wrong",
        "squeeze: other axes of size 1 go, too",
    ),
    (
        "5",
        "mean",
        """
@method
def mean(x, *axes):
    total = x.sum(*axes)
    return total * (math.prod(total.shape) / math.prod(x.shape))
""",
        "right",
        "the ratio of the numbers of elements",
    ),
    (
        "5",
        "__matmul__",
        """
def __matmul__(a, b):
    return (a.reshape(*a.shape, 1) * b).sum(1)
""",
        "right",
        "b lines up on the right by itself",
    ),
    (
        "5",
        "__matmul__",
        """
def __matmul__(a, b):
    k, m = b.shape
    return (a.reshape(-1, 1, k) * b.permute(1, 0)).sum(-1)
""",
        "right",
        "row times column, with a transpose",
    ),
    (
        "5",
        "windows",
        """
def windows(x, size):
    *lead, n = x.shape
    wide = n + size
    y = x.pad(*[(0, 0)] * len(lead), (0, size)).reshape(*lead, 1, wide)
    y = y.expand(*lead, size, wide).reshape(*lead, size * wide)
    every = [(0, d) for d in lead]
    y = y.pad(*[(0, 0)] * len(lead), (0, size)).reshape(*lead, size, wide + 1)
    return y.shrink(*every, (0, size), (0, n - size + 1))
""",
        "right",
        "rows one longer, with zeros at the end",
    ),
    (
        "5",
        "conv2d",
        """
def conv2d(x, weight):
    batch, channels, height, width = x.shape
    filters, _, h, w = weight.shape
    total = None
    for i in range(h):
        for j in range(w):
            seen = x.shrink(
                (0, batch), (0, channels), (i, i + height - h + 1), (j, j + width - w + 1)
            )
            part = weight.shrink((0, filters), (0, channels), (i, i + 1), (j, j + 1))
            seen = seen.reshape(batch, 1, channels, height - h + 1, width - w + 1)
            one = (seen * part.reshape(1, filters, channels, 1, 1)).sum(2)
            total = one if total is None else total + one
    return total
""",
        "right",
        "a place of the filter at a time, without windows",
    ),
    (
        "5",
        "conv2d",
        """
def conv2d(x, weight):
    batch, channels, height, width = x.shape
    filters, _, h, w = weight.shape
    y = x.windows(w).permute(0, 1, 3, 4, 2).windows(h)
    y = y.permute(0, 3, 5, 1, 4, 2)
    rows, columns = height - h + 1, width - w + 1
    y = y.reshape(batch * columns * rows, channels * h * w) @ weight.reshape(filters, -1).permute(
        1, 0
    )
    return y.reshape(batch, columns, rows, filters).permute(0, 3, 2, 1)
""",
        "right",
        "im2col, and a matrix product",
    ),
    (
        "5",
        "conv2d",
        """
def conv2d(x, weight):
    weight = weight.flip(2, 3)
    batch, channels, height, width = x.shape
    filters, _, h, w = weight.shape
    y = x.windows(w).permute(0, 1, 3, 4, 2).windows(h)
    y = y.reshape(batch, 1, channels, w, width - w + 1, h, height - h + 1)
    k = weight.permute(0, 1, 3, 2).reshape(1, filters, channels, w, 1, h, 1)
    return (y * k).sum(2, 3, 5).permute(0, 1, 3, 2)
""",
        "wrong",
        "what mathematicians call a convolution: the filter is flipped",
    ),
    (
        "5",
        "log_softmax",
        """
@method
def log_softmax(x):
    x = x - x.max(-1, keepdim=True)
    return x - x.exp().sum(-1, keepdim=True).log()
""",
        "right",
        "as everybody writes it",
    ),
    (
        "5",
        "log_softmax",
        """
@method
def log_softmax(x):
    e = (x - x.max(-1, keepdim=True)).exp()
    return (e / e.sum(-1, keepdim=True)).log()
""",
        "wrong",
        "the exponential of -200 is 0, and its logarithm is -inf",
    ),
]
