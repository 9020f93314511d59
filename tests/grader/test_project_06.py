"""Project 6: the worked solution gets 100 points, a mistake costs what it should, and nothing else.

The mistakes are those of somebody who is tired. Each is a replacement in the worked solution; a
whole set of them, in tasks of their own, is graded at once, in this process.
"""

import pytest

from classroom.mini import loader
from classroom.mini.stages import STAGES
from tests.grader.worked import Worked, gained, lost, printed

WORKED = Worked("06_custom_ops")

# what is replaced in the solution, by what, the points that it costs, and what the report says
MISTAKES = [
    {
        "gelu": (
            "(1 + (x / math.sqrt(2)).erf())",
            "(1 + (math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)).tanh())",
            8, "this is the approximation by tanh; it's up to 0.0005 off",
        ),
        "rms_norm": (
            "mean(axis=-1, keepdim=True)", "mean(axis=0, keepdim=True)",
            10, "takes the mean of each column, not of each row",
        ),
        "swiglu": (
            "return x * gate * gate.sigmoid()", "return x * gate.sigmoid()",
            6, "this is a GLU: it lacks a factor `gate`",
        ),
        "compare_gradients": (
            "wide, step = x.astype(np.float64), 1e-3", "wide, step = x.astype(np.float64), 0.5",
            8, "+ 1e-6).sqrt() * w, 'measured'[",
        ),
        "bill": (
            "if u.op in GroupOp.ALU and dtypes.is_float(u.dtype)]\n        found",
            "if u.op in GroupOp.ALU]\n        found",
            4, "['operations'] counts integers or bools as well",
        ),
        "gelu_steps": (
            "        lambda x, t: t + 1,\n        lambda x, t: t * x,\n",
            "        lambda x, t: (t + 1) * x,\n",
            4, "step 3 does 2 operations at once, and only erf may be more than one",
        ),
        "compare": (
            "        run()\n        GlobalCounters.reset()\n",
            "        GlobalCounters.reset()\n        run()\n",
            12, "'kernels' of 'together' is 2, and should be 1",
        ),
        "erf_op": (
            '"C": "erff({})"', '"C": "erfcf({})"',
            3, "compiled, erf(x) * 2 + 1 at 0 is 3, and should be 1",
        ),
        "faults": (
            "            grad = rng.normal(size=x.shape)\n",
            "            grad = np.ones(x.shape)\n",
            5, "whose 'gradient' is wrong got away with it: where did you look, and with which",
        ),
    },
    {
        "gelu": (
            "return x * 0.5 * (1 + (x / math.sqrt(2)).erf())",
            "return x * 0.5 * (1 + (x / 2).erf())",
            8, "values: gelu at -1.93065 is -0.16",
        ),
        "rms_norm": (
            "+ eps).sqrt() * weight", ").sqrt() * weight",
            10, "leaves out eps",
        ),
        "swiglu": (
            "return x * gate * gate.sigmoid()",
            "return x * gate * gate.exp() / (1 + gate.exp())",
            3, "swiglu with a gate at 100 is nan, and should be",
        ),
        "compare_gradients": (
            "/ (2 * step)\n    found", "/ step\n    found",
            8, "'measured'[0, 0] is ",
        ),
        "bill": (
            "mem_estimate,", "ops_estimate,",
            4, "[0]['bytes'] is ",
        ),
        "gelu_steps": (
            "lambda x, t: t * x,", "lambda x, t: t * t,",
            8, "what the last step returns at 0 is 0.5, and should be 0",
        ),
        "compare": (
            "        reduce(lambda t, step: step(x, t).realize(), steps, x)",
            "        reduce(lambda t, step: step(x, t), steps, x).realize()",
            12, "'kernels' of 'apart' is 1, and should be 4",
        ),
        "erf_op": (
            "(grad * (x * x * -1).exp()", "((x * x * -1).exp()",
            7, "its graph reads 1 of the 2 Tensors given",
        ),
        "faults": (
            '            if not np.array_equal(given[0], x):\n                found.add("input")\n',
            "",
            2, "whose 'input' is wrong got away with it: compare your arrays with copies",
        ),
    },
    {
        "gelu": (
            "return x * 0.5 * (1 + (x / math.sqrt(2)).erf())",
            "return Tensor((x * 0.5 * (1 + (x / math.sqrt(2)).erf())).numpy())",
            8, "reads 0 of the 1 Tensors given. Did you compute something already?",
        ),
        "rms_norm": (
            "return x / ((x * x)", "x = x - x.mean(axis=-1, keepdim=True)\n    return x / ((x * x)",
            10, "has the mean subtracted first: that's a LayerNorm",
        ),
        "swiglu": (
            "return x * gate * gate.sigmoid()", "return x * gate * x.sigmoid()",
            6, "it's the gate that goes through the sigmoid, not x",
        ),
        "compare_gradients": (
            '"measured": measured,', '"measured": found,',
            8, "'measured' is the other one: what gradient() says and what is measured differ here",
        ),
        "bill": (
            "u.op is Ops.REDUCE for u in nodes", "u.op is Ops.REDUCE_AXIS for u in nodes",
            4, "[0]['reduces'] is 0, and should be 1",
        ),
        "compare": (
            '"seconds": (perf_counter() - begin) / repeats', '"seconds": 0.25',
            4, "both ways took the same, to the last digit",
        ),
        "erf_op": (
            "(x * x * -1).exp() *", "(x * x * -1).exp2() *",
            7, "'gradient' at ",
        ),
        "faults": (
            "np.array([[0.0, 1.0, -2.0], [100.0, -3.0, -100.0]]), np.zeros((2, 2)),",
            "np.zeros((2, 2)),",
            12, "whose 'values' is wrong got away with it: where did you look?",
        ),
    },
    {
        "rms_norm": (
            "+ eps).sqrt() * weight", ").sqrt() * weight + 0 * eps",
            10, "leaves out eps",
        ),
        "compare_gradients": (
            "(total(wide + nudge) - total(wide - nudge))", "(total(x + step) - total(x - step))",
            8, "'measured'[0, 0] is ",
        ),
        "bill": (
            "u.op.name for u in floats", "u.op.name.lower() for u in floats",
            4, "'mul': ",
        ),
        "compare": (
            "        run()\n        counted",
            "        for _ in range(repeats):\n            run()\n        counted",
            12, "'kernels' of 'together' is 12: that's for all runs; count one",
        ),
        "erf_op": (
            '"C": "erff({})"', '"C": "erff(x)"',
            3, "'C' is 'erff(x)', with no {} for its source",
        ),
        "faults": (
            "rng.normal(size=(2, 4)) * 1e-4,", "",
            2, "_norm whose 'values' is wrong got away with it",
        ),
    },
]  # fmt: skip


