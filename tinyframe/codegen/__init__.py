"""Code generation: from a kernel's loop nest to source text, as a list of named passes.

Each pass is a function from graph to graph; `passes` reads like the table of contents of this
package. DEBUG=4 prints what each of them changed and the rules that fired, 5 the whole kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tinyframe.algebra.symbolic import index_rules, relaxed, sym
from tinyframe.codegen.decompose import accumulation_with, decompositions, idioms_with
from tinyframe.codegen.expand import expand_copies, expand_lanes, flatten_indices
from tinyframe.codegen.linearize import (
    block_long_sums,
    check_no_recompute,
    linearize,
    repeated_reduces,
    separate_loops,
)
from tinyframe.codegen.optimize.loops import Opt, apply_opts
from tinyframe.codegen.optimize.merge_loops import (
    fuse_reduce_loops,
    merge_neighbours,
    shorten_reduces,
    split_at_divisions,
)
from tinyframe.codegen.optimize.plans import CPU, Plan, Workload, choose, opts_of
from tinyframe.codegen.program import ProgramSpec, named_loops, refuse, rewrite_program
from tinyframe.device import Device, load
from tinyframe.renderer import Renderer, Target
from tinyframe.rewrite.matcher import graph_rewrite
from tinyframe.rewrite.spec import spec_kernel, spec_program
from tinyframe.rewrite.stages import staged
from tinyframe.settings import settings
from tinyframe.uop.node import GroupOp, UOp, collector_paused


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


def canonicalize_loops(sink: UOp, job: Compilation) -> UOp:
    if settings.NOOPT:
        return sink
    return fuse_reduce_loops(split_at_divisions(merge_neighbours(sink)))


def optimize(sink: UOp, job: Compilation) -> UOp:
    target = job.renderer.target
    has_tiles = target.shared_bytes > 0
    if job.opts is not None:
        return shorten_reduces(apply_opts(sink, job.opts, target), has_tiles)
    if settings.NOOPT:
        job.opts = []
        return sink
    workload = Workload(sink, target)
    job.plan = choose(workload, plans_for(target))
    job.opts, optimized = opts_of(sink, job.plan.nest(workload), target)
    return shorten_reduces(optimized, has_tiles)


def decompose(sink: UOp, job: Compilation) -> UOp:
    renderer, ops = job.renderer, frozenset(job.renderer.code_for_op)
    rules = decompositions(ops, renderer.native_half, renderer.native_casts)
    return graph_rewrite(sink, rules, name="decompose")


def decompose_copies(sink: UOp, job: Compilation) -> UOp:
    """Decomposes once more: simplifying a copy's index may turn a CDIV into a floor division."""
    lacking = GroupOp.ALU - job.renderer.code_for_op.keys()
    return sink if lacking.isdisjoint(u.op for u in sink.toposort()) else decompose(sink, job)


def use_idioms(sink: UOp, job: Compilation) -> UOp:
    ops = frozenset(job.renderer.code_for_op)
    return graph_rewrite(sink, idioms_with(ops), name="use idioms")


def accumulate(uops: list[UOp], job: Compilation) -> list[UOp]:
    return rewrite_program(uops, accumulation_with(frozenset(job.renderer.code_for_op)))


Pass = tuple[str, Callable[[Any, Compilation], Any]]

# the passes over a kernel, from graph to graph
passes: list[Pass] = [
    ("simplify", simplify),
    ("canonicalize loops", canonicalize_loops),
    ("optimize", optimize),
    ("flatten indices", lambda sink, job: flatten_indices(sink)),
    ("decompose", decompose),
    ("expand lanes", lambda sink, job: expand_lanes(sink)),
    ("expand copies", lambda sink, job: expand_copies(sink)),
    ("decompose copies", decompose_copies),
    # from here on nothing is simplified any more
    ("use idioms", use_idioms),
    ("of the language", lambda sink, job: sink),  # becomes the language's own, `Renderer.passes`
    ("separate loops", lambda sink, job: separate_loops(sink)),
    ("block long sums", lambda sink, job: block_long_sums(sink)),
]
# the passes over its program, from list to list: the rest of the stage "linearize"
program_passes: list[Pass] = [
    ("accumulate", accumulate),
]


def passes_for(renderer: Renderer, table: list[Pass] = passes) -> list[Pass]:
    """The passes for one language, including its own and those for blocks of threads."""
    own: list[Pass] = [(name, functools.partial(_ignoring_job, fn)) for name, fn in renderer.passes]
    instead = {"of the language": own}
    if renderer.target.block_threads:
        instead |= load("tinyframe.gpu.passes:INSTEAD")
    return [new for row in table for new in instead.get(row[0], [row])]


def _ignoring_job(fn: Callable[[UOp], UOp], sink: UOp, job: Compilation) -> UOp:
    return fn(sink)


def full_rewrite_to_sink(
    sink: UOp, renderer: Renderer | None = None, opts: Sequence[Opt] | None = None
) -> UOp:
    """The kernel after all passes: only real loops, flat indices and ops that the device has."""
    renderer = renderer or Device[Device.DEFAULT].renderer
    return _run_passes(sink, Compilation(renderer, None if opts is None else list(opts)))


def _run_passes(sink: UOp, job: Compilation) -> UOp:
    for name, fn in passes_for(job.renderer):
        sink = staged(name, spec_kernel, functools.partial(fn, sink, job), before=sink)
        job.stages.append((name, sink))
        if settings.DEBUG >= 4 and fn is optimize and job.opts:
            print("with " + ", ".join(map(repr, job.opts)))
    return sink


def scheduled_kernel(ast: UOp, renderer: Renderer) -> UOp:
    """A kernel as the plans see it: simplified, its loops merged, before any Opt."""
    job = Compilation(renderer, None)
    return canonicalize_loops(simplify(ast, job), job)


@collector_paused()
def get_program(ast: UOp, renderer: Renderer, opts: Sequence[Opt] | None = None) -> ProgramSpec:
    """A kernel as source text for `renderer`, with the given Opts or the default ones."""
    job = Compilation(renderer, None if opts is None else list(opts))
    sink = _run_passes(ast, job)
    if settings.SPEC and not repeated_reduces(ast):  # Tensor.fuse() allows them
        check_no_recompute(sink)

    def program() -> list[UOp]:
        uops = linearize(sink)
        for _, fn in passes_for(renderer, program_passes):
            uops = fn(uops, job)
        return uops

    uops = staged("linearize", spec_program, program)
    loops = named_loops(dict(job.stages)["optimize"])
    spec = ProgramSpec(ast, uops, renderer, loops, job.opts or [], job.plan)
    refuse(spec)
    _ = spec.src, spec.name  # written and numbered now, not when somebody asks
    return spec


# ---- the default schedule ------------------------------------------------------------------------


def plans_for(target: Target) -> list[Plan]:
    """The plans for a target, for a CPU's cores or for blocks of threads, in the order in which
    they are tried: the first that applies is used."""
    return load("tinyframe.gpu.plans:GPU") if target.block_threads else CPU
