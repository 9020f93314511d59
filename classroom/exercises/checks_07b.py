"""Part 7b, from a graph to C: the exercises, and what an answer has to do."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from classroom.ask import (
    call,
    describe,
    fresh_sizes,
    fresh_tensor,
    kernels,
    predicts,
    wants,
    written_without,
)
from classroom.exercise import Exercise, Wrong
from classroom.lowered import (
    COLUMNS,
    ROWS,
    Stages,
    depth_of,
    nest_of,
    parameter,
    pixels_of,
    removed,
    run_kernel,
    unfit,
)
from tinyframe import Tensor
from tinyframe.codegen import full_rewrite_to_sink, get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.runtime.python import OutOfBounds
from tinyframe.uop import Ops, UOp
from tinyframe.uop.node import GroupOp
from tinyframe.uop.show import render

# ---- what the predictions are about, done for real ----------------------------------------------


def kernels_of_four() -> tuple[int, ...]:
    a, row, column = (Tensor.zeros(*s).contiguous().realize() for s in ((4, 6), (1, 6), (4, 1)))
    return tuple(
        kernels((a * scale.exp()).sum(axis=axis)) for scale in (column, row) for axis in (1, 0)
    )


def divisions() -> tuple[bool, ...]:
    """Which of four quotients need more in C than a division."""
    x, small = Tensor([7, -7, 5]).realize(), Tensor([7, 7, 5], dtype="uint8").realize()
    return tuple(
        map(needs_correction, (Tensor.arange(8) // 3, x // 3, small // 3, x.maximum(0) // 3))
    )


def needs_correction(quotient: Tensor) -> bool:
    """Whether there is more arithmetic in a kernel's C than in its graph."""
    (item,) = quotient.schedule()
    lines = get_program(item.ast, CStyleLanguage()).uops
    arithmetic = GroupOp.ALU - {Ops.CAST}
    asked = sum(u.op in arithmetic and u.dtype is quotient.dtype for u in item.ast.toposort())
    return sum(u.op in arithmetic for u in lines) > asked


def accesses() -> tuple[int, ...]:
    """How often the kernel of the lesson reads each of its inputs, and how often it writes."""
    a, heat, w = (Tensor.zeros(*s).contiguous().realize() for s in ((6, 4), (4, 1), (1, 6)))
    (item,) = (a.T * heat.exp() * w).sum(axis=1).schedule()
    lines = get_program(item.ast, CStyleLanguage(), [Opt(OptOps.SPLIT, 1, 3)]).uops
    found = [0, 0, 0, 0]
    around = [1]
    for u in lines:
        if u.op is Ops.RANGE:
            around.append(around[-1] * u.src[0].arg)
        elif u.op is Ops.ENDRANGE:
            around.pop()
        elif u.op in (Ops.LOAD, Ops.STORE):
            memory = u.src[0].src[0]
            if memory.op is Ops.DEFINE_GLOBAL:
                found[memory.arg] += around[-1]
    stores, *loads = found
    return (*loads, stores)


# ---- answers ------------------------------------------------------------------------------------


def place(answer: Any) -> str:
    """answer(row, column, i, j, width): where a convolution reads in its image."""
    shapes = [(6, 6, 3, 3), (*random.sample(range(7, 12), 2), *random.sample(range(2, 6), 2))]
    for number, (high, wide, tall, broad) in enumerate(shapes):
        cells = np.arange(high * wide).reshape(high, wide)
        expected = np.lib.stride_tricks.sliding_window_view(cells, (tall, broad))
        got = np.zeros(expected.shape, object)
        for index in np.ndindex(got.shape):
            got[index] = _whole(call(answer, *index, wide), ", that of a cell")
        if (got == expected).all():
            continue
        if number:
            raise Wrong("It's right for an image 6 wide and a filter of 3 × 3, and wrong for other "
                        "sizes.")  # fmt: skip
        row, column, i, j = (int(n) for n in np.argwhere(got != expected)[0])
        rows, columns, down, right = np.indices(expected.shape)
        words = "It reads the wrong cell."
        for mistake, told in (
            ((rows + down) * (wide - broad + 1) + columns + right,
             "You walk down by the width of the result. The image is wider than that."),
            ((columns + right) * wide + rows + down, "You took rows for columns."),
            (rows * wide + columns,
             "That's the corner of the window. Where in the window are we?"),
            ((rows + down) * wide + columns,
             "You move down with `i`, but not to the right with `j`."),
            (rows + down + columns + right,
             "One row further down is `width` cells further on, not one."),
            (rows * wide + columns + down * broad + right,
             "You walk through the window as if it were an image by itself. Its next row is the "
             "next row of the image."),
        ):  # fmt: skip
            if (got == mistake).all():
                words = told
        case = f"row {row}, column {column}, i = {i}, j = {j}, in an image 6 wide"
        raise Wrong(words, case, int(expected[row, column, i, j]), int(got[row, column, i, j]))
    return "Four counters, one short sum. The rules of stage 7a have to find that by themselves."


