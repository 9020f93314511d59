"""Part 1, why tinyframe: what an answer has to do."""

from __future__ import annotations

import inspect
import math
import random
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from classroom.ask import (
    call,
    count,
    describe,
    does_nothing,
    predicts,
    same_number,
    same_values,
    wants,
)
from classroom.exercise import Exercise, Graphs, Open, Wrong
from classroom.rows import data, fitting, row_of, trained
from tinyframe import Context, GlobalCounters, Tensor, Variable
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.matcher import RewriteLoopError
from tinyframe.uop import UOp
from tinyframe.uop.ops import PatternMatcher, UPat, graph_rewrite

TITLE = "Why tinyframe"


# ---- what the predictions are about, done for real ----------------------------------------------


def numbers_read_for_an_entry() -> int:
    """How many numbers its program reads, which has no loop."""
    x = Tensor.arange(1_000_000, dtype="int64").realize()
    (item,) = (x.reshape(-1, 1) * x.reshape(1, -1))[123_456, 654_321].contiguous().schedule()
    with Context(NOOPT=1):
        source = get_program(item.ast, CStyleLanguage()).src
    return len(re.findall(r"= data\d+\[", source)) if "for (" not in source else len(x)


def megabytes_of_three_and_of_one() -> tuple[int, ...]:
    a, b = (Tensor.zeros(1_000_000).contiguous().realize() for _ in range(2))
    before = GlobalCounters.global_mem
    ((a * b).realize() + 1).realize().sum().realize()
    between = GlobalCounters.global_mem
    (a * b + 1).sum().realize()
    return round((between - before) / 1e6), round((GlobalCounters.global_mem - between) / 1e6)


def products_in_a_gradient() -> int:
    """Of one weight of a 3 x 3 filter: as many as there are places where it was used."""
    network, (images, _) = trained(steps=0).network, data().batches[0]
    batch, _, height, width = network.conv(images).shape
    return batch * height * width


# ---- rows of the gradient table -----------------------------------------------------------------


@cache
def losses_as_it_is() -> tuple[float, ...]:
    """Of training with the table as it is."""
    return tuple(trained().losses)


def a_row_that_breaks(answer: Any) -> str:
    """answer(grad): two gradients for the sources of ADD, with which the network learns nothing."""
    found = trained(rows={"ADD": answer})
    if found.learned:
        if np.allclose(found.losses, losses_as_it_is(), rtol=0.05, atol=0.02):
            raise Wrong(
                "The network learns exactly as before. The way it is trained here, what counts is "
                "the direction of each gradient, not its size. Turn one of them round, or hold it "
                "back."
            )
        raise Wrong("It still learns: most of the test digits are read right. Break it properly.")
    if not np.isfinite(found.losses).all():
        return (
            "The loss isn't even a number any more. Every step ran without an error all the same: "
            "to the processor, NaN is as good as any other number."
        )
    did = (
        "The loss climbs, step after step: your network gets worse by learning."
        if found.losses[-1] > 1.5 * found.losses[0]
        else "The loss stays where pure guessing would put it: your network learns nothing."
    )
    return f"{did} And nothing complained. All 84 steps ran, and no cell turned red."


def mended_row(answer: Any) -> str:
    """answer(grad, x, y): what MUL sends back to x and to y."""
    fresh = np.random.default_rng().random((3, 4)) + 0.5
    shown = np.array([[1, 10], [2, 3], [5, 7]])
    for case, values in (("`grad = [1, 10]`, `x = [2, 3]`, `y = [5, 7]`", shown), ("", fresh)):
        given = [Tensor(row.astype(np.float32)).realize().uop for row in values]
        right: Any = row_of("MUL").function(*given)
        found = fitting("MUL", call(answer, *given), right)
        case = case or "different numbers"
        for name, other, got, expected in zip("xy", "yx", found, right, strict=True):
            if got is None:
                raise Wrong(f"`{name}` gets nothing. If `{name}` grows, `x * y` changes.", case)
            try:
                same_values(Tensor(got), Tensor(expected).numpy(), case, shown=values is shown)
            except Wrong as wrong:
                said = f"What `{name}` gets is wrong. Suppose `{name}` grows by 1, and `{other}` "
                said += "stays: how much does `x * y` grow?"
                if got is given[1 + "yx".index(name)]:
                    said = f"How fast `x * y` grows with `{name}` is right. Multiply that by what "
                    said += "arrives, `grad`."
                rows = dict(wrong.rows)
                raise Wrong(
                    said, case, rows.get("expected", ""), rows.get("got", "")
                ) from None  # fmt: skip
    return (
        "Mended. If `x` grows a little, `x * y` grows `y` times as much, so `x` gets `grad * y`; "
        "and the other way round."
    )


