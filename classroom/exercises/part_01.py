"""Part 1, why tinyframe: what an answer has to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from classroom.ask import call, count, describe, kernels, predicts, same_number, wants
from classroom.exercise import Exercise, Graphs, Wrong
from tinyframe import Context, GlobalCounters, Tensor, Variable, nn
from tinyframe.codegen import get_program
from tinyframe.nn.datasets import digits
from tinyframe.nn.optim import Adam
from tinyframe.nn.state import get_parameters
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.tensor import gradient
from tinyframe.uop import Ops, UOp
from tinyframe.uop.ops import PatternMatcher, UPat, graph_rewrite

TITLE = "Why tinyframe"


# ---- what the predictions are about, done for real ----------------------------------------------


def table() -> Tensor:
    x = Tensor.arange(1_000_000, dtype="int64").realize()
    return x.reshape(-1, 1) * x.reshape(1, -1) + 1


def kernels_of_a_table() -> int:
    x = Tensor.arange(1_000_000, dtype="int64").realize()
    before = GlobalCounters.kernel_count
    _ = (x.reshape(-1, 1) * x.reshape(1, -1) + 1).shape
    return GlobalCounters.kernel_count - before


def loops_in(tensor: Tensor) -> int:
    """How many loops the C of its only kernel has, as written."""
    (item,) = tensor.schedule()
    with Context(NOOPT=1):
        return get_program(item.ast, CStyleLanguage()).src.count("for (")


def loops_of_an_entry() -> int:
    return loops_in(table()[123_456, 654_321].contiguous())


def loops_of_a_sum() -> int:
    a, b = (Tensor([1.0, 2.0, 3.0, 4.0]).realize() for _ in range(2))
    return loops_in((a * b + 1).sum())


def megabytes_of_three_and_of_one() -> tuple[int, ...]:
    a, b = (Tensor.zeros(1_000_000).contiguous().realize() for _ in range(2))
    before = GlobalCounters.global_mem
    ((a * b).realize() + 1).realize().sum().realize()
    between = GlobalCounters.global_mem
    (a * b + 1).sum().realize()
    return round((between - before) / 1e6), round((GlobalCounters.global_mem - between) / 1e6)


class Network:
    """The notebook's network and its first batches."""

    def __init__(self) -> None:
        images, labels, _, _ = digits()
        images = (images / 16).realize()
        cuts = range(0, len(images), 103)
        self.batches = [
            (images[i : i + 103].contiguous().realize(), labels[i : i + 103].contiguous().realize())
            for i in cuts
        ]
        Tensor.manual_seed(1)
        self.conv, self.linear = nn.Conv2d(1, 8, 3), nn.Linear(72, 10)

    def loss(self, batch: int) -> Tensor:
        x, y = self.batches[batch]
        out = self.linear(self.conv(x).relu().max_pool2d().flatten(1))
        return out.cross_entropy(y)

    def train(self, epochs: int) -> list[float]:
        """The loss after each step."""
        optimizer = Adam([*get_parameters(self.conv), *get_parameters(self.linear)], lr=0.01)
        losses = []
        with Tensor.train():
            for batch in list(range(len(self.batches))) * epochs:
                optimizer.zero_grad()
                loss = self.loss(batch).backward()
                optimizer.step()
                losses.append(loss.item())
        return losses


def change_of_the_loss() -> str:
    """Of a fresh network, when 0.1 is added to the weight in the middle of the first filter."""
    network = Network()
    before = network.loss(0).item()
    weights = network.conv.weight.numpy()
    weights[0, 0, 1, 1] += 0.1
    network.conv.weight.assign(Tensor(weights)).realize()
    found = network.loss(0).item() - before
    offered = {"-0.02": -0.02, "-0.002": -0.002, "+0.002": 0.002, "+0.02": 0.02}
    return min(offered, key=lambda name: abs(offered[name] - found))


def products_in_a_gradient() -> int:
    """Of one weight of a 3 x 3 filter: as many as there are places where it was used."""
    network = Network()
    x, _ = network.batches[0]
    batch, _, height, width = network.conv(x).shape
    return batch * height * width


def what_a_wrong_row_does() -> str:
    complete = gradient.gradient_rules
    rows: list[Any] = [(UPat(Ops.ADD), lambda grad: (grad, None))]
    try:
        gradient.gradient_rules = PatternMatcher(rows) + complete
        losses = Network().train(6)
    finally:
        gradient.gradient_rules = complete
        change = losses[-1] / losses[0]
    return "grow" if change > 1.2 else "fall" if change < 0.8 else "stay"


# ---- answers ------------------------------------------------------------------------------------


