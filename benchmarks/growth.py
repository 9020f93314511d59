"""How the time to schedule a graph grows with the number of its kernels."""

from __future__ import annotations

import time

from benchmarks.measure import Times

KERNELS = (10, 100, 1000, 10_000)


def scheduling(kernels: int, repeats: int) -> Times:
    """Seconds of Python, per kernel, to schedule a graph of so many that was not seen before."""
    from tinyframe import Tensor

    start = Tensor.zeros(16).contiguous().realize()
    seconds = []
    for repeat in range(repeats):
        t = start
        for _ in range(kernels):
            t = (t + (time.perf_counter_ns() % 10**6 + repeat)).contiguous()
        begin = time.perf_counter()
        found = len(t.schedule())
        seconds.append((time.perf_counter() - begin) / found)
    return Times(f"{kernels} kernels", tuple(seconds))
