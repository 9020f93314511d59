"""Kernels: every group of stored values becomes one KERNEL node, in an order in which they can run.

A KERNEL's sources are its buffers, outputs first. `ASSIGN(BUFFER, KERNEL)` is the buffer's content
after the kernel has run, so the graph itself says which kernel must run before which.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any

from tinyframe import thresholds
from tinyframe.device import Buffer, Device, NoCompiler
from tinyframe.dtype import PtrDType, dtypes
from tinyframe.observe import tell
from tinyframe.renderer import Renderer, Target
from tinyframe.rewrite.matcher import PatternMatcher, UPat, graph_rewrite
from tinyframe.rewrite.spec import spec_kernel, spec_tensor
from tinyframe.rewrite.stages import staged
from tinyframe.schedule.fuse import (
    Fusion,
    KernelOutput,
    Steps,
    decide_fusion,
    is_leaf,
    is_memory,
    needed_by,
)
from tinyframe.schedule.partial import divisor, split_long_reduces
from tinyframe.schedule.ranges import lower
from tinyframe.uop.movement import (
    MAY_BE_OUTSIDE,
    in_new_memory,
    memory_state,
    numbers_along,
    place_dtype,
    seen_on,
    source_index_rules,
    stored_state,
    stored_view,
)
from tinyframe.uop.node import (
    GroupOp,
    Ops,
    UOp,
    arg_key,
    identity,
    sources_first,
)

# ---- preparation: remove everything that the scheduler need not deal with ------------------------


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
    """For each operand the axis that it alone varies along, if it is contiguous along that."""
    views = [s.st for s in product.src]
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


def _lanes_of(u: UOp) -> int:
    """How many elements of a value are in a vector of its device."""
    return max(1, target_of(u.device).vector_bytes // u.dtype.itemsize)


def scan_in_parts(scan: UOp, x: UOp) -> UOp | None:
    """A long scan of few rows: its parts are scanned side by side, then the last elements of these,
    and each part is combined with all that comes before it.

    With many threads the parts are short, and each is reduced before it is scanned, from where it
    begins, rather than scanned and read once more (Blelloch, "Prefix sums and their applications",
    1990)."""
    (op, axis), shape = scan.arg, x.shape
    if not all(isinstance(s, int) for s in shape):
        return None
    size, on_blocks = shape[axis], target_of(x.device).block_threads > 0
    if on_blocks:  # threads can share the sum of a part
        at_once = thresholds.BLOCKS_OF_PARTS * thresholds.BLOCK_THREADS
        parts = min(at_once * size // x.size, size // thresholds.LEAST_SHARED)
    else:
        parts = min(thresholds.LEAST_PARTS * size // x.size, math.isqrt(size))
    if parts < 4 or not (on_blocks or size >= thresholds.LONG_SCAN):
        return None

    def along(*sizes: Any, of: tuple = shape) -> tuple:
        """`of`, with these in place of the entry for the axis."""
        return (*of[:axis], *sizes, *of[axis + 1 :])

    # with many threads, whole vectors in a part, and of parts
    lanes = _lanes_of(x) if on_blocks else 1
    every, each = tuple((0, s) for s in shape), -(-size // parts // lanes) * lanes
    parts = -(-size // each // lanes) * lanes
    whole = x.pad(along((0, parts * each - size), of=((0, 0),) * len(shape)))
    whole = whole.reshape(along(parts, each))
    inside = whole.scan_axis(op, axis + 1)
    if on_blocks:
        ends = whole.reduce_axis(op, (axis + 1,)).scan_axis(op, axis)
        ends = ends.shrink(along((0, parts - 1), (0, 1), of=every))
    else:
        ends = inside.shrink(along((0, parts - 1), (each - 1, each), of=every))
    start = UOp.const(x.dtype, identity(op, x.dtype)).broadcast_to(along(1, 1))
    before = start.cat(ends, dim=axis)
    flat, some = along(parts * each), along((0, size), of=every)
    if on_blocks:  # the scan of a part shares a kernel only along an axis of what is stored
        before = before.expand(along(parts, each))
        return before.alu(op, inside).contiguous().reshape(flat).shrink(some)
    before = before.scan_axis(op, axis).expand(along(parts, each))
    return before.reshape(flat).shrink(some).alu(op, inside.reshape(flat).shrink(some))


def stored_by_many(u: UOp, view: UOp, value: UOp, index: UOp) -> UOp | None:
    """An ordered store on a device with many threads, most of which would have nothing to do: they
    walk in order along its axis, each for one element beside that. So they share more."""
    known = all(isinstance(s, int) for s in (*view.shape, *value.shape))
    if not known or u.arg is Ops.STORE or target_of(u.device).block_threads == 0:
        return None
    axis, count, whole = view.arg, index.shape[view.arg], view.src[0]
    index, beside = index.cast(place_dtype(index.dtype)), value.size // count
    is_short = whole.size * count <= thresholds.LOOKED_AT
    parts = min(
        thresholds.BLOCKS_OF_PARTS * thresholds.BLOCK_THREADS // beside,
        count // thresholds.LEAST_SHARED,
        thresholds.MEMORY_OF_PARTS * value.size // whole.size,
    )
    if beside >= thresholds.FEW_WRITERS or not (is_short or parts >= thresholds.FEW_WRITERS):
        return _walked_by_more(u, axis, whole, value, index)
    if u.arg is None:  # the last value for a place is the one of the largest number
        none = _filled(whole.cast(dtypes.int), 0).contiguous()
        number = numbers_along(value.shape, axis).cast(dtypes.int) + 1
        last = none.assign(number, none.take(axis, index), Ops.MAX)
        part = last.eq(0).where(whole, value.take(axis, last - 1))
    else:
        combined = (
            _looked_for(u.arg, axis, whole, value, index)
            if is_short
            else _in_parts(u.arg, axis, whole, value, index, parts)
        )
        part = whole.alu(u.arg, combined)
    return u.src[0].assign(part, None if whole is u.src[0] else whole)


def _walked_by_more(u: UOp, axis: int, whole: UOp, value: UOp, index: UOp) -> UOp | None:
    """An ordered store for which many more threads walk, each for every nth place alone; None if
    there are enough, or n does not divide the places."""
    lanes = _lanes_of(u)
    lanes = lanes if axis < len(value.shape) - 1 and value.shape[-1] % lanes == 0 else 1
    threads = thresholds.FILLING_BLOCKS * thresholds.BLOCK_THREADS
    most = threads * lanes * value.shape[axis] // value.size
    parts = divisor(whole.shape[axis], range(most, thresholds.LEAST_WALKERS - 1, -1))
    if parts is None:
        return None
    if not is_memory(index):  # all of them read it: it is computed once
        once = tuple((0, n if _varies(index, a) else 1) for a, n in enumerate(index.shape))
        index = index.shrink(once).contiguous().expand(index.shape)
    shape = (*value.shape[: axis + 1], parts, *value.shape[axis + 1 :])
    index, value = (_with_axis(x, axis + 1).expand(shape) for x in (index, value))
    here = (index % parts).eq(numbers_along(shape, axis + 1).cast(index.dtype))
    place = here.where(index // parts, index.const_like(-1))
    return u.src[0].assign(value, _cut(whole, axis, parts).take(axis, place), u.arg)


def _varies(u: UOp, axis: int) -> bool:
    """Whether elements may differ along an axis: not if that has been expanded."""
    if u.op in GroupOp.Elementwise or u.op is Ops.EXPAND:
        return u.shape[axis] != 1 and any(_varies(s, axis) for s in u.src)
    return u.shape[axis] != 1


def _looked_for(op: Ops, axis: int, whole: UOp, value: UOp, index: UOp) -> UOp:
    """What an ordered store adds to each element, which looks for its values among all of them."""
    last = len(value.shape)
    facing = (*range(axis), last, *range(axis + 1, last), axis)  # the values in a last axis
    shape = (*whole.shape, value.shape[axis])
    index, value = (_with_axis(x, last).permute(facing).expand(shape) for x in (index, value))
    hit = index.eq(numbers_along(shape, axis).cast(index.dtype))
    found = hit.where(value, value.const_like(identity(op, value.dtype)))
    return found.reduce_axis(op, (last,)).reshape(whole.shape)


def _in_parts(op: Ops, axis: int, whole: UOp, value: UOp, index: UOp, parts: int) -> UOp:
    """The same, for many values: every nth goes to the same one of n partial results."""
    last, left = len(value.shape), -value.shape[axis] % parts
    beyond = tuple((0, left if d == axis else 0) for d in range(last))
    index = (index + 1).pad(beyond) - 1  # what fills up the last parts goes nowhere
    order = (*range(axis + 1), *range(axis + 2, last + 1), axis + 1)
    index, value = (_cut(x, axis, parts).permute(order) for x in (index, value.pad(beyond)))
    results = _with_axis(whole, last).expand((*whole.shape, parts))
    memory = _filled(results, identity(op, value.dtype)).contiguous()
    partial = memory.assign(value, memory.take(axis, index), op)
    return partial.reduce_axis(op, (last,)).reshape(whole.shape)


def _with_axis(x: UOp, axis: int) -> UOp:
    return x.reshape((*x.shape[:axis], 1, *x.shape[axis:]))


def _cut(x: UOp, axis: int, parts: int) -> UOp:
    """The same elements, with every nth of an axis in each of n parts: (…, length / n, n, …)."""
    return x.reshape((*x.shape[:axis], x.shape[axis] // parts, parts, *x.shape[axis + 1 :]))


def _copy(u: UOp, x: UOp) -> UOp | None:
    if x.op in (Ops.CONST, Ops.IOTA):
        return x.replace(src=(u.src[1],))
    if x.device == u.src[1].arg:
        return x.contiguous()
    if is_memory(x) or x.op is Ops.CONTIGUOUS:
        return None
    return u.replace(src=(x.contiguous(), u.src[1]))


def _assign_to_view(u: UOp, target: UOp, value: UOp) -> UOp | None:
    """An assignment to a view of some memory, or to a part of such a view, becomes an ASSIGN of all
    of that memory, with the view as a third source. Whatever read the view (or assigns to it
    again) now reads this ASSIGN through the same view."""
    if value.op is Ops.KERNEL or memory_state(target).op in (Ops.BUFFER, Ops.ASSIGN):
        return None
    state = target.base
    return target.substitute({state: u.replace(src=(state, value, stored_view(u)))})


def _filled(u: UOp, value) -> UOp:
    """A constant with the shape, dtype and device of `u`."""
    device = () if u.device is None else (UOp(Ops.DEVICE, arg=u.device),)
    return UOp(Ops.CONST, u.dtype, device, dtypes.as_const(value, u.dtype)).broadcast_to(u.shape)


# ops that compute a new value, as opposed to memory and constants
COMPUTED = {*GroupOp.Elementwise, *GroupOp.Movement, Ops.REDUCE_AXIS, Ops.SCAN_AXIS, Ops.TAKE,
            Ops.CONTIGUOUS, Ops.FUSE, Ops.COPY}  # fmt: skip

prepare_rules = PatternMatcher(
    [
        # a value without elements is not computed, written or copied: no loop runs over nothing
        (
            UPat(Ops.ASSIGN, src=(UPat.var("target"), UPat.var("value")), allow_any_len=True),
            lambda target, value: target if target.size == 0 or value.size == 0 else None,
        ),
        (
            UPat(COMPUTED, name="u"),
            lambda u: _filled(u, 0) if u.size == 0 and u.base.op is not Ops.CONST else None,
        ),
        # if the source has no elements, a reduce gives its identity, a PAD and a TAKE only zeros
        (
            UPat(Ops.REDUCE_AXIS, src=(UPat.var("x"),), name="u"),
            lambda u, x: _filled(u, identity(u.arg[0], u.dtype)) if x.size == 0 else None,
        ),
        (
            UPat(MAY_BE_OUTSIDE, src=(UPat.var("x"),), allow_any_len=True, name="u"),
            lambda u, x: _filled(u, 0) if x.size == 0 else None,
        ),
        (UPat(Ops.DETACH, src=(UPat.var("x"),), allow_any_len=True), lambda x: x),
        (
            UPat(Ops.RESHAPE, src=(UPat(Ops.RESHAPE, src=(UPat.var("x"),)),), name="u"),
            lambda u, x: x.reshape(u.arg),
        ),
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
        (
            UPat(
                Ops.ASSIGN,
                src=(
                    UPat(),
                    UPat.var("value"),
                    UPat(Ops.TAKE, src=(UPat(), UPat.var("index")), name="view"),
                ),
                name="u",
            ),
            stored_by_many,
        ),
        (UPat(Ops.REDUCE_AXIS, name="reduce"), transpose_operand),
        (UPat(Ops.SCAN_AXIS, src=(UPat.var("x"),), name="scan"), scan_in_parts),
    ]
)

# ---- the output of the scheduler: KERNEL nodes in the graph, and the items to run ----------------


@dataclass(frozen=True)
class Kernel:
    """The argument of a KERNEL node: the loop nest (or COPY), and how many of the node's sources
    are its buffers, outputs first. The sources after those are kernels that must have run before,
    and Variables that must have a value."""

    ast: UOp
    buffers: int

    def __repr__(self) -> str:
        return f"<Kernel {self.ast.op} {len(self.ast.src)} outputs>"


@dataclass(frozen=True)
class ScheduleItem:
    """One item to run: `ast` is a SINK (a kernel) or a COPY; `bufs` are its arguments in order.

    ran: empty until it is done, or started on an asynchronous device (`Runner.launch`).
    """

    ast: UOp
    bufs: tuple[Buffer, ...]
    ran: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def has_run(self) -> bool:
        """Whether `run_schedule` has run it."""
        return bool(self.ran)

    @property
    def written(self) -> list[Buffer]:
        """The buffers that it writes: outputs, and those updated in place."""
        if self.ast.op is Ops.COPY:
            return [self.bufs[0]]
        return [self.bufs[store.src[0].src[0].arg] for store in self.ast.src]


# ---- cutting a graph into kernels ----------------------------------------------------------------

# nodes that are always stored; Tensors that hold them will refer to that memory
ALWAYS_STORED = (Ops.ASSIGN, Ops.COPY, Ops.CONTIGUOUS, Ops.FETCH)
# nodes that one kernel may store for another
INTERMEDIATE = {*GroupOp.Elementwise, Ops.REDUCE_AXIS, Ops.SCAN_AXIS, Ops.TAKE}


@dataclass
class Lowered:
    """A lowered group: its loop nest, and its arguments in the order of their slots.

    An argument is a value that the group stores (in new memory), or a state of memory that it reads
    or overwrites: a BUFFER, the result of a KERNEL, or a value that another group stores. Partial
    results that one group stores for another are represented by their BUFFER.
    outputs: the stored values. keep_whole: it stays one kernel, because the user asked for that
    (`Tensor.fuse()`), or because it is a COPY.
    """

    outputs: list[UOp]
    ast: UOp
    arguments: list[UOp]
    keep_whole: bool = False


def kernelize(sink: UOp, new_buffer) -> tuple[dict[UOp, UOp], dict[UOp, UOp]]:
    """Cuts the graph into kernels. Maps each node that is wanted in memory to `ASSIGN(BUFFER,
    KERNEL)`, reshaped; and likewise, in a second dict, those that one kernel stores for another.

    `new_buffer(device, size, dtype)` makes a BUFFER for new memory.
    An in-place update whose old value is still needed afterwards is written to new memory.
    """
    computed = sink.toposort(gate=lambda u: not is_leaf(u))
    used_up = [u.src[0].src[0] for u in computed if u.op is Ops.FETCH]
    assert len(used_up) == len({*used_up}), "each FETCH needs memory of its own"
    stored_by_user = [
        u for u in computed if u.op in ALWAYS_STORED and not is_leaf(u) and u not in used_up
    ]
    stored_by_user += [b for u in sink.src if (b := u.base) is not u]  # the base of a view
    everything = staged("tensor graph", spec_tensor, partial(UOp.sink, *sink.src, *stored_by_user))
    became: dict[UOp, UOp] = {}
    prepared = staged(
        "prepare",
        spec_tensor,
        partial(graph_rewrite, everything, prepare_rules, name="prepare", became=became),
        before=everything,
    )
    lasting = dict.fromkeys((*sink.src, *stored_by_user))
    replaced = {u: became[u] for u in everything.toposort() if u in became and u.op in INTERMEDIATE}
    replaced |= {u: became[u] for u in lasting}

    wanted = [u for u in prepared.src[: len(sink.src)] if not is_leaf(u.base)]
    permuted = _stored_permuted(prepared, wanted)
    outputs = list(dict.fromkeys(permuted.get(u.base, u.base) for u in wanted))
    results, replaced = _store_all(outputs, replaced, new_buffer)
    for base, view in permuted.items():
        results[base] = _unpermuted(results[view], view)
    becomes = {}
    for old, new in replaced.items():
        if (base := new.base) in results:
            memory = {u: results[u] for u in (permuted.get(base, base), base)}
            becomes[old] = new.substitute(memory)
    intermediate = {u: becomes.pop(u) for u in list(becomes) if u not in lasting}
    for u in [u for u in everything.toposort() if u in lasting and u.size == 0]:
        # a buffer without elements, which no kernel writes
        if u.op is Ops.ASSIGN:
            becomes[u] = u.src[0].substitute(becomes)
        elif not is_leaf(u.base):
            becomes[u] = new_buffer(u.device, 0, u.dtype).front(u.shape)
    return becomes, intermediate


def _store_all(
    outputs: list[UOp], replaced: dict[UOp, UOp], new_buffer
) -> tuple[dict[UOp, UOp], dict[UOp, UOp]]:
    """Maps each stored value to its memory after its KERNEL has run; and `replaced` (the user's
    nodes -> nodes of the graph), updated for the graph in which in-place updates are safe."""
    in_new_buffer: set[UOp] = set()  # ASSIGNs whose old value is still needed
    while True:
        fusion = decide_fusion(outputs)
        known: dict[tuple, tuple[UOp, list[int]]] = {}
        groups = [_lower_group(group, fusion, known) for group in fusion.kernels]
        cut: Cuts = {}
        parts = [part for g in groups for part in _split_long_reduces(g, cut, new_buffer)]
        try:
            return _link(parts, new_buffer), replaced
        except CycleError as error:  # names the parts of a cycle by number, the first twice
            cycle = [u for n in error.args[1][1:] for u in parts[n].outputs]
            moved = next(u for u in cycle if u.op is Ops.ASSIGN and u not in in_new_buffer)
            everything = UOp.sink(*outputs, *replaced.values())
            changed = in_new_memory(everything, {moved}, new_buffer)
            in_new_buffer = {changed[u] for u in (*in_new_buffer, moved) if u in changed}
            outputs = [changed[u] for u in outputs]
            replaced = {old: changed[new] for old, new in replaced.items()}


def _stored_permuted(prepared: UOp, wanted: list[UOp]) -> dict[UOp, UOp]:
    """The reduces that are stored with their axes permuted: base -> view of it.

    A gradient is wanted in its parameter's axis order, in which the optimizer uses it. A value that
    has to be stored anyway is stored in that order, so the kernel writes contiguous memory.
    """
    views: dict[UOp, set[UOp]] = {}
    for u in wanted:
        views.setdefault(u.base, set()).add(u)
    used = {s for u in prepared.toposort() if u is not prepared for s in u.src}
    permuted = {}
    for base, (view, *others) in views.items():
        if base.op is Ops.REDUCE_AXIS and not others and view in used:
            ops = set()
            u = view
            while u is not base:
                ops.add(u.op)
                u = u.src[0]
            if Ops.PERMUTE in ops and ops <= {Ops.PERMUTE, Ops.RESHAPE}:
                permuted[base] = memory_state(view)  # a reshape of it is the same memory
    return permuted


def _unpermuted(result: UOp, view: UOp) -> UOp:
    """The base of `view`, as a view of the memory that holds `view` itself."""
    while view.op is not Ops.REDUCE_AXIS:
        if view.op is Ops.RESHAPE:
            result = result.reshape(view.src[0].shape)
        else:
            back = sorted(range(len(view.arg)), key=view.arg.__getitem__)
            result = result.permute(tuple(back))
        view = view.src[0]
    return result


def buffer_of_state(u: UOp) -> UOp:
    while u.op is not Ops.BUFFER:
        u = u.src[0]
    return u


def _lower_group(group: list[KernelOutput], fusion: Fusion, known: dict) -> Lowered:
    """A group's loop nest; a group whose outline is in `known` is not lowered again."""
    outputs = [p.value for p in group]
    if outputs[0].op is Ops.COPY:
        copy = outputs[0]
        places = [UOp(Ops.DEFINE_GLOBAL, copy.dtype.ptr(copy.size), (), n) for n in range(2)]
        ast = UOp(Ops.COPY, copy.dtype, (*places, copy.src[1]))
        return Lowered(outputs, ast, [copy, memory_state(copy.src[0])], keep_whole=True)

    def is_read(u: UOp) -> bool:
        state = memory_state(u)
        return (state in fusion.reasons and state not in outputs) or is_memory(state)

    steps: Steps = {}  # of all outputs together
    for value in outputs:
        for u, found in fusion.steps[value].items():
            steps.setdefault(u, {}).update(found)
    rows, states = outline_of(group, steps, is_read)
    if rows not in known:
        tell.lowering()
        ast, arguments = _loop_nest(group, steps, is_read)
        tell.lowered(ast)
        known[rows] = ast, [states.index(a) for a in arguments]
    ast, slots = known[rows]
    keep_whole = any(u.op is Ops.FUSE for u in steps)
    return Lowered(outputs, ast, [states[n] for n in slots], keep_whole)


