"""Elementwise functions agree with PyTorch where formulas break, and their gradients do.

Formulas break at zeros of both signs, the ends of a range, infinities and NaN; second gradients do
so first. There, the reference is PyTorch in float64.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.against_torch import rows_of
from tests.elementwise import BINARY, DIVISIONS, UNARY, ours, theirs
from tests.reference import evaluate
from tests.values import EXTREMES, TURNS, arrays, check_all, shapes, sometimes
from tinyframe import Context, Tensor

warnings.filterwarnings("ignore", message=".*non-writable.*")

# beside numbers of which the formulas are made: denormals, and what overflows when it is squared
EDGES = np.array([*TURNS, *EXTREMES, 1e-40, -1e-40, 3.4e38, 1e9, -1e9, 0.4142, 2.4142, 1e18])
SPREAD = np.random.default_rng(1).uniform(-1, 1, 40)


@pytest.mark.parametrize("name", UNARY)
def test_function_of_one_number(name):
    op = UNARY[name]
    low, high = op.between
    for dtype in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            x = np.array([*EDGES, *(SPREAD + 1) / 2 * (high - low) + low], dtype)
        inside = (low <= x) & (x <= high)
        if dtype is np.float64:  # here rounding decides on which side of a turn 3.0 is
            inside[: EDGES.size] = False
        slopes, what = inside if op.gradient else False, f"{name} of {np.dtype(dtype)}"
        rows = rows_of(ours(name), theirs(name), [x], op.scale, what, slopes)
        # of float64, what these are made of is compiled: tests/every_op.py and ops/
        check_all(rows, compiled=dtype is np.float32)


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
    bases = abs(small[0]) + 0.1 if name == "pow" else small[0]
    slopes = np.arange(x.size + 30) >= x.size if op.gradient else False
    points = np.append(x, bases), np.append(y, small[1])
    rows = rows_of(ours(name), theirs(name), points, op.scale, name, slopes)
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
    rows = rows_of(ours(name), theirs(name), inputs, BINARY[name].scale, what)
    check_all(rows, compiled)


# ---- values and gradients, first and second, where a formula may break ---------------------------

inf, nan = math.inf, math.nan
SIZES = [0.0, 1e-30, 1e-6, 0.5, 1.0, 2.0, 10.0, 50.0, 88.0, 89.0, 100.0, 1e4, 1e19, 1e38, inf]
BOTH_SIGNS = [*SIZES, *(-x for x in SIZES), nan]
FLOATS = [np.float32, np.float64]
TOLERANCES = {np.float32: (2e-5, 2e-7), np.float64: (2e-9, 2e-16)}  # relative, absolute


def derivatives(out: Any, inputs: Sequence[Any], gradient: Callable, second: bool) -> dict:
    """The value, its gradients by each input, and with `second` theirs."""
    found = {"value": out}
    for n, first in enumerate(gradient(out.sum(), inputs)):
        found[f"gradient {n}"] = first
        for k, other in enumerate(gradient(first.sum(), inputs) if second else ()):
            found[f"gradient {n} {k}"] = other
    return found


def torch_gradient(out: torch.Tensor, inputs: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
    found = torch.autograd.grad(out, inputs, create_graph=True, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)]


def assert_as_torch(
    ours: Callable, theirs: Callable, points: Sequence[tuple], dtype: type,
    second: bool = False, nan_is_open: bool = False,
) -> None:  # fmt: skip
    """nan_is_open: where PyTorch's gradient is NaN there may be a number, such as a limit."""
    columns = [np.array(column, dtype) for column in zip(*points, strict=True)]
    mine = [Tensor(c, requires_grad=True) for c in columns]
    other = [torch.tensor(c.astype(np.float64), requires_grad=True) for c in columns]
    found = derivatives(ours(*mine), mine, lambda out, xs: out.gradient(*xs), second)
    expected = derivatives(theirs(*other), other, torch_gradient, second)
    if dtype is np.float32:
        Tensor.realize(*found.values())
    relative, absolute = TOLERANCES[dtype]
    for what, reference in expected.items():
        got = found[what].numpy() if dtype is np.float32 else evaluate(found[what].uop)
        with np.errstate(over="ignore"):
            exact = reference.detach().numpy(force=True).astype(dtype)
        right = np.isclose(got, exact, rtol=relative, atol=absolute, equal_nan=True)
        if what == "value":
            right &= (got != 0) | (exact != 0) | (np.signbit(got) == np.signbit(exact))
        elif nan_is_open:
            right |= np.isnan(exact) & np.isfinite(got)
        wrong = [(what, points[n], got[n], exact[n]) for n in np.nonzero(~right)[0]]
        assert not wrong, wrong[:8]


