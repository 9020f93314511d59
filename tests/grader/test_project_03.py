"""Project 3: the worked solution gets 100 points, a mistake costs what it should, and nothing else.

The mistakes are those of somebody who is tired, or in a hurry. Each is a replacement in the worked
solution, with the points that it costs and what the report says about it.
"""

import re
import runpy

import numpy as np
import pytest

from classroom.grader.tasks import Ask
from tests.grader.here import Here
from tests.grader.worked import Worked, gained, lost, printed
from tinyframe import Tensor

WORKED = Worked("03_autograd")

SLOPE = '    if name == "square":\n        return 2 * x\n'
GRADIENT = (
    "    f = {'square': lambda t: t * t, 'product': lambda t: t * w, 'sigmoid': Tensor.sigmoid}\n"
    "    return f[name](x).sum().gradient(x)[0]\n"
)
STEP = "    for batch in batches:\n        (loss(w, batch) * (batch.shape[0] / rows)).backward()\n"
FORWARDS = "    speeds = {}\n    for u in f(x)"
TRAIN = "        (slope,) = loss(w).gradient(w)\n        w = w - rate * slope\n"
ADAM = "            loss = adam.step((apart * apart).mean()).numpy()\n"

PAINTED = "            break\n    return layers\n"
AGAIN = PAINTED + (
    "given = paint\ndef paint(places, picture, most):\n    layers = given(places, picture, most)\n"
)

