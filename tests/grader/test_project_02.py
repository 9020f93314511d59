"""Project 2: the worked solution gets 100 points, a mistake costs what it should and is named, and
what was to be built cannot be had ready made.

Each mistake is a replacement in the worked solution. It names the points that it costs, and words
of the sentence that a student is told.
"""

import re

import numpy as np
import pytest

from classroom.grader.tasks import Ask, Expression
from tests.grader.here import Here
from tests.grader.worked import Worked, gained, lost, printed
from tinyframe import Context, Tensor
from tinyframe.run.realize import get_kernel

WORKED = Worked("02_op_types")


def test_the_worked_solution_prints_a_report(tmp_path):
    said = printed(WORKED.text, tmp_path, WORKED.name)
    assert "open" not in said
    both = re.findall(r"predicted (\d+) +counted (\d+)", said)
    assert len(both) == 6 and all(predicted == counted for predicted, counted in both)
    assert said.count("yes, of shape") == 5 and "no, of shape" not in said
    assert "E is 60 steps from S" in said and said.count(".") > 59


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
    "axes in the order of the formula": (
        "einsum", "name.index(letter) for letter in there",
        "there.index(letter) for letter in name", 6,
        r"einsum\('\w{3}->\w{3}', ...\) of Tensors of shape .* (has shape|is)"),
    "sum() without axes": (
        "einsum", "return total.sum(*added_up) if added_up else total",
        "return total.sum(*added_up)", 10, r"has shape \(\), not"),
    "nothing is added up": (
        "einsum", "return total.sum(*added_up) if added_up else total", "return total", 10,
        r"has shape \(.*\), not"),
    "the second Tensor is forgotten": (
        "einsum", "lined_up if total is None else total * lined_up",
        "lined_up if total is None else total", 8, "its graph reads 1 of the (2|3) Tensors given"),
    "computed in NumPy": (
        "einsum", "    names = before.split(",
        "    return Mini(np.einsum(formula, *(t.numpy() for t in tensors)))\n"
        "    names = before.split(", 10, "did you compute something already"),
    "a Tensor of the other framework": (
        "distances", "    return dry_for\n", "    return Tensor(dry_for.numpy())\n", 10,
        "but should be a Tensor of mini"),
    "diagonal steps": (
        "distances", "((0, 1), (2, 1), (1, 0), (1, 2))",
        "((0, 1), (2, 1), (1, 0), (1, 2), (0, 0), (0, 2), (2, 0), (2, 2))", 10,
        "your steps go diagonally, too"),
    "through walls": (
        "distances", "        wet = maze * around(wet)\n",
        "        wet = maze.maximum(1) * around(wet)\n", 8, "your steps go through walls"),
    "a maze that is not looked at": (
        "distances", "        wet = maze * around(wet)\n", "        wet = around(wet)\n", 10,
        "its graph reads 1 of the 2 Tensors given"),
    "the start is 1 step away": (
        "distances", "wet, dry_for = start, 1 - start", "wet, dry_for = start, 2 - start", 10,
        "every number is 1 too large"),
    "minus one for what is too far": (
        "distances", "    return dry_for\n",
        "    return (dry_for < steps + 1).where(dry_for, -1)\n", 8, "you can't reach have -1"),
    "one step too few": (
        "distances", "for _ in range(steps):\n        wet",
        "for _ in range(steps - 1):\n        wet", 8,
        r"distances\(\)\[\d+, \d+\] is \d+, and should be \d+"),
    "round the edges": (
        "distances", "    padded, found = wet.pad((1, 1), (1, 1)), wet\n",
        "    tall = wet.reshape(1, height, width).expand(3, height, width)\n"
        "    wide = tall.reshape(3 * height, 1, width).expand(3 * height, 3, width)\n"
        "    wide = wide.reshape(3 * height, 3 * width)\n"
        "    padded = wide.shrink((height - 1, 2 * height + 1), (width - 1, 2 * width + 1))\n"
        "    found = wet\n", 10, "come in at the opposite one"),
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
    "a sum for each axis, the last one first": (
        ("    return total.sum(*added_up) if added_up else total\n",
         "    for axis in reversed(added_up):\n        total = total.sum(axis)\n"
         "    return total\n"),
    ),
    "a count of wet neighbours": (
        ("        found = found.maximum(padded.shrink(", "        found = found + (padded.shrink("),
        ("    return found\n    ### END SOLUTION\n\n\n# ---- run",
         "    return found > 0\n    ### END SOLUTION\n\n\n# ---- run"),
    ),
    "what is wet, in 64 bits": (
        ("    wet, dry_for = start, 1 - start\n",
         "    wet = Mini(np.zeros(start.shape, np.float64)) + start\n    dry_for = 1 - wet\n"),
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
