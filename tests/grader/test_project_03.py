"""Project 3: the worked solution gets 100 points, a mistake costs what it should, and nothing else.

The mistakes are those of somebody who is tired, or in a hurry. Each is a replacement in the worked
solution, with the points that it costs and what the report says about it.
"""

import re
import runpy

import numpy as np
import pytest

from classroom.grader.tasks import Ask
from tests.grader.worked import Worked, gained, lost, printed
from tinyframe import Tensor

WORKED = Worked("03_autograd")

SLOPE = '    if name == "square":\n        return 2 * x\n'
GRADIENT = (
    "    f = {'square': lambda t: t * t, 'product': lambda t: t * w, 'sigmoid': Tensor.sigmoid}\n"
    "    return f[name](x).sum().gradient(x)[0]\n"
)
RISE = "f(Tensor(values + nudge)) - f(Tensor(values - nudge))\n"
NUMBERS = "    values, slopes = x.numpy()"
ROOT_OF_WALK = "    root = f(x).uop\n"
STEP = "    for batch in batches:\n        (loss(w, batch) * (batch.shape[0] / rows)).backward()\n"

# task, what is wrong, what is replaced by what, the points that it costs, what the report says
MISTAKES = [
    (
        "finite_difference",
        "only upwards",
        [
            (RISE, "f(Tensor(values + nudge)) - f(x)\n"),
            ("rise.item() / (2 * eps)", "rise.item() / eps"),
        ],
        8,
        "Do you nudge both up and down?",
    ),
    (
        "finite_difference",
        "divided by eps, where both ways make 2 eps",
        [("rise.item() / (2 * eps)", "rise.item() / eps")],
        16,
        "every element is 2 times what it should be",
    ),  # the examiner of task 3 measures with it
    (
        "finite_difference",
        "not measured",
        [(NUMBERS, "    return f(x).gradient(x)[0]\n" + NUMBERS)],
        16,
        "you return what gradient() gives",
    ),
    ("slope", "written by gradient()", [(SLOPE, GRADIENT + SLOPE)], 8, "Did gradient() write it?"),
    ("slope", "a sign in sigmoid", [("s * (1 - s)", "s * (s - 1)")], 4, "slope('sigmoid', x, w)"),
    (
        "is_gradient",
        "the mean of all elements",
        [("np.abs(measured - said).max()", "np.abs(measured - said).mean()")],
        4,
        "one element is too",
    ),
    (
        "is_gradient",
        "no absolute value",
        [("np.abs(measured - said).max()", "(measured - said).max()")],
        4,
        "and a claim where one element is too large",
    ),
    (
        "mul_row",
        "not swapped",
        [("return grad * y, grad * x", "return grad * x, grad * y")],
        4,
        "it is grad * x, but if x grows, x * y grows by the other",
    ),
    (
        "expand_row",
        "the axis is gone",
        [("grad.sum(axis=axes, keepdims=True)", "grad.sum(axis=axes)")],
        6,
        "has shape",
    ),
    (
        "expand_row",
        "passed on",
        [("return grad.sum(axis=axes, keepdims=True)", "return grad")],
        6,
        "from all copies of an element is added up",
    ),
    (
        "expand_row",
        "the mean",
        [("return grad.sum(", "return grad.mean(")],
        6,
        "expand_row(grad of",
    ),
    (
        "max_row",
        "all of it to each",
        [(" / largest.sum(axis=axes, keepdims=True)", "")],
        4,
        "They share it",
    ),
    (
        "max_row",
        "the maximum of all",
        [("x.max(axis=axes, keepdims=True)", "x.max()")],
        8,
        "max_row(grad of shape",
    ),
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
        "minimum_row",
        "both get all of a tie",
        [(".where(grad * 0.5, grad)", ".where(grad, grad)")],
        5,
        "where the other is -1.5, it is 0.59375, and should be 0.296875",
    ),
    (
        "minimum_row",
        "the row of MAX",
        [
            ("return (y < x).where", "return (x < y).where"),
            (", (x < y).where(zero, tie)\n", ", (y < x).where(zero, tie)\n"),
        ],
        10,
        "the gradient of lesser(t, b) * a",
    ),
    (
        "walk",
        "the last one to arrive wins",
        [("arrived[source] + grad if source in arrived else grad", "grad")],
        9,
        "walk(lambda t:",
    ),
    (
        "walk",
        "not walked",
        [(ROOT_OF_WALK, "    return f(x).gradient(x)[0]\n" + ROOT_OF_WALK)],
        12,
        "instead of asking gradient()",
    ),
    (
        "walk",
        "forwards",
        [("in reversed(list(root.toposort()))", "in root.toposort()")],
        12,
        "raised KeyError",
    ),
    (
        "hessian",
        "the diagonal alone",
        [("return Tensor.stack(*rows)", "return Tensor.stack(*rows) * Tensor.eye(x.shape[0])")],
        6,
        "hessian(f, x)[0, 1] is 0",
    ),
    (
        "gradient_of_all",
        "every batch counts the same",
        [("(batch.shape[0] / rows)", "(1 / len(batches))")],
        6,
        "counts as much in it as one of",
    ),
    (
        "gradient_of_all",
        "the sum",
        [("(batch.shape[0] / rows)", "1")],
        6,
        "the sum of the batches'",
    ),
    (
        "gradient_of_all",
        "what was there stays",
        [("    w.grad = None\n", "")],
        3,
        "what somebody had left in w.grad is still in it",
    ),
    (
        "gradient_of_all",
        "all at once",
        [(STEP, "    loss(w, batches[0].cat(*batches[1:])).backward()\n")],
        6,
        "there is no room for a batch of",
    ),
    ("train", "too few steps", [("range(500)", "range(3)")], 8, "should be below 0.005"),
    (
        "train",
        "weights of its own",
        [
            (
                "list(weights.values()), []\n",
                # of some weights it does not get below the limit, and that costs more
                "Tensor.manual_seed(0) or [Tensor.randn(*w.shape) for w in weights.values()], []\n",
            )
        ],
        4,
        "the weights you were given have",
    ),
    ("train", "upwards", [("value - 2 * slope", "value + 2 * slope")], 8, "should be below 0.005"),
]