# task, what is wrong, what is replaced by what, the points that it costs, what the report says
MISTAKES = [
    ("slope", "written by gradient()", [(SLOPE, GRADIENT + SLOPE)], 8, "Did gradient() write it?"),
    ("slope", "a sign in sigmoid", [("s * (1 - s)", "s * (s - 1)")], 4, "slope('sigmoid', x, w)"),
    (
        "old_names",
        "the old name",
        [('"Exp": "EXP2"', '"Exp": "EXP"')],
        1,
        "there is no EXP in the graph",
    ),
    (
        "old_names",
        "the op beside it",
        [('"Log": "LOG2"', '"Log": "MUL"')],
        1,
        "the graph of x * 2.0 has MUL as well",
    ),
    (
        "huber",
        "the wrong line",
        [("above * (error - above / 2), error", "above * (error - above), error")],
        6,
        "the loss at an error of",
    ),
    (
        "huber",
        "nothing to the left",
        [("(error < -below)", "(error < -1e9)")],
        10,
        "the loss at an error",
    ),
    (
        "huber",
        "a root whose slope at 0 is infinite",
        [("error * error / 2)", "(error * error).sqrt() ** 2 / 2)")],
        3,
        "the gradient at an error of 0 is nan, and should be 0",
    ),
    (
        "straight_row",
        "only on one side",
        [("(x < -limit) | (x > limit)", "(x > limit) | (x > limit)")],
        10,
        "the gradient of t.trunc() * a with respect to t: at -",
    ),
    (
        "straight_row",
        "the limits are outside",
        [("(x < -limit) | (x > limit)", "(x <= -limit) | (x >= limit)")],
        5,
        "it is 0, and should be",
    ),
    (
        "straight_row",
        "the gradient of one, in place of what has arrived",
        [("is_inside.where(grad, grad.const_like(0))", "is_inside.where(x.const_like(1), x * 0)")],
        10,
        "it is 1, and should be",
    ),
    (
        "straight_row",
        "the row that is there",
        [("is_inside.where(grad, grad.const_like(0))", "is_inside.where(grad * 0, grad * 0)")],
        10,
        "it is 0, and should be",
    ),
    (
        "forwards",
        "no direction",
        [("speeds[u] = direction.uop", "speeds[u] = direction.uop.const_like(1)")],
        14,
        "",
    ),
    (
        "forwards",
        "not walked",
        [(FORWARDS, "    return f(x).sum().gradient(x)[0] * direction\n" + FORWARDS)],
        14,
        "the result is still the usual one. Take each rule",
    ),
    (
        "forwards",
        "no zeros",
        [("source.const_like(0) if s is None", "source.const_like(1) if s is None")],
        14,
        "forwards(lambda t:",
    ),
    (
        "forwards",
        "backwards",
        [("f(x).uop.toposort():", "reversed(list(f(x).uop.toposort())):")],
        14,
        "",
    ),
    (
        "hessian",
        "the diagonal alone",
        [("return Tensor.stack(*rows)", "return Tensor.stack(*rows) * Tensor.eye(x.shape[0])")],
        8,
        "hessian(f, x)[0, 1] is 0",
    ),
    (
        "gradient_of_all",
        "every batch counts the same",
        [("(batch.shape[0] / rows)", "(1 / len(batches))")],
        8,
        "counts as much in it as one of",
    ),
    (
        "gradient_of_all",
        "the sum",
        [("(batch.shape[0] / rows)", "1")],
        8,
        "the sum of the batches'",
    ),
    (
        "gradient_of_all",
        "what was there stays",
        [("    w.grad = None\n", "")],
        4,
        "what somebody had left in w.grad is still in it",
    ),
    (
        "gradient_of_all",
        "all at once",
        [(STEP, "    loss(w, batches[0].cat(*batches[1:])).backward()\n")],
        8,
        "there is no room for a batch of",
    ),
    (
        "suspects",
        "no ties",
        [
            (
                "two = np.array([[0.5, 1.0, 3.0]]), np.array([[2.0, 1.0, -1.0]])",
                "two = np.array([[0.5, 1.5, 3.0]]), np.array([[2.0, 1.0, -1.0]])",
            )
        ],
        4,
        "the row of MAX is wrong, and nobody noticed",
    ),
    (
        "suspects",
        "two axes",
        [("lambda x: x.permute(2, 0, 1), block", "lambda x: x.permute(1, 0), block[0]")],
        4,
        "the row of PERMUTE is wrong, and nobody noticed",
    ),
    (
        "suspects",
        "edges that are alike",
        [("x.pad((0, 2), (1, 0))", "x.pad((1, 1), (2, 2))")],
        4,
        "the row of PAD is wrong, and nobody noticed",
    ),
    (
        "suspects",
        "who does not come back with an error is right",
        [
            (
                "    except Exception:\n        return False\n",
                "    except Exception:\n        return True\n",
            ),
            (
                "        if found[n].shape != right.shape or not np.allclose("
                "found[n], right, rtol=0.01, atol=0.01):\n            return False\n",
                "",
            ),
        ],
        14,
        "is wrong, and nobody noticed",
    ),
    (
        "suspects",
        "measured far too exactly",
        [("rtol=0.01, atol=0.01", "rtol=1e-9, atol=1e-12")],
        14,
        "nothing is wrong with that row",
    ),
    (
        "slope_of_rate",
        "the rate as a number",
        [(TRAIN, TRAIN.replace("rate *", "float(rate.numpy()) *"))],
        10,
        "of the 2 Tensors given",
    ),
    (
        "slope_of_rate",
        "computed on the way",
        [(TRAIN, TRAIN.replace("w - rate * slope", "(w - rate * slope).realize()"))],
        10,
        "of the 2 Tensors given",
    ),
    (
        "slope_of_rate",
        "uphill",
        [(TRAIN, TRAIN.replace("w - rate", "w + rate"))],
        10,
        "slope_of_rate() after",
    ),
    (
        "slope_of_rate",
        "one step too few",
        [
            (
                "    for _step in range(steps):\n        (slope,)",
                "    for _step in range(steps - 1):\n        (slope,)",
            )
        ],
        10,
        "of the 2 Tensors given",
    ),
    (
        "paint",
        "too many numbers",
        [("(most - 1) // 4", "most // 2")],
        12,
        "the layers have 161 numbers; at most 80",
    ),
    (
        "paint",
        "not trained",
        [(ADAM, "            loss = 0.0\n")],
        12,
        "it should be below 0.06",
    ),
    (
        "paint",
        "weights lying down",
        [
            (
                PAINTED,
                AGAIN + "    return [(w.permute(1, 0), b) for w, b in layers]\n",
            )
        ],
        12,
        "2 numbers come in; its weight is (19, 2)",
    ),
]


