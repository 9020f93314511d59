"""Masks in place of vectors of bools: the same results, run op by op, and no bools are left."""

from __future__ import annotations

import numpy as np
import pytest

from tests.every_op import EVERY_DTYPE, LANES, SIZE, every_op, one_kernel
from tests.kernels import body_of, kernel_of, launch, on_buffer, source_of
from tests.reference import evaluate
from tinyframe import Context, Tensor, dtypes
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.device import Buffer, buffer_of
from tinyframe.dtype import DType
from tinyframe.renderer.masks import masks
from tinyframe.rewrite.spec import spec_program, spec_values
from tinyframe.runtime.python import PythonRenderer
from tinyframe.uop.node import GroupOp, Ops, UOp

VECTOR = OptOps.VECTOR


class Masking(PythonRenderer):
    """The interpreter, given what GCC is given."""

    passes = (("masks", masks),)


def on_python(uop: UOp) -> Buffer:
    source = buffer_of(uop)
    buffer = Buffer("PYTHON", source.size, source.dtype)
    memory = bytearray(source.nbytes)
    source.copyout(memoryview(memory))
    buffer.copyin(bytes(memory))
    return buffer


def has_bools(graph: UOp) -> bool:
    return any(dtypes.is_bool(u.dtype) for u in (graph, *graph.src))


@pytest.mark.parametrize("dtype", EVERY_DTYPE, ids=repr)
def test_what_is_computed_stays_the_same(dtype):
    """The interpreter, which knows no C, runs every op that has to do with bools."""
    graphs = [g for g in every_op(dtype) if has_bools(g)]
    kernel, inputs = one_kernel(graphs)
    results = [Buffer("PYTHON", SIZE, g.dtype) for g in graphs]
    with Context(SPEC=1):
        program = get_program(kernel, Masking(), [Opt(VECTOR, 0, LANES)])
    launch(program, [*results, *map(on_python, inputs)])
    for graph, result in zip(graphs, results, strict=True):
        np.testing.assert_array_equal(result.numpy(), evaluate(graph), err_msg=f"{graph.op}")


@pytest.mark.parametrize("dtype", EVERY_DTYPE, ids=repr)
def test_vectors_of_bools_are_left_in_memory_only(dtype):
    kernel, _ = one_kernel([g for g in every_op(dtype) if has_bools(g)])
    program = get_program(kernel, Masking(), [Opt(VECTOR, 0, LANES)]).uops
    bools = {u.op for u in program if u.dtype is dtypes.bool.vec(LANES)}
    assert bools <= {Ops.LOAD, Ops.BITCAST}
    assert any(u.dtype is dtypes.bool for u in program)  # the tail's bools are numbers, as before


@pytest.mark.parametrize(
    ("compared", "mask"),
    [(dtypes.float, dtypes.int), (dtypes.int16, dtypes.short), (dtypes.double, dtypes.long),
     (dtypes.uint8, dtypes.char), (dtypes.ulong, dtypes.long)],
)  # fmt: skip
def test_a_mask_is_as_wide_as_what_was_compared(compared: DType, mask: DType):
    x, y = (on_buffer(64, dtype=compared) for _ in range(2))
    program = get_program(kernel_of((x < y).where(x, y)), Masking(), [Opt(VECTOR, 0, 8)]).uops
    (comparison,) = [u for u in program if u.op in GroupOp.Comparison and u.dtype.count > 1]
    assert comparison.dtype is mask.vec(8)


def test_what_adds_up_bools_is_as_wide_as_what_was_compared():
    body = body_of(source_of((Tensor.empty(8, 64) > 0).any(1), [Opt(VECTOR, 1, 8)]))
    assert "int8 acc0 = all_int8(0);" in body
    assert "acc0 = acc0 | (val0 > 0.0f);" in body


def test_a_bool_alone_becomes_a_lane_of_the_width_that_is_wanted():
    flag = on_buffer(1, dtype=dtypes.bool).expand(64)
    body = body_of(source_of(flag.where(on_buffer(64), 0), [Opt(VECTOR, 0, 8)]))
    assert "? -1 : 0" in body
    assert "convertvector" not in body


def test_masks_have_a_meaning_at_every_level():
    x, y = (UOp.const(dtypes.float.vec(4), (1.0, 2.0, n, 4.0)) for n in (3.0, 0.0))
    mask = UOp(Ops.CMPLT, dtypes.int.vec(4), (y, x))
    assert spec_values.rewrite(mask) is True
    assert mask.bounds == (-1, 0)
    assert spec_program.rewrite(UOp(Ops.WHERE, x.dtype, (mask, x, y))) is True
    assert spec_values.rewrite(mask.replace(dtype=dtypes.long.vec(4))) is not True
    halves = UOp.const(dtypes.half.vec(4), 1.0)
    assert spec_values.rewrite(UOp(Ops.WHERE, halves.dtype, (mask, halves, halves))) is not True
    assert spec_values.rewrite(UOp(Ops.CMPLT, dtypes.int, (y.gep(0), x.gep(0)))) is not True
