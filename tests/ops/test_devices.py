"""The same programs give the same numbers on every device, and on CPU without optimization.

What is right is said by `tests/reference.py`, which evaluates the graph itself with NumPy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy as np
import pytest

from tests import arm64_device, devices
from tests.kernels import numbers
from tests.reference import evaluate, rounded
from tests.values import assert_close, computed
from tinyframe import Context, Tensor, TinyJit, Variable, dtypes
from tinyframe.dtype import DType, to_np_dtype


def data(*shape: int, seed: int = 0, low: float = -2, high: float = 2) -> Tensor:
    random = np.random.default_rng(seed)
    return Tensor(random.uniform(low, high, shape).astype(np.float32))


def ints(*shape: int, dtype=dtypes.int32) -> Tensor:
    return Tensor(np.random.default_rng(1).integers(-50, 50, shape)).cast(dtype)


def gradients(function: Callable, *inputs: Tensor) -> Tensor:
    """The gradients by all inputs, one after another."""
    grads = function(*inputs).gradient(*inputs)
    return Tensor.cat(*[grad.flatten() for grad in grads])


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.transpose(-1, -2) / 4).softmax(-1) @ v


def layernorm(x: Tensor) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()


def adam(w: Tensor, g: Tensor) -> Tensor:
    m, v = g * 0.1, g * g * 0.001
    return w - 0.01 * (m / 0.1) / ((v / 0.001).sqrt() + 1e-8)


FUNCTIONS = ("exp", "log", "sin", "cos", "sqrt", "tanh", "sigmoid", "erf", "gelu")

PROGRAMS: dict[str, Callable[[], Tensor]] = {
    "elementwise": lambda: (data(5, 7) + data(7, seed=1) * 2).relu() - data(5, 1, seed=2),
    "functions": lambda: Tensor.stack(*[getattr(data(9, low=0.1), f)() for f in FUNCTIONS]),
    "quotients": lambda: Tensor.stack(ints(9) // 7, ints(9) % 7, ints(9) // -7, ints(9) % -7),
    "shifts": lambda: Tensor.stack(ints(9) << 2, ints(9) >> 1),
    "int8": lambda: ints(9, dtype=dtypes.int8) * 7 + 3,
    "uint8": lambda: ints(9, dtype=dtypes.uint8) * 7 // 3,
    "int64": lambda: ints(9, dtype=dtypes.int64) * 2**40 % 1001,
    "half": lambda: (data(4, 5).half() * 3).exp().sum(1),
    "bfloat16": lambda: (data(4, 5).bfloat16() * 3).sum(0),
    "double": lambda: data(4, 5).double().exp().sum(),
    "bool": lambda: (data(4, 5) > 0) & (data(4, 5, seed=1) > 0) | (data(4, 5, seed=2) == 0),
    "compare": lambda: (data(33) <= data(33, seed=1)).where(data(33), -1),
    "sum all": lambda: data(13, 17).sum(),
    "sum rows": lambda: data(13, 17).sum(1),
    "sum columns": lambda: data(13, 17).sum(0),
    "sum middle": lambda: data(3, 17, 5).sum(1),
    "max": lambda: data(13, 17).max(1),
    "min": lambda: data(13, 17).min(0),
    "prod": lambda: data(5, 4).prod(1),
    "mean and var": lambda: data(6, 20).var(1) + data(6, 20).mean(1),
    "argmax": lambda: data(6, 20).argmax(1) + data(6, 20).argmin(1),
    "any": lambda: (data(6, 3) > 1.5).any(1),
    "softmax": lambda: data(6, 20).softmax(),
    "log_softmax": lambda: data(6, 20).log_softmax(0),
    "layernorm": lambda: layernorm(data(4, 24)),
    "normalize": lambda: data(50) / data(50).sum(),
    "matmul": lambda: data(9, 17) @ data(17, 11, seed=1),
    "matmul 32": lambda: data(32, 32) @ data(32, 32, seed=1),
    "matmul batched": lambda: data(2, 5, 7) @ data(3, 1, 7, 4, seed=1),
    "matmul transposed": lambda: data(9, 8).T @ data(9, 7, seed=1),
    "matmul ints": lambda: ints(4, 5) @ ints(5, 3),
    "matmul half": lambda: data(4, 5).half() @ data(5, 6, seed=1).half(),
    "vector": lambda: data(40).dot(data(40, seed=1)),
    "mlp": lambda: (data(4, 8) @ data(8, 6, seed=1) + data(6, seed=2)).relu() @ data(6, 3, seed=3),
    "attention": lambda: attention(data(2, 6, 4), data(2, 6, 4, seed=1), data(2, 6, 4, seed=2)),
    "conv": lambda: data(2, 3, 7, 6).conv2d(data(4, 3, 3, 3, seed=1), padding=1, stride=2),
    "conv grouped": lambda: data(1, 4, 6, 6).conv2d(
        data(4, 2, 2, 3, seed=1), data(4, seed=2), groups=2, dilation=2),
    "reshape": lambda: data(6, 4).reshape(3, 8).permute(1, 0).reshape(4, 6).sum(1),
    "pads": lambda: data(4, 5).pad(((1, 2), (0, 3)), value=1.5).exp().sum(0),
    "shrinks": lambda: data(8, 9)[1:7:2, ::-3].pad((1, 0)).flip(0),
    "windows": lambda: data(3, 11).window(1, 3, 2, 2).max(-1),
    "cat": lambda: Tensor.cat(data(2, 3), data(4, 3, seed=1) * 2, dim=0).exp(),
    "repeat": lambda: data(2, 3).repeat(2, 2) + data(2, 1).repeat_interleave(2, 0).repeat(1, 6),
    "triangle": lambda: (Tensor.arange(6).reshape(6, 1) >= Tensor.arange(6)).where(data(6, 6), 0),
    "eye": lambda: Tensor.eye(5) * 3 + data(5, 5),
    "gradient of mlp": lambda: gradients(
        lambda x, w1, w2: -((x @ w1).relu() @ w2).log_softmax()[:, 0].mean(),
        data(5, 4), data(4, 6, seed=1), data(6, 3, seed=2)),
    "gradient of conv": lambda: gradients(
        lambda x, w: x.conv2d(w, padding=1, stride=2).square().sum(),
        data(2, 2, 6, 5), data(3, 2, 3, 2, seed=1)),
    "gradient of attention": lambda: gradients(
        lambda *a: attention(*a).square().sum(),
        data(4, 3), data(4, 3, seed=1), data(4, 3, seed=2)),
    "gradient of layernorm": lambda: gradients(
        lambda x, w: (layernorm(x) * w).exp().sum(), data(3, 8), data(8, seed=1)),
    "gradient of max": lambda: gradients(
        lambda x: x.unfold(1, 3, 1).max(-1).square().sum(), data(3, 8)),
    "adam": lambda: adam(data(30), data(30, seed=1)),
    "random": lambda: seeded(lambda: Tensor.rand(40)),
    "range": lambda: Tensor.arange(-128, 128, dtype="int8"),  # from the smallest number on
    "randint": lambda: seeded(lambda: Tensor.randint(99, high=1000)),
    "normal": lambda: seeded(lambda: Tensor.randn(5, 6)),
    "assign": lambda: assigned(data(4, 4).realize()),
}  # fmt: skip


def seeded(make: Callable[[], Tensor]) -> Tensor:
    Tensor.manual_seed(42)
    return make()


def assigned(x: Tensor) -> Tensor:
    x.assign(x.T + 1)
    return x.assign(x * 2)


SETTINGS = {name: {"DEVICE": name} for name in devices.there()}
SETTINGS["CPU without optimization"] = {"DEVICE": "CPU", "NOOPT": 1}
if arm64_device.is_available():
    SETTINGS["ARM64 on two threads"] = {"DEVICE": "ARM64", "THREADS": 2}


@pytest.mark.parametrize("setting", SETTINGS)
def test_programs(setting):
    with Context(**SETTINGS[setting]):
        made = {name: program() for name, program in PROGRAMS.items()}
        assert {out.device for out in made.values()} == {SETTINGS[setting]["DEVICE"]}
        expected = [evaluate(out.uop) for out in made.values()]
        found = computed(*made.values())
    for (name, out), array, wanted in zip(made.items(), found, expected, strict=True):
        assert_close(array, wanted, out.dtype, scale=20, what=f"{name} on {setting}")


def ends(dtype: DType) -> Tensor:
    """All that takes an int literal, with the smallest and the largest number of a dtype as one."""
    low, high = dtype.min, dtype.max
    x = Tensor([low, low + 1, high - 1, high, 0, 1, 5, high // 3] * 8, dtype=dtype).realize()
    found = []
    for n in (low, high):
        found += [x + n, x - n, n - x, x * n, x & n, x | n, x ^ n, x.maximum(n), x.minimum(n)]
        found += [(y).cast(dtype) for y in (x < n, x <= n, x > n, x >= n, x == n, x != n)]
    return Tensor.stack(*found)


# with each op of each dtype beside both ends, CPU, CUDA and PYTHON are in tests/every_op.py
OTHERS = [name for name in SETTINGS if name not in ("CPU", "CUDA", "PYTHON")]


@pytest.mark.parametrize("setting", OTHERS)
def test_the_ends_of_an_integer_as_literals(setting):
    with Context(**SETTINGS[setting]):
        made = [ends(dtype) for dtype in (dtypes.char, dtypes.uchar, dtypes.long, dtypes.ulong)]
        for out, found in zip(made, computed(*made), strict=True):
            np.testing.assert_array_equal(found, evaluate(out.uop), err_msg=str(out.dtype))


# what fits into no int, into some, and into all: tests/reference.py says what becomes of them
FLOATS = [0.5, -0.5, -1.9, 300.7, -129.5, 70000.0, 2147483520.0, 2.0**31, -(2.0**31), 3e9, -3e9,
          2.0**32, 1e10, 2.0**63, -(2.0**63), 1.5 * 2.0**63, 2.0**64, 1e30, -1e30, math.inf,
          -math.inf, math.nan]  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_float_that_does_not_fit_into_an_int(setting):
    made, expected = [], []
    with Context(**SETTINGS[setting]):
        for source in (dtypes.float32, dtypes.float64):
            values = np.array(FLOATS, to_np_dtype(source))
            x = Tensor(FLOATS * 3, dtype=source).realize()
            for t, of in ((x, np.tile(values, 3)), (x[10:22:11], values[10:22:11]),
                          (Tensor.full((), FLOATS[10], dtype=source), values[10])):  # fmt: skip
                kinds = (*dtypes.ints, dtypes.bool)  # to each, in one kernel
                made.append(Tensor.stack(*[t.cast(kind).cast("int64") for kind in kinds]))
                expected.append([rounded(of, kind).astype("int64") for kind in kinds])
        for found, wanted in zip(computed(*made), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.fixture(params=devices.there())
def on_device(request):
    with Context(DEVICE=request.param):
        yield


COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


@pytest.mark.usefixtures("on_device")
def test_uint64_and_a_signed_integer_compare_exactly():
    made, expected = [], []
    near = [n + d for n in (0, 2**24, 2**53, 2**63, 2**64) for d in (-2, -1, 0, 1)]
    unsigned = np.array([n for n in near if 0 <= n < 2**64], np.uint64)
    for dtype in (dtypes.char, dtypes.long):
        ends = [dtype.min, dtype.min + 1, dtype.max - 1, dtype.max]
        signed = np.array([*ends, *[n for n in near if dtype.min <= n <= dtype.max]]).reshape(-1, 1)
        u, s = Tensor(unsigned).realize(), Tensor(signed).cast(dtype).realize()
        made.append(Tensor.stack(*[f(*pair) for f in COMPARISONS for pair in ((u, s), (s, u))]))
        pairs = (unsigned, signed), (signed, unsigned)
        expected.append([f(*p) for f in COMPARISONS for p in pairs])
    for found, wanted in zip(computed(*made), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.usefixtures("on_device")
def test_an_index_of_uint64_is_exact_and_beyond_int64_out_of_range():
    x = Tensor(numbers(6, 3)).realize()
    rows = Tensor(np.array([5, 0, 2**63, 2**64 - 1, 6], np.uint64)) + 0
    columns = rows.reshape(-1, 1).expand(5, 3)
    picked = [
        x[rows],
        x.index_select(0, rows),
        x.gather(0, columns),
        rows.embedding(x),
        x.take_along_dim(columns, 0),
        x.T.take(rows * 0 + rows.minimum(6)).reshape(-1, 1),
    ]
    for found in picked[:5]:
        np.testing.assert_array_equal(found.numpy()[:2], x.numpy()[[5, 0]])
        assert np.isnan(found.numpy()[2:]).all()
    assert picked[5].flatten().tolist() == [*x.numpy().T.flatten()[[5, 0, 6, 6, 6]]]


@pytest.mark.usefixtures("on_device")
def test_a_captured_function_is_repeated_on_new_inputs():
    w = Tensor(numbers(6, 4)).realize()

    @TinyJit
    def step(x, n):
        return (x @ w).relu().sum(1), (x[:n] * 2).sum().realize()

    n = Variable("n", 1, 5)
    for seed in range(5):
        x = numbers(5, 6, seed=seed)
        bound = seed % 5 + 1
        rows, first = step(Tensor(x).realize(), n.bind(bound))
        np.testing.assert_array_equal(rows.numpy(), np.maximum(x @ w.numpy(), 0).sum(1))
        assert first.item() == x[:bound].sum() * 2
