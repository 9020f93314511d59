"""A graph for each op of each dtype, over edge values; one kernel computes all of a dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.kernels import launch
from tests.reference import evaluate
from tests.values import array_of
from tinyframe import Device, dtypes
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.device import Buffer, buffer_of
from tinyframe.dtype import DType, f32_to_bf16, to_np_dtype
from tinyframe.rewrite.spec import spec_tensor
from tinyframe.uop.node import GroupOp, Ops, UOp

SIZE, LANES = 37, 16  # two vectors and a tail

EVERY_DTYPE = [
    dtypes.bool,
    *dtypes.ints,
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.float64,
]
# of bools these say nothing that AND, OR and XOR do not
NOT_OF_BOOLS = {Ops.NEG, Ops.SUB, Ops.TRUNC, Ops.POW, Ops.MULACC}
APPROXIMATE = {Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.POW}
RELATIVE = {
    dtypes.float16: 1e-3,
    dtypes.bfloat16: 8e-3,
    dtypes.float32: 1e-6,
    dtypes.float64: 1e-12,
}


def edge_values(dtype: DType, seed: int) -> np.ndarray:
    """Half of them where things go wrong: ends of the range, zeros of both signs, inf, NaN."""
    rng = np.random.default_rng(seed)
    if dtype is dtypes.bool:
        return rng.integers(0, 2, SIZE).astype(bool)
    if dtypes.is_float(dtype):
        edges = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, 3.0, -3.0, np.inf, -np.inf, np.nan, 100.0,
                 1e-3]  # fmt: skip
        ordinary = rng.normal(size=SIZE) * 10
    else:
        low, high = int(dtype.min), int(dtype.max)
        edges = [0, 1, 2, 7, low, high, low + 1, high - 1, max(low, -1), max(low, -7)]
        ordinary = rng.integers(low, high, SIZE, dtype=to_np_dtype(dtype), endpoint=True)
    chosen = [
        edges[rng.integers(len(edges))] if rng.random() < 0.5 else ordinary[n] for n in range(SIZE)
    ]
    return array_of(chosen, dtype)


def in_buffer(array: np.ndarray, dtype: DType) -> UOp:
    """A BUFFER node that holds these elements."""
    uop = UOp.new_buffer("CPU", len(array), dtype)
    stored = (
        f32_to_bf16(array.astype(np.float32))
        if dtype is dtypes.bfloat16
        else array.astype(to_np_dtype(dtype))
    )
    buffer_of(uop).copyin(stored.tobytes())
    return uop


def every_op(dtype: DType) -> list[UOp]:
    """A graph for each op that this dtype can have, on the same three buffers."""
    x, y = (in_buffer(edge_values(dtype, seed), dtype) for seed in (1, 2))
    condition = in_buffer(edge_values(dtypes.bool, 3), dtypes.bool)
    bits = 2 if dtype is dtypes.bool else min(8 * dtype.itemsize, 64)
    small = in_buffer(np.random.default_rng(4).integers(0, bits, SIZE), dtype)
    graphs = [UOp(op, dtype, (x,)) for op in sorted(GroupOp.Unary)]
    for op in sorted(GroupOp.Binary):
        second = (
            small if op in (Ops.SHL, Ops.SHR) or (op is Ops.POW and dtypes.is_int(dtype)) else y
        )
        graphs.append(UOp(op, dtypes.bool if op in GroupOp.Comparison else dtype, (x, second)))
    graphs += [UOp(Ops.WHERE, dtype, (condition, x, y)), UOp(Ops.MULACC, dtype, (x, y, small))]
    for end in (dtype.min, dtype.max) if dtypes.is_int(dtype) else ():
        number = UOp.const(dtype, end).broadcast_to(x.shape)
        for op in sorted(GroupOp.Binary - {Ops.POW, Ops.SHL, Ops.SHR}):
            of = dtypes.bool if op in GroupOp.Comparison else dtype
            graphs += [UOp(op, of, (x, number)), UOp(op, of, (number, x))]
    for other in EVERY_DTYPE:
        if other is not dtype:
            graphs.append(UOp(Ops.CAST, other, (x,)))
            if other.itemsize == dtype.itemsize and dtypes.bool not in (dtype, other):
                graphs.append(UOp(Ops.BITCAST, other, (x,)))
    return [g for g in graphs if spec_tensor.rewrite(g) is True and g.op not in (Ops.CDIV, Ops.CMOD)
            and not (dtype is dtypes.bool and g.op in NOT_OF_BOOLS)]  # fmt: skip


def one_kernel(graphs: Sequence[UOp]) -> tuple[UOp, list[UOp]]:
    """A kernel that stores each of these; and its inputs."""
    inputs = list(dict.fromkeys(s for g in graphs for s in g.src if s.op is Ops.BUFFER))
    slots = {u: slot for slot, u in enumerate((*graphs, *inputs))}
    r = UOp.range(SIZE, 0)

    def place(u: UOp) -> UOp:
        return UOp(Ops.DEFINE_GLOBAL, u.dtype.ptr(SIZE), (), slots[u]).index(r, shape=(SIZE,))

    def value(s: UOp) -> UOp:
        return place(s).load() if s.op is Ops.BUFFER else UOp.const(s.dtype, s.base.arg)

    values = [UOp(g.op, g.dtype, tuple(map(value, g.src))) for g in graphs]
    return UOp.sink(*[place(g).store(v, r) for g, v in zip(graphs, values, strict=True)]), inputs


def check_every_op(dtype: DType, opts: Sequence[Opt], device: str, without: Sequence[Any] = ()):
    """On this device, each op of this dtype gives what NumPy says, to the dtypes it has. without:
    dtypes and ops."""
    graphs = [g for g in every_op(dtype) if g.dtype not in without and g.op not in without]
    most = getattr(Device[device].renderer.target, "most_buffers", None)
    at_once = (most or 1000) - 4  # results of a kernel, which has four inputs at most
    for start in range(0, len(graphs), at_once):
        _check(graphs[start : start + at_once], opts, device)


def _check(graphs: Sequence[UOp], opts: Sequence[Opt], device: str) -> None:
    kernel, inputs = one_kernel(graphs)
    results = [Buffer(device, SIZE, g.dtype).allocate() for g in graphs]
    there = [Buffer(device, SIZE, u.dtype, initial_value=bytes(buffer_of(u).as_memoryview()))
             for u in inputs]  # fmt: skip
    launch(get_program(kernel, Device[device].renderer, opts), [*results, *there])
    for graph, result in zip(graphs, results, strict=True):
        expected, found, what = evaluate(graph), result.numpy(), f"{graph.op} to {graph.dtype}"
        tolerance = RELATIVE.get(graph.dtype, 0) * (8 if graph.op in APPROXIMATE else 1)
        if tolerance == 0 or graph.op in (Ops.BITCAST, Ops.WHERE, Ops.MAX, Ops.NEG):
            np.testing.assert_array_equal(found, expected, err_msg=what)
        else:
            found, expected = found.astype(np.float64), expected.astype(np.float64)
            absolute = tolerance if graph.op in APPROXIMATE else 0
            np.testing.assert_allclose(found, expected, tolerance, absolute, err_msg=what)
