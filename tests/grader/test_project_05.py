"""Project 5: the worked solution gets 100 points, a mistake costs what it should, and nothing else.

The mistakes are those of somebody who is tired. Each is a replacement in the worked solution; a
whole set of them, in tasks of their own, is graded at once, in this process.
"""

import pytest

from tests.grader.worked import Worked, gained, lost, printed

WORKED = Worked("05_compiler_pipeline")

# what is replaced in the solution, by what, the points that it costs, and what the report says
MISTAKES = [
    {
        "schedule_of": (
            '"memory": len(read - writer.keys())', '"memory": len(read)',
            4, "[1]['memory'] is 2, and should be 1",
        ),
        "boundaries": (
            "for row in reversed(why(tensor))", "for row in why(tensor)",
            10, "value 0 has 'narrow', but it's stored because ",
        ),
        "price": (
            "times *= u.src[0].arg", "times += u.src[0].arg",
            10, ")['scheduled'], of ",
        ),
        "difference": (
            "len(set(old) & set(new))", "sum((here & there).values())",
            4, "'kept' is ",
        ),
        "life_of": (
            "return [names[0], names[-1]] if names", "return [names[0], names[1]] if names",
            10, "is not the last stage with one",
        ),
        "looks": (
            'len(stages["lower to ranges"])', 'len(stages["prepare"])',
            2, "; that's how many there are after 'tensor graph', and should be ",
        ),
        "from_trace": (
            '"fired": len(found.steps)', '"fired": len(found.rewrites)',
            2, "the number for 'fired' is ",
        ),
        "lie": (
            "[0, 1, 2, 3, largest, largest / 3, smallest, 3 * smallest, 1e-30, 1e20, np.inf]",
            "[0, 1, 2, 3, np.inf]",
            2, " does lie somewhere, and nobody noticed",
        ),
        "safe_rules": (
            "return 1 <= number < 2**64 and math.frexp(number)[0] == 0.5",
            "return math.frexp(number)[0] == 0.5",
            9, "x * 0.5 * 2.0: for x = 1.40129846e-45 and y = 0, it was 0, and after your rules it "
            "is 1.40129846e-45",
        ),
        "tile_of": (
            "sizes(index.src[3], AxisType.UPCAST, AxisType.VECTOR)",
            "sizes(index.src[3], AxisType.VECTOR)",
            4, "tile_of()['columns'] is ",
        ),
        "searched": (
            '"tried": result.tried', '"tried": float(result.tried)',
            2, "'tried' is ",
        ),
    },
    {
        "schedule_of": (
            "        writer[first] = number\n", "        writer.setdefault(first, number)\n",
            2, "['kernels'] is [0, 1], and should be [1, 2]",
        ),
        "boundaries": (
            'if row.reason != "output"', "if row.op is not None",
            10, "raised StopIteration",
        ),
        "price": (
            "elif u.op in GroupOp.ALU and dtypes.is_float(u.dtype):", "elif u.op in GroupOp.ALU:",
            10, "that has the integers in it that compute places",
        ),
        "difference": (
            '"vanished": dict(there - here)', '"vanished": dict(here - there)',
            4, "'vanished' is {",
        ),
        "life_of": (
            "if any(u.op.name == op for u in nodes)", "if any(op in u.op.name for u in nodes)",
            4, "'SIN') is ['tensor graph', 'block long sums'], but no stage has one",
        ),
        "looks": (
            "    with Context(NOOPT=noopt):\n        stages",
            "    with Context(NOOPT=0):\n        stages",
            5, ", 1)['loops'] is ",
        ),
        "from_trace": (
            "u.op in GroupOp.Elementwise for u in nodes", "u.op in GroupOp.Binary for u in nodes",
            2, "the number for 'elementwise' is ",
        ),
        "lie": (
            "np.nan, *usual]", "*usual]",
            4, " does lie somewhere, and nobody noticed",
        ),
        "safe_rules": (
            "(c.where(x, x), lambda x: x),",
            "(c.where(x, x), lambda x: x), (x * 0.0, lambda x: x.const_like(0)),",
            6, "for x = inf and y = 0, it was nan, and after your rules it is 0",
        ),
        "tile_of": (
            "sizes(graph, AxisType.UNROLL)", "sizes(graph, AxisType.UNROLL, AxisType.REDUCE)",
            4, "tile_of()['steps'] is ",
        ),
        "searched": (
            '"plan": rows(plan)', '"plan": rows(plan)[1:]',
            4, "of (4, 5) and (5, 8), 'plan' is [",
        ),
    },
    {
        "schedule_of": (
            "u.op is Ops.REDUCE for u in item.ast", "u.op is Ops.REDUCE_AXIS for u in item.ast",
            4, "[0]['reduces'] is 0, and should be 1",
        ),
        "boundaries": (
            '"several kernels": "shared"', '"several kernels": "repeated"',
            4, "has 'repeated', but it's stored because several kernels read it",
        ),
        "price": (
            '"fused": operations(build().fuse())', '"fused": operations(build())',
            6, ")['fused'], of ",
        ),
        "difference": (
            '"appeared": dict(here - there)', '"appeared": dict(here)',
            4, "'appeared' is {'DEFINE_GLOBAL': ",
        ),
        "life_of": (
            "if names else []", "if names else None",
            4, "what never comes: not written yet",
        ),
        "from_trace": (
            'f"kernel/{number}"', '"kernel/0"',
            6, "where kernel 1 is ",
        ),
        "lie": (
            "& ~(np.isnan(one) & np.isnan(other))", "",
            7, ", both are nan",
        ),
        "safe_rules": (
            "return x * (a.arg * b.arg)", "return (x * b.arg) * a.arg",
            8, "raised RewriteLoopError: endless rewriting in graph_rewrite",
        ),
        "tile_of": (
            "sizes(index.src[2], AxisType.UPCAST, AxisType.VECTOR)",
            "sizes(graph, AxisType.UPCAST)",
            4, "tile_of()['rows'] is ",
        ),
    },
]  # fmt: skip


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """A trace is written where the submission runs, which is here."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_each_mistake_costs_its_points_and_no_others(number):
    mistakes = MISTAKES[number]
    found = WORKED.rows(WORKED.changed(*(pair[:2] for pair in mistakes.values())))
    assert lost(found) == {task: points for task, (_, _, points, _) in mistakes.items()}
    for task, (_, _, _, told) in mistakes.items():
        assert told in " ".join(row.found for row in found if row.task == task), task
    assert all(row.hint for row in found if not row.passed)


# A product of 16 x 16 is searched in a second.
QUICK = (("def report_on_search(n=1024, width=4):", "def report_on_search(n=16, width=1):"),)


def test_the_worked_solution_prints_a_report_and_leaves_nothing(tmp_path):
    said = printed(WORKED.changed(*QUICK), tmp_path, WORKED.name)
    assert "open" not in said
    assert "REDUCE_AXIS   █ █ ·" in said
    assert "-(-(x * 1))                                6 nodes -> 1" in said
    assert [path.name for path in tmp_path.iterdir()] == [f"{WORKED.name}.py"]


# ---- rules ---------------------------------------------------------------------------------------

NO_RULES = "    return [\n        (x * 1.0, lambda x: x),"


@pytest.mark.parametrize(
    "rows, told",
    [
        ("[]", "has 4 nodes after your rules; x has 1"),
        ("[(x * 1.0, lambda x: x * 1.0 * 1.0)]", "raised RewriteLoopError: endless rewriting"),
        (
            "[(x * 1.0, lambda x: UOp(Ops.NOOP, dtypes.float, (x,)))]",
            "your rules put 'NOOP' there, which isn't arithmetic on floats",
        ),
        ("[(x * 1.0, x)]", "raised "),
        ("[(UPat(name='u'), lambda u: u.const_like(0.0))]", "and after your rules it is 0"),
    ],
)
def test_rules_that_are_lazy_or_never_end_get_nothing(rows, told):
    text = WORKED.changed((NO_RULES, f"    return {rows}\n    return [\n        (x * 1.0, None),"))
    found = WORKED.rows(text, tasks={"safe_rules"})
    assert lost(found) == {"safe_rules": 16}
    assert told in " ".join(row.found for row in found)


LIES = [
    "(x - x, lambda x: x.const_like(0.0))",
    "(UPat(Ops.FDIV, src=(x, x)), lambda x: x.const_like(1.0))",
    "(x.sqrt() * x.sqrt(), lambda x: x)",
    "((x < c).where(c, x), lambda x, c: x.maximum(c))",
    "(x + a + b, lambda x, a, b: x + (a.arg + b.arg))",
    "(x * 0.0, lambda x: x.const_like(0.0))",
    "(x * a * b, lambda x, a, b: x * (a.arg * b.arg))",
    "(UPat(Ops.FDIV, src=(x, a)), lambda x, a: x * (1 / a.arg))",
]


@pytest.mark.parametrize("lie", LIES)
def test_one_rule_that_lies_costs_points_although_six_are_right(lie):
    rows = f"    return [\n        {lie},\n        (x * 1.0, lambda x: x),"
    found = WORKED.rows(WORKED.changed((NO_RULES, rows)), tasks={"safe_rules"})
    assert 4 <= lost(found)["safe_rules"] <= 8
    assert "and after your rules it is " in " ".join(row.found for row in found)


# ---- what was not asked for ----------------------------------------------------------------------


def test_constants_collected_from_reports_get_nothing():
    """A submission that gives back what was right for another file."""
    text = (
        "def schedule_of(tensor): return [{'reduces': 1, 'memory': 2, 'kernels': []}] * 2\n"
        "def boundaries(tensor): return ['repeated', 'asked']\n"
        "def price(build): return {'scheduled': 1458, 'fused': 1458}\n"
        "def difference(before, after): return {'appeared': {}, 'vanished': {}, 'kept': 12}\n"
        "def life_of(build, op): return ['lower to ranges', 'linearize']\n"
        "def looks(build, noopt):\n"
        "    return {'initial': 13, 'folded': 22, 'loops': 29, 'linear': 64, 'arithmetic': 7}\n"
        "def from_trace(path, number, stage):\n"
        "    return {'elementwise': 9, 'reduce': 3, 'loop': 5, 'fired': 7}\n"
        "def lie(before, after): return [float('inf'), 1.0]\n"
        "def safe_rules(): return []\n"
        "def tile_of(kernel, rows): return {'rows': 6, 'columns': 16, 'steps': 3}\n"
        "def searched(kernel, width):\n"
        "    return {'plan': [['UPCAST', 0, 4]], 'found': [], 'seconds': [0.2, 0.1], 'tried': 9}\n"
    )
    for seed in ("a", "b"):
        assert gained(WORKED.rows(text, seed)) == {}


def test_the_checks_that_students_get_do_not_hold_an_answer():
    visible = WORKED.tasks.read_text().partition("### BEGIN HIDDEN")[0]
    assert "frexp(number)" not in visible and "smallest, 3 * smallest" not in visible
