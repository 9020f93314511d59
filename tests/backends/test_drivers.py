"""Devices on a driver: numbers at the ends of their ranges, copies, and errors."""

from __future__ import annotations

import numpy as np
import pytest

from tests import devices
from tests.kernels import numbers
from tinyframe import Context, Device, Tensor, dtypes
from tinyframe.device import CompileError, DeviceUnavailable
from tinyframe.dtype import to_np_dtype
from tinyframe.errors import DTypeError


@pytest.fixture(autouse=True, params=[d for d in devices.there() if d in ("CL", "WEBGPU")])
def device(request):
    with Context(DEVICE=request.param):
        yield request.param


def is_refused(dtype) -> bool:
    """Whether the device lacks a dtype; then it says so where something is computed in it."""
    if dtype not in Device[Device.DEFAULT].renderer.unsupported:
        return False
    with pytest.raises(DTypeError, match="has no"):
        (Tensor(np.ones(3, to_np_dtype(dtype))).realize() + 1).realize()
    return True


# ---- numbers -------------------------------------------------------------------------------------


def edges(dtype) -> np.ndarray:
    """Numbers at the ends of the range and around 0, an odd number of them."""
    low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
    values = [low, low + 1, low // 3, -7, -1, 0, 1, 2, 5, 100, high // 3, high - 1, high]
    return np.array([v for v in values if low <= v <= high] * 3, to_np_dtype(dtype))


@pytest.mark.parametrize("dtype", dtypes.ints, ids=str)
def test_integers_of_every_width_wrap_around(dtype):
    if is_refused(dtype):
        return
    x = edges(dtype)
    y = np.random.default_rng(1).permutation(x)
    a, b = Tensor(x).realize(), Tensor(y).realize()
    counts = (np.arange(len(x)) % (8 * x.itemsize)).astype(x.dtype)
    with np.errstate(all="ignore"):
        pairs = [
            (a + b, x + y), (a - b, x - y), (a * b, x * y), (-a, -x), (a & b, x & y),
            (a | b, x | y), (a ^ b, x ^ y), (a << Tensor(counts), x << counts),
            (a >> Tensor(counts), x >> counts), (a.maximum(b), np.maximum(x, y)), (a < b, x < y),
            (a != b, x != y), (a // 7, x // x.dtype.type(7)), (a % 7, x % x.dtype.type(7)),
            (a // b, np.where(y == 0, 0, x // np.where(y == 0, 1, y))),
            (a.sum(dtype=dtype), x.sum(dtype=x.dtype)), (a.max(), x.max()),
        ]  # fmt: skip
    Tensor.realize(*[found for found, _ in pairs])
    for found, expected in pairs:
        np.testing.assert_array_equal(found.numpy(), expected)


NUMPYS = [dtype for dtype in dtypes.all if dtype is not dtypes.bfloat16]


@pytest.mark.parametrize("source", NUMPYS, ids=str)
def test_casts_between_all_dtypes(source):
    if is_refused(source):
        return
    lacking = Device[Device.DEFAULT].renderer.unsupported
    x = np.array([0, 1, 2, 3, 77, 100, 126, 127, 0], to_np_dtype(source))
    t = Tensor(x).realize()
    casts = [t.cast(dtype) for dtype in dtypes.all if dtype not in lacking]
    Tensor.realize(*casts)
    for found in casts:
        expected = x.astype(to_np_dtype(found.dtype) or np.float32)
        np.testing.assert_array_equal(found.numpy(), expected, err_msg=str(found.dtype))


@pytest.mark.parametrize("dtype", [dtypes.half, dtypes.float, dtypes.double], ids=str)
def test_nan_infinity_and_division_by_zero(dtype):
    if is_refused(dtype):
        return
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5, 3.0, 1e-7] * 3)
    x = x.astype(to_np_dtype(dtype))
    y = x[::-1].copy()
    a, b = Tensor(x).realize(), Tensor(y).realize()
    with np.errstate(all="ignore"):
        pairs = [
            (a.maximum(b), np.maximum(x, y)), (a.minimum(b), np.minimum(x, y)), (a < b, x < y),
            (a <= b, x <= y), (a == b, x == y), (a != b, x != y), (a.isnan(), np.isnan(x)),
            (a.isinf(), np.isinf(x)), (a / 0, x / x.dtype.type(0)), (a / b, x / y),
            ((a == a).where(a, float("-inf")), np.where(x == x, x, -np.inf)),
            (a * 0, x * x.dtype.type(0)), (a - a, x - x), (a / a, x / x),
            (a.cast(dtypes.bool), x.astype(bool)), (a.max(), x.max()), (a.trunc(), np.trunc(x)),
        ]  # fmt: skip
    Tensor.realize(*[found for found, _ in pairs])
    for found, expected in pairs:
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-3 if x.itemsize == 2 else 1e-6)
    np.testing.assert_array_equal(np.signbit((a * 0).numpy()[3:9]), np.signbit(x[3:9]))


@pytest.mark.parametrize("name", ["exp", "exp2", "log", "log2", "sin", "cos", "tanh", "sigmoid",
                                  "sqrt", "erf", "round"])  # fmt: skip
def test_functions_are_as_exact_as_elsewhere(name):
    """Where a compiler may rearrange sums, exp(1) becomes 4: its first step rounds to a whole
    number by adding and subtracting 25165824."""
    x = np.random.default_rng(0).uniform(-20, 20, 501).astype(np.float32)
    x = np.abs(x) if name in ("log", "log2", "sqrt") else x
    found = getattr(Tensor(x).realize(), name)().numpy()
    with Context(DEVICE="CPU"):
        expected = getattr(Tensor(x), name)().numpy()
    np.testing.assert_array_max_ulp(found, expected, 3)


def test_bools_and_bytes_in_memory():
    for size in (1, 3, 4, 5, 17):
        x = np.random.default_rng(size).integers(-3, 4, size).astype(np.int8)
        t = Tensor(x).realize()
        is_large = (t > 0).realize()
        np.testing.assert_array_equal(is_large.numpy(), x > 0)
        np.testing.assert_array_equal((is_large ^ (t < 2)).numpy(), (x > 0) ^ (x < 2))
        np.testing.assert_array_equal((is_large < (t < 2)).numpy(), (x > 0) < (x < 2))
        t.assign(t * 3).realize()
        np.testing.assert_array_equal(t.numpy(), x * 3)


# ---- copies, and what goes wrong -----------------------------------------------------------------


@pytest.mark.parametrize("other", ["CPU", "PYTHON"])
def test_copies_to_and_from_other_devices(other, device):
    x = numbers(5, 3)
    there = Tensor(x).realize().to(other)
    assert there.device == other
    np.testing.assert_array_equal((there + 1).numpy(), x + 1)
    np.testing.assert_array_equal(((there * 2).to(device) - 1).numpy(), x * 2 - 1)


def test_what_the_compiler_refuses_is_shown_with_its_source(device):
    head = {"CL": "__kernel void f()", "WEBGPU": "fn f()"}[device]
    with pytest.raises(CompileError, match="no_such_thing") as error:
        Device[device].compiler.compile(f"{head} {{ int x = no_such_thing; }}")
    assert f"1 | {head}" in str(error.value)
    assert (Tensor([1.0]) + 1).tolist() == [2.0]


def test_a_device_that_is_not_there_says_which_are(device):
    with pytest.raises(DeviceUnavailable, match=f"there is no .* number 99: {device}:0 is"):
        Tensor([1.0], device=f"{device}:99")
    assert Device.why_not(device) is None
