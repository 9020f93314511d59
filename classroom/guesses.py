"""What a learner typed for a prediction, understood: `2.0` is 2, `[1, 2]` is (1, 2), "int32" "int".

What cannot be understood is asked for again (`Open`), and never recorded.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np

from classroom.exercise import Open, Wrong
from tinyframe.dtype import DType, dtypes

LONGEST = 60  # characters of a guess that are shown
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
KINDS = {int: "a whole number", bool: "True or False", float: "a number", str: "a word in quotes"}


class Shape(tuple[int, ...]):
    """A value that is a shape: how many sizes it has is part of what is to be guessed."""


SEVERAL = {int: "number", bool: "answer", float: "number", str: "word", Shape: "shape"}


@dataclass(frozen=True)
class Prediction:
    """The check of a prediction: `compute` really does what is predicted, and gives the value."""

    compute: Callable[[], Any]
    options: tuple[str, ...] = ()  # the words to choose from, where the exercise offers some

    @cached_property
    def value(self) -> Any:
        """What really happens, found out once: somebody may guess again."""
        return self.compute()

    def __call__(self, guess: Any) -> str:
        if isinstance(guess, range) or hasattr(guess, "__next__"):
            guess = [*islice(guess, LONGEST)]
        if self.options and self._chosen(guess) not in self.options:
            offered = ", ".join(f'`"{word}"`' for word in self.options)
            raise Open(
                f"Choose one of {offered}. You gave `{_shown(guess)}`. Nothing was recorded."
            )
        if (read := understood(guess, self.value)) != self.value:
            raise Wrong(f"you guessed {_shown(_as_typed(guess, read))}")
        return ""

    def _chosen(self, guess: Any) -> str:
        with suppress(Open):
            return str(understood(guess, self.options[0])).lower()
        return ""


def understood(guess: Any, value: Any) -> Any:
    """A guess in the form of the value; Open, with what is asked for, where it has no such form."""
    if isinstance(value, Shape):
        return _shape(guess)
    return _tuple(guess, value) if isinstance(value, tuple) else _single(guess, value)


def _tuple(guess: Any, value: tuple[Any, ...]) -> tuple[Any, ...]:
    given = _opened(guess)
    if isinstance(given, str) and Shape in map(type, value):
        with suppress(ValueError, SyntaxError):
            given = _opened(ast.literal_eval(given.strip()))
    if isinstance(given, str) and len(value) > 1 and given.count(",") == len(value) - 1:
        given = given.strip("()[] ").split(",")
    if not isinstance(given, list):
        given = [given]
    if len(given) == 1 and isinstance(inner := _opened(given[0]), list):
        given = inner  # [(1, 2)]: one list too many
    if len(given) != len(value):
        thing = SEVERAL.get(type(value[0]), "value") if value else "value"
        asked, there = (
            NUMBERS[len(some)] if len(some) < len(NUMBERS) else str(len(some))
            for some in (value, given)
        )
        noun = thing if len(value) == 1 else f"{thing}s"
        if isinstance(guess, (set, frozenset, dict)):
            there = f"a {type(guess).__name__}, which says nothing about their order"
        raise Open(f"This needs {asked} {noun}; you gave {there}. Nothing was recorded.")
    return tuple(understood(one, other) for one, other in zip(given, value, strict=True))


def _shape(guess: Any) -> tuple[int, ...]:
    """Whole numbers, as many as were given."""
    given = _opened(guess)
    if isinstance(given, str):
        given = [size for size in re.split(r"[\s,×x]+", given.strip("()[] ")) if size]
    sizes = [_whole(size) for size in (given if isinstance(given, list) else [given])]
    if None in sizes:
        raise Open(
            f"A shape is a tuple of whole numbers, such as `(2, 3)`. You gave `{_shown(guess)}`. "
            "Nothing was recorded."
        )
    return tuple(size for size in sizes if size is not None)


def _opened(guess: Any) -> Any:
    """A list of what is in a list, a tuple or an array; all else as it is."""
    if isinstance(guess, np.ndarray):
        guess = guess.tolist()
    return list(guess) if isinstance(guess, (list, tuple)) else guess


def _single(guess: Any, value: Any) -> Any:
    given = _opened(guess)
    while isinstance(given, list) and len(given) == 1:
        given = _opened(given[0])
    kind = type(value)
    found = READ[kind](given) if kind in READ else given if isinstance(given, kind) else None
    if found is None:
        words = KINDS.get(kind, f"a {kind.__name__}")
        raise Open(
            f"The answer has to be {words}. You gave `{_shown(guess)}`. Nothing was recorded."
        )
    return value if _is_the_same(found, value) else found


def _is_the_same(found: Any, value: Any) -> bool:
    """Whether nobody would call these different: a rounded number, a word in capitals."""
    if isinstance(value, float):
        return math.isclose(found, value, rel_tol=1e-4)
    return isinstance(value, str) and found.lower() == value.lower()


def _as_typed(guess: Any, read: Any) -> Any:
    """Numbers as they were typed, (0, 1) where (0.0, 1) was understood; all else as understood."""
    given = _opened(guess)
    plain = isinstance(given, list) and all(type(one) in (int, float) for one in given)
    return tuple(given) if plain else read


def _shown(guess: Any) -> str:
    text = " ".join(repr(guess).split())
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"


def _number(given: Any) -> Any:
    """A number, of Python, of NumPy or a Fraction; None of what is none."""
    if isinstance(given, str):
        try:
            return float(given.strip().replace("_", ""))
        except ValueError:
            return None
    return given if isinstance(given, Real) and not isinstance(given, bool) else None


def _whole(given: Any) -> int | None:
    if isinstance(given, str) and re.fullmatch(r"\s*\d{1,3}(,\d{3})+\s*", given):
        given = given.replace(",", "")  # "3,708", as the text of a notebook has it
    number = _number(given)
    if isinstance(number, (int, np.integer)):
        return int(number)
    return int(number) if number is not None and float(number).is_integer() else None


def _truth(given: Any) -> bool | None:
    if isinstance(given, (bool, np.bool_)):
        return bool(given)
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    known = isinstance(given, (str, int, np.integer))
    return words.get(str(given).strip().lower()) if known else None


def _word(given: Any) -> str | None:
    """A word; if it names a dtype, the name that the framework prints."""
    if isinstance(given, DType):
        given = str(given)
    elif isinstance(given, type):  # int, float, bool
        given = given.__name__
    if not isinstance(given, str):
        return None
    word = " ".join(given.split()).strip("'\"")
    named = dtypes.fields().get(word.lower().rpartition(".")[2])  # dtypes.int, torch.int32
    return str(named).removeprefix("dtypes.") if named else word


READ: dict[type, Callable[[Any], Any]] = {int: _whole, float: _number, bool: _truth, str: _word}
