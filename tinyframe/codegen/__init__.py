"""Code generation: from a kernel's loop nest to source text, as a list of named passes.

Each pass is a function from graph to graph; `passes` reads like the table of contents of this
package. DEBUG=4 prints what each of them changed and the rules that fired, 5 the whole kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tinyframe.algebra.symbolic import index_rules, relaxed, sym
from tinyframe.codegen.decompose import (
    decompositions,
    idioms_with,
    program_idioms_with,
    reduces_without,
)
from tinyframe.codegen.expand import expand_copies, expand_lanes, flatten_indices
from tinyframe.codegen.linearize import linearize, loop_tree, repeated_reduces
from tinyframe.codegen.optimize.loops import Opt, apply_opts, axes
from tinyframe.codegen.optimize.merge_loops import (
    fuse_reduce_loops,
    merge_neighbours,
    split_at_divisions,
)
from tinyframe.codegen.optimize.plans import CPU, Plan, Workload, choose, opts_of
from tinyframe.codegen.program import (
    ProgramSpec,
    estimate_mem,
    estimate_ops,
    function_name,
    kernel_name,
    launch_size,
    most_steps,
    rewrite_program,
)
from tinyframe.device import Device, load
from tinyframe.dtype import to_np_dtype
from tinyframe.errors import DTypeError, LimitError
from tinyframe.renderer import Renderer, Target
from tinyframe.renderer.program_text import variables
from tinyframe.rewrite.matcher import graph_rewrite
from tinyframe.rewrite.spec import spec_kernel, spec_program
from tinyframe.rewrite.stages import staged
from tinyframe.settings import settings
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp, collector_paused


@dataclass
class Compilation:
    """The compilation of one kernel: for which renderer, with which Opts, and its stages so far."""

    renderer: Renderer
    opts: list[Opt] | None
    plan: Plan | None = None
    stages: list[tuple[str, UOp]] = field(default_factory=list)


def simplify(sink: UOp, job: Compilation) -> UOp:
    rules = index_rules if settings.NOOPT else sym + relaxed if settings.RELAXED else sym
    return graph_rewrite(sink, rules, name="simplify")


def tidy_loops(sink: UOp, job: Compilation) -> UOp:
    if settings.NOOPT:
        return sink
    return fuse_reduce_loops(split_at_divisions(merge_neighbours(sink)))


def optimize(sink: UOp, job: Compilation) -> UOp:
    if job.opts is not None:
        return apply_opts(sink, job.opts, job.renderer.target)
    if settings.NOOPT:
        job.opts = []
        return sink
    job.plan, job.opts, optimized = planned(sink, job.renderer.target)
    return optimized


def decompose(sink: UOp, job: Compilation) -> UOp:
    renderer = job.renderer
    rules = decompositions(renderer.code_for_op, renderer.native_half, renderer.native_casts)
    return graph_rewrite(sink, rules, name="decompose")


def decompose_anew(sink: UOp, job: Compilation) -> UOp:
    """Decomposes again, because simplifying a copy's index may turn a CDIV into a floor division.
    After that nothing is simplified any more, so the language's idioms (a - b) can be used."""
    ops = job.renderer.code_for_op.keys()
    if not {u.op for u in sink.toposort()}.isdisjoint(GroupOp.ALU - ops):
        sink = decompose(sink, job)
    return graph_rewrite(sink, idioms_with(frozenset(ops)), name="use idioms")


passes: list[tuple[str, Callable[[UOp, Compilation], UOp]]] = [
    ("simplify", simplify),
    ("tidy loops", tidy_loops),
    ("optimize", optimize),
    ("flatten indices", lambda sink, job: flatten_indices(sink)),
    ("decompose", decompose),
    ("expand lanes", lambda sink, job: expand_lanes(sink)),
    ("expand copies", lambda sink, job: expand_copies(sink)),
    ("decompose anew", decompose_anew),
]


def passes_for(target: Target) -> Sequence[tuple[str, Callable[[UOp, Compilation], UOp]]]:
    """The passes for a target. One that runs blocks of threads has others instead of some."""
    if not target.block_threads:
        return passes
    instead = load("tinyframe.gpu.passes:INSTEAD")
    return [new for row in passes for new in instead.get(row[0], [row])]


def full_rewrite_to_sink(
    sink: UOp, renderer: Renderer | None = None, opts: Sequence[Opt] | None = None
) -> UOp:
    """The kernel after all passes: only real loops, flat indices and ops that the device has."""
    job = Compilation(
        renderer or Device[Device.DEFAULT].renderer, None if opts is None else list(opts)
    )
    return _run_passes(sink, job)


def _run_passes(sink: UOp, job: Compilation) -> UOp:
    of_language = [(name, lambda sink, job, fn=fn: fn(sink)) for name, fn in job.renderer.passes]
    for name, fn in [*passes_for(job.renderer.target), *of_language]:
        sink = staged(name, spec_kernel, functools.partial(fn, sink, job), before=sink)
        job.stages.append((name, sink))
        if settings.DEBUG >= 4 and fn is optimize and job.opts:
            print("with " + ", ".join(map(repr, job.opts)))
    return sink


