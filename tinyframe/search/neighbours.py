"""The lists of Opts that are one change away from a given one: where a search goes next.

The neighbours of `[UPCAST(0, 4), THREAD(0)]` are the list without one of the two, with an UPCAST of
3 or 6 or of another axis, and with one more Opt. They may be illegal: applying a list tells.
"""

from __future__ import annotations

from collections.abc import Iterator

from tinyframe.codegen.optimize.loops import Opt, OptOps, apply_opts, axes
from tinyframe.codegen.optimize.plans import lanes_of
from tinyframe.renderer import Target
from tinyframe.uop.node import AxisType, Ops, UOp, axis_type, extent

Opts = tuple[Opt, ...]

SIZES = {
    OptOps.SPLIT: (4, 8, 16, 32, 64, 128, 256),
    OptOps.UPCAST: (2, 3, 4, 6, 8, 10, 12, 16),
    OptOps.VECTOR: (2, 4, 8, 16, 32),
    OptOps.UNROLL: (2, 4, 8, 16),
    OptOps.LOCAL: (2, 4, 8, 16, 32, 64, 128, 256),
    OptOps.GROUP: (4, 8, 16, 32, 64, 128, 256),
}
# sizes of a new Opt, which later rounds improve step by step
FIRST_SIZES = {OptOps.SPLIT: (8, 64), OptOps.UPCAST: (2, 4), OptOps.UNROLL: (4,),
               OptOps.LOCAL: (8, 32), OptOps.GROUP: (32,)}  # fmt: skip


def neighbours(kernel: UOp, opts: Opts, target: Target) -> list[Opts]:
    """Lists of Opts that are one change away from this one, legal or not.

    kernel: without any Opts. THREAD stays last, where it does not restrict other Opts. On a target
    with blocks of threads, GLOBAL, LOCAL and GROUP replace it.
    """
    thread = tuple(o for o in opts if o.op is OptOps.THREAD)
    body = tuple(o for o in opts if o.op is not OptOps.THREAD)
    in_blocks = bool(target.block_threads)
    out = [body] if thread else [] if in_blocks else [(*body, Opt(OptOps.THREAD, 0))]
    lanes = lanes_of(kernel, target)
    for n, opt in enumerate(body):
        changed = [(*body[:n], new, *body[n + 1 :]) for new in _variants(opt, len(axes(kernel)))]
        out += [(*o, *thread) for o in [(*body[:n], *body[n + 1 :]), *changed]]
    # New copies, lanes and threads come before panels, which threads share; so their axes are those
    # of the original kernel.
    first = [*_upcasts(kernel, lanes), *(_threads(kernel) if in_blocks else ())]
    out += [(new, *body, *thread) for new in first]
    scheduled = apply_opts(kernel, body)
    more = [*_upcasts(scheduled, lanes), *_loops(scheduled, in_blocks)]
    more += _threads(scheduled) if in_blocks else []
    return [*out, *[(*body, new, *thread) for new in more]]


def _variants(opt: Opt, count: int) -> Iterator[Opt]:
    """The same Opt with the next smaller or larger size, or on another of the `count` axes."""
    if opt.op in SIZES:
        smaller = [n for n in SIZES[opt.op] if n < opt.arg]
        larger = [n for n in SIZES[opt.op] if n > opt.arg]
        yield from (Opt(opt.op, opt.axis, n) for n in (*smaller[-1:], *larger[:1]))
        yield from (Opt(opt.op, axis, opt.arg) for axis in range(count) if axis != opt.axis)
    elif opt.op is OptOps.STAGE:
        assert isinstance(opt.axis, int)
        yield from (Opt(opt.op, opt.axis + by, opt.arg) for by in (-1, 1) if opt.axis + by >= -1)
    elif opt.op is OptOps.GLOBAL:
        yield from (Opt(opt.op, axis) for axis in range(count) if axis != opt.axis)


def _upcasts(kernel: UOp, lanes: int) -> Iterator[Opt]:
    for n, r in enumerate(axes(kernel)):
        if extent(r) >= lanes > 1:
            yield Opt(OptOps.VECTOR, n, lanes)
        op = OptOps.UNROLL if axis_type(r) is AxisType.REDUCE else OptOps.UPCAST
        yield from (Opt(op, n, size) for size in FIRST_SIZES[op] if size <= extent(r))


def _threads(kernel: UOp) -> Iterator[Opt]:
    for n, r in enumerate(axes(kernel)):
        op = OptOps.GROUP if axis_type(r) is AxisType.REDUCE else OptOps.LOCAL
        yield from (Opt(op, n, size) for size in FIRST_SIZES[op] if size <= extent(r))
        if axis_type(r) is AxisType.LOOP:
            yield Opt(OptOps.GLOBAL, n)


def _loops(kernel: UOp, in_blocks: bool) -> Iterator[Opt]:
    loops = axes(kernel)
    around = (AxisType.LOOP, AxisType.REDUCE) if in_blocks else (AxisType.LOOP,)
    places = [-1, *[n for n, r in enumerate(loops) if axis_type(r) in around]]
    slots = {u.src[0].src[0].arg for u in kernel.toposort()
             if u.op is Ops.LOAD and u.src[0].src[0].op is Ops.DEFINE_GLOBAL}  # fmt: skip
    for n in range(len(loops)):
        yield from (Opt(OptOps.SPLIT, n, size) for size in FIRST_SIZES[OptOps.SPLIT])
        if n and axis_type(loops[n]) is axis_type(loops[n - 1]):
            order = list(range(len(loops)))
            order[n - 1], order[n] = n, n - 1
            yield Opt(OptOps.REORDER, tuple(order))
    yield from (Opt(OptOps.STAGE, place, slot) for place in places for slot in sorted(slots))