# ---- the compiler's rules -----------------------------------------------------------------------


def row_for_three(answer: Any) -> str:
    """answer(v): a row that makes v * 3 of what is left of v + v + v."""
    i, j = Variable("i", 0, 7), Variable("j", 0, 3)
    row = call(answer, UPat.var("v"))
    row = tuple(row) if isinstance(row, list) else row
    if not (isinstance(row, tuple) and len(row) == 2):
        raise Wrong("A row is a tuple of two: a pattern, and a function.", got=describe(row))
    if not isinstance(row[0], UPat):
        raise Wrong("The first half of a row has to be a pattern: write it with `v`.")
    if isinstance(row[1], UPat) or not callable(row[1]):
        raise Wrong("The second half of a row has to be a function: `lambda v: …`.")
    for bound in row[0].match(i * 2 + i, {})[:1]:
        try:
            inspect.signature(row[1]).bind(**bound)
        except TypeError:
            said = "The function is given what the pattern names, by these names"
            raise Wrong(f"{said}: `lambda {', '.join(sorted(bound))}: …`.") from None
    rules = PatternMatcher([(UPat.var("v") + UPat.var("v"), lambda v: v * 2), row])
    for case, before, after in (
        ("`i + i + i`", i + i + i, i * 3),
        ("`j + j + j`", j + j + j, j * 3),
        ("`i + i + j`", i + i + j, i * 2 + j),
    ):
        try:
            got = graph_rewrite(before, rules)
        except RewriteLoopError:
            raise Wrong(
                "This never ends: what your row returns is matched again, by it or by the row for "
                "`v + v`, over and over.",
                case,
            ) from None
        if got not in (after, _turned(after)):
            texts = [f"`{u.render(simplify=False)}`" for u in (after, got)]
            said = "Your row turns it into something with a different value."
            if got is graph_rewrite(before, PatternMatcher(rules.rules[:1])):
                said = "Your row does not match it: nothing changed after the row for `v + v`."
            elif _same_value(got, after, i, j):
                said = "Its value is right, but it isn't written with a single multiplication yet."
            raise Wrong(said, case, *texts, graphs=Graphs(got, after, {}))
    return (
        "Sources are rewritten first, so when a row gets to see the outer `+`, `v + v` is "
        "`v * 2` already. A row for `v + v + v` would never match."
    )


def _turned(u: UOp) -> UOp:
    """The same with its two sources in the other order: 3 * i."""
    return u.replace(src=u.src[::-1])


def _same_value(one: UOp, other: UOp, *counters: UOp) -> bool:
    """Whether two expressions agree for a few values of the counters."""
    places = [[random.randrange(1, 100) for _ in counters] for _ in range(5)]
    return all(_value(one, c, p) == _value(other, c, p) for p in places for c in [counters])


def _value(u: UOp, counters: tuple[UOp, ...], place: list[int]) -> object:
    """What an expression is where the counters have these values; itself if that is no number."""
    put = {c: c.const_like(v) for c, v in zip(counters, place, strict=True)}
    return u.substitute(put).simplify().arg


# ---- one number of a gradient -------------------------------------------------------------------

MOST_KERNELS = 20  # for one number: more than a kernel for each image, fewer than one for each use
TOO_MANY_KERNELS = (
    "The number is right, but each `.item()` compiles and runs a kernel of its own, and the real "
    "batch has 3,708 products. Take all numbers out at once with `.tolist()`, or multiply whole "
    "slices."
)


def slope_of_a_weight(answer: Any) -> str:
    """answer(pixels, arriving, i, j): the gradient with respect to the weight [i, j] of a 3 x 3
    filter; pixels of shape (n, 8, 8), arriving of shape (n, 6, 6)."""
    small = np.zeros((1, 8, 8), np.float32)
    small[0, 0, 0], small[0, 1, 2], small[0, 7, 7] = 1, 10, 100
    one = np.ones((1, 6, 6), np.float32)
    generator, images = np.random.default_rng(), random.choice((3, 4, 5))
    fresh = [generator.random((images, n, n)) + 0.5 for n in (8, 6)]
    said = "one image, all 0 but for 1 at [0, 0], 10 at [1, 2], 100 at [7, 7]; `arriving` all 1"
    for pixels, arriving, case in ((small, one, said), (*fresh, "")):
        pixels, arriving = (np.asarray(a, np.float32) for a in (pixels, arriving))
        given = [Tensor(a).realize() for a in (pixels, arriving)]
        for i, j in np.ndindex(3, 3):
            expected = float((pixels[:, i : i + 6, j : j + 6] * arriving).sum())
            where = f"weight [{i}, {j}]; {case or 'different images'}"
            before = GlobalCounters.kernel_count
            got = _number(call(answer, *given, i, j), where)
            ran = GlobalCounters.kernel_count - before
            if abs(got - expected) > 1e-3 * max(1.0, abs(expected)):
                _explain(got, pixels, arriving, (i, j), where, expected, bool(case))
            if ran > MOST_KERNELS:
                raise Wrong(TOO_MANY_KERNELS, where, got=count(ran, "kernel"))
    if ran >= images:
        return (
            "That's the line of C, in Python. (With a kernel for each image, the real batch of 103 "
            "would take minutes, so I left it out.)"
        )
    _as_the_framework(answer)
    return (
        "That's the line of C, in Python. I ran it on the real batch, too, and all nine numbers of "
        "the filter's gradient are those that tinyframe computes."
    )