def scheduled_kernel(ast: UOp, renderer: Renderer) -> UOp:
    """A kernel as the plans see it: simplified, its loops merged, before any Opt."""
    job = Compilation(renderer, None)
    return tidy_loops(simplify(ast, job), job)


@collector_paused()
def get_program(ast: UOp, renderer: Renderer, opts: Sequence[Opt] | None = None) -> ProgramSpec:
    """A kernel as source text for `renderer`, with the given Opts or the default ones."""
    job = Compilation(renderer, None if opts is None else list(opts))
    sink = _run_passes(ast, job)
    recompute = bool(settings.SPEC and repeated_reduces(ast, loop_tree(ast)))
    ops = frozenset(renderer.code_for_op)

    def instructions() -> list[UOp]:
        program = rewrite_program(linearize(sink, recompute), reduces_without(ops))
        program = rewrite_program(program, program_idioms_with(ops))
        if renderer.target.block_threads:
            program = load("tinyframe.gpu.passes:with_barriers")(program)
        return program

    uops = staged("linearize", spec_program, instructions)
    loops = _named_loops(dict(job.stages)["optimize"])
    function = function_name(ast, loops)
    _check_ops(uops, renderer)
    _check_dtypes(function, uops, renderer)
    _check_limits(function, uops, renderer)
    source = renderer.render(function, uops)
    arguments = sorted({u.arg for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL})
    used = [u.arg for u in uops if u.op is Ops.DEFINE_GLOBAL]
    written = {s.src[0].src[0].arg for s in ast.src}
    return ProgramSpec(
        name=kernel_name(ast, function),
        function=function,
        src=source,
        device=renderer.device,
        ast=ast,
        uops=uops,
        loops=loops,
        globals=sorted(used),
        outs=sorted(written),
        ins=[a for a in arguments if a not in written],
        vars=variables(uops),
        **launch_size(uops),
        opts=job.opts or [],
        plan=job.plan,
        ops_estimate=estimate_ops(ast),
        mem_estimate=estimate_mem(ast),
    )


def _check_ops(uops: list[UOp], renderer: Renderer) -> None:
    """NotImplementedError if a program has an op that its language lacks."""
    ops = {u.op for u in uops} & GroupOp.ALU - {Ops.CAST, Ops.BITCAST}
    if lacking := sorted(op.name for op in ops.difference(renderer.code_for_op)):
        raise NotImplementedError(
            f"{type(renderer).__name__}.code_for_op has no row for {' and '.join(lacking)}, which "
            "cannot be made of other ops (runtime/README.md lists those that every language needs)"
        )


def _check_dtypes(function: str, uops: list[UOp], renderer: Renderer) -> None:
    """DTypeError if a program has a dtype that its language lacks."""
    if lacking := renderer.unsupported & {u.dtype.base.scalar() for u in uops}:
        names = " or ".join(sorted(str(to_np_dtype(dtype) or dtype) for dtype in lacking))
        raise DTypeError(
            f"{renderer.device} has no {names}, and the kernel {function} computes with it: "
            "cast to a dtype that it has, as in .cast(dtypes.float32), or take another device"
        )


def _check_limits(function: str, uops: list[UOp], renderer: Renderer) -> None:
    """LimitError if a program needs more buffers or longer threads than its device allows."""
    device, target = renderer.device, renderer.target
    buffers = sum(u.op is Ops.DEFINE_GLOBAL for u in uops)
    if target.most_buffers and buffers > target.most_buffers:
        raise LimitError(
            f"the kernel {function} reads and writes {buffers} buffers, and {device} takes "
            f"{target.most_buffers} at most: call realize() on a part of what it computes"
        )
    steps = most_steps(uops) if target.most_steps else 0
    if steps > target.most_steps:
        raise LimitError(
            f"each thread of the kernel {function} goes through {steps} steps of its loops, and "
            f"{device} ends a thread after {target.most_steps}: share the loops among more threads "
            "(GLOBAL, LOCAL and GROUP do), or take another device"
        )


def _named_loops(optimized: UOp) -> list[UOp]:
    """The RANGEs whose sizes form a kernel's name: loops in order, then copies, then lanes."""
    nodes = optimized.toposort()
    copied = {r for u in nodes if u.op is Ops.STAGE for r in u.own_ranges}
    expanded = [
        r
        for kind in (AxisType.UPCAST, AxisType.VECTOR, AxisType.UNROLL)
        for r in nodes
        if r.op is Ops.RANGE and r.arg[1] is kind and r not in copied
    ]
    return [*axes(optimized), *expanded]


# ---- the default schedule ------------------------------------------------------------------------


def plans_for(target: Target) -> list[Plan]:
    """The plans for a target, for a CPU's cores or for blocks of threads, in the order in which
    they are tried: the first that applies is used."""
    return load("tinyframe.gpu.plans:GPU") if target.block_threads else CPU


def planned(sink: UOp, target: Target) -> tuple[Plan, list[Opt], UOp]:
    """The plan chosen for a kernel, its Opts, and the kernel after them."""
    workload = Workload(sink, target)
    plan = choose(workload, plans_for(target))
    opts, optimized = opts_of(sink, plan.nest(workload), target)
    return plan, opts, optimized
