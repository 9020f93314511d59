"""In a sentence, what keeps a kernel from being faster: its place under the roofline."""

from __future__ import annotations

from tinyframe.viz.roof import Roof

# Near the roof: a product of matrices by this compiler reaches some 80 % of a BLAS, and a copy
# some 85 % of what NumPy's moves.
NEAR = 0.6
FASTER = 1.2  # of the roof: more is not a matter of how well that was measured
SMALL = 2e-5  # seconds: to start a kernel from Python takes about as long


def verdict(
    operations: float, nbytes: float, seconds: float, roof: Roof, plan: str | None = None
) -> str:
    """What limits a kernel of so many operations and bytes that takes so long, and what would help.

    plan: the name of the one that shaped its loops, where there is one.
    """
    seconds = max(seconds, 1e-9)  # a clock's step; a time of 0 is one that it could not see
    compute, memory = operations / seconds / roof.flops, nbytes / seconds / roof.bandwidth
    if compute >= FASTER:
        return (
            f"At the roof: {compute:.1f} times what was measured of it, so others were busy "
            "when that was done. Only fewer operations would make it faster."
        )
    if compute >= NEAR and compute >= memory:
        return (
            f"Limited by arithmetic, and near the roof: {compute:.0%} of what this machine can "
            "compute. Only fewer operations, or a smaller dtype, would make it faster."
        )
    if memory >= FASTER:
        return (
            f"Faster than memory: {memory:.1f} times what it delivers, so the data comes from a "
            "cache. Fewer bytes would still help, as would more work on each of them."
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
    could = "arithmetic" if compute >= memory else "memory"
    shaped = f'the plan "{plan}"' if plan else "no plan"
    closest = max(compute, memory)
    times = f"{1 / closest:.1f} times" if closest > 1e-6 else "very many times"
    return (
        f"Far from the roof: if only {could} limited it, it would be {times} as fast. The time "
        f"goes into how its loops run ({shaped}): gathers, strides, divisions, or a loop too short "
        "for vectors and threads. Look at the source; BEAM=2 tries other loops."
    )
