"""What a notebook measures: `best_times` of some calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any


def best_times(runs: Sequence[Callable[..., Any]], *inputs: Any, repeats: int = 7) -> list[float]:
    """Seconds that the quickest of some calls of each took, run(*inputs). The calls take turns, so
    that whatever else the machine does slows all of them down alike."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(repeats):
        for run, taken in zip(runs, times, strict=True):
            start = time.perf_counter()
            run(*inputs)
            taken.append(time.perf_counter() - start)
    return [min(taken) for taken in times]