def _loop_nest(
    group: list[KernelOutput], steps: Steps, is_read: Callable[[UOp], bool]
) -> tuple[UOp, list[UOp]]:
    """A group's SINK, and its arguments in the order of their slots."""
    slots: dict[UOp, UOp] = {}

    def slot(argument: UOp) -> UOp:
        pointer = argument.dtype.ptr(argument.size)
        return slots.setdefault(argument, UOp(Ops.DEFINE_GLOBAL, pointer, (), len(slots)))

    for value, *_ in group:
        slot(stored_state(value))  # outputs come first

    def target(state: UOp, view: UOp) -> UOp:
        return seen_on(view, state, slot(state).reshape(state.shape))

    def memory(u: UOp) -> UOp | None:
        return slot(memory_state(u)) if is_read(u) else None

    lowering = partial(lower, group, steps, memory, target)
    ast = staged("lower to ranges", spec_kernel, lowering)
    return _with_arguments(ast, list(slots))


Cuts = dict[tuple[UOp, Target], list[UOp]]
"""(loop nest, Target) -> the kernels that it is split into."""


def target_of(device: str | None) -> Target:
    """The Target of a device, by its name; None is the default device."""
    opened = Device[device]
    try:
        return opened.renderer.target
    except NoCompiler:  # reported when there is something to compile
        return Renderer.default_target


