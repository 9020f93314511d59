"""Kernels that differ only in where they read and write, or in what they store, share a program."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import filled, numbers, on_buffer, schedule_of
from tinyframe import Tensor, TinyJit, Variable, dtypes
from tinyframe.run import alike as module
from tinyframe.run import realize
from tinyframe.run.alike import LEAST, alike
from tinyframe.run.realize import compile_all
from tinyframe.uop.node import Ops

STEPS = 6


@pytest.fixture(autouse=True)
def none_seen_before(monkeypatch):
    monkeypatch.setattr(module, "_seen", {})


def kernels(*tensors: Tensor) -> list:
    return [item.ast for item in schedule_of(*tensors) if item.ast.op is Ops.SINK]


def programs(asts: list) -> int:
    return len({kernel.spec for kernel in compile_all([(ast, "CPU") for ast in asts])})


def rows(x: Tensor, n: int = STEPS) -> list[Tensor]:
    return [(x[t] * 2 + x[t + 1]).contiguous() for t in range(n)]


def test_kernels_with_different_offsets_are_one_program_with_their_results():
    values = numbers(STEPS + 1, 5)
    found = rows(filled(values))
    assert programs(kernels(*found)) == 1
    Tensor.realize(*found)
    for t, y in enumerate(found):
        np.testing.assert_array_equal(y.numpy(), values[t] * 2 + values[t + 1])


def test_a_few_are_compiled_as_they_are():
    found = kernels(*rows(on_buffer(9, 5), LEAST - 1))
    assert programs(found) == len(found) == LEAST - 1
    assert not alike(found)


@pytest.mark.parametrize("seed", range(8))
def test_views_at_random_places(seed):
    device = ("CPU", "PYTHON")[seed % 2]
    rng = np.random.default_rng(seed)
    shape = tuple(map(int, rng.integers(6, 12, 3)))
    size = tuple(map(int, rng.integers(1, 5, 3)))
    values, other = numbers(*shape, seed=seed), numbers(*size, seed=seed + 100)
    x, y = filled(values, device), filled(other, device)
    flips = tuple(map(bool, rng.integers(0, 2, 3)))

    def part(of, at):
        return of[tuple(slice(a, a + n) for a, n in zip(at, size, strict=True))]

    places = [tuple(int(rng.integers(0, n - s + 1)) for n, s in zip(shape, size, strict=True))
              for _ in range(STEPS)]  # fmt: skip
    turned = [d for d, flip in enumerate(flips) if flip]
    made = [part(x, at).flip(turned) * y + part(x, places[0]).sum(2, keepdim=True) for at in places]
    Tensor.realize(*made)
    for at, z in zip(places, made, strict=True):
        one = np.flip(part(values, at), turned) * other
        np.testing.assert_array_equal(
            z.numpy(), one + part(values, places[0]).sum(2, keepdims=True)
        )


def test_kernels_that_write_at_different_offsets():
    values = numbers(STEPS, 4)
    x, out = filled(values), Tensor.zeros(STEPS, 4).contiguous().realize()
    for t in range(STEPS):
        out[t] = x[STEPS - 1 - t] + t
    np.testing.assert_array_equal(out.numpy(), values[::-1] + np.arange(STEPS)[:, None])


def test_a_captured_call_keeps_each_offset():
    values = numbers(STEPS + 1, 5)

    @TinyJit
    def step(x: Tensor) -> list[Tensor]:
        return [y.realize() for y in [sum(rows(x)[1:], rows(x)[0]), *rows(x)]]

    for call in range(4):
        total, *found = step(filled(values + call))
        now = (values + call)[:-1] * 2 + (values + call)[1:]
        np.testing.assert_array_equal(np.stack([y.numpy() for y in found]), now)
        np.testing.assert_array_equal(total.numpy(), now.sum(0))


def test_a_captured_call_with_a_variable_and_offsets():
    values = numbers(STEPS + 1, 9)

    @TinyJit
    def step(x: Tensor, n) -> list[Tensor]:
        total = x[:, :n].sum().realize()
        found = rows(x)
        Tensor.realize(*found)
        return [total, *found]

    for n in (3, 5, 9, 4):
        total, *found = step(filled(values), Variable("n", 1, 9).bind(n))
        assert total.item() == values[:, :n].sum()
        for t, y in enumerate(found):
            np.testing.assert_array_equal(y.numpy(), values[t] * 2 + values[t + 1])


def test_a_kernel_with_a_variable_of_its_own_stays():
    n = Variable("n", 1, 4).bind(3)
    x = on_buffer(STEPS, 4)
    assert not alike(kernels(*[x[t, :n].sum() for t in range(STEPS)]))


VALUES = [0.5, -0.0, 3, float("inf"), float("nan"), -1e-40, 2.0**31, 7]


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.int32, dtypes.bool])
def test_numbers_that_are_written_one_after_the_other(dtype):
    values = VALUES if dtype is dtypes.float32 else range(-3, 5)
    x = Tensor.zeros(3, len(values), 2, dtype=dtype).contiguous().realize()
    expected = x.numpy().copy()
    for k, value in enumerate(values):
        x[k % 3, k] = value
        expected[k % 3, k] = value
    got = x.numpy()
    np.testing.assert_array_equal(got, expected)
    if dtype is dtypes.float32:
        np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))


def test_writes_one_after_the_other_share_a_program():
    x, before = Tensor.zeros(77).contiguous().realize(), {*realize._kernels}
    for k in range(77):
        x[k] = k
    found = {kernel.spec for key, kernel in realize._kernels.items() if key not in before}
    assert len(found) == LEAST
    assert x.tolist() == [*range(77)]