def slope_of_a_quotient(answer: Any) -> str:
    """The derivative of x / y with respect to y, where x is 3 and y is 2."""
    x, y = Tensor([3.0]), Tensor([2.0])
    (slope,) = (x / y).sum().gradient(y)
    same_number(answer, slope.item(), "x = 3, y = 2")
    return "The derivative is `-x / y²`. The minus says that a larger `y` makes `3 / y` smaller."


def row_for_three(answer: Any) -> str:
    """answer(v): a row that makes v * 3 of what is left of v + v + v."""
    row = call(answer, UPat.var("v"))
    if not (isinstance(row, tuple) and len(row) == 2):
        raise Wrong("A row is a tuple of two: a pattern, and a function.", got=describe(row))
    if not isinstance(row[0], UPat):
        raise Wrong("The first half of a row is a pattern: write it with `v`.")
    if isinstance(row[1], UPat) or not callable(row[1]):
        raise Wrong("The second half of a row is a function: `lambda v: …`.")
    rules = PatternMatcher([(UPat.var("v") + UPat.var("v"), lambda v: v * 2), row])
    i, j = Variable("i", 0, 7), Variable("j", 0, 3)
    for case, before, after in (
        ("`i + i + i`", i + i + i, i * 3),
        ("`j + j + j`", j + j + j, j * 3),
        ("`i + i + j`", i + i + j, i * 2 + j),
    ):
        got = graph_rewrite(before, rules)
        if got is not after:
            texts = [f"`{u.render(simplify=False)}`" for u in (after, got)]
            said = "Your row turns it into something with a different value."
            if got is graph_rewrite(before, PatternMatcher(rules.rules[:1])):
                said = "Your row does not match it: nothing changed after the row for `v + v`."
            elif (got - after).simplify() is UOp.const(after.dtype, 0):
                said = "Its value is right, but it isn't written with a single multiplication yet."
            raise Wrong(said, case, *texts, graphs=Graphs(got, after, {}))
    return (
        "Sources are rewritten first, so when a row gets to see the outer `+`, `v + v` is "
        "`v * 2` already. A row for `v + v + v` would never match."
    )


def cube(answer: Any) -> str:
    """answer(x): shape (n, n, n), x[i] * x[j] + x[k] at [i, j, k], and nothing is computed."""
    small = Tensor([2.0, 3.0, 5.0]).realize()
    before = GlobalCounters.kernel_count
    got = call(answer, small)
    wants(got, Tensor, "a Tensor")
    if ran := GlobalCounters.kernel_count - before:
        raise Wrong(
            "It computes something already: return the expression, and don't realize it.",
            got=count(ran, "kernel"),
        )  # fmt: skip
    _entries(got, small.numpy(), "`x = [2, 3, 5]`")
    large = Tensor.arange(1_000_000, dtype="float32").realize()
    of_large = call(answer, large)
    if of_large.shape != (1_000_000,) * 3:
        raise Wrong(
            "The shape is right for 3 numbers, but not for a million.",
            "a million numbers", (1_000_000,) * 3, of_large.shape,
        )  # fmt: skip
    i, j, k = np.random.default_rng().integers(0, 1000, 3).tolist()
    entry = of_large[i, j, k].contiguous()
    if (needed := kernels(entry)) != 1:
        raise Wrong("One entry should take one kernel.", got=count(needed, "kernel"))
    same_number(entry.item(), float(i * j + k), "an entry of the cube of a million")
    return "8 million terabytes, and you can read any entry you like."


def _entries(got: Tensor, x: np.ndarray, case: str) -> None:
    """Wrong, with the first entry that differs, unless this is the cube of x."""
    n = len(x)
    if got.shape != (n, n, n):
        raise Wrong(
            f"The shape should have three axes of {n}.", case, (n, n, n), got.shape,
        )  # fmt: skip
    expected = x[:, None, None] * x[None, :, None] + x[None, None, :]
    values = got.numpy()
    for place in np.ndindex(*expected.shape):
        if values[place] != expected[place]:
            i, j, k = place
            raise Wrong(
                f"The entry at [{i}, {j}, {k}] should be `x[{i}] * x[{j}] + x[{k}]`.",
                case, f"{expected[place]:g}", f"{values[place]:g}",
            )  # fmt: skip


