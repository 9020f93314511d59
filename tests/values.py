"""Generated values for tests: shapes, arrays with edge values, and how close is close enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.reference import evaluate
from tinyframe import Tensor, dtypes
from tinyframe.dtype import DType, bf16_to_f32, f32_to_bf16, to_np_dtype

FLOATS = (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)
INTS = dtypes.ints

# relative to the largest value that an error can come from, here taken as 1 or the value
TOLERANCE = {
    dtypes.float64: 1e-6,
    dtypes.float32: 2e-6,
    dtypes.float16: 2e-3,
    dtypes.bfloat16: 1.6e-2,
}

# where formulas turn: bounds of clips and rounding, and where exp overflows
TURNS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 3.0, -3.0, 6.0, 90.0, -90.0, 1e3, -1e3, 1e-20)
EXTREMES = (np.inf, -np.inf, np.nan, 1e30, -1e30)


def shapes(max_ndim: int = 3, max_size: int = 4, min_size: int = 0, min_ndim: int = 0):
    """Shapes, those with axes of size 0 and the shape () included."""
    sizes = st.integers(min_size, max_size)
    return st.lists(sizes, min_size=min_ndim, max_size=max_ndim).map(tuple)


def floats(edges: bool = True, bound: float = 10):
    """Numbers that most functions can take, and with `edges` those that break them.

    Gradients are compared without them: beside inf and NaN they are a matter of how the terms of
    a formula are put together, in PyTorch too.
    """
    ordinary = st.floats(-bound, bound, width=16)
    return st.one_of(ordinary, st.sampled_from(TURNS + EXTREMES if edges else TURNS))


def elements(dtype: DType, edges: bool = True):
    """Values of a dtype; of ints those at both ends too, which overflow."""
    if dtype is dtypes.bool:
        return st.booleans()
    if dtypes.is_float(dtype):
        return floats(edges)
    low, high = int(dtype.min), int(dtype.max)
    near_zero = st.integers(max(low, -9), min(high, 9))
    if not edges:
        return near_zero
    return st.one_of(near_zero, st.integers(low, high), st.sampled_from((low, high, 0)))


@st.composite
def arrays(
    draw: Any,
    dtype: DType = dtypes.float32,
    shape: Any = None,
    edges: bool = True,
    values: Any = None,
    **shape_options: int,
) -> np.ndarray:
    """An array of `dtype` (bfloat16 as float32, rounded), of a generated or given shape."""
    if shape is None:
        shape = draw(shapes(**shape_options))
    elif not isinstance(shape, tuple):
        shape = draw(shape)
    count = int(np.prod(shape))
    values = elements(dtype, edges) if values is None else values
    flat = draw(st.lists(values, min_size=count, max_size=count))
    return array_of(flat, dtype).reshape(shape)


def array_of(flat: Any, dtype: DType) -> np.ndarray:
    with np.errstate(all="ignore"):
        if dtype is dtypes.bfloat16:
            return bf16_to_f32(f32_to_bf16(np.array(flat, np.float32)))
        return np.array(flat, to_np_dtype(dtype))


def tensor(array: np.ndarray, dtype: DType | None = None, **options: Any) -> Tensor:
    """A Tensor of these values; `dtype` where NumPy has no name for it."""
    t = Tensor(np.asarray(array), **options)
    return t if dtype is None else t.cast(dtype)


def assert_close(
    found: np.ndarray, expected: Any, dtype: DType, scale: float = 1, what: str = ""
) -> None:
    """Equal for ints and bools; for floats up to `scale` times the rounding of the dtype. NaN is
    equal to NaN, and infinities have to agree."""
    expected = np.asarray(expected)
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, not {expected.shape}"
    if not dtypes.is_float(dtype):
        np.testing.assert_array_equal(found, expected, err_msg=what)
        return
    tolerance = TOLERANCE[dtype] * scale
    with np.errstate(all="ignore"):
        expected = expected.astype(found.dtype) if expected.dtype.kind == "f" else expected
        np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64),
                                   rtol=tolerance, atol=tolerance, err_msg=what)  # fmt: skip


def check(
    t: Tensor, expected: Any, compiled: bool = False, scale: float = 1, what: str = ""
) -> None:
    """The graph of `t` means `expected`; with `compiled`, so does what the device computes."""
    check_all([(t, expected, scale, what)], compiled)


def check_all(rows: Sequence[tuple[Tensor, Any, float, str]], compiled: bool = False) -> None:
    """`check` of each (Tensor, what is expected, scale, what it is), all computed together."""
    for t, expected, scale, what in rows:
        assert_close(evaluate(t.uop), expected, t.dtype, scale, f"{what} (graph)")
    if compiled:
        found = computed(*[t for t, *_ in rows])
        for array, (t, expected, scale, what) in zip(found, rows, strict=True):
            assert_close(array, expected, t.dtype, scale, f"{what} (on {t.device})")


def computed(*tensors: Tensor) -> list[np.ndarray]:
    """What Tensors hold, computed together: what one of them shares with another is computed, and
    compiled, once."""
    Tensor.realize(*tensors)
    return [t.numpy() for t in tensors]


# One example in six is also compiled and run: a compiler takes a hundred times as long as NumPy.
sometimes = st.integers(0, 5).map(lambda n: n == 0)