@pytest.fixture(autouse=True)
def reference(tmp_path, monkeypatch):
    """mini's reference anew, since a submission writes into its tables."""
    monkeypatch.chdir(tmp_path)
    yield
    loader.install({stage.module: stage.reference for stage in STAGES})


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_each_mistake_costs_its_points_and_no_others(number):
    mistakes = MISTAKES[number]
    found = WORKED.rows(WORKED.changed(*(pair[:2] for pair in mistakes.values())))
    assert lost(found) == {task: points for task, (_, _, points, _) in mistakes.items()}
    for task, (_, _, _, told) in mistakes.items():
        assert told in " ".join(row.found for row in found if row.task == task), task
    assert all(row.hint for row in found if not row.passed)


def test_the_worked_solution_prints_a_report_and_leaves_nothing(tmp_path):
    said = printed(WORKED.text, tmp_path, WORKED.name)
    assert "open" not in said
    assert "o is gelu from -4 to 4" in said
    assert "together  1 kernel    8 MB" in said and "apart     5 kernels  44 MB" in said
    assert "in your C     [-0.9953 -0.8427  0.      0.8427  0.9953]" in said
    assert "your erf                       no complaint" in said
    assert "somebody careful               no complaint" in said
    assert "somebody thrifty               input" in said
    assert [path.name for path in tmp_path.iterdir()] == [f"{WORKED.name}.py"]


