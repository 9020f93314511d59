"""Long sums of floats: as close to the exact sum as one taken in blocks, whatever is fused into it.

In one running float32 sum of n equal numbers the error grows with n: after 2**24 ones, another one
changes nothing. The references are float64, computed from the very values that the Tensor holds.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import filled, source_of
from tinyframe import Context, Device, Tensor, Variable, dtypes
from tinyframe.dtype import DType

# Relative errors. A sum in blocks of 128 numbers is off by at most 128 half units in the last place
# for each of up to four levels. Equal numbers reach a quarter of that. Narrow floats are added in
# float32 and rounded once.
LIMITS = {
    dtypes.float32: 4 * 128 * 2.0**-24 / 4,
    dtypes.half: 2.0**-11 + 2.0**-16,
    dtypes.bfloat16: 2.0**-8 + 2.0**-16,
    dtypes.float64: 4 * 128 * 2.0**-53,
}
SIZES = [1000, 65_537, 9_999_991]  # 9,999,991 is a prime
NARROW = [dtypes.half, dtypes.bfloat16]
# On a device with blocks, loops as they are written are those of one thread, and some drivers end a
# thread that takes so many steps.
ENDS_THREADS = bool(Device[Device.DEFAULT].renderer.target.most_steps)
NOOPT = [0] if ENDS_THREADS else [0, 1]
AS_WRITTEN = [20_000, 20_011] if ENDS_THREADS else [2_000_000, 2_000_003]


def values_of(x: Tensor) -> np.ndarray:
    return x.cast(dtypes.float32).numpy().astype(np.float64)


def equal(size: int, dtype: DType) -> Tensor:
    """Equal numbers: all errors go one way. Small ones, since a half ends at 65504."""
    value = 0.1 if dtype not in NARROW else 0.001
    return filled(np.full(size, value, np.float32)).cast(dtype).realize()


def spread(size: int, dtype: DType) -> Tensor:
    """Numbers between 0 and 1, or a thousandth of that."""
    values = np.random.default_rng(0).random(size, dtype=np.float32)
    return filled(values if dtype not in NARROW else values / 1024).cast(dtype).realize()


def error(got: Tensor, exact: float) -> float:
    assert np.isfinite(exact)
    return abs(float(got.cast(dtypes.float64).item()) - exact) / abs(exact)


# narrow floats are added in float32: the longest once, and float64 has digits to spare
OF_EACH = [(size, dtype) for dtype in LIMITS for size in SIZES
           if size < 10**6 or dtype in (dtypes.float32, dtypes.half)]  # fmt: skip


@pytest.mark.parametrize(("size", "dtype"), OF_EACH)
def test_a_sum_a_norm_and_a_variance_are_as_good_as_those_in_blocks(size, dtype):
    same, x = equal(size, dtype), spread(size, dtype)
    a, b = (t.numpy() if dtype is dtypes.float64 else values_of(t) for t in (same, x))
    # the distances from a mean that is off by e are off by e each, their squares by 2e
    rows = [(same.sum(), a.sum(), 1), (same.norm(), np.sqrt(np.square(a).sum()), 1),
            (x.sum(), b.sum(), 1), (x.norm(), np.sqrt(np.square(b).sum()), 1)]  # fmt: skip
    if dtype not in NARROW:
        rows.append((x.var(), b.var(ddof=1), 3))
    Tensor.realize(*[t for t, *_ in rows])
    for t, exact, times in rows:
        assert error(t, exact) <= times * LIMITS[dtype]


@pytest.mark.parametrize("dtype", NARROW)
def test_a_variance_of_narrow_floats_is_rounded_once(dtype):
    x = filled(np.random.default_rng(0).random(65_537, dtype=np.float32)).cast(dtype).realize()
    assert error(x.var(), values_of(x).var(ddof=1)) <= 3 * LIMITS[dtype]


@pytest.mark.parametrize("size", AS_WRITTEN)
def test_the_loops_as_they_are_written_are_no_worse(size):
    x = equal(size, dtypes.float32)
    with Context(NOOPT=1):
        assert error(x.sum(), values_of(x).sum()) <= LIMITS[dtypes.float32]
        assert error(x.mean(), values_of(x).mean()) <= LIMITS[dtypes.float32]


@pytest.mark.parametrize("size", [1000, 4099])
def test_the_interpreter_is_no_worse(size):
    x = Tensor(np.full(size, 0.1, np.float32), device="PYTHON")
    exact = size * float(np.float32(0.1))
    assert error(x.sum(), exact) <= 2.0**-18  # one running sum of 4099: 3.9e-5


@pytest.mark.parametrize("noopt", NOOPT)
@pytest.mark.parametrize(("dtype", "numbers"), [
    (dtypes.float32, equal), (dtypes.half, spread), (dtypes.bfloat16, equal)
])  # fmt: skip
def test_a_product_that_is_summed_up_is_not_one_running_sum(dtype, numbers, noopt):
    size = 500
    a, b = (numbers(size * size, dtype).reshape(size, size) for _ in range(2))
    if dtype is dtypes.half:
        a = (a * 16).realize()
    product = values_of(a).reshape(size, size) @ values_of(b).reshape(size, size)
    with Context(NOOPT=noopt):
        # the elements of a product in half or bfloat16 are rounded before they are added
        assert error((a @ b).sum(), product.sum()) <= 2 * LIMITS[dtype]
        assert error((a @ b).mean(), product.mean()) <= 2 * LIMITS[dtype]
        total = (a.cast(dtypes.float32) @ b.cast(dtypes.float32)).sum()
        assert error(total, product.sum()) <= LIMITS[dtypes.float32]


@pytest.mark.parametrize("noopt", NOOPT)
def test_nested_sums_in_one_kernel_are_no_worse(noopt):
    x = equal(4_000_000, dtypes.float32)
    with Context(NOOPT=noopt):
        nested = x.reshape(200, 100, 200).sum(2).sum(1).sum(0)
        assert error(nested, values_of(x).sum()) <= LIMITS[dtypes.float32]


@pytest.mark.parametrize("dtype", [dtypes.float32, *NARROW], ids=str)
@pytest.mark.parametrize("size", [1000, 1_000_000])
def test_softmax_of_a_long_row_adds_up_to_one(size, dtype):
    x = (filled(np.random.default_rng(0).random(size, dtype=np.float32)) - 0.5).cast(dtype)
    a = values_of(x.realize())
    exact = np.exp(a) / np.exp(a).sum()
    got = values_of(x.softmax())
    # below the smallest normal number of a half, 2**-24 is the distance of two neighbours
    distance = 2.0**-25 if dtype is dtypes.half else 0.0
    assert (np.abs(got - exact) <= 2 * LIMITS[dtype] * exact + distance).all()


def test_sums_along_axes_are_no_worse():
    x = equal(30 * 100_003, dtypes.float32)
    for shape, axis in [((30, 100_003), 1), ((100_003, 30), 0)]:
        got = x.reshape(shape).sum(axis).numpy().astype(np.float64)
        exact = 100_003 * float(np.float32(0.1))
        assert (np.abs(got - exact) <= LIMITS[dtypes.float32] * exact).all()


def test_a_sum_of_symbolic_size_is_no_worse():
    x = equal(300_000, dtypes.float32)
    n = Variable("n", 1, 300_000)
    for count in (1, 100, 128, 129, 257, 299_999, 300_000):
        exact = count * float(np.float32(0.1))
        assert error(x[: n.bind(count)].sum(), exact) <= LIMITS[dtypes.float32]


def test_gradients_of_a_broadcast_are_no_worse():
    x = Tensor(np.float32(2.0), requires_grad=True)
    (x * equal(3_000_000, dtypes.float32)).sum().backward()
    assert error(x.grad, 3e6 * float(np.float32(0.1))) <= LIMITS[dtypes.float32]


@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
def test_what_shares_the_loop_of_a_sum_stays_exact(device):
    a = np.arange(2000, dtype=np.float32).reshape(2, 1000)
    x = Tensor(a, device=device)
    both = x.max(1) + x.cast(dtypes.int).sum(1) * (x.sum(1) == a.sum(1))
    np.testing.assert_array_equal(both.numpy(), a.max(1) + a.sum(1))


@pytest.mark.parametrize("size", [2011, 2021, 4096, 65_537])  # where blocks divide, and do not
def test_a_count_beside_a_long_sum_is_right(size):
    """Both have the loop of the sum. If its last block is shorter, its length is an expression."""
    rng = np.random.default_rng(size)
    x, mask = rng.random(size, dtype=np.float32), rng.random(size) < 0.3
    mean = Tensor(x).realize().sum() / Tensor(mask).realize().sum()
    np.testing.assert_allclose(mean.numpy(), x.sum(dtype=np.float64) / mask.sum(), rtol=1e-5)


def test_short_sums_and_integers_have_one_accumulator():
    ones = filled(np.ones((4, 2048), np.float32))
    with Context(NOOPT=1):
        assert source_of(ones[:, :128].sum(1)).count("for (") == 2
        assert source_of(ones[:, :129].sum(1)).count("for (") == 3
        assert source_of(filled(np.ones((4, 2048), np.int32)).sum(1)).count("for (") == 2
