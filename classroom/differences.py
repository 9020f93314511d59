"""What is different between an answer and what was asked for, in a sentence.

    of_values(np.array([-1, -2]), np.array([1, 2]))    # "The sign is wrong."

Each kind of mistake is a row of a table: the first that fits says what happened. `named` is False
where inputs are fresh; such a sentence has no number that would be different the next time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Shape = tuple[int, ...]


def alike(got: Any, expected: Any) -> np.ndarray:
    """Where these agree: whole numbers exactly, all others within what float32 rounds."""
    got, expected = np.asarray(got), np.asarray(expected)
    if got.dtype.kind in "biu" and expected.dtype.kind in "biu":
        return got == expected
    return np.isclose(got, expected, rtol=1e-4, atol=1e-5, equal_nan=True)


def close(got: Any, expected: Any) -> bool:
    """Whether these have one shape and agree in every element."""
    return np.shape(got) == np.shape(expected) and bool(np.all(alike(got, expected)))


# ---- shapes --------------------------------------------------------------------------------------


def of_shapes(got: Shape, expected: Shape) -> str:
    """What is different between two shapes, without their sizes."""
    return next(words for fits, words in SHAPES if fits(got, expected)).format(
        got=_axes(len(got)), expected=_axes(len(expected)), axis=_first_different(got, expected)
    )


def _swapped(got: Shape, expected: Shape) -> bool:
    return len(got) == 2 and got == expected[::-1]


def _permuted(got: Shape, expected: Shape) -> bool:
    return len(got) == len(expected) and sorted(got) == sorted(expected)


def _has_extra_one(got: Shape, expected: Shape) -> bool:
    return len(got) > len(expected) and _without_ones(got) == _without_ones(expected)


def _lacks_a_one(got: Shape, expected: Shape) -> bool:
    return _has_extra_one(expected, got)


def _as_many_elements(got: Shape, expected: Shape) -> bool:
    return math.prod(got) == math.prod(expected) > 1


def _more_or_fewer_axes(got: Shape, expected: Shape) -> bool:
    return len(got) != len(expected)


def _without_ones(shape: Shape) -> Shape:
    return tuple(size for size in shape if size != 1)


SHAPES: list[tuple[Callable[[Shape, Shape], bool], str]] = [
    (_swapped, "Rows and columns are swapped."),
    (_permuted, "The sizes are right, but the axes are in the wrong order."),
    (_has_extra_one, "There is an extra axis of size 1. (Is it from `keepdim=True`?)"),
    (_lacks_a_one, "An axis of size 1 is missing. (`keepdim=True` keeps it.)"),
    (_as_many_elements, "The number of elements is right, but the shape is wrong."),
    (_more_or_fewer_axes, "The result has {got}; it should have {expected}."),
    (lambda got, expected: True, "The shape is wrong: axis {axis} has a different size."),
]


def _first_different(got: Shape, expected: Shape) -> int:
    pairs = enumerate(zip(got, expected, strict=False))
    return next((axis for axis, (one, other) in pairs if one != other), 0)


def _axes(count: int) -> str:
    return f"{count} {'axis' if count == 1 else 'axes'}"


# ---- values --------------------------------------------------------------------------------------


def of_values(got: np.ndarray, expected: np.ndarray, named: bool = True) -> str:
    """What is different between two arrays of one shape; "" where they agree."""
    if close(got, expected):
        return ""
    if expected.dtype == bool or got.dtype == bool:
        opposite = np.array_equal(got.astype(bool), ~expected.astype(bool))
        return "True and False are swapped." if opposite else _first(got, expected, named)
    floats = got.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):  # infinities
        found = (row(*floats, named) for row in (_not_numbers, _sign, _factor, _offset, _moved))
        return next(filter(None, found), "") or _first(got, expected, named)


def _not_numbers(got: np.ndarray, expected: np.ndarray, named: bool) -> str:
    bad = ~np.isfinite(got) & np.isfinite(expected)
    if not bad.any():
        return ""
    place = tuple(map(int, np.argwhere(bad)[0]))
    where = f"Element {list(place)} is {got[place]}." if named and place else ""
    return where or "There is a value that is infinite or not a number."


def _sign(got: np.ndarray, expected: np.ndarray, named: bool) -> str:
    return "The sign is wrong." if close(-got, expected) else ""


def _factor(got: np.ndarray, expected: np.ndarray, named: bool) -> str:
    there = expected != 0
    if np.count_nonzero(there) < min(2, expected.size) or np.any(got[~there]):
        return ""
    ratios = got[there] / expected[there]
    ratio = float(np.median(ratios))
    if ratio == 0 or not np.allclose(ratios, ratio, rtol=1e-4):
        return ""
    sign = "" if ratio > 0 else ", and the sign is wrong"
    size, way = (abs(ratio), "large") if abs(ratio) > 1 else (1 / abs(ratio), "small")
    if np.unique(expected).size == 1 and not _says_something(size):
        return ""  # of a single value, everything is a factor
    every = "Every value" if got.size > 1 else "The value"
    by = f"a factor of {size:.4g}" if named else "the same factor"
    return f"{every} is too {way} by {by}{sign}."


def _offset(got: np.ndarray, expected: np.ndarray, named: bool) -> str:
    offsets = got - expected
    if got.size < 2 or not np.allclose(offsets, offsets.flat[0], rtol=1e-3, atol=1e-5):
        return ""
    offset = float(offsets.flat[0])
    way = "large" if offset > 0 else "small"
    return f"Every value is {abs(offset):.4g} too {way}." if named else (
        f"Every value is too {way} by the same amount."
    )  # fmt: skip


def _moved(got: np.ndarray, expected: np.ndarray, named: bool) -> str:
    for words, moved in _movements(expected):
        if close(got, moved):
            return f"The right values, but {words}."
    several = np.unique(expected).size > 2  # as many zeros and ones as there should be mean nothing
    if several and close(np.sort(got, axis=None), np.sort(expected, axis=None)):
        return "The right values are there, but not in the right places."
    return ""


def _movements(values: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """How values could have gone astray."""
    if values.ndim == 2:
        yield "transposed", values.T
    for axis in range(values.ndim):
        along = "" if values.ndim == 1 else f" along axis {axis}"
        yield f"reversed{along}", np.flip(values, axis)
        yield f"shifted by one{along}", np.roll(values, 1, axis)
        yield f"shifted by one{along}", np.roll(values, -1, axis)
    if values.ndim > 1:
        yield "reversed along every axis", np.flip(values)


def _first(got: np.ndarray, expected: np.ndarray, named: bool) -> str:
    """The first element that differs, and how many do."""
    differs = ~alike(got, expected)
    if not named:
        right = "None" if differs.all() else "Not all"
        return f"{right} of the values are right."
    place = tuple(map(int, np.argwhere(differs)[0]))
    what = f"Element {list(place)}" if place else "The value"
    told = f"{what} is {_short(got[place])} and should be {_short(expected[place])}"
    if got.size == 1:
        return f"{told}."
    many = int(np.count_nonzero(differs))
    return f"{told}; {many} of the {got.size} elements {'is' if many == 1 else 'are'} wrong."


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, np.floating) else str(value)


# ---- numbers -------------------------------------------------------------------------------------

ITEM_SIZES = (2, 4, 8)  # bytes of an element
UNITS = {
    "bytes": "did you count elements instead of bytes?",
    "elements": "did you count bytes instead of elements?",
}


def of_numbers(got: float, expected: float, unit: str = "") -> str:
    """What is different between two numbers, neither of which is named; "" where they agree.

    unit: what is counted, in the plural: "bytes", "kernels".
    """
    if got == expected or (isinstance(expected, float) and close(got, expected)):
        return ""
    if got == -expected or (isinstance(expected, float) and close(-got, expected)):
        return "The sign is wrong."
    is_count = isinstance(expected, int) and bool(unit)
    more, less = ("many", "few") if is_count else ("large", "small")
    way = more if abs(got) > abs(expected) else less
    factor = _whole_factor(got, expected)
    confused = UNITS.get(unit, "") if (way == "few") is (unit == "bytes") else ""
    if confused and factor in ITEM_SIZES:
        return f"{_times(factor, way)}: {confused}"
    if isinstance(expected, int) and abs(got - expected) == 1:
        beyond = more if got > expected else less
        return f"One too {beyond}." if is_count else f"It is 1 too {beyond}."
    if factor:
        return f"{_times(factor, way)}."
    if is_count:
        return f"{abs(got - expected):.6g} too {way}."
    if got < 0 and expected < 0:  # is -1 larger than -2, or smaller?
        return f"It is too {'far from' if way == more else 'close to'} 0."
    return f"It is too {more if got > expected else less}."


def _whole_factor(one: float, other: float) -> int:
    """By which whole factor one is larger than the other, whichever it is; 0 where it is none that
    says anything."""
    smaller, larger = sorted((abs(one), abs(other)))
    if not smaller or one * other < 0 or not _says_something(larger / smaller, 1e-6):
        return 0
    return round(larger / smaller)


def _says_something(ratio: float, rtol: float = 1e-4) -> bool:
    """Whether somebody may have multiplied by it: up to 10, or a power of 2 or 10."""
    factor = round(ratio)
    usual = factor <= 10 or factor & (factor - 1) == 0 or set(str(factor)[1:]) == {"0"}
    return usual and math.isclose(ratio, factor, rel_tol=rtol)


def _times(factor: int, way: str) -> str:
    """Too many by a factor of 4."""
    return f"Too {way} by a factor of {factor}"
