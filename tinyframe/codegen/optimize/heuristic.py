"""The default schedule of a kernel: which Opts, without a search."""
from __future__ import annotations

from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opt, axes, kind
from tinyframe.renderer import Target
from tinyframe.schedule.fuse import iterations, length
from tinyframe.uop.node import AxisType, Ops, UOp
from tinyframe.uop.symbolic import terms

# waking another core costs some microseconds: below this much work one is quicker
THREADS_FROM = 1 << 16


def default_opts(sink: UOp, target: Target) -> list[Opt]:
    """A schedule that is good without measuring. See optimize/README in tinyframe/README.md."""
    opts: list[Opt] = []

    def attempt(*wanted: Opt) -> bool:
        nonlocal sink
        changed = sink
        try:
            for opt in wanted:
                changed = apply_opt(changed, opt)
        except KernelOptError:
            return False
        sink = changed
        opts.extend(wanted)
        return True

    itemsize = max((u.dtype.base.itemsize for u in sink.toposort() if u.op is Ops.DEFINE_GLOBAL), default=4)
    lanes = max(target.vector_bytes // itemsize, 1)
    if lanes > 1:
        _vectorize(sink, lanes, attempt)
    _thread(sink, target, attempt)
    return opts


def _contiguous_axes(sink: UOp) -> list[int]:
    """Axes along which most loads and all stores are contiguous, best first."""
    loops = axes(sink)
    score = {}
    for n, r in enumerate(loops):
        loads = [u.src[0] for u in sink.toposort() if u.op is Ops.LOAD and r in u.ranges]
        stores = [s.src[0] for s in sink.src if r in s.src[0].ranges]
        good = sum(terms(i.src[-1]).get(r) == 1 and not any(r in x.ranges for x in i.src[2:-1])
                   for i in (*loads, *stores) if len(i.src) > 2)
        bad = len(loads) + len(stores) - good
        if good and bad == 0 or (good > bad and all(r in s.src[0].src[-1].ranges for s in sink.src if r in s.src[0].ranges)):
            score[n] = good - bad
    return sorted(score, key=lambda n: -score[n])


def _vectorize(sink: UOp, lanes: int, attempt) -> None:
    done: list[UOp] = []
    for n in _contiguous_axes(sink):
        r = axes(sink)[n]
        if length(r) >= lanes and attempt(Opt(OptOps.VECTOR, n, lanes)):
            done.append(r)
            return


def _thread(sink: UOp, target: Target, attempt) -> None:
    work = max((iterations(tuple(u.ranges)) for u in sink.toposort()), default=0)
    if target.threads > 1 and work >= THREADS_FROM and axes(sink):
        attempt(Opt(OptOps.THREAD, 0))


