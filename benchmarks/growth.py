"""How time grows with size: a matmul, a chain of elementwise work, and the number of kernels."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from benchmarks.libraries import LeftOut, run_numpy, run_ours, run_torch
from benchmarks.measure import Times, interleaved
from benchmarks.work import Work, matmul, normal

MATMUL = (64, 128, 256, 512, 1024, 2048, 4096)
ELEMENTS = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
KERNELS = (10, 100, 1000, 10_000)


def elementwise(n: int) -> Work:
    """relu(x) + x / 2, which is one kernel here and three passes in the others."""
    return Work(
        f"elementwise {n:.0e}", normal((n,)), lambda x: x.relu() + x * 0.5,
        lambda x: x.relu() + x * 0.5, bytes=8.0 * n,
    )  # fmt: skip


def rows(quick: bool) -> Iterator[tuple[str, int, Work]]:
    """(what grows, its size, the row)"""
    for n in MATMUL[:4:3] if quick else MATMUL:
        yield "matmul", n, matmul(f"{n}", (n, n), (n, n))
    for n in ELEMENTS[:4:3] if quick else ELEMENTS:
        yield "elementwise", n, elementwise(n)


def time_of_row(work: Work, threads: int, repeats: int) -> dict[str, Times]:
    arrays = work.inputs()
    program, (result, *_), _ = run_ours(work, arrays)
    programs = {"tinyframe": program}
    others: dict[str, Callable[[], tuple]] = {
        "torch": lambda: run_torch(work, arrays, result.shape, threads),
        "numpy": lambda: run_numpy(work, arrays, result.shape),
    }
    for name, prepare in others.items():
        try:
            programs[name] = prepare()[0]
        except LeftOut:
            pass
    return interleaved(repeats, **programs)


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
