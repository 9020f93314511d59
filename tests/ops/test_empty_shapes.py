"""Axes of size 0: NumPy's results, and no kernel for what has no elements.

A loop over nothing that is run once writes where no memory is, so nothing may run for nothing.
"""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import values
from tests.reference import evaluate
from tinyframe import Context, GlobalCounters, Tensor, TinyJit, Variable, dtypes
from tinyframe.rewrite.spec import SpecError, spec_kernel, verify
from tinyframe.uop.node import Ops, UOp


def ones(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


check = functools.partial(values.check, compiled=True)


def assert_runs_nothing_for_nothing(t: Tensor) -> None:
    """What the graph means is there; where that is nothing, no kernel runs to compute it."""
    expected, before = evaluate(t.uop), GlobalCounters.kernel_count
    t.realize()
    if t.numel() == 0:
        assert GlobalCounters.kernel_count == before, "a kernel ran for nothing"
        assert t.uop.base.op in (Ops.BUFFER, Ops.CONST, Ops.IOTA)
    np.testing.assert_array_equal(t.numpy(), expected)


# That shapes and values are NumPy's: test_reduce.py, test_movement.py and others, whose generated
# shapes have axes of size 0.
CALLS = """
t.sum(axis) | t.prod(axis) | t.mean(axis) | t.any(axis) | t.all(axis) | t.sum() | t.mean()
t.softmax(axis) | (t + 1) * t - t / 3 | (t.exp() + t.log()).sqrt() | (t > 1).where(t, -t)
t.cast("int32") // 2 | t.bitcast("int32") | t - t.mean(0, keepdim=True) | (t + 1).fuse() * 2
(t + 1).contiguous() * 2 | (t + 1).detach() * 2 | t.permute(2, 0, 1) + 1 | t.flip((0, 1, 2)) + 1
t.pad(((1, 2), (0, 1), (2, 0))) + 1 | t.pad(((1, 0), (0, 0), (0, 0)), value=7.0) * 2 | t[0:0] + 1
t[:, 1:, ::2] * 2 | t.flatten() + 1 | t.unsqueeze(0).expand(5, -1, -1, -1) + 1 | t.roll(1, 2) + 1
t.repeat(2, 1, 3) + 1 | Tensor.cat(t, t + 1, dim=1) | Tensor.stack(t, t + 1) | t.cumsum(axis)
t.sort(axis)[0] | t @ Tensor.ones(t.shape[2], 4) | t[:0].reshape(0, 1).T @ Tensor.ones(0, 4)
t.flatten().unsqueeze(1) * Tensor.ones(1, 5) | t[:, Tensor.zeros(2, 0, dtype="int32")]
"""


@given(
    shape=st.tuples(*[st.integers(0, 3)] * 3).filter(lambda shape: 0 in shape),
    axis=st.integers(0, 2), noopt=st.integers(0, 1),
)  # fmt: skip
@pytest.mark.parametrize("call", re.split(r" \| |\n", CALLS.strip()))
def test_no_kernel_computes_what_is_not_there(call, shape, axis, noopt):
    with Context(NOOPT=noopt):
        t = Tensor(ones(*shape))
        assert_runs_nothing_for_nothing(eval(call, {"t": t, "axis": axis, "Tensor": Tensor}))


@pytest.mark.parametrize("plain", [0, 1])
def test_a_long_reduce_of_a_row_that_is_not_there(plain):
    """Of these, 800 MB would be summed up, and the sums written where no memory is."""
    with Context(NOOPT=plain):
        assert_runs_nothing_for_nothing(Tensor.ones(0, 100, 10**6).sum(1, keepdim=True))


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


@given(shape=st.lists(st.integers(0, 3), min_size=1, max_size=4).filter(lambda shape: 0 in shape),
       noopt=st.integers(0, 1))  # fmt: skip
def test_gradients_of_broadcasts(shape, noopt):
    with Context(NOOPT=noopt):
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
    for made in (t, (t * 2).to("CPU").sum(0)):
        assert_runs_nothing_for_nothing(made)
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
            same((part.T @ part).numpy(), x[:value].T @ x[:value])
            assert part.reshape(n.bind(value), 3, -1).numpy().shape == (value, 3, 1)
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
