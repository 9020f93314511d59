"""What this machine can do at most: arithmetic and memory, as measured, for rooflines.

(Williams, Waterman, Patterson, "Roofline: an insightful visual performance model", CACM 2009.)
"""

from __future__ import annotations

import functools
from time import perf_counter
from typing import NamedTuple

import numpy as np

SIZE = 768  # of the matrices: 7 MB in all, and long enough for all cores to join in
COPIED = 1 << 26  # bytes: more than the last cache of most machines
TIMES = 5


class Roof(NamedTuple):
    """flops: operations in a second, of float32 numbers. bandwidth: bytes in a second, read and
    written, of memory that no cache holds."""

    flops: float
    bandwidth: float


@functools.cache
def measured_roof() -> Roof:
    """By NumPy, whose product of matrices is that of a BLAS: the best of a few times, a quarter of
    a second in all."""
    a = np.random.default_rng(0).random((SIZE, SIZE), np.float32)
    out = np.empty_like(a)
    source = np.ones(COPIED // 8)
    target = np.empty_like(source)

    def best(work) -> float:
        work()
        times = []
        for _ in range(TIMES):
            start = perf_counter()
            work()
            times.append(perf_counter() - start)
        return min(times)

    product = best(lambda: np.matmul(a, a, out=out))
    copy = best(lambda: np.copyto(target, source))
    return Roof(2 * SIZE**3 / product, 2 * COPIED / copy)
