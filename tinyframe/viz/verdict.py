"""In a sentence, what keeps a kernel from being faster: its place under the roofline."""

from __future__ import annotations

from tinyframe.viz.roof import Roof

# Near the roof: a product of matrices by this compiler reaches some 80 % of a BLAS, and a copy
# some 85 % of what NumPy's moves.
NEAR = 0.6
SMALL = 2e-5  # seconds: to start a kernel from Python takes about as long


def verdict(
    operations: float, nbytes: float, seconds: float, roof: Roof, plan: str | None = None
) -> str:
    """What limits a kernel of so many operations and bytes that takes so long, and what would help.

    plan: the name of the one that shaped its loops, where there is one.
    """
    compute, memory = operations / seconds / roof.flops, nbytes / seconds / roof.bandwidth
    least = max(operations / roof.flops, nbytes / roof.bandwidth)
    if compute >= NEAR and compute >= memory:
        return (
            f"Limited by arithmetic, and near the roof: {compute:.0%} of what this machine can "
            "compute. Only fewer operations, or a smaller dtype, would make it faster."
        )
    if memory >= NEAR:
        return (
            f"Limited by memory, and near the roof: {memory:.0%} of what this machine can move. "
            "Only fewer bytes would make it faster: work that shares its reads, or a smaller dtype."
        )
    if seconds < SMALL:
        return (
            "So little work that starting the kernel is most of the time: larger batches, or a "
            "TinyJit that launches many kernels in one call, would help."
        )
    could = "its arithmetic" if operations / roof.flops >= nbytes / roof.bandwidth else "its memory"
    shaped = f'the plan "{plan}"' if plan else "no plan"
    return (
        f"Far from the roof: {could} alone would take {seconds / least:.1f} times less time. What "
        f"costs is how the loops go about it ({shaped}): gathers, strides, divisions, or a loop "
        "too short for vectors and threads. Look at the source; BEAM=2 tries other loops."
    )
