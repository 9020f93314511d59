"""schedule(), memory() and traffic(): kernels in order, lifetimes and bytes, against what really
runs and against counts by hand."""

from __future__ import annotations

import gc
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.drawn import charted
from tinyframe import GlobalCounters, Tensor
from tinyframe.dtype import dtypes
from tinyframe.uop.node import UOp
from tinyframe.viz import memory, schedule, traffic
from tinyframe.viz.kernels import kernels_of
from tinyframe.viz.schedules import (
    MOST_LANES,
    Row,
    held,
    lanes_of,
    lifetimes_of,
    of_kernel,
    step_by_step,
)


def attention() -> Tensor:
    a, b, c = (Tensor.empty(64, 64) for _ in range(3))
    return (a @ b).softmax() @ c


def layers(count: int, width: int = 40) -> Tensor:
    y = Tensor.ones(64, width).contiguous().realize()
    for _ in range(count):
        w = Tensor.ones(width, width).contiguous().realize()
        y = (y @ w).relu().layernorm()
    return y


def gradients() -> list[Tensor]:
    weights = [Tensor.ones(24, 24).contiguous().realize().requires_grad_() for _ in range(5)]
    h = Tensor.ones(8, 24).contiguous().realize()
    for w in weights:
        h = (h @ w).relu()
    h.sum().backward()
    return [w.grad for w in weights]


def shared() -> list[Tensor]:
    x = Tensor.ones(8, 32).contiguous().realize()
    total = x.sum()
    return [x / total, x - total]


def symbolic() -> Tensor:
    return Tensor.empty(64, 8)[: UOp.variable("n", 1, 64).bind(7)] + 1


# ---- all three -----------------------------------------------------------------------------------

each = pytest.mark.parametrize("draw", [schedule, memory, traffic])
SIZES = {"one": lambda: Tensor.ones(1) * 2.5 + Tensor.empty(1), "layers": lambda: layers(1),
         "more layers": lambda: layers(12), "many": lambda: layers(30), "gradients": gradients,
         "large": lambda: Tensor.empty(20000, 20000) @ Tensor.empty(20000, 20000),
         "copy": lambda: Tensor.empty(10).to("PYTHON") + 1, "symbolic": symbolic}  # fmt: skip


@each
@pytest.mark.parametrize("make", SIZES.values(), ids=SIZES)
def test_any_schedule_fits_a_screen_and_what_is_left_out_is_counted(draw, make):
    picture = draw(make())
    words = charted(picture)
    count, noun = re.search(r"(\d+) (value|kernel)", picture.headline).groups()
    if int(count) > 20:
        assert any(re.match(rf"and \d+ {noun}s more", line) for line in words)
    if draw is schedule:
        shown = [line for line in words if re.match(r"\d+\. ", line)]
        left_out = f"and {int(count) - len(shown)} kernel"
        assert f"{count}. " in picture.text
        assert len(shown) == int(count) or any(line.startswith(left_out) for line in words)


@each
@pytest.mark.parametrize("make", [lambda: Tensor.empty(5), lambda: Tensor.empty(0) + 1, list])
def test_nothing_to_compute_is_said(draw, make):
    picture = draw(make())
    charted(picture)
    assert "Nothing has to run" in picture.text
    nothing = f"{draw.__name__}: none", "schedule of 0 kernels, 0 buffers"
    assert picture.headline == nothing[draw is schedule]


# ---- schedule ------------------------------------------------------------------------------------


def test_kernels_and_buffers_in_order():
    picture = schedule(attention())
    assert picture.headline == "schedule of 3 kernels, 6 buffers"
    marks = [w for w in charted(picture) if w[0] in "rw" and w[1:].isdigit()]
    assert marks == ["r0", "r1", "w2", "r2", "w3", "r3", "r4", "w5"]
    assert "reads 0 (16.38 kB), 1 (16.38 kB)" in picture.text
    assert [line[0] for line in picture.text.splitlines() if line[0].isdigit()] == ["1", "2", "3"]
    items = attention().schedule()
    assert schedule(items).text == schedule(tuple(items)).text == picture.text
    assert schedule(items[0]).headline == "schedule of 1 kernel, 3 buffers"
    x = Tensor.zeros(100).contiguous().realize()
    assert "rw0" in charted(schedule(x.assign(x + 1))), "written in place"
    text = schedule(Tensor.empty(10).to("PYTHON") + 1).text
    assert "1. copies 10 numbers to PYTHON" in text and "reads 0 (40 B)" in text
    assert "loops: n" in schedule(symbolic()).text


BUFFERS = st.sets(st.integers(0, 9), max_size=5)


@given(st.lists(st.tuples(BUFFERS, BUFFERS), max_size=12))
def test_no_two_buffers_share_a_line_while_both_live(steps):
    rows = [Row("", "", tuple(sorted(r)), tuple(sorted(w))) for r, w in steps]
    lanes = lanes_of(rows, MOST_LANES)
    touched = {b for row in rows for b in row.touches}
    spans = {b: [n for n, row in enumerate(rows) if b in row.touches] for b in touched}
    assert all(0 <= lane < MOST_LANES for lane in lanes.values())
    assert lanes.keys() <= touched and (len(touched) > MOST_LANES or lanes.keys() == touched)
    for a in lanes:
        for b in lanes:
            if a < b and lanes[a] == lanes[b]:
                assert spans[a][-1] < spans[b][0] or spans[b][-1] < spans[a][0]
    assert len(lanes_of([Row("", "", tuple(range(50)), ())], 3)) == 3


