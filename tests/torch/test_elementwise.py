"""Elementwise functions and their gradients agree with PyTorch, edge values included."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.values import arrays, check, check_all, shapes, sometimes
from tinyframe import Tensor, dtypes
from tinyframe.dtype import to_np_dtype

F = torch.nn.functional
warnings.filterwarnings("ignore", message=".*non-writable.*")

# name: (ours, PyTorch's, how many times the dtype's rounding they may differ)
UNARY = {
    "neg": (lambda x: -x, lambda x: -x, 1),
    "abs": (Tensor.abs, torch.abs, 1),
    "sign": (Tensor.sign, lambda x: torch.where(x.isnan(), x.detach(), torch.sign(x)), 1),
    "square": (Tensor.square, torch.square, 1),
    "sqrt": (Tensor.sqrt, torch.sqrt, 1),
    "rsqrt": (Tensor.rsqrt, torch.rsqrt, 2),
    "reciprocal": (Tensor.reciprocal, torch.reciprocal, 1),
    "exp": (Tensor.exp, torch.exp, 8),
    "exp2": (Tensor.exp2, torch.exp2, 4),
    "log": (Tensor.log, torch.log, 2),
    "log2": (Tensor.log2, torch.log2, 2),
    "log10": (Tensor.log10, torch.log10, 2),
    "sin": (Tensor.sin, torch.sin, 2),
    "cos": (Tensor.cos, torch.cos, 2),
    "tan": (Tensor.tan, torch.tan, 400),
    "floor": (Tensor.floor, torch.floor, 1),
    "ceil": (Tensor.ceil, torch.ceil, 1),
    "trunc": (Tensor.trunc, torch.trunc, 1),
    "round": (Tensor.round, torch.round, 1),
    "relu": (Tensor.relu, F.relu, 1),
    "relu6": (Tensor.relu6, F.relu6, 1),
    "leaky_relu": (Tensor.leaky_relu, F.leaky_relu, 1),
    "elu": (Tensor.elu, F.elu, 4),
    "celu": (lambda x: x.celu(1.5), lambda x: F.celu(x, 1.5), 4),
    "selu": (Tensor.selu, F.selu, 4),
    "sigmoid": (Tensor.sigmoid, torch.sigmoid, 2),
    "hardsigmoid": (Tensor.hardsigmoid, F.hardsigmoid, 2),
    "logsigmoid": (Tensor.logsigmoid, F.logsigmoid, 2),
    "tanh": (Tensor.tanh, torch.tanh, 2),
    "silu": (Tensor.silu, F.silu, 2),
    "gelu tanh": (Tensor.gelu, lambda x: F.gelu(x, approximate="tanh"), 4),
    # F.gelu(inf) is NaN in some of PyTorch's vector code, so it is written out
    "gelu exact": (lambda x: x.gelu("none"), lambda x: 0.5 * x * (1 + torch.erf(x * 0.5**0.5)), 4),
    "quick_gelu": (Tensor.quick_gelu, lambda x: x * torch.sigmoid(1.702 * x), 4),
    "softplus": (Tensor.softplus, F.softplus, 2),
    "softplus 2": (lambda x: x.softplus(2.0), lambda x: F.softplus(x, 2.0), 2),
    "mish": (Tensor.mish, F.mish, 2),
    "softsign": (Tensor.softsign, F.softsign, 2),
    "hardswish": (Tensor.hardswish, F.hardswish, 2),
    "hardtanh": (Tensor.hardtanh, F.hardtanh, 1),
    "erf": (Tensor.erf, torch.erf, 2),
    "isnan": (Tensor.isnan, torch.isnan, 1),
    "isinf": (Tensor.isinf, torch.isinf, 1),
    "isfinite": (Tensor.isfinite, torch.isfinite, 1),
    "x ** 2": (lambda x: x**2, lambda x: x**2, 1),
    "x ** 3": (lambda x: x**3, lambda x: x**3, 2),
    "x ** 0": (lambda x: x**0, lambda x: x**0, 1),
    "x ** -1": (lambda x: x**-1, lambda x: x**-1, 2),
    "x ** 0.5": (lambda x: x**0.5, lambda x: x**0.5, 2),
    "x ** 2.5": (lambda x: x**2.5, lambda x: x**2.5, 8),
    "x ** -2": (lambda x: x**-2, lambda x: x**-2, 8),
    "2 ** x": (lambda x: 2.0**x, lambda x: 2.0**x, 8),
    "1 - x": (lambda x: 1 - x, lambda x: 1 - x, 1),
    "3 / x": (lambda x: 3 / x, lambda x: 3 / x, 1),
    "clip": (lambda x: x.clip(-1, 1.5), lambda x: x.clip(-1, 1.5), 1),
    "clip low": (lambda x: x.clip(min=0.5), lambda x: x.clip(min=0.5), 1),
}

BINARY = {
    "+": (lambda x, y: x + y, lambda x, y: x + y, 1),
    "-": (lambda x, y: x - y, lambda x, y: x - y, 1),
    "*": (lambda x, y: x * y, lambda x, y: x * y, 1),
    "/": (lambda x, y: x / y, lambda x, y: x / y, 1),
    "**": (lambda x, y: x**y, lambda x, y: x**y, 8),
    "maximum": (Tensor.maximum, torch.maximum, 1),
    "minimum": (Tensor.minimum, torch.minimum, 1),
    "==": (lambda x, y: x == y, lambda x, y: x == y, 1),
    "!=": (lambda x, y: x != y, lambda x, y: x != y, 1),
    "<": (lambda x, y: x < y, lambda x, y: x < y, 1),
    ">": (lambda x, y: x > y, lambda x, y: x > y, 1),
    "<=": (lambda x, y: x <= y, lambda x, y: x <= y, 1),
    ">=": (lambda x, y: x >= y, lambda x, y: x >= y, 1),
    "where": (lambda x, y: (x > 0).where(x, y), lambda x, y: torch.where(x > 0, x, y), 1),
    "lerp": (lambda x, y: x.lerp(y, 0.25), lambda x, y: x + (y - x) * 0.25, 1),
    "isclose": (lambda x, y: x.isclose(y), lambda x, y: x.isclose(y), 1),
    "logaddexp": (Tensor.logaddexp, torch.logaddexp, 4),
}


def assert_agree(
    ours, theirs, inputs: list[np.ndarray], scale: float, compiled: bool, what: str
) -> None:
    """The results are those of PyTorch."""
    out = ours(*[Tensor(a) for a in inputs])
    check(out, theirs(*[torch.tensor(a) for a in inputs]).numpy(), compiled, scale, what)


def assert_gradients_agree(ours, theirs, inputs, scale: float, compiled: bool, what: str) -> None:
    """The gradients of a weighted sum of the results are those of PyTorch."""
    mine = [Tensor(a, requires_grad=True) for a in inputs]
    other = [torch.tensor(a, requires_grad=True) for a in inputs]
    out, expected = ours(*mine), theirs(*other)
    weights = np.linspace(0.5, 1.5, out.numel(), dtype=np.float32).reshape(out.shape)
    grads = out.gradient(*mine, gradient=Tensor(weights))
    expected.backward(torch.tensor(weights))
    what = f"gradient of {what}"
    rows = [(g, t.grad.numpy(), 4 * scale, what) for g, t in zip(grads, other, strict=True)]
    check_all(rows, compiled)


@pytest.mark.parametrize("name", UNARY)
@given(x=arrays(max_ndim=2), compiled=sometimes)
def test_unary_function(name, x, compiled):
    ours, theirs, scale = UNARY[name]
    assert_agree(ours, theirs, [x], scale, compiled, f"{name} of {x.tolist()}")


@pytest.mark.parametrize("name", [name for name in UNARY if not name.startswith("is")])
@given(x=arrays(max_ndim=2, edges=False), compiled=sometimes)
def test_gradient_of_unary_function(name, x, compiled):
    ours, theirs, scale = UNARY[name]
    assert_gradients_agree(ours, theirs, [x], scale, compiled, f"{name} of {x.tolist()}")


@st.composite
def broadcastable(draw, edges):
    whole = draw(shapes(max_ndim=3, max_size=3))
    parts = []
    for _ in range(2):
        kept = [size if draw(st.booleans()) or size == 0 else 1 for size in whole]
        parts.append(tuple(kept[draw(st.integers(0, len(kept))) :]))
    return [draw(arrays(shape=part, edges=edges)) for part in parts]


@pytest.mark.parametrize("name", BINARY)
@given(inputs=broadcastable(edges=True), compiled=sometimes)
def test_binary_function_with_broadcasting(name, inputs, compiled):
    ours, theirs, scale = BINARY[name]
    assert_agree(ours, theirs, inputs, scale, compiled, f"{name} of {[a.tolist() for a in inputs]}")


@pytest.mark.parametrize("name", [name for name in BINARY if name[0] not in "=!<>i"])
@given(inputs=broadcastable(edges=False), compiled=sometimes)
def test_gradient_of_binary_function_with_broadcasting(name, inputs, compiled):
    ours, theirs, scale = BINARY[name]
    assert_gradients_agree(ours, theirs, inputs, scale, compiled,
                      f"{name} of {[a.tolist() for a in inputs]}")  # fmt: skip


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16, dtypes.float64])
@pytest.mark.parametrize(
    "name", ["exp", "log", "sigmoid", "tanh", "gelu tanh", "silu", "sqrt", "erf"]
)
@given(x=arrays(max_ndim=1, values=st.floats(-8, 8, width=16)))
def test_unary_function_in_other_floats(name, dtype, x):
    ours, theirs, scale = UNARY[name]
    other = torch.tensor(x).to(getattr(torch, dtype.name if dtype.name != "__bf16" else "bfloat16"))
    out = ours(Tensor(x).cast(dtype))
    assert out.dtype is dtype
    check(out, theirs(other).double().numpy().astype(np.float32), scale=scale)


@pytest.mark.parametrize("source", ["float32", "float64", "float16"])
@pytest.mark.parametrize("target", [d for d in dtypes.all if not dtypes.is_float(d)], ids=repr)
def test_a_float_as_an_int(target, source):
    """PyTorch on x86 casts a uint32 that does not fit in two ways, one by one and in vectors."""
    edges = [0.5, -0.5, -1.9, 300.7, -129.5, 7e4, -7e4, 2.0**31, 3e9, -(2.0**31), -1.0]
    beyond = [-3e9, 1e10, -1e10, 2.0**32, 2.0**63, 1.7e19, 2.0**64, 1e30, -(2.0**63), -1e30,
              np.inf, -np.inf, np.nan]  # fmt: skip
    x = np.array(edges + (beyond if target is not dtypes.uint32 else []))
    with np.errstate(over="ignore"):
        x = x.astype(source)
    if target is dtypes.uint32:
        x = x[np.isfinite(x)]
    theirs = torch.tensor(x).to(getattr(torch, to_np_dtype(target).name))
    np.testing.assert_array_equal(Tensor(x).cast(target).numpy(), theirs.numpy())
