"""The memory planner: intermediate buffers whose lifetimes do not overlap share memory."""

from __future__ import annotations

from collections.abc import Sequence

from tinyframe.uop.node import UOp


def share_memory(uses: Sequence[Sequence[UOp]], temporary: set[UOp]) -> dict[UOp, UOp]:
    """Maps temporary BUFFERs to earlier ones that are free again by then.

    `uses` lists the buffers that each kernel touches, in running order. A buffer is taken over by
    one of the same device and dtype that is not larger; the largest one left over is used first.
    """
    last_use = {b: n for n, buffers in enumerate(uses) for b in buffers}
    place: dict[UOp, UOp] = {}
    free: dict[tuple, list[UOp]] = {}
    for n, buffers in enumerate(uses):
        for b in buffers:
            if b in temporary and b not in place:
                pool = free.setdefault((b.device, b.dtype), [])
                fitting = [f for f in pool if f.arg >= b.arg]
                place[b] = min(fitting, key=lambda f: f.arg, default=b)
                if fitting:
                    pool.remove(place[b])
        for b in dict.fromkeys(buffers):
            if b in temporary and last_use[b] == n:
                free.setdefault((b.device, b.dtype), []).append(place[b])
    return {b: other for b, other in place.items() if other is not b}
