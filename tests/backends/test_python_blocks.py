"""Blocks of threads in the interpreter: what a GPU computes, and what a program must not do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tinyframe.gpu.passes
from tests.backends.test_blocks import without_barrier
from tests.gpu_device import TARGET
from tests.gpu_kernels import SOFTMAX, SUM_OF_ROWS, TILED
from tests.kernels import filled, numbers, on_buffer, run_with, schedule_of
from tests.reference import softmax
from tinyframe import Device, Tensor, dtypes
from tinyframe.codegen import get_program
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


@pytest.fixture(autouse=True)
def blocks(monkeypatch) -> None:
    monkeypatch.setattr(Device["PYTHON"], "_renderer", PythonRenderer(TARGET))


def data(array: np.ndarray) -> Tensor:
    return filled(array, "PYTHON")


X, Y, Z = numbers(17, 19), numbers(19, 18, seed=1), numbers(40, 17, seed=2)
KERNELS: dict[str, tuple[Callable[[], Tensor], list[Opt], np.ndarray]] = {
    "a matmul in tiles": (lambda: data(X) @ data(Y), TILED, X @ Y),
    "sums of rows": (lambda: data(X).sum(axis=1), SUM_OF_ROWS, X.sum(1)),
    "softmax": (lambda: data(Z).softmax(), SOFTMAX, softmax(Z)),
    "rows in turns": (lambda: data(X).sum(axis=1), [Opt(OptOps.GROUP, 1, 8)], X.sum(1)),
    "threads without a barrier": (
        lambda: data(X) * 2,
        [Opt(OptOps.GLOBAL, 0), Opt(OptOps.LOCAL, 0, 8)],
        X * 2,
    ),
    "lanes": (lambda: data(X[:16]).sum(0), [Opt(OptOps.VECTOR, 0, 4), Opt(OptOps.GROUP, 1, 4)],
              X[:16].sum(0)),
}  # fmt: skip


@pytest.mark.parametrize("name", ["a matmul in tiles", "sums of rows", "softmax", "rows in turns"])
def test_a_missing_barrier_is_a_read_of_nothing_or_a_wrong_result(name, monkeypatch):
    tensor, opts, expected = KERNELS[name]
    (item,) = schedule_of(tensor())
    program = get_program(item.ast, Device["PYTHON"].renderer, opts)
    count = sum(u.op is Ops.BARRIER for u in program.uops)
    found = []
    for which in range(count):
        with monkeypatch.context() as planted:
            planted.setattr(tinyframe.gpu.passes, "with_barriers", without_barrier(which))
            try:
                found.append(not np.allclose(run_with(tensor(), opts, "PYTHON"), expected))
            except UninitializedRead:
                found.append(True)
    assert found and all(found)


def test_a_loop_that_cores_would_divide_runs_once(monkeypatch):
    monkeypatch.setattr(Device["PYTHON"], "_renderer", PythonRenderer())
    stored = []
    (item,) = schedule_of(data(X) + 1)
    spec = get_program(item.ast, Device["PYTHON"].renderer, [Opt(OptOps.THREAD, 0)])
    runner = PythonRunner(spec.function, spec.src.encode())
    runner.threads = lambda *given: iter(stored.append(given) or ())
    runner(*[b.ensure_allocated()._buf for b in item.bufs], global_size=spec.global_size)
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


def test_a_program_says_nothing_of_how_many_blocks_there_are():
    (item,) = schedule_of(on_buffer(6, 4, device="PYTHON") * 2)
    spec = get_program(item.ast, Device["PYTHON"].renderer, [Opt(OptOps.GLOBAL, 0)])
    assert '"SPECIAL", "int", (), \'gidx0\'),' in spec.src
    assert spec.global_size == (24, 1, 1)
