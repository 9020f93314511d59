"""Barriers: where the threads of a block wait for each other, so that they may share panels.

A thread must not read an element of a panel before another has written it, nor write one that
another may still have to read. One walk down the program keeps what was written and what was read
since the last barrier, and puts a new one

    for k:
      BARRIER                            a thread may still be reading, in the round before
      panel[lidx0] = x[k, lidx0]
      BARRIER                            others have just written what is read now
      for i: acc += panel[i]

A loop that only copies, or only reads, has no barrier inside: it is one step of that walk. All
threads of a block run the same loops equally often, so all of them get to every barrier.
"""

from __future__ import annotations

from tinyframe.dtype import AddrSpace, dtypes
from tinyframe.uop.node import Ops, UOp

Panels = frozenset[UOp]


def with_barriers(uops: list[UOp]) -> list[UOp]:
    """A program with BARRIERs, where its threads are in blocks; any other is as it was."""
    if not any(u.op is Ops.SPECIAL and u.arg[0].startswith("lidx") for u in uops):
        return uops
    loops = _loops(uops)
    out: list[UOp] = []
    written, read = Panels(), Panels()
    skipped: dict[int, tuple[Panels, Panels]] = {}  # where a loop ends that may have no round
    barriers = n = 0
    while n < len(uops):
        end = loops.get(n, n)
        stores, loads = _panels(uops[n : end + 1], Ops.STORE), _panels(uops[n : end + 1], Ops.LOAD)
        if stores and loads and end > n:
            # looked into: what an earlier round of it has done comes before what is in it
            if uops[n].src[0].op is not Ops.CONST:
                skipped[end] = written, read
            written, read, end = written | stores, read | loads, n
        else:
            if stores & read or loads & written:
                out.append(UOp(Ops.BARRIER, dtypes.void, (), barriers))
                barriers += 1
                written, read = Panels(), Panels()
            before = skipped.get(n, (Panels(), Panels()))
            written, read = written | stores | before[0], read | loads | before[1]
        out += uops[n : end + 1]
        n = end + 1
    return out


def _loops(uops: list[UOp]) -> dict[int, int]:
    """Where each loop begins -> where it ends."""
    ends: dict[int, int] = {}
    begun: list[int] = []
    for n, u in enumerate(uops):
        if u.op is Ops.RANGE:
            begun.append(n)
        elif u.op is Ops.ENDRANGE:
            ends[begun.pop()] = n
    return ends


def _panels(part: list[UOp], op: Ops) -> Panels:
    """The panels that a part of a program stores to, or loads from."""
    memory = (u.src[0].src[0] for u in part if u.op is op)
    return Panels(m for m in memory if m.addrspace is AddrSpace.LOCAL)
