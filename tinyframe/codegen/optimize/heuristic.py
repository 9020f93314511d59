"""The default schedule of a kernel: which Opts, without a search.

Three kinds of kernel, one function each:

    contraction   matmul, convolution, their gradients: a tile of accumulators in registers, two
                  vectors wide; the operand that many rows share is copied into a panel first
    rows          a reduce over contiguous elements: vector accumulators along it
    elements      everything else: vectors along the axis in which memory is contiguous

All numbers come from the `Target`: vector width, registers, cache sizes, cores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opt, axes
from tinyframe.dtype import dtypes
from tinyframe.renderer import Target
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp
from tinyframe.uop.range import is_symbolic, iterations, kind, length
from tinyframe.uop.symbolic import terms

# waking another core costs some microseconds: below this much work one is quicker
THREADS_FROM = 1 << 16
# from this many products for each result on, it no longer matters that results are stored apart
LONG_REDUCE = 64
# a loop that is longer than a launch can count goes to the cores in turns of so many iterations
LONG_TURN = 1 << 16
# what is transposed is copied in blocks of so many rows: a line of memory holds 16 floats
BLOCK = 16
# vectors along a sum, rather than a panel, where it is so many of them long, and for so few rows
DOTS_FROM, DOTS_ROWS = 32, 64
# rows of a register tile
MOST_ROWS = 12
# a panel pays when at least so many rows read it
ROWS_PER_PANEL = 32


def choose(s: Schedule) -> None:
    """Applies a schedule that is good without measuring anything."""
    operands = contraction(s.sink)
    if operands is None or not tile(s, *operands):
        vectors(s)
        threads(s)


@dataclass
class Schedule:
    """A kernel, the Opts applied so far, and the ranges that its axes were at first."""

    sink: UOp
    target: Target
    opts: list[Opt] = field(default_factory=list)
    origin: list[UOp] = field(
        init=False
    )  # per axis now, the range of the unscheduled kernel it is (what is left of)

    def __post_init__(self):
        self.origin = axes(self.sink)

    def lanes(self) -> int:
        """Elements of a vector register, for the widest type in memory."""
        arguments = [u for u in self.sink.toposort() if u.op is Ops.DEFINE_GLOBAL]
        return max(
            1,
            self.target.vector_bytes // max((u.dtype.base.itemsize for u in arguments), default=4),
        )

    def split(self, op: OptOps, r: UOp, n: int) -> bool:
        """SPLIT, UPCAST, VECTOR or UNROLL of what is left of range `r`; False where it is not
        allowed. Of the two loops of a SPLIT, both are `r`, and the outer one comes first."""
        axis = self.origin.index(r)
        if not self._apply(Opt(op, axis, n)):
            return False
        if op is OptOps.SPLIT:
            self.origin.insert(axis, r)
        if len(axes(self.sink)) < len(self.origin):
            self.origin.pop(axis)
        return True

    def columns(self, r: UOp, lanes: int, wide: int) -> bool:
        """`wide` vectors along `r`. Where they do not divide it, one tile of them is cut off first,
        so that only one loop has a tail."""
        if length(r) % (lanes * wide) == 0 or wide == 1:
            return self.split(OptOps.VECTOR, r, lanes) and (
                wide == 1 or self.split(OptOps.UPCAST, r, wide)
            )
        axis = self.origin.index(r)
        return (
            self._apply(Opt(OptOps.SPLIT, axis, lanes * wide))
            and self._apply(Opt(OptOps.VECTOR, axis + 1, lanes))
            and self._apply(Opt(OptOps.UPCAST, axis + 1, wide))
        )

    def copies(self, r: UOp, most: int) -> bool:
        """UPCAST of `r` by a power of two that divides it, and leaves enough for every core."""
        fits = [n for n in (16, 8, 4, 2) if n <= most and self.left(r) % n == 0]
        for n in fits:
            if n == 2 or self.left(r) >= 2 * n * self.target.threads:
                return self.split(OptOps.UPCAST, r, n)
        return False

    def left(self, r: UOp) -> int:
        """Iterations that are left of range `r` as a loop."""
        return length(axes(self.sink)[self.origin.index(r)]) if r in self.origin else 1

    def outermost(self, *first: UOp) -> bool:
        """These ranges outermost, in this order."""
        front = [self.origin.index(r) for r in first if r in self.origin]
        order = tuple(front + [n for n in range(len(self.origin)) if n not in front])
        if order == tuple(range(len(order))):
            return True
        if not self._apply(Opt(OptOps.REORDER, order)):
            return False
        self.origin = [self.origin[n] for n in order]
        return True

    def stage(self, slot: int, r: UOp | None) -> bool:
        return self._apply(Opt(OptOps.STAGE, -1 if r is None else self.origin.index(r), slot))

    def thread(self, r: UOp) -> bool:
        return self._apply(Opt(OptOps.THREAD, self.origin.index(r)))

    def _apply(self, opt: Opt) -> bool:
        try:
            self.sink = apply_opt(self.sink, opt)
        except KernelOptError:
            return False
        self.opts.append(opt)
        return True


# ---- what a kernel is ----------------------------------------------------------------------------


def contraction(sink: UOp) -> tuple[UOp, UOp, UOp] | None:
    """The sum of products (REDUCE) that a kernel spends its time on, and the two INDEXes it reads:
    each operand is needed again along some loop that the other has."""
    best = None
    for u in sink.toposort():
        if u.op is not Ops.REDUCE or u.arg is not Ops.ADD:
            continue
        product = u.src[0]
        while product.op is Ops.CAST:
            product = product.src[0]
        if product.op is not Ops.MUL:
            continue
        a, b = (_only_read(s) for s in product.src)
        if a is None or b is None or not a.ranges - b.ranges or not b.ranges - a.ranges:
            continue
        if best is None or iterations((*u.ranges, *u.own_ranges)) > iterations(
            (*best[0].ranges, *best[0].own_ranges)
        ):
            best = u, a, b
    return best


def _only_read(u: UOp) -> UOp | None:
    """The INDEX of the one LOAD that a factor is made from."""
    loads = [x for x in u.toposort(gate=lambda x: x.op is not Ops.LOAD) if x.op is Ops.LOAD]
    return loads[0].src[0] if len(loads) == 1 else None


def step(index: UOp, r: UOp) -> int | None:
    """How far apart in memory an INDEX's elements along `r` lie; None where that varies."""
    total = 0
    for d, i in enumerate(index.src[2:]):
        ts, below = terms(i), math.prod(index.arg[d + 1 :])
        if any(t is not None and t is not r and r in t.ranges for t in ts):
            return None
        if factor := ts.get(r, 0):
            if isinstance(below, UOp):  # a Variable's sizes lie in between
                return None
            total += factor * below
    return total


