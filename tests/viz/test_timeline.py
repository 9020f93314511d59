"""Timelines: what was recorded is what ran, and the drawing is a function of the spans."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.viz.drawn import charted
from tinyframe import GlobalCounters, Tensor, TinyJit
from tinyframe.observe import observers
from tinyframe.viz import roofline, timeline
from tinyframe.viz.measured import WHATS, Span, draw_spans, record_of, seconds_text, table_of

TIMES = [
    Span("Python", "schedule", "", 10.0, 10.1),
    Span("Python", "source", "r_4", 10.1, 10.2),
    Span("Python", "source", "<script>", 10.2, 10.25),
    Span("compiler 1", "compile", "r_4", 10.2, 10.6),
    Span("compiler 2", "compile", "<script>", 10.25, 10.7),
    Span("CPU", "run", "r_4", 10.8, 10.801),
    Span("CPU", "run", "<script>", 10.801, 10.804),
    Span("CPU", "run", "r_4", 10.804, 10.805),
    Span("PYTHON", "copy", "copy", 10.805, 10.806),
]
EXACT = 2.0**-20  # seconds: multiples of it can be added without rounding
SPANS = [
    Span(s.lane, s.what, s.name, *(round(t / EXACT) * EXACT for t in (s.begin, s.end)))
    for s in TIMES
]


def computed(shift: float = 1.0) -> Tensor:
    x = Tensor([1.0, 2.0, 3.0]).realize()
    return (x + shift).sum() * x


# ---- recording -----------------------------------------------------------------------------------


def test_a_tensor_is_computed_and_every_kernel_of_it_is_there():
    x = computed(1.25)
    before = GlobalCounters.kernel_count
    picture = timeline(x)
    runs = sum(
        int(line.split(" in ")[1].split()[0])
        for line in picture.text.splitlines()
        if " in " in line
    )
    assert runs == GlobalCounters.kernel_count - before > 0
    assert x.tolist() == [9.75, 19.5, 29.25]
    assert observers() == [], "nobody watches afterwards"


def test_spans_lie_in_the_time_that_the_call_took():
    record = record_of(computed(2.5), "timeline")
    begin, end = min(s.begin for s in record.spans), max(s.end for s in record.spans)
    assert 0 < end - begin < 600
    for span in record.spans:
        assert span.begin <= span.end and span.what in WHATS
    lanes = {s.lane for s in record.spans}
    assert {"Python", "CPU"} <= lanes
    assert all(s.lane.startswith("compiler ") for s in record.spans if s.what == "compile")
    names = {s.name for s in record.spans if s.what == "run"}
    assert {spec.name for spec, _ in record.runs} == names


def test_a_function_is_called_once():
    calls = []

    def work():
        calls.append(1)
        computed(3.5).realize()

    timeline(work)
    assert calls == [1]


def test_a_replay_of_a_jit_is_seen_kernel_by_kernel():
    @TinyJit
    def step(x):
        return (x * 2).realize()

    x = Tensor([1.0, 2.0]).realize()
    for _ in range(3):
        step(x)
    assert "in 1 run" in timeline(lambda: step(x)).text


@pytest.mark.parametrize("draw", [timeline, roofline])
def test_clear_errors(draw):
    with pytest.raises(ValueError, match="in memory already"):
        draw(Tensor([1.0]).realize())
    with pytest.raises(ValueError, match="computed nothing"):
        draw(lambda: Tensor([1.0]) + 1)
    with pytest.raises(TypeError, match="not list"):
        draw([1])
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
    assert "from 800 ms on, the kernels" in shown
    assert any("3 ms in 1 run, source 50 ms, compiled 450 ms" in words for words in shown)


def test_the_table_adds_up():
    header, rows = table_of(SPANS)
    assert len(header) == 5
    assert rows == [["2", "<script>", "50 ms", "450 ms", "3 ms in 1 run"],
                    ["1", "r_4", "100 ms", "400 ms", "2 ms in 2 runs"]]  # fmt: skip


def test_only_kernels_are_not_drawn_twice():
    runs = [s for s in SPANS if s.what == "run"]
    assert not any("from " in words for words in charted(draw_spans(runs)))


@settings(max_examples=15)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(WHATS)),
            st.integers(0, 9),
            st.integers(0, 10**6),
            st.integers(0, 10**5),
        ),
        min_size=1,
        max_size=20,
    )
)
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
    [
        (0, "0 s"),
        (2.5e-9, "2 ns"),
        (1.5e-6, "1.5 µs"),
        (0.0123, "12.3 ms"),
        (1, "1 s"),
        (5000, "5000 s"),
    ],
)
def test_times_in_words(seconds, text):
    assert seconds_text(seconds) == text


def test_compiled_kernels_are_seen_by_thread():
    """Two new kernels: the C compiler runs for both, Python wrote both sources before they ran."""
    x = Tensor([[1.0, 2.0, 3.0]]).realize()
    record = record_of(lambda: (x.sin().sum(axis=0) * x.exp2().sum(axis=1)).realize(), "timeline")
    for run in {spec.name for spec, _ in record.runs}:
        of_kernel = {s.what: s for s in record.spans if s.name == run}
        if "compile" in of_kernel:
            assert of_kernel["source"].end <= of_kernel["compile"].end <= of_kernel["run"].begin
