"""Bytes that kernels move, counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.drawn import charted
from tinyframe import Tensor
from tinyframe.dtype import dtypes
from tinyframe.uop.node import UOp
from tinyframe.viz import traffic
from tinyframe.viz.kernels import kernels_of
from tinyframe.viz.schedules import of_kernel, step_by_step


def fused(x: Tensor) -> list[tuple[int, int]]:
    moved = [of_kernel(n, item) for n, item in enumerate(kernels_of(x, "traffic"), 1)]
    return [(m.read, m.written) for m in moved]


def apart(x: Tensor) -> list[tuple[int, int]]:
    return [(m.read, m.written) for m in step_by_step([x.uop])]


@given(st.integers(1, 30), st.integers(1, 30), st.integers(2, 30))
def test_a_product_reads_both_matrices_once(m, n, k):
    a, b = Tensor.empty(m, k), Tensor.empty(k, n)
    assert fused(a @ b) == [(4 * (m * k + k * n), 4 * m * n)]
    # a product of its own, in memory: every pair of elements
    first, second = apart(a @ b)
    assert first == (4 * (m * k + k * n), 4 * m * n * k)
    assert second == (4 * m * n * k, 4 * m * n)


@pytest.mark.parametrize(
    "dtype", [dtypes.int8, dtypes.half, dtypes.float, dtypes.double, dtypes.bool]
)
def test_bytes_are_those_in_memory_not_those_that_are_computed_with(dtype):
    x = Tensor.empty(1000, dtype=dtype)
    assert fused(x.cast(dtypes.float) + 1) == [(1000 * dtype.itemsize, 4000)]


def test_a_part_that_two_views_share_is_read_once():
    x = Tensor.empty(100)
    assert fused(x[1:] + x[:-1]) == [(400, 396)]
    assert fused(x[:10] + x[90:]) == [(80, 40)]
    assert fused(x[::2] * 1.5) == [(200, 200)]
    assert fused(x.pad(((50, 50),)) + 1) == [(400, 800)]
    assert fused(x.reshape(1, 100).expand(50, 100) + 1) == [(400, 20000)]


def test_a_convolution_reads_its_image_once():
    x = Tensor.empty(2, 3, 10, 12).conv2d(Tensor.empty(5, 3, 3, 3))
    assert fused(x) == [(4 * (2 * 3 * 10 * 12 + 5 * 27), 4 * 2 * 5 * 8 * 10)]


def test_an_elementwise_chain_step_by_step():
    x = Tensor.empty(50)
    assert apart((x + 1) * x) == [(200, 200), (400, 200)]
    assert apart(x * x) == [(200, 200)], "the same operand once"
    assert apart(Tensor.full((5,), 2.0) + 1) == [], "constants are not in memory"
    assert fused((x + 1) * x) == [(200, 200)]


def test_rows_that_values_choose_count_as_often_as_they_are_read():
    table, rows = Tensor.empty(1000, 8), Tensor([3, 1, 2]).realize()
    ((read, written),) = fused(table[rows])
    assert (read, written) == (3 * 8 * 4 + 3 * rows.dtype.itemsize, 3 * 8 * 4)


def test_a_symbolic_size_counts_as_its_largest():
    n = UOp.variable("n", 1, 64).bind(7)
    x = Tensor.empty(64, 8)[:n] + 1
    assert fused(x) == [(4 * 64 * 8, 4 * 64 * 8)]
    assert apart(x) == [(4 * 64 * 8, 4 * 64 * 8)]


def test_a_copy_between_devices():
    ((read, written), *_) = fused(Tensor.empty(100).to("PYTHON"))
    assert (read, written) == (400, 400)


def test_the_headline_adds_up():
    picture = traffic(Tensor.empty(100) + 1)
    assert picture.headline == "traffic: 800 B in 1 kernel; step by step 800 B in 1 kernel"
    picture = traffic((Tensor.empty(100) + 1) * 2)
    assert picture.headline.endswith("step by step 1.60 kB in 2 kernels, 2.0 times as much")


def test_several_results_are_drawn_together():
    x = Tensor.empty(100)
    picture = traffic([x + 1, x * 2])
    total = sum(read + written for one in (x + 1, x * 2) for read, written in fused(one))
    assert f"step by step {total / 1000:.2f} kB" in picture.headline


def test_a_long_schedule_fits_the_page():
    charted(traffic(Tensor.empty(20000, 20000) @ Tensor.empty(20000, 20000)))
    y = Tensor.empty(32, 100)
    for _ in range(12):
        y = (y @ Tensor.empty(100, 100)).relu().layernorm()
    assert any("kernels more" in words for words in charted(traffic(y)))


def test_nothing_to_compute_is_said():
    for x in (Tensor.empty(5), Tensor.empty(0) + 1, []):
        picture = traffic(x)
        assert picture.headline == "traffic: none" and "Nothing has to run" in picture.text
        charted(picture)


def test_what_each_kernel_moves_is_written_beside_its_bar():
    shown = charted(traffic(Tensor.full((100,), 3.0).contiguous()))
    assert "reads 0 B, writes 400 B" in shown