def _later(answer: Any, *inputs: Any, case: str) -> Any:
    """What a function gives that has given something before: nothing is a mistake then."""
    got = answer(*inputs)
    if got is None or got is ...:
        raise Wrong("It returns nothing here. Is there a case that you haven't thought of?", case)
    return got.item() if isinstance(got, np.generic) else got


def _whole(got: Any, what: str) -> int:
    """An answer as a whole number, also if it came as 2.0."""
    if isinstance(got, float) and got == int(got):
        got = int(got)
    wants(got, int, f"a whole number{what}")
    return int(got)


def squares(answer: Any) -> str:
    """answer(out, data): the kernel that stores data[i * i] in out[i]."""
    for n in (5, random.choice((7, 11, 13))):
        case = "`out` has 5 elements, `data` 17: 0, 10, 20 … 160" if n == 5 else "a larger `out`"
        size = (n - 1) ** 2 + 1
        data = np.arange(size) * 10 if n == 5 else np.random.default_rng().random(size)
        sink = call(answer, parameter(0, n), parameter(1, size))
        _sink(sink, case)
        expected = data[np.arange(n) ** 2]
        try:
            got = run_kernel(sink, n, data)
        except OutOfBounds as error:
            words = str(error).partition(": ")[2] or str(error)
            raise Wrong(f"Your kernel leaves its memory: {words}.", case) from None
        if np.allclose(got, expected):
            continue
        shown = (_list(expected), _list(got)) if n == 5 else ("", "")
        if np.isnan(got).any():
            raise Wrong("Some elements of `out` have never been written (they are nan). Does your "
                        "loop run over all of it?", case, *shown)  # fmt: skip
        if np.allclose(got, expected**2) and n == 5:
            raise Wrong("You squared what was read. Square the place that it's read from.",
                        case, *shown)  # fmt: skip
        if np.allclose(got, np.arange(n) ** 2):
            raise Wrong("That's i * i itself. Write what `data` has there.", case, *shown)
        if np.allclose(got, data[:n]):
            raise Wrong("That's a copy of the beginning of `data`.", case, *shown)
        raise Wrong("It runs, and writes different numbers.", case, *shown)
    return "No movement op can say i * i. A kernel can: an index is any arithmetic on counters."


def _sink(sink: Any, case: str) -> None:
    """Wrong unless this is a kernel: a SINK of STOREs that close all of their loops."""
    if isinstance(sink, UOp) and sink.op is Ops.STORE:
        raise Wrong("The answer has to be a SINK. You have the STORE: put it into `UOp.sink(…)`.",
                    case)  # fmt: skip
    if not isinstance(sink, UOp) or sink.op is not Ops.SINK:
        what = describe(sink) if not isinstance(sink, UOp) else f"a UOp {sink.op.name}"
        raise Wrong("The answer has to be a SINK, from `UOp.sink(…)`.", case, got=what)
    if not sink.src or any(s.op is not Ops.STORE for s in sink.src):
        raise Wrong("A SINK holds STOREs.", case, got=", ".join(s.op.name for s in sink.src))
    for store in sink.src:
        if store.src[0].op is not Ops.INDEX or store.src[0].src[0].arg != 0:
            raise Wrong("A STORE writes to a place in `out`: `out.index(…).store(…)`.", case)
        if open_ranges := store.ranges:
            names = ", ".join(sorted(render(r) for r in open_ranges))
            raise Wrong(f"The loop of {names} is never closed. A STORE is given the counters of "
                        "its loops, after the value.", case)  # fmt: skip


