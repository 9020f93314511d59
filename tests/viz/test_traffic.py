"""Bytes that kernels move, counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.drawn import SVG, checked, said
from tinyframe import Tensor
from tinyframe.dtype import dtypes
from tinyframe.uop.node import UOp
from tinyframe.viz import traffic
from tinyframe.viz.kernels import kernels_of
from tinyframe.viz.moved import LONG, READ, WIDEST, fitting, of_kernel, step_by_step


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


def arrows(root) -> list[tuple[float, str]]:
    """How wide each arrow's shaft is, and its colour."""
    found = []
    for polygon in root.iter(f"{SVG}polygon"):
        corners = [tuple(map(float, p.split(","))) for p in polygon.attrib["points"].split()]
        found.append((corners[-1][1] - corners[0][1], polygon.attrib["fill"]))
    return found


def test_arrows_are_as_wide_as_their_bytes():
    root = checked(traffic(Tensor.empty(64, 64).sum(axis=1)))  # 16,384 bytes in, 256 out
    widths = {fill: width for width, fill in arrows(root)}
    assert widths[READ] == pytest.approx(WIDEST, abs=0.02)
    assert min(widths.values()) < WIDEST / 10
    assert len(arrows(root)) == 4 and LONG > 20


def test_an_enormous_product_and_a_long_schedule_fit_the_page():
    checked(traffic(Tensor.empty(20000, 20000) @ Tensor.empty(20000, 20000)))
    y = Tensor.empty(32, 100)
    for _ in range(12):
        y = (y @ Tensor.empty(100, 100)).relu().layernorm()
    root = checked(traffic(y))
    assert any("kernels that move less" in words for words in said(root))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), max_size=12), st.integers(0, 40))
def test_where_there_is_no_room_the_largest_are_drawn_in_order(cases, room):
    sizes, heights = [size for size, _ in cases], [height for _, height in cases]
    shown = fitting(sizes, heights, room)
    assert shown == sorted(shown) and sum(heights[n] for n in shown) <= room
    left_out = set(range(len(cases))) - set(shown)
    assert (
        not left_out or not shown or max(sizes[n] for n in left_out) <= min(sizes[n] for n in shown)
    )
    if sum(heights) <= room:
        assert not left_out


def test_nothing_to_compute_is_said():
    for x in (Tensor.empty(5), Tensor.empty(0) + 1, []):
        picture = traffic(x)
        assert picture.headline == "traffic: none" and "Nothing has to run" in picture.text
        checked(picture)


def test_a_kernel_that_reads_nothing_has_no_arrow_in():
    root = checked(traffic(Tensor.full((100,), 3.0).contiguous()))
    assert "0 B" in said(root)
    assert READ not in {fill for _, fill in arrows(root)}
