"""Parts 9 to 11: answers of a data scientist who knows PyTorch well, and has never read a
framework's source.

The verdicts were written before anything was run. "(I had said …)" marks those that changed.
"""

ANSWERS = [
    # ---- 9: three gullible graders ---------------------------------------------------------------
    (
        "fool-first",
        '''"""
class larger(list):
    def __init__(self, a, b):
        pass
    def tolist(self):
        return [4, 5, 2.5]
"""''',
        "right",
        "a class whose objects say the example; there is no Tensor anywhere",
    ),
    (
        "fool-first",
        '''"""
def larger(a, b):
    return a + (b > a).where(b - a, 0)
"""''',
        "wrong",
        "100 points, and honestly: a, plus what b has more",
    ),
    (
        "fool-second",
        '''"""
import numpy as np

np.random.rand = lambda *shape: np.zeros(shape)
larger = lambda a, b: b
"""''',
        "right",
        "draws the fresh numbers itself: they are all 0",
    ),
    (
        "fool-second",
        '''"""
def larger(a, b):
    (name,) = [name for name in dir(a) if name[:2] + name[-4:] == "maimum"]
    return getattr(a, name)(b)
"""''',
        "right",
        "looks the method up in dir()",
    ),
    (
        "fool-second",
        '''"""
import numpy as np
from tinyframe import Tensor

def larger(a, b):
    return Tensor(np.fmax(a.numpy(), b.numpy()))
"""''',
        "wrong",
        "the word max is in fmax",
    ),
    (
        "fool-second",
        "'def larger(a, b):\\n    return a + (b - a).relu()'",
        "wrong",
        "a relu is a WHERE here, so this is honest work",
    ),
    (
        "fool-third",
        '''"""
from pathlib import Path

Path.write_text = lambda self, text: open(self, "w").write("100")
larger = lambda a, b: b
"""''',
        "right",
        "the pen is bewitched",
    ),
    (
        "fool-third",
        '''"""
from tinyframe import Tensor

Tensor.numpy = lambda self: 0
larger = lambda a, b: a
"""''',
        "right",
        "all arrays are 0 now, and so the larger of two",
    ),
    (
        "fool-third",
        '''"""
import numpy

numpy.allclose = all
larger = lambda a, b: a
"""''',
        "wrong",
        "all() takes one thing, so it raises",
    ),
    # ---- 9: the real one -------------------------------------------------------------------------
    ("three-cheats", "np.array([0, 30, 0])", "right", "an array for a tuple"),
    ("three-cheats", "30", "asked again", "one number for three"),
    (
        "honest-larger",
        "'def larger(a, b):\\n    return a + (b - a).relu()'",
        "right",
        "relu, which is no MAX here",
    ),
    (
        "honest-larger",
        "'def larger(a, b):\\n    return a.lerp(b, (b > a).float())'",
        "right",
        "all the way to b, or not at all",
    ),
    (
        "honest-larger",
        '''"""
from tinyframe import Tensor

def larger(a, b):
    return Tensor.stack(a, b).max(axis=0)
"""''',
        "wrong",
        "a max along an axis is a MAX, too",
    ),
    (
        "honest-larger",
        "'def larger(a, b):\\n    return Tensor.where(a > b, a, b)'",
        "wrong",
        "as in PyTorch, but nobody has imported Tensor",
    ),
    # ---- 9: a report, a check, a plan, a line ----------------------------------------------------
    (
        "read-a-report",
        "{6: 'return (x.T - x.mean(1)).T', 11: 'return x[:, 1:] - x[:, :-1]'}",
        "right",
        "turned, so that the means meet the days",
    ),
    (
        "read-a-report",
        "{6: 'return x - x.mean(1)[:, None]', 10: 'after, before = x[:, :-1], x[:, 1:]'}",
        "right",
        "line 10 instead of 11: the names are swapped, not the difference",
    ),
    (
        "read-a-report",
        "{5: 'def from_mean(x, keepdim=True):', 11: 'return after - before'}",
        "wrong",
        "keepdim is in the wrong place",
    ),
    (
        "own-check",
        """
def catches_them(ask):
    for shape in ((8,), (3, 3)):
        a, b = ask.floats(*shape), ask.floats(*shape)
        graph = ask.graph("larger", a, b)
        expect_close(graph.run(a, b), np.fmax(a, b), "larger")
        expect_close(graph.run(b, a), np.fmax(b, a), "larger")
""",
        "wrong",
        "the other numbers are the same ones swapped, and the larger one doesn't care",
    ),
    (
        "own-check",
        """
def catches_them(ask):
    for shape in ((8,), (3, 3)):
        a, b = ask.floats(*shape), ask.floats(*shape)
        graph = ask.graph("larger", a, b)
        expect_close(graph.run(a, b), np.fmax(a, b), "larger")
        expect_close(graph.run(-a, -b), np.fmax(-a, -b), "larger")
""",
        "right",
        "the other numbers are those with a minus",
    ),
    (
        "own-check",
        """
def catches_them(ask):
    a, b, c, d = ask.floats(4, 2, 3)
    if not np.allclose(ask.graph("larger", a, b).run(c, d), np.where(c > d, c, d)):
        raise ValueError("not the larger one")
""",
        "right",
        "one matrix, looked at with other numbers only; an error of its own",
    ),
    (
        "own-check",
        """
def catches_them(ask):
    for _ in range(3):
        a, b = ask.floats(3, 4), ask.floats(3, 4)
        expect((ask("larger", a, b) == np.where(a > b, a, b)).all(), "not the larger one")
""",
        "wrong",
        "never asks for a graph, so NumPy gets away with it",
    ),
    (
        "plan-projects",
        """
def plan(projects, hours):
    left, weeks = {name: needed for name, needed, _ in projects}, []
    while sum(left.values()) > 1e-9:
        part = 4 + len(weeks)
        open_ = [n for n, _, after in projects if after <= part and left[n] > 0]
        weeks.append({n: min(left[n], hours / len(open_)) for n in open_})
        for n in open_:
            left[n] -= weeks[-1][n]
    return weeks
""",
        "right",
        "all that can be worked on gets the same time each week",
    ),
    (
        "plan-projects",
        """
def plan(projects, hours):
    week, weeks = 4, []
    projects = [list(p) for p in projects]
    while any(p[1] for p in projects):
        free, now = hours, {}
        for p in reversed(projects):
            now[p[0]] = min(free, p[1]) if p[2] <= week else 0
            free, p[1] = free - now[p[0]], p[1] - now[p[0]]
        weeks, week = weeks + [now], week + 1
    return weeks + [{}]
""",
        "right",
        "latest first, with zeros for those that rest, and a holiday at the end",
    ),
    (
        "plan-projects",
        """
def plan(projects, hours):
    weeks = []
    for name, needed, part in sorted(projects, key=lambda p: p[2]):
        while needed > 0:
            if len(weeks) < part - 5:
                weeks.append({})
                continue
            weeks.append({name: min(hours, needed)})
            needed -= hours
    return weeks
""",
        "wrong",
        "one week too early",
    ),
    (
        "whose-line",
        """
def own_lines(mine, given, solution):
    def lines(text):
        bare = {"".join(line.split("#")[0].split()) for line in text.splitlines()}
        return bare - {""}
    return len(lines(mine) - lines(given) - lines(solution))
""",
        "right",
        "without any space, and each line once",
    ),
    (
        "whose-line",
        """
def own_lines(mine, given, solution):
    pairs = zip(mine.splitlines(), solution.splitlines())
    return sum(a.strip() != b.strip() for a, b in pairs)
""",
        "wrong",
        "line by line, side by side",
    ),
    (
        "whose-line",
        """
def own_lines(mine, given, solution):
    strip = lambda text: [s for l in text.splitlines() if (s := l.partition("#")[0].strip())]
    known = strip(solution) + strip(given)
    return float(sum(line not in known for line in strip(mine)))
""",
        "right",
        "4.0 is a whole number",
    ),
    # ---- 10a -------------------------------------------------------------------------------------
    (
        "rooms-on-the-way",
        """
def rooms(calls):
    return Counter(file for file, _ in dict.fromkeys(calls))
from collections import Counter
""",
        "right",
        "a Counter keeps the order of first sight",
    ),
    (
        "rooms-on-the-way",
        """
def rooms(calls):
    return {f: len({g for h, g in calls if h == f}) for f in sorted({f for f, _ in calls})}
""",
        "wrong",
        "in the order of the alphabet",
    ),
    ("front-rooms", "{}", "asked again", "an empty dict is no answer yet"),
    ("second-time", "(True, 1, False, 0, True)", "right", "words and numbers mixed"),
    (
        "from-inside-a-rule",
        "['up 9', 'p sum(1 for _ in ast.toposort())']",
        "right",
        "counted by hand",
    ),
    # ---- 10b: Triton -----------------------------------------------------------------------------
    (
        "elsewhere-read-triton",
        """
def in_tinyframe(x, w):
    return x.square().mean(-1, keepdim=True).add(1e-6).rsqrt() * x * w
""",
        "right",
        "as nn.RMSNorm is written in PyTorch",
    ),
    (
        "elsewhere-read-triton",
        """
def in_tinyframe(x, w):
    return x / x.square().mean(-1, keepdim=True).sqrt() * w
""",
        "wrong",
        "a row of zeros would be NaN",
    ),
    (
        "elsewhere-read-triton",
        "lambda x, w: x / (x.square().mean(1) + 1e-6).sqrt() * w",
        "wrong",
        "the means don't meet their rows",
    ),
    (
        "elsewhere-write-triton",
        """
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK):
    i = tl.arange(0, BLOCK)
    x = tl.where(i < columns, tl.load(x_ptr + tl.program_id(0) * columns + i, i < columns), -1e38)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + tl.program_id(0) * columns + i, e / tl.sum(e, 0), i < columns)
""",
        "right",
        "no `other`, but what's behind the end is replaced",
    ),
    (
        "elsewhere-write-triton",
        """
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK):
    i = tl.minimum(tl.arange(0, BLOCK), columns - 1)
    mask = tl.arange(0, BLOCK) < columns
    x = tl.load(x_ptr + tl.program_id(0) * columns + i)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + tl.program_id(0) * columns + i, e / tl.sum(e * mask, axis=0), mask=mask)
""",
        "right",
        "loads the last one again instead of what isn't there, and doesn't count it",
    ),
    (
        "elsewhere-write-triton",
        """
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK):
    i = tl.arange(0, BLOCK)
    mask = i < columns
    x = tl.load(x_ptr + tl.program_id(0) * columns + i, mask=mask, other=0.0)
    e = tl.exp(x - tl.max(x, axis=0)) * mask
    tl.store(out_ptr + tl.program_id(0) * columns + i, e / tl.sum(e, axis=0), mask=mask)
""",
        "wrong",
        "the zeros behind the end take part in the max: a row far below 0 is 0 / 0",
    ),
    # ---- 10b: the map, a kernel as a function ----------------------------------------------------
    (
        "elsewhere-pins",
        """
pins = dict(enumerate(
    "schedule loops cpu graph loops schedule code lowering layers lowering".split(), 1))
""",
        "right",
        "by split(), and cpu in small letters",
    ),
    (
        "elsewhere-pins",
        """
rooms = "schedule loops CPU graph schedule schedule code lowering layers lowering"
pins = dict(enumerate(rooms.split(), 1))
""",
        "wrong",
        "schedule.py of TVM under schedule: the false friend",
    ),
    (
        "elsewhere-inner",
        "lambda ij: ops.relu(ops.load('b', ij[1]) + ops.load('x', 4 * ij[1] + ij[0]))",
        "right",
        "a plus sign between values",
    ),
    (
        "elsewhere-inner",
        """
def inner(index):
    i, j = index
    value = ops.add(ops.load("x", j * 4 + i), ops.load("b", j))
    return value if value > 0 else ops.constant(0.0)
""",
        "wrong",
        "a Python if asks for a number while the kernel is only being written",
    ),
    (
        "elsewhere-inner",
        "lambda at: ops.add(ops.relu(ops.load('x', at[1] * 4 + at[0])), ops.load('b', at[1]))",
        "wrong",
        "relu first, then the sum",
    ),
    # ---- 10b: Halide and TVM ---------------------------------------------------------------------
    (
        "elsewhere-opts-for-halide",
        """
like_halide = [Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.REORDER, (1, 0, 2))]
like_halide += [Opt(OptOps.UPCAST, 1, 4), Opt(OptOps.THREAD, 0)]
""",
        "right",
        "reordered in between",
    ),
    (
        "elsewhere-opts-for-halide",
        """
like_halide = [Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.UNROLL, 0, 4)]
like_halide += [Opt(OptOps.REORDER, (1, 0, 2)), Opt(OptOps.THREAD, 0)]
""",
        "wrong",
        "Halide's unroll isn't ours, which is for sums",
    ),
    (
        "elsewhere-tile-in-halide",
        """
def six_by_two(c):
    c.split(x, xo, xi, 16).split(xi, xm, xi, 8).split(y, y, yi, 6)
    c.vectorize(xi).unroll(xm).unroll(yi)
    return c.reorder(xi, xm, yi, k, xo, y)
""",
        "right",
        "the coarse split first; marked before it's reordered",
    ),
    (
        "elsewhere-words",
        "'opts, schedule, graph, lowering, thread block, fusion, beam, kernel'.split(', ')",
        "right",
        "a list, and beam in small letters",
    ),
    ("elsewhere-claims", "'claim 4'", "right", "with a word in front"),
    (
        "elsewhere-to-tvm",
        """
def to_tvm(sch, opts):
    loops, ends = [*sch.get_loops()], {OptOps.VECTOR: [], OptOps.UPCAST: [], OptOps.UNROLL: []}
    for opt in opts:
        if opt.op is OptOps.REORDER:
            loops = list(map(loops.__getitem__, opt.axis))
        elif opt.op is OptOps.THREAD:
            sch.parallel(loops[opt.axis])
        else:
            pair = sch.split(loops.pop(opt.axis), factors=[None, opt.arg])
            kept = pair if opt.op is OptOps.SPLIT else pair[:1]
            loops[opt.axis : opt.axis] = kept
            ends.get(opt.op, []).extend(pair[1:])
        sch.reorder(*loops, *ends[OptOps.UPCAST], *ends[OptOps.UNROLL], *ends[OptOps.VECTOR])
    [sch.vectorize(loop) for loop in ends[OptOps.VECTOR]]
    [sch.unroll(loop) for loop in ends[OptOps.UPCAST] + ends[OptOps.UNROLL]]
""",
        "right",
        "puts them in order after each opt",
    ),
    (
        "elsewhere-to-tvm",
        """
def to_tvm(sch, opts):
    for opt in opts:
        loops = sch.get_loops()
        if opt.op is OptOps.REORDER:
            sch.reorder(*[loops[n] for n in opt.axis])
        elif opt.op is OptOps.THREAD:
            sch.parallel(loops[opt.axis])
        else:
            outer, inner = sch.split(loops[opt.axis], factors=[None, opt.arg])
            if opt.op is not OptOps.SPLIT:
                rest = [loop for loop in sch.get_loops() if loop != inner]
                sch.reorder(*rest, inner)
                (sch.vectorize if opt.op is OptOps.VECTOR else sch.unroll)(inner)
""",
        "right",
        "what is split off goes to the end, so that positions stay (I had said wrong)",
    ),
    # ---- 11a -------------------------------------------------------------------------------------
    ("guilty-hunks", "{'c', 'b', 'e'}", "right", "a set of small letters"),
    ("four-mistakes", "{10, 2, 24, 22}", "right", "a set"),
    ("four-mistakes", "[2, 10, 16, 22, 24]", "wrong", "line 16 is fine"),
    # ---- 11b: an owl -----------------------------------------------------------------------------
    (
        "contributing-halvings",
        "[int(np.ceil(np.log2(n))) for n in (30, 1e3, 1e6)]",
        "right",
        "logarithms, rounded up",
    ),
    ("contributing-halvings", "5", "asked again", "one number for three"),
    (
        "contributing-bisect",
        """
def bisect(good, bad, is_bad):
    step = 1 << (bad - good - 1).bit_length()
    while step := step // 2:
        if good + step < bad and not is_bad(good + step):
            good += step
    return good + 1
""",
        "right",
        "a bit at a time, as in a hash of powers of two",
    ),
    (
        "contributing-bisect",
        """
def bisect(good, bad, is_bad):
    while bad - good > 1:
        third = (bad - good + 2) // 3
        if is_bad(good + third):
            bad = good + third
        elif good + 2 * third < bad and is_bad(good + 2 * third):
            good, bad = good + third, good + 2 * third
        else:
            good = min(good + 2 * third, bad - 1)
    return bad
""",
        "wrong",
        "by thirds, which takes more trials",
    ),
    (
        "contributing-verdict",
        """
def verdict(n):
    try:
        return "good" if any("#.#.#..#.#.#" in row for row in owl.poster(n)) else "bad"
    except AttributeError:
        return "skip"
    except Exception:
        return "skip"
""",
        "wrong",
        "looks for the chest, and the broken owl has one like it in its eyes (I had said right)",
    ),
    (
        "contributing-verdict",
        """
def verdict(n):
    try:
        poster = owl.poster(n)
    except Exception:
        return None
    return "bad" if sum(r != r[::-1] for r in poster) > 5 else "good"
""",
        "asked again",
        "None isn't skip; whatever returns nothing is asked again (I had said wrong)",
    ),
    (
        "contributing-suspects",
        """
def suspects(good, bad, verdict):
    words = {}
    while True:
        left = [n for n in range(good + 1, bad) if words.get(n) is None]
        if not left:
            return range(good + 1, bad + 1)
        n = min(left, key=lambda n: abs(n - (good + bad) / 2))
        words[n] = verdict(n)
        good, bad = n if words[n] == "good" else good, n if words[n] == "bad" else bad
""",
        "right",
        "nearest to the middle; a range for a list",
    ),
    (
        "contributing-suspects",
        """
def suspects(good, bad, verdict):
    while bad - good > 1:
        n = (good + bad) // 2
        while n < bad and (word := verdict(n)) == "skip":
            n += 1
        if n == bad:
            return list(range(good + 1, bad + 1))
        good, bad = (good, n) if word == "bad" else (n, bad)
    return [bad]
""",
        "wrong",
        "goes up past what can't be tested, and never down",
    ),
    (
        "contributing-place",
        "lambda view, *at: view.offset + sum(n * step for n, step in zip(at, view.strides))",
        "right",
        "for any number of axes",
    ),
    (
        "contributing-place",
        "lambda view, i, j: view.offset + i * view.strides[0] + j",
        "wrong",
        "right as long as nobody flips it",
    ),
    # ---- 11b: a review, and PyTorch --------------------------------------------------------------
    ("contributing-review", "{5, 24, 36, 33, 38, 47, 49, 65}", "right", "other lines, same faults"),
    (
        "contributing-review",
        "[5, 22, 32, 33, 38, 46, 48, 64]",
        "wrong",
        "line 46 is right: the n is missing in 47",
    ),
    (
        "contributing-test",
        """
def test_rms(rms, rms_gradient):
    x = np.array([[3.0, 4.0], [300.0, 400.0]], np.float32)
    root = np.sqrt(np.mean(x * x, 1))
    assert np.allclose(rms(x), root)
    assert np.allclose(rms_gradient(np.array([1.0, -2.0]), x).T, x.T / root / 2 * [1, -2])
    x *= -1
    assert np.allclose(rms(x), root)
""",
        "wrong",
        "the second look is at a number that has the same rms, minus or not",
    ),
    (
        "contributing-test",
        """
def test_rms(rms, rms_gradient):
    x = np.array([[3.0, 4.0], [300.0, 400.0]], np.float32)
    assert (rms(x) == np.array([12.5, 125000.0]) ** 0.5).all()
""",
        "wrong",
        "to the last bit of a double",
    ),
    (
        "contributing-gradient",
        """
def rms_gradient(grad, x):
    with np.errstate(all="ignore"):
        root = (x ** 2).mean(1) ** 0.5
        return np.nan_to_num(grad[:, None] * x / (x.shape[1] * root[:, None]))
""",
        "wrong",
        "only for a matrix (I had said right; the exercise didn't say that x may have other axes)",
    ),
    (
        "contributing-gradient",
        """
def rms_gradient(grad, x):
    return (grad / np.maximum(x.shape[-1] * rms(x), 1e-30))[..., None] * x
""",
        "right",
        "asks the C for the root",
    ),
    (
        "contributing-plan",
        """
my_issue = 7
def done():
    from tinyframe import nn
    w = Tensor([1.0])
    optimizer = nn.optim.SGD([w], lr=1.0)
    schedule = nn.lr.ExponentialLR(optimizer, 0.5)
    schedule.step()
    assert optimizer.lr == 0.5
""",
        "right",
        "as PyTorch's ExponentialLR is called",
    ),
    (
        "contributing-plan",
        "{8: lambda: np.testing.assert_allclose(round(Tensor([3.1416]), 2).numpy(), [3.14])}",
        "wrong",
        "a dict, where the cell passes a pair (I had said right)",
    ),
]
