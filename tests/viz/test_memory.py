"""Lifetimes: against memory as it is really taken while a schedule runs."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.drawn import charted
from tinyframe import GlobalCounters, Tensor
from tinyframe.viz import memory
from tinyframe.viz.schedules import Value, held, lifetimes_of


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


CASES = [lambda: [layers(1)], lambda: [layers(6)], gradients, shared,
         lambda: [Tensor.ones(5).contiguous().realize().half() + 1]]  # fmt: skip


@pytest.mark.parametrize("make", CASES)
def test_with_reuse_the_peak_is_what_a_run_really_takes(make):
    tensors = make()
    kernels, values = lifetimes_of(tensors)
    gc.collect()
    GlobalCounters.reset()
    before = GlobalCounters.mem_used
    tensors[0].realize(*tensors[1:])
    assert held(kernels, values, reused=True)[-1] == GlobalCounters.mem_peak - before


@pytest.mark.parametrize("make", CASES)
def test_values_that_share_memory_do_not_live_at_the_same_time(make):
    kernels, values = lifetimes_of(make())
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


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 5), st.integers(0, 5)), max_size=8))
def test_held_memory_by_simulation(cases):
    values = [Value(8 * n, min(a, b), max(a, b), False, k) for k, (n, a, b) in enumerate(cases)]
    taken: set[int] = set()
    for kernel, total in enumerate(held(6, values, reused=False)):
        taken |= {n for n, v in enumerate(values) if v.first == kernel}
        assert total == sum(values[n].nbytes for n in taken)


def test_the_picture_tells_both_peaks_and_draws_each_value_twice():
    picture = memory(layers(3))
    shown = charted(picture)
    assert picture.headline == "memory for 6 values of 6 kernels: 61.44 kB, with reuse 30.72 kB"
    assert {"61.44 kB at the peak", "30.72 kB at the peak"} <= set(shown)
    assert shown.count("10.24 kB") == 6 + 3, "a row for each memory"
    assert "value 5: 10.24 kB, kernel 6 to the end: a result" in picture.text
    assert "value 2: 10.24 kB, kernel 3 to 4, in the memory of value 0" in picture.text


@pytest.mark.parametrize(
    "make",
    [
        lambda: layers(30),
        lambda: layers(1),
        gradients,
        lambda: Tensor.ones(1) * 2.5 + Tensor.empty(1),
    ],
)
def test_any_number_of_values_fits_a_screen(make):
    picture = memory(make())
    shown = charted(picture)
    if "60 values" in picture.headline:
        assert any("and 40 values more" in words for words in shown)


def test_nothing_to_compute_is_said():
    for x in (Tensor.empty(5), Tensor.empty(0) + 1, []):
        picture = memory(x)
        charted(picture)
        assert picture.headline == "memory: none" and "Nothing has to run" in picture.text
