"""Rooflines: points where their numbers say, and a sentence that follows from them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.drawn import boxes, checked, said
from tinyframe import Tensor
from tinyframe.viz import roofline
from tinyframe.viz.roof import Roof, measured_roof
from tinyframe.viz.rooflines import Plot, Point, draw_points, points_of, rate_text
from tinyframe.viz.verdict import verdict
from tinyframe.viz.watched import record_of

ROOF = Roof(flops=1e11, bandwidth=2e10)  # 5 operations for each byte where they meet

numbers = st.builds(
    Point,
    st.sampled_from(["r_64_64", "<script>", "E_4n1"]),
    st.integers(0, 10**13),
    st.integers(1, 10**11),
    st.floats(1e-9, 1e3),
    st.sampled_from([None, "vectors"]),
)


def test_a_product_has_its_operations_and_its_bytes():
    a, b = (Tensor(np.ones((64, 64), np.float32)).realize() for _ in range(2))
    record = record_of(a @ b, "roofline")
    (point,) = points_of(record)
    assert (point.operations, point.nbytes) == (2 * 64**3, 3 * 64 * 64 * 4)
    assert point.intensity == pytest.approx(2 * 64**3 / (3 * 64 * 64 * 4))
    assert point.seconds == pytest.approx(record.runs[0].seconds)


def test_a_kernel_that_runs_again_counts_with_its_best_time():
    x = Tensor([1.0, 2.0, 3.0]).realize()

    def work():
        for _ in range(5):
            (x * 7.5).realize()

    record = record_of(work, "roofline")
    (point,) = points_of(record)
    assert len(record.runs) == 5 and point.seconds == min(r.seconds for r in record.runs)


def test_the_picture_of_what_just_ran():
    picture = roofline(Tensor(np.ones((32, 32), np.float32)).realize() @ Tensor.ones(32, 32))
    checked(picture)
    assert picture.headline.endswith("GB/s") and "what limits it" in picture.text
    assert measured_roof() is measured_roof(), "measured once"
    assert all(value > 0 for value in measured_roof())


def test_points_stand_where_their_numbers_say():
    points = [Point("a", 10**9, 10**9, 0.1), Point("b", 10**10, 10**9, 0.1)]
    plot = Plot(points, ROOF)
    root = checked(draw_points(points, ROOF))
    dots = {b.title: b for b in boxes(root) if b.title and b.right - b.left < 8}
    for p in points:
        middle = (
            (dots[p.name].left + dots[p.name].right) / 2,
            (dots[p.name].top + dots[p.name].bottom) / 2,
        )
        assert middle == pytest.approx((plot.x(p.intensity), plot.y(p.flops)), abs=0.02)
    # ten times the operations: as far apart as two neighbouring lines of the grid
    assert plot.x(10) - plot.x(1) == pytest.approx(plot.x(1) - plot.x(0.1))
    assert plot.y(1e9) - plot.y(1e10) == pytest.approx(plot.y(1e8) - plot.y(1e9))


@given(st.lists(numbers, max_size=20))
def test_any_numbers_can_be_drawn_and_stay_in_the_plot(points):
    picture = draw_points(points, ROOF)
    root = checked(picture, height=760)
    assert draw_points(points, ROOF).svg() == picture.svg()
    plot = Plot(points, ROOF)
    for p in points:
        if p.operations:
            assert plot.x(plot.least_x) <= plot.x(p.intensity) <= plot.x(plot.most_x)
            assert plot.y(plot.most_y) <= plot.y(p.flops) <= plot.y(plot.least_y)
    assert (len(points) > 6) == any("more that took less time" in w for w in said(root))


def test_labels_of_kernels_at_one_place_do_not_lie_on_each_other():
    points = [Point(f"k{n}", 10**9, 10**8, 0.05) for n in range(6)]
    root = checked(draw_points(points, ROOF), height=760)
    middles = [
        (b.left, b.top) for b in boxes(root) if b.title and b.right - b.left == pytest.approx(16)
    ]
    assert len(middles) == 6
    for n, a in enumerate(middles):
        assert all(math.dist(a, b) > 16 for b in middles[n + 1 :])


def test_a_kernel_without_arithmetic_is_in_the_table_only():
    root = checked(draw_points([Point("E_5", 0, 10**6, 1e-4)], ROOF))
    assert "E_5" in said(root) and not [b for b in boxes(root) if b.title]


# ---- the sentence --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operations", "nbytes", "seconds", "says"),
    [
        (8e10, 1e9, 1.0, "near the roof: 80% of what this machine can compute"),
        (1e9, 1.8e10, 1.0, "near the roof: 90% of what this machine can move"),
        (1e9, 4e10, 1.0, "2.0 times what it delivers, so the data comes from a cache"),
        (3e11, 1e9, 1.0, "3.0 times what was measured"),
        (100, 400, 1e-6, "starting the kernel is most of the time"),
        (1e10, 1e9, 1.0, "if only arithmetic limited it, it would be 10.0 times as fast"),
        (1e8, 2e9, 1.0, "if only memory limited it, it would be 10.0 times as fast"),
        (0, 1, 1e3, "very many times"),
    ],
)
def test_what_limits_a_kernel(operations, nbytes, seconds, says):
    assert says in verdict(operations, nbytes, seconds, ROOF)


def test_the_plan_is_named():
    assert 'the plan "vectors"' in verdict(1e6, 1e6, 1.0, ROOF, "vectors")
    assert "no plan" in verdict(1e6, 1e6, 1.0, ROOF)


@given(numbers)
def test_any_kernel_has_a_verdict(point):
    words = verdict(point.operations, point.nbytes, point.seconds, ROOF, point.plan)
    assert words.endswith(".") and "nan" not in words and "inf " not in words
    assert verdict(point.operations, point.nbytes, 0.0, ROOF).endswith(".")


def test_rates_in_words():
    assert [rate_text(r) for r in (0, 1.5e9, 37.84e9, 999.9e9, 1.2e12, 4.5e6)] == [
        "0",
        "1.5",
        "37.8",
        "1,000",
        "1,200",
        "0.0045",
    ]
