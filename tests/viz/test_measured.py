"""timeline() and roofline(): what was recorded is what ran; the drawings are functions of spans and
of points, and a sentence follows from the numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.viz.drawn import charted
from tinyframe import GlobalCounters, Tensor
from tinyframe.observe import observers
from tinyframe.viz import roofline, timeline
from tinyframe.viz.measured import (
    WHATS,
    Point,
    Span,
    draw_points,
    draw_spans,
    points_of,
    rate_text,
    record_of,
    seconds_text,
    table_of,
)
from tinyframe.viz.roof import Roof, costs_of, measured_roof, verdict

SPANS = [  # in multiples of 2**-10 seconds, which can be added without rounding
    Span(lane, what, name, 10 + begin / 1024, 10 + end / 1024)
    for lane, what, name, begin, end in [
        ("Python", "schedule", "", 0, 100),
        ("Python", "source", "r_4", 100, 200),
        ("Python", "source", "<script>", 200, 250),
        ("compiler 1", "compile", "r_4", 200, 600),
        ("compiler 2", "compile", "<script>", 250, 700),
        ("CPU", "run", "r_4", 800, 801),
        ("CPU", "run", "<script>", 801, 804),
        ("CPU", "run", "r_4", 804, 805),
        ("PYTHON", "copy", "copy", 805, 806),
    ]
]


def computed(shift: float = 1.0) -> Tensor:
    x = Tensor([1.0, 2.0, 3.0]).realize()
    return (x + shift).sum() * x


# ---- recording -----------------------------------------------------------------------------------


def test_a_tensor_is_computed_and_every_kernel_of_it_is_there():
    x = computed(1.25)
    before = GlobalCounters.kernel_count
    picture = timeline(x)
    runs = sum(map(int, re.findall(r" in (\d+) run", picture.text)))
    assert runs == GlobalCounters.kernel_count - before > 0
    assert x.tolist() == [9.75, 19.5, 29.25]
    assert observers() == [], "nobody watches afterwards"


def test_spans_lie_in_the_time_that_the_call_took():
    record = record_of(computed(2.5) + Tensor([1.0, 2.0, 3.0]), "timeline")
    begin, end = min(s.begin for s in record.spans), max(s.end for s in record.spans)
    assert 0 < end - begin < 600
    for span in record.spans:
        assert span.begin <= span.end and span.what in WHATS
    lanes = {s.lane for s in record.spans}
    assert {"Python", "CPU"} <= lanes and "copy" in {s.what for s in record.spans}
    assert all(s.lane.startswith("compiler ") for s in record.spans if s.what == "compile")
    names = {s.name for s in record.spans if s.what == "run"}
    assert {spec.name for spec, _ in record.runs} == names
    for name in names:
        of_kernel = {s.what: s for s in record.spans if s.name == name}
        if "compile" in of_kernel:
            assert of_kernel["source"].end <= of_kernel["compile"].end <= of_kernel["run"].begin


@pytest.mark.parametrize("draw", [timeline, roofline])
def test_clear_errors(draw):
    with pytest.raises(ValueError, match="in memory already"):
        draw(Tensor([1.0]).realize())
    with pytest.raises(ValueError, match="computed nothing"):
        draw(lambda: Tensor([1.0]) + 1)
    with pytest.raises(ZeroDivisionError):
        draw(lambda: 1 / 0)
    assert observers() == []


# ---- drawing -------------------------------------------------------------------------------------


def test_equal_spans_give_equal_bytes_and_the_clock_does_not_matter():
    picture = draw_spans(SPANS)
    assert picture.svg() == draw_spans(list(SPANS)).svg()
    later = [Span(s.lane, s.what, s.name, s.begin + 1024, s.end + 1024) for s in SPANS]
    assert draw_spans(later).svg() == picture.svg()


def test_every_lane_and_kernel_is_named_and_kernels_are_drawn_closer():
    shown = charted(draw_spans(SPANS))
    assert {"Python", "compiler 1", "compiler 2", "CPU", "PYTHON", "1  r_4"} <= set(shown)
    assert "2  <script>" in shown and "compiles the source" in shown
    assert "from 781 ms on, the kernels" in shown
    assert any("2.93 ms in 1 run, source 48.8 ms, compiled 439 ms" in words for words in shown)


def test_the_table_adds_up():
    header, rows = table_of(SPANS)
    assert len(header) == 5
    assert rows == [["2", "<script>", "48.8 ms", "439 ms", "2.93 ms in 1 run"],
                    ["1", "r_4", "97.7 ms", "391 ms", "1.95 ms in 2 runs"]]  # fmt: skip


def test_only_kernels_are_not_drawn_twice():
    runs = [s for s in SPANS if s.what == "run"]
    assert not any("from " in words for words in charted(draw_spans(runs)))


@settings(max_examples=15)
@given(st.lists(st.tuples(st.sampled_from(list(WHATS)), st.integers(0, 9),
                          st.integers(0, 10**6), st.integers(0, 10**5)),
                min_size=1, max_size=20))  # fmt: skip
def test_any_spans_can_be_drawn(cases):
    spans = [
        Span(("Python", "c", "CPU")[k % 3], what, f"k{k}", begin * 1e-6, (begin + long) * 1e-6)
        for what, k, begin, long in cases
    ]
    charted(draw_spans(spans))


def test_very_many_kernels_fit_a_screen():
    spans = [Span("CPU", "run", f"k{n}", n * 1e-3, n * 1e-3 + 5e-4) for n in range(5000)]
    picture = draw_spans(spans)
    shown = charted(picture)
    assert any("kernels more" in words for words in shown)
    assert picture.text.count("\n") == 5001, "the text has them all"
    with pytest.raises(ValueError, match="needs a span"):
        draw_spans([])


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (2.5e-9, "2 ns"), (1.5e-6, "1.5 µs"), (0.0123, "12.3 ms"), (1, "1 s"),
     (5000, "5000 s")],
)  # fmt: skip
def test_times_and_rates_in_words(seconds, text):
    assert seconds_text(seconds) == text
    rates = [rate_text(r) for r in (0, 1.5e9, 37.84e9, 999.9e9, 1.2e12, 4.5e6)]
    assert rates == ["0", "1.5", "37.8", "1,000", "1,200", "0.0045"]


# ---- rooflines -----------------------------------------------------------------------------------

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
    assert (len(points) > 6) == ("more: print() lists them all" in shown)
    assert "the roof: memory, 20 GB/s, and arithmetic, 100 GFLOP/s" in shown


def test_a_kernel_without_arithmetic_is_told_of_and_has_no_point():
    shown = charted(draw_points([Point("E_5", 0, 10**6, 1e-4), Point("r_4", 9, 9, 1e-4)], ROOF))
    assert any("E_5" in words for words in shown) and "2" in shown


# ---- the sentence --------------------------------------------------------------------------------


@pytest.mark.parametrize(("operations", "nbytes", "seconds", "says"), [
    (8e10, 1e9, 1.0, "near the limit: 80% of this machine's peak"),
    (1e9, 1.8e10, 1.0, "near the limit: 90% of what this machine can move"),
    (1e9, 4e10, 1.0, "2.0 times what it delivers, so the data comes from a cache"),
    (3e11, 1e9, 1.0, "3.0 times what was measured"),
    (100, 400, 1e-6, "most of the time goes into starting the kernel"),
    (1e10, 1e9, 1.0, "just its arithmetic would be 10.0 times as fast"),
    (1e8, 2e9, 1.0, "just moving its data would be 10.0 times as fast"),
    (0, 1, 1e3, "many times as fast"),
])  # fmt: skip
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