EXERCISES = (
    Exercise(
        "1.1",
        "why-table-kernels",
        "How many kernels does an 8-terabyte table take?",
        predicts(kernels_of_a_table),
        (
            "Does the cell ask for a single number?",
            "What is its shape, and how large would it be? You can tell both without computing it.",
        ),
        shown_by="the next cell",
        because="None. Multiplying and adding only added two lines to tinyframe's notes. The "
        "shape and the size can be read off those notes.",
    ),
    Exercise(
        "1.2",
        "why-loops-of-an-entry",
        "How many loops does it take to get one entry?",
        predicts(loops_of_an_entry),
        (
            "How would you compute this entry on paper?",
            "It needs two numbers of `x`. What is there to repeat?",
        ),
        shown_by="the next cell",
        because="There is nothing to repeat. The index [123456, 654321] went all the way down to "
        "`x`, so the program reads two numbers, multiplies them and adds 1.",
    ),
    Exercise(
        "1.3",
        "why-loops-of-a-sum",
        "How many loops does the program have?",
        predicts(loops_of_a_sum),
        (
            "Does anything have to be complete before something else can begin?",
            "While the first elements are being added up, does anything need the later ones?",
        ),
        shown_by="the next cell",
        because="Element by element, the program can multiply, add 1 and add to the sum before it "
        "goes on to the next element. One loop is enough.",
    ),
    Exercise(
        "1.4",
        "why-megabytes",
        "How many megabytes do three loops move, and how many does one?",
        predicts(megabytes_of_three_and_of_one),
        (
            "A million floats are 4 MB. Count 4 MB each time a million floats are read or written.",
            "`a * b` reads two and writes one. Count the same way for `+ 1` and for the sum, then "
            "for the single loop.",
        ),
        shown_by="the next cell",
        because="12 MB for `a * b` (two read, one written), 8 MB for `+ 1`, 4 MB for the sum: 24 "
        "MB. Fused, only `a` and `b` are read, 8 MB, and one number is written.",
    ),
    Exercise(
        "1.5",
        "why-nudge-a-weight",
        "How much does the loss change when one weight grows?",
        predicts(change_of_the_loss, "-0.02", "-0.002", "+0.002", "+0.02"),
        (
            "The gradient says how fast the loss changes. Is it positive or negative here?",
            "For a small step, the change is about the gradient times the step.",
        ),
        seconds=60,  # it builds a network
        shown_by="the next cell",
        because="The change is about the gradient times the step: 0.018 × 0.1, nearly 0.002. It is "
        "positive, so the loss grows. Training would move this weight the other way.",
    ),
    Exercise(
        "1.6",
        "why-products-in-a-gradient",
        "How many products add up to one number of a gradient?",
        predicts(products_in_a_gradient),
        (
            "How many times was this one weight multiplied by something on the way to the loss?",
            "Each position in each image is one use. How many positions does the whole batch have?",
        ),
        shown_by="the next cell",
        because="One product for each position where the weight was used: 103 × 6 × 6 = 3,708. "
        "Every use of a weight adds its share to the gradient.",
    ),
    Exercise(
        "1.7",
        "why-slope-of-a-quotient",
        "The derivative of `x / y` with respect to `y`",
        slope_of_a_quotient,
        (
            "The row returns a gradient for `x` and a gradient for `y`. Which one do you need?",
            "Take the second one. In it, `z` is the result of the division.",
        ),
        because="The second half of the row is `-grad * (z / y)`. With `grad` = 1, `z` = 1.5 and "
        "`y` = 2 that is -0.75.",
    ),
    Exercise(
        "1.8",
        "why-wrong-row",
        "What does training do with a wrong row?",
        predicts(what_a_wrong_row_does, "fall", "stay", "grow"),
        (
            "If ADD passes nothing on to its second source, which weights never hear from the "
            "loss?",
            "Each step goes against the gradient. If parts of the gradient are missing, does that "
            "still have to be downhill?",
        ),
        seconds=60,  # it builds a network, and trains it
        shown_by="the next cell",
        because="A step against the gradient goes downhill. A step against part of it can go "
        "anywhere, and here it goes uphill: the loss grows, step after step, without any error.",
    ),
    Exercise(
        "1.9",
        "why-row-for-three",
        "A row for `i * 3`",
        row_for_three,
        (
            "What does `i + i + i` look like once the first row has rewritten its source?",
            "By then it is `i * 2 + i`. Write a pattern for that, with `v` in place of `i`, and a "
            "function of `v`.",
        ),
        because="`i + i + i` means `(i + i) + i`. Sources go first, so the first row has turned it "
        "into `i * 2 + i` by the time your row sees it.",
    ),
    Exercise(
        "1.10",
        "why-cube",
        "A cube of 10^18 numbers",
        cube,
        (
            "In the table, one copy of `x` was a column and one was a row. A cube has three axes.",
            "`x.reshape(-1, 1, 1)` puts `x` along the first axis. Which reshape puts it along the "
            "last?",
        ),
        because="Each of the three copies of `x` lies along its own axis, and has size 1 along the "
        "two others. Sizes of 1 are stretched to fit. Nothing is computed until you read an entry.",
    ),
)
