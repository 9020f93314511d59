"""The default schedule on a GPU: the plan that a kernel gets, on devices of any size."""

from __future__ import annotations

import functools
import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels import kernel_of, kernels_of, on_buffer
from tinyframe import Tensor, dtypes, thresholds
from tinyframe.codegen import get_program, plans_for, scheduled_kernel
from tinyframe.codegen.optimize.loops import (
    KernelOptError,
    Opt,
    OptOps,
    apply_opts,
    axes,
    check_target,
)
from tinyframe.codegen.optimize.plans import CPU, Nest, Workload, choose, opts_of
from tinyframe.codegen.program import ProgramSpec
from tinyframe.gpu.blocks import block_threads, grid_axes
from tinyframe.gpu.languages.opencl import OpenCLLanguage
from tinyframe.gpu.plans import GPU, block_tile
from tinyframe.renderer import Target
from tinyframe.search.neighbours import neighbours
from tinyframe.uop.node import AxisType, Ops, UOp, axis_type, extent, is_symbolic

SPLIT, UPCAST, VECTOR, REORDER = OptOps.SPLIT, OptOps.UPCAST, OptOps.VECTOR, OptOps.REORDER
STAGE, GLOBAL, LOCAL, GROUP = OptOps.STAGE, OptOps.GLOBAL, OptOps.LOCAL, OptOps.GROUP
PIPELINE = OptOps.PIPELINE

LARGE = Target(vector_bytes=16, vector_registers=64, threads=1, l1=0, l2=32 << 20, warp=32,
               block_threads=1024, shared_bytes=48 << 10,
               grid=(2**31 - 1, 65535, 65535))  # fmt: skip
SMALL = Target(vector_bytes=16, vector_registers=16, threads=1, l1=0, l2=1 << 20, warp=32,
               block_threads=32, shared_bytes=8 << 10, grid=(1024, 32, 8))  # fmt: skip
C = OpenCLLanguage(LARGE)

CHOSEN = {
    "tiles from panels": [
        lambda: on_buffer(512, 512) @ on_buffer(512, 512),
        lambda: on_buffer(250, 333) @ on_buffer(333, 101),
        lambda: on_buffer(3, 40, 64) @ on_buffer(3, 64, 72),
        lambda: on_buffer(128, 784).T @ on_buffer(128, 100),
        lambda: (on_buffer(32, 784) @ on_buffer(128, 784).T + on_buffer(128)).relu(),
        lambda: on_buffer(64, 72, dtype=dtypes.half) @ on_buffer(72, 64, dtype=dtypes.half),
        lambda: on_buffer(8, 64, 14, 14).conv2d(on_buffer(32, 64, 1, 1)),
        lambda: on_buffer(256, 8) @ on_buffer(8, 256),
        lambda: on_buffer(8, 16, 28, 28).conv2d(on_buffer(32, 16, 3, 3), padding=1),
        lambda: on_buffer(8, 16, 29, 27).conv2d(on_buffer(32, 16, 3, 3), stride=2),
    ],
    "a block for a row": [
        lambda: on_buffer(64, 4096).softmax(),
        lambda: on_buffer(64, 999).softmax(),
        lambda: on_buffer(4096, 10).softmax(),
        lambda: on_buffer(64, 333).softmax(axis=0),
        lambda: on_buffer(48, 256).layernorm(),
        lambda: on_buffer(48, 256).std(axis=1),
    ],
    "shared sums": [
        lambda: on_buffer(4096, 4096).sum(axis=1),
        lambda: on_buffer(300, 77).max(axis=1),
        lambda: on_buffer(128, 4096) @ on_buffer(4096),
        lambda: on_buffer(5000).sum(),
        lambda: on_buffer(2000, 60).sum(axis=0),
        lambda: on_buffer(8, 300, 40).sum(axis=1),
    ],
    "transpose": [
        lambda: on_buffer(640, 480).T.contiguous(),
        lambda: on_buffer(123, 77).T.contiguous(),
        lambda: on_buffer(64, 64) + on_buffer(64, 64).T,
        lambda: on_buffer(8, 64, 96).permute(0, 2, 1).contiguous(),
    ],
    "along memory": [
        lambda: on_buffer(1000, 1000) * 2,
        lambda: on_buffer(37, 50) + on_buffer(50),
        lambda: on_buffer(37, 50).pad(((1, 2), (3, 1))) + 1,
        lambda: on_buffer(4096, 1 << 15).sum(axis=0),
        lambda: on_buffer(4, 16, 28, 28).max_pool2d(2),
        lambda: on_buffer(3, 4, 5, 6, 7).permute(4, 2, 0, 3, 1).contiguous(),
        lambda: on_buffer(1) * 2,
    ],
}  # fmt: skip
EXAMPLES = [(name, n) for name, kernels in CHOSEN.items() for n in range(len(kernels))]


