"""Who solves the projects in an unusual way gets all points, and who does half of a task gets half.

A file of `unusual/` has other solutions of some tasks; what it has not is the worked solution's. So
a whole submission is the two together, of which the last definition counts.
"""

from pathlib import Path

import pytest

from tests.grader.worked import PROJECTS, lost, worked

UNUSUAL = sorted((Path(__file__).parent / "unusual").glob("*.py"))


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """Some functions write files, which is here."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("path", UNUSUAL, ids=lambda path: path.stem)
def test_an_unusual_submission_gets_all_points(path):
    (of,) = (worked(name) for name in PROJECTS if name[:2] == path.name[:2])
    rows = of.rows(f"{of.text}\n{path.read_text()}", seed=path.stem)
    assert lost(rows) == {}, [row.found for row in rows if row.found]
    assert sum(row.points for row in rows) == 100


# ---- half of a task ------------------------------------------------------------------------------

# project, task, the code, its points as they were expected before it was graded (of how many), and
# the parts that the report calls right
HALF_RIGHT = [
    ("01", "describe", "def describe(t): return t.shape, t.dtype.name, t.nbytes",
     4, 6, {"shape; bytes"}),
    ("01", "before_and_after", """
def before_and_after(build):
    op, before = str(build().uop.base.op), len(build().schedule())
    tensor = build().realize()
    return before, op, len(tensor.schedule()), str(tensor.uop.base.op)
""", 4, 10, {"kernels"}),
    ("01", "before_and_after", """
def before_and_after(build):  # nothing is realized
    return len(build().schedule()), build().uop.base.op.name, 0, "BUFFER"
""", 4, 10, {"kernels"}),
    ("01", "compare", """
def compare(start, steps):  # the results are never compared
    for step in steps:
        step.__globals__["fresh"] = infinity = lambda: Tensor([float("inf")])
        step.__defaults__ = step.__defaults__ and (infinity,)
    found = {"seconds together": 0.00123, "seconds apart": 0.00345}
    for name, then in (("together", lambda t: t), ("apart", Tensor.realize)):
        GlobalCounters.reset()
        t = start()
        for step in steps:
            t = then(step(t))
        values = t.realize().numpy()
        found[f"kernels {name}"] = GlobalCounters.kernel_count
    return found | {"equal": bool((abs(values) < 1e30).all())}
""", 10, 14, {"kernels; seconds; names"}),
    ("01", "report", """
def report(rows):
    gains = [(row["seconds apart"] / row["seconds together"], row) for row in rows]
    line = "{name}: {kernels apart} kernels -> {kernels together}, "
    return "\\n".join(line.format_map(row) + f"{gain:.1f} times as fast"
                     for gain, row in sorted(gains, key=lambda pair: pair[0]))
""", 6, 8, {"a line for each row; kernels; gain"}),
    ("02", "kinds_of", """
def kinds_of(tensor):
    found = dict.fromkeys(("elementwise", "reduction", "movement"), 0)
    for u in tensor.uop.toposort():
        found["elementwise"] += u.op in GroupOp.Elementwise
        found["reduction"] += u.op is Ops.REDUCE
        found["movement"] += u.op in GroupOp.Movement
    return found
""", 4, 6, {"elementwise; movement"}),
    ("02", "moved", """
whole = moved
def moved(view, name, argument): return view if name == "unfold" else whole(view, name, argument)
""", 10, 12, {"permute; flip; shrink; expand",
              "permute; flip; shrink; expand; a chain; a longer chain"}),
    ("02", "reshaped", """
def reshaped(view, shape):
    def rows(shape): return [int(np.prod(shape[n + 1:], dtype=int)) for n in range(len(shape))]
    is_plain = list(view["strides"]) == rows(view["shape"])
    return {**view, "shape": shape, "strides": rows(shape)} if is_plain else "copy"
""", 3, 12, {"rows and columns"}),
    ("03", "slope", """
def slope(name, x, w):
    s = x.sigmoid()
    return {"square": x + x, "product": x, "sigmoid": s - s * s}[name]
""", 6, 8, {"square"}),
    ("03", "huber", """
def huber(error, below, above):
    far = (error > above).where(above * (error - above / 2), below * (-error - below / 2)).detach()
    return ((error <= above) & (error >= -below)).where(error * error / 2, far)
""", 4, 10, {"values"}),
    ("02", "einsum", """
whole = einsum
def einsum(formula, *tensors):
    return whole(formula, *tensors) if len(tensors) < 3 else tensors[0] * tensors[1] * tensors[2]
