"""Axes of size 0: NumPy's results, and no kernel for what has no elements.

A loop over nothing that is run once writes where no memory is, so nothing may run for nothing.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import values
from tinyframe import Context, GlobalCounters, Tensor, TinyJit, Variable, dtypes
from tinyframe.rewrite.spec import SpecError, spec_kernel, verify
from tinyframe.uop.node import Ops, UOp


def ones(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


check = functools.partial(values.check, compiled=True)


def assert_gives(t: Tensor, expected: np.ndarray) -> None:
    """The values agree; where there are none, no kernel runs to compute them, optimized or not."""
    before = GlobalCounters.kernel_count
    t.realize()
    if 0 in expected.shape:
        assert GlobalCounters.kernel_count == before, "a kernel ran for nothing"
        assert t.uop.base.op in (Ops.BUFFER, Ops.CONST, Ops.IOTA)
    check(t, expected)


@st.composite
def shapes_with_zero(draw, most_axes: int = 4) -> tuple[int, ...]:
    shape = draw(st.lists(st.integers(0, 3), min_size=1, max_size=most_axes))
    shape[draw(st.integers(0, len(shape) - 1))] = 0
    return tuple(shape)


compiled_plainly = st.booleans()


@given(data=st.data(), shape=shapes_with_zero(), plain=compiled_plainly)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "any", "all", "argmax"])
def test_a_reduce_of_some_axes(name, data, shape, plain):
    axis = data.draw(st.integers(0, len(shape) - 1))
    kept = data.draw(st.booleans())
    x = ones(*shape)
    if name in ("max", "min", "argmax") and shape[axis] == 0:
        axis = next((a for a, size in enumerate(shape) if size), None)
        if axis is None:
            return
    with Context(NOOPT=int(plain)), np.errstate(invalid="ignore"):
        if name == "mean":  # NumPy's warns where it is of nothing
            expected = x.sum(axis, keepdims=kept) / np.float32(shape[axis])
        else:
            expected = getattr(x, name)(axis=axis, keepdims=kept)
        found = getattr(Tensor(x), name)(axis=axis, keepdim=kept)
        assert_gives(found, np.asarray(expected, np.int32 if name == "argmax" else expected.dtype))


ELEMENTWISE = {
    "arithmetic": (lambda t: (t + 1) * t - t / 3, lambda x: (x + 1) * x - x / 3),
    "functions": (lambda t: (t.exp() + t.log()).sqrt(), lambda x: np.sqrt(np.exp(x) + np.log(x))),
    "where": (lambda t: (t > 1).where(t, -t), lambda x: np.where(x > 1, x, -x)),
    "cast": (lambda t: t.cast("int32") // 2, lambda x: x.astype(np.int32) // 2),
    "softmax": (lambda t: t.softmax(-1), lambda x: x),
    "normalized": (lambda t: t - t.mean(0, keepdim=True), lambda x: x),
    "stored between": (lambda t: (t + 1).contiguous() * 2, lambda x: (x + 1) * 2),
    "fused": (lambda t: (t + 1).fuse() * 2, lambda x: (x + 1) * 2),
    "detached": (lambda t: (t + 1).detach() * 2, lambda x: (x + 1) * 2),
    "bitcast": (lambda t: t.bitcast("int32"), lambda x: x.view(np.int32)),
}


@given(shape=shapes_with_zero(), plain=compiled_plainly)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_work(name, shape, plain):
    ours, numpy = ELEMENTWISE[name]
    x = ones(*shape)
    with Context(NOOPT=int(plain)):
        assert_gives(ours(Tensor(x)), numpy(x))


MOVED = {
    "permuted": (lambda t: t.permute(2, 0, 1) + 1, lambda x: x.transpose(2, 0, 1) + 1),
    "flipped": (lambda t: t.flip((0, 1, 2)) + 1, lambda x: x[::-1, ::-1, ::-1] + 1),
    "padded": (
        lambda t: t.pad(((1, 2), (0, 1), (2, 0))) + 1,
        lambda x: np.pad(x, ((1, 2), (0, 1), (2, 0))) + 1,
    ),
    "padded with a value": (
        lambda t: t.pad(((1, 0), (0, 0), (0, 0)), value=7.0) * 2,
        lambda x: np.pad(x, ((1, 0), (0, 0), (0, 0)), constant_values=7) * 2,
    ),
    "sliced": (lambda t: t[:, 1:, ::2] * 2, lambda x: x[:, 1:, ::2] * 2),
    "sliced to nothing": (lambda t: t[0:0] + 1, lambda x: x[0:0] + 1),
    "flat": (lambda t: t.flatten() + 1, lambda x: x.reshape(-1) + 1),
    "expanded": (
        lambda t: t.unsqueeze(0).expand(5, -1, -1, -1) + 1,
        lambda x: np.broadcast_to(x, (5, *x.shape)) + 1,
    ),
    "repeated": (lambda t: t.repeat(2, 1, 3) + 1, lambda x: np.tile(x, (2, 1, 3)) + 1),
    "cat": (lambda t: Tensor.cat(t, t + 1, dim=1), lambda x: np.concatenate([x, x + 1], 1)),
    "stack": (lambda t: Tensor.stack(t, t + 1), lambda x: np.stack([x, x + 1])),
    "rolled": (lambda t: t.roll(1, 2) + 1, lambda x: np.roll(x, 1, 2) + 1),
    "cumsum": (lambda t: t.cumsum(1), lambda x: x.cumsum(1)),
    "sort": (lambda t: t.sort(2)[0], lambda x: np.sort(x, 2)),
    "matmul": (
        lambda t: t @ Tensor(ones(t.shape[2], 4)),
        lambda x: x @ ones(x.shape[2], 4),
    ),
    "matmul over nothing": (
        lambda t: t.flatten().reshape(0, 1).T @ Tensor(ones(0, 4)),
        lambda x: np.zeros((1, 4), np.float32),
    ),
    "outer": (
        lambda t: t.flatten().unsqueeze(1) * Tensor(ones(1, 5)),
        lambda x: x.reshape(-1, 1) * ones(1, 5),
    ),
    "picked by Tensors": (
        lambda t: t[:, Tensor(np.zeros((2, 0), np.int32))],
        lambda x: np.zeros((x.shape[0], 2, 0, x.shape[2]), np.float32),
    ),
}


@given(
    shape=st.tuples(*[st.integers(0, 3)] * 3).filter(lambda shape: 0 in shape),
    plain=compiled_plainly,
)
@pytest.mark.parametrize("name", MOVED)
def test_movement_products_and_joins(name, shape, plain):
    ours, numpy = MOVED[name]
    x = ones(*shape)
    with Context(NOOPT=int(plain)):
        assert_gives(ours(Tensor(x)), numpy(x))


@pytest.mark.parametrize("plain", [0, 1])
def test_a_long_reduce_of_a_row_that_is_not_there(plain):
    """Of these, 800 MB would be summed up, and the sums written where no memory is."""
    with Context(NOOPT=plain):
        assert_gives(
            Tensor.ones(0, 100, 10**6).sum(1, keepdim=True), np.zeros((0, 1, 10**6), np.float32)
        )


@pytest.mark.parametrize(
    ("images", "weight", "shape"),
    [
        ((0, 3, 8, 8), (5, 3, 3, 3), (0, 5, 6, 6)),
        ((2, 0, 8, 8), (5, 0, 3, 3), (2, 5, 6, 6)),
        ((2, 3, 8, 8), (0, 3, 3, 3), (2, 0, 6, 6)),
    ],
)
def test_a_convolution(images, weight, shape):
    x = Tensor(ones(*images), requires_grad=True)
    w = Tensor(ones(*weight), requires_grad=True)
    out = x.conv2d(w)
    check(out, np.zeros(shape, np.float32))
    out.sum().backward()
    check(x.grad, np.zeros(images, np.float32))
    check(w.grad, np.zeros(weight, np.float32))


@given(shape=shapes_with_zero(), plain=compiled_plainly)
def test_gradients_of_broadcasts(shape, plain):
    with Context(NOOPT=int(plain)):
        x = Tensor(ones(*shape), requires_grad=True)
        row = Tensor(ones(shape[-1]), requires_grad=True)
        one = Tensor([3.0], requires_grad=True)
        loss = ((x * row + one).relu().sum(0, keepdim=True) * x).sum()
        assert loss.item() == 0
        loss.backward()
        Tensor.realize(x.grad, row.grad, one.grad)
        check(x.grad, np.zeros(shape, np.float32))
        check(row.grad, np.zeros(shape[-1], np.float32))
        check(one.grad, np.zeros(1, np.float32))


def test_assigning_to_nothing_changes_nothing():
    t = Tensor(ones(4, 3)).realize()
    t[2:2] = 5.0
    t[:, 1:1] = Tensor(ones(4, 0))
    t[1, 0:0].assign(Tensor(ones(0)))
    check(t.realize(), ones(4, 3))


def test_a_tensor_without_elements_can_be_assigned_again_and_again():
    t = Tensor(np.zeros((0, 3), np.float32)).realize()
    memory = t.uop.base
    for _ in range(3):
        t.assign(t + 1).realize()
        assert t.uop.base is memory and t.uop.base.op is Ops.BUFFER
    check(t, np.zeros((0, 3), np.float32))


@pytest.mark.parametrize("jit", [0, 1])
def test_a_jit_whose_inputs_or_results_have_no_elements(jit):
    @TinyJit
    def step(x, y):
        return (x + 1).realize(), (x.sum(0) + y).realize(), (y[0:0] * 2).realize()

    with Context(JIT=jit):
        for n in range(4):
            x, y = Tensor(np.zeros((0, 2), np.float32)), Tensor(ones(2) * n)
            a, b, c = step(x.realize(), y.realize())
            check(a, np.zeros((0, 2), np.float32))
            check(b, ones(2) * n)
            check(c, np.zeros(0, np.float32))


def test_copies_between_devices():
    t = (Tensor(ones(0, 3)) + 1).to("PYTHON")
    assert_gives(t, np.zeros((0, 3), np.float32))
    assert_gives((t * 2).to("CPU").sum(0), np.zeros(3, np.float32))
    assert t.device == "PYTHON"


@pytest.mark.parametrize("plain", [0, 1])
@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_variable_that_is_bound_to_zero(plain, most):
    """A loop of at most one turn may have none: it is no loop of one turn."""
    n = Variable("n", 0, most)
    x = ones(5, 3)
    with Context(NOOPT=plain):
        for value in (0, 1, 0):
            part = Tensor(x).realize()[: n.bind(value)]
            same = np.testing.assert_array_equal
            same(part.sum(0).numpy(), x[:value].sum(0))
            same((part + 1).numpy(), x[:value] + 1)
            same((part * 2).sum().numpy(), (x[:value] * 2).sum())
            target = Tensor(x).realize()
            target[: n.bind(value)].assign(part * 0).realize()
            expected = x.copy()
            expected[:value] = 0
            same(target.numpy(), expected)


def test_spec_refuses_a_loop_over_nothing():
    place = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(1), (), 0)
    i = UOp.range(0, 0)
    store = place.index(i).store(UOp.const(dtypes.float, 1.0), i)
    with pytest.raises(SpecError, match="RANGE"):
        verify(UOp.sink(store), spec_kernel)
