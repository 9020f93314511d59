"""Rooflines: points where their numbers say, and a sentence that follows from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.viz.drawn import charted
from tinyframe import Tensor
from tinyframe.viz import roofline
from tinyframe.viz.measured import Point, draw_points, points_of, rate_text, record_of
from tinyframe.viz.roof import Roof, costs_of, measured_roof, verdict

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
    assert point.seconds == pytest.approx(record.runs[0][1])


def test_a_kernel_that_runs_again_counts_with_its_best_time():
    x = Tensor([1.0, 2.0, 3.0]).realize()

    def work():
        for _ in range(5):
            (x * 7.5).realize()

    record = record_of(work, "roofline")
    (point,) = points_of(record)
    assert len(record.runs) == 5 and point.seconds == min(seconds for _, seconds in record.runs)


def test_the_picture_of_what_just_ran():
    picture = roofline(Tensor(np.ones((32, 32), np.float32)).realize() @ Tensor.ones(32, 32))
    charted(picture)
    assert picture.headline.endswith("GB/s") and "what limits it" in picture.text
    assert measured_roof() is measured_roof(), "measured once"
    assert all(value > 0 for value in measured_roof())


@settings(max_examples=15)
@given(st.lists(numbers, max_size=20))
def test_any_numbers_can_be_drawn(points):
    shown = " ".join(charted(draw_points(points, ROOF)))
    assert (len(points) > 6) == ("more that took less time" in shown)
    assert "the roof: memory, 20 GB/s, and arithmetic, 100 GFLOP/s" in shown


def test_a_kernel_without_arithmetic_is_told_of_and_has_no_point():
    shown = charted(draw_points([Point("E_5", 0, 10**6, 1e-4), Point("r_4", 9, 9, 1e-4)], ROOF))
    assert any("E_5" in words for words in shown) and "2" in shown


# ---- the sentence --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operations", "nbytes", "seconds", "says"),
    [
        (8e10, 1e9, 1.0, "near the limit: 80% of this machine's peak"),
        (1e9, 1.8e10, 1.0, "near the limit: 90% of what this machine can move"),
        (1e9, 4e10, 1.0, "2.0 times what it delivers, so the data comes from a cache"),
        (3e11, 1e9, 1.0, "3.0 times what was measured"),
        (100, 400, 1e-6, "most of the time goes into starting the kernel"),
        (1e10, 1e9, 1.0, "just its arithmetic would be 10.0 times as fast"),
        (1e8, 2e9, 1.0, "just moving its data would be 10.0 times as fast"),
        (0, 1, 1e3, "many times as fast"),
    ],
)
def test_what_limits_a_kernel(operations, nbytes, seconds, says):
    assert says in verdict(operations, nbytes, seconds, ROOF)


def test_the_plan_is_named():
    assert 'the plan "vectors"' in verdict(1e6, 1e6, 1.0, ROOF, "vectors")
    assert "no plan" in verdict(1e6, 1e6, 1.0, ROOF)


COSTS = [
    ([], "x = data1[i] + 1;", 1, ["one number at a time"]),
    (["THREAD axis 0"], "x = data1[i] + 1;", 2, ["one number at a time"]),
    (["VECTOR axis 0 by 8"], "x = data1[i] + 1;", 2, ["one core"]),
    (["VECTOR axis 0 by 8", "THREAD axis 0"], "float y = a / b;", 2, []),
    (["VECTOR axis 0 by 8"], "x = c ? data1[i] : 0.0f;", 1, ["under a condition"]),
    (["VECTOR axis 0 by 8"], "int alu0 = ridx0 % 7;", 1, ["divides to find"]),
]


@pytest.mark.parametrize(("opts", "source", "threads", "expected"), COSTS)
def test_what_slows_a_kernel_down_is_read_off_its_opts_and_source(opts, source, threads, expected):
    found = costs_of(opts, source, threads)
    assert len(found) == len(expected)
    assert all(word in said for word, said in zip(expected, found, strict=True))
    words = verdict(1e6, 1e6, 1.0, ROOF, "vectors", found)
    assert all(word in words for word in expected)


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
