"""Project 2: the worked solution gets 100 points, a mistake costs what it should and is named, and
what was to be built cannot be had ready made.

Each mistake is a replacement in the worked solution. It names the points that it costs, and words
of the sentence that a student is told.
"""

import re
import subprocess
import sys

import numpy as np
import pytest

from classroom.grader.sandbox import ROOT
from classroom.grader.tasks import Ask, Expression
from tests.grader.here import Here
from tests.grader.worked import Worked, gained, lost
from tinyframe import Context, Tensor
from tinyframe.run.realize import get_kernel

WORKED = Worked("02_op_types")


def test_the_worked_solution_prints_a_report_and_draws_beside_itself(tmp_path):
    path = tmp_path / "02_op_types.py"
    path.write_text(WORKED.text)
    run = "import runpy, sys; sys.path.insert(0, sys.argv[2]); "
    for name in ("import", "__main__"):
        then = f"runpy.run_path(sys.argv[1], run_name={name!r})"
        command = [sys.executable, "-c", run + then, str(path), str(ROOT)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        drawn = [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.svg")]
        assert drawn == (["02_op_types/convolution.svg"] if name == "__main__" else [])
    assert "open" not in done.stdout
    both = re.findall(r"predicted (\d+) +counted (\d+)", done.stdout)
    assert len(both) == 6 and all(predicted == counted for predicted, counted in both)
    assert "....####....####...   ...++..--..++..--..   ...------..------.." in done.stdout


# ---- mistakes ------------------------------------------------------------------------------------

MISTAKES = {
    "the op of a kernel is looked for in a graph": (
        "kinds_of", "u.op is Ops.REDUCE_AXIS for", "u.op is Ops.REDUCE for", 2,
        r"\['reduction'\] is 0, and should be 1"),
    "places count as values": (
        "kinds_in_kernel", '"elementwise": len(elementwise - below_index)',
        '"elementwise": len(elementwise)', 4, r"\['elementwise'\] is \d+, and should be \d+"),
    "constants count too": (
        "kinds_in_kernel", '"movement": len(elementwise & below_index)',
        '"movement": len(below_index)', 4, r"\['movement'\] is \d+, and should be \d+"),
    "loops in the order in which they are found": (
        "loops_of", "    ranges.sort(key=lambda u: u.arg[0])\n", "", 2,
        "the list of sizes in loops_of"),
    "all loops are of one kind": (
        "loops_of", "u.arg[1].name.lower())", '"loop")', 4, "the list of kinds in loops_of"),
    "what is added up is outside": (
        "loops_of_sum", 'return outer + [(shape[axis], "reduce", steps[axis]) for axis in axes]',
        'return [(shape[axis], "reduce", steps[axis]) for axis in axes] + outer', 12,
        "the list of (sizes|kinds|steps) in loops_of_sum"),
    "steps column by column": (
        "loops_of_sum", "kept = [axis for", "steps.reverse()\n    kept = [axis for", 6,
        r"the list of steps in loops_of_sum\(.*\) is \[.*\], and should"),
    "the offset is forgotten": (
        "cell", 'return view["offset"] + sum(i', "return sum(i", 4,
        r"cell\(.*\) is -?\d+, and should"),
    "a flip begins one cell behind the end": (
        "moved", "offset += (shape[axis] - 1) * strides[axis]",
        "offset += shape[axis] * strides[axis]", 4, r"its element \[0, .*\] is in cell"),
    "what is repeated keeps its stride": (
        "moved", "s if old == new else 0", "s", 2, "is in cell"),
    "windows do not step": (
        "moved", "        strides[axis] *= step\n", "", 2, "is in cell"),
    "strides for every shape": (
        "reshaped", 'found if np.array_equal(cells_of(found), cells) else "copy"', "found", 12,
        r"its element \[.*\] is in cell \d+, and should be in cell"),
    "only what is in order": (
        "reshaped", "return found if np.array_equal(cells_of(found), cells)",
        "return found if np.array_equal(cells_of(found), cells) and strides[-1:] == [1]", 9,
        "is 'copy', but strides can describe it"),
    "a movement is a kernel": (
        "predicted_kernels", 'any(step not in ("transpose", "flip") for step in waiting)',
        "bool(waiting)", 10, r"is \d+, but it takes \d+ kernel"),
    "shares of rows and columns in one loop": (
        "predicted_kernels", '"product" in waiting or since.count("transpose") % 2 == 1',
        '"product" in waiting', 6, r"'share'.* is 1, but it takes 2 kernels"),
    "no rule for few rows": (
        "predicted_kernels", 'return n >= 32 and "product" in waiting',
        'return "product" in waiting', 2, r"'sums'\], \d+\) is \d, but it takes \d kernel"),
    "a product for which nothing has to be stored": (
        "predicted_kernels", 'not {"exp", "product", "share"}.isdisjoint(waiting)',
        '"product" in waiting', 8, r"is \d, but it takes \d kernels"),
    "the products laid out as those of @": (
        "matmul", "(a.permute(1, 0).reshape(k, m, 1) * b.reshape(k, 1, n)).sum(axis=0)",
        "(a.reshape(m, 1, k) * b.permute(1, 0).reshape(1, n, k)).sum(axis=2)", 8,
        r"it adds up axis 2 of a Tensor of shape \(\d+, \d+, \d+\), not axis 0 of one"),
    "the wrong axis is repeated": (
        "matmul", "b.reshape(k, 1, n)", "b.permute(1, 0).reshape(k, 1, n)", 8,
        r"matmul\(a, b\)\[\d+, \d+\] is .*, and should be "),
    "a filter upside down": (
        "convolution", "filters.reshape(", "filters.flip((2, 3)).reshape(", 12, "upside down"),
    "no zeros around": (
        "convolution", "image.pad(((0, 0), (down, down), (across, across)))", "image", 12,
        "cannot|has shape"),
    "rows for columns": (
        "convolution", "down, across = rows // 2, columns // 2",
        "down, across = columns // 2, rows // 2", 6, "cannot|has shape"),
    "windows in memory": (
        "convolution", "return starts.transpose(-1, -2)",
        "return starts.transpose(-1, -2).contiguous()", 12, "CONTIGUOUS"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_costs_its_points_and_is_named(name):
    task, right, wrong, points, told = MISTAKES[name]
    found = WORKED.rows(WORKED.changed((right, wrong)), tasks={task})
    assert lost(found) == {task: points}, [row.found for row in found if row.found]
    missed = [row for row in found if not row.passed]
    assert any(re.search(told, row.found) for row in missed), [row.found for row in missed]
    assert all(row.hint for row in missed)


@pytest.mark.parametrize("last", [0, -1])
def test_mistakes_cost_nothing_but_the_points_of_their_tasks(last):
    """One in each task, all of them at once: each task's first, or its last."""
    chosen = {task: [row[1:4] for row in MISTAKES.values() if row[0] == task][last]
              for task in WORKED.points}  # fmt: skip
    found = WORKED.rows(WORKED.changed(*(row[:2] for row in chosen.values())))
    assert lost(found) == {task: points for task, (_, _, points) in chosen.items()}


# ---- what is ready made --------------------------------------------------------------------------

READY_MADE = {
    "@": ("matmul", "    (m, k), n = a.shape, b.shape[1]\n", "    return a @ b\n", 8,
          "axis 2 of a Tensor"),
    "the numbers of a product": (
        "matmul", "    (m, k), n = a.shape, b.shape[1]\n",
        "    return Tensor(a.numpy() @ b.numpy())\n", 8, "did you compute something already"),
    "conv2d": (
        "convolution", "    down, across = rows // 2, columns // 2\n",
        "    padding = (rows // 2, columns // 2)\n"
        "    return image.unsqueeze(0).conv2d(filters, padding=padding).squeeze(0)\n", 12,
        "2 WINDOW nodes: conv2d and unfold have the windows ready made"),
    "unfold": (
        "convolution", "    *front, n = x.shape\n", "    return x.unfold(-1, size, 1)\n", 12,
        "WINDOW"),
    "@ for the sum of a convolution": (
        "convolution", "    return products.sum(axis=(1, 2, 3))\n",
        "    flat = seen.reshape(channels * rows * columns, height * width)\n"
        "    return (filters.reshape(results, -1) @ flat).reshape(results, height, width)"
        ".contiguous()\n", 12, "CONTIGUOUS"),
    "one slice for each number of a filter": (
        "convolution", "    seen = windows(padded, columns)",
        "    height, width = image.shape[1:]\n"
        "    return sum((padded[:, y : y + height, x : x + width] * filters[:, :, y, x].reshape(\n"
        "        results, channels, 1, 1)).sum(axis=1) for y in range(rows)\n"
        "        for x in range(columns))\n    seen = windows(padded, columns)", 12,
        "MUL nodes, not 1"),
    "a Tensor built to be counted": (
        "predicted_kernels", "    kernels, waiting = 0, []",
        "    return len(built(steps, n).schedule())\n    kernels, waiting = 0, []", 14,
        "Work it out from the steps, or from a smaller matrix"),
}  # fmt: skip


@pytest.mark.parametrize("name", READY_MADE)
def test_what_is_ready_made_gets_nothing_and_is_told_so(name):
    task, right, other, points, told = READY_MADE[name]
    found = WORKED.rows(WORKED.changed((right, other)), tasks={task})
    assert lost(found) == {task: points}, [row.found for row in found if row.found]
    assert all(told in row.found for row in found if not row.passed), [row.found for row in found]


WRONG_ANSWERS = """
def kinds_of(tensor): return dict(elementwise=99, reduction=99, movement=99)
def kinds_in_kernel(kernel): return dict(elementwise=99, reduction=99, movement=99)
def loops_of(kernel): return [(99, "loop"), (99, "reduce")]
def cell(view, index): return 99
def predicted_kernels(steps, n): return 99
"""


def test_constants_collected_from_reports_get_nothing():
    """A submission that answers with the last numbers that reports called right."""
    right = {}
    for row in WORKED.rows(WRONG_ANSWERS, "last"):
        right.setdefault(row.task, []).extend(re.findall(r"(?:should be|takes) (\d+)", row.found))
    assert all(right[task] for task in ("kinds_of", "kinds_in_kernel", "cell", "predicted_kernels"))
    kinds = ["elementwise", "reduction", "movement"]
    text = (
        f"KNOWN = { {task: list(map(int, found)) for task, found in right.items()}!r}\n"
        "def known(task):\n"
        "    KNOWN[task] = KNOWN[task][1:] + KNOWN[task][:1]\n"
        "    return KNOWN[task][-1]\n"
        f"def kinds_of(tensor): return {{k: known('kinds_of') for k in {kinds}}}\n"
        f"def kinds_in_kernel(ast): return {{k: known('kinds_in_kernel') for k in {kinds}}}\n"
        "def loops_of(kernel): return [(4, 'loop'), (3, 'reduce')]\n"
        "def loops_of_sum(shape, axes): return [(4, 'loop', 1), (3, 'reduce', 4)]\n"
        "def cell(view, index): return known('cell')\n"
        "def moved(view, name, argument): return view\n"
        "def reshaped(view, shape): return 'copy'\n"
        "def predicted_kernels(steps, n): return known('predicted_kernels')\n"
    )
    for seed in ("a", "b", "c"):
        assert gained(WORKED.rows(text, seed)) == {}


# ---- what is as good as the worked solution ------------------------------------------------------

AS_GOOD = {
    "tuples for lists, lists for tuples": (
        ('return {"shape": shape, "strides": strides, "offset": offset}',
         'return {"shape": tuple(shape), "strides": tuple(strides), "offset": offset}'),
        ("    return [(u.src[0].arg, u.arg[1].name.lower()) for u in ranges]",
         "    return tuple([u.src[0].arg, u.arg[1].name.lower()] for u in ranges)"),
    ),
    "strides that NumPy finds": (
        ("    cells = cells_of(view).reshape(shape)\n    first",
         "    memory = np.arange(400)\n"
         "    seen = np.lib.stride_tricks.as_strided(memory[view['offset']:], view['shape'],\n"
         "                                           [8 * s for s in view['strides']])\n"
         "    new = seen.reshape(shape)\n"
         "    if not np.shares_memory(new, seen):\n"
         "        return 'copy'\n"
         "    return {'shape': shape, 'strides': [s // 8 for s in new.strides],\n"
         "            'offset': view['offset']}\n"
         "    cells = cells_of(view).reshape(shape)\n    first"),
    ),
    "expand written out": (
        ("(a.permute(1, 0).reshape(k, m, 1) * b.reshape(k, 1, n)).sum(axis=0)",
         "(a.T.unsqueeze(2).expand(k, m, n) * b.unsqueeze(1).expand(k, m, n)).sum(0)"),
    ),
    "a convolution of which all that is added up is one axis, the last": (
        ("    products = seen.reshape(",
         "    seen = seen.reshape(1, channels * rows * columns, height * width).permute(0, 2, 1)\n"
         "    weights = filters.reshape(results, 1, channels * rows * columns)\n"
         "    return (weights * seen).sum(-1).reshape(results, height, width)\n"
         "    products = seen.reshape("),
    ),
    "a convolution by @, which is one multiplication and one sum as well": (
        ("    return products.sum(axis=(1, 2, 3))\n",
         "    flat = seen.reshape(channels * rows * columns, height * width)\n"
         "    return (filters.reshape(results, -1) @ flat).reshape(results, height, width)\n"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", AS_GOOD)
def test_what_the_words_allow_gets_all_points(name):
    found = WORKED.rows(WORKED.changed(*AS_GOOD[name]))
    assert lost(found) == {}, [row.found for row in found if row.found]


# ---- what the checks compare with ----------------------------------------------------------------


@pytest.mark.parametrize("shape, axes", [((5, 7), [0]), ((5, 7), [1]), ((3, 4, 5), [0, 2]),
                                         ((2, 3, 4, 5), [1, 2])])  # fmt: skip
def test_predicted_loops_of_a_sum_are_those_of_its_kernel(shape, axes):
    """Held against the generated C: its loops from the outside in, and by how much the place that
    it reads grows with each of them."""
    predicted = Here(WORKED.text).module.loops_of_sum(list(shape), axes)
    x = Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape)).realize()
    item = x.sum(tuple(axes)).schedule()[-1]
    with Context(NOOPT=1):
        source = get_kernel(item.ast, item.bufs[0].device).spec.src
    sizes = [int(size) for size in re.findall(r"for \(int ridx\d = 0; ridx\d < (\d+)", source)]
    if len(sizes) == len(predicted):  # neighbours that are read in one go are one loop in C
        assert [size for size, _, _ in predicted] == sizes
    places = np.arange(np.prod(shape)).reshape(shape)
    order = [axis for axis in range(len(shape)) if axis not in axes] + axes
    for (size, _, step), axis in zip(predicted, order, strict=True):
        assert size == shape[axis]
        assert set(np.diff(places, axis=axis).flat) == {step}


def test_an_expression_may_arrive_as_what_it_gives():
    text = (
        "def seen(x):\n    return type(x).__name__\n"
        "def total(x):\n    return x.sum()\n"
    )  # fmt: skip
    ask, a = Ask(Here(text), 0), np.arange(6, dtype=np.float32).reshape(2, 3)
    lazy = Expression("a * 2.0", {"a": a}, None)
    assert ask("seen", lazy) == "Tensor"
    assert ask("seen", Expression("a * 2.0", {"a": a})) == "function"
    assert ask("seen", Expression("(a * 2.0).schedule()[-1].ast", {"a": a}, None)) == "UOp"
    assert ask("total", lazy) == 30.0
