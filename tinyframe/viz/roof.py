"""What this machine can do at most, as measured, and what that says of a kernel, in a sentence.

(Williams, Waterman, Patterson, "Roofline: an insightful visual performance model", CACM 2009.)
"""

from __future__ import annotations

import functools
import re
import timeit
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

SIZE = 768  # of the matrices: 7 MB in all, and long enough for all cores to join in
COPIED = 1 << 26  # bytes: more than the last cache of most machines
TIMES = 6  # of which the first warms up


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

    product = timeit.repeat(lambda: np.matmul(a, a, out=out), number=1, repeat=TIMES)
    copy = timeit.repeat(lambda: np.copyto(target, source), number=1, repeat=TIMES)
    return Roof(2 * SIZE**3 / min(product), 2 * COPIED / min(copy))


# ---- in a sentence, what keeps a kernel from being faster ---------------------------------------

# Near the roof: a product of matrices by this compiler reaches some 80 % of a BLAS, and a copy
# some 85 % of what NumPy's moves.
NEAR = 0.6
FASTER = 1.2  # of the roof: more is not a matter of how well that was measured
SMALL = 2e-5  # seconds: to start a kernel from Python takes about as long


def verdict(
    operations: float,
    nbytes: float,
    seconds: float,
    roof: Roof,
    plan: str | None = None,
    costs: Sequence[str] = (),
) -> str:
    """What limits a kernel of so many operations and bytes that takes so long, and what would help.

    plan: the name of the one that shaped its loops, where there is one. costs: what is known to
    slow it down (`costs_of`).
    """
    seconds = max(seconds, 1e-9)  # a clock's step; a time of 0 is one that it could not see
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
    """What slows a kernel down, as its Opts and its source in C show it.

    opts: each as text that begins with its name. threads: those that it might have used.
    """
    taken = {re.split(r"\W", opt)[0] for opt in opts}
    found = []
    if "VECTOR" not in taken:
        found.append("it works on one number at a time (no VECTOR among its Opts)")
    if threads > 1 and "THREAD" not in taken:
        found.append("it runs on one core (no THREAD)")
    if CONDITIONAL.search(source):
        found.append("it reads memory under a condition")
    if INDEX_DIVISION.search(source):
        found.append("it divides to find its indices")
    return found


CONDITIONAL = re.compile(r"\? *\(?\*?\(?data\d+\b")  # `c ? data1[i] : 0`
INDEX_DIVISION = re.compile(r"\bint \w+ = [^;]*[/%]")