def _split_long_reduces(g: Lowered, cut: Cuts, new_buffer) -> list[Lowered]:
    """A group split into those that store partial results, and the one that uses them. cut: the
    splits of earlier groups; this one's is added."""
    if g.keep_whole:
        return [g]
    device = g.outputs[0].device
    key = g.ast, target_of(device)
    if key not in cut:
        cut[key] = split_long_reduces(*key)
    *first, final = cut[key]
    arguments = list(g.arguments)
    out = []
    for kernel in first:
        dtype = kernel.src[0].src[0].src[0].dtype
        assert isinstance(dtype, PtrDType)
        arguments.append(new_buffer(device, dtype.size, dtype.base))
        out.append(Lowered(arguments[-1:], *_with_arguments(kernel, arguments)))
    return [*out, Lowered(g.outputs, *_with_arguments(final, arguments))] if out else [g]


def _with_arguments(ast: UOp, arguments: list[UOp]) -> tuple[UOp, list[UOp]]:
    """A kernel with slots renumbered, outputs first, and the arguments it still has: a value that
    turned out not to be read is dropped."""
    stored = [store.src[0].src[0] for store in ast.src]
    used = [u for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL]
    order = list(dict.fromkeys((*stored, *sorted(used, key=lambda u: u.arg))))
    ast = ast.substitute({place: place.replace(arg=n) for n, place in enumerate(order)})
    return ast, [arguments[place.arg] for place in order]