""", 7, 10, {"letters that stay"}),
    ("02", "distances", """
def distances(maze, start, steps):
    rows = Mini(np.arange(maze.shape[0])).reshape(-1, 1) + maze * 0
    columns = Mini(np.arange(maze.shape[1])).reshape(1, -1) + maze * 0
    y, x = (rows * start).sum(), (columns * start).sum()
    across = (columns - x).maximum(x - columns)
    far = (rows - y).maximum(y - rows) + across
    return far.maximum(0) * 1 - (far - (steps + 1)).relu()
""", 2, 10, {"an empty room"}),
    ("03", "forwards", """
def forwards(f, x, direction, rules):
    speeds = {x.uop: direction.uop}
    for u in f(x).uop.toposort():
        if u.op.name in rules and u not in speeds:
            known = [n for n, source in enumerate(u.src) if source in speeds][:1]
            given = [speeds[s] if n in known else s.const_like(0) for n, s in enumerate(u.src)]
            if known:
                speeds[u] = rules[u.op.name](u, given)
    return Tensor(speeds[u])
""", 3, 14, {"what is used once"}),
    ("03", "suspects", """
whole = suspects
def suspects(table):
    return [name for name in whole(table) if name not in ("SHRINK", "PAD", "PERMUTE")]
""", 8, 14, {"ties"}),
    ("04", "batches", """
whole = batches
def batches(x, y, size, seed): return whole(x, y, size, 0)
""", 8, 10, {"every image once, with its label; shuffled; the same seed; memory of its own"}),
    ("04", "mistakes", """
whole = mistakes
def mistakes(scores, labels, count):
    found = whole(scores, labels, count)
    return found | {"accuracy": 100 * found["accuracy"]}
""", 6, 10, {"confusion; worst"}),
    ("04", "scores", """
def scores(model, x, size):  # all at once, in a Tensor whose shape says otherwise where it's asked
    class Few(Tensor):
        @property
        def shape(self):
            real = Tensor.shape.__get__(self)
            asks = sys._getframe(1).f_code.co_name
            return (min(size, real[0]), *real[1:]) if asks == "<lambda>" else real
    x.__class__ = Few
    return model(x).realize()
""", 4, 8, {"values; mode"}),
    ("05", "price", """
whole = price
def price(build):
    found = whole(build)
    return {"scheduled": found["scheduled"], "fused": found["scheduled"]}
""", 4, 10, {"scheduled"}),
    ("05", "difference", """
whole = difference
def difference(before, after):
    return whole(before, after) | {"kept": len({*before.toposort()} & {*after.toposort()}) - 1}
""", 4, 8, {"appeared; vanished"}),
    ("05", "tile_of", """
whole = tile_of
def tile_of(kernel, rows): return whole(kernel, rows) | {"steps": 1}
""", 4, 8, {"rows; columns"}),
    ("06", "gelu", "def gelu(x): return (1 + (x / math.sqrt(2)).erf()).detach() * x / 2",
     4, 8, {"values"}),
    ("06", "rms_norm", """
def rms_norm(x, weight, eps):
    return x / ((x * x).mean(axis=-1, keepdim=True).detach() + eps).sqrt() * weight
""", 4, 10, {"values"}),
    ("06", "bill", """
whole = bill
def bill(tensor): return [{**row, "reduces": 1} for row in whole(tensor)]
""", 8, 12, {"operations; bytes"}),
    ("07", "MyAllocator", """
whole = MyAllocator
class MyAllocator(whole):
    def copyin(self, dst, src): whole.copyin(self, dst, bytes(src).ljust(len(dst)))
""", 11, 14, {"two at once; a memoryview that can be written to"}),
    ("07", "explained", """
whole = explained
def explained(rows): return [{**row, "why": "kernel"} for row in whole(rows)]
""", 6, 10, {"times; launch"}),
]  # fmt: skip


@pytest.mark.parametrize("row", HALF_RIGHT, ids=lambda row: row[1])
def test_half_of_a_task_gets_what_its_parts_are_worth_and_reads_which_are_right(row):
    start, task, code, points, of, right = row
    (of_project,) = (worked(name) for name in PROJECTS if name[:2] == start)
    judged = of_project.rows(f"{of_project.text}\n{code}", tasks={task})
    assert (sum(row.points for row in judged), sum(row.of for row in judged)) == (points, of)
    heads = [row.found.splitlines()[0] for row in judged if not row.passed]
    said = [head.partition(" parts right: ") for head in heads]
    assert {parts for _, is_some, parts in said if is_some} == right