# ---- contractions --------------------------------------------------------------------------------


def tile(s: Schedule, reduce: UOp, a: UOp, b: UOp) -> bool:
    """A register tile: lanes and two vectors along an axis of one operand, rows along one of the
    other."""
    stores = [x.src[0] for x in s.sink.src]
    loops = [r for r in s.origin if kind(r) is AxisType.LOOP]
    fixed = [r for r in loops if not is_symbolic(r)]
    lanes, long = s.lanes(), iterations(reduce.own_ranges) >= LONG_REDUCE

    def lane_value(r: UOp) -> tuple:
        index = b if r in b.ranges else a
        contiguous = all(step(i, r) in (0, 1) for i in stores)
        whole = length(r) % lanes == 0
        return (
            whole + contiguous * (0.5 if long else 2),
            not _is_guarded(index),
            step(index, r) == 1,
            length(r),
        )

    candidates = [r for r in fixed if (r in a.ranges) != (r in b.ranges) and length(r) >= lanes]
    if lanes < 2 or not candidates:
        return False
    column = max(candidates, key=lane_value)
    if column in a.ranges:
        a, b = b, a  # b has the lanes now
    rows = [r for r in loops if r in a.ranges and r not in b.ranges]
    if not rows:  # one operand's rows are inside a reduce: what is summed is summed up further
        return False
    # of a padded input the image is copied, border and all: rows are its neighbours
    enough = s.target.vector_registers // 4 if _is_guarded(a) else 2 * lanes
    row = max(rows, key=lambda r: (r in fixed, min(length(r), enough), -abs(step(a, r) or 0)))
    if dots(s, reduce, a, b, rows, column):
        return True
    # A wide tile reads less of the rows for each product, a high one less of the columns: that is
    # better where these come from far away, not from a panel that stays in the cache, or where rows
    # are neighbours (in windows).
    many = math.prod(length(r) for r in rows) >= ROWS_PER_PANEL
    windows = len(reduce.own_ranges) > 1
    widest = s.target.vector_registers // 8 if many and not windows else 2
    vector = iterations(reduce.own_ranges) * lanes * b.dtype.base.itemsize  # of a panel, one wide
    wide = next(
        (n for n in range(widest, 2, -1)
         if length(column) >= n * lanes and n * vector <= s.target.l2 * 3 // 4),
        2 if length(column) >= 2 * lanes else 1,
    )  # fmt: skip
    if not s.columns(column, lanes, wide):
        return False
    exact = windows or step(a, row) == 1  # a tail is in the way of what is copied of a
    s.split(OptOps.UPCAST, row, tile_rows(length(row), wide, s.target.vector_registers, exact))

    row_loops = [r for r in s.origin if r in rows]
    both = [r for r in s.origin if r in loops and r in a.ranges and r in b.ranges]
    outer = [*both, column] if column in s.origin else both
    if _is_guarded(a) and len(row_loops) > 1:
        # a padded input: one image at a time is copied with its border, so the inner loop has no
        # condition
        image = row_loops[0]
        s.outermost(*both, image)
        if _box_bytes(b, set(both)) <= s.target.l2 // 2:
            s.stage(_slot(b), both[-1] if both else None)
        s.stage(_slot(a), image)
        if s.left(image) >= s.target.threads > 1:
            s.thread(image if not both else both[0])
        return True
    if not long and step(b, column) == 1 and _box_bytes(b, set(both)) <= s.target.l2 // 4:
        # A short sum: what it is added to takes the time. It is gone through as it lies in memory,
        # and of b every row of tiles finds all in the cache.
        s.outermost(*both)
        threads(s)
        return True
    if (block := _block_of_rows(s, reduce, a, row)) > 1 and s.split(OptOps.SPLIT, row, block):
        # A transposed operand: its rows lie far apart along the sum. Some of them are copied, tile
        # by tile, for all columns; each column's panel is copied once for every such block.
        outer = [*both, row, *[r for r in [column] if r in s.origin]]
        s.outermost(*outer)
        s.stage(_slot(a), row)
    else:
        s.outermost(*outer)
    whole = column not in s.origin and step(b, column) == 1  # what is read lies as in a panel
    if many and step(b, column) is not None and not whole:
        s.stage(_slot(b), outer[-1] if outer else None)
    work = iterations((*reduce.ranges, *reduce.own_ranges))
    if s.target.threads > 1 and work >= THREADS_FROM:
        if not outer or s.left(outer[0]) < s.target.threads:
            s.outermost(
                *sorted(
                    s.origin[: len(s.origin) - len(reduce.own_ranges)], key=lambda r: -s.left(r)
                )[:1]
            )
        s.thread(s.origin[0])
    return True


def dots(s: Schedule, reduce: UOp, a: UOp, b: UOp, rows: list[UOp], column: UOp) -> bool:
    """Both operands are contiguous along a long sum, and few rows would read a panel: lanes along
    the sum, for some rows and columns at once, need none."""
    if len(rows) != 1 or len(reduce.own_ranges) != 1 or is_symbolic(rows[0]):
        return False
    (row,), (along,), side = rows, reduce.own_ranges, math.isqrt(s.target.vector_registers) - 1
    if not (
        step(a, along) == step(b, along) == 1
        and length(along) % s.lanes() == 0
        and length(along) >= DOTS_FROM * s.lanes()
        and side <= length(row) <= DOTS_ROWS
        and length(column) >= side
    ):
        return False
    s.split(OptOps.VECTOR, along, s.lanes())
    s.split(OptOps.UPCAST, row, side)
    s.split(OptOps.UPCAST, column, side)
    s.outermost(
        *[r for r in s.origin if r in a.ranges and r in b.ranges and r is not along], column
    )
    threads(s)
    return True


def tile_rows(size: int, wide: int, registers: int, exact: bool = False) -> int:
    """Rows of a register tile `wide` vectors wide, as many as registers allow beside what is read:
    8, or another number that divides the size better (not exact: by more than 1 %)."""
    most = min(MOST_ROWS, (registers - wide - 2) // wide)
    if size <= most:
        return size
    few = min(8, most)
    rows = (few, *range(most, few, -1), *range(few - 1, most // 2 - 1, -1))
    return min(rows, key=lambda n: max(0 if exact else 0.01, -(-size // n) * n / size - 1))


def _block_of_rows(s: Schedule, reduce: UOp, a: UOp, row: UOp) -> int:
    """How many tiles of rows of a transposed operand stay in the cache; 1 where that is no help:
    of another operand, of few tiles, or where they do not divide."""
    longest = max(reduce.own_ranges, key=length)
    if step(a, row) != 1 or row not in s.origin or length(longest) < LONG_REDUCE:
        return 1
    tile = iterations(reduce.own_ranges) * a.dtype.base.itemsize * (length(row) // s.left(row))
    most = min(s.target.l2 // 2 // tile, s.left(row) // (2 * s.target.threads))
    return next((n for n in range(most, 3, -1) if s.left(row) % n == 0), 1)


def _slot(index: UOp) -> int:
    return index.src[0].arg


def _is_guarded(index: UOp) -> bool:
    return index.src[1].op is not Ops.CONST


def _box_bytes(u: UOp, outside: set[UOp]) -> int:
    """Bytes of all values of `u`, or of all that it sums up, inside some loops."""
    inside = {*u.ranges, *(u.own_ranges if u.op is Ops.REDUCE else ())} - outside
    return iterations(tuple(inside)) * u.dtype.base.itemsize


# ---- everything else -----------------------------------------------------------------------------


def vectors(s: Schedule) -> None:
    """Vectors along the axis in which most memory is contiguous; all reduces of a row alike."""
    indices = [
        u for u in s.sink.toposort() if u.op is Ops.INDEX and u.src[0].op is Ops.DEFINE_GLOBAL
    ]
    reads = [i for i in indices if not any(i is x.src[0] for x in s.sink.src)]
    writes = [x.src[0] for x in s.sink.src]
    lanes = s.lanes()

    def gain(r: UOp) -> int:
        """Accesses made contiguous less those made scattered, in elements."""
        total = 0
        for i in (*reads, *writes):
            if r in i.ranges:
                total += iterations(tuple(i.ranges)) * (1 if step(i, r) == 1 else -1)
        return total

    reduces = [u for u in s.sink.toposort() if u.op is Ops.REDUCE]
    tables = [i for i in indices if len(i.ranges) > 1]
    along = [r for r in s.origin if any(step(i, r) == 1 for i in tables)]
    if len(along) == 2 and not reduces and not any(map(is_symbolic, along)):
        # Something is transposed. In a block of both axes every line of memory is used whole.
        column = max(along, key=lambda r: (gain(r), any(step(i, r) == 1 for i in writes)))
        row = along[1 - along.index(column)]
        size = min(map(length, along))
        if size >= lanes > 1 and s.split(OptOps.UPCAST, row, min(size, BLOCK)):
            s.split(OptOps.VECTOR, column, lanes)
            return

    done: list[UOp] = []
    for r in sorted(s.origin, key=gain, reverse=True):
        width = min(lanes, 1 << (length(r).bit_length() - 1))
        if (
            gain(r) > 0
            and width >= min(4, lanes)
            and width > 1
            and s.split(OptOps.VECTOR, r, width)
        ):
            done.append(r)
    # Several sums at once: they keep the adders busy, and memory comes quicker from several places.
    # Where one is along each row, that is some rows; where they go down columns, a wider column.
    rows = [r for r in s.origin if kind(r) is AxisType.LOOP and r not in done]
    many = len(reduces) == 1 and _box_bytes(reduces[0], set()) > s.target.l2
    if len(reduces) == len(done) == len(rows) == 1 and kind(done[0]) is AxisType.REDUCE:
        s.copies(rows[0], s.target.vector_registers // 4 if many else 2)
    elif len(done) == 1 and kind(done[0]) is AxisType.LOOP and reduces and done[0] in s.origin:
        s.copies(done[0], s.target.vector_registers // 2 if many else 4)


def threads(s: Schedule) -> None:
    """The outermost loop among cores, where there is enough to do."""
    nodes = s.sink.toposort()
    work = max(
        (
            iterations((*u.ranges, *(u.own_ranges if u.op is Ops.REDUCE else ())))
            for u in nodes
            if u.op in GroupOp.ALU or u.op in (Ops.REDUCE, Ops.LOAD, Ops.STORE)
        ),
        default=0,
    )
    if s.target.threads > 1 and work >= THREADS_FROM and s.origin and s.left(s.origin[0]) > 1:
        if s.left(s.origin[0]) > dtypes.max(dtypes.int):
            s.split(OptOps.SPLIT, s.origin[0], LONG_TURN)
        s.thread(s.origin[0])
