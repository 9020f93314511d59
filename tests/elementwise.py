"""The elementwise methods of Tensor, a row each: what NumPy and PyTorch have for them.

tests/ops compares with NumPy in float64, in every dtype; tests/torch with PyTorch where formulas
break, and slopes. PyTorch is looked up by name, since a run without it reads this table too.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.values import FLOATS
from tinyframe import Tensor, dtypes
from tinyframe.dtype import DType

ALL = dtypes.all
INTS, BITS = dtypes.ints, (*dtypes.ints, dtypes.bool)


class Op(NamedTuple):
    """One method.

    numpy: the same for arrays of float64 (or of the dtype, where it is no function of floats).
    torch: its name there, where that is not the row's, or a formula. scale: how many times a
    dtype's rounding it may be off. ulps: the same in last places, for every number there is.
    between: where it is compared with NumPy, and differentiated. gradient: whether it has one.
    call: what is called, in place of the method of this name.
    """

    numpy: Callable[..., Any]
    scale: float = 1
    torch: str | Callable[..., Any] = ""
    between: tuple[float, float] = (-9, 9)
    ulps: float | None = None
    gradient: bool = True
    call: Callable[..., Any] | None = None
    dtypes: tuple[DType, ...] = FLOATS


def ours(name: str) -> Callable[..., Any]:
    """What tinyframe has for a row."""
    op = UNARY.get(name) or BINARY[name]
    return op.call or getattr(Tensor, name)


def theirs(name: str) -> Callable[..., Any]:
    """What PyTorch has for a row."""
    import torch

    said = (UNARY.get(name) or BINARY[name]).torch or name
    if callable(said):
        return said
    return getattr(torch, said, None) or getattr(torch.nn.functional, said)


# ---- of one number ------------------------------------------------------------------------------

erf = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(x, 0)


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3)))


def exact_gelu_of_torch(x):
    """F.gelu(inf) is NaN in some of PyTorch's vector code."""
    return 0.5 * x * (1 + (x * 0.5**0.5).erf())


def sign_of_torch(x):
    """torch.sign(nan) is 0."""
    return x.detach().where(x.isnan(), x.sign())


def power_row(exponent: float, scale: float) -> Op:
    return Op(lambda x: x**exponent, scale, lambda x: x**exponent, call=lambda x: x**exponent)


WITHIN, POSITIVE = (-0.99, 0.99), (0.05, 9)
UNARY = {
    "abs": Op(np.abs),
    "neg": Op(np.negative),
    "square": Op(np.square),
    "sign": Op(np.sign, torch=sign_of_torch),
    "floor": Op(np.floor),
    "ceil": Op(np.ceil),
    "trunc": Op(np.trunc, ulps=0),
    "round": Op(np.round),
    "sqrt": Op(np.sqrt, ulps=0.5),
    "rsqrt": Op(lambda x: 1 / np.sqrt(x), 2),
    "reciprocal": Op(np.reciprocal, ulps=0.5),
    "exp": Op(np.exp, 8, ulps=2.0),
    "exp2": Op(np.exp2, 4, ulps=1.5),
    "expm1": Op(np.expm1, 8, ulps=3.1),  # 3.0 where a multiply-add is rounded once
    "log": Op(np.log, 2),
    "log2": Op(np.log2, 2, ulps=1.2),
    "log10": Op(np.log10, 2),
    "log1p": Op(np.log1p, 2, ulps=2.5, between=(-0.9, 9)),
    "sin": Op(np.sin, 2, ulps=0.8),
    "cos": Op(np.cos, 2, ulps=0.8),
    "tan": Op(np.tan, 400, ulps=2.0),
    "sinh": Op(np.sinh, 8),
    "cosh": Op(np.cosh, 8),
    "tanh": Op(np.tanh, 2, ulps=2.0),
    "asin": Op(np.arcsin, 4, between=WITHIN),
    "acos": Op(np.arccos, 4, between=WITHIN),
    "atan": Op(np.arctan, 2),
    "asinh": Op(np.arcsinh, 2),
    "acosh": Op(np.arccosh, 4, between=(1.05, 9)),
    "atanh": Op(np.arctanh, 4, between=WITHIN),
    "erf": Op(erf, 2, ulps=2.0),
    "sigmoid": Op(sigmoid, 2),
    "logsigmoid": Op(lambda x: -softplus(-x), 2),
    "silu": Op(lambda x: x * sigmoid(x), 2),
    "quick_gelu": Op(lambda x: x * sigmoid(1.702 * x), 4, lambda x: x * (1.702 * x).sigmoid()),
    "gelu": Op(gelu_tanh, 4, lambda x: _functional().gelu(x, approximate="tanh")),
    "gelu exact": Op(lambda x: x / 2 * (1 + erf(x / 2**0.5)), 4, exact_gelu_of_torch,
                     call=lambda x: x.gelu("none")),
    "softplus": Op(softplus, 2),
    "softplus 2": Op(lambda x: softplus(2 * x) / 2, 2, lambda x: _functional().softplus(x, 2.0),
                     call=lambda x: x.softplus(2.0)),
    "mish": Op(lambda x: x * np.tanh(softplus(x)), 2),
    "softsign": Op(lambda x: x / (1 + abs(x)), 2),
    "elu": Op(elu, 4),
    "celu": Op(elu, 4),
    "celu 2": Op(lambda x: 2 * elu(x / 2), 4, lambda x: _functional().celu(x, 2.0),
                 call=lambda x: x.celu(2.0)),
    "selu": Op(lambda x: 1.0507009873554805 * elu(x, 1.6732632423543772), 4),
    "relu": Op(lambda x: np.maximum(x, 0)),
    "relu6": Op(lambda x: np.clip(x, 0, 6)),
    "leaky_relu": Op(lambda x: np.where(x > 0, x, 0.01 * x)),
    "leaky_relu 0.1": Op(lambda x: np.where(x > 0, x, 0.1 * x),
                         torch=lambda x: _functional().leaky_relu(x, 0.1),
                         call=lambda x: x.leaky_relu(0.1)),
    "hardtanh": Op(lambda x: np.clip(x, -1, 1)),
    "hardsigmoid": Op(lambda x: np.clip(x / 6 + 0.5, 0, 1), 2),
    "hardswish": Op(lambda x: x * np.clip(x + 3, 0, 6) / 6, 2),
    "clip": Op(lambda x: np.clip(x, -1, 2), torch=lambda x: x.clip(-1, 2),
               call=lambda x: x.clip(-1, 2)),
    "clip low": Op(lambda x: np.maximum(x, 0.5), torch=lambda x: x.clip(min=0.5),
                   call=lambda x: x.clip(min=0.5)),
    "1 - x": Op(lambda x: 1 - x, torch=lambda x: 1 - x, call=lambda x: 1 - x),
    "3 / x": Op(lambda x: 3 / x, torch=lambda x: 3 / x, call=lambda x: 3 / x),
    "2 ** x": Op(np.exp2, 8, lambda x: 2.0**x, call=lambda x: 2.0**x),
    "x ** 0": power_row(0, 1),
    "x ** 2": power_row(2, 1),
    "x ** 3": power_row(3, 2),
    "x ** -1": power_row(-1, 2),
    "x ** -2": power_row(-2, 8),
    "x ** 0.5": power_row(0.5, 2),
    "x ** 2.5": power_row(2.5, 8),
    "isnan": Op(np.isnan, gradient=False),
    "isinf": Op(np.isinf, gradient=False),
    "isfinite": Op(np.isfinite, gradient=False),
    "signbit": Op(np.signbit, gradient=False),
    "logical_not": Op(np.logical_not, gradient=False),
}  # fmt: skip

