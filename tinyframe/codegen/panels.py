"""How the elements of a panel lie in memory: row after row, with room between where it helps.

Shared memory has 32 banks of 4 bytes, each of which gives one number at a time. The threads of a
warp read runs in eight rows at once for an MMA, and where these rows began in the same bank, the
threads would wait for each other. So such a row is an odd number of pieces long (`uop/mma.py`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tinyframe.uop import mma
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.range import length


class Layout(NamedTuple):
    """What a panel's ranges and a row of it count as, room included."""

    sizes: list[int]
    row: int


def with_room(sink: UOp) -> dict[UOp, Layout]:
    """The panels of a kernel that have room after each row."""
    found = {}
    operands = [s for u in sink.toposort() if u.op is Ops.MMA for s in u.src[:2]]
    for u in UOp.sink(*operands).toposort(gate=lambda u: u.op is not Ops.STAGE):
        if u.op is Ops.INDEX and u.src[0].op is Ops.STAGE and len(u.arg) > 1:
            row, itemsize = u.arg[-1], u.src[0].dtype.itemsize
            pieces, rest = divmod(row * itemsize, mma.PIECE_BYTES)
            if not rest and pieces % 2 == 0:
                found[u.src[0]] = _layout(u.src[0], row, mma.PIECE_BYTES // itemsize)
    return found


def _layout(panel: UOp, row: int, room: int) -> Layout:
    sizes = list(map(length, panel.own_ranges))
    first = next(n for n in range(len(sizes)) if math.prod(sizes[n:]) == row)  # of a row
    sizes[first] += room // math.prod(sizes[first + 1 :])
    return Layout(sizes, row + room)


def panel_bytes(sink: UOp, least: int) -> int:
    """The memory of all panels of a kernel; each number takes `least` bytes or more."""
    found, nbytes = with_room(sink), 0
    for u in sink.toposort():
        if u.op is Ops.STAGE:
            sizes = found[u].sizes if u in found else map(length, u.own_ranges)
            nbytes += math.prod(sizes) * max(u.dtype.base.itemsize, least * u.dtype.count)
    return nbytes