def _link(groups: list[Lowered], new_buffer) -> dict[UOp, UOp]:
    """Orders the groups and makes their KERNEL nodes; maps each stored value to its memory.
    CycleError if memory is updated in place between reads, so that groups depend on each other."""
    producer = {value: n for n, g in enumerate(groups) for value in g.outputs}
    overwriters: dict[UOp, list[int]] = {}
    for n, g in enumerate(groups):
        for value in g.outputs:
            if value.op is Ops.ASSIGN:
                overwriters.setdefault(stored_state(value), []).append(n)
    after: list[dict[int, None]] = [{} for _ in groups]  # the groups that must run before each
    for n, g in enumerate(groups):
        for state in g.arguments:
            if (m := producer.get(state, n)) != n:
                after[n][m] = None
            for w in overwriters.get(state, []):  # readers run before the kernel that overwrites
                if n not in overwriters[state]:
                    after[w][n] = None

    results: dict[UOp, UOp] = {}
    kernels: dict[int, UOp] = {}
    order = TopologicalSorter[int](dict.fromkeys(range(len(groups)), ()))
    for n, before in enumerate(after):
        order.add(n, *before)
    for n in order.static_order():
        g = groups[n]
        memory = {
            a: (
                new_buffer(a.device, a.size, a.dtype)
                if producer.get(a) == n and a.op is not Ops.BUFFER
                else results.get(a, a).base
            )
            for a in g.arguments
        }
        arguments = list(memory.values())
        made_by = {a.src[1] for a in arguments if a.op is Ops.ASSIGN}
        earlier = [kernels[m] for m in after[n] if kernels[m] not in made_by]
        tell.kernel(g.ast, g.outputs, g.arguments)
        sources = (*arguments, *earlier, *g.ast.variables())
        kernels[n] = UOp(Ops.KERNEL, dtypes.void, sources, Kernel(g.ast, len(arguments)))
        for value in g.outputs:
            state = stored_state(value)
            buffer = buffer_of_state(memory[state])
            written = UOp(Ops.ASSIGN, buffer.dtype, (buffer, kernels[n])).front(state.shape)
            whole = value.src[0] if value.op is Ops.ASSIGN else value
            results[value] = whole.substitute({state: written})
    return results


