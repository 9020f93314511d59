"""Project 1: the worked solution gets 100 points, a mistake costs what it should, and nothing else.

The mistakes are those of somebody who is tired. Each is a replacement in the worked solution, and
names the checks that it must fail; a whole set of them, in tasks of their own, is graded at once.
test_project_repeat.py grades the worked solution in the sandbox.
"""

import re

import pytest

from tests.grader.worked import Worked, gained, lost, printed

WORKED = Worked("01_tensor_basics")

# what is replaced in the solution, by what, and the points that it costs
MISTAKES = [
    {  # bytes as if every number were a float
        "describe": ("tensor.nbytes", "4 * tensor.numel()", 1),
        # 7.0, and the dtype left to it: two of eight, as "like" follows it
        "factories": ("7, dtype=dtypes.int32", "7.0", 2),
        # the board written out in Python
        "checkerboard": (
            "return (down + along) % 2",
            "return Tensor([[(r + c) % 2 for c in range(columns)] for r in range(rows)])",
            10,
        ),
        # what ran before is counted too
        "kernel_count": ("tensor = build()\n    GlobalCounters.reset()", "tensor = build()", 10),
        # computed at once, so that no graph is left
        "chain": ("(x + 1).contiguous()", "(x + 1).realize()", 12),
        # one axis only
        "one_pass": ("(a * b + a - b).sum()", "(a * b + a - b).sum(0)", 6),
        # the op looked at when the schedule has been made
        "before_and_after": (
            "op_before = build().uop.base.op.name\n    kernels_before = len(build().schedule())",
            "t = build()\n    kernels_before = len(t.schedule())\n"
            "    op_before = t.uop.base.op.name",
            6,
        ),
        # said, not compared
        "compare": ('{"equal": difference <= 1e-5}', '{"equal": True}', 4),
        # integers count as values
        "find_op": ('(r"(float )?(val', '(r"(float |int )?(val', 4),
        # the smallest gain first
        "report": ("sorted(lines, reverse=True)", "sorted(lines)", 2),
    },
    {  # the upper bound is left out
        "factories": ("high=rows + 1", "high=rows", 1),
        # a 1 in the corner
        "checkerboard": ("(down + along) % 2", "(down + along + 1) % 2", 10),
        # always one kernel
        "chain": (
            "    for _ in range(kernels):\n        x = (x + 1).contiguous()\n    return x",
            "    return (x + kernels).contiguous()",
            6,
        ),
        # the formula as it is written
        "one_pass": ("(a * b + a - b).sum()", "(a * b).sum() + a.sum() - b.sum()", 12),
        # the counters run on
        "compare": (
            "run()\n        GlobalCounters.reset()\n        begin",
            "run()\n        begin",
            4,
        ),
        # lines from 0
        "find_op": ("found.append(number)", "found.append(number - 1)", 2),
        # the first line is taken apart where there may be none
        "report": ("lines = []\n    for row", "lines = []\n    rows[0]\n    for row", 4),
    },
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_each_mistake_costs_its_points_and_no_others(number):
    mistakes = MISTAKES[number]
    judged = WORKED.rows(WORKED.changed(*(pair[:2] for pair in mistakes.values())))
    assert lost(judged) == {task: points for task, (_, _, points) in mistakes.items()}
    assert all(row.found and row.hint for row in judged if not row.passed)


def test_the_worked_solution_prints_what_it_finds(tmp_path):
    said = printed(WORKED.text, tmp_path, WORKED.name)
    assert "open" not in said
    assert "(a + b).relu().sum(): 1\n" in said
    assert "'kernels apart': 3" in said


# ---- what is as good as the worked solution ------------------------------------------------------

# Each in a place of its own, so that all of them are graded at once.
AS_GOOD = {
    "a namedtuple for a tuple": (
        ("return tensor.shape, str(tensor.dtype), tensor.nbytes",
         "import collections\n    kind = collections.namedtuple('Facts', 'shape dtype bytes')\n"
         "    return kind(list(tensor.shape), str(tensor.dtype), tensor.nbytes)"),
    ),
    "an OrderedDict, a ChainMap": (
        ("    return {\n        \"zeros\"",
         "    import collections\n    return collections.OrderedDict({\n        \"zeros\""),
        ("high=rows + 1),\n    }", "high=rows + 1),\n    })"),
        ('return found | {"equal": difference <= 1e-5}',
         'import collections\n'
         '    return collections.ChainMap(found, {"equal": difference <= 1e-5})'),
    ),
    "a list for a tuple, and a tuple for a list": (
        ("return kernels_before, op_before, len(tensor.schedule()), tensor.uop.base.op.name",
         "return [kernels_before, op_before, len(tensor.schedule()), tensor.uop.base.op.name]"),
        ("            found.append(number)\n    return found",
         "            found.append(number)\n    return tuple(found)"),
    ),
    "rounding half up": (
        ("{gain:.1f} times", "{int(gain * 10 + 0.5) / 10} times"),
    ),
    "a board that is a view of a padded constant and needs no kernel": (
        ("    return (down + along) % 2",
         "    odd = columns | 1  # each row of the wider board begins where the last one stopped\n"
         "    turn = Tensor.ones(1, dtype=dtypes.int32).pad(((1, 0),))\n"
         "    turns = turn.reshape(1, 2).expand(rows * odd, 2).reshape(-1)\n"
         "    return turns[: rows * odd].reshape(rows, odd)[:, :columns]"),
    ),
    "floats of 64 bits where the words say floats": (
        ("Tensor.zeros(rows, columns)", "Tensor(np.zeros((rows, columns)))"),
        ("Tensor.linspace(-1, 1, columns)", "Tensor(np.linspace(-1, 1, columns))"),
        ("Tensor.eye(rows)", "Tensor(np.eye(rows))"),
        ("Tensor.rand(rows, columns),", "Tensor(np.random.rand(rows, columns)),"),
        ("import re\n", "import re\nimport numpy as np\n"),
    ),
    "the same seed for both ways": (
        ("        run()\n        GlobalCounters", "        run()\n        Tensor.manual_seed(7)\n"
         "        GlobalCounters"),
    ),
    "a report that ends its last line": (
        ('return "\\n".join(line for _, line in sorted(lines, reverse=True))',
         'return "".join(line + "\\n" for _, line in sorted(lines, reverse=True))'),
    ),
}  # fmt: skip


def test_what_the_words_allow_gets_all_points():
    judged = WORKED.rows(WORKED.changed(*(pair for pairs in AS_GOOD.values() for pair in pairs)))
    assert lost(judged) == {}, [row.found for row in judged if row.found]


# ---- half of a task ------------------------------------------------------------------------------

# what is replaced, the points that are lost, and what the report says of them
HALVES = {
    "a board of floats": (
        ("return (down + along) % 2", "return ((down + along) % 2).float()"),
        {"checkerboard": 6},
        "integers: the board has dtype float32",
    ),
    "a chain of the right length that adds twice as much": (
        ("x = (x + 1).contiguous()", "x = (x + 2).contiguous()"),
        {"chain": 6},
        "values: chain(x, ",
    ),
    "a chain of one kernel": (
        ("(x + 1).contiguous()", "x + 1"),
        {"chain": 6},
        "kernels: chain(x, ",
    ),
    "keys in capitals": (
        ('found[f"kernels {name}"]', 'found[f"Kernels {name}"]'),
        {"compare": 4},
        "names: there is no 'kernels together' in the dict",
    ),
}


@pytest.mark.parametrize("name", HALVES)
def test_who_did_half_of_a_task_gets_its_points_and_reads_which_half_is_right(name):
    pair, points, said = HALVES[name]
    judged = WORKED.rows(WORKED.changed(pair))
    assert lost(judged) == points
    assert said in " ".join(row.found for row in judged)


# ---- what was not asked for ----------------------------------------------------------------------


def test_numpy_arrays_get_nothing_where_tensors_are_asked_for_and_are_named():
    text = WORKED.changed(
        ("    return {\n        \"zeros\"",
         "    return {k: v.numpy() for k, v in {\n        \"zeros\""),
        ("high=rows + 1),\n    }", "high=rows + 1),\n    }.items()}"),
        ("return (down + along) % 2", "return ((down + along) % 2).numpy()"),
    )  # fmt: skip
    judged = WORKED.rows(text)
    assert lost(judged) == {"factories": 10, "checkerboard": 10}
    found = " ".join(row.found for row in judged)
    assert "zeros: it is a NumPy array of shape" in found
    assert "but should be a Tensor" in found


def test_floats_get_nothing_where_integers_are_asked_for_and_are_named():
    text = WORKED.changed(
        ("return (down + along) % 2", "return ((down + along) % 2).float()"),
        ("return GlobalCounters.kernel_count", "return float(GlobalCounters.kernel_count)"),
        ("            found.append(number)", "            found.append(float(number))"),
    )
    judged = WORKED.rows(text)
    assert lost(judged) == {"checkerboard": 6, "kernel_count": 10, "find_op": 8}
    found = " ".join(row.found for row in judged)
    assert "the board has dtype float32, but should hold integers" in found
    assert "but should be an integer" in found


def test_one_wrong_entry_of_eight_costs_one_point_and_is_named():
    text = WORKED.changed(("Tensor.eye(rows)", "Tensor.ones(rows, rows)"))
    judged = WORKED.rows(text)
    assert lost(judged) == {"factories": 1}
    (found,) = [row.found for row in judged if row.found]
    head = "7 of 8 parts right: zeros; ones; full; arange; linspace; like; list"
    assert found.splitlines() == [head, "eye: it[0, 1] is 1, and should be 0"]


def test_constants_collected_from_reports_get_nothing():
    """A submission that answers each question with what a report said was right for the last
    file."""
    answers = {}
    for row, check in zip(WORKED.rows(WRONG_ANSWERS, "last"), WORKED.project.checks, strict=True):
        if not check.hidden:
            answers.setdefault(
                row.task, re.findall(r" is -?\d[^,]*, and should be (\d+)", row.found)
            )
    assert answers["kernel_count"], "the report on visible checks names the number"
    text = (
        f"KNOWN = {answers!r}\n"
        "def known(name):\n"
        "    KNOWN[name] = KNOWN[name][1:] + KNOWN[name][:1]\n"
        "    return int(KNOWN[name][-1])\n"
        "def kernel_count(build): return known('kernel_count')\n"
        "def before_and_after(build): return 1, 'REDUCE_AXIS', 0, 'BUFFER'\n"
        "def compare(start, steps): return {'kernels together': 1, 'kernels apart': 3,\n"
        "    'seconds together': 1.0, 'seconds apart': 2.0 * (len(steps) < 0) + 1.0,\n"
        "    'equal': True}\n"
        "def find_op(source, op): return [7]\n"
        "def report(rows): return ''\n"
        "def describe(x): return (2, 3), 'dtypes.float', 24\n"
    )
    for seed in ("a", "b", "c"):
        assert gained(WORKED.rows(text, seed)) == {}


WRONG_ANSWERS = """
def kernel_count(build): return 99
def before_and_after(build): return 99, "x", 99, "x"
def compare(start, steps):
    return {"kernels together": 99, "kernels apart": 99, "seconds together": 1.0,
            "seconds apart": 1.5, "equal": 99}
def find_op(source, op): return [99]
def report(rows): return "99"
def describe(x): return (99,), "99", 99
"""


def test_a_report_names_each_part_that_was_missed():
    text = WORKED.changed(('{"equal": difference <= 1e-5}', '{"equal": True}'))
    found = [row.found.splitlines() for row in WORKED.rows(text) if row.found]
    assert [lines[0] for lines in found] == ["3 of 4 parts right: kernels; seconds; names"] * 2
    assert all(lines[1].startswith("equal: 'equal' of ") for lines in found)


def test_the_checks_that_students_get_do_not_hold_an_answer():
    visible = WORKED.tasks.read_text().partition("### BEGIN HIDDEN")[0]
    assert "a * b + a - b" not in visible