def touched(*pairs):
    """The tasks that a change can matter to: where it is, and what measures with that."""
    tasks = WORKED.touched(*pairs)
    return tasks | ({"is_gradient"} if "finite_difference" in tasks else set())


@pytest.mark.parametrize("task, what, pairs, points, said", MISTAKES,
                         ids=[f"{task}: {what}" for task, what, *_ in MISTAKES])  # fmt: skip
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_mistake_costs_the_points_of_its_task_and_is_named(task, what, pairs, points, said):
    assert task in touched(*pairs)
    judged = WORKED.rows(WORKED.changed(*pairs), tasks=touched(*pairs))
    found = lost(judged)
    assert sum(found.values()) == points, found
    assert said in " ".join(row.found for row in judged)
    assert all(row.hint for row in judged)


def test_every_task_has_a_planted_mistake():
    assert {task for task, *_ in MISTAKES} == WORKED.points.keys()


@pytest.mark.filterwarnings("ignore:invalid value")
def test_mistakes_cost_nothing_but_the_points_of_their_tasks():
    """One in each task, all of them at once."""
    chosen = {
        task: (pairs, points)
        for task, _, pairs, points, _ in MISTAKES
        if points <= WORKED.points[task]
    }
    del chosen["finite_difference"]  # task 3 measures with it
    text = WORKED.changed(*(pair for pairs, _ in chosen.values() for pair in pairs))
    assert lost(WORKED.rows(text)) == {task: points for task, (_, points) in chosen.items()}


def test_the_worked_solution_prints_what_it_finds(tmp_path):
    output = printed(WORKED.text, tmp_path, WORKED.name)
    assert "open" not in output
    measured, table = (
        re.search(rf"^   {name} +(.*)$", output, re.MULTILINE)[1]
        for name in (r"t.sin\(\) \* t \* w, measured", r"t.sin\(\) \* t \* w, yours")
    )
    assert measured == table == "[2.755 1.382 0.019]"
    assert float(re.search(r"^   loss .* (\S+)$", output, re.MULTILINE)[1]) < 0.005


# ---- what is as good as the worked solution ------------------------------------------------------

