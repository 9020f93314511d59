"""What Inductor calls define-by-run: a kernel is a function from an index to a value, and what that
means depends on what `ops` does when the function is called.

    def inner(index):
        (i,) = index
        return ops.add(ops.load("x", i), ops.constant(1.0))

    numbers(inner, (4,), x=array)    ops computes
    text(inner, 1)                   ops writes C
    loads(inner, (4,))               ops takes down what is read

`ops` has the names of Inductor's (`torch/_inductor/ops_handler.py`), of which this has a few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any
from unittest import mock

import numpy as np

Inner = Callable[[Any], Any]
LETTERS = "ijklmn"


class Numbers:
    """Computes. arrays: by name, each flat."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.arrays = arrays

    def load(self, name: str, place: Any) -> Any:
        if name not in self.arrays:
            raise KeyError(f"there is no {name!r}; there are: {', '.join(sorted(self.arrays))}")
        array = self.arrays[name]
        if not 0 <= place < array.size:
            raise IndexError(f"{name} has {array.size} elements, and no element {place}")
        return array[int(place)]

    def constant(self, value: float, dtype: Any = None) -> Any:
        return np.float32(value)

    def add(self, x: Any, y: Any) -> Any:
        return x + y

    def sub(self, x: Any, y: Any) -> Any:
        return x - y

    def mul(self, x: Any, y: Any) -> Any:
        return x * y

    def maximum(self, x: Any, y: Any) -> Any:
        return np.maximum(x, y)

    def relu(self, x: Any) -> Any:
        return np.maximum(x, np.float32(0))


class Written(str):
    """Text that can be computed with, an index or a value: `Written("j") * 4` is `j * 4`."""

    def _with(self, sign: str, other: Any, swapped: bool = False) -> Written:
        pair = [str(other), str(self)] if swapped else [str(self), str(other)]
        if sign != "+":
            pair = [f"({t})" if " " in t and not t.endswith(")") else t for t in pair]
        return Written(f"{pair[0]} {sign} {pair[1]}")

    def __add__(self, other: Any) -> Written:
        return self._with("+", other)

    def __radd__(self, other: Any) -> Written:
        return self._with("+", other, swapped=True)

    def __sub__(self, other: Any) -> Written:
        return self._with("-", other)

    def __mul__(self, other: Any) -> Written:
        return self._with("*", other)

    def __rmul__(self, other: Any) -> Written:
        return self._with("*", other, swapped=True)

    def __mod__(self, other: Any) -> Written:
        return self._with("%", other)

    def __floordiv__(self, other: Any) -> Written:
        return self._with("/", other)


class Text(Numbers):
    """Writes C."""

    def __init__(self) -> None:
        super().__init__({})

    def load(self, name: str, place: Any) -> Written:
        return Written(f"{name}[{place}]")

    def constant(self, value: float, dtype: Any = None) -> Written:
        return Written(f"{float(value)}f")

    def maximum(self, x: Any, y: Any) -> Written:
        return Written(f"max({x}, {y})")

    def relu(self, x: Any) -> Written:
        return self.maximum(x, self.constant(0))


class Loads(Numbers):
    """Takes down which elements are read."""

    def __init__(self) -> None:
        super().__init__({})
        self.read: Counter[str] = Counter()

    def load(self, name: str, place: Any) -> Any:
        self.read[name] += 1
        return np.float32(1)


class _Ops:
    """Whatever is installed: `ops.add` is `add` of the reading that goes on."""

    def __init__(self) -> None:
        self.now: Any = None

    def __getattr__(self, name: str) -> Any:
        if self.now is None:
            raise RuntimeError(
                f"ops.{name} means nothing yet: somebody has to decide what ops does"
            )
        return getattr(self.now, name)


ops = _Ops()


@contextmanager
def reading(handler: Any) -> Iterator[Any]:
    """For as long as it lasts, `ops` is this handler."""
    with mock.patch.object(ops, "now", handler):
        yield handler


def numbers(inner: Inner, shape: Sequence[int], **arrays: Any) -> np.ndarray:
    """Every value of a kernel, computed index by index."""
    flat = {name: np.asarray(a, np.float32).reshape(-1) for name, a in arrays.items()}
    with reading(Numbers(flat)):
        values = [inner(index) for index in product(*map(range, shape))]
    return np.array(values, np.float32).reshape(tuple(shape))


def text(inner: Inner, dims: int) -> str:
    """The kernel's expression in C, of index variables `i`, `j` …"""
    with reading(Text()):
        return str(inner(tuple(map(Written, LETTERS[:dims]))))


def as_c(inner: Inner, shape: Sequence[int]) -> str:
    """The kernel as C: a loop for each dimension, and in it the expression."""
    lines = ["  " * n + f"for (int {i} = 0; {i} < {size}; {i}++)"
             for n, (i, size) in enumerate(zip(LETTERS, shape, strict=False))]  # fmt: skip
    place = Written(LETTERS[0])
    for i, size in list(zip(LETTERS, shape, strict=False))[1:]:
        place = place * size + Written(i)
    return "\n".join([*lines, "  " * len(lines) + f"out[{place}] = {text(inner, len(shape))};"])


def loads(inner: Inner, shape: Sequence[int]) -> dict[str, int]:
    """How many elements of each array the whole kernel reads."""
    with reading(Loads()) as taken:
        for index in product(*map(range, shape)):
            inner(index)
    return dict(sorted(taken.read.items()))


def three_readings(inner: Inner, shape: Sequence[int], **arrays: Any) -> None:
    """One function of the learner's, written as C, counted and computed; says so where it doesn't
    pass its check yet."""
    from classroom.yours import passes

    if not passes("elsewhere-inner", inner):
        print("Your function will be read three times here, as soon as it passes its check.")
        return
    print(as_c(inner, shape), "\n")
    print("reads", ", ".join(f"{n} elements of {name}" for name, n in loads(inner, shape).items()))
    print("\n" + str(numbers(inner, shape, **arrays)))
