"""ShapeTracker: the shape, strides, offset and mask of a chain of movement ops.

Other frameworks store these; tinyframe does not. They are derived from the index expression that
the movement ops give for one RANGE per axis, by looking at the terms of that sum.

    >>> x = UOp.new_buffer("CPU", 12, dtypes.float).reshape((3, 4)).permute((1, 0))
    >>> x.st
    ShapeTracker(views=(View(shape=(4, 3), strides=(1, 4), offset=0, mask=None, contiguous=False),))
    >>> x.st.index.render()
    '(ridx0+(ridx1*4))'
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

from tinyframe.algebra.sums import chain, product, terms
from tinyframe.algebra.symbolic import all_of, conjuncts, known_limits, simplify_given
from tinyframe.uop.movement import condition, flatten, source_indices
from tinyframe.uop.node import GroupOp, Ops, UOp, plain, sint, upper
from tinyframe.uop.show import sizes_text

Bounds = tuple[sint, sint]


@dataclass(frozen=True, repr=False)
class View:
    """A tensor's memory layout: element (i, j, …) is at offset + i*strides[0] + j*strides[1] + …

    strides: None for an axis that this does not hold for (a reshape that strides cannot express).
    mask: per axis the (begin, end) of the elements that exist, the rest being zeros; None if all
    exist, or if they are not such a box (then see ShapeTracker.valid). contiguous: whether the
    elements are in memory in row-major order, from its start, without gaps.
    """

    shape: tuple[sint, ...]
    strides: tuple[sint | None, ...]
    offset: sint
    mask: tuple[Bounds, ...] | None
    contiguous: bool

    def __repr__(self) -> str:
        fields = [f"{name}={sizes_text(value)}" for name, value in vars(self).items()]
        return f"View({', '.join(fields)})"


@dataclass(frozen=True, repr=False)
class ShapeTracker(View):
    """A View of a buffer, and the expressions that it was derived from.

    index: the offset of the element at `ranges` in memory. valid: whether that element exists.
    """

    ranges: tuple[UOp, ...] = field(compare=False)
    index: UOp
    valid: UOp

    @staticmethod
    def from_uop(u: UOp) -> ShapeTracker:
        """The ShapeTracker of the movement ops that `u` ends in; the value below them counts as
        contiguous."""
        shape = u.shape
        ranges = tuple(UOp.range(size, axis) for axis, size in enumerate(shape))
        index, valid = _place(u, ranges)
        own = frozenset(ranges)
        strides: list[sint | None] = [0] * len(shape)
        offset: sint = 0
        for t, f in terms(index).items():
            if t is None:
                offset += f
                continue
            factors = chain(t, Ops.MUL)
            varying = [x for x in factors if x.ranges & own]
            others = [x for x in factors if x not in varying]
            step = f * product(others, index.dtype) if others else f
            if not varying:
                offset += step
            elif len(varying) == 1 and varying[0] in own:
                axis = ranges.index(varying[0])
                if (known := strides[axis]) is not None:
                    strides[axis] = plain(known + step)
            else:
                for r in t.ranges & own:
                    strides[ranges.index(r)] = None
        mask = _box(valid, ranges)
        contiguous = valid.op is Ops.CONST and valid.arg and index is flatten(ranges, shape)
        return ShapeTracker(
            shape, tuple(strides), plain(offset), mask, bool(contiguous), ranges, index, valid
        )

    def __repr__(self) -> str:
        return f"ShapeTracker(views={self.views})"

    @property
    def views(self) -> tuple[View, ...]:
        return (View(self.shape, self.strides, self.offset, self.mask, self.contiguous),)

    @property
    def size(self) -> int:
        return math.prod(map(upper, self.shape))


UOp._shape_tracker.by(ShapeTracker.from_uop)


def _place(u: UOp, ix: tuple[UOp, ...]) -> tuple[UOp, UOp]:
    """The flat index into the value below the movement ops, and the condition that it is valid.

    Below PAD and UNWINDOW a fresh RANGE replaces an index that may be out of range.
    """
    numbers = itertools.count(len(ix))
    placeholders: list[dict[UOp, UOp]] = []
    conditions: list[UOp] = []
    while u.op in GroupOp.Movement:
        inner = source_indices(u, ix)
        in_range = condition(u, ix, inner)
        if in_range.op is not Ops.CONST:
            fresh = [
                UOp.range(n, next(numbers)) if i.ranges & in_range.ranges else i
                for i, n in zip(inner, u.src[0].shape, strict=True)
            ]
            placeholders.append(
                {r: i.cast(r.dtype) for r, i in zip(fresh, inner, strict=True) if r is not i}
            )
            inner = tuple(fresh)
        conditions.append(in_range)
        ix, u = inner, u.src[0]
    index = flatten(ix, u.shape)
    valid = all_of(conditions)
    for mapping in reversed(placeholders):
        index, valid = index.substitute(mapping), valid.substitute(mapping)
    valid = valid.simplify()
    return simplify_given(index, valid), valid


def _box(valid: UOp, ranges: tuple[UOp, ...]) -> tuple[Bounds, ...] | None:
    """The condition as (begin, end) per axis; None if it always holds or is not a box."""
    box: dict[UOp, Bounds] = {r: (0, plain(r.src[0])) for r in ranges}
    parts = conjuncts(valid)
    for c in parts:
        known = known_limits(c)
        if known is None or len(known[0]) != 1 or (r := next(iter(known[0]))) not in box:
            return None
        _, low, high = known
        begin, end = box[r]
        box[r] = max(begin, low), min(end, high + 1) if isinstance(end, int) else high + 1
    return tuple(box.values()) if parts else None
