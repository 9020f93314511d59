"""What several exercises of this lesson need."""

import dis

from classroom.ask import Wrong, codes
from classroom.guesses import Shape
from tinyframe import Tensor


def shapes_of(*tensors: Tensor) -> tuple[Shape, ...]:
    return tuple(Shape(t.max_shape) for t in tensors)


def without_a_loop(answer) -> None:
    """Wrong where the learner's function has a `for` or a `while` in it."""
    code = getattr(answer, "__code__", None)
    for each in codes(code) if code is not None else ():
        if any(step.opname in LOOPING for step in dis.get_instructions(each)):
            raise Wrong("There is a loop in your function. A column that meets a row needs none.")


LOOPING = {"FOR_ITER", "JUMP_BACKWARD"}
