"""The peak performance of this machine, as measured, and a sentence on what limits a kernel.

(Williams, Waterman, Patterson, "Roofline: an insightful visual performance model", CACM 2009.)
"""

from __future__ import annotations

import functools
import re
import timeit
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

SIZE = 768  # of the matrices: 7 MB in all, and enough work for all cores to join in
COPIED = 1 << 26  # bytes: more than the last-level cache of most machines
TIMES = 6  # the first one warms up


class Roof(NamedTuple):
    """flops: float32 operations per second. bandwidth: bytes per second that are read from and
    written to memory, not to a cache."""

    flops: float
    bandwidth: float


@functools.cache
def measured_roof() -> Roof:
    """Measured with NumPy, which multiplies matrices with a BLAS: the best of a few runs, a quarter
    of a second in all."""
    a = np.random.default_rng(0).random((SIZE, SIZE), np.float32)
    out = np.empty_like(a)
    source = np.ones(COPIED // 8)
    target = np.empty_like(source)

    product = timeit.repeat(lambda: np.matmul(a, a, out=out), number=1, repeat=TIMES)
    copy = timeit.repeat(lambda: np.copyto(target, source), number=1, repeat=TIMES)
    return Roof(2 * SIZE**3 / min(product), 2 * COPIED / min(copy))


# ---- what keeps a kernel from being faster, in a sentence ---------------------------------------

# This much of the roof counts as near it: a matmul from this compiler reaches about 80 % of a
# BLAS, and a copy about 85 % of NumPy's.
NEAR = 0.6
FASTER = 1.2  # times the roof: beyond what an imprecise measurement of it explains
SMALL = 2e-5  # seconds: about as long as starting a kernel from Python takes


def verdict(
    operations: float, nbytes: float, seconds: float, roof: Roof, plan: str | None = None,
    costs: Sequence[str] = (),
) -> str:  # fmt: skip
    """What limits a kernel with this many operations and bytes that takes this long, and what would
    help.

    plan: the name of its plan, if it has one. costs: known reasons for its slowness (`costs_of`).
    """
    seconds = max(seconds, 1e-9)  # shorter times are below the clock's resolution
    compute, memory = operations / seconds / roof.flops, nbytes / seconds / roof.bandwidth
    closest = max(compute, memory)
    could = "its arithmetic" if compute >= memory else "moving its data"
    times = f"{1 / closest:.1f} times" if closest > 1e-6 else "many times"
    shaped = f'the plan "{plan}"' if plan else "no plan"
    said = "; ".join(costs) or f"the time goes into how its loops run ({shaped})"
    told = {
        f"At the limit: {compute:.1f} times what was measured of it, so others were busy when that "
        "was done. Only fewer operations would make it faster.": compute >= FASTER,
        f"Limited by arithmetic, and near the limit: {compute:.0%} of this machine's peak. Only "
        "fewer operations, or a smaller dtype, would make it faster.": NEAR <= compute >= memory,
        f"Faster than memory: {memory:.1f} times what it delivers, so the data comes from a cache. "
        "Fewer bytes would still help, as would more work on each of them.": memory >= FASTER,
        f"Limited by memory, and near the limit: {memory:.0%} of what this machine can move. Only "
        "fewer bytes would make it faster: work that shares its reads, or a smaller dtype.":
        memory >= NEAR,
        "So little work that most of the time goes into starting the kernel: larger batches, or a "
        "TinyJit that launches many kernels in one call, would help.": seconds < SMALL,
        f"Far from the limit: just {could} would be {times} as fast. {said[0].upper()}{said[1:]}. "
        "Look at the source; running the script with BEAM=2 tries other loops.": True,
    }  # fmt: skip
    return next(words for words, is_so in told.items() if is_so)


def costs_of(opts: Sequence[str], source: str, threads: int) -> list[str]:
    """Reasons for a kernel's slowness, read from its Opts and its C source.

    opts: as text; each begins with its name. threads: the number that it could have used.
    """
    taken = {re.split(r"\W", opt)[0] for opt in opts}
    found = {
        "it works on one number at a time (no VECTOR among its Opts)": "VECTOR" not in taken,
        "it runs on one core (no THREAD)": threads > 1 and "THREAD" not in taken,
        "it reads memory under a condition": CONDITIONAL.search(source),
        "it divides to find its indices": INDEX_DIVISION.search(source),
    }
    return [words for words, is_so in found.items() if is_so]


CONDITIONAL = re.compile(r"\? *\(?\*?\(?data\d+\b")  # `c ? data1[i] : 0`
INDEX_DIVISION = re.compile(r"\bint \w+ = [^;]*[/%]")