# a second name -> the first
ALIASES = {
    "negative": "neg", "swish": "silu", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
}  # fmt: skip

# ---- of two -------------------------------------------------------------------------------------


def _functional() -> Any:
    import torch

    return torch.nn.functional


def truncated_quotient(x, y):
    floored = np.floor_divide(x, y)
    return floored + ((np.mod(x, y) != 0) & ((x < 0) != (y < 0))).astype(x.dtype)


def either_or_sum(x, y):
    return x | y if x.dtype == bool else x + y


NUMBERS = (*dtypes.ints, *FLOATS)
BINARY = {
    "add": Op(either_or_sum, call=operator.add, dtypes=ALL),
    "sub": Op(np.subtract, call=operator.sub, dtypes=NUMBERS),
    "mul": Op(np.multiply, call=operator.mul, dtypes=ALL),
    "div": Op(np.divide, call=operator.truediv),
    "pow": Op(np.power, 8, call=operator.pow, dtypes=()),
    "maximum": Op(np.maximum, dtypes=ALL),
    "minimum": Op(np.minimum, dtypes=ALL),
    "floordiv": Op(np.floor_divide, torch="floor_divide", call=operator.floordiv, dtypes=INTS,
                   gradient=False),
    "mod": Op(np.mod, torch="remainder", call=operator.mod, dtypes=INTS),
    "idiv": Op(truncated_quotient, torch=lambda x, y: x.div(y, rounding_mode="trunc"), dtypes=INTS,
               gradient=False),
    "fmod": Op(np.fmod, dtypes=INTS),
    "eq": Op(np.equal, call=operator.eq, dtypes=ALL, gradient=False),
    "ne": Op(np.not_equal, call=operator.ne, dtypes=ALL, gradient=False),
    "lt": Op(np.less, call=operator.lt, dtypes=ALL, gradient=False),
    "gt": Op(np.greater, call=operator.gt, dtypes=ALL, gradient=False),
    "le": Op(np.less_equal, call=operator.le, dtypes=ALL, gradient=False),
    "ge": Op(np.greater_equal, call=operator.ge, dtypes=ALL, gradient=False),
    "bitwise_and": Op(np.bitwise_and, call=operator.and_, dtypes=BITS, gradient=False),
    "bitwise_or": Op(np.bitwise_or, call=operator.or_, dtypes=BITS, gradient=False),
    "bitwise_xor": Op(np.bitwise_xor, call=operator.xor, dtypes=BITS, gradient=False),
    "logical_and": Op(np.logical_and, dtypes=ALL, gradient=False),
    "logical_or": Op(np.logical_or, dtypes=ALL, gradient=False),
    "logical_xor": Op(np.logical_xor, dtypes=ALL, gradient=False),
    "remainder": Op(np.mod, dtypes=INTS),
    "floor_divide": Op(np.floor_divide, dtypes=INTS, gradient=False),
    "hypot": Op(np.hypot, 4),
    "copysign": Op(np.copysign),
    "logaddexp": Op(np.logaddexp, 4),
    "isclose": Op(np.isclose, gradient=False),
    "x > 0 or y": Op(lambda x, y: np.where(x > 0, x, y), torch=lambda x, y: x.where(x > 0, y),
                call=lambda x, y: (x > 0).where(x, y)),
    "lerp 0.25": Op(lambda x, y: x + (y - x) * 0.25, 1, lambda x, y: x + (y - x) * 0.25,
               call=lambda x, y: x.lerp(y, 0.25)),
}  # fmt: skip
DIVISIONS = {"fmod", "mod", "remainder", "floordiv", "floor_divide", "idiv"}
