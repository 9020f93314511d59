"""Errors of floating-point results in units in the last place (ULP)."""

from __future__ import annotations

import numpy as np


def ulps(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """|got - exact| in units in the last place that `got`'s dtype has at `exact`.

    `exact` is in a wider dtype. 0 where both are NaN or the same infinity, also where only rounding
    `exact` makes it inf; inf where only one of them is NaN or infinite, or where a zero has the
    other sign.
    """
    info = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        rounded = exact.astype(got.dtype)
        exponent = np.frexp(np.where(np.isfinite(exact), exact, 1))[1] - 1
        unit = np.ldexp(exact.dtype.type(1), np.maximum(exponent, info.minexp) - info.nmant)
        error = np.abs(got.astype(exact.dtype) - exact) / unit
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    error = np.where(same & ~np.isfinite(rounded), 0, error)
    wrong = ~same & ~(np.isfinite(got) & np.isfinite(rounded))
    wrong |= (got == 0) & (rounded == 0) & (np.signbit(got) != np.signbit(rounded))
    return np.where(wrong, np.inf, error)


def bit_patterns(dtype: type, count: int) -> np.ndarray:
    """`count` numbers spread over all bit patterns of float32 or float64, and special ones."""
    unsigned = {np.float32: np.uint32, np.float64: np.uint64}[dtype]
    step = (1 << (8 * np.dtype(dtype).itemsize)) // count
    spread = (np.arange(count, dtype=np.uint64) * np.uint64(step)).astype(unsigned)
    spread += np.random.default_rng(0).integers(0, step, count, dtype=np.uint64).astype(unsigned)
    info = np.finfo(dtype)
    special = [0, np.inf, np.nan, 1, 0.5, 2, 3, np.pi, info.max, info.tiny, info.smallest_subnormal]
    special += [float(n) for n in (127, 128, 149, 150, 1022, 1023, 1024, 1074, 1075)]
    values = np.array(special, dtype)
    with np.errstate(all="ignore"):
        return np.concatenate([spread.view(dtype), values, -values, 1 / values])
