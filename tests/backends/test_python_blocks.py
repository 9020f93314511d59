"""Blocks of threads in the interpreter: what a program must not do. Its results, and what they are
without a barrier, are in test_blocks.py."""

from __future__ import annotations

import pytest

from tests.kernels import filled as filled_on
from tests.kernels import kernel_of, numbers, on_buffer, program_of
from tinyframe import Device, dtypes
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.device import Buffer
from tinyframe.dtype import AddrSpace
from tinyframe.runtime.python import (
    DivergentBarrier,
    PythonRenderer,
    PythonRunner,
    UninitializedRead,
)
from tinyframe.uop.node import AxisType, Ops, UOp


def test_a_loop_that_cores_would_divide_runs_once():
    stored = []
    spec = program_of(kernel_of(filled_on(numbers(17, 19), "PYTHON") + 1),
                      [Opt(OptOps.THREAD, 0)], "PYTHON")  # fmt: skip
    runner = PythonRunner(spec.function, spec.src.encode())
    runner.threads = lambda *given: iter(stored.append(given) or ())
    memory = [Buffer("PYTHON", 17 * 19, dtypes.float).allocate()._buf for _ in spec.globals]
    runner(*memory, global_size=spec.global_size)
    assert len(stored) == 1


def test_a_barrier_that_not_all_threads_get_to_is_an_error():
    lane = UOp.special("lidx0", 4)
    panel = UOp(Ops.DEFINE_LOCAL, dtypes.int.ptr(4, AddrSpace.LOCAL), (), 0)
    often = UOp(Ops.RANGE, dtypes.int, (lane,), (0, AxisType.LOOP))
    wait, end = UOp(Ops.BARRIER, dtypes.void, (), 0), UOp(Ops.ENDRANGE, dtypes.void, (often,))
    text = PythonRenderer().render("test", [lane, panel, often, wait, end])
    message = "thread 0 of a block ends, and thread 1 waits at the barrier of line 3"
    with pytest.raises(DivergentBarrier, match=message):
        PythonRunner("test", text.encode())(local_size=(4, 1, 1))


def test_the_values_of_one_block_are_not_those_of_the_next():
    """A panel starts unwritten in each block."""
    block = UOp.special("gidx0", 2)
    panel = UOp(Ops.DEFINE_LOCAL, dtypes.int.ptr(1, AddrSpace.LOCAL), (), 0)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(2), (), 0)
    zero, one = UOp.const(dtypes.int, 0), UOp.const(dtypes.int, 1)
    first, always = block < one, UOp.const(dtypes.bool, True)
    there = UOp(Ops.INDEX, panel.dtype, (panel, first, zero))
    read = UOp(Ops.INDEX, panel.dtype, (panel, always, zero))
    write = UOp(Ops.INDEX, out.dtype, (out, always, block))
    load = UOp(Ops.LOAD, dtypes.int, (read,))
    program = [out, block, panel, zero, one, always, first, there,
               UOp(Ops.STORE, dtypes.void, (there, one)), read, load, write,
               UOp(Ops.STORE, dtypes.void, (write, load))]  # fmt: skip
    text = PythonRenderer().render("test", program)
    memory = Buffer("PYTHON", 2, dtypes.int).copyin(bytes(8))
    with pytest.raises(UninitializedRead):
        PythonRunner("test", text.encode())(memory._buf, global_size=(2, 1, 1))
    assert memory.numpy().tolist() == [0, 0]  # what is stopped has written nothing


def test_a_program_says_nothing_of_how_many_blocks_there_are(monkeypatch):
    from tests.gpu_device import TARGET

    monkeypatch.setattr(Device["PYTHON"], "_renderer", PythonRenderer(TARGET))
    spec = program_of(on_buffer(6, 4, device="PYTHON") * 2, [Opt(OptOps.GLOBAL, 0)], "PYTHON")
    assert '"SPECIAL", "int", (), \'gidx0\'),' in spec.src
    assert spec.global_size == (24, 1, 1)
