"""Numbers that are measured and shown large: what is counted, and what tests do not compare."""

from __future__ import annotations

from itertools import count

import pytest

from classroom import speed
from classroom.build import sanitized
from classroom.speed import Card, cards, faster, least_seconds, rate, speeds, time_of
from tinyframe import Tensor, TinyJit


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still but while a function made by `taking` runs."""
    now = [0.0]
    monkeypatch.setattr(speed, "perf_counter", lambda: now[0])

    def taking(*seconds: float):
        """A function that takes these, one after another, and the last of them from then on."""
        numbers = count()

        def run() -> None:
            now[0] += seconds[min(next(numbers), len(seconds) - 1)]

        return run

    return taking


def test_the_first_three_runs_do_not_count_and_the_least_of_the_others_does(clock):
    found = least_seconds({"one": clock(0.001, 0.001, 0.001, 9.0, 4.0, 6.0, 5.0)})
    assert found["one"] == pytest.approx(4.0)


def test_the_first_is_what_the_others_are_compared_with(clock):
    shown = speeds({"slow": clock(0.25), "quick": clock(0.0625)}, operations=1e9).text
    assert shown.split("\n")[0].split() == ["slow", "4.0", "GFLOP/s"]
    assert shown.split("\n")[1].split() == "quick 16.0 GFLOP/s 4.0 times as fast".split()


def test_without_operations_it_is_the_time_of_a_run(clock):
    assert speeds({"slow": clock(0.25)}).text.split() == ["slow", "250.0", "ms"]


def test_a_jit_is_past_its_recording_when_it_is_timed():
    calls = []

    @TinyJit
    def step(x):
        calls.append(1)
        return (x * 2).realize()

    x = Tensor([1.0, 2.0]).realize()
    least_seconds({"jit": lambda: step(x)})
    assert len(calls) == 2


@pytest.mark.parametrize(
    "text, expected",
    [
        (rate(2e9, 0.5), "4.0 GFLOP/s"),
        (time_of(71.13e-6), "71.1 us"),
        (time_of(0.0123), "12.3 ms"),
        (faster(3.96, 1), "4.0 times as fast"),
        (faster(67.7, 1), "68 times as fast"),
        (faster(1234.5, 2), "1234 times as fast"),
        (faster(1.0, 0), ""),
    ],
)
def test_numbers_are_written_with_their_units(text, expected):
    assert text == expected


def test_two_measurements_of_the_same_ways_compare_equal():
    def shown(number: str, below: str) -> str:
        bundle = cards([Card("a", number), Card("b", number, below)])._repr_mimebundle_()
        return sanitized(bundle["text/html"]) + sanitized(bundle["text/plain"])

    assert shown("1.4 GFLOP/s", faster(67.7, 1)) == shown("115.3 GFLOP/s", faster(1.02, 1))
    assert shown("1.4 GFLOP/s", "") != shown("1.4 ms", "")


def test_every_card_is_inside_the_page_with_all_of_its_words():
    label = "a label that goes on for a while"
    picture = cards([Card(label, "1234.5 GFLOP/s", "4.0 times as fast")] * 4)
    assert picture.drawing.width <= 661
    assert picture.svg().count("1234.5 GFLOP/s</text>") == 4
