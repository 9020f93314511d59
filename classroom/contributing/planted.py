"""Functions that are wrong in a known way, to try tests on: a test is worth what it notices.

A row has a value and a slope for every x, in NumPy, so that either can be wrong by itself. `tensor`
makes a method of it: its value is the one column, and its gradient the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tinyframe import Tensor
from tinyframe.dtype import dtypes

Function = Callable[[np.ndarray], np.ndarray]
STEP = 1e-5  # of a slope that is measured, in float64


class Planted(NamedTuple):
    """A sinc. said: what it is, after "a sinc that"."""

    said: str
    value: Function
    slope: Function


def rounded(x: np.ndarray) -> np.ndarray:
    """sinc, each step in the dtype of x."""
    angle = x.dtype.type(np.pi) * x
    safe = np.where(angle == 0, x.dtype.type(1), angle)
    return np.where(angle == 0, x.dtype.type(1), np.sin(safe) / safe)


def slope(x: np.ndarray) -> np.ndarray:
    """The slope of sinc, measured."""
    x = x.astype(np.float64)
    return (np.sinc(x + STEP) - np.sinc(x - STEP)) / (2 * STEP)


def cancelled(x: np.ndarray) -> np.ndarray:
    """The slope by its formula in float32, where two almost equal numbers are subtracted near 0."""
    x = x.astype(np.float32)
    safe = np.where(x == 0, np.float32(1), x)
    angle = np.float32(np.pi) * safe
    return np.where(x == 0, 0, (np.cos(angle) - np.sin(angle) / angle) / safe)


def punched(function: Function) -> Function:
    """The same, and NaN at 0."""
    return lambda x: np.where(x == 0, np.nan, function(x))


RIGHT = Planted("is right", rounded, slope)
VALUES = (
    Planted("is NaN at 0", punched(rounded), slope),
    Planted("forgets π: sin(x) / x", lambda x: np.sinc(x / np.pi), slope),
    Planted("is right at whole numbers only: 1 at 0, and 0 at all the others",
            lambda x: np.where(x == 0, 1.0, 0.0), slope),
    Planted("never gets below 0", lambda x: np.abs(rounded(x)), slope),
    Planted("is a bell: right at 0, and nearly right around it", lambda x: np.exp(-1.64 * x * x),
            slope),
)  # fmt: skip
SLOPES = (
    Planted("has a slope of NaN at 0", rounded, punched(slope)),
    Planted("has slopes with the wrong sign", rounded, lambda x: -slope(x)),
    Planted("has a slope of 0 everywhere", rounded, np.zeros_like),
    Planted("has slopes that are π times too small", rounded, lambda x: slope(x) / np.pi),
    Planted(
        "is right at 0 and far from it, and off in between, where x is one thousandth or less",
        rounded, cancelled,
    ),
)  # fmt: skip


def tensor(planted: Planted) -> Callable[[Any], Tensor]:
    """A method for Tensor."""

    def sinc(self: Tensor) -> Tensor:
        x = self if dtypes.is_float(self.dtype) else self.cast(dtypes.default_float)
        wide = np.float64 if x.dtype is dtypes.double else np.float32
        at = np.asarray(x.numpy(), wide)
        columns = [
            Tensor(np.asarray(column(at), wide), device=x.device).cast(x.dtype)
            for column in (planted.value, planted.slope)
        ]
        value, steep = columns
        return value + (x - x.detach()) * steep

    return sinc
