"""Preparation: rewrites the tensor graph to remove what the scheduler need not deal with."""

from __future__ import annotations

from tinyframe import thresholds
from tinyframe.dtype import dtypes
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.rewrite.pattern import UPat
from tinyframe.schedule.fuse import is_memory
from tinyframe.uop.movement import memory_state
from tinyframe.uop.node import GroupOp, Ops, UOp, identity


def transpose_operand(reduce: UOp) -> UOp | None:
    """Aᵀ·B of two large matrices in memory, neither contiguous along the sum: the one with fewer
    rows is transposed by a separate kernel."""
    if (along := _summed_axis(reduce)) is None:
        return None
    (product,) = reduce.src
    size, least = product.shape[along], thresholds.TRANSPOSED_FROM
    if size < least or (size >= thresholds.LONG_PRODUCT and reduce.size <= thresholds.FEW_SUMS):
        return None  # too short, or partial.py splits its sum
    rows = _rows_across(product)
    if len(rows) < 2 or min(product.shape[a] for a in rows) < least:
        return None
    fewer = min((0, 1), key=lambda n: product.shape[rows[n]])
    src = [_transposed(s, along) if n == fewer else s for n, s in enumerate(product.src)]
    return reduce.replace(src=(product.replace(src=tuple(src)),))


def _summed_axis(reduce: UOp) -> int | None:
    """The axis of a sum of products of two operands in memory; None if `reduce` is not that."""
    (x,), (op, axes) = reduce.src, reduce.arg
    if op is not Ops.ADD or x.op is not Ops.MUL or not all(isinstance(s, int) for s in x.shape):
        return None
    long = [a for a in axes if x.shape[a] != 1]
    return long[0] if len(long) == 1 and all(is_memory(s.base) for s in x.src) else None


def _rows_across(product: UOp) -> list[int]:
    """Each operand's own axis (the other is constant along it), if it is contiguous along it."""
    views = [s.st.views[0] for s in product.src]
    if any(view.mask is not None for view in views):
        return []
    found = []
    for mine, other in (views, views[::-1]):
        pairs = enumerate(zip(mine.strides, other.strides, strict=True))
        own = [a for a, (m, o) in pairs if m != 0 == o and product.shape[a] > 1]
        found += own if len(own) == 1 and mine.strides[own[0]] == 1 else []
    return found


def _transposed(u: UOp, last: int) -> UOp:
    """The same values, read from new memory in which axis `last` is contiguous."""
    steps = u.st.strides
    once = u.shrink(
        tuple((0, 1 if step == 0 else n) for step, n in zip(steps, u.shape, strict=True))
    )
    order = (*[a for a in range(len(u.shape)) if a != last], last)
    back = tuple(order.index(a) for a in range(len(order)))
    return once.permute(order).contiguous().permute(back).expand(u.shape)


def _merge_reshapes(u: UOp, x: UOp) -> UOp:
    return x.src[0].reshape(u.arg)


def _copy(u: UOp, x: UOp) -> UOp | None:
    if x.op in (Ops.CONST, Ops.IOTA):
        return x.replace(src=(u.src[1],))
    if x.device == u.src[1].arg:
        return x.contiguous()
    return (
        None
        if is_memory(x) or x.op is Ops.CONTIGUOUS
        else u.replace(src=(x.contiguous(), u.src[1]))
    )


def _assign_to_view(u: UOp, target: UOp, value: UOp) -> UOp | None:
    """An assignment to a view of some memory, or to a part of such a view, becomes an ASSIGN of all
    of that memory, with what is written as a third source. Whatever read the view (or assigns to it
    again) now reads this ASSIGN through the same view."""
    if value.op is Ops.KERNEL or memory_state(target).op in (Ops.BUFFER, Ops.ASSIGN):
        return None
    state, part = target.base, u.src[2] if len(u.src) == 3 else target
    return target.substitute({state: u.replace(src=(state, value, part))})


def _filled(u: UOp, value) -> UOp:
    """A constant with the shape, dtype and device of `u`."""
    device = () if u.device is None else (UOp(Ops.DEVICE, arg=u.device),)
    return UOp(Ops.CONST, u.dtype, device, dtypes.as_const(value, u.dtype)).broadcast_to(u.shape)


# ops that compute a new value, as opposed to memory and constants
COMPUTED = {*GroupOp.Elementwise, *GroupOp.Movement, Ops.REDUCE_AXIS, Ops.CONTIGUOUS, Ops.FUSE,
            Ops.COPY}  # fmt: skip

prepare_rules = PatternMatcher(
    [
        # a value without elements is not computed, written or copied: no loop runs over nothing
        (
            UPat(Ops.ASSIGN, src=(UPat.var("target"), UPat())),
            lambda target: target if target.size == 0 else None,
        ),
        (
            UPat(COMPUTED, name="u"),
            lambda u: _filled(u, 0) if u.size == 0 and u.base.op is not Ops.CONST else None,
        ),
        # of a source without elements, a reduce is its identity and a PAD only zeros
        (
            UPat(Ops.REDUCE_AXIS, src=(UPat.var("x"),), name="u"),
            lambda u, x: _filled(u, identity(u.arg[0], u.dtype)) if x.size == 0 else None,
        ),
        (
            UPat((Ops.PAD, Ops.UNWINDOW), src=(UPat.var("x"),), name="u"),
            lambda u, x: _filled(u, 0) if x.size == 0 else None,
        ),
        (UPat(Ops.DETACH, src=(UPat.var("x"),), allow_any_len=True), lambda x: x),
        (UPat(Ops.RESHAPE, src=(UPat(Ops.RESHAPE, name="x"),), name="u"), _merge_reshapes),
        (UPat(Ops.COPY, src=(UPat.var("x"), UPat(Ops.DEVICE)), name="u"), _copy),
        (
            UPat(
                Ops.ASSIGN,
                src=(UPat.var("target"), UPat.var("value")),
                allow_any_len=True,
                name="u",
            ),
            _assign_to_view,
        ),
        (UPat(Ops.REDUCE_AXIS, name="reduce"), transpose_operand),
    ]
)
