"""Part 5, three kinds of op: what an answer has to do."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from classroom.ask import (
    call,
    count,
    describe,
    fresh_sizes,
    fresh_tensor,
    kernels,
    moves,
    predicts,
    runs_as,
    same_values,
    small_tensor,
    wants,
    whole_number,
    written_without,
)
from classroom.differences import close
from classroom.exercise import Exercise, Open, Wrong
from tinyframe import Tensor
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage

TITLE = "Three kinds of op"

FLOATS_IN_A_LINE = 16  # 64 bytes


# ---- what the predictions are about, done for real ----------------------------------------------


def kernels_of_a_view() -> tuple[int, ...]:
    grid = numbered_grid()
    moved = grid.T.flip(0).reshape(2, 12)[:, 2:10].reshape(2, 1, 8).expand(2, 3, 8)
    return kernels(moved), kernels(moved * 2)


def strides_are_enough() -> tuple[bool, ...]:
    grid = numbered_grid()
    views = (
        grid.flip(1),
        grid[1:3, ::2],
        grid[0].expand(4, 6),
        grid.T.reshape(24),
        grid[:, 1:5].reshape(4, 2, 2),
        grid[:, 1:5].reshape(16),
    )
    return tuple(None not in view.uop.st.strides for view in views)


def kernels_and_megabytes() -> tuple[int, ...]:
    items = (empty(512, 512) @ empty(512, 512)).schedule()
    moved = sum(buf.nbytes for item in items for buf in item.bufs)
    return len(items), moved // 1_000_000


def loops_of_a_convolution() -> int:
    (item,) = empty(2, 3, 8, 8).conv2d(empty(4, 3, 3, 3)).schedule()
    return get_program(item.ast, CStyleLanguage(), []).src.count("for (")


def empty(*shape: int) -> Tensor:
    """Zeros in memory."""
    return Tensor.zeros(*shape).contiguous().realize()


def numbered_grid() -> Tensor:
    """The numbers 0 to 23 in cells 0 to 23, in four rows."""
    return Tensor(np.arange(24, dtype=np.float32).reshape(4, 6)).realize()


# ---- functions ----------------------------------------------------------------------------------


VIEWS = (((6, 4), (-1, 6), 5), ((2, 3), (12, 2), 6), ((3, 4), (0, 6), 2))  # as 5.1 asks for them


def three_views(answer: Any) -> str:
    """answer(grid): three views of a matrix in memory, whose strides and offsets are given."""
    grid = numbered_grid()
    got = call(answer, grid)
    if not isinstance(got, (tuple, list)) or len(got) != len(VIEWS):
        raise Wrong("The answer has to be a tuple of three views.", got=describe(got))
    for number, (view, (shape, strides, offset)) in enumerate(zip(got, VIEWS, strict=True), 1):
        case = f"view {number}"
        if view is ...:
            raise Open(f"View {number} is still missing.")
        wants(view, Tensor, "a Tensor", case)
        if view.shape != shape:
            raise Wrong("The shape is different.", case, shape, view.shape)
        runs_as(view, 0, case, shown=True)
        if grid.uop.base not in view.uop.toposort():
            raise Wrong(
                "These are copies of the numbers. Move the elements of `grid` itself.", case
            )
        how = view.uop.st
        asked, found = (f"strides {s}, offset {o}" for s, o in
                        ((strides, offset), (how.strides, how.offset)))  # fmt: skip
        if how.strides != strides:
            axis = next(n for n in range(2) if how.strides[n] != strides[n])
            said = (
                "one step right" if axis else "one step down",
                "no single number of cells" if how.strides[axis] is None
                else count(how.strides[axis], "cell"),
            )  # fmt: skip
            raise Wrong(
                f"In yours, {said[0]} is {said[1]} in memory; it should be {strides[axis]}.",
                case, asked, found,
            )  # fmt: skip
        if how.offset != offset:
            raise Wrong(
                f"The strides are right, but yours begins in cell {how.offset}.", case, asked, found
            )
        (rows, columns), (down, along) = shape, strides
        cells = offset + down * np.arange(rows)[:, None] + along * np.arange(columns)
        same_values(view, cells.astype(np.float32), case)
    return "You read strides backwards: from the walk through memory to the movement that makes it."


def anti_transpose(answer: Any) -> str:
    """answer(a): a reflected across its other diagonal, without a kernel."""
    moves(answer, lambda a: a[::-1, ::-1].T, "a")
    return "You rearranged a whole matrix without moving a single number."


def lines_touched(answer: Any) -> str:
    """answer(first, stride, count): how many cache lines these reads touch."""
    shown = [(0, 1, 16), (0, 1, 17), (8, 1, 16), (0, 16, 10), (0, 40, 3), (0, 0, 10)]
    fresh = [(random.randint(0, 50), random.randint(1, 40), random.randint(2, 60)) for _ in "1234"]
    for reads in shown + fresh:
        first, stride, number = reads
        case = f"`lines_touched({first}, {stride}, {number})`" if reads in shown else ""
        got = whole_number(call(answer, *reads), case)
        expected = len({(first + k * stride) // FLOATS_IN_A_LINE for k in range(number)})
        if got != expected:
            raise Wrong(_about_lines(got, expected, reads), case, *_if(case, expected, got))
    return (
        "Ten floats side by side come in one or two cache lines. Ten floats that are 16 or more "
        "cells apart take ten."
    )


def _about_lines(got: int, expected: int, reads: tuple[int, int, int]) -> str:
    """What somebody who got this number has probably counted."""
    first, stride, number = reads
    last = first + (number - 1) * stride
    counted = {
        number: "You counted the floats. Several of them can be in one cache line.",
        (last - first) // FLOATS_IN_A_LINE + 1: "Mind where the first float is in its line.",
        last // FLOATS_IN_A_LINE - first // FLOATS_IN_A_LINE + 1: (
            "You counted every line between the first float and the last. A large stride skips "
            "lines, and those are not read."
        ),
    }
    return counted.get(got, f"Your count is too {'high' if got > expected else 'low'}.")


def fetches(answer: Any) -> str:
    """answer(cells, room): how many lines a cache of so many lines fetches for these reads."""
    across = np.arange(64 * 64).reshape(64, 64)
    shown = [([0, 1, 2, 31], 4), ([0, 1, 16, 17, 0], 1), ([0, 16, 0, 32, 0, 16], 2)]
    given = [whole_number(call(answer, [*cells], room), _of_cache(cells, room))
             for cells, room in shown]  # fmt: skip
    said = {
        "You fetched a line for every read, even where it was in the cache.":
            lambda cells, room: len(cells),
        "Your cache keeps more than `room` lines. One has to go before the next can come.":
            lambda cells, room: len({cell // FLOATS_IN_A_LINE for cell in cells}),
        "A fetch brings a whole line, 16 cells, and not a single one.":
            lambda cells, room: len(set(cells)),
        "Your cache throws out the line that came in first. It should be the one that hasn't been "
        "used for the longest time, and each read of a line is a use.":
            lambda cells, room: fetched(cells, room, renews=False),
    }  # fmt: skip
    why = [words for words, count_as in said.items() if given == [count_as(*c) for c in shown]]
    for (cells, room), got in zip(shown, given, strict=True):
        if got != (expected := fetched(cells, room)):
            words = why[0] if why else f"That's too {'many' if got > expected else 'few'} fetches."
            raise Wrong(words, _of_cache(cells, room), expected, got)
    fresh = [(random.choices(range(400), k=300), random.randint(3, 9)) for _ in "12"]
    for cells, room in (*fresh, (across.T.ravel().tolist(), 32)):
        got = whole_number(call(answer, [*cells], room), "many reads")
        if got != (expected := fetched(cells, room)):
            more = "many" if got > expected else "few"
            raise Wrong(f"With many reads, you get too {more} fetches.")
    along, down = (fetched(walk.ravel().tolist(), 32) for walk in (across, across.T))
    return (
        "You built a cache. With room for 32 lines, it takes "
        f"{along} fetches to read a 64 × 64 matrix along its rows, and {down:,} to read it down "
        f"its columns: each line {down // along} times."
    )


def _of_cache(cells: list[int], room: int) -> str:
    return f"`fetches({cells}, room={room})`"


def fetched(cells: list[int], room: int, renews: bool = True) -> int:
    """The fetches of a cache that drops the line used longest ago (or, where a use renews nothing,
    the line that came first)."""
    kept, number = list[int](), 0
    for line in (cell // FLOATS_IN_A_LINE for cell in cells):
        if line not in kept:
            number += 1
            kept = [*kept, line][-room:]
        elif renews:
            kept.remove(line)
            kept.append(line)
    return number


def cheapest(answer: Any) -> str:
    """answer(a, b): the smallest a[i, k] + b[k, j] over all k, in one kernel."""
    first = np.array([[3, 1], [4, 9], [8, 2]], np.float32), np.array([[5, 2], [6, 1]], np.float32)
    m, k, n = fresh_sizes(3)
    fresh = fresh_tensor(m, k).numpy(), fresh_tensor(k, n).numpy()
    for a, b in (first, fresh):
        small = a is first[0]
        case = (
            "`a = [[3, 1], [4, 9], [8, 2]]`, `b = [[5, 2], [6, 1]]`" if small else "larger tables"
        )
        got = call(answer, Tensor(a).realize(), Tensor(b).realize())
        wants(got, Tensor, "a Tensor", case)
        trips = a[:, :, None] + b[None]
        expected = trips.min(axis=1)
        mistakes = {
            "That's the matrix product: prices are added here, and the lowest sum counts.": a @ b,
            "You multiplied the two prices. A trip costs their sum.":
                (a[:, :, None] * b[None]).min(axis=1),
            "You found the most expensive trips.": trips.max(axis=1),
            "You added up the trips over all airports. Only the cheapest of them counts.":
                trips.sum(axis=1),
            "That's the cheapest trip to j, wherever you start. You reduced over i; the letter "
            "that `a[i, k]` and `b[k, j]` share is k.": trips.min(axis=0),
            "That's the cheapest trip from i, wherever you go. You reduced over j; the letter "
            "that `a[i, k]` and `b[k, j]` share is k.": trips.min(axis=2),
            "You chose the cheapest of each on its own: the two have to meet in the same airport.":
                a.min(axis=1, keepdims=True) + b.min(axis=0),
        }  # fmt: skip
        in_one_kernel(got, expected, case, small, mistakes)
    return (
        "A matrix product with + for × and min for Σ: shortest routes. Nothing in the framework "
        "had to change for it."
    )


def shear(answer: Any) -> str:
    """answer(x): row i of a matrix, i places further to the right, by movement alone."""
    for rows, columns in ((3, 3), tuple(fresh_sizes(2))):
        small = rows == 3
        x = small_tensor(3, 3) if small else fresh_tensor(rows, columns)
        case = "`x = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]`" if small else "a larger matrix"
        got = call(answer, x)
        wants(got, Tensor, "a Tensor", case)
        moved = kernels(got)
        values = x.numpy()
        expected = sheared(values)
        mistakes = {
            "Your rows move to the left. Should the next row start later or earlier?":
                sheared(values[:, ::-1])[:, ::-1],
            "Your columns move down. It's the rows that should move to the right.":
                sheared(values.T),
        }  # fmt: skip
        told_apart(got, mistakes, expected, case, small)
        same_values(got, expected, case, shown=small)
        if moved:
            raise Wrong(
                "The values are right, but they are computed. Movement alone can do this.",
                case, "no kernel", count(moved, "kernel"),
            )  # fmt: skip
        if x.uop.base not in got.uop.toposort():
            raise Wrong("These are copies of the numbers. Move the elements of `x` itself.", case)
    return (
        "Now add up the columns of a sheared table of products, and you have the multiplication "
        "that you learned at school."
    )


def sheared(values: np.ndarray) -> np.ndarray:
    rows, columns = values.shape
    result = np.zeros((rows, rows + columns - 1), values.dtype)
    for i, row in enumerate(values):
        result[i, i : i + columns] = row
    return result


def average(answer: Any) -> str:
    """answer(x, size): the moving average, in which only cells that exist count."""
    written_without(answer, {"avg_pool2d", "avg_pool1d", "avg_pool3d", "interpolate"})
    for case, x, size in (
        ("`x = [1, 2, 3, 4]`, `size = 3`", Tensor([1.0, 2.0, 3.0, 4.0]).realize(), 3),
        ("`x = [0, 0, 6, 0]`, `size = 3`", Tensor([0.0, 0.0, 6.0, 0.0]).realize(), 3),
        ("a longer `x`", fresh_tensor(fresh_sizes(1)[0]), random.choice((5, 7, 9))),
    ):
        n, small = len(x), case.startswith("`")
        got = call(answer, x, size)
        wants(got, Tensor, "a Tensor", case)
        half, values = size // 2, x.numpy()
        parts = [values[max(0, i - half) : i + half + 1] for i in range(n)]
        expected = np.array([part.mean() for part in parts])
        with_zeros = np.array([part.sum() / size for part in parts])
        with np.errstate(invalid="ignore"):
            skipping = np.array([part.sum() / (part != 0).sum() for part in parts])
        mistakes = {
            "The two ends are too small: you divided by `size` there too, as if the zeros of the "
            "padding were numbers of `x`.": with_zeros,
            "These are sums. Divide each by how many of its cells exist.": with_zeros * size,
        }
        if (values == 0).any():
            said = (
                "A 0 in `x` is a number like any other, and counts. Only the padding doesn't: "
                "don't look at the values to tell them apart."
            )
            mistakes[said] = skipping
        in_one_kernel(got, expected, case, small, mistakes)
    return (
        "At the ends you divide by the number of cells that exist, and the padding is nowhere in "
        "memory."
    )


def mismatch(answer: Any) -> str:
    """answer(scene, piece): how far each window of a picture is from a piece, in one kernel."""
    small_scene = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 8, 7, 6]], np.float32)
    high, wide = random.sample((3, 4, 5, 6, 7), 2)
    cases = {
        "`scene = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 8, 7, 6]]`, `piece = [[6, 7], [8, 7]]`":
            (small_scene, small_scene[1:, 1:3]),
        "a larger picture": (fresh_tensor(*fresh_sizes(2)).numpy(),
                             fresh_tensor(high, wide).numpy()),
    }  # fmt: skip
    for case, (scene, piece) in cases.items():
        small = scene is small_scene
        got = call(answer, Tensor(scene).realize(), Tensor(piece).realize())
        wants(got, Tensor, "a Tensor", case)
        seen = np.lib.stride_tricks.sliding_window_view(scene, piece.shape)
        apart = seen - piece
        expected = (apart**2).sum((2, 3))
        mistakes = {
            "That's a convolution. It's large wherever the picture is bright, and not only where "
            "the piece fits.": (seen * piece).sum((2, 3)),
            "You added up the differences, so those above and below 0 cancel out. Square them "
            "first.": apart.sum((2, 3)),
            "You added up the sizes of the differences. Add up their squares.":
                abs(apart).sum((2, 3)),
            "You squared the sum of the differences. Square each of them, then add up.":
                apart.sum((2, 3)) ** 2,
            "That's the mean of the squares. The exercise asks for their sum.":
                (apart**2).mean((2, 3)),
            "Your piece is upside down and back to front: its first element belongs to the first "
            "element of the window.": ((seen - piece[::-1, ::-1]) ** 2).sum((2, 3)),
        }  # fmt: skip
        in_one_kernel(got, expected, case, small, mistakes)
    return (
        "It is 0 where the piece belongs, and nowhere else. You tried every place in the picture, "
        "in one kernel."
    )


# ---- what the functions have in common ----------------------------------------------------------


def in_one_kernel(
    got: Tensor,
    expected: np.ndarray,
    case: str,
    shown: bool,
    mistakes: dict[str, np.ndarray] | None = None,
) -> None:
    """Wrong unless the values are these, and then, of a case that is shown, unless they are one
    kernel: of fresh sizes the compiler may split a sum. mistakes: what is said of values that a
    well-known mistake gives."""
    apart = None
    if shown:
        try:
            runs_as(got, 1, case, shown)  # before its values are asked for, which computes them
        except Wrong as wrong:
            apart = wrong
    told_apart(got, mistakes or {}, expected, case, shown)
    same_values(got, expected, case, shown)
    if apart:
        raise apart


def told_apart(
    got: Tensor, mistakes: dict[str, np.ndarray], expected: np.ndarray, case: str, shown: bool
) -> None:
    """Wrong, with its sentence, where an answer has the values of a well-known mistake."""
    values = got.numpy()
    if values.shape == expected.shape and close(values, expected):
        return
    for said, mistaken in mistakes.items():
        if values.shape == mistaken.shape and np.allclose(
            values, mistaken, rtol=1e-4, equal_nan=True
        ):
            raise Wrong(said, case, *_if(shown, expected.tolist(), values.tolist()))


def _if(shown: Any, *values: Any) -> tuple[Any, ...]:
    """The values of a case that is shown; of fresh inputs nothing is."""
    return values if shown else ()


EXERCISES = (
    Exercise(
        "5.1",
        "kinds-views-from-strides",
        "Three views, from their strides",
        three_views,
        (
            "In view 1, a step down is one cell back, and a step right is a whole row of `grid`. "
            "Which two movements turn steps around like that?",
            "View 1 begins in cell 5, the end of the first row: flip that axis, then transpose. "
            "View 2 jumps two rows and two columns at a time. View 3 stays where it is when you "
            "go down: `expand`.",
        ),
        because=(
            "`grid.flip(1)` has strides (6, -1) and begins in cell 5, and the transpose swaps the "
            "strides. `grid[1::2, ::2]` begins in row 1 and doubles both. `grid[:, 2]` walks down "
            "a column in steps of 6, and expanding it adds an axis with stride 0."
        ),
    ),
    Exercise(
        "5.2",
        "kinds-view-kernels",
        "Kernels of a chain of movements",
        predicts(kernels_of_a_view),
        (
            "Which of these methods computes a new number?",
            "If only the places change, what is left for a kernel to do?",
        ),
        shown_by="the next cell",
        because=(
            "None of the six steps computes anything, so there is nothing to run. Each one adds "
            "its rule to the index that the next kernel reads with. The multiplication does "
            "compute something, so it gets one kernel, and all six steps are in its index. (Grey "
            "cells in the picture can't be reached any more.)"
        ),
    ),
    Exercise(
        "5.3",
        "kinds-anti-transpose",
        "Reflected across the other diagonal, without a kernel",
        anti_transpose,
        (
            "On paper: where does the number in the bottom right corner go? And the one in the "
            "top right corner?",
            "A transpose swaps the top right corner with the bottom left one. You want it to swap "
            "the other two. What do you have to do to the matrix first?",
        ),
        because=(
            "Reversing both axes is half a turn: each number lands opposite its old place. The "
            "transpose then reflects the result across the main diagonal. Half a turn and a "
            "reflection across one diagonal make a reflection across the other."
        ),
    ),
    Exercise(
        "5.4",
        "kinds-strides-suffice",
        "Which of these can strides describe?",
        predicts(strides_are_enough),
        (
            "Write down the cell numbers along each axis of the view. Are neighbours always the "
            "same distance apart?",
            "`grid.T.reshape(24)` begins with the cells 0, 6, 12, 18, 1. `grid[:, 1:5]` has four "
            "cells of each row. What comes after the fourth one?",
        ),
        shown_by="the next cell",
        because=(
            "Strides work as long as one step along an axis always means the same number of cells. "
            "In number 4 the step is 6, 6, 6 and then back by 17; in number 6 it is 1, 1, 1 and "
            "then 3. Number 5 has the same numbers as number 6, but the jump falls between two "
            "rows, where it has a stride of its own."
        ),
    ),
    Exercise(
        "5.5",
        "kinds-cache-lines",
        "How many cache lines are touched",
        lines_touched,
        (
            "Which line is cell 0 in? And cells 15, 16 and 100?",
            "The line of a cell is `cell // 16`. Which Python type keeps each line once, however "
            "often you put it in?",
        ),
        because=(
            "A line counts once, however many of its floats you read. So collect the line of "
            "each cell in a set, and count the set."
        ),
    ),
    Exercise(
        "5.6",
        "kinds-fetches",
        "A cache",
        fetches,
        (
            "What do you have to know about the lines that you keep, to throw out the right one? "
            "In which order could a list hold them?",
            "Keep a list of lines, with the most recently used one at the end. If the line you "
            "read is in the list, move it to the end. If it isn't, count a fetch, append it, and "
            "drop the first line if there are now more than `room`.",
        ),
        because=(
            "The list is kept in the order of last use, so the line to drop is always the first. "
            "Every read puts its line at the end, whether it was in the list or had to be fetched."
        ),
    ),
    Exercise(
        "5.7",
        "kinds-cheapest-trips",
        "The cheapest trip, as a matrix product",
        cheapest,
        (
            "There is a price for every i, k and j. What shape does a tensor with all of those "
            "have? And which of the three axes has to go?",
            "`a[:, :, None]` has the shape (m, k, 1), and `b` fits under its last two axes. `min` "
            "takes `axis=`, like `sum`.",
        ),
        because=(
            "Broadcasting lines up a[i, k] with b[k, j] at place (i, k, j), as in a matrix "
            "product. Then they are added instead of multiplied, and the minimum over k takes the "
            "place of the sum."
        ),
    ),
    Exercise(
        "5.8",
        "kinds-matmul-cost",
        "Kernels and megabytes of a matrix product",
        predicts(kernels_and_megabytes),
        (
            "Does anything but the sum ever need the products?",
            "If no product is stored, what is read, and what is written? How many bytes is a "
            "matrix of 512 × 512 floats?",
        ),
        shown_by="the next cell",
        because=(
            "The multiplication happens inside the loop of the sum, so there is one kernel. It "
            "reads two matrices and writes one. Each of the three takes 512 * 512 * 4 bytes, a "
            "little over 1 MB."
        ),
    ),
    Exercise(
        "5.9",
        "kinds-shear",
        "Each row one place further to the right",
        shear,
        (
            "Cut into rows one number longer than the eight that repeat, and each row starts one "
            "number later. What if the rows are one number *shorter* than what repeats?",
            "The result has n + m - 1 columns. Pad every row with zeros until it's one longer "
            "than that, write all rows in one line, and cut the line into rows of n + m - 1.",
        ),
        because=(
            "Each padded row has n + m numbers, and each row of the result takes n + m - 1. So "
            "every row starts one place earlier in its padded row than the row above, and its "
            "numbers stand one place further to the right."
        ),
    ),
    Exercise(
        "5.10",
        "kinds-loops-of-conv",
        "How many loops a convolution has",
        predicts(loops_of_a_convolution),
        (
            "One loop for each axis of the result, and one for each axis that is summed over.",
            "The result has the axes image, filter, row, column. What does one number of the "
            "result add up?",
        ),
        shown_by="the next cell",
        because=(
            "Four loops walk over the result: image, filter, row, column. For each of its numbers "
            "three more walk over what is added up: channel, and row and column of the window."
        ),
    ),
    Exercise(
        "5.11",
        "kinds-honest-average",
        "A moving average that is right at the ends",
        average,
        (
            "You need two sums for each window: of its numbers, and of how many of its cells "
            "exist.",
            "If every number of `x` were 1, and the padding 0, what would the sum of a window "
            "tell you?",
        ),
        because=(
            "Padded ones are 1 where a cell exists and 0 where it doesn't. Neither the ones nor "
            "the zeros are stored: in the C, each of them is `condition ? 1.0f : 0.0f`."
        ),
    ),
    Exercise(
        "5.12",
        "kinds-where-it-belongs",
        "Design: where does this piece belong?",
        mismatch,
        (
            "Start with the windows: `unfold` along the rows, then along the columns. Which shape "
            "do you have then, and how does `piece` fit under it?",
            "The windows have the shape (rows, columns, high, wide), and `piece`, of shape (high, "
            "wide), lines up with their last two axes. Subtract, square, and sum over those two.",
        ),
        because=(
            "It has the structure of a convolution: windows, an elementwise operation with the "
            "piece, a sum over the window. Where a convolution multiplies, this one subtracts and "
            "squares."
        ),
    ),
)
