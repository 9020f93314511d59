"""Elementwise functions agree with PyTorch where formulas break, and their gradients do."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.against_torch import rows_of
from tests.elementwise import BINARY, DIVISIONS, UNARY, ours, theirs
from tests.values import EXTREMES, TURNS, arrays, check_all, shapes, sometimes

warnings.filterwarnings("ignore", message=".*non-writable.*")

# beside numbers of which the formulas are made: denormals, and what overflows when it is squared
EDGES = np.array([*TURNS, *EXTREMES, 1e-40, -1e-40, 3.4e38, 1e9, -1e9, 0.4142, 2.4142, 1e18])
SPREAD = np.random.default_rng(1).uniform(-1, 1, 40)


@pytest.mark.parametrize("name", UNARY)
def test_function_of_one_number(name):
    op, rows = UNARY[name], []
    low, high = op.between
    for dtype in (np.float32, np.float64):
        x = (SPREAD + 1) / 2 * (high - low) + low
        if dtype is np.float32:  # of float64, rounding decides on which side of a turn 3.0 is
            x = np.concatenate([x, EDGES[np.isfinite(EDGES)]])
        inside = x[(low <= x) & (x <= high)].astype(dtype)
        what = f"{name} of {np.dtype(dtype)}"
        with np.errstate(over="ignore"):
            edges = EDGES.astype(dtype)
        slopes = [inside] if op.gradient else []
        rows += rows_of(ours(name), theirs(name), [edges], slopes, op.scale, what)
    check_all(rows, compiled=True)


@pytest.mark.parametrize("name", [name for name in BINARY if "bitwise" not in name])
def test_function_of_two_numbers(name):
    op, edges = BINARY[name], EDGES.astype(np.float32)
    x, y = (a.ravel() for a in np.meshgrid(edges, edges))
    if name in DIVISIONS:
        # A quotient beyond float32's whole numbers is rounded, and with it what is left; and the
        # floor of inf / 2 is inf here, while PyTorch, which divides what fmod leaves, has NaN.
        with np.errstate(all="ignore"):
            fits = ~(abs(x / y) >= 2**23) & ~np.isinf(x)
        x, y = x[fits], y[fits]
    small = np.random.default_rng(0).normal(size=(2, 30)).astype(np.float32) * 3
    slopes = [abs(small[0]) + 0.1 if name == "pow" else small[0], small[1]]
    slopes = slopes if op.gradient else []
    rows = rows_of(ours(name), theirs(name), [x, y], slopes, op.scale, name)
    check_all(rows, compiled=True)


@st.composite
def broadcastable(draw):
    whole = draw(shapes(max_ndim=3, max_size=3))
    parts = []
    for _ in range(2):
        kept = [size if draw(st.booleans()) or size == 0 else 1 for size in whole]
        parts.append(tuple(kept[draw(st.integers(0, len(kept))) :]))
    return [draw(arrays(shape=part, edges=False)) for part in parts]


@given(
    name=st.sampled_from(["add", "sub", "mul", "div", "pow", "maximum", "x > 0 or y"]),
    inputs=broadcastable(),
    compiled=sometimes,
)
@settings(max_examples=100)
def test_gradients_of_broadcast_operands(name, inputs, compiled):
    what = f"{name} of {[a.tolist() for a in inputs]}"
    rows = rows_of(ours(name), theirs(name), inputs, inputs, BINARY[name].scale, what)
    check_all(rows, compiled)