AS_GOOD = {
    "a smaller nudge": [("eps=0.01", "eps=0.003")],
    "Python's own numbers": [
        (
            "    values, slopes = x.numpy(), np.zeros(x.shape, np.float32)",
            "    values, slopes = x.numpy().astype(np.float64), np.zeros(x.shape)",
        ),
        (
            "f(Tensor(values + nudge)) - f(Tensor(values - nudge))",
            "(f(Tensor((values + nudge).astype(np.float32)))"
            " - f(Tensor((values - nudge).astype(np.float32))))",
        ),
        ("return Tensor(slopes)", "return Tensor(slopes.tolist())"),
    ],
    "a sum, and a sigmoid from an exponential": [
        ("return 2 * x", "return x + x"),
        ("return s * (1 - s)", "return s - s * s"),
    ],
    "lists for tuples": [
        ("return grad * y, grad * x", "return [grad * y, grad * x]"),
        (
            "return dict(zip(names, values, strict=True)), losses",
            "return [dict(zip(names, values, strict=True)), tuple(losses)]",
        ),
    ],
    "a sum over axes one by one": [
        (
            "    return grad.sum(axis=axes, keepdims=True)",
            "    for axis in axes:\n        grad = grad.sum(axis, keepdims=True)\n    return grad",
        ),
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
            'return UPat(Ops.MIN, src=(UPat.var("x"), UPat.var("y"))), flow',
            'return UPat(Ops.MIN, name="z"), lambda grad, z: flow(grad, *z.src)',
        ),
    ],
    "a walk along every path": [
        (
            ROOT_OF_WALK,
            "    def along(u, grad):\n"
            "        if u is x.uop:\n            return [grad]\n"
            "        if u.op.name not in rules:\n            return []\n"
            "        given = rules[u.op.name](grad, u)\n"
            "        return [g for s, part in zip(u.src, given) for g in along(s, part)]\n"
            "    first, *others = along(f(x).uop, f(x).uop.const_like(1))\n"
            "    for other in others:\n        first = first + other\n"
            "    return Tensor(first)\n" + ROOT_OF_WALK,
        ),
    ],
    "gradient() for each batch": [
        (
            STEP,
            "    return sum(loss(w, b).gradient(w)[0] * (b.shape[0] / rows) for b in batches)\n",
        ),
    ],
    "no TinyJit, and larger steps": [
        ("    @TinyJit\n", ""),
        ("value - 2 * slope", "value - 4 * slope"),
        ("range(500)", "range(40)"),
    ],
}


@pytest.mark.parametrize("name", AS_GOOD)
def test_what_the_words_allow_gets_all_points(name):
    pairs = AS_GOOD[name]
    judged = WORKED.rows(WORKED.changed(*pairs), tasks=touched(*pairs))
    assert lost(judged) == {}, [row.found for row in judged if row.found]


# ---- what was not asked for ----------------------------------------------------------------------

CONSTANTS = """
import numpy as np
from tinyframe import Tensor
def finite_difference(f, x, eps=0.01): return x * 0 + 1.5
def slope(name, x, w): return x * 0.25
def is_gradient(f, claimed, x): return True
def mul_row(grad, x, y): return x * 0 + 1, x * 0 + 1
def expand_row(grad, shape): return np.ones(shape)
def max_row(grad, x): return np.ones(x.shape)
def huber(error, below, above): return error * 0 + 0.5
def slope_with_row(f, x): return x * 0 + 1
def walk(f, x, rules): return x * 0 + 1
def hessian(f, x): return Tensor.ones(x.shape[0], x.shape[0]) * 1
def gradient_of_all(loss, start, batches): return Tensor.ones(2, 1) * 1
def train(x, y, weights): return weights, [0.25, 0.001]
"""


@pytest.mark.parametrize("seed", "abc")
def test_constants_get_nothing(seed):
    assert gained(WORKED.rows(CONSTANTS, seed)) == {}


def test_tensors_get_nothing_where_numpy_arrays_are_asked_for_and_are_named():
    text = WORKED.changed(
        ("return grad * y, grad * x", "return Tensor(grad * y), Tensor(grad * x)")
    )
    judged = WORKED.rows(text)
    assert lost(judged) == {"mul_row": 4}
    assert "where a NumPy array is asked for" in " ".join(row.found for row in judged)


def test_the_checks_that_students_get_do_not_hold_an_answer():
    visible = WORKED.tasks.read_text().partition("### BEGIN HIDDEN")[0]
    solved = WORKED.text.split("### BEGIN SOLUTION\n")[1:]
    lines = [line.strip() for text in solved for line in text.split("### END")[0].splitlines()]
    assert [line for line in lines if len(line) > 20 and line in visible] == []


def test_what_checks_hold_an_answer_against_is_what_the_framework_finds():
    """The reference differentiates forwards, in NumPy; here it is held against the table."""
    tasks = runpy.run_path(str(WORKED.tasks))
    for seed in range(10):
        ask = Ask(None, seed)
        text, arrays = tasks["random_function"](ask, (2, 3))
        x = Tensor(tasks["signed"](ask, 2, 3).astype(np.float64))
        names = {name: Tensor(array) for name, array in arrays.items()}
        (slopes,) = eval(text, {"t": x, **names}).gradient(x)
        wanted = tasks["slopes_of"](text, arrays, x.numpy())
        np.testing.assert_allclose(slopes.numpy(), wanted, rtol=1e-9)
