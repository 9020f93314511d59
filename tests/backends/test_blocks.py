"""Kernels for blocks of threads on each device that has them: panels, barriers, launches."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinyframe.gpu.passes
from tests import gpu_device
from tests.gpu_kernels import (
    GLOBAL,
    GROUP,
    LOCAL,
    SPLIT,
    STAGE,
    UNROLL,
    cases,
    shared_work,
)
from tests.kernels import kernel_of, on_buffer, program_of, run_with
from tests.with_blocks import DEVICES, REAL, RUNNERS, with_blocks
from tinyframe import Device
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opts
from tinyframe.codegen.program import ProgramSpec
from tinyframe.gpu.drivers.cuda_emulator import DataRace
from tinyframe.gpu.passes import with_barriers
from tinyframe.runtime.python import UninitializedRead
from tinyframe.uop.node import Ops, UOp, extent


@pytest.fixture(params=[*DEVICES, "BLOCKS, at once", *REAL])
def device(request, monkeypatch) -> str:
    return with_blocks(request.param, monkeypatch)


@pytest.mark.parametrize("name", cases("CPU"))
def test_each_way_to_share_work(name, device):
    tensor, opts, expected = cases(device)[name]
    np.testing.assert_array_equal(run_with(tensor(), opts, device), expected())


# ---- barriers ------------------------------------------------------------------------------------


def barriers(program: ProgramSpec) -> int:
    return sum(u.op is Ops.BARRIER for u in program.uops)


def without_barrier(which: int) -> Callable[[list[UOp]], list[UOp]]:
    return lambda uops: [u for u in with_barriers(uops) if (u.op, u.arg) != (Ops.BARRIER, which)]


def ways_to_run(device: str, monkeypatch: Any) -> Any:
    """Goes through the ways in which a missing barrier is to be seen."""
    if device == "BLOCKS":  # in one order of the threads or in the other
        for name in ("BLOCKS", "BLOCKS, backwards"):
            monkeypatch.setattr(Device[device], "runner", RUNNERS[name])
            yield name
    elif device == "CUDA":
        for level in ("2", "1"):  # as a race, and by its result
            monkeypatch.setenv("CUDA_EMULATE", level)
            yield f"CUDA_EMULATE={level}"
    else:
        yield device


@pytest.mark.parametrize("name", shared_work("CPU"))
@pytest.mark.parametrize("device", ["BLOCKS", "PYTHON", *set(REAL) & {"CUDA"}], indirect=True)
def test_a_result_is_wrong_without_any_one_of_the_barriers(name, device, monkeypatch):
    tensor, opts, expected = shared_work(device)[name]
    count = barriers(program_of(tensor(), opts, device))
    assert count == {
        "matmul": 2, "row sum": 1, "sum in two panels": 2, "softmax": 2, "rows in turns": 2,
    }[name]  # fmt: skip
    np.testing.assert_allclose(run_with(tensor(), opts, device), expected, rtol=1e-6)
    for which in range(count):
        seen = {}
        with monkeypatch.context() as planted:
            planted.setattr(tinyframe.gpu.passes, "with_barriers", without_barrier(which))
            for way in ways_to_run(device, planted):
                try:
                    result = run_with(tensor(), opts, device)
                    is_right = np.allclose(result, expected, rtol=1e-3)
                    seen[way] = not is_right and way != "CUDA_EMULATE=2"
                except UninitializedRead:
                    seen[way] = True
                except DataRace as race:
                    seen[way] = re.search(r"panel\d+\[\d+\]", str(race)) is not None
        assert any(seen.values()) and (device == "BLOCKS" or all(seen.values())), seen


def test_a_program_without_threads_has_no_barrier():
    opts = [Opt(OptOps.REORDER, (1, 0, 2)), Opt(STAGE, 0, 2)]
    for more in ([], [Opt(GLOBAL, 0)]):
        product = on_buffer(4, 6, device="NULL:CUDA") @ on_buffer(6, 5, device="NULL:CUDA")
        assert barriers(program_of(product, opts + more, "NULL:CUDA")) == 0


def test_a_program_says_how_many_blocks_and_threads_it_wants():
    opts = [Opt(SPLIT, 0, 40), Opt(GLOBAL, 0), Opt(LOCAL, 1, 4), Opt(GLOBAL, 1), Opt(GROUP, 3, 8)]
    largest = on_buffer(6, 40, 24, device="NULL:CUDA").max(axis=2)
    program = program_of(largest, opts, "NULL:CUDA")
    assert program.global_size == (10, 6, 1)  # the innermost loop is axis 0
    assert program.local_size == (8, 4, 1)
    specials = {u.arg for u in program.uops if u.op is Ops.SPECIAL}
    assert specials == {("gidx0", 10), ("gidx1", 6), ("lidx0", 8), ("lidx1", 4)}


# ---- what is refused, and why --------------------------------------------------------------------


def product(m: int = 24, k: int = 32, n: int = 40) -> UOp:
    return kernel_of(on_buffer(m, k) @ on_buffer(k, n))


@pytest.mark.parametrize(
    ("opts", "reason"),
    [
        ([Opt(GLOBAL, 2)], "axis 2 is a reduce's: GROUP shares it among threads"),
        ([Opt(LOCAL, 2, 4)], "axis 2 is a reduce's: GROUP shares it among threads"),
        ([Opt(GROUP, 0, 4)], "axis 0 is not a reduce's: use LOCAL for it"),
        ([Opt(GLOBAL, 0), Opt(GLOBAL, 0)], "axis 0 is a GLOBAL axis already"),
        ([Opt(LOCAL, 0, 0), Opt(LOCAL, 0, 2)], "axis 0 is a LOCAL axis already"),
        ([Opt(LOCAL, 0, 8), Opt(SPLIT, 1, 2)], "1 is a LOCAL axis already: SPLIT it before"),
        ([Opt(LOCAL, 0, -1)], "the size must be a whole number, not -1"),
        ([Opt(LOCAL, 0, 8), Opt(LOCAL, 2, 16)], "threads in a block: this device has at most 64"),
        ([Opt(STAGE, 1, 1), Opt(LOCAL, 0, 4)], "apply STAGE after this Opt"),
        ([Opt(SPLIT, 2, 4), Opt(STAGE, 2, 1), Opt(UNROLL, 2, 2)], "apply STAGE after this Opt"),
        ([Opt(SPLIT, 2, 4), Opt(STAGE, 2, 1), Opt(GROUP, 2, 2)], "apply STAGE after this Opt"),
        ([Opt(GROUP, 2, 4), Opt(LOCAL, 0, 4)], "apply STAGE after this Opt"),
        ([Opt(OptOps.THREAD, 0)], "this device has no cores to divide a loop among"),
        ([Opt(SPLIT, 0, 12), Opt(SPLIT, 1, 6), *[Opt(GLOBAL, n) for n in range(4)]],
         "a grid has 3 axes, and the kernel has as many already"),
        ([Opt(SPLIT, 0, 12), Opt(LOCAL, 0, 2), Opt(LOCAL, 1, 2), Opt(LOCAL, 3, 2),
          Opt(GROUP, 5, 2)], "a block has 3 axes at most, not 4"),
    ],
)  # fmt: skip
def test_an_illegal_opt_says_why(opts, reason):
    with pytest.raises(KernelOptError, match=re.escape(reason)) as error:
        apply_opts(product(), opts, gpu_device.TARGET)
    assert str(error.value).startswith(f"{opts[-1]}: ")


LONG, SOFTMAX = on_buffer(1 << 21), on_buffer(40, 48).softmax()


@pytest.mark.parametrize(
    ("kernel", "opts", "has_blocks", "reason"),
    [
        (product(), [Opt(GLOBAL, 0)], False, "this device has no blocks of threads"),
        (product(), [Opt(LOCAL, 0, 4)], False, "this device has no blocks of threads"),
        (product(), [Opt(GROUP, 2, 4)], False, "this device has no blocks of threads"),
        (product(24, 256, 40), [Opt(STAGE, -1, 2)], True,
         "panels of 40960 bytes; .* share 32768"),
        (kernel_of(LONG * 2), [Opt(GLOBAL, 0)], True,
         "2097152 blocks along axis 0 of a grid of 1048576"),
        (product(), [Opt(GLOBAL, 0), Opt(OptOps.THREAD, 1)], None, "divided among"),
        (product(), [Opt(OptOps.THREAD, 0), Opt(GLOBAL, 1)], None, "divided among"),
        (kernel_of(SOFTMAX), [Opt(GLOBAL, 0), Opt(GLOBAL, 1)], None,
         "a reduce would run 48 times for each of its results"),
    ],
)  # fmt: skip
def test_what_a_device_or_a_kernel_does_not_have_is_refused(kernel, opts, has_blocks, reason):
    cpu = Device["CPU"].renderer.target
    target = {True: (gpu_device.TARGET,), False: (cpu,), None: ()}[has_blocks]
    with pytest.raises(KernelOptError, match=reason):
        apply_opts(kernel, opts, *target)


def test_a_panel_of_a_block_holds_what_all_of_its_threads_read():
    opts = [Opt(GLOBAL, 0), Opt(LOCAL, 0, 8), Opt(STAGE, 0, 1)]
    (stage,) = [u for u in apply_opts(product(), opts).toposort() if u.op is Ops.STAGE]
    assert sorted(map(extent, stage.own_ranges)) == [8, 32]  # 8 rows, one for each thread
    assert {r.arg[1].name for r in stage.ranges} == {"GLOBAL"}