@pytest.mark.parametrize("task, what, pairs, points, said", MISTAKES,
                         ids=[f"{task}: {what}" for task, what, *_ in MISTAKES])  # fmt: skip
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_mistake_costs_the_points_of_its_task_and_is_named(task, what, pairs, points, said):
    judged = WORKED.rows(WORKED.changed(*pairs), tasks={task})
    assert lost(judged) == {task: points}, [row.found for row in judged]
    assert said in " ".join(row.found for row in judged)
    assert all(row.hint for row in judged)


def test_every_task_has_a_planted_mistake():
    assert {task for task, *_ in MISTAKES} == WORKED.points.keys()


@pytest.mark.filterwarnings("ignore:invalid value")
def test_mistakes_cost_nothing_but_the_points_of_their_tasks():
    """One in each task, all of them at once."""
    chosen = {task: (pairs, points) for task, _, pairs, points, _ in MISTAKES}
    text = WORKED.changed(*(pair for pairs, _ in chosen.values() for pair in pairs))
    assert lost(WORKED.rows(text)) == {task: points for task, (_, points) in chosen.items()}


def test_the_worked_solution_prints_what_it_finds(tmp_path):
    output = printed(WORKED.text, tmp_path, WORKED.name)
    assert "open" not in output
    assert "   of the table that you know        []\n" in output
    assert "   with MUL and PERMUTE changed      ['MUL', 'PERMUTE']\n" in output
    losses = [float(loss) for loss in re.findall(r"loss (\d\S+)", output)]
    assert len(losses) == 10 and losses == sorted(losses, reverse=True)
    assert output.count("@") > 400


# ---- what is as good as the worked solution ------------------------------------------------------

AS_GOOD = {
    "a sum, and a sigmoid from an exponential": [
        ("return 2 * x", "return x + x"),
        ("return s * (1 - s)", "return s - s * s"),
    ],
    "the error kept within the borders": [
        (
            "    loss = (error > above)",
            "    c = error.maximum(-below).minimum(above)\n"
            "    return c * (error - c / 2)\n    loss = (error > above)",
        ),
    ],
    "a row that looks at the node": [
        (
            'return UPat(Ops.TRUNC, src=(UPat.var("x"),)), pass_on',
            'return UPat(Ops.TRUNC, name="z"), lambda grad, z: pass_on(grad, *z.src)',
        ),
    ],
    "a tuple of names, in another order": [
        (
            "    return [name for name, row in table.items() if not all(",
            "    return tuple(name for name, row in sorted(table.items()) if not all(",
        ),
        ("for p in probes[name])]", "for p in probes[name]))"),
    ],
    "a gradient that is asked for later": [
        (
            "    return loss(w).gradient(rate)[0]\n",
            "    return (loss(w) * 1.0).gradient(w, rate)[1]\n",
        ),
    ],
    "SGD's rate is a Tensor of its own shape": [
        (TRAIN, TRAIN.replace("w - rate * slope", "w + -1 * (slope * rate.reshape(1))")),
    ],
    "layers as lists, and of NumPy arrays": [
        (
            PAINTED,
            AGAIN + "    return tuple([w.numpy(), b.numpy()] for w, b in layers)\n",
        ),
    ],
    "gradient() for each batch": [
        (
            STEP,
            "    return sum(loss(w, b).gradient(w)[0] * (b.shape[0] / rows) for b in batches)\n",
        ),
    ],
}


@pytest.mark.parametrize("name", AS_GOOD)
def test_what_the_words_allow_gets_all_points(name):
    pairs = AS_GOOD[name]
    judged = WORKED.rows(WORKED.changed(*pairs), tasks=WORKED.touched(*pairs))
    assert lost(judged) == {}, [row.found for row in judged if row.found]


# ---- what was not asked for ----------------------------------------------------------------------

