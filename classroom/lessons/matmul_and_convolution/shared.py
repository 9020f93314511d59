"""What several exercises of this lesson need."""

import numpy as np

from classroom.ask import (
    runs_as,
    same_values,
)
from classroom.differences import close
from classroom.exercise import Wrong
from classroom.lessons.three_kinds_of_op.shared import _if
from tinyframe import Tensor


def empty(*shape: int) -> Tensor:
    """Zeros in memory."""
    return Tensor.zeros(*shape).contiguous().realize()


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
