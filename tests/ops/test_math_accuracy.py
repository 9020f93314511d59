"""Functions of floats on the default device: errors in units in the last place, special values.

The reference is long double where it is wider than the dtype (for float32 double would do).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.elementwise import UNARY, ours
from tests.ulp import bit_patterns, ulps
from tinyframe import Context, Tensor, dtypes

_erf = np.vectorize(math.erf, otypes=[np.longdouble])
FLOATS = [np.float32, np.float64]


def numbers(dtype: type) -> np.ndarray:
    random = np.random.default_rng(1)
    limit = 1100 if dtype is np.float64 else 160
    spread = random.uniform(-limit, limit, 1 << 14)
    small = random.uniform(-6, 6, 1 << 14)
    around_1 = 1 + random.normal(size=4000) * 10.0 ** -random.uniform(0, 9, 4000)
    parts = [bit_patterns(dtype, 1 << 14), spread, small, around_1,
             np.arange(-500, 500) * math.pi / 4]  # fmt: skip
    return np.concatenate([np.asarray(p).astype(dtype) for p in parts])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", [name for name, op in UNARY.items() if op.ulps is not None])
def test_function_is_right_to_the_last_places(name, dtype):
    limit, reference = UNARY[name].ulps, _erf if name == "erf" else UNARY[name].numpy
    values = numbers(dtype)
    with np.errstate(all="ignore"):
        exact = reference(values.astype(np.longdouble))
    errors = ulps(ours(name)(Tensor(values)).numpy(), exact)
    # where the reference is no more precise than the dtype, it has an error of its own
    if dtype is np.float64 and (name == "erf" or np.finfo(np.longdouble).nmant == 52):
        limit += 1
    assert errors.max() <= limit, values[errors.argmax()]


@pytest.mark.parametrize("dtype", FLOATS)
def test_power_is_right_to_the_last_places(dtype):
    random = np.random.default_rng(2)
    largest = 1000 if dtype is np.float64 else 126
    base = np.exp2(random.uniform(-largest, largest, 1 << 14))
    base = np.concatenate([base, 1 + random.normal(size=1 << 14) * 1e-4]).astype(dtype)
    with np.errstate(divide="ignore"):
        exponent = random.uniform(-1.1, 1.1, base.size) * largest / np.log2(base)
    edges = np.array([0, 1, 0.5, 1 / 3, 2, 3, 2.0**24, 2.0**24 + 2, np.inf, np.nan, 1e-40], dtype)
    edges = np.concatenate([edges, -edges])
    x, y = (a.ravel() for a in np.meshgrid(edges, edges))
    x, y = np.concatenate([base, x]), np.concatenate([exponent.astype(dtype), y])
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.longdouble), y.astype(np.longdouble))
    errors = ulps((Tensor(x) ** Tensor(y)).numpy(), exact)
    own = 1 if np.finfo(np.longdouble).nmant == 52 else 0
    assert errors.max() <= 2 + own, (x[errors.argmax()], y[errors.argmax()])


@pytest.mark.parametrize("dtype", FLOATS)
def test_sine_of_numbers_almost_a_multiple_of_pi(dtype):
    # those closest to a multiple of pi or pi/2, found by its continued fraction or by trying all
    hardest = [float.fromhex(text) for text in (
        "0x1.f37c8ap96", "0x1.47d0fep35", "0x1.f9cbe2p8", "0x1.32ede2p86",
        "0x1.6ac5b262ca1ffp849")] + [1e22, math.pi, 2**22 * math.pi]  # fmt: skip
    with np.errstate(over="ignore"):
        values = np.array(hardest, np.float64).astype(dtype)
    values = values[np.isfinite(values)]
    exact = np.array([math.sin(v) for v in values.tolist()])
    assert ulps(Tensor(values).sin().numpy(), exact.astype(np.longdouble)).max() <= 1.5


# *** gradients ***

EXTREMES = np.array([0, 1e-30, 1e-6, 0.3, 0.55, 0.999, 1, 3, 4.5, 30, 90, 1e4, 1e30, np.inf],
                    np.float32)  # fmt: skip


@pytest.mark.parametrize(("function", "derivative"), [
    (Tensor.tanh, lambda x: 1 / np.cosh(x) ** 2),
    (Tensor.erf, lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x)),
    (Tensor.expm1, np.exp),
    (Tensor.log1p, lambda x: 1 / (1 + x)),
], ids=["tanh", "erf", "expm1", "log1p"])  # fmt: skip
def test_gradient_is_right_and_finite_where_the_derivative_is(function, derivative):
    values = np.concatenate([EXTREMES, -EXTREMES])
    if function is Tensor.log1p:
        values = values[values > -1]
    x = Tensor(values, requires_grad=True)
    function(x).sum().backward()
    with np.errstate(over="ignore"):
        expected = derivative(values.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=3e-6, atol=3e-7)


# *** integers ***


@given(st.sampled_from(["int16", "int32", "int64", "uint32", "uint64"]), st.data())
def test_floor_division_never_stops_the_process(name, data):
    x, y = (data.draw(arrays(name, 16)) for _ in range(2))
    info = np.iinfo(name)
    x = np.append(x, np.array([info.min, info.max, info.min, info.min], name))
    y = np.append(y, np.array([info.max, 0, 0, -1 if info.min else 1], name))
    with np.errstate(all="ignore"):
        quotient, rest = x // y, np.where(y == 0, 0, x % np.where(y == 0, 1, y))
    assert np.array_equal((Tensor(x) // Tensor(y)).numpy(), quotient)
    assert np.array_equal((Tensor(x) % Tensor(y)).numpy(), rest)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rounding_to_half_is_to_nearest_even(dtype):
    halves = np.arange(0x7C01).astype(np.uint16).view(np.float16).astype(dtype)
    halves[-1] = 65536
    middle = halves[1:] / 2 + halves[:-1] / 2
    values = np.concatenate([middle, np.nextafter(middle, 0), np.nextafter(middle, dtype(np.inf))])
    with np.errstate(over="ignore"):
        expected = values.astype(np.float16)
    assert np.array_equal(Tensor(values).half().numpy(), expected)


# ---- the rest of a division ----------------------------------------------------------------------


def pairs(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of every size, numbers near each other, and every pair of special ones."""
    random = np.random.default_rng(2)
    spread = bit_patterns(dtype, 1 << 14)
    near = random.normal(size=(2, 1 << 13)).astype(dtype)
    multiples = np.ldexp(random.integers(1, 4096, (2, 1 << 13)).astype(dtype), -6).astype(dtype)
    special = np.concatenate([spread[-80:], np.array([5.5, 0.1, -0.1, 1e30], dtype)])
    both = [np.stack([spread, random.permutation(spread)]), near, multiples,
            np.stack(np.meshgrid(special, special)).reshape(2, -1)]  # fmt: skip
    x, y = np.concatenate(both, axis=1)
    return x, y


