"""Movement ops: the shape of each result, and where its elements come from.

Nothing moves. A movement op maps the indices of its *result* to indices of its *source*, and the
compiler writes those into the loads. The two tables below, one for shapes and one for indices, are
the whole meaning of an op: `x.permute((1, 0))` has the shape `(s1, s0)`, and its element at
`(i, j)` is the source's element at `(j, i)`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise

from tinyframe.dtype import DType, dtypes
from tinyframe.uop.node import (
    GroupOp,
    Ops,
    UOp,
    elements,
    index_dtype,
    lower,
    plain,
    rebuild,
    sint,
    upper,
)

Indices = tuple[UOp, ...]


# ---- memory: five functions and their results on one graph ---------------------------------------
#
#     b = BUFFER of 6            w = b.reshape((2, 3))      x = w + 1
#     a = ASSIGN(w, x)           v = a.permute((1, 0))      r = v.reshape((6,))
#     p = v.shrink(((0, 1), (0, 2)))
#
#                       w    x    a    v    r    p
#     base_of           b    x    a    a    a    a    the node below all movement
#     memory_of         b    -    a    a    a    -    the same, if it is memory and shown in full
#     memory_state      b    x    a    v    v    p    the node below reshapes only
#     stored_state      w    x    b    v    r    p    the state that an ASSIGN overwrites
#     stored_view       w    x    w    v    r    p    the view it writes through


def memory_state(u: UOp) -> UOp:
    """The node below a chain of reshapes: the same elements in the same order."""
    while u.op is Ops.RESHAPE:
        u = u.src[0]
    return u


# ops whose result has every element of the source, each exactly once
EVERY_ELEMENT = {Ops.RESHAPE, Ops.PERMUTE, Ops.FLIP, Ops.DETACH}


def memory_of(u: UOp) -> UOp | None:
    """The state of memory, a BUFFER or an ASSIGN, that holds exactly the elements of a value, each
    once, in any order; None if there is no such state."""
    changes: list[UOp] = []  # the chain of ASSIGNs above memory; the answer is cached on each
    first = state = _below_front(u)
    while state.op is Ops.ASSIGN and not is_result(state) and "_in_memory" not in state.__dict__:
        changes.append(state)
        u, state = state.src[0], _below_front(state.src[0])
    is_memory = state.op in (Ops.BUFFER, Ops.ASSIGN) and state.size == u.size
    is_memory = state.__dict__.get("_in_memory", is_memory)
    for change in changes:
        change.__dict__["_in_memory"] = is_memory
    return first if is_memory else None


def _below_front(u: UOp) -> UOp:
    while u.op in EVERY_ELEMENT or _is_front(u):
        u = u.src[0]
    return u


def base_of(u: UOp) -> UOp:
    """The node below all movement ops and DETACHes."""
    while u.op in GroupOp.Movement or u.op is Ops.DETACH:
        u = u.src[0]
    return u


def _is_front(u: UOp) -> bool:
    """Whether this is the front of some memory, as far as a symbolic size reaches."""
    if u.op is not Ops.SHRINK or len(u.shape) != 1 or not isinstance(u.shape[0], UOp):
        return False
    return u.arg[0][0] == 0


def is_result(u: UOp) -> bool:
    """Whether this is ASSIGN(BUFFER, KERNEL): memory after the kernel has run."""
    return u.op is Ops.ASSIGN and u.src[1].op is Ops.KERNEL


def stored_state(value: UOp) -> UOp:
    """The state of memory that storing a value overwrites: for an ASSIGN a BUFFER, or an earlier
    ASSIGN to it. Any other value is stored in new memory; the value itself stands for that."""
    return base_of(value.src[0]) if value.op is Ops.ASSIGN else value


def taken_view(value: UOp) -> UOp | None:
    """The TAKE through which storing a value writes to places that are data, in order."""
    if value.op is Ops.FETCH:
        return value.src[0]
    return view if (view := stored_view(value)) is not value and view.op is Ops.TAKE else None


def stored_view(value: UOp) -> UOp:
    """The view of its `stored_state` through which a value is written: for an ASSIGN that writes
    only a part, its third source."""
    if value.op is not Ops.ASSIGN:
        return value
    return value.src[2] if len(value.src) == 3 else value.src[0]


def seen_on(view: UOp, state: UOp, memory: UOp) -> UOp:
    """A view of a state, with other memory in its place. What places of a TAKE are computed from
    stays."""
    if view is state:
        return memory
    return view.replace(src=(seen_on(view.src[0], state, memory), *view.src[1:]))


def in_new_memory(
    graph: UOp, assigns: Collection[UOp], new_buffer: Callable[[str, int, DType], UOp]
) -> dict[UOp, UOp]:
    """Makes `assigns` write to new memory instead of overwriting the old; one that writes only a
    part first copies the rest there. Maps every node of the graph to its replacement."""

    def moved(old: UOp, u: UOp) -> UOp:
        if old not in assigns:
            return u
        target, value, *view = u.src
        state = stored_state(u)
        memory = new_buffer(state.device, state.size, state.dtype)
        if view or memory_of(target) is None:
            memory = memory.assign(state.reshape((state.size,)))
        memory = memory.reshape(state.shape)
        target, *view = [seen_on(s, state, memory) for s in (target, *view)]
        return u.replace(src=(target, value, *view))

    done: dict[UOp, UOp] = {}
    rebuild(graph, moved, done)
    return done


# ---- shapes -----------------------------------------------------------------------------------


@UOp.shape.rule(
    *GroupOp.Elementwise, Ops.SCAN_AXIS, Ops.FETCH, Ops.CONTIGUOUS, Ops.FUSE, Ops.DETACH, Ops.COPY,
    Ops.STORE,
)
def _(u: UOp):
    return next((s.shape for s in u.src if s.shape), ())


@UOp.shape.rule(Ops.BUFFER, Ops.IOTA)
def _(u: UOp):
    return (u.arg,)


@UOp.shape.rule(Ops.RESHAPE, Ops.EXPAND)
def _(u: UOp):
    return u.arg


@UOp.shape.rule(Ops.PERMUTE)
def _(u: UOp):
    return tuple(u.src[0].shape[axis] for axis in u.arg)


@UOp.shape.rule(Ops.PAD)
def _(u: UOp):
    return tuple(plain(s + a + b) for s, (a, b) in zip(u.src[0].shape, u.arg, strict=True))


@UOp.shape.rule(Ops.SHRINK)
def _(u: UOp):
    return tuple(plain(end - begin) for begin, end in u.arg)


@UOp.shape.rule(Ops.TAKE)
def _(u: UOp):
    return u.src[1].shape


@UOp.shape.rule(Ops.FLIP, Ops.ASSIGN)
def _(u: UOp):
    return u.src[0].shape


@UOp.shape.rule(Ops.WINDOW)
def _(u: UOp):
    axis, size, stride, dilation = u.arg
    shape = list(u.src[0].shape)
    shape[axis] = plain((shape[axis] - dilation * (size - 1) - 1) // stride + 1)
    return (*shape, size)


@UOp.shape.rule(Ops.UNWINDOW)
def _(u: UOp):
    axis, _, _, length = u.arg
    return tuple(length if d == axis else s for d, s in enumerate(u.src[0].shape))


@UOp.shape.rule(Ops.REDUCE_AXIS)
def _(u: UOp):
    return tuple(1 if d in u.arg[1] else s for d, s in enumerate(u.src[0].shape))


# ---- indices ----------------------------------------------------------------------------------
#
# An index is an int32, or an int64 if its axis is too long for that. Sums and products of indices
# are computed in the width that the result may need.

MAY_BE_OUTSIDE = {Ops.PAD, Ops.UNWINDOW, Ops.TAKE}

source_index_rules: dict[Ops, Callable[[UOp, Indices], Indices]] = {}


def source_index_rule(op: Ops):
    def add(fn):
        source_index_rules[op] = fn
        return fn

    return add


def source_indices(u: UOp, ix: Indices) -> Indices:
    """The indices in the source of a movement op, or a TAKE, for the element at `ix`, simplified;
    `ix` itself for other ops.

    For those of `MAY_BE_OUTSIDE` they may be out of range; `condition` says when they are not.
    """
    if u.op not in source_index_rules:
        return ix
    return tuple(i.simplify() for i in source_index_rules[u.op](u, ix))


def constant(value: int) -> UOp:
    return UOp.const(dtypes.int, value)


@source_index_rule(Ops.PERMUTE)
def _(u, ix):
    return tuple(ix[u.arg.index(d)] for d in range(len(ix)))


@source_index_rule(Ops.EXPAND)
def _(u, ix):
    return tuple(
        constant(0) if s == 1 and n != 1 else i
        for i, s, n in zip(ix, u.src[0].shape, u.arg, strict=True)
    )


@source_index_rule(Ops.PAD)
def _(u, ix):
    return tuple(i if before == 0 else i - before for i, (before, _) in zip(ix, u.arg, strict=True))


@source_index_rule(Ops.SHRINK)
def _(u, ix):
    begins = [begin for begin, _ in u.arg]
    return tuple(
        widened(i, s) if begin == 0 else widened(i, s) + begin
        for i, s, begin in zip(ix, u.src[0].shape, begins, strict=True)
    )


@source_index_rule(Ops.FLIP)
def _(u, ix):
    return tuple(s - 1 - i if flip else i for i, s, flip in zip(ix, u.shape, u.arg, strict=True))


@source_index_rule(Ops.WINDOW)
def _(u, ix):
    axis, _, stride, dilation = u.arg
    o, k = widened(ix[axis], u.src[0].shape[axis]), widened(ix[-1], u.src[0].shape[axis])
    return tuple(o * stride + k * dilation if d == axis else i for d, i in enumerate(ix[:-1]))


@source_index_rule(Ops.UNWINDOW)
def _(u, ix):
    axis, stride, _, _ = u.arg
    return tuple(_before_window(u, ix) // stride if d == axis else i for d, i in enumerate(ix))


def _before_window(u: UOp, ix: Indices) -> UOp:
    """The numerator that UNWINDOW divides by its stride."""
    axis, _, dilation, length = u.arg
    reach = upper(length) + upper(u.src[0].shape[-1]) * dilation
    return widened(ix[axis], reach) - widened(ix[-1], reach) * dilation


@source_index_rule(Ops.RESHAPE)
def _(u, ix):
    """Axes are matched in groups of equal size: (a, b, c) -> (a, b*c) leaves `a` alone."""
    out: list[UOp] = []
    for new_axes, old_axes in reshape_groups(u.shape, u.src[0].shape):
        index, new = [ix[d] for d in new_axes], [u.shape[d] for d in new_axes]
        old = [u.src[0].shape[d] for d in old_axes]
        out += index if new == old else unflatten(flatten(index, new), old)
    return tuple(out)


@source_index_rule(Ops.TAKE)
def _(u, ix):
    size = u.src[0].shape[u.arg]
    place = widened(place_at(u.src[1], ix), size)
    return tuple(place if d == u.arg else i for d, i in enumerate(ix))


def place_at(index: UOp, ix: Indices) -> UOp:
    """What a Tensor of places holds at `ix`: a PLACE, until `lower` knows its value."""
    return UOp(Ops.PLACE, index.dtype, ix, index).cast(place_dtype(index.dtype))


def place_dtype(dtype: DType) -> DType:
    """The dtype in which places, which are data of this one, are compared with indices."""
    fits_int = dtype.itemsize < 4 or dtype is dtypes.int
    return dtypes.int if fits_int else dtypes.long


def numbers_along(shape: tuple, axis: int) -> UOp:
    """The index of each element along an axis."""
    size, sizes = shape[axis], tuple(s if d == axis else 1 for d, s in enumerate(shape))
    return UOp(Ops.IOTA, index_dtype(size), (), size).reshape(sizes).expand(shape)


def condition(u: UOp, ix: Indices, source_ix: Indices) -> UOp:
    """Whether the source of a PAD, an UNWINDOW or a TAKE has an element for `ix`; True for other
    ops."""
    true = valid = UOp.const(dtypes.bool, True)
    if u.op is Ops.PAD:
        for i, n, (before, after) in zip(source_ix, u.src[0].shape, u.arg, strict=True):
            valid = valid & (true if before == 0 else i >= 0) & (true if after == 0 else i < n)
    elif u.op is Ops.UNWINDOW:
        axis, stride, _, _ = u.arg
        i, n = source_ix[axis], u.src[0].shape[axis]
        valid = (i >= 0) & (i < n) & (_before_window(u, ix) % stride).eq(0)
    elif u.op is Ops.TAKE:
        i, n = source_ix[u.arg], u.src[0].shape[u.arg]
        valid = (i >= 0) & (i < n)
    return valid.simplify()


def is_inside(pad: UOp, source_ix: Indices) -> bool | None:
    """Whether a PAD's source has an element there: always, never, or None if bounds don't tell."""
    inside: bool | None = True
    for i, n, (before, after) in zip(source_ix, pad.src[0].shape, pad.arg, strict=True):
        low, high = i.bounds
        if (before != 0 and high < 0) or (after != 0 and low >= upper(n)):
            return False
        if (before != 0 and low < 0) or (after != 0 and high >= lower(n)):
            inside = None
    return inside


def flatten(ix: Sequence[UOp], shape: Sequence) -> UOp:
    """The row-major offset of indices into memory of this shape."""
    flat, count = constant(0), elements(shape)
    for d, i in enumerate(ix):
        flat = flat + widened(i, count) * elements(shape[d + 1 :])
    return flat.simplify()


def widened(index: UOp, size: sint) -> UOp:
    """The index, in 64 bits if `size` elements are too many for 32."""
    return index.cast(dtypes.long) if index_dtype(size) is dtypes.long else index


def unflatten(flat: UOp, shape: Sequence) -> list[UOp]:
    """The inverse of flatten, by // and %."""
    out = []
    for d, size in enumerate(shape):
        i = flat // elements(shape[d + 1 :])
        i = constant(0) if size == 1 else i % size if d else i
        out.append(i.cast(index_dtype(size)))
    return [i.simplify() for i in out]


def reshape_groups(new: Sequence, old: Sequence) -> list[tuple[list[int], list[int]]]:
    """Consecutive axes of `new` and `old`, in the smallest groups with equal products of sizes."""
    if 0 in new:
        common = 0
        while common < min(len(new), len(old)) and new[common] == old[common]:
            common += 1
        cuts = [(d, d) for d in range(common + 1)]
    else:
        # the product of the first d sizes -> d
        new_cuts, old_cuts = (
            {plain(elements(shape[:d])): d for d in reversed(range(len(shape) + 1))}
            for shape in (new, old)
        )
        cuts = [(d, old_cuts[p]) for p, d in reversed(new_cuts.items()) if p in old_cuts]
    return [
        (list(range(a, b)), list(range(c, d)))
        for (a, c), (b, d) in pairwise([*cuts, (len(new), len(old))])
    ]
