"""Additional passes for kernels that run in blocks of threads.

Ranges that are blocks and threads become values (`blocks.py`), rows of panels are padded
(`banks.py`), and barriers separate writing a panel from reading it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tinyframe.algebra.symbolic import all_of
from tinyframe.codegen import accumulate
from tinyframe.codegen.expand import flatten_indices
from tinyframe.codegen.optimize.opt import has_kind, replace_ranges
from tinyframe.dtype import AddrSpace, dtypes
from tinyframe.gpu.banks import padded_panels
from tinyframe.gpu.blocks import block_axes, grid_axes
from tinyframe.gpu.panels import filled_by_all_threads
from tinyframe.gpu.pipeline import pipelined
from tinyframe.gpu.tensor_core import with_fragments
from tinyframe.renderer import Target
from tinyframe.uop.movement import flatten
from tinyframe.uop.node import BLOCKS, THREADS, Ops, UOp, axis_type, extent, plain, rebuild

# ---- ranges that are values ----------------------------------------------------------------------


def ranges_to_values(sink: UOp, target: Target) -> UOp:
    """Replaces the ranges of a kernel that are blocks and threads with SPECIALs, which gives the
    code of one thread. The indices must be flat."""
    if not has_kind(sink, *BLOCKS):
        return sink
    grid, block = grid_axes(sink), block_axes(sink)
    sizes = [extent(axis[0]) for axis in block]
    lanes = [UOp.special(f"lidx{n}", size) for n, size in enumerate(sizes)]
    values = {r: UOp.special(f"gidx{n}", plain(r.src[0])) for n, r in enumerate(grid)}
    values |= {r: lane for axis, lane in zip(block, lanes, strict=True) for r in axis}
    thread, count = flatten(lanes[::-1], sizes[::-1]), math.prod(sizes)

    def then(u: UOp) -> UOp | None:
        is_shared = u.op is Ops.STAGE and count > 1
        if is_shared and not any(axis_type(r) in THREADS for r in u.own_ranges):
            return filled_by_all_threads(sink, u, thread, count, target)
        if u.op is Ops.SINK:
            written = {s.src[0].src[0] for s in u.src}
            stores = [stored_by_first_thread(s, written, block, lanes) for s in u.src]
            return u.replace(src=tuple(stores))
        return None

    return replace_ranges(replace_ranges(sink, {}, then), values)


def stored_by_first_thread(
    store: UOp, written: set[UOp], block: Sequence[Sequence[UOp]], lanes: Sequence[UOp]
) -> UOp:
    """If all threads along some axes of the block compute the same result, the first one stores it.
    The others must not read memory that the kernel overwrites (`written`), which may already hold
    the new value. Copying it to a panel is fine: panels are filled before anything is stored."""
    own = set(store.own_ranges)
    first = [lane < 1 for axis, lane in zip(block, lanes, strict=True) if own.isdisjoint(axis)]

    def by_first(index: UOp) -> UOp:
        return index.replace(src=(index.src[0], all_of([index.src[1], *first]), *index.src[2:]))

    def changed(old: UOp, u: UOp) -> UOp:
        is_overwritten = u.op is Ops.LOAD and u.src[0].src[0] in written
        return u.replace(src=(by_first(u.src[0]),)) if is_overwritten else u

    index, value, *loops = store.src
    if first:
        value = rebuild(value, changed, below=lambda u: u.op not in (Ops.STAGE, Ops.INDEX))
    return store.replace(src=(by_first(index), value, *loops))


# ---- barriers: synchronize the threads of a block, so that they can share panels -----------------
#
# A thread must not read an element of a panel before another has written it, nor overwrite one that
# another may still have to read. One walk down the program tracks the panels written and read since
# the last barrier, and inserts a new one where they conflict:
#
#     for k:
#       BARRIER                            a thread may still be reading, in the iteration before
#       panel[lidx0] = x[k, lidx0]
#       BARRIER                            others have just written what is read now
#       for i: acc += panel[i]
#
# A loop that only fills panels, or only reads them, has no barrier inside: it is one step of the
# walk. All threads of a block run the same iterations, so all of them reach every barrier.

Panels = frozenset[UOp]


def with_barriers(uops: list[UOp]) -> list[UOp]:
    """A program with BARRIERs inserted, if it runs in blocks of threads; otherwise unchanged."""
    if not any(u.op is Ops.SPECIAL and u.arg[0].startswith("lidx") for u in uops):
        return uops
    ends = {u.src[0]: n for n, u in enumerate(uops) if u.op is Ops.ENDRANGE}
    out: list[UOp] = []
    written, read = Panels(), Panels()
    skipped: dict[int, tuple[Panels, Panels]] = {}  # by the end of a loop that may not run at all
    barriers = n = 0
    while n < len(uops):
        end = ends.get(uops[n], n)
        part = uops[n : end + 1]
        stores, loads = _panels(part, Ops.STORE), _panels(part, Ops.LOAD, Ops.FRAGMENT)
        if stores and loads and end > n:
            # enter the loop: an earlier iteration's stores and loads precede its body
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


def _panels(part: list[UOp], *ops: Ops) -> Panels:
    """The panels that a part of a program stores to, or loads from, except those of a pipeline,
    which has barriers of its own."""
    memory = (u.src[0].src[0] for u in part if u.op in ops)
    return Panels(m for m in memory if m.addrspace is AddrSpace.LOCAL and isinstance(m.arg, int))


# these replace the rows of the same names in `codegen.passes` and `program_passes`
INSTEAD = {
    "flatten indices": [
        ("flatten indices",
         lambda sink, job: flatten_indices(sink, padded_panels(sink, job.renderer.target))),
        ("fragments", lambda sink, job: with_fragments(sink)),
        ("ranges to values", lambda sink, job: ranges_to_values(sink, job.renderer.target)),
    ],
    "accumulate": [
        ("accumulate", accumulate),
        ("barriers", lambda uops, job: with_barriers(uops)),
        ("pipeline", lambda uops, job: pipelined(uops, job.renderer.target)),
    ],
}  # fmt: skip
