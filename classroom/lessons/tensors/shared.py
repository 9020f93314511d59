"""What several exercises of this lesson need."""

import dis
from types import CodeType
from typing import Any

import numpy as np

from classroom.ask import (
    describe,
)
from classroom.differences import close
from classroom.exercise import Wrong
from classroom.guesses import Shape
from tinyframe import Tensor


def shapes_of(*tensors: Tensor) -> tuple[Shape, ...]:
    return tuple(Shape(t.max_shape) for t in tensors)


def without_a_loop(answer: Any) -> None:
    """Wrong where the learner's function has a `for` or a `while` in it."""
    pending = [getattr(answer, "__code__", None)]
    while pending:
        if (code := pending.pop()) is None:
            continue
        if any(step.opname in LOOPING for step in dis.get_instructions(code)):
            raise Wrong("There is a loop in your function. A column that meets a row needs none.")
        pending += [inner for inner in code.co_consts if isinstance(inner, CodeType)]


LOOPING = {"FOR_ITER", "JUMP_BACKWARD"}


def unlike(
    got: Tensor, mistakes: dict[str, np.ndarray], expected: np.ndarray, case: str, shown: bool
) -> None:
    """Wrong, with its sentence, where an answer is what a well-known mistake gives."""
    values = got.numpy()
    if values.shape != expected.shape or close(values, expected):
        return
    for said, mistaken in mistakes.items():
        if close(values, mistaken):
            both = (expected, values) if shown else ()
            raise Wrong(said, case, *(describe(each.tolist()) for each in both))
