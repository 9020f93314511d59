"""Long reduces in two kernels give what NumPy gives, on each device that runs blocks of threads.

The thresholds are lowered, so that arrays of a few thousand elements are long.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.kernels import filled, kernels_of, numbers
from tests.with_blocks import DEVICES, REAL, with_blocks
from tinyframe import Tensor, UOp, dtypes, thresholds
from tinyframe import schedule as schedule_module

# What each of the other devices costs, seconds for a kernel, is paid for these alone.
ON_ALL = ("a prime number", "rows", "columns", "softmax", "sums of rows, then of those")


@pytest.fixture(params=["PYTHON", *REAL])
def device(request, monkeypatch) -> Iterator[str]:
    yield from with_low_thresholds(request.param, monkeypatch)


on_python = pytest.mark.parametrize("device", ["PYTHON"], indirect=True)


def with_low_thresholds(name: str, monkeypatch) -> Iterator[str]:
    monkeypatch.setattr(thresholds, "LONG_FOR_A_THREAD", 1)
    monkeypatch.setattr(thresholds, "LEAST_READS", 1)
    monkeypatch.setattr(schedule_module, "_schedules", {})
    yield with_blocks(name, monkeypatch)
    gc.collect()


LONG, PRIME = numbers(4096), numbers(3001, seed=1)
ROWS, COLUMNS, SHORT = numbers(3, 2048), numbers(1500, 4), numbers(600, 3)
IMAGES = numbers(5, 2, 18, 20)

# name -> what is computed of a Tensor, the array, what NumPy says, and in how many kernels
Case = tuple[Callable[[Tensor], Tensor], np.ndarray, Any, int]
REDUCES: dict[str, Case] = {
    "sum": (lambda x: x.sum(), LONG, LONG.sum(), 2),
    "a prime number": (lambda x: x.sum(), PRIME, PRIME.sum(), 2),
    "product": (lambda x: (x * x).clip(1, 2)[:-3000].prod() * (x[-3000:] * 0 + 1).prod(), PRIME,
                np.clip(PRIME[0] ** 2, 1, 2), 2),
    "any": (lambda x: (x > 3).any(), PRIME, (PRIME > 3).any(), 2),
    "half": (lambda x: x.sum(), PRIME.astype(np.float16), PRIME.sum(), 2),
    "rows": (lambda x: x.sum(1), ROWS, ROWS.sum(1), 2),
    "columns": (lambda x: x.max(0), COLUMNS, COLUMNS.max(0), 2),
    "images": (lambda x: x.sum((0, 2, 3)), IMAGES, IMAGES.sum((0, 2, 3)), 2),
    "padded": (lambda x: (x.pad(((700, 5),)) + 1).sum(), PRIME, PRIME.sum() + 3706, 2),
    "work before and after": (lambda x: (x * 2 + 1).sum().abs().sqrt() + 3, PRIME,
                              np.sqrt(np.abs((PRIME * 2 + 1).sum(dtype=np.float64))) + 3, 2),
    "indices alone": (lambda x: (Tensor.arange(2000, device=x.device) * 3).sum(), SHORT,
                      np.arange(2000).sum() * 3, 2),
    "place of the largest": (lambda x: x.argmax(), PRIME, PRIME.argmax(), 4),
    "standard deviation": (lambda x: x.std(), PRIME, PRIME.std(ddof=1, dtype=np.float64), 4),
    "softmax": (lambda x: x.softmax(), ROWS / 2, np.exp(ROWS / 2) / np.exp(
        ROWS / 2).sum(1, keepdims=True), 5),
    "divided by its sum": (lambda x: x / x.sum(0), SHORT + 9, (SHORT + 9) / (SHORT + 9).sum(0), 3),
    "sums of rows, then of those": (lambda x: x.reshape(64, 64).square().sum(1).sqrt().sum(), LONG,
                                    np.sqrt((LONG.reshape(64, 64) ** 2).sum(1)).sum(), 2),
    "maxima of short rows, then a sum": (lambda x: x.reshape(1024, 4).max(1).sum(), LONG,
                                         LONG.reshape(1024, 4).max(1).sum(), 3),
    "two of one kernel": (lambda x: x.sum() + x.max() * 1000, PRIME,
                          PRIME.sum() + PRIME.max() * 1000, 3),
}  # fmt: skip


@on_python
@pytest.mark.parametrize("name", REDUCES)
def test_a_long_reduce_gives_what_numpy_gives(name, device):
    compute, array, expected, count = REDUCES[name]
    x = filled(array, device)
    assert len(kernels_of(compute(x))) == count
    np.testing.assert_allclose(compute(x).numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("other", sorted({*DEVICES, *REAL} - {"PYTHON"}))
@pytest.mark.parametrize("name", ON_ALL)
def test_so_does_each_other_device_with_blocks(name, other, monkeypatch):
    for device in with_low_thresholds(other, monkeypatch):
        test_a_long_reduce_gives_what_numpy_gives(name, device)


OPS: dict[str, Any] = {"sum": np.sum, "max": np.max, "min": np.min}
VIEWS: dict[str, tuple[Callable, Callable]] = {
    "as it is": (lambda x: x, lambda a: a),
    "reversed axes": (lambda x: x.permute(*reversed(range(x.ndim))), np.transpose),
    "flipped": (lambda x: x.flip(0), lambda a: np.flip(a, 0)),
    "without its first": (lambda x: x[1:], lambda a: a[1:]),
    "padded": (lambda x: x.pad(((2, 1),) + ((0, 0),) * (x.ndim - 1)),
               lambda a: np.pad(a, ((2, 1),) + ((0, 0),) * (a.ndim - 1))),
    "computed": (lambda x: x * x - 3, lambda a: a * a - 3),
}  # fmt: skip


def random_shape(random: Random) -> list[int]:
    """Of some thousand elements at most."""
    shape = [random.choice([2, 3, 17, 64, 101, 600]) for _ in range(random.randint(1, 4))]
    while math.prod(shape) > 4000:
        shape[shape.index(max(shape))] = random.choice([2, 3, 5, 16])
    return shape


@on_python
@pytest.mark.parametrize("seed", range(20))
def test_any_axes_of_any_shape_and_view(seed, device):
    random = Random(seed)
    array = numbers(*random_shape(random), seed=seed)
    axes = tuple(sorted(random.sample(range(array.ndim), random.randint(1, array.ndim))))
    op, view = random.choice(sorted(OPS)), random.choice(sorted(VIEWS))
    of_tensor, of_array = VIEWS[view]
    got = getattr(of_tensor(filled(array, device)), op)(axes).numpy()
    np.testing.assert_array_equal(got, OPS[op](of_array(array), axes), f"{op} of {view}")


def test_what_is_summed_may_be_changed_in_place(device):
    array = numbers(2000)
    x = filled(array, device)
    x.assign(x - x.sum()).realize()
    np.testing.assert_array_equal(x.numpy(), array - array.sum())
    total = filled(np.zeros(1, np.float32), device)
    for _ in range(3):
        total.assign(total + x.sum()).realize()
    np.testing.assert_array_equal(total.numpy(), [3 * x.numpy().sum(dtype=np.float64)])


def test_a_variables_size_is_summed_in_one_kernel(device):
    array, n = numbers(1200), UOp.variable("n", 0, 1200)
    for count in (1200, 1, 0, 700):
        some = filled(array, device)[: n.bind(count)]
        assert len(kernels_of(some.sum())) == 1
        assert some.sum().item() == array[:count].sum()


@pytest.mark.parametrize("dtype", [dtypes.bool, dtypes.int8, dtypes.uint32], ids=str)
def test_partial_results_of_any_dtype(dtype, device):
    array = numbers(2999) > 1
    x = filled(array, device).cast(dtype).realize()
    assert x.max().item() == 1
    assert (x - x).max().item() == 0 if dtype is not dtypes.bool else x.any().item()
    assert x.cast(dtypes.int32).sum().item() == array.sum()
