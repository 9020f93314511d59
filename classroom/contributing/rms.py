"""rms and its gradient, right in a few ways and wrong in a few: what a test of it is tried on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[..., Any]


@dataclass(frozen=True)
class Pair:
    """what: in words. make: a fresh pair, rms(x) and rms_gradient(grad, x)."""

    what: str
    make: Callable[[], tuple[Function, Function]]


def _rms(x: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(x).mean(-1))


def _slope(grad: Any, x: np.ndarray) -> np.ndarray:
    factor = np.asarray(grad) / (np.maximum(_rms(x), 1e-30) * x.shape[-1])
    return np.expand_dims(factor, -1) * x


def _by_norm(x: np.ndarray) -> np.ndarray:
    return np.linalg.norm(x, axis=-1) / np.sqrt(np.asarray(x.shape[-1], x.dtype))


def _in_double(x: np.ndarray) -> np.ndarray:
    return np.sqrt(np.mean(x.astype(np.float64) ** 2, axis=-1)).astype(x.dtype)


def _remembering() -> tuple[Function, Function]:
    known: dict[int, np.ndarray] = {}

    def rms(x: np.ndarray) -> np.ndarray:
        if id(x) not in known:
            known[id(x)] = _rms(x)
        return known[id(x)]

    return rms, _slope


def _in_half(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.sqrt(np.square(x.astype(np.float16)).mean(-1))


def _always(rms: Function, slope: Function) -> Callable[[], tuple[Function, Function]]:
    return lambda: (rms, slope)


HONEST = (
    Pair("rms as the root of the mean of the squares", _always(_rms, _slope)),
    Pair("rms as the norm over the root of n", _always(_by_norm, _slope)),
    Pair("rms computed in double precision", _always(_in_double, _slope)),
)
SPOILED = (
    Pair("the gradient has no n in it", _always(_rms, lambda g, x: _slope(g, x) * x.shape[-1])),
    Pair("the squares are of float16", _always(_in_half, _slope)),
    Pair("rms remembers what an array gave the last time", _remembering),
    Pair("rms is that of each column", _always(lambda x: _rms(np.swapaxes(x, -1, -2)), _slope)),
    Pair("the gradient is always 0", _always(_rms, lambda g, x: np.zeros_like(x))),
    Pair(
        "the gradient ignores what flows in", _always(_rms, lambda g, x: _slope(np.ones_like(g), x))
    ),
)
