"""Part 5, three kinds of op: what an answer has to do."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from classroom.ask import (
    call,
    count,
    fresh_sizes,
    fresh_tensor,
    kernels,
    moves,
    predicts,
    runs_as,
    same_values,
    small_tensor,
    wants,
    written_without,
)
from classroom.exercise import Exercise, Wrong
from tinyframe import Tensor
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop import Ops
from tinyframe.uop.node import GroupOp

TITLE = "Three kinds of op"

FLOATS_IN_A_LINE = 16  # 64 bytes
SHARES = {"about 1": 1.0, "about 2.5": 2.5, "about 5": 5.0, "about 10": 10.0}  # offered in 5.1


# ---- what the predictions are about, done for real ----------------------------------------------


def movements_for_each_elementwise() -> str:
    shapes = ((4, 1, 28, 28), (8, 1, 3, 3), (16, 8, 3, 3), (784, 10))
    image, filters, more_filters, weights = (empty(*shape) for shape in shapes)
    x = image.conv2d(filters, padding=1).relu().max_pool2d()
    x = x.conv2d(more_filters, padding=1).relu().max_pool2d()
    nodes = (x.flatten(1) @ weights).softmax(axis=1).uop.toposort()
    movement, elementwise = (
        sum(u.op in ops for u in nodes) for ops in (GroupOp.Movement, GroupOp.Elementwise)
    )
    return min(SHARES, key=lambda words: abs(SHARES[words] - movement / elementwise))


def cells_of_five() -> tuple[int, ...]:
    grid = numbered_grid()
    views = (grid, grid.T, grid.flip(0), grid[:, ::2], grid[0].expand(4, 6))
    return tuple(int(view[2, 1].item()) for view in views)


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


def kernels_of_four() -> tuple[int, ...]:
    a = empty(64, 64)
    expressions = (
        a.argmax(axis=1),
        a.softmax(axis=1),
        a.flatten().softmax(),
        (a @ a).softmax(axis=1),
    )
    return tuple(kernels(e) for e in expressions)


def empty(*shape: int) -> Tensor:
    """Zeros in memory."""
    return Tensor.zeros(*shape).contiguous().realize()


def numbered_grid() -> Tensor:
    """The numbers 0 to 23 in cells 0 to 23, in four rows."""
    return Tensor(np.arange(24, dtype=np.float32).reshape(4, 6)).realize()


# ---- functions ----------------------------------------------------------------------------------


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
        got = call(answer, *reads)
        case = f"`lines_touched({first}, {stride}, {number})`" if reads in shown else ""
        wants(got, int, "a whole number", case)
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


def matmul(answer: Any) -> str:
    """answer(a, b): the matrix product, by a multiplication and a sum."""
    written_without(answer, {"@", "matmul", "dot", "einsum", "mm", "linear"})
    for m, k, n in ((2, 3, 2), tuple(fresh_sizes(3))):
        small = m == 2
        a = small_tensor(m, k) if small else fresh_tensor(m, k)
        b = small_tensor(k, n) if small else fresh_tensor(k, n)
        case = (
            "`a = [[1, 2, 3], [4, 5, 6]]`, `b = [[1, 2], [3, 4], [5, 6]]`"
            if small
            else "larger matrices"
        )
        got = call(answer, a, b)
        wants(got, Tensor, "a Tensor", case)
        _summed_over_k(got, a.numpy(), b.numpy(), case)
        in_one_kernel(got, a.numpy() @ b.numpy(), case, shown=small)
    return "You just wrote a matrix product from a multiplication and a sum."


def _summed_over_k(got: Tensor, a: np.ndarray, b: np.ndarray, case: str) -> None:
    """Wrong where the products are right, and a different axis was summed over."""
    products = a[:, :, None] * b[None, :, :]
    for axis, letter in ((0, "i"), (2, "j")):
        total = products.sum(axis)
        if got.shape == total.shape and np.allclose(got.numpy(), total, rtol=1e-4):
            raise Wrong(
                f"The products are right, but you summed over {letter}. The letter that `a[i, k]` "
                "and `b[k, j]` share is k.",
                case,
            )


def windows(answer: Any) -> str:
    """answer(x, size): every window of a vector as a row, by expand, reshape and slices."""
    for n, size in ((8, 3), (fresh_sizes(1)[0], random.randint(4, 9))):
        small = n == 8
        x = Tensor(np.arange(8, dtype=np.float32)).realize() if small else fresh_tensor(n)
        case = "`x = [0, 1, 2, 3, 4, 5, 6, 7]`, `size = 3`" if small else "a longer `x`"
        got = call(answer, x, size)
        wants(got, Tensor, "a Tensor", case)
        if any(u.op is Ops.WINDOW for u in got.uop.toposort()):
            raise Wrong(
                "There is a WINDOW in your graph, from `unfold` or from a slice with a step. Build "
                "the windows from expand, reshape, plain slices and a transpose.",
                case,
            )
        found = kernels(got)
        same_values(got, np.lib.stride_tricks.sliding_window_view(x.numpy(), size), case, small)
        if found:
            raise Wrong(
                "The values are right, but they are copied. Movement alone can do this.",
                case,
                "no kernel",
                count(found, "kernel"),
            )
    return (
        "Every window at once, without a kernel: the compiler reads element k of window o from "
        "cell o + k."
    )


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
        try:
            in_one_kernel(got, expected, case, shown=small)
        except Wrong:
            if got.shape == expected.shape and np.allclose(got.numpy(), with_zeros, rtol=1e-4):
                raise Wrong(
                    "The two ends are too small: you divided by `size` there too, as if the "
                    "zeros of the padding were numbers of `x`.",
                    case,
                    *_if(small, expected.tolist(), got.tolist()),
                ) from None
            if (values == 0).any() and got.shape == expected.shape:
                raise Wrong(
                    "A 0 in `x` is a number like any other, and counts. Only the padding doesn't: "
                    "don't look at the values to tell them apart.",
                    case,
                    expected.tolist(),
                    got.tolist(),
                ) from None
            raise
    return (
        "At the ends you divide by the number of cells that exist, and the padding is nowhere in "
        "memory."
    )


def argmax(answer: Any) -> str:
    """answer(a): the position of the first largest number of each row."""
    written_without(answer, {"argmax", "argmin", "argsort", "sort", "topk"})
    for case, a in (
        ("`a = [[1, 5, 2], [7, 3, 0]]`", Tensor([[1.0, 5.0, 2.0], [7.0, 3.0, 0.0]]).realize()),
        (
            "`a = [[-3, -1, -2], [-9, -8, -7]]`",
            Tensor([[-3.0, -1.0, -2.0], [-9.0, -8.0, -7.0]]).realize(),
        ),
        ("`a = [[4, 9, 9], [6, 6, 6]]`", Tensor([[4.0, 9.0, 9.0], [6.0, 6.0, 6.0]]).realize()),
        ("", fresh_tensor(*fresh_sizes(2))),
    ):
        got = call(answer, a)
        wants(got, Tensor, "a Tensor", case)
        expected = a.numpy().argmax(axis=1)
        tied = "9, 9" in case
        if tied and got.shape == expected.shape and (got.numpy() != expected).any():
            raise Wrong(
                "If the largest number occurs more than once, the answer is the first of its "
                "positions.",
                case,
                expected.tolist(),
                got.tolist(),
            )
        same_values(got, expected, case or "a larger `a`", shown=bool(case))
    return "An argmax is two reductions, with a comparison and a choice between them."


def conv2d(answer: Any) -> str:
    """answer(images, filters): the convolution of a batch of images, in one kernel."""
    written_without(answer, {"conv1d", "conv2d", "conv3d", "conv_transpose2d", "Conv2d"})
    image, one_filter = small_tensor(3, 3).reshape(1, 1, 3, 3), small_tensor(2, 2)
    out, channels = random.sample((3, 4, 5, 6, 7), 2)
    cases = {
        "one image `[[1, 2, 3], [4, 5, 6], [7, 8, 9]]`, one filter `[[1, 2], [3, 4]]`": (
            image,
            one_filter.reshape(1, 1, 2, 2),
        ),
        "two images, several channels and filters": (
            fresh_tensor(2, channels, *fresh_sizes(2)),
            fresh_tensor(out, channels, 3, 5),
        ),
    }
    for case, (images, filters) in cases.items():
        got = call(answer, images, filters)
        wants(got, Tensor, "a Tensor", case)
        expected = convolved(images.numpy(), filters.numpy())
        if len(got.shape) != 4:
            raise Wrong(
                "The result has four axes: image, filter, row and column.",
                case,
                f"shape {expected.shape}",
                f"shape {got.shape}",
            )
        try:
            in_one_kernel(got, expected, case, shown=images is image)
        except Wrong:
            turned = convolved(images.numpy(), filters.numpy()[:, :, ::-1, ::-1])
            if got.shape == turned.shape and np.allclose(got.numpy(), turned, rtol=1e-4):
                raise Wrong(
                    "Your filter is upside down and back to front: its first element belongs to "
                    "the first element of the window.",
                    case,
                ) from None
            raise
    return "You just wrote the heart of most image classifiers, and it runs as one kernel."


def convolved(images: np.ndarray, filters: np.ndarray) -> np.ndarray:
    seen = np.lib.stride_tricks.sliding_window_view(images, filters.shape[2:], (2, 3))
    return np.einsum("nchwyx,ocyx->nohw", seen, filters)


# ---- what the functions have in common ----------------------------------------------------------


def in_one_kernel(got: Tensor, expected: np.ndarray, case: str, shown: bool) -> None:
    """Wrong unless the values are these, and then unless they are one kernel."""
    apart = None
    try:
        runs_as(got, 1, case, shown)  # before its values are asked for, which computes them
    except Wrong as wrong:
        apart = wrong
    same_values(got, expected, case, shown)
    if apart:
        raise apart


def _if(shown: Any, *values: Any) -> tuple[Any, ...]:
    """The values of a case that is shown; of fresh inputs nothing is."""
    return values if shown else ()


EXERCISES = (
    Exercise(
        "5.1",
        "kinds-movement-share",
        "How much of a network is movement",
        predicts(movements_for_each_elementwise, *SHARES),
        (
            "What does `classify` do that a convolution doesn't? How much of it is elementwise?",
            "A ReLU and a softmax are a few elementwise nodes each. But every window of the "
            "pooling is movement, and so is every maximum or sum that goes back to its row.",
        ),
        shown_by="the next cell",
        because=(
            "There are 50 movement nodes and 19 elementwise ones. Every time a filter, a weight or "
            "the maximum of a row meets something larger, it needs a RESHAPE and an EXPAND first. "
            "And a window that slides over an image takes two WINDOWs, one for each direction. "
            "The elementwise ops of ReLU and softmax make it less than in a single convolution."
        ),
    ),
    Exercise(
        "5.2",
        "kinds-cells-by-hand",
        "Which cell is it in?",
        predicts(cells_of_five),
        (
            "Write down the four rows of `grid`. Then write down the first three rows of each "
            "view, and look at row 2, column 1.",
            "Row 2, column 1 of `grid.T` is row 1, column 2 of `grid`. In `grid.flip(0)`, row 2 "
            "is row 1 of `grid`.",
        ),
        shown_by="the next cell",
        because=(
            "In `grid`, 2 * 6 + 1 = 13. The transpose swaps the strides: 2 * 1 + 1 * 6 = 8. The "
            "flipped grid starts in cell 18 and walks up: 18 - 2 * 6 + 1 = 7. With every second "
            "column, one step to the right is 2 cells: 2 * 6 + 1 * 2 = 14. The expanded row has "
            "stride 0 down its columns: 2 * 0 + 1 = 1."
        ),
    ),
    Exercise(
        "5.3",
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
        "5.4",
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
        "5.5",
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
        "5.6",
        "kinds-cache-lines",
        "How many cache lines are touched",
        lines_touched,
        (
            "In which line is cell 0? Cell 15? Cell 16? Cell 100?",
            "The line of a cell is `cell // 16`. Which Python type keeps each line once, however "
            "often you put it in?",
        ),
        because=(
            "A line counts once, however many of its floats you read. So collect the line of "
            "each cell in a set, and count the set."
        ),
    ),
    Exercise(
        "5.7",
        "kinds-matmul",
        "A matrix product from a multiplication and a sum",
        matmul,
        (
            "`a[i, k]` has to meet `b[k, j]` for every i, k and j. What shape does a tensor with "
            "one element for each of those have?",
            "The products have the shape (m, k, n). `a` has no axis for j, and `b` has none for i. "
            "Give each of them an axis of size 1 there. Which axis do you sum over?",
        ),
        because=(
            "Broadcasting lines up a[i, k] with b[k, j] at place (i, k, j). The sum over k is the "
            "definition of the matrix product."
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
        "kinds-windows",
        "Every window of a vector",
        windows,
        (
            "In the example there were rows of nine because the vector has eight numbers. How many "
            "numbers do you need to fill `size` rows?",
            "Repeat the vector often enough, and cut the line into `size` rows of `n + 1`. How "
            "many of their columns are windows? And do you want windows as columns or as rows?",
        ),
        because=(
            "A row that is one longer than the vector pushes the next row one step ahead. Row k "
            "therefore starts with element k, so column o holds elements o, o + 1, o + 2 and so "
            "on: window number o."
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
        "kinds-argmax",
        "argmax, from smaller parts",
        argmax,
        (
            "Which elements of a row are equal to its maximum? How could you turn those into "
            "their positions, and all others into something that never wins?",
            "`a == a.max(axis=1, keepdim=True)` marks the largest numbers. With `where`, put the "
            "position wherever there is a mark, and something too large everywhere else.",
        ),
        because=(
            "The comparison marks every largest number of a row. The choice replaces each mark by "
            "its position and everything else by m, the number of columns, which is larger than "
            "any position. So the minimum is the position of the first mark."
        ),
    ),
    Exercise(
        "5.13",
        "kinds-kernels-of-four",
        "Kernels of four expressions",
        predicts(kernels_of_four),
        (
            "For each of them: can one row be finished before the next one is begun?",
            "A vector has one maximum and one sum, and all of its 4,096 quotients wait for them. "
            "And `scores @ scores`: how often does a softmax look at each of its numbers?",
        ),
        shown_by="the next cell",
        because=(
            "With rows, all reductions of one row happen before the next row starts, in one "
            "kernel. A softmax over a single vector has 4,096 results that wait for one sum, so "
            "the sum gets a kernel of its own. And a softmax reads each number of `scores @ "
            "scores` three times: storing it is cheaper than multiplying the matrices three times "
            "over."
        ),
    ),
    Exercise(
        "5.14",
        "kinds-conv2d",
        "Design: a convolution of your own",
        conv2d,
        (
            "Start with the windows of the images: `unfold` along the rows, then along the "
            "columns. Which shape do you have then? Which axis is missing that the filters have?",
            "The windows have six axes, and a product has seven: the seventh is the filter. In "
            "exercise 5.7 an axis of size 1 made room for an axis of the other matrix. Which axes "
            "of size 1 do the windows need, and which do the filters need?",
        ),
        because=(
            "It is the matrix product again. Line up each window with each filter at place (image, "
            "filter, channel, row, column, window row, window column), multiply, and sum over "
            "the three axes that both of them have."
        ),
    ),
)
