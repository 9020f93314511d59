"""Movement ops: the shape each gives, and where its elements come from.

Nothing moves. A movement op says at which indices of its *source* the element at some index of its
*result* is found; the compiler writes those indices into the loads. The two tables, read side by
side, are the whole meaning of an op: `x.permute((1, 0))` has the shape `(s1, s0)`, and its element
at `(i, j)` is the source's element at `(j, i)`.
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


# ---- memory: what five functions say of one graph ------------------------------------------------
#
#     b = BUFFER of 6            w = b.reshape((2, 3))      x = w + 1
#     a = ASSIGN(w, x)           v = a.permute((1, 0))      r = v.reshape((6,))
#     p = v.shrink(((0, 1), (0, 2)))
#
#                       w    x    a    v    r    p
#     base_of           b    x    a    a    a    a    below all movement
#     memory_of         b    -    a    a    a    -    the same, if every element is there, and once
#     memory_state      b    x    a    v    v    p    below reshapes alone
#     stored_state      w    x    b    v    r    p    what an ASSIGN overwrites
#     stored_view       w    x    w    v    r    p    what that is written through (kernels.py)


def memory_state(u: UOp) -> UOp:
    """What a chain of reshapes shows: the same elements in the same order."""
    while u.op is Ops.RESHAPE:
        u = u.src[0]
    return u


# What shows every element of its source, and each once.
EVERY_ELEMENT = {Ops.RESHAPE, Ops.PERMUTE, Ops.FLIP, Ops.DETACH}


def memory_of(u: UOp) -> UOp | None:
    """The state of memory, a BUFFER or an ASSIGN, that holds all elements of a value, each in a
    place of its own, and nothing else; None for a value that is not in memory."""
    changes: list[UOp] = []  # the chain of ASSIGNs above memory; what is found is kept on each
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
    """What lies below the movement of a value, detach() included."""
    while u.op in GroupOp.Movement or u.op is Ops.DETACH:
        u = u.src[0]
    return u


def _is_front(u: UOp) -> bool:
    """The front of memory, as much of it as a symbolic size takes up."""
    if u.op is not Ops.SHRINK or len(u.shape) != 1 or not isinstance(u.shape[0], UOp):
        return False
    return u.arg[0][0] == 0


def is_result(u: UOp) -> bool:
    """ASSIGN(BUFFER, KERNEL): memory once the kernel has run."""
    return u.op is Ops.ASSIGN and u.src[1].op is Ops.KERNEL


def stored_state(value: UOp) -> UOp:
    """What stands for the memory in which a value is stored: that which an ASSIGN overwrites, a
    BUFFER or an earlier ASSIGN to it; any other value is in new memory, and stands for itself."""
    return base_of(value.src[0]) if value.op is Ops.ASSIGN else value


def in_new_memory(
    graph: UOp, assigns: Collection[UOp], new_buffer: Callable[[str, int, DType], UOp]
) -> dict[UOp, UOp]:
    """Every node of a graph, with some of its ASSIGNs writing to new memory: what they would have
    overwritten stays. Where one writes to a part only, the rest is copied there first."""

    def moved(old: UOp, u: UOp) -> UOp:
        if old not in assigns:
            return u
        target, value, *view = u.src
        state = stored_state(u)
        memory = new_buffer(state.device, state.size, state.dtype)
        if view or memory_of(target) is None:
            memory = memory.assign(state.reshape((state.size,)))
        memory = memory.reshape(state.shape)
        target, *view = [s.substitute({state: memory}) for s in (target, *view)]
        return u.replace(src=(target, value, *view))

    done: dict[UOp, UOp] = {}
    rebuild(graph, moved, done)
    return done


# ---- shapes -----------------------------------------------------------------------------------


@UOp.shape.rule(
    *GroupOp.Elementwise, Ops.CONTIGUOUS, Ops.FUSE, Ops.DETACH, Ops.ASSIGN, Ops.COPY, Ops.STORE
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


@UOp.shape.rule(Ops.FLIP)
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
# An index is an int32, and an int64 where its axis is longer than that can count. Where indices are
# multiplied and added up on the way, that is done in the width of what may come out.

source_index_rules: dict[Ops, Callable[[UOp, Indices], Indices]] = {}


def source_index_rule(op: Ops):
    def add(fn):
        source_index_rules[op] = fn
        return fn

    return add


def source_indices(u: UOp, ix: Indices) -> Indices:
    """Where the element at `ix` of a movement op is found in its source, simplified; the same
    place for other ops.

    PAD and UNWINDOW may give indices that lie outside; `condition` says when they do not.
    """
    if u.op not in GroupOp.Movement:
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
    """What UNWINDOW divides by its stride."""
    axis, _, dilation, length = u.arg
    reach = upper(length) + upper(u.src[0].shape[-1]) * dilation
    return widened(ix[axis], reach) - widened(ix[-1], reach) * dilation


@source_index_rule(Ops.RESHAPE)
def _(u, ix):
    """Axes are matched in groups of equal product: (a, b, c) -> (a, b*c) leaves `a` alone."""
    out: list[UOp] = []
    for new_axes, old_axes in reshape_groups(u.shape, u.src[0].shape):
        index, new = [ix[d] for d in new_axes], [u.shape[d] for d in new_axes]
        old = [u.src[0].shape[d] for d in old_axes]
        out += index if new == old else unflatten(flatten(index, new), old)
    return tuple(out)


def condition(u: UOp, ix: Indices, source_ix: Indices) -> UOp:
    """When PAD's or UNWINDOW's source has an element for `ix`; True for other movement ops."""
    true = valid = UOp.const(dtypes.bool, True)
    if u.op is Ops.PAD:
        for i, n, (before, after) in zip(source_ix, u.src[0].shape, u.arg, strict=True):
            valid = valid & (true if before == 0 else i >= 0) & (true if after == 0 else i < n)
    elif u.op is Ops.UNWINDOW:
        axis, stride, _, _ = u.arg
        i, n = source_ix[axis], u.src[0].shape[axis]
        valid = (i >= 0) & (i < n) & (_before_window(u, ix) % stride).eq(0)
    return valid.simplify()


def is_inside(pad: UOp, source_ix: Indices) -> bool | None:
    """Whether a PAD's source has an element there: always, never, or (None) not known from
    bounds."""
    inside: bool | None = True
    for i, n, (before, after) in zip(source_ix, pad.src[0].shape, pad.arg, strict=True):
        low, high = i.bounds
        if (before != 0 and high < 0) or (after != 0 and low >= upper(n)):
            return False
        if (before != 0 and low < 0) or (after != 0 and high >= lower(n)):
            inside = None
    return inside


def flatten(ix: Sequence[UOp], shape: Sequence) -> UOp:
    """One index into memory, row-major."""
    flat, count = constant(0), elements(shape)
    for d, i in enumerate(ix):
        flat = flat + widened(i, count) * elements(shape[d + 1 :])
    return flat.simplify()


def widened(index: UOp, size: sint) -> UOp:
    """The index in 64 bits where it becomes one into so many elements that 32 may be too small."""
    return index.cast(dtypes.long) if index_dtype(size) is dtypes.long else index


def unflatten(flat: UOp, shape: Sequence) -> list[UOp]:
    """The inverse of flatten: by div and mod."""
    out = []
    for d, size in enumerate(shape):
        i = flat // elements(shape[d + 1 :])
        i = constant(0) if size == 1 else i % size if d else i
        out.append(i.cast(index_dtype(size)))
    return [i.simplify() for i in out]


def reshape_groups(new: Sequence, old: Sequence) -> list[tuple[list[int], list[int]]]:
    """Consecutive axes of `new` and `old`, in the smallest groups that hold the same elements."""
    if 0 in new:
        common = 0
        while common < min(len(new), len(old)) and new[common] == old[common]:
            common += 1
        same = [([d], [d]) for d in range(common)]
        rest = list(range(common, len(new))), list(range(common, len(old)))
        return [*same, rest]

    def cuts(shape):
        return {p: d for d, p in reversed(list(enumerate(products(shape))))}

    def products(shape):
        return [plain(elements(shape[:d])) for d in range(len(shape) + 1)]

    new_cuts, old_cuts = cuts(new), cuts(old)
    common_products = [p for p in reversed(new_cuts) if p in old_cuts]
    groups = [
        (list(range(new_cuts[a], new_cuts[b])), list(range(old_cuts[a], old_cuts[b])))
        for a, b in pairwise(common_products)
    ]
    last_new, last_old = new_cuts[common_products[-1]], old_cuts[common_products[-1]]
    groups.append((list(range(last_new, len(new))), list(range(last_old, len(old)))))
    return groups
