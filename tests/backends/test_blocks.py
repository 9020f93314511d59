"""Kernels for a GPU, run by blocks of threads: primitives, shared panels, barriers, launches."""

from __future__ import annotations

import gc
import random
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import tinyframe.codegen
import tinyframe.gpu.passes
from tests import gpu_device
from tests.gpu_kernels import (
    GLOBAL,
    GROUP,
    LOCAL,
    SPLIT,
    STAGE,
    TILED,
    UNROLL,
    graphs,
    random_opts,
    shared_work,
)
from tests.kernels import filled, kernel_of, numbers, on_buffer, run_with, schedule_of
from tinyframe import Device, Tensor, dtypes
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import (
    KernelOptError,
    Opt,
    OptOps,
    apply_opts,
)
from tinyframe.codegen.program import ProgramSpec
from tinyframe.gpu.passes import with_barriers
from tinyframe.uop.node import Ops, UOp, extent


@pytest.fixture(autouse=True)
def blocks(monkeypatch) -> Iterator[None]:
    monkeypatch.setitem(Device._devices, "BLOCKS", gpu_device.BlocksDevice)
    yield
    gc.collect()


def data(array: np.ndarray) -> Tensor:
    return filled(array, "BLOCKS")


def program_of(tensor: Tensor, opts: list[Opt]) -> ProgramSpec:
    (item,) = schedule_of(tensor)
    return get_program(item.ast, Device["BLOCKS"].renderer, opts)


def run(tensor: Tensor, opts: list[Opt]) -> np.ndarray:
    return run_with(tensor, opts, "BLOCKS")


def barriers(program: ProgramSpec) -> int:
    return sum(u.op is Ops.BARRIER for u in program.uops)


# ---- kernels that a GPU is given -----------------------------------------------------------------


def test_a_tiled_matmul_reads_each_element_once_for_a_block():
    program = program_of(data(numbers(64, 48)) @ data(numbers(48, 64)), TILED)
    assert program.global_size == (4, 4, 1)
    assert program.local_size == (8, 8, 1)
    assert barriers(program) == 2  # before the panels are filled anew, and before they are read
    read = [u.src[0].src[0].op for u in program.uops if u.op is Ops.LOAD]
    assert read.count(Ops.DEFINE_GLOBAL) == 2  # both in copies: 16 × 16 of each operand
    panels = [u.dtype.size for u in program.uops if u.op is Ops.DEFINE_LOCAL]
    assert panels == [256, 256]


# ---- any list of Opts ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", graphs("CPU"))
def test_any_legal_opts_give_the_same_result_and_stay_in_bounds(name, monkeypatch):
    tensor, expected = graphs("BLOCKS")[name]
    renderer = Device["BLOCKS"].renderer
    used = set()
    for seed in range(8):
        kernel = tinyframe.codegen.scheduled_kernel(kernel_of(tensor()), renderer)
        opts = random_opts(kernel, random.Random(f"{name} {seed}"), gpu_device.TARGET)
        used |= {opt.op for opt in opts}
        for runner in (gpu_device.BlocksRunner, gpu_device.Backwards):
            monkeypatch.setattr(Device["BLOCKS"], "runner", runner)
            np.testing.assert_array_equal(run(tensor(), opts), expected, err_msg=str(opts))
    assert used & {LOCAL, GROUP}


# ---- barriers ------------------------------------------------------------------------------------


def without_barrier(which: int) -> Callable[[list[UOp]], list[UOp]]:
    return lambda uops: [u for u in with_barriers(uops) if (u.op, u.arg) != (Ops.BARRIER, which)]


@pytest.mark.parametrize("name", shared_work("CPU"))
def test_a_result_is_wrong_without_any_one_of_the_barriers(name, monkeypatch):
    tensor, opts, expected = shared_work("BLOCKS")[name]
    count = barriers(program_of(tensor(), opts))
    assert count == {"matmul": 2, "row sum": 1, "softmax": 2, "rows in turns": 2}[name]
    np.testing.assert_allclose(run(tensor(), opts), expected, rtol=1e-6)
    for which in range(count):
        with monkeypatch.context() as planted:
            planted.setattr(tinyframe.gpu.passes, "with_barriers", without_barrier(which))
            results = []
            for runner in (gpu_device.BlocksRunner, gpu_device.Backwards):
                planted.setattr(Device["BLOCKS"], "runner", runner)
                results.append(run(tensor(), opts))
        assert not all(np.allclose(r, expected, rtol=1e-3) for r in results)