CONSTANTS = """
import numpy as np
from tinyframe import Tensor
from mini.part6 import Tensor as Mini
def slope(name, x, w): return x * 0.25
def huber(error, below, above): return error * 0 + 0.5
def forwards(f, x, direction, rules): return x * direction
def hessian(f, x): return Tensor.ones(x.shape[0], x.shape[0]) * 1
def gradient_of_all(loss, start, batches): return Tensor.ones(2, 1) * 1
def suspects(table): return ["MUL", "MAX"]
def slope_of_rate(loss, w, rate, steps): return w.sum() * rate * -28.8
def paint(places, picture, most): return [(Mini(np.ones((2, 1))), Mini([0.25]))]
"""


@pytest.mark.parametrize("seed", "abc")
def test_constants_get_nothing(seed):
    assert gained(WORKED.rows(CONSTANTS, seed)) == {}


def test_a_tensor_of_the_other_framework_gets_nothing_and_is_named():
    text = WORKED.changed(
        ("    return loss(w).gradient(rate)[0]\n",
         "    return Tensor(loss(w).gradient(rate)[0].numpy())\n")
    )  # fmt: skip
    judged = WORKED.rows(text, tasks={"slope_of_rate"})
    assert lost(judged) == {"slope_of_rate": 10}
    assert "but should be a Tensor of mini" in " ".join(row.found for row in judged)


def test_the_checks_that_students_get_do_not_hold_an_answer():
    visible = WORKED.tasks.read_text().partition("### BEGIN HIDDEN")[0]
    solved = WORKED.text.split("### BEGIN SOLUTION\n")[1:]
    lines = [line.strip() for text in solved for line in text.split("### END")[0].splitlines()]
    assert [line for line in lines if len(line) > 20 and line in visible] == []


def test_what_checks_hold_an_answer_against_is_what_the_framework_finds():
    """The reference differentiates forwards, in NumPy; here it is held against the table."""
    tasks = runpy.run_path(str(WORKED.tasks))
    for seed, text in enumerate(["(t * t * a).sin() * b", "t.sin() * t * a + b", "t * t * t * a"]):
        ask = Ask(None, seed)
        arrays = {name: tasks["signed"](ask, 2, 3) for name in "ab"}
        x = Tensor(tasks["signed"](ask, 2, 3).astype(np.float64))
        names = {name: Tensor(array) for name, array in arrays.items()}
        text = f"({text}).sum()"
        (slopes,) = eval(text, {"t": x, **names}).gradient(x)
        wanted = tasks["slopes_of"](text, arrays, x.numpy())
        np.testing.assert_allclose(slopes.numpy(), wanted, rtol=1e-9)


def test_honest_rows_agree_with_each_other_and_with_those_of_mini_and_lies_do_not():
    from mini.part4 import Ops
    from mini.part6 import GRADIENT

    tasks = runpy.run_path(str(WORKED.tasks))
    suspects = Here(WORKED.text).module.suspects
    assert suspects({name: GRADIENT[Ops[name]] for name in tasks["ROWS"]}) == []
    for seed in range(4):
        for lies in (tasks["PLAIN_LIES"], tasks["FINE_LIES"]):
            told = {name: numbers[seed % len(numbers)] for name, numbers in lies.items()}
            for chosen in ({}, told):
                rows = tasks["rows_of"](Ask(None, seed), chosen)
                found = suspects({name: row.function() for name, row in rows.items()})
                assert set(found) == set(chosen)


def test_a_row_that_lies_is_written_as_one_that_does_not():
    """Only its numbers, added up, are others; and hardly any row is written twice."""
    tasks = runpy.run_path(str(WORKED.tasks))
    spelled = {
        factor: [tasks["spelled"](Ask(None, seed), "x", factor) for seed in range(3000)]
        for factor in (1.0, 0.0, 0.5, -1.0)
    }
    forms = [{re.sub(r"-?[0-9.]+", "#", text) for text in texts} for texts in spelled.values()]
    assert all(each == forms[0] for each in forms)
    for factor, texts in spelled.items():
        assert all(eval(text, {"x": 3.0}) == 3.0 * factor for text in texts)
    tables = [tasks["rows_of"](Ask(None, seed), {}) for seed in range(40)]
    for name in tasks["ROWS"]:
        assert len({table[name].text for table in tables}) > 35
