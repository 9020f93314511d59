"""Part 2, set-up and first steps: what an answer has to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from classroom.ask import (
    describe,
    fresh_sizes,
    fresh_tensor,
    moves,
    predicts,
    wants,
)
from classroom.exercise import Exercise, Wrong
from tinyframe import GlobalCounters, Tensor
from tinyframe.uop import Ops

TITLE = "Set-up and first steps"


def chessboard(answer: Any) -> str:
    """A Tensor of 4 × 4, 0 and 1 in turns, made of Tensor.arange(4)."""
    wants(answer, Tensor, "a Tensor")
    if any(u.op is Ops.COPY for u in answer.uop.toposort()):
        raise Wrong("It is made of a list. Make it of `Tensor.arange(4)`.")
    if answer.shape != (4, 4):
        raise Wrong("The shape is another one.", expected=(4, 4), got=describe(answer))
    values = answer.numpy().astype(int)
    rows, columns = np.indices((4, 4))
    if not any((values == (rows + columns + first) % 2).all() for first in (0, 1)):
        raise Wrong("A chessboard changes at every step, down and to the right.",
                    got=str(values.tolist()))  # fmt: skip
    return "A column and a row meet in a table: neither was ever written out four times."


def three_dtypes() -> tuple[str, ...]:
    results = (
        Tensor([True, False]).sum(),
        Tensor([1, 2, 4]).mean(),
        Tensor([1.0], dtype="half") * Tensor([2]),
    )
    return tuple(str(t.dtype).removeprefix("dtypes.") for t in results)


def kernels_of_four_lines() -> tuple[int, ...]:
    a = fresh_tensor(*fresh_sizes(2))
    found = []

    def ran(run: Any) -> None:
        before = GlobalCounters.kernel_count
        run()
        found.append(GlobalCounters.kernel_count - before)

    t = (a + 1) * 2
    ran(lambda: (a + 1) * 2)
    ran(t.tolist)
    ran(t.tolist)
    ran(lambda: (t - 3).exp().tolist())
    return tuple(found)


def column_upwards(answer: Any) -> str:
    """answer(x): the second column from bottom to top, without a kernel."""
    moves(answer, lambda x: x[::-1, 1], "x")
    return "An offset and a negative stride: the same numbers, read where they are."


EXERCISES = (
    Exercise(
        "2.1",
        "steps-chessboard",
        "A chessboard",
        chessboard,
        (
            "The number of the row plus the number of the column: where is that even?",
            "`row.reshape(4, 1)` is a column. A column plus a row is a table.",
        ),
    ),
    Exercise(
        "2.2",
        "steps-three-dtypes",
        "Three dtypes",
        predicts(three_dtypes),
        (
            "What is a sum of True and False? And must a mean of ints be whole?",
            "A float that meets ints of any size stays what it is.",
        ),
        shown_by="the next cell",
    ),
    Exercise(
        "2.3",
        "steps-kernels-of-four-lines",
        "Kernels of four lines",
        predicts(kernels_of_four_lines),
        (
            "Which of the four lines ask for values that nobody has yet?",
            "After the first answer, what does `t` point at?",
        ),
        shown_by="the next cell",
    ),
    Exercise(
        "2.4",
        "steps-column-upwards",
        "The second column, upwards",
        column_upwards,
        (
            "Two movements: choose a column, and turn the order around.",
            "`x[:, 1]` is the second column; `flip(0)` or a step of -1 turns it around.",
        ),
    ),
)
