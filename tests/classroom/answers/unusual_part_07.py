"""Part 7, by a data scientist who has never written C: answers that nobody expected.

As in test_unusual_answers.py: the exercise, the answer, the verdict, and why it should be that.
"""

from __future__ import annotations

ANSWERS = [
    # ---- 7a -----------------------------------------------------------------------------------
    ("rules-safe-of-ten", "[3.0, 8]", "right", "a list, and a float that is whole"),
    ("rules-safe-of-ten", "'3 and 8'", "asked again", "a sentence is no tuple"),
    ("rules-safe-of-ten", "{3, 8}", "asked again", "a set doesn't say which is which"),
    (
        "rules-caught",
        "{1: -0.0, 3: -2.5, 4: nan, 6: nan, 7: (-0.0, 0.0), 8: 3.4e38, 10: (nan, nan)}",
        "right",
        "a zero's sign convicts three of them",
    ),
    (
        "rules-caught",
        "{1: -0.0, 3: inf, 4: inf, 6: nan, 7: (0.1, 0.2), 8: 3e38, 10: (nan, 1)}",
        "right",
        "0.1 and 0.2 are enough for rule 7",
    ),
    (
        "rules-caught",
        "{1: -0.0, 3: inf, 4: inf, 6: 0, 7: (1, 1e8), 8: 1e39, 10: (nan, 0)}",
        "wrong",
        "1e39 is infinite in 32 bits, and so is its half",
    ),
    (
        "rules-caught",
        "{1: -0.0, 3: inf, 4: inf, 6: 0, 7: (1e30, -1e30), 8: 3e38, 10: (nan, 0)}",
        "wrong",
        "here (x + y) - y is x",
    ),
    (
        "rules-largest",
        """
def larger():
    big, small = UPat.var("big", dtypes.ints), UPat.var("small", dtypes.ints)
    return (big > small).where(big, small), lambda big, small: big.maximum(small)
""",
        "right",
        "the comparison written the other way round, with holes of its own",
    ),
    (
        "rules-largest",
        """
def larger():
    whole = UPat.var("x", dtypes.ints)
    return (whole < y).where(y, whole), lambda x, y: x.maximum(y)
""",
        "right",
        "if one is a whole number, so is the one that it's compared with",
    ),
    (
        "rules-largest",
        """
def larger():
    x, y = UPat.var("x", dtypes.int), UPat.var("y", dtypes.int)
    return (x < y).where(y, x), lambda x, y: x.maximum(y)
""",
        "wrong",
        "int32 only; a uint8 is a whole number, too",
    ),
    ("rules-count-rewrites", "{'one by one': 7, 'in pairs': 5}", "asked again", "a dict"),
    (
        "rules-trap",
        """
def trap(i, j):
    minus = UPat(Ops.SUB, src=(x, y))
    apart = (minus, lambda x, y: x + y * -1)
    together = (x + y * -1, lambda x, y: x.alu(Ops.SUB, y))
    return apart, together, i.alu(Ops.SUB, j)
""",
        "right",
        "a subtraction is an addition is a subtraction",
    ),
    (
        "rules-trap",
        """
def trap(i, j):
    z = UPat.var("z")
    left = ((x + y) + z, lambda x, y, z: x + (y + z))
    right = (x + (y + z), lambda x, y, z: (x + y) + z)
    return left, right, i + j + 3
""",
        "wrong",
        "since patterns are met either way, each of the two goes on for ever alone",
    ),
    (
        "rules-trap",
        """
def trap(i, j):
    return (x * 3, lambda x: x * 2 + x), (x * 2 + x, lambda x: x * 3), i * 3 + j
""",
        "right",
        "three is two and one",
    ),
    (
        "rules-bounds",
        """
def bounds(op, x, y):
    if op is Ops.ADD:
        return x[0] + y[0], x[1] + y[1]
    if op is Ops.SUB:
        return x[0] - y[1], x[1] - y[0]
    if op is Ops.MAX:
        return max(x, y)
    if op is Ops.MUL:
        products = [a * b for a in x for b in y]
        return min(products), max(products)
    seen = [v % y[0] for v in range(x[0], x[1] + 1)]
    return min(seen), max(seen)
""",
        "wrong",
        "max of two pairs is one of the pairs",
    ),
    (
        "rules-bounds",
        """
import operator

def bounds(op, x, y):
    how = {"ADD": operator.add, "SUB": operator.sub, "MUL": operator.mul, "MAX": max}
    if op.name in how:
        found = [how[op.name](a, b) for a in x for b in y]
    else:
        found = [v % y[0] for v in range(x[0], min(x[1], x[0] + y[0]) + 1)]
    return min(found), max(found)
""",
        "right",
        "ops by their names, and no more remainders than there are",
    ),
    (
        "rules-bounds",
        """
def bounds(op, x, y):
    if op is Ops.MOD:
        n = y[0]
        return (0, n - 1) if x[1] - x[0] >= n else (x[0] % n, x[1] % n)
    how = {Ops.ADD: lambda a, b: a + b, Ops.SUB: lambda a, b: a - b, Ops.MUL: lambda a, b: a * b,
           Ops.MAX: max}[op]
    found = [how(a, b) for a in x for b in y]
    return min(found), max(found)
""",
        "wrong",
        "3 to 4 modulo 4 is 3, 0: smallest and largest have changed places",
    ),
    (
        "rules-cheaper",
        """
def cheaper():
    k = lambda c: c.arg.bit_length() - 1
    one_bit = lambda c: c.arg.bit_count() == 1
    return [
        (x // c, lambda x, c: x >> k(c) if one_bit(c) else None),
        (x % c, lambda x, c: x & (c.arg - 1) if one_bit(c) else None),
        (UPat(Ops.CDIV, src=(x, c)),
         lambda x, c: x >> k(c) if one_bit(c) and x.vmin >= 0 else None),
    ]
""",
        "wrong",
        "-4 has one bit, too",
    ),
    (
        "rules-cheaper",
        """
def cheaper():
    k = lambda c: c.arg.bit_length() - 1
    power = lambda c: c.arg > 0 and c.arg.bit_count() == 1
    return [
        (x // c, lambda x, c: x >> k(c) if power(c) else None),
        (x % c, lambda x, c: x & (c.arg - 1) if power(c) else None),
        (UPat(Ops.CDIV, src=(x, c)),
         lambda x, c: ((x < 0).where(x + (c.arg - 1), x)) >> k(c) if power(c) else None),
    ]
""",
        "right",
        "what C compilers do below zero: add c - 1 first",
    ),
    (
        "rules-cheaper",
        """
import math

def cheaper():
    def shift(x, c):
        k = math.log2(c.arg)
        return x >> int(k) if k == int(k) else None

    def mask(x, c):
        return x & (c.arg - 1) if math.log2(c.arg) % 1 == 0 else None

    return [
        (x // c, shift),
        (x % c, mask),
        (UPat(Ops.CDIV, src=(x, c)), lambda x, c: shift(x, c) if x.vmin >= 0 else None),
    ]
""",
        "wrong",
        "there's no logarithm of 0 or of -8",
    ),
    ("rules-folding", "'0 0 2 1'", "asked again", "a string of four"),
    (
        "rules-own",
        """
def own():
    power = lambda n: 2.0**-20 <= n.arg <= 1 and n.arg.hex().startswith("0x1.0000000000000p")
    e = UPat.cvar("e")
    row = (v * c * e, lambda v, c, e: v * (c.arg * e.arg) if power(c) and power(e) else None)
    return lambda t: t / 2 / 4, row
""",
        "wrong",
        "5 * 2**-149, halved and quartered, is rounded twice, to 0; an eighth of it is 2**-149",
    ),
    (
        "rules-own",
        """
def own():
    row = (v.alu(Ops.MAX, c).alu(Ops.MAX, v), lambda v, c: v.alu(Ops.MAX, c))
    return lambda t: t.maximum(1).maximum(t), row
""",
        "right",
        "the larger of x and a limit is at least x",
    ),
    (
        "puzzle-itself",
        """
from classroom import puzzle

itself = Variable("i", 0, 3) // Variable("i", 0, 3)
""",
        "wrong",
        "its row is for /",
    ),
    ("puzzle-root", "(number('x') * number('x')).sqrt()", "right", "1e30 squared is infinite"),
    ("puzzle-nearly", "Variable('i', 0, 3) % 4", "wrong", "here the rule is right"),
    (
        "puzzle-there_and_back",
        "Variable('i', 2**24, 2**24 + 1).cast(dtypes.float).cast(dtypes.int)",
        "right",
        "the first int that a float can't hold",
    ),
    (
        "puzzle-there_and_back",
        "Variable('i', -100, 100).cast(dtypes.float).cast(dtypes.int)",
        "wrong",
        "small ints survive",
    ),
    (
        "puzzle-scaled",
        "Variable('i', 0, 2**30) * 4 < 5",
        "right",
        "2**30 times 4 is 0 in 32 bits, and 0 is below 5",
    ),
    (
        "puzzle-twice",
        "Variable('i', -5, 5) // 2 // -2",
        "right",
        "1 // 2 // -2 is 0, and 1 // -4 is -1",
    ),
    (
        "puzzle-turned",
        "(Variable('i', 0, 4) > 2).where(Variable('i', 0, 4), 7)",
        "right",
        "at i = 2 it gives 7, and then 2; one node is used twice",
    ),
    (
        "puzzle-opposite",
        "(number('x') < number('x')).logical_not()",
        "right",
        "a NaN compared with itself",
    ),
    # ---- 7b -----------------------------------------------------------------------------------
    (
        "the-place-that-conv-reads",
        """
def place(row, column, i, j, width):
    return np.ravel_multi_index((row + i, column + j), (row + i + 1, width))
""",
        "right",
        "NumPy knows how to do this",
    ),
    (
        "the-place-that-conv-reads",
        "lambda row, column, i, j, width: column + j + width * row + i",
        "wrong",
        "a pair of brackets is missing",
    ),
    ("scaled-by-rows-and-columns", "'1221'", "asked again", "a string"),
    (
        "a-kernel-of-squares",
        """
def squares(out, data):
    i = UOp.range(out.dtype.size, 0)
    return UOp.sink(out.index(i).store(data.index(i**2).load(), i))
""",
        "right",
        "nodes have powers, too; I had thought that they don't",
    ),
    (
        "a-kernel-of-squares",
        """
def squares(out, data):
    at = lambda n: UOp.const(dtypes.int, n)
    return UOp.sink(
        *[out.index(at(k)).store(data.index(at(k * k)).load()) for k in range(out.dtype.size)]
    )
""",
        "right",
        "no loop at all: a STORE for each element",
    ),
    (
        "a-kernel-of-squares",
        """
def squares(out, data):
    i = UOp.range(out.dtype.size, 0)
    return UOp.sink(out.index(i).store(data.index(i * 2 * i // 2).load(), i))
""",
        "right",
        "twice the square, halved",
    ),
    ("which-division-is-corrected", "np.array([0, 1, 0, 0])", "right", "NumPy, with 1 for True"),
    ("which-division-is-corrected", "{2}", "asked again", "the numbers of the lines; not asked"),
    (
        "as-far-out-as-possible",
        """
def loops_around(u, nest):
    below = set(u.toposort())
    closed = {r for v in below if v.op is Ops.REDUCE for r in v.src[1:]}
    return max((n for n, r in enumerate(nest, 1) if r in below - closed), default=0)
""",
        "right",
        "all counters below, without those that some sum has closed",
    ),
    (
        "as-far-out-as-possible",
        """
def loops_around(u, nest):
    below = set(u.toposort()) - (set(u.src[1:]) if u.op is Ops.REDUCE else set())
    return max((n for n, r in enumerate(nest, 1) if r in below), default=0)
""",
        "wrong",
        "what uses the sum gets its counters back",
    ),
    ("how-often-it-is-read", "{'a': 24, 'heat': 4, 'w': 24, 'out': 4}", "asked again", "a dict"),
    (
        "the-stage-that-removed-it",
        """
def removed_by(op, stages):
    there = [n for n, (name, nodes) in enumerate(stages) if op in {u.op for u in nodes}]
    return stages[there[-1] + 1][0]
""",
        "wrong",
        "nothing for an op that never was, and no stage after the last",
    ),
    (
        "the-stage-that-removed-it",
        """
def removed_by(op, stages):
    found = ""
    for (_, old), (name, new) in zip(stages, stages[1:]):
        had, has = (op in [u.op for u in nodes] for nodes in (old, new))
        found = name if had and not has else "" if has else found
    return found
""",
        "right",
        "forgets what it found if the op comes back",
    ),
    (
        "a-painting-by-loops",
        """
def paint(row, column):
    return np.sin(row.cast(dtypes.float) * 0.1) + np.sqrt(column.cast(dtypes.float))
""",
        "right",
        "NumPy's sin asks the object for its own",
    ),
    (
        "a-painting-by-loops",
        "lambda row, column: row // 30 * 40 + column // 40",
        "right",
        "a flag of 64 fields",
    ),
    (
        "a-painting-by-loops",
        "lambda row, column: abs(row - 120) * 2 + column",
        "wrong",
        "Python's abs isn't in the exercise's list, and nodes don't have it; I had overlooked that",
    ),
    (
        "a-painting-by-loops",
        "lambda row, column: min(row * 3, column)",
        "wrong",
        "Python's min has to know which is smaller",
    ),
    # ---- 7c -----------------------------------------------------------------------------------
    (
        "fast-intensity",
        "lambda m, n, k: (2 * m * n * k - m * n) / (4 * (m * k + k * n + m * n))",
        "wrong",
        "k - 1 additions for each result; the exercise says k",
    ),
    (
        "fast-intensity",
        "lambda m, n, k: 2 * m * n * k // (4 * (m * k + k * n + m * n))",
        "wrong",
        "rounded down",
    ),
    (
        "fast-intensity",
        """
from fractions import Fraction

def intensity(m, n, k):
    return Fraction(m * n * k, 2 * (m * k + k * n + m * n))
""",
        "right",
        "an exact third",
    ),
    ("fast-lines-of-a-column", "'512 and 512'", "asked again", "a sentence"),
    (
        "fast-few-loads",
        "[eight, Opt(OptOps.UPCAST, 1, 2), Opt(OptOps.UPCAST, 0, 2), Opt(OptOps.UPCAST, 1, 3)]",
        "wrong",
        "two rows of six vectors have few loads, and take 20 registers",
    ),
    (
        "fast-few-loads",
        "[six_rows, Opt(OptOps.VECTOR, -1, 8), Opt(OptOps.UPCAST, 1, 2)]",
        "wrong",
        "an axis -1, as in NumPy, is one that there isn't",
    ),
    (
        "fast-best-tile",
        """
def best_tile(registers):
    fits = [(w, h) for h in range(1, registers) for w in range(1, registers)
            if h * w + w + 2 <= registers]
    return min(fits, key=lambda t: (t[0] + t[1]) / (t[0] * t[1]))
""",
        "wrong",
        "vectors and rows have changed places",
    ),
    (
        "fast-own-plan",
        """
from tinyframe.codegen.optimize.plans import Nest


def mirrored(k):
    backwards = {r: [x for x in k.table.reads if x.step(r) == -1] for r in k.around}
    for r, reads in backwards.items():
        if reads:
            return Nest(tiles=[(OptOps.VECTOR, r, k.lanes)])
""",
        "right",
        "a list of tiles",
    ),
    (
        "fast-at-most",
        """
def at_most(operations, nbytes, seconds, roof):
    used = operations / seconds / roof.flops, nbytes / seconds / roof.bandwidth
    return 1 / max(used)
""",
        "right",
        "how much of each limit is used",
    ),
    (
        "fast-opts-for-any-shape",
        """
def opts_for(m, n):
    w = 2 if n > 8 else 1
    rows = min(range(1, min(m, (14 - w) // w) + 1), key=lambda h: -(-m // h) * (h + w))
    tile = ([Opt(OptOps.UPCAST, 1, 2)] if w > 1 else []) + (
        [Opt(OptOps.UPCAST, 0, rows)] if rows > 1 else [])
    return [Opt(OptOps.VECTOR, 1, 8), *tile]
""",
        "wrong",
        "two rows and a wide matrix have room for more than two vectors",
    ),
]

