"""Functions of floats on the default device: errors in units in the last place, special values.

The reference is long double where it is wider than the dtype (for float32 double would do).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.elementwise import UNARY, ours
from tests.ulp import bit_patterns, ulps
from tinyframe import Tensor, dtypes

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


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", RESTS)
def test_the_rest_of_a_division_is_that_of_numpy_to_the_last_bit(name, dtype):
    function, reference = RESTS[name]
    x, y = pairs(dtype)
    with np.errstate(all="ignore"):
        expected = reference(x, y)
    got = function(Tensor(x), Tensor(y)).numpy()
    np.testing.assert_array_equal(got, expected)
    assert ((np.signbit(got) == np.signbit(expected)) | np.isnan(expected)).all()


@pytest.mark.parametrize("dtype", [dtypes.half, dtypes.bfloat16])
def test_the_rest_of_a_division_of_narrow_floats_is_exact(dtype):
    a, b = np.random.default_rng(0).normal(size=(2, 4096)).astype(np.float32)
    x, y = Tensor(a * 1000).cast(dtype), Tensor(b).cast(dtype)
    wide = [t.cast(dtypes.float32).numpy() for t in (x, y)]
    np.testing.assert_array_equal(x.fmod(y).cast(dtypes.float32).numpy(), np.fmod(*wide))