def compiled(t: Tensor, target: Target = LARGE) -> ProgramSpec:
    return get_program(kernels_of(t)[-1], OpenCLLanguage(target))


def ops(program: ProgramSpec, op: OptOps) -> list[int]:
    return [opt.arg for opt in program.opts if opt.op is op]


# ---- which plan ----------------------------------------------------------------------------------


def test_a_device_with_blocks_has_plans_of_its_own():
    assert plans_for(LARGE) is GPU
    assert plans_for(replace(LARGE, block_threads=0)) is CPU
    # test_tensor_cores.py is about the first one, which OpenCL has no words for
    assert ["tensor cores", *CHOSEN] == [plan.name for plan in GPU]
    assert all(need.__doc__ for plan in GPU for need in plan.needs)


@pytest.mark.parametrize(("name", "which"), EXAMPLES)
def test_a_kernel_gets_the_plan_that_tells_of_it_which_divides_the_work(name, which):
    ast = example(name, which)
    program = get_program(ast, C)
    assert program.plan is not None and program.plan.name == name
    threads = math.prod(program.global_size) * math.prod(program.local_size)
    work = Workload(scheduled_kernel(ast, C), LARGE).table.work
    assert threads >= min(1 << 8, work // 256), "no thread has more than a small part"
    for target in (LARGE, SMALL):
        nest, opts, scheduled = with_its_plan(ast, target)
        check_all_is_written(nest, opts, scheduled, target)
        assert [extent(r) for r in grid_axes(scheduled)] == [nest.left(r) for r in nest.grid]
        assert block_threads(scheduled) <= thresholds.BLOCK_THREADS


# ---- what a plan asks for, every device allows --------------------------------------------------


def with_its_plan(ast: UOp, target: Target) -> tuple[Nest, list[Opt], UOp]:
    """The nest that a kernel's plan gives it, the Opts that are written, and the kernel then."""
    sink = scheduled_kernel(ast, OpenCLLanguage(target))
    kernel = Workload(sink, target)
    nest = choose(kernel, GPU).nest(kernel)
    return nest, *opts_of(sink, nest, target)


targets = st.builds(
    lambda threads, shared, grid, warp, registers: Target(
        vector_bytes=16, vector_registers=registers, threads=1, l1=0, l2=1 << 20, warp=warp,
        block_threads=threads, shared_bytes=shared << 10, grid=grid),
    st.integers(32, 1024),
    st.integers(8, 200),
    st.tuples(st.integers(64, 1 << 20), st.integers(8, 1 << 16), st.integers(8, 1 << 16)),
    st.sampled_from([1, 16, 32, 64]),
    st.sampled_from([8, 16, 32, 64]),
)  # fmt: skip


@functools.cache
def example(name: str, which: int) -> UOp:
    return kernels_of(CHOSEN[name][which]())[-1]


def check_all_is_written(nest: Nest, opts: list[Opt], scheduled: UOp, target: Target) -> None:
    check_target(scheduled, target)
    assert [opt.op for opt in opts if opt.op is not REORDER] == [
        *[op for op, _, _ in nest.tiles],
        *[GLOBAL for _ in nest.grid],
        *[STAGE for _ in nest.panels],
        *[PIPELINE for _, kept in [nest.pipeline or (None, 1)] if kept > 1],
    ]


@given(st.sampled_from(EXAMPLES), targets)
def test_no_opt_of_a_plan_is_refused_whatever_the_device_has(which, target):
    check_all_is_written(*with_its_plan(example(*which), target), target)


# ---- what each is for ----------------------------------------------------------------------------


def test_a_matmul_is_a_tile_whose_operands_both_come_from_panels():
    program = compiled(on_buffer(2048, 2048) @ on_buffer(2048, 2048))
    assert program.local_size == (16, 16, 1)
    assert program.global_size == (16, 8, 1)  # tiles of 256 × 128
    assert sorted(ops(program, STAGE)) == [1, 2]
    assert ops(program, SPLIT) == [thresholds.PANEL_STEP]
    panels = [u.dtype.size for u in program.uops if u.op is Ops.DEFINE_LOCAL]
    assert panels == [2 * (256 + 4) * 8, 2 * 128 * 8]  # two of each, the first with padding
    results = [u for u in program.uops if u.op is Ops.DEFINE_REG]
    # 16 rows, two vectors of 4: a sum that passes through panels in turns is not blocked
    assert sum(u.dtype.base.count for u in results) == 128


@pytest.mark.parametrize("size", [1000, 1023, 1025])
def test_sizes_that_do_not_divide_have_panels_too(size):
    program = compiled(on_buffer(size, size) @ on_buffer(size, size))
    assert sorted(ops(program, STAGE)) == [1, 2]


def test_a_small_matmul_has_smaller_tiles_rather_than_few_blocks():
    sizes = (2048, 1024, 512, 256, 64)
    tiles = []
    for n in sizes:
        ast = kernel_of(on_buffer(n, n) @ on_buffer(n, n))
        kernel = Workload(scheduled_kernel(ast, C), LARGE)
        tile = block_tile(kernel)
        assert tile is not None
        tiles.append(math.prod(map(tile.size, tile.shares)))
        if n >= 512:
            assert tile.blocks(kernel) >= thresholds.FILLING_BLOCKS
    assert tiles == sorted(tiles, reverse=True)
    assert len(set(tiles)) >= 4


@given(targets, st.integers(16, 600), st.integers(16, 600), st.sampled_from([32, 100, 512]))
def test_a_tile_fits_what_the_device_has(target, m, n, k):
    ast = kernel_of(on_buffer(m, k) @ on_buffer(k, n))
    tile = block_tile(Workload(scheduled_kernel(ast, OpenCLLanguage(target)), target))
    if tile is not None:
        assert tile.of(LOCAL) <= min(target.block_threads, thresholds.BLOCK_THREADS)
        assert tile.nbytes <= target.shared_bytes * thresholds.PANELS_OF_SHARED
        assert tile.of(UPCAST) <= max(1, target.vector_registers // 2)


def coalesced(program: ProgramSpec) -> bool:
    """Is each access to memory along thread 0 contiguous, or the same for neighbours?"""
    (lane,) = [u for u in program.uops if u.op is Ops.SPECIAL and u.arg[0] == "lidx0"]
    found = []
    for u in program.uops:
        if u.op is Ops.INDEX and u.src[0].op is Ops.DEFINE_GLOBAL:
            at = [u.src[2].substitute({lane: lane.const_like(n)}).simplify() for n in (0, 1)]
            apart = (at[1] - at[0]).simplify()
            found.append(apart.op is Ops.CONST and apart.arg)
    return all(n in (0, 1, 2, 4) for n in found)


def test_neighbouring_threads_touch_neighbouring_memory():
    for t in (
        on_buffer(1000, 1000) * 2,
        on_buffer(37, 50) + on_buffer(50),
        on_buffer(4096, 4096).sum(axis=1),
        on_buffer(4096, 1 << 15).sum(axis=0),
        on_buffer(64, 4096).softmax(),
        on_buffer(8, 16, 28, 28).conv2d(on_buffer(32, 16, 3, 3), padding=1),
    ):
        assert coalesced(compiled(t))


def test_elementwise_kernels_move_whole_vectors_where_accesses_are_aligned():
    assert ops(compiled(on_buffer(1000, 1000) * 2), VECTOR) == [4]
    assert ops(compiled(on_buffer(100, dtype=dtypes.long) * 2), VECTOR) == [2]
    assert ops(compiled(on_buffer(999) * 2), VECTOR) == []  # the last one would reach over
    assert ops(compiled(on_buffer(1001)[1:] * 2), VECTOR) == []  # begins in the middle of one
    assert ops(compiled(on_buffer(50, 37)[:, :36] * 2), VECTOR) == []  # so does every second row


def test_the_threads_of_a_row_share_its_reduces_and_then_write_it():
    program = compiled(on_buffer(64, 4096).softmax())
    (n, again) = ops(program, GROUP)
    assert n == again
    assert program.local_size[0] == n  # the same threads, not n × n × n
    assert math.prod(program.local_size) <= thresholds.BLOCK_THREADS


def test_more_threads_share_a_longer_sum():
    shared = [ops(compiled(on_buffer(64, n).sum(axis=1)), GROUP)[0] for n in (40, 400, 4000, 40000)]
    assert shared == sorted(shared)
    assert shared[0] < shared[-1]


@pytest.mark.parametrize(("n", "reads"), [(1 << 14, 4), (10_000, 2), (4096, 4), (48, 1)])
def test_a_thread_reads_several_vectors_before_it_adds_the_first(n, reads):
    """If their number is even: of 10,000 elements, each of 256 threads has ten vectors."""
    (loop,) = re.findall(r"float4 val.*?acc", compiled(on_buffer(512, n).sum(axis=1)).src, re.S)
    assert loop.count("float4 val") == reads


def test_what_a_kernel_copies_is_read_along_rows_and_written_along_rows():
    program = compiled(on_buffer(640, 480).T.contiguous())
    assert program.local_size == (8, 32, 1)  # each thread reads a vector, and writes one
    assert [u.dtype.size for u in program.uops if u.op is Ops.DEFINE_LOCAL] == [32 * 33]
    assert sum(u.op is Ops.BARRIER for u in program.uops) == 1


def test_a_loop_of_a_variables_size_is_blocks():
    n = UOp.variable("n", 1, 512)
    x = Tensor(on_buffer(512, 64).uop)[: n.bind(7)]
    program = compiled(x * 2)
    assert any(isinstance(size, UOp) for size in program.global_size)
    assert program.local_size[0] > 1
    (loop,) = [r for r in axes(kernel_of(x * 2)) if is_symbolic(r)]
    assert axis_type(loop) is AxisType.LOOP


def test_a_grid_that_is_too_small_goes_in_turns():
    small = replace(LARGE, grid=(16, 4, 4))
    program = compiled(on_buffer(1 << 20) * 2, small)
    assert program.global_size[0] <= 16
    turns = [u for u in program.uops if u.op is Ops.RANGE]
    sizes = *program.global_size, *program.local_size, *map(extent, turns)
    assert math.prod(sizes) == (1 << 20) // 4


# ---- a search -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tiles from panels", "shared sums", "along memory"])
def test_a_search_changes_threads_and_blocks_and_stays_within_the_device(name):
    ast = example(name, 1)
    kernel = scheduled_kernel(ast, C)
    opts = tuple(get_program(ast, C).opts)
    lists = neighbours(kernel, opts, LARGE)
    assert not any(opt.op is OptOps.THREAD for found in lists for opt in found)
    legal: list[tuple[Opt, ...]] = []
    for found in lists:
        try:
            check_target(apply_opts(kernel, found, LARGE), LARGE)
        except KernelOptError:
            continue
        legal.append(found)
    changed = {opt.op for found in legal for opt in set(found) ^ set(opts)}
    assert {LOCAL, GLOBAL, UPCAST} <= changed
    assert len(legal) >= 10


def test_a_search_from_nothing_finds_blocks_first():
    kernel = scheduled_kernel(kernel_of(on_buffer(300, 77).max(axis=1)), C)
    found = neighbours(kernel, (), LARGE)
    assert (Opt(GLOBAL, 0),) in found
    shared = (Opt(GROUP, 1, 32),)
    assert shared in found
    assert block_threads(apply_opts(kernel, shared, LARGE)) == 32