def _as_the_framework(answer: Any) -> None:
    """Wrong unless the nine numbers of the first filter are those of the notebook's batch."""
    network, (images, labels) = trained(steps=0).network, data().batches[0]
    found = network.conv(images)
    loss = network.rest(found).cross_entropy(labels)
    arriving, slopes = loss.gradient(found, network.conv.weight)
    pixels, back, expected = images[:, 0], arriving[:, 0].contiguous().realize(), slopes[0, 0]
    case = "a batch of 103 images"
    nine = [_number(call(answer, pixels, back, i, j), case) for i, j in np.ndindex(3, 3)]
    same_values(Tensor(np.array(nine, np.float32).reshape(3, 3)), expected.numpy(), case)


def _number(found: Any, where: str) -> float:
    """The one number of an answer, whatever holds it; Wrong where it is not one."""
    wanted = "The answer has to be one number: a Tensor that holds one, or a number."
    if isinstance(found, (Tensor, np.ndarray)):
        values = found.numpy() if isinstance(found, Tensor) else found
        if values.size != 1:
            text = f"{wanted} A sum over all axes makes one."
            raise Wrong(text, where, "()", str(values.shape))
        return float(values.reshape(())[()])
    if isinstance(found, bool) or not isinstance(found, (int, float, np.generic)):
        raise Wrong(wanted, where, got=describe(found))
    return float(found)


def _explain(
    got: float,
    pixels: np.ndarray,
    arriving: np.ndarray,
    place: tuple[int, int],
    where: str,
    expected: float,
    shown: bool,
) -> None:
    """Raises Wrong, with what the number is instead, if that can be told."""
    i, j = place
    swapped = float((pixels[:, j : j + 6, i : i + 6] * arriving).sum())
    middle = float((pixels[:, 1:7, 1:7] * arriving).sum())
    mirrored = float((pixels[:, 2 - i : 8 - i, 2 - j : 8 - j] * arriving).sum())
    same = [
        text
        for value, text in (
            (swapped, "You have swapped `i` and `j`: `i` counts rows."),
            (middle, "This is the number for the weight in the middle; `i` and `j` are not used."),
            (mirrored, "Up and down are mirrored, and so are left and right: a larger `i` means "
             "pixels further down."),
            (expected / len(pixels), "You took the mean over the images; each use counts in full."),
        )
        if abs(value - got) <= 1e-3 * max(1.0, abs(got))
    ]  # fmt: skip
    text = (
        same[0]
        if same
        else (
            "It has to be a sum over the pixels that this weight gets to see, each times what "
            "arrived. Which pixels are they?"
        )
    )
    values = (f"{expected:g}", f"{got:g}") if shown else ("", "")
    raise Wrong(text, where, *values)


# ---- a gradient of one's own ---------------------------------------------------------------------

# Each of two numbers, and of a function that is math.tanh or the learner's.
FORMULAS: dict[str, Callable[..., Any]] = {
    "a + b": lambda a, b, tanh: a + b,
    "a * b": lambda a, b, tanh: a * b,
    "a.tanh()": lambda a, b, tanh: tanh(a),
    "a * a": lambda a, b, tanh: a * a,
    "(a * b).tanh() * a + b": lambda a, b, tanh: tanh(a * b) * a + b,
    "c * c, where c = a * b": lambda a, b, tanh: (lambda c: c * c)(a * b),
}
SLIPS = {
    "a * a": "`a` is used twice here, and each use sends something back: add it to `grad`, where "
    "replacing it would lose the other.",
    "(a * b).tanh() * a + b": "What a source gets is the slope times what has arrived. For short "
    "formulas yours is right, and for this one it isn't.",
    "c * c, where c = a * b": "Something arrives at `c` twice. Each time, send on what has just "
    "arrived, and not all that `c.grad` has collected by then.",
}
TINY = 1e-5  # how far a number moves for its slope to be measured