def _list(values: np.ndarray) -> str:
    return "[" + ", ".join(f"{value:g}" for value in values) + "]"


def removed_by(answer: Any) -> str:
    """answer(op, stages): the name of the stage that removed an op for good, or ""."""
    x, y = UOp.range(3, 0), UOp.range(4, 1)
    first = [("loops", (x * y + x).toposort()), ("sum", (x + x).toposort()),
             ("last", (x + y).toposort())]  # fmt: skip
    back = [("one", (x * 2).toposort()), ("two", (x + x).toposort()),
            ("three", (x * x).toposort()), ("four", x.toposort())]  # fmt: skip
    new = [("one", x.toposort()), ("two", (x + y).toposort()), ("three", y.toposort())]
    said = {
        "MUL, which is there after `loops`, and not after `sum` or `last`": (Ops.MUL, first),
        "ADD, which is there all the time": (Ops.ADD, first),
        "EXP2, which never is": (Ops.EXP2, first),
        "MUL, which is there after `one`, gone after `two`, back after `three`, and gone after "
        "`four`": (Ops.MUL, back),
        "ADD, which isn't there after `one`, is after `two`, and gone after `three`": (
            Ops.ADD, new),
    }  # fmt: skip
    later = False
    for case, (op, stages) in said.items():
        _stage(answer, op, [(name, [*nodes]) for name, nodes in stages], case, later)
        later = True
    for op in (Ops.EXP2, Ops.REDUCE, Ops.LOAD, Ops.RANGE, Ops.SQRT):
        _stage(answer, op, _real_stages(), f"{op.name}, on the way of a real kernel", later)
    return "You can now read the whole compiler by what it takes away."


def _stage(answer: Any, op: Ops, stages: Stages, case: str, later: bool) -> None:
    names = [name for name, _ in stages]
    got = _later(answer, op, stages, case=case) if later else call(answer, op, stages)
    got = got[0] if isinstance(got, tuple) and got and isinstance(got[0], str) else got
    if not isinstance(got, str) or got not in ("", *names):
        raise Wrong('The answer has to be the name of a stage, or "".', case,
                    ", ".join(names), describe(got))  # fmt: skip
    expected = removed(op, stages)
    if got == expected:
        return
    shown = repr(expected), repr(got)
    if not expected:
        raise Wrong('No stage removed it for good, so that\'s "".', case, *shown)
    if got and names.index(got) == names.index(expected) - 1:
        raise Wrong("After that stage it's still there. The one that removed it is the next.", case,
                    *shown)  # fmt: skip
    if got and names.index(got) < names.index(expected):
        raise Wrong("It comes back later. Find the stage after which it never does.", case, *shown)
    raise Wrong("A different stage removed it.", case, *shown)


def _real_stages() -> Stages:
    """A fresh kernel at the beginning, before it's a list, and as a list."""
    n, m = fresh_sizes(2)
    (item,) = (fresh_tensor(n, m) * fresh_tensor(n, 1).exp()).sum(axis=1).schedule()
    renderer = CStyleLanguage()
    lines = get_program(item.ast, renderer).uops
    return [
        ("loops", [*item.ast.toposort()]),
        ("graph", [*full_rewrite_to_sink(item.ast, renderer).toposort()]),
        ("lines", lines),
    ]


