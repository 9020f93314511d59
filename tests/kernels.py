"""What the compiler's tests share: Tensors on memory, kernels found, compiled and run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinyframe import Device, Tensor, dtypes
from tinyframe.codegen import get_program
from tinyframe.codegen.linearize import enclosing_loops, loop_tree
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.codegen.program import ProgramSpec
from tinyframe.device import Buffer
from tinyframe.dtype import DType
from tinyframe.schedule import create_schedule
from tinyframe.uop.node import Ops, UOp


def on_buffer(*shape: int, dtype: DType = dtypes.float, device: str = "CPU") -> Tensor:
    """A Tensor on a BUFFER of its own, never written to: for looking at schedules."""
    return Tensor(UOp.new_buffer(device, math.prod(shape), dtype).reshape(shape))


def filled(array: Any, device: str | None = None) -> Tensor:
    """A realized Tensor with these elements."""
    return Tensor(np.asarray(array), device=device).realize()


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Small whole numbers as float32: their sums and products are exact in any order."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def schedule_of(*tensors: Tensor) -> list[Any]:
    """The ScheduleItems that would compute these; the Tensors stay as they are."""
    return create_schedule(UOp.sink(*[t.uop for t in tensors]))[0]


def kernels_of(*tensors: Tensor) -> list[UOp]:
    """The kernels (SINKs) among them, in running order."""
    return [item.ast for item in schedule_of(*tensors) if item.ast.op is Ops.SINK]


def kernel_of(tensor: Tensor) -> UOp:
    """The kernel of something that is one."""
    (kernel,) = kernels_of(tensor)
    return kernel


def ops_in(graph: UOp, *ops: Ops) -> list[UOp]:
    return [u for u in graph.toposort() if u.op in ops]


def source_of(ast: UOp | Tensor, opts: Sequence[Opt] | None = None, device: str = "CPU") -> str:
    """A kernel's source text."""
    return program_of(ast, opts, device).src


def program_of(
    ast: UOp | Tensor, opts: Sequence[Opt] | None = None, device: str = "CPU"
) -> ProgramSpec:
    kernel = kernel_of(ast) if isinstance(ast, Tensor) else ast
    return get_program(kernel, Device[device].renderer, opts)


def body_of(source: str) -> str:
    """A kernel's own text, without types, helpers and the entry."""
    lines = source.splitlines()
    start = next(
        n for n, line in enumerate(lines) if line.startswith("void ") and "_entry" not in line
    )
    return "\n".join(lines[start + 1 : lines.index("}", start)])


def run_with(tensor: Tensor, opts: Sequence[Opt] | None, device: str = "CPU") -> np.ndarray:
    """The values of a Tensor that is one kernel on realized inputs, with the given Opts."""
    (item,) = schedule_of(tensor)
    spec = get_program(item.ast, Device[device].renderer, opts)
    bufs = [b if b.is_allocated() else Buffer(device, b.size, b.dtype) for b in item.bufs]
    launch(spec, bufs)
    return bufs[spec.outs[0]].numpy().reshape(tensor.shape).copy()


def launch(spec: ProgramSpec, bufs: Sequence[Buffer]) -> None:
    device = Device[spec.device]
    runner = device.runner(spec.function, device.compiler.compile_cached(spec.src))
    opaque = [bufs[slot]._buf for slot in spec.globals]
    runner(*opaque, global_size=spec.global_size, local_size=spec.local_size, wait=True)


def repeated_reduces(kernel: UOp) -> list[UOp]:
    """The REDUCEs of a kernel that would run more often than they have results."""
    tree = loop_tree(kernel)
    return [u for u in ops_in(kernel, Ops.REDUCE) if set(enclosing_loops(u, tree)) != u.ranges]