def number(answer: Any) -> str:
    """answer: a class with +, *, tanh() and backward(), which leaves slopes in `grad`."""
    if not isinstance(answer, type):
        raise Wrong("This exercise asks for the class. Pass `Number`.", got=describe(answer))
    fresh = np.random.default_rng().uniform(0.3, 0.9, 2) * (1, -1)
    for formula, of in FORMULAS.items():
        for values in ((0.5, -0.75), tuple(fresh.tolist())):
            a, b = map(answer, values)
            y = of(a, b, lambda x: x.tanh())
            if y is None:
                raise Open(f"`{formula}` gives nothing yet.")
            case = f"`a = {values[0]:.3g}`, `b = {values[1]:.3g}`, `y = {formula}`"
            wants(y, answer, "a Number", case)
            same_number(y.value, of(*values, math.tanh), case)
            if does_nothing(y.backward):
                raise Open("`backward` does nothing yet.")
            y.backward()
            for name, got, slope in zip("ab", (a.grad, b.grad), _slopes(of, values), strict=True):
                if abs(got - slope) < 1e-6:
                    continue
                said = (
                    f"`{name}.grad` is wrong after `y.backward()`: if `{name}` grows by a little, "
                )
                said += f"`y` grows {slope:.4g} times as much."
                raise Wrong(SLIPS.get(formula, said), case, f"{slope:.4g}", f"{got:.4g}")
    return "Every slope is what a measurement says it is. You've written a `loss.backward()`."


def _slopes(of: Callable[..., Any], values: tuple[float, ...]) -> list[float]:
    """Measured, not derived: how much the value changes, for each of the numbers."""
    a, b = values
    return [
        (of(a + da, b + db, math.tanh) - of(a - da, b - db, math.tanh)) / (2 * TINY)
        for da, db in ((TINY, 0.0), (0.0, TINY))
    ]


EXERCISES = (
    Exercise(
        "1.1",
        "why-break-a-row",
        "A row that ruins the network",
        a_row_that_breaks,
        (
            "The right row is `grad, grad`. What would steer the network the wrong way?",
            "Both gradients twice as large isn't enough. Turn one of them round with a minus, or "
            "hold it back with `None`.",
        ),
        because="A step against the gradient goes downhill. With `-grad` for the second source, "
        "part of every step goes uphill, and the network climbs.",
        seconds=120,  # it trains a network
    ),
    Exercise(
        "1.2",
        "why-mend-a-row",
        "Mend the row of MUL",
        mended_row,
        (
            "Take `x` = 3 and `y` = 5, so that `x * y` is 15. What is it if `x` grows by 1?",
            "It grows by 5, which is `y`. So which of the two belongs to the first source?",
        ),
        because="If `x` grows a little, `x * y` grows `y` times as much. So `x` gets `grad * y`, "
        "and `y` gets `grad * x`.",
    ),
    Exercise(
        "1.3",
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
        "1.4",
        "why-numbers-of-an-entry",
        "How many numbers were read for one entry?",
        predicts(numbers_read_for_an_entry),
        (
            "How would you work out this one entry on paper?",
            "It's a product. How many of the numbers in `x` does it need, and does it need any of "
            "the others?",
        ),
        shown_by="the next cell",
        because="Two: `x[123456]` and `x[654321]`. The index went all the way down to `x`, so "
        "nothing else was ever read, or made.",
    ),
    Exercise(
        "1.5",
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
        "why-slope-of-a-weight",
        "All nine numbers of a filter's gradient",
        slope_of_a_weight,
        (
            "As the filter slides over its 6 × 6 positions, which pixels does its weight in the "
            "top left corner meet? And the one to the right of that?",
            "The corner meets `pixels[:, 0:6, 0:6]`, and its neighbour `pixels[:, 0:6, 1:7]`. "
            "Multiply by `arriving`, and add everything up.",
        ),
        seconds=60,  # it builds a network
        because="The weight at [i, j] meets the pixels that begin i rows down and j columns to the "
        "right. Each meeting adds pixel times arriving gradient.",
    ),
    Exercise(
        "1.8",
        "why-number",
        "A gradient of your own, for single numbers",
        number,
        (
            "What did your row for MUL send back in 1.2? Here each source is paired with its "
            "slope. And where the value of tanh is t, its slope is 1 - t².",
            "`backward` does two things: it adds what arrives to its own `grad`, and for each pair "
            "it calls `source.backward(…)` with what goes there, what has arrived times slope.",
        ),
        because="Each operation only knows its own slopes, and `backward` multiplies them along "
        "every path from the result down. A number that is used twice is at the end of two paths, "
        "and their products add up. That's the chain rule.",
    ),
)