def loops_around(answer: Any) -> str:
    """answer(u, nest): in how many loops of a nest a value has to be computed."""
    written_without(answer, {"ranges", "depth_of"}, "which knows the answer")
    n, m, k = fresh_sizes(3)
    a, row, column = fresh_tensor(4, 6), fresh_tensor(4, 1), fresh_tensor(1, 6)
    cube = fresh_tensor(n, 3, k)
    expressions = [
        (a * (row + 1) * (column + 2)).sum(axis=1),
        (a * (column + 2) + row).max(axis=0),
        a.T * 2 + row.T,
        (cube * fresh_tensor(n, 1, 1).sqrt() + fresh_tensor(n, 3, 1)).sum(axis=(1, 2)) * 3,
        fresh_tensor(n, m) @ fresh_tensor(m, k),
    ]
    for number, expression in enumerate(expressions):
        (item,) = expression.schedule()
        nest = nest_of(item.ast)
        for u in dict.fromkeys((*nest, *item.ast.toposort())):
            if u.op in (Ops.STORE, Ops.SINK):
                continue
            found = (
                call(answer, u, nest) if u is nest[0] else
                _later(answer, u, nest, case=_place_of(u, nest, number < 3))
            )  # fmt: skip
            got = _whole(found, " of loops")
            if got != (expected := depth_of(u, nest)):
                _misplaced(u, nest, got, expected, shown=number < 3)
    return "That's all there is to it: each value goes as far out as its deepest counter allows."


def _place_of(u: UOp, nest: Sequence[UOp], shown: bool) -> str:
    """A value and its loops, as a case."""
    text, names = render(u), ", ".join(render(counter) for counter in nest)
    return f"`{text}`, in the loops {names}" if shown and len(text) < 90 else u.op.name


def _misplaced(u: UOp, nest: Sequence[UOp], got: int, expected: int, shown: bool) -> None:
    """Wrong, with what was overlooked."""
    case = _place_of(u, nest, shown)
    if u.op is Ops.RANGE and got == nest.index(u) == 0:
        words = "A counter has a value inside its own loop, so its own loop counts."
    elif u.op is Ops.REDUCE and got > expected:
        words = "A REDUCE closes the loops it runs over: its result is there when they are done."
    elif got == len(u.ranges) < expected:
        words = (
            "You counted the loops that it changes with. To be in an inner loop, it has to be in "
            "all the loops around that one."
        )
    elif got > expected and any(v.op is Ops.REDUCE for v in u.toposort()):
        words = "A REDUCE closes the loops it runs over, and what uses its result is outside, too."
    elif got > expected:
        words = "That's deeper than it has to be: nothing in it changes there."
    else:
        words = "That far out, one of its counters has no value yet."
    raise Wrong(words, case, expected, got)


def painted(answer: Any) -> str:
    """answer(row, column): the value of each pixel, from nothing but the two counters."""
    row, column = UOp.range(ROWS, 0), UOp.range(COLUMNS, 1)
    value = call(answer, row, column)
    if not isinstance(value, UOp):
        raise Wrong("The answer has to be a UOp, made of `row` and `column`.", got=describe(value))
    if trouble := unfit(value, row, column):
        raise Wrong(trouble)
    for counter, name in ((row, "row"), (column, "column")):
        if counter not in value.ranges:
            raise Wrong(f"Your pixels don't depend on `{name}`: it's all stripes.")
    if not any(u.ranges == {row} and u is not row for u in value.toposort()):
        raise Wrong("Nothing in it is computed once per row. Give the outer loop some work: "
                    "something that depends on `row` alone.")  # fmt: skip
    pixels = pixels_of(answer)
    if not np.isfinite(pixels).all():
        raise Wrong(f"{int((~np.isfinite(pixels)).sum()):,} of the pixels are infinite or NaN. "
                    "Those can't be drawn.")  # fmt: skip
    if (shades := len(np.unique(pixels))) < 8:
        raise Wrong(f"A picture needs some shades: at least 8 values. Yours has {shades}.")
    return "A kernel that reads nothing, from your formula to the pixels. Show it to someone."


