"""Stage 3: flat, unflat, and an Array that stores nothing."""

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.mini.check import Wrong, describe, wrong_if

ASKED_TOO_EARLY = (
    "Elements were computed when the Array was made. The new Array should only keep a function: "
    "the work is done when you call `at`."
)


class Counted:
    """A function that counts how often it is called."""

    def __init__(self, function: Any) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        return self.function(*arguments)


def counting(mini, *shape: int) -> Any:
    """An Array of 1, 2, 3, …, made without anything that the learner writes."""
    sizes = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]

    def at(index: Any) -> int:
        wrong_if(isinstance(index, (list, tuple)) and len(index) != len(shape),
                 f"An Array of shape {shape} was asked for the element {describe(index)}. An index "
                 "has one number for each axis.")  # fmt: skip
        return 1 + sum(k * n for k, n in zip(index, sizes, strict=True))

    return mini.Array(shape, Counted(at))


def nothing_yet(array: Any) -> None:
    if not isinstance(array.at, Counted):
        raise Wrong("You changed the Array itself. Leave it as it is, and return a new one.")
    if array.at.calls:
        raise Wrong(ASKED_TOO_EARLY, got=f"{array.at.calls} calls of `at`")


class Later:
    """A whole number that is not known yet, like a loop counter: it can be calculated with."""

    def __init__(self, value: Callable[[int], int]) -> None:
        self.value = value


def _operator(f: Callable[[int, int], int]) -> Callable[[Later, Any], Later]:
    def of_later(x: Later, y: Any) -> Later:
        known = y.value if isinstance(y, Later) else lambda _: y
        return Later(lambda now: f(x.value(now), known(now)))

    return of_later


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    _function = getattr(operator, _name)
    setattr(Later, f"__{_name}__", _operator(_function))
    setattr(Later, f"__r{_name}__", _operator(lambda x, y, f=_function: f(y, x)))  # type: ignore[misc]


setattr(Later, "__divmod__", lambda x, y: (x // y, x % y))  # noqa: B010


NO_IF = (
    "This index is made of {}, which come in stage 5. Python's `if`, `int`, `max` and such "
    "need a single number that is known. + - * // % will do."
)


def is_array(said: str, got: Any, mini, shape: tuple[int, ...]) -> None:
    if not isinstance(got, mini.Array):
        nothing = " Is there a `return`?" if got is None else ""
        raise Wrong(f"{said} should give an Array.{nothing}", said, "an Array", repr(got))
    if tuple(got.shape) != shape:
        raise Wrong(f"The shape should be {shape}, and it is {tuple(got.shape)}.", said, shape,
                    got.shape)  # fmt: skip
    if not callable(got.at):
        raise Wrong("The second thing that an Array is made from has to be a function that takes "
                    "an index. `lambda index: …` makes one.", f"{said}.at", "a function",
                    describe(got.at))  # fmt: skip


def elements(array: Any) -> np.ndarray:
    found = [array.at(i) for i in itertools.product(*map(range, array.shape))]
    for element in found:
        if not isinstance(element, (int, float, np.number)):
            raise Wrong("`at` should give a number.", got=repr(element))
    return np.array(found).reshape(array.shape)