# ---- outlines: groups that differ only in which memory they read are lowered once ----------------
# An unrolled loop (the time steps of an LSTM, the stages of a sort, the pieces of a long chain)
# gives many groups of the same form. A group's outline holds everything its loop nest depends on,
# with numbers in place of memory and of RANGEs. If two outlines are equal, so are the loop nests,
# except for which memory the slots of the arguments refer to.


def outline_of(
    group: list[KernelOutput], steps: Steps, is_read: Callable[[UOp], bool]
) -> tuple[tuple, list[UOp]]:
    """The outline of values stored by one kernel: rows that are equal for groups of the same form,
    and the states of memory that it reads and writes, in the order of their numbers in the rows.

    steps: of all that has to be computed, the stored values included. is_read: whether a value, or
    the state of memory below it, is read from memory.
    """
    members = dict.fromkeys(p.value for p in group)
    states: dict[UOp, int] = {}
    place: dict[UOp, int] = {}
    rows: list[tuple] = []
    needs: dict[UOp, tuple[UOp, ...]] = {}

    def number(state: UOp) -> int:
        return states.setdefault(state, len(states))

    def add(u: UOp, *row) -> None:
        place[u] = len(rows)
        rows.append(row)

    def below(u: UOp) -> tuple[UOp, ...]:
        if u in steps:
            found = needed_by(u, steps)
        else:  # the target of an ASSIGN, or what is read
            found = u.src if u.op in source_index_rules and not is_read(u) else ()
        return needs.setdefault(u, found)

    views = {v: v.src[0] if v.op is Ops.FETCH else stored_view(v) for v in members}
    for u in sources_first([*members, *views.values()], below):
        if u not in members and is_read(u):
            state = memory_state(u)
            add(u, number(state), u.shape, u.dtype, state.size)
        elif u.op in (Ops.BIND, Ops.DEFINE_VAR):
            add(u, u.src[0] if u.op is Ops.BIND else u)
        elif is_leaf(u):
            add(u, u.base.op, u.dtype, arg_key(u.base.arg), u.shape)
        else:
            needed = [(u.src.index(s) if s in u.src else -1, place[s]) for s in needs[u]]
            add(u, u.op, u.dtype, arg_key(u.arg), arg_key(u.tag), *needed)
    for value in members:
        state = stored_state(value)
        rows.append((place[value], place[views[value]], number(state), state.size))
    rows += _index_rows(i for _, indices, _ in group for i in indices)
    return tuple(rows), list(states)


def _index_rows(indices: Iterable[UOp]) -> list[tuple]:
    """The rows of index expressions, with RANGEs ranked by their numbers."""
    roots = list(indices)
    order = sources_first(roots)
    ranges = sorted((u for u in order if u.op is Ops.RANGE), key=lambda r: r.arg[0])
    rank = {r: n for n, r in enumerate(ranges)}
    place = {u: n for n, u in enumerate(order)}
    rows = [(u.op, u.dtype, rank.get(u, arg_key(u.arg)), *[place[s] for s in u.src]) for u in order]
    return [*rows, tuple([place[i] for i in roots])]