def within(low: float, high: float) -> list[tuple[float]]:
    return [(x,) for x in BOTH_SIGNS if low <= x <= high or math.isnan(x)]


def pairs_of(*values: float) -> list[tuple[float, float]]:
    return list(itertools.product(values, values))


FINITE = within(-1e38, 1e38)
SMALL = 0.0, 1e-6, 0.5, 1.0, 3.0, 20.0, 200.0, 1e4, 1e15, inf
# in tests/elementwise.py: a name, where it is differentiated twice, and where once
TWICE = {
    **dict.fromkeys(("sinh", "cosh", "tanh", "expm1", "sigmoid"), within(-inf, inf)),
    **dict.fromkeys(("asinh", "erf", "softplus", "logsigmoid"), FINITE),
    "acosh": [(1.25,), (1.5,), (2.0,), (1e4,)],
    "atanh": [(0.0,), (-0.0,), (0.5,), (-0.5,), (0.999,), (nan,)],
    "atan": within(-1e4, 1e4), "log1p": within(-0.5, inf), "silu": within(-1e19, 1e19),
    "logaddexp": [*pairs_of(0.0, 1e-3, 0.5, 3.0, -0.5, -3.0, 10.0),
                  (-inf, 0.5), (0.5, -inf), (inf, 0.0), (0.0, inf)],
}  # fmt: skip
ONCE = {
    "acosh": [(1.0,)], "atanh": [(1.0,), (-1.0,)],
    **dict.fromkeys(("abs", "selu"), [(0.0,), (-0.0,), (2.0,), (-2.0,)]),
    **dict.fromkeys(("logaddexp", "hypot"), pairs_of(*SMALL, *(-x for x in SMALL), nan)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", TWICE)
def test_functions_and_both_their_derivatives(name, dtype):
    with np.errstate(over="ignore"):
        assert_as_torch(ours(name), theirs(name), TWICE[name], dtype, True, name == "logaddexp")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ONCE)
def test_functions_and_their_derivative(name, dtype):
    assert_as_torch(ours(name), theirs(name), ONCE[name], dtype, nan_is_open=name in BINARY)


@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
def test_the_inverse_of_the_magnitude_of_minus_zero_is_plus_infinity(device):
    x = Tensor([0.0, -0.0], device=device)
    assert (1 / x.abs()).tolist() == [inf, inf]


def test_logaddexp_of_equal_infinities_has_half_of_the_gradient_each():
    x, y = (Tensor([inf, -inf], requires_grad=True) for _ in range(2))
    z = x.logaddexp(y)
    assert z.tolist() == [inf, -inf]
    assert [g.tolist() for g in z.sum().gradient(x, y)] == [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(("size", "noopt"), [(2, 0), (128, 0), (129, 1), (300, 0)])
def test_logcumsumexp_twice_differentiated(size, noopt):
    # From 129 on it is done in blocks, and what is before the first of them is -inf.
    points = [(x,) for x in np.random.default_rng(0).normal(size=size)]
    with Context(NOOPT=noopt):
        assert_as_torch(
            lambda x: x.logcumsumexp().square(), lambda x: x.logcumsumexp(0).square(), points,
            np.float32, second=True,
        )  # fmt: skip


def test_logsumexp_of_nothing_but_minus_infinity_has_no_gradient():
    x = Tensor([[-inf, -inf], [-inf, 1.0], [0.0, 0.0]], requires_grad=True)
    total = x.logsumexp(-1)
    np.testing.assert_allclose(total.numpy(), [-inf, 1.0, math.log(2)], rtol=1e-6)
    (first,) = total.sum().gradient(x)
    (second,) = first.square().sum().gradient(x)
    Tensor.realize(first, second)
    np.testing.assert_allclose(first.numpy(), [[0, 0], [0, 1], [0.5, 0.5]], rtol=1e-6)
    assert np.isfinite(second.numpy()).all()


@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
@pytest.mark.parametrize("noopt", [0, 1])
def test_a_quotient_that_is_not_there_adds_nothing_to_a_sum_over_windows(device, noopt):
    # The gradient of 1/x from overlapping windows: places without a window have no x, and no 1/x.
    def windows(x):
        pairs = x.reshape(2, 2).sum(-1)
        return pairs.pad((1, 0), value=-inf).window(-1, 2).logsumexp(-1).square()

    with Context(NOOPT=noopt, DEVICE=device):
        assert_as_torch(
            windows, lambda x: x.reshape(2, 2).sum(-1).logcumsumexp(0).square(),
            [(0.5,), (0.25,), (1.0,), (-1.0,)], np.float32, second=True,
        )  # fmt: skip