EXERCISES = (
    Exercise(
        "7.10",
        "the-place-that-conv-reads",
        "A short form of seven million characters",
        place,
        hints=(
            "In which row of the image is the cell, and in which column? Only then: what's its "
            "number, if the rows are written one after another?",
            "The window begins at (row, column), so the cell is in row `row + i`, column "
            "`column + j`. Cell (y, x) of an image has the number y * width + x: that's `flat`.",
        ),
        because="The window's own rows and columns are added to where it stands, and `flat` makes "
        "one number of the two.",
    ),
    Exercise(
        "7.11",
        "scaled-by-rows-and-columns",
        "Kernels of four sums",
        predicts(kernels_of_four),
        hints=(
            "Write the two loops of each sum down, the result's loop outside. In which of them is "
            "the exponential's index?",
            "If its index is that of the outer loop, it's computed once per element. If it's that "
            "of the inner loop, the outer one repeats it.",
        ),
        shown_by="the next cell",
        because="Sums along axis 1 have the loop over rows outside. A scale for each row is "
        "computed there, once for each of its elements. A scale for each column would be computed "
        "again in every row, which is four times too often, so it's stored. For axis 0 it's the "
        "other way round.",
    ),
    Exercise(
        "7.12",
        "a-kernel-of-squares",
        "A kernel whose index is a square",
        squares,
        hints=(
            "How many loops does it have? Which of the two indices is unusual, the one that's read "
            "or the one that's written?",
            "i = UOp.range(n, 0), with n = out.dtype.size. Then out.index(i) is the place to "
            "write, data.index(i * i).load() the value, and .store(value, i) closes the loop.",
        ),
        because="It's the kernel that doubles, with one index changed: what is read is at i * i.",
    ),
    Exercise(
        "7.13",
        "which-division-is-corrected",
        "Which divisions need a correction",
        predicts(divisions),
        hints=(
            "When do Python and C disagree on x // 3? Which of the four x can be like that?",
            "They agree unless x is below 0. What's the smallest x of each of the four?",
        ),
        shown_by="the next cell",
        because="C rounds towards 0 and Python down, so they differ for negative numbers only. A "
        "counter begins at 0, an uint8 can't be negative, and neither can a maximum with 0. Only "
        "the plain int32 can.",
    ),
    Exercise(
        "7.14",
        "as-far-out-as-possible",
        "In which loop a value is computed",
        loops_around,
        hints=(
            "A value that needs two others can't be computed before both of them are there. So how "
            "deep is it, if you know how deep those are? And where does that begin?",
            "A counter's depth is its place in the nest, counted from 1. Without sources: 0. For "
            "all others take the largest depth of the sources. For a REDUCE, take the largest "
            "among what it depends on without the counters it runs over: collect counters first, "
            "and look up the deepest at the end.",
        ),
        because="A value is ready as soon as the deepest counter in it has a value, and a REDUCE "
        "is ready when the loops that it runs over are closed.",
    ),
    Exercise(
        "7.15",
        "how-often-it-is-read",
        "How often a kernel reads and writes",
        predicts(accesses),
        hints=(
            "In how many loops is each of the four? The picture says it.",
            "Multiply the sizes of the loops around: 4 outside, then 2, then 3.",
        ),
        shown_by="the next cell",
        because="`heat` is read in the outer loop alone, and the result is written there. The "
        "other two stand in all three loops, though `w` has six elements only: to be inside ridx2, "
        "it has to be inside ridx0.",
    ),
    Exercise(
        "7.16",
        "the-stage-that-removed-it",
        "Which stage removed an op",
        removed_by,
        hints=(
            "Where would you look first, at the front of the list or at its end? An op may go and "
            "come back.",
            "Find the last stage with a node of that op. If it's the last of all, nobody removed "
            'it. Otherwise it was the one after that, and if no stage has it, that\'s "" too.',
        ),
        because="After the last stage that still has the op comes the one that removed it.",
    ),
    Exercise(
        "7.17",
        "a-painting-by-loops",
        "A design: a picture from two counters",
        painted,
        hints=(
            "Which patterns do you know that are made of whole numbers? What do (row * row + "
            "column * column), or row ^ column, look like?",
            "Divide and take remainders for stripes and tiles, cast(dtypes.float) for smooth "
            "things such as sin(), and (…).where(a, b) to choose. A Python loop is fine: it makes "
            "a longer graph.",
        ),
        because="It's 24 steps of z² + c, written out one after another by a Python loop. What "
        "depends on the row alone is computed once per row.",
        seconds=60,
    ),
)
