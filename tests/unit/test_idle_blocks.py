"""Long reduces on a GPU: two kernels, so that all of it has work. What is counted here is schedules
for devices that need not be there (`NULL`); `tests/backends/test_long_reduces.py` runs them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.kernels import kernels_of, on_buffer, ops_in, program_of
from tinyframe import Device, Tensor, Variable, dtypes
from tinyframe import schedule as schedule_module
from tinyframe.gpu.languages.cuda import CUDALanguage
from tinyframe.gpu.occupancy import block_size
from tinyframe.renderer import Target
from tinyframe.thresholds import BLOCKS_OF_PARTS, FILLING_BLOCKS, LEAST_READS, LONG_FOR_A_THREAD
from tinyframe.uop.node import Ops, UOp

GPU = "NULL:CUDA"
TARGET = CUDALanguage.default_target
LONG = LONG_FOR_A_THREAD * block_size(TARGET)  # elements that one block doesn't do alone
MILLION, N = 1 << 20, 1 << 24


def gpu(*shape: int, **options) -> Tensor:
    return on_buffer(*shape, device=GPU, **options)


def results_of(kernel: UOp) -> list[int]:
    """How many elements each store of a kernel writes."""
    return [math.prod(store.src[0].arg) for store in kernel.src]


# ---- how many kernels ----------------------------------------------------------------------------

IN_PARTS: dict[str, tuple[Callable[[], Tensor], int]] = {
    "sum": (lambda: gpu(N).sum(), 2),
    "max": (lambda: gpu(N).max(), 2),
    "mean of a matrix": (lambda: gpu(4096, 4096).mean(), 2),
    "mean square": (lambda: (gpu(MILLION) - gpu(MILLION)).square().mean(), 2),
    "dot product": (lambda: gpu(MILLION).dot(gpu(MILLION)), 2),
    "few rows": (lambda: gpu(8, MILLION).sum(1), 2),
    "a channel's mean": (lambda: gpu(64, 32, 56, 56).mean((0, 2, 3)), 2),
    "almost enough rows": (lambda: gpu(FILLING_BLOCKS - 1, LONG).sum(1), 2),
    "just long enough": (lambda: gpu(LONG).sum(), 2),
    "a prime number": (lambda: gpu(9_999_991).sum(), 2),
    "of halves": (lambda: gpu(MILLION, dtype=dtypes.half).sum(), 2),
    "two reduces of one kernel": (lambda: gpu(MILLION).sum() + gpu(MILLION).max(), 3),
    "a sum, then a division": (lambda: (x := gpu(MILLION)) / x.sum(), 3),
    "place of the largest": (lambda: gpu(MILLION).argmax(), 4),
    "standard deviation": (lambda: gpu(MILLION).std(), 4),
    "deviation of few rows": (lambda: gpu(64, MILLION).std(1), 4),
    "softmax of few rows": (lambda: gpu(64, MILLION).softmax(), 5),
    "sums of rows, then of those": (lambda: gpu(4096, 4096).exp().sum(1).log().mean(), 2),
    "distance from a short mean": (lambda: (gpu(MILLION) - gpu(99).mean()).square().sum(), 3),
    "maxima of short rows, then a sum": (lambda: gpu(N // 8, 8).max(1).sum(), 3),
    "cross entropy": (lambda: gpu(1 << 16, 10).log_softmax().max(1).mean(), 3),
}
WHOLE: dict[str, tuple[Callable[[], Tensor], int]] = {
    "many rows": (lambda: gpu(4096, 4096).sum(1), 1),
    "many columns": (lambda: gpu(4096, 4096).sum(0), 1),
    "enough rows": (lambda: gpu(FILLING_BLOCKS, LONG).sum(1), 1),
    "just too short": (lambda: gpu(LONG - 1).sum(), 1),
    "short rows": (lambda: gpu(64, 1000).std(1), 1),
    "softmax of many rows": (lambda: gpu(4096, 4096).softmax(), 1),
    "layernorm": (lambda: gpu(512, 4096).layernorm(), 1),
    "matmul": (lambda: gpu(1024, 1024) @ gpu(1024, 1024), 1),
    "no reduce": (lambda: gpu(N) + 1, 1),
    "as the user wants it": (lambda: gpu(N).sum().fuse(), 1),
    "nothing to read": (lambda: Tensor.arange(LONG - 1, device=GPU).sum(), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", [*IN_PARTS, *WHOLE])
def test_a_long_reduce_to_few_results_leaves_partial_results_and_others_stay_whole(name):
    compute, count = (IN_PARTS | WHOLE)[name]
    assert len(kernels_of(compute())) == count


@pytest.mark.parametrize("bound", [LONG, N])
def test_a_size_that_is_a_variable_is_not_cut(bound):
    n = Variable("n", 1, N).bind(bound)
    assert len(kernels_of(gpu(N)[:n].sum())) == 1
    assert len(kernels_of(gpu(4, N)[:, :n].max(1))) == 1
    assert len(kernels_of(gpu(N, 4)[:n].std(0))) == 1
    m = Variable("m", 1, 4).bind(3)
    assert len(kernels_of(gpu(4, N)[:m].sum(1))) == 1


@pytest.mark.parametrize("device", ["NULL", "CPU"])
@pytest.mark.parametrize("name", ["sum", "almost enough rows", "deviation of few rows"])
def test_cores_have_rules_of_their_own(name, device, monkeypatch):
    monkeypatch.setitem(globals(), "GPU", device)
    expected = {"sum": 2, "almost enough rows": 1, "deviation of few rows": 1}
    assert len(kernels_of(IN_PARTS[name][0]())) == expected[name]


# ---- which work is in which kernel ---------------------------------------------------------------


def test_what_comes_before_is_in_the_first_kernel_and_what_follows_in_the_second():
    first, second = kernels_of((gpu(N).exp2() * 3).sum().log2() + 1)
    assert ops_in(first, Ops.EXP2) and not ops_in(first, Ops.LOG2)
    assert ops_in(second, Ops.LOG2) and not ops_in(second, Ops.EXP2)
    assert results_of(first) == [BLOCKS_OF_PARTS]
    assert results_of(second) == [1]


def test_each_part_is_long_enough_for_a_block():
    first, _ = kernels_of(gpu(LONG).sum())
    assert results_of(first) == [LONG_FOR_A_THREAD // LEAST_READS]


@pytest.mark.parametrize("shape", [(1, N), (2, N), (7, N), (100, N), (64, 1 << 16)])
def test_all_results_together_have_so_many_blocks(shape):
    first, second = kernels_of(gpu(*shape).sum(1))
    (parts,) = results_of(first)
    assert BLOCKS_OF_PARTS // 4 < parts <= BLOCKS_OF_PARTS
    assert results_of(second) == [shape[0]]


def test_columns_have_more_parts_since_neighbours_share_a_block():
    first, _ = kernels_of(gpu(MILLION, 64).sum(0))
    assert results_of(first) == [BLOCKS_OF_PARTS * TARGET.warp]


def test_a_part_lies_together_in_memory():
    """Of (batch, channel, pixel) whole images become parts first, whatever order axes are named
    in."""
    first, _ = kernels_of(gpu(4, 32, 1 << 16).permute(2, 0, 1).sum((0, 1)))
    (load,) = ops_in(first, Ops.LOAD)
    inner = {r for u in ops_in(first, Ops.REDUCE) for r in u.own_ranges}
    *_, last = load.src[0].src
    assert inner & last.ranges
    assert sum(r.vmax + 1 for r in inner) == (1 << 16) // (BLOCKS_OF_PARTS // 32 // 4)


def test_results_that_are_reduced_further_are_the_parts():
    first, second = kernels_of(gpu(4096, 2048).square().sum(1).sqrt().sum())
    assert (results_of(first), results_of(second)) == ([4096], [1])
    parts, first, second = kernels_of(gpu(N // 2, 8).max(1).sum())
    assert list(map(results_of, (parts, first, second))) == [[N // 2], [BLOCKS_OF_PARTS], [1]]


def test_a_reduce_inside_is_not_done_by_every_block():
    x, y = gpu(8, MILLION), gpu(8, 4)
    inside, first, second = kernels_of((x * y.max(1, keepdim=True)).sum())
    assert list(map(results_of, (inside, first, second))) == [[8], [BLOCKS_OF_PARTS], [1]]
    assert math.prod(program_of(first, device=GPU).global_size) == BLOCKS_OF_PARTS


def test_a_contraction_has_its_tile_though_each_result_is_needed_again_where_it_was_pooled():
    x, weight = gpu(64, 16, 20, 20), gpu(32, 16, 3, 3)
    y = x.max_pool2d(2).conv2d(weight)
    kernels = kernels_of(y.gradient(x, gradient=gpu(*y.shape))[0])
    programs = [program_of(kernel, device=GPU) for kernel in kernels]
    product = max(programs, key=lambda program: program.ops_estimate)
    assert product.plan.name == "tiles from panels" and product is not programs[-1]


# ---- the device decides --------------------------------------------------------------------------


def counted(target: Target, monkeypatch, tensor: Callable[[], Tensor]) -> list[int]:
    monkeypatch.setattr(Device[GPU], "_renderer", CUDALanguage(target))
    first, *_ = kernels = kernels_of(tensor())
    return [len(kernels), *results_of(first)]


def test_smaller_blocks_share_shorter_reduces(monkeypatch):
    small = replace(TARGET, block_threads=64)
    long = LONG_FOR_A_THREAD * 64
    assert counted(TARGET, monkeypatch, lambda: gpu(long).sum())[0] == 1
    assert counted(small, monkeypatch, lambda: gpu(long).sum())[0] == 2
    assert counted(small, monkeypatch, lambda: gpu(long - 1).sum())[0] == 1


def test_there_are_no_more_parts_than_blocks_in_the_grid(monkeypatch):
    few = replace(TARGET, grid=(8, 2, 1))
    assert counted(few, monkeypatch, lambda: gpu(N).sum()) == [2, 16]


def test_a_schedule_is_made_anew_for_another_target(monkeypatch):
    monkeypatch.setattr(schedule_module, "_schedules", {})
    targets = (TARGET, replace(TARGET, grid=(16, 1, 1)), TARGET)
    sums = [counted(target, monkeypatch, lambda: gpu(N).sum()) for target in targets]
    assert sums == [[2, BLOCKS_OF_PARTS], [2, 16], [2, BLOCKS_OF_PARTS]]
    assert len(schedule_module._schedules) == 2
