"""Times for the plots of a lesson, so that no lesson needs a clock of its own."""

from __future__ import annotations

import time
from collections.abc import Callable

from tinyframe import Tensor


def nanoseconds_each(make: Callable[[Tensor], Tensor], x: Tensor, runs: int = 7) -> float:
    """How long computing `make(x)` takes for each element of x, in ns: the best of several runs."""
    best = float("inf")
    for _ in range(runs):
        result = make(x)
        start = time.perf_counter_ns()
        result.realize()
        best = min(best, time.perf_counter_ns() - start)
    return best / x.numel()