# ---- memory --------------------------------------------------------------------------------------

CASES = [lambda: [layers(1)], lambda: [layers(6)], gradients, shared,
         lambda: [Tensor.ones(5).contiguous().realize().half() + 1]]  # fmt: skip


@pytest.mark.parametrize("make", CASES)
def test_with_reuse_the_peak_is_what_a_run_really_takes_and_no_two_values_collide(make):
    tensors = make()
    kernels, values = lifetimes_of(tensors)
    gc.collect()
    GlobalCounters.reset()
    before = GlobalCounters.mem_used
    tensors[0].realize(*tensors[1:])
    assert held(kernels, values, reused=True)[-1] == GlobalCounters.mem_peak - before
    for n, a in enumerate(values):
        assert 0 <= a.first <= a.last < kernels
        owner = values[a.memory]
        assert owner.memory == a.memory <= n and owner.nbytes >= a.nbytes
        for b in values[n + 1 :]:
            assert a.memory != b.memory or a.last < b.first or b.last < a.first
        if a.is_result:
            assert a.memory == n and a.last == kernels - 1


def test_a_chain_by_hand():
    """Three layers: a product and a normalization each, of 64 × 40 floats."""
    kernels, values = lifetimes_of([layers(3)])
    size = 64 * 40 * 4
    assert kernels == 6 and [v.nbytes for v in values] == [size] * 6
    assert [(v.first, v.last) for v in values] == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 5)]
    assert [v.memory for v in values] == [0, 1, 0, 1, 0, 5]
    assert held(kernels, values, reused=False) == [size * n for n in range(1, 7)]
    assert held(kernels, values, reused=True) == [size, *[2 * size] * 4, 3 * size]


def test_the_picture_tells_both_peaks_and_draws_each_value_twice():
    picture = memory(layers(3))
    shown = charted(picture)
    assert picture.headline == "memory for 6 values of 6 kernels: 61.44 kB, with reuse 30.72 kB"
    assert {"61.44 kB at the peak", "30.72 kB at the peak"} <= set(shown)
    assert shown.count("10.24 kB") == 6 + 3, "a row for each memory"
    assert "value 5: 10.24 kB, kernel 6 to the end: a result" in picture.text
    assert "value 2: 10.24 kB, kernel 3 to 4, in the memory of value 0" in picture.text


# ---- traffic -------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("dtype", dtypes.all, ids=str)
def test_bytes_are_those_in_memory_not_those_that_are_computed_with(dtype):
    x = Tensor.empty(1000, dtype=dtype)
    assert fused(x.cast(dtypes.float) + 1) == [(1000 * dtype.itemsize, 4000)]


# An expression of 100 floats, or of what else: what is read and written.
BY_HAND = [
    (lambda x: x[1:] + x[:-1], 400, 396),  # a part that two views share is read once
    (lambda x: x[:10] + x[90:], 80, 40),
    (lambda x: x[::2] * 1.5, 200, 200),
    (lambda x: x.pad(((50, 50),)) + 1, 400, 800),
    (lambda x: x.reshape(1, 100).expand(50, 100) + 1, 400, 20000),
    (lambda x: (x + 1) * x, 400, 400),
    (lambda x: x.to("PYTHON"), 400, 400),
    (lambda x: symbolic(), 4 * 64 * 8, 4 * 64 * 8),  # the largest that it can be
    (lambda x: Tensor.empty(2, 3, 10, 12).conv2d(Tensor.empty(5, 3, 3, 3)),
     4 * (2 * 3 * 10 * 12 + 5 * 27), 4 * 2 * 5 * 8 * 10),
    # rows that values choose count as often as they are read
    (lambda x: Tensor.empty(1000, 8)[Tensor([3, 1, 2]).realize()], 3 * 8 * 4 + 3 * 4, 3 * 8 * 4),
]  # fmt: skip


@pytest.mark.parametrize(("make", "read", "written"), BY_HAND)
def test_bytes_counted_by_hand(make, read, written):
    assert fused(make(Tensor.empty(100)))[0] == (read, written)


def test_an_elementwise_chain_step_by_step():
    x = Tensor.empty(50)
    assert apart((x + 1) * x) == [(200, 200), (400, 200)]
    assert apart(x * x) == [(200, 200)], "the same operand once"
    assert apart(Tensor.full((5,), 2.0) + 1) == [], "constants are not in memory"
    assert apart(symbolic()) == [(4 * 64 * 8, 4 * 64 * 8)]


def test_the_headline_adds_up_and_bytes_are_written_beside_their_bars():
    x = Tensor.empty(100)
    picture = traffic(x + 1)
    assert picture.headline == "traffic: 800 B in 1 kernel; step by step 800 B in 1 kernel"
    picture = traffic((x + 1) * 2)
    assert picture.headline.endswith("step by step 1.60 kB in 2 kernels, 2.0 times as much")
    assert "step by step 1.60 kB" in traffic([x + 1, x * 2]).headline
    assert "reads 0 B, writes 400 B" in charted(traffic(Tensor.full((100,), 3.0).contiguous()))