def test_a_machine_without_torch_gets_a_report_too(tmp_path):
    text = WORKED.changed(("        import torch\n", "        import torch_that_is_not_there\n"))
    said = printed(text, tmp_path, WORKED.name)
    assert said.count("PyTorch isn't installed here, so nothing is compared.") == 3


# ---- half of a task ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "task, code, points",
    [
        ("faults", "def faults(op, reference): return []", 0),
        ("faults", "def faults(op, reference): return ['values', 'gradient', 'input']", 0),
        (
            "faults",
            "whole = faults\n"
            "def faults(op, reference): return [w for w in whole(op, reference) if w == 'values']",
            9,
        ),
        ("gelu_steps", "def gelu_steps(): return [lambda x, t: gelu(x)]", 4),
        (
            "gelu_steps",
            "def gelu_steps():\n"
            "    return [lambda x, t: gelu(x), *[lambda x, t: t * 2, lambda x, t: t / 2] * 2]",
            4,
        ),
        (  # all of it when they run in a row, and one operation when one is asked by itself
            "gelu_steps",
            "def gelu_steps():\n"
            "    seen = []\n"
            "    def step(n, plain): return lambda x, t: (seen.append(n), plain(x, t) if\n"
            "        len(seen) > 4 else gelu(x) if n == 3 else t)[1]\n"
            "    return [step(n, lambda x, t: t * 2) for n in range(4)]",
            4,
        ),
        (
            "compare_gradients",
            "def compare_gradients(f, x):\n"
            "    t = Tensor(x).realize()\n"
            "    (found,) = f(t).sum().gradient(t)\n"
            "    return {'graph': found.numpy(), 'measured': found.numpy(), 'apart': 0.0}",
            4,
        ),
        (  # gradient() of what has no detach() any more, in place of a measurement
            "compare_gradients",
            "whole = compare_gradients\n"
            "def compare_gradients(f, x):\n"
            "    found, usual, t = whole(f, x), Tensor.detach, Tensor(x).realize()\n"
            "    Tensor.detach = lambda self: self\n"
            "    (measured,) = f(t).sum().gradient(t)\n"
            "    Tensor.detach = usual\n"
            "    return {**found, 'measured': measured}",
            4,
        ),
        (
            "erf_op",
            "whole = erf_op\ndef erf_op(): return {**whole(), 'gradient': lambda g, n, x: g}",
            9,
        ),
    ],
)
def test_half_of_a_task_gets_half(task, code, points):
    found = WORKED.rows(f"{WORKED.text}\n{code}", tasks={task})
    assert sum(row.points for row in found) == points, [row.found for row in found]


# ---- what was not asked for ----------------------------------------------------------------------


def test_constants_collected_from_reports_get_nothing():
    """A submission that gives back what was right for another file."""
    text = (
        "import numpy as np\n"
        "from tinyframe import Tensor\n"
        "def gelu(x): return x * 0.841345\n"
        "def rms_norm(x, weight, eps): return x * weight\n"
        "def swiglu(x, gate): return x * gate\n"
        "def compare_gradients(f, x):\n"
        "    return {'graph': np.ones(x.shape), 'measured': np.ones(x.shape), 'apart': 1.7}\n"
        "def bill(tensor): return [{'operations': {'MUL': 1}, 'reduces': 3, 'bytes': 804}]\n"
        "def gelu_steps(): return [lambda x, t: t / 2] * 5\n"
        "def compare(steps, x, repeats):\n"
        "    one = {'kernels': 7, 'bytes': 44_000_000, 'seconds': 0.1}\n"
        "    return {'together': one, 'apart': {**one, 'seconds': 0.2}}\n"
        "def erf_op():\n"
        "    return {'compute': np.tanh, 'C': 'tanhf({})',\n"
        "            'gradient': lambda grad, node, x: (grad * x,)}\n"
        "def faults(op, reference): return ['gradient', 'values']\n"
    )
    for seed in ("a", "b"):
        assert gained(WORKED.rows(text, seed)) == {}


def test_the_checks_that_students_get_do_not_hold_an_answer():
    visible = WORKED.tasks.read_text().partition("### BEGIN HIDDEN")[0]
    assert "erff(" not in visible and "1e-4" in visible