MINI = [
    (
        "7a",
        "match",
        """
def match(pattern, node, found):
    if pattern.op is Ops.HOLE:
        if pattern.arg[0] == "c" and node.op is not Ops.CONST:
            return []
        if found.get(pattern.arg, node) is not node:
            return []
        return [{**found, pattern.arg: node}]
    if pattern.op is not node.op or pattern.arg != node.arg or len(pattern.src) != len(node.src):
        return []
    orders = {node.src, node.src[::-1]} if node.op in COMMUTATIVE else {node.src}
    ways = []
    for sources in orders:
        so_far = [found]
        for part, source in zip(pattern.src, sources):
            so_far = [more for way in so_far for more in match(part, source, way)]
        ways += so_far
    return ways
""",
        "wrong",
        "a constant's arg compared by ==, which takes 1 for 1.0; I had thought that it may",
    ),
    (
        "7a",
        "match",
        """
def match(pattern, node, found):
    if pattern.op is Ops.HOLE:
        fits = node.op is Ops.CONST or not pattern.arg.startswith("c")
        return [{**found, pattern.arg: node}] if fits else []
    if pattern.op is not node.op or pattern.arg != node.arg:
        return []
    ways = []
    for sources in [node.src, node.src[::-1]] if node.op in COMMUTATIVE else [node.src]:
        alone = [match(part, source, found) for part, source in zip(pattern.src, sources)]
        for picked in product(*alone):
            names = [{k: v for k, v in way.items()} for way in picked]
            if all(a.get(k, v) is v for a in names for b in names for k, v in b.items()):
                ways.append(dict(found, **{k: v for way in names for k, v in way.items()}))
    return ways
""",
        "wrong",
        "each source by itself, compared afterwards; but a hole filled before may be filled anew",
    ),
    (
        "7a",
        "rewrite",
        """
def rewrite(node, rules):
    for pattern, function in rules:
        for way in match(pattern, node, {}):
            return function(**way) or node
    return node
""",
        "wrong",
        "gives up after the first match, though the next rule gets its turn",
    ),
    (
        "7a",
        "walk",
        """
def walk(root, change):
    done = {}

    def go(node):
        if node not in done:
            done[node] = change(UOp(node.op, tuple(go(s) for s in node.src), node.arg))
        return done[node]

    return go(root)
""",
        "wrong",
        "recursion, with a memory; but graphs get deep, which the docstring now says",
    ),
    (
        "7a",
        "walk",
        """
def walk(root, change):
    new = {}
    for node in root.toposort():
        new[node] = change(node) if not node.src else UOp(
            node.op, tuple(new[s] for s in node.src), node.arg)
    return new[root]
""",
        "wrong",
        "only leaves are changed",
    ),
    (
        "7a",
        "bounds",
        """
def bounds(node):
    if node.op is Ops.CONST:
        return node.arg, node.arg
    if node.op is Ops.RANGE:
        return 0, node.arg[1] - 1
    if node.op is Ops.MOD:
        low, high = bounds(node.src[0])
        c = node.src[1].arg
        return (low % c, high % c) if low // c == high // c else (0, c - 1)
    ends = [int(ALU[node.op](a, b)) for a in bounds(node.src[0]) for b in bounds(node.src[1])]
    return min(ends), max(ends)
""",
        "right",
        "narrower remainders, as in 7.6",
    ),
    (
        "7a",
        "terms",
        """
def terms(node):
    if node.op is Ops.CONST:
        return {None: node.arg}
    if node.op is Ops.ADD:
        x, y = map(terms, node.src)
        return {t: x.get(t, 0) + y.get(t, 0) for t in {**x, **y}}
    if node.op is Ops.MUL and node.src[1].op is Ops.CONST:
        return {t: f * node.src[1].arg for t, f in terms(node.src[0]).items()}
    return {node: 1}
""",
        "wrong",
        "2 * i has its constant on the left",
    ),
    (
        "7a",
        "total",
        """
def total(parts):
    nodes = [t if f == 1 else t * f for t, f in parts.items() if t is not None and f]
    if parts.get(None) or not nodes:
        nodes.append(UOp(Ops.CONST, (), parts.get(None, 0)))
    return sum(nodes[1:], nodes[0])
""",
        "right",
        "Python's sum, with a start of its own",
    ),
    (
        "7a",
        "total",
        """
def total(parts):
    return sum(f if t is None else t * f for t, f in parts.items() if f)
""",
        "wrong",
        "Python's sum begins with a 0, and i * 1 is left",
    ),
    (
        "7a",
        "divide",
        """
def divide(x, c, op):
    low, high = bounds(x)
    if 0 <= low and high < c.arg:
        return x.const(0) if op is Ops.IDIV else x
    parts = terms(x)
    whole = {t: f // c.arg for t, f in parts.items() if f % c.arg == 0}
    rest = total({t: f for t, f in parts.items() if t not in whole})
    if not any(whole.values()):
        return None
    return total(whole) + rest // c if op is Ops.IDIV else rest % c
""",
        "wrong",
        "(i * 5 + j) // 4 could lose an i, and i + 4 a 1",
    ),
    (
        "7a",
        "fold",
        """
def fold(x):
    if x.op in ALU and all(s.op is Ops.CONST for s in x.src):
        return UOp(Ops.CONST, (), ALU[x.op](*[s.arg for s in x.src]).item())
    if x.dtype is int and x.op in (Ops.ADD, Ops.MUL):
        return total(rejoined(terms(x)))
    if x.op is Ops.CMPLT and x.dtype is int and len({*bounds(x)}) == 1:
        return x.const(bounds(x)[0])
""",
        "wrong",
        "the float that a comparison gives is a 1.0, and x is a whole number",
    ),
    (
        "7b",
        "value_at",
        """
def value_at(node, index, loops):
    if node.op in MEMORY:
        return UOp(Ops.LOAD, loops.element(node, index))
    if node.op is Ops.CONST:
        return node
    if node.op is Ops.REDUCE_AXIS:
        op, axes = node.arg
        counters = {axis: loops.counter(node.src[0].shape[axis]) for axis in axes}
        inner = [counters.get(axis, i) for axis, i in enumerate(index)]
        value = loops.value(node.src[0], inner)
        ranges = tuple(r for r in counters.values() if r.op is Ops.RANGE)
        return UOp(Ops.REDUCE, (value, *ranges), op) if ranges else value
    if node.op in SOURCE_INDEX:
        shape = node.src[0].shape
        value = loops.value(node.src[0], SOURCE_INDEX[node.op](index, shape, node.arg))
        return where(inside(index, shape, node.arg), value, 0.0) if node.op is Ops.PAD else value
    return UOp(node.op, tuple(loops.value(s, index) for s in node.src), node.arg)
""",
        "right",
        "PAD's index is kept inside by stage 5; the text had sounded as if it had to be done here",
    ),
    (
        "7b",
        "value_at",
        """
def value_at(node, index, loops):
    if node.op in MEMORY:
        return UOp(Ops.LOAD, loops.element(node, index))
    if node.op is Ops.CONST:
        return node
    if node.op is Ops.REDUCE_AXIS:
        op, axes = node.arg
        inner, ranges = list(index), []
        for axis in axes:
            inner[axis] = loops.counter(node.src[0].shape[axis])
            ranges += [inner[axis]] if inner[axis] is not ZERO else []
        value = loops.value(node.src[0], inner)
        return UOp(Ops.REDUCE, (value, *ranges), op) if ranges else value
    if node.op in SOURCE_INDEX:
        (source,), arg = node.src, node.arg
        there = SOURCE_INDEX[node.op](index, source.shape, arg)
        if node.op is not Ops.PAD:
            return loops.value(source, there)
        ok = inside(index, source.shape, arg)
        return where(ok, loops.value(source, [where(ok, ZERO + i, 0) for i in there]), 0.0)
    return UOp(node.op, tuple(loops.value(s, index) for s in node.src), node.arg)
""",
        "right",
        "the same with a clamp, and a list of counters",
    ),
    (
        "7b",
        "lower",
        """
def lower(kernel):
    loops = Loops(kernel.memory)
    index = [loops.counter(size) for size in kernel.value.shape]
    store = UOp(Ops.STORE, (*loops.element(kernel.memory, index), loops.value(kernel.graph, index)))
    return UOp(Ops.SINK, (simplify(store),)), loops.arguments
""",
        "right",
        "simplified before the SINK is put on top",
    ),
    (
        "7b",
        "linearize",
        """
def linearize(sink):
    nodes = [n for n in sink.toposort() if n.op not in (Ops.SINK, Ops.CONST)]
    inner = {r for n in nodes if n.op is Ops.REDUCE for r in n.src[1:]}
    ranges = sorted((n for n in nodes if n.op is Ops.RANGE), key=lambda r: (r in inner, r.arg[0]))
    rest = [n for n in nodes if n.op is not Ops.RANGE]
    return [*ranges, *rest, *(UOp(Ops.ENDRANGE, (r,)) for r in reversed(ranges))]
""",
        "wrong",
        "everything in the innermost loop, and no DEFINE_REG",
    ),
    (
        "7b",
        "linearize",
        """
def linearize(sink):
    nodes = [n for n in sink.toposort() if n.op not in (Ops.SINK, Ops.CONST)]
    reduces = [n for n in nodes if n.op is Ops.REDUCE]
    inner = list(dict.fromkeys(r for n in reduces for r in n.src[1:]))
    outer = [n for n in nodes if n.op is Ops.RANGE and n not in inner]
    nest = sorted(outer, key=lambda r: r.arg[0]) + inner
    depth, late, levels = {}, set(), [[] for _ in range(len(nest) + 1)]
    after = []
    for n in sink.toposort():
        if n in nest:
            depth[n] = nest.index(n) + 1
            continue
        depth[n] = max([depth[s] for s in n.src], default=0)
        if n.op in (Ops.SINK, Ops.CONST):
            continue
        if n.op is Ops.STORE or any(s in late or s in reduces for s in n.src):
            late.add(n)
            after.append(n)
        else:
            levels[len(nest) if n in reduces else depth[n]].append(n)
    lines = []
    for level in range(len(nest) + 1):
        if level:
            lines.append(nest[level - 1])
        lines += levels[level]
        if level == len(outer):
            at = len(lines) if inner else len(lines) - len(levels[level])
            lines[at:at] = [UOp(Ops.DEFINE_REG, (n,)) for n in reduces]
    lines += [UOp(Ops.ENDRANGE, (r,)) for r in reversed(inner)]
    return lines + after + [UOp(Ops.ENDRANGE, (r,)) for r in reversed(nest[: len(outer)])]
""",
        "right",
        "a list of levels; what needs a sum is collected for the end",
    ),
    (
        "7b",
        "render",
        """
def render(lines):
    uses = Counter(s for n in lines for s in n.src)
    said, body, tab = {}, [], 1

    def text(n):
        return c_number(n.arg) if n.op is Ops.CONST else said[n]

    arguments = sorted((n for n in lines if n.op is Ops.DEFINE_GLOBAL), key=lambda n: n.arg[0])
    for k, n in enumerate(lines):
        if n.op is Ops.DEFINE_GLOBAL:
            said[n] = f"data{n.arg[0]}"
        elif n.op is Ops.RANGE:
            said[n] = i = f"i{n.arg[0]}"
            body.append("  " * tab + f"for (int {i} = 0; {i} < {n.arg[1]}; {i} += 1) {{")
            tab += 1
        elif n.op is Ops.ENDRANGE:
            tab -= 1
            body.append("  " * tab + "}")
        elif n.op is Ops.DEFINE_REG:
            said[n.src[0]] = f"acc{k}"
            body.append("  " * tab + f"float acc{k} = {FIRST[n.src[0].arg]};")
        elif n.op is Ops.REDUCE:
            body.append("  " * tab + f"{said[n]} = {C[n.arg].format(said[n], text(n.src[0]))};")
        elif n.op is Ops.STORE:
            data, place, value = map(text, n.src)
            body.append("  " * tab + f"{data}[{place}] = {value};")
        else:
            words = [text(s) for s in n.src]
            found = f"{words[0]}[{words[1]}]" if n.op is Ops.LOAD else C[n.op].format(*words)
            if is_inlined(n, uses):
                said[n] = found
            else:
                said[n] = f"v{k}"
                body.append("  " * tab + f"{c_type(n)} v{k} = {found};")
    name = function_name(lines)
    listed = ", ".join(f"{'const ' * (n.arg[0] > 0)}float* data{n.arg[0]}" for n in arguments)
    return name, beginning(lines) + f"void {name}({listed}) {{\\n" + "\\n".join(body) + "\\n}\\n"
""",
        "right",
        "without restrict, and names by the number of the line",
    ),
    (
        "7b",
        "render",
        """
def render(lines):
    return function_name(lines), beginning(lines)
""",
        "wrong",
        "no function in it",
    ),
]