def test_a_program_without_threads_has_no_barrier():
    opts = [Opt(OptOps.REORDER, (1, 0, 2)), Opt(STAGE, 0, 2)]
    for more in ([], [Opt(GLOBAL, 0)]):
        assert barriers(program_of(on_buffer(4, 6) @ on_buffer(6, 5), opts + more)) == 0


# ---- launches ------------------------------------------------------------------------------------


def test_a_program_says_how_many_blocks_and_threads_it_wants():
    program = program_of(on_buffer(6, 40, 24, device="BLOCKS").max(axis=2),
                         [Opt(SPLIT, 0, 40), Opt(GLOBAL, 0), Opt(LOCAL, 1, 4), Opt(GLOBAL, 1),
                          Opt(GROUP, 3, 8)])  # fmt: skip
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
        (
            [Opt(SPLIT, 0, 12), Opt(SPLIT, 1, 6), Opt(GLOBAL, 0), Opt(GLOBAL, 1), Opt(GLOBAL, 2),
             Opt(GLOBAL, 3)],
            "a grid has 3 axes, and the kernel has as many already",
        ),
        (
            [Opt(SPLIT, 0, 12), Opt(LOCAL, 0, 2), Opt(LOCAL, 1, 2), Opt(LOCAL, 3, 2),
             Opt(GROUP, 5, 2)],
            "a block has 3 axes at most, not 4",
        ),
    ],
)  # fmt: skip
def test_an_illegal_opt_says_why(opts, reason):
    with pytest.raises(KernelOptError, match=re.escape(reason)) as error:
        apply_opts(product(), opts, gpu_device.TARGET)
    assert str(error.value).startswith(f"{opts[-1]}: ")


def test_what_a_device_does_not_have_is_refused():
    for opt in (Opt(GLOBAL, 0), Opt(LOCAL, 0, 4), Opt(GROUP, 2, 4)):
        with pytest.raises(KernelOptError, match="this device has no blocks of threads"):
            get_program(product(), Device["CPU"].renderer, [opt])
    with pytest.raises(KernelOptError, match="panels of 40960 bytes; .* share 32768"):
        apply_opts(product(24, 256, 40), [Opt(STAGE, -1, 2)], gpu_device.TARGET)
    long = kernel_of(on_buffer(1 << 21).contiguous() * 2)
    with pytest.raises(KernelOptError, match="2097152 blocks along axis 0 of a grid of 1048576"):
        apply_opts(long, [Opt(GLOBAL, 0)], gpu_device.TARGET)


def test_threads_and_blocks_do_not_go_together():
    for opts in ([Opt(GLOBAL, 0), Opt(OptOps.THREAD, 1)], [Opt(OptOps.THREAD, 0), Opt(GLOBAL, 1)]):
        with pytest.raises(KernelOptError, match="divided among"):
            apply_opts(product(), opts)


def test_a_reduce_is_not_computed_by_every_block():
    softmax = kernel_of(on_buffer(40, 48).softmax())
    with pytest.raises(KernelOptError, match="a reduce would run 48 times for each of its results"):
        apply_opts(softmax, [Opt(GLOBAL, 0), Opt(GLOBAL, 1)])


def test_a_panel_of_a_block_holds_what_all_of_its_threads_read():
    opts = [Opt(GLOBAL, 0), Opt(LOCAL, 0, 8), Opt(STAGE, 0, 1)]
    (stage,) = [u for u in apply_opts(product(), opts).toposort() if u.op is Ops.STAGE]
    assert sorted(map(extent, stage.own_ranges)) == [8, 32]  # 8 rows, one for each thread
    assert {r.arg[1].name for r in stage.ranges} == {"GLOBAL"}
    assert dtypes.float is stage.dtype