RESTS = {
    "fmod": (Tensor.fmod, np.fmod),
    "%": (Tensor.mod, np.remainder),
    "//": (Tensor.floordiv, np.floor_divide),
}


@pytest.mark.parametrize("noopt", [0, 1])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", RESTS)
def test_the_rest_of_a_division_is_that_of_numpy_to_the_last_bit(name, dtype, noopt):
    function, reference = RESTS[name]
    x, y = pairs(dtype)
    with np.errstate(all="ignore"):
        expected = reference(x, y)
    with Context(NOOPT=noopt):
        got = function(Tensor(x), Tensor(y)).numpy()
    np.testing.assert_array_equal(got, expected)
    assert ((np.signbit(got) == np.signbit(expected)) | np.isnan(expected)).all()


@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
def test_the_rest_of_a_division_as_a_reader_would_write_it(device):
    # 5.5 is a little more than 54 times the float32 next to 0.1, and the rest is almost all of it
    x, y = Tensor([5.5, 5.5, -5.5, 1e30], device=device), Tensor([0.1, -0.1, 0.1, 0.1])
    y = y.to(device)
    a, b = x.numpy(), y.numpy()
    np.testing.assert_array_equal((x % y).numpy(), a % b)
    np.testing.assert_array_equal(x.fmod(y).numpy(), np.fmod(a, b))
    np.testing.assert_array_equal((x // y).numpy(), a // b)


@pytest.mark.parametrize("dtype", [dtypes.half, dtypes.bfloat16])
def test_the_rest_of_a_division_of_narrow_floats_is_exact(dtype):
    a, b = np.random.default_rng(0).normal(size=(2, 4096)).astype(np.float32)
    x, y = Tensor(a * 1000).cast(dtype), Tensor(b).cast(dtype)
    wide = [t.cast(dtypes.float32).numpy() for t in (x, y)]
    np.testing.assert_array_equal(x.fmod(y).cast(dtypes.float32).numpy(), np.fmod(*wide))


def test_constants_have_the_same_rest():
    assert (Tensor(5.5, dtype="float64") % 0.1).item() == 5.5 % 0.1
    assert (Tensor(-1.0, dtype="float64") % 1e300).item() == -1.0 % 1e300
    assert (Tensor(1.0, dtype="float64") // 0.1).item() == 1.0 // 0.1
