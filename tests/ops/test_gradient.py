"""Gradients: against differences, against formulas where differences cannot say, and twice."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.elementwise import BINARY, UNARY, WITHIN, ours
from tests.reference import evaluate
from tests.values import arrays, check, computed
from tinyframe import Tensor, dtypes
from tinyframe.run.realize import run_schedule
from tinyframe.tensor import core
from tinyframe.tensor.gradient import compute_gradient, gradient_rules
from tinyframe.uop.node import GroupOp, Ops, UOp

# Away from kinks and poles, where a difference says what the slope is.
smooth = st.floats(0.3, 1.7).map(lambda v: round(v, 3))


def of_one(name: str) -> Callable[[Tensor, Tensor], Tensor]:
    """A row of tests/elementwise.py, of `smooth` values moved to where it is defined."""
    low, high = UNARY[name].between
    move = {WITHIN: lambda x: x / 2, (1.05, 9): lambda x: x + 1}.get((low, high), lambda x: x)
    return lambda x, y: ours(name)(move(x)) * y


ELEMENTWISE = UNARY.keys() | BINARY.keys()  # their kernels: tests/torch
# Each: a function of Tensors of shape (2, 3), differentiable at `smooth` values.
SMOOTH = {
    **{name: of_one(name) for name, op in UNARY.items() if op.gradient},
    **{name: ours(name) for name, op in BINARY.items() if op.gradient},
    "mod": lambda x, y: (x + 25) % (y + 9),
    "elu below 0": lambda x, y: (x - 2).elu() * y,
    "abs below 0": lambda x, y: (x - 3).abs() * y,
    "sigmoid below 0": lambda x, y: (x - 1).sigmoid() * y,
    "maximum": lambda x, y: x.maximum(1.85 - y),
    "minimum": lambda x, y: x.minimum(1.85 - y),
    "where": lambda x, y: (Tensor([True, False, True])).where(x * x, y * y),
    "sum": lambda x, y: x.sum(1) * y.sum(1).exp(),
    "prod": lambda x, y: x.prod(1) * y.prod(),
    "max": lambda x, y: (x + Tensor([0.0, 3.0, 6.0])).max(1) * y.sum(1),
    "min": lambda x, y: (x + Tensor([0.0, 3.0, 6.0])).min() * y.sum(1),
    "mean": lambda x, y: x.mean(0) * y.mean(),
    "var": lambda x, y: x.var(1) * y.var(),
    "std": lambda x, y: (x + Tensor([0.0, 3.0, 6.0])).std(1) * y.sum(1),
    "softmax": lambda x, y: x.softmax() * y,
    "log_softmax": lambda x, y: x.log_softmax(0) * y,
    "logsumexp": lambda x, y: x.logsumexp(1) * y.sum(1),
    "matmul": lambda x, y: x @ y.T @ x,
    "dot": lambda x, y: x[0].dot(y[1]),
    "reshape": lambda x, y: x.reshape(3, 2) * y.reshape(3, 2).exp(),
    "permute": lambda x, y: x.permute(1, 0) * y.T.exp(),
    "expand": lambda x, y: x[:1].expand(4, 3) * y[0].expand(4, 3),
    "pad": lambda x, y: x.pad((1, 1, 0, 2), value=2.0).exp().sum(0) * y.sum(),
    "crop": lambda x, y: x.pad((-1, 1)).sin() * y,
    "shrink": lambda x, y: x.shrink((None, (1, 3))) * y[:, :2].exp(),
    "flip": lambda x, y: x.flip(0, 1) * y,
    "strided": lambda x, y: x[:, ::2] * y[::-1, ::-2].exp(),
    "window": lambda x, y: x.unfold(1, 2, 1).exp() * y.sum(),
    "dilated": lambda x, y: x.reshape(6).window(0, 2, 2, 3).exp() * y.sum(),
    "cat": lambda x, y: x.cat(y * x, dim=1).exp(),
    "stack": lambda x, y: Tensor.stack(x, y, dim=1).exp().prod(0),
    "repeat": lambda x, y: x.repeat(2, 2).exp() * y.repeat(2, 2),
    "conv2d": lambda x, y: x.reshape(1, 1, 2, 3)
    .conv2d(y[:, :2].reshape(1, 1, 2, 2), padding=1, stride=2)
    .exp(),
    "contiguous": lambda x, y: x.contiguous().exp() * y,
    "cast": lambda x, y: x.cast("double") * y.exp(),
    "copy": lambda x, y: (x.to("PYTHON") * 2).to(y.device).exp() * y,
    "mulacc": lambda x, y: x._apply(lambda a, b: a.alu(Ops.MULACC, b, a), y).exp(),
}  # fmt: skip


def weighted(out: Tensor) -> Tensor:
    """A scalar in which every element counts differently."""
    weights = np.linspace(0.5, 1.5, out.numel())
    return (out * Tensor(weights.reshape(out.shape))).sum()


def rise(function, inputs: list[np.ndarray], direction: np.ndarray, step: float = 1e-5) -> float:
    """How fast a function of the inputs rises along a direction, by a central difference."""
    ahead, behind = (
        float(evaluate(function(*map(Tensor, inputs + sign * step * direction)).uop))
        for sign in (1, -1)
    )
    return (ahead - behind) / (2 * step)


def examples() -> np.ndarray:
    return np.random.default_rng(3).uniform(0.3, 1.7, (2, 2, 3))


@pytest.mark.parametrize("name", SMOOTH)
def test_gradient_and_its_gradient_are_slopes(name):
    def value(x, y):
        return weighted(SMOOTH[name](x, y))

    def first(x, y):
        by_x, by_y = value(x, y).gradient(x, y)
        return (by_x * Tensor(np.linspace(1, 2, 6).reshape(2, 3))).sum() + by_y.square().sum()

    inputs = examples()
    x, y = map(Tensor, inputs)
    directions = np.random.default_rng(4).normal(size=(3, 2, 2, 3))
    for function in (value, first):
        grads = function(x, y).gradient(x, y)
        assert all((grad.shape, grad.dtype) == ((2, 3), dtypes.float64) for grad in grads)
        found = np.stack([evaluate(grad.uop) for grad in grads])
        for direction in directions:
            expected = rise(function, inputs, direction)
            np.testing.assert_allclose((found * direction).sum(), expected, rtol=2e-5, atol=2e-6)


def test_gradients_on_the_device_are_those_of_the_graphs_before_and_after_a_result_is_read():
    x, y = (Tensor(a.astype(np.float32), requires_grad=True) for a in examples())
    named = {name: function(x, y) for name, function in SMOOTH.items() if name not in ELEMENTWISE}
    losses = [weighted(out).float() for out in named.values()]
    lazy = [grad for loss in losses for grad in loss.gradient(x, y)]
    expected = [evaluate(grad.uop) for grad in lazy]
    Tensor.realize(*lazy, *named.values(), *losses)
    read = [grad for loss in losses for grad in loss.gradient(x, y)]
    names = [name for name in named for _ in "xy"]
    for found, rtol in ((lazy, 1e-5), (read, 1e-4)):
        for name, array, wanted in zip(names, computed(*found), expected, strict=True):
            np.testing.assert_allclose(array, wanted, rtol, atol=1e-5, err_msg=name)


def test_every_op_that_floats_can_take_has_a_rule_or_stops():
    from tinyframe.tensor.history import STOPS

    ints_only = {Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR}
    elementwise = GroupOp.Elementwise - {Ops.CDIV, Ops.CMOD, Ops.MIN}
    for op in elementwise | GroupOp.Movement | {Ops.REDUCE_AXIS, Ops.COPY, Ops.CONTIGUOUS}:
        covered = any(rule.pattern.allows(op, dtypes.float32) for rule in gradient_rules)
        assert covered or op in STOPS | ints_only, op


# ---- where differences cannot say ----------------------------------------------------------------


def grad_of(function, *values):
    tensors = [Tensor(v) for v in values]
    grads = function(*tensors).sum().gradient(*tensors)
    return [evaluate(g.uop).tolist() for g in grads]


NAN, INF = math.nan, math.inf
# an expression, where it is differentiated, and its slopes there; zeros and turns of each function
# by itself: tests/torch
KINKS = [
    ("x.clip(0, 1)", [0.0, 1.0, 1.5], [1, 1, 0]),
    ("x.sigmoid()", [0.0, -1000.0, 1000.0], [0.25, 0, 0]),
    ("x.tanh()", [1000.0], [0]),
    ("x.silu()", [-1000.0], [0]),
    ("x.softplus()", [-1000.0, 1000.0, 0.0], [0, 1, 0.5]),
    ("x.elu()", [1000.0], [1]),
    ("x.mish()", [-1000.0], [0]),
    ("x**1.5", [0.0], [0]),
    ("x**4.0", [-2.0], [-32]),
    ("x**-2.0", [-2.0], [0.25]),
    ("2.0**x", [3.0], [8 * math.log(2)]),
    ("0.0**x", [0.0, 2.0], [0, 0]),
    ("(-2.0) ** x", [2.0], [NAN]),
    ("x.maximum(1.0)", [1.0], [0.5]),
    ("x.minimum(1.0)", [1.0], [0.5]),
    ("x.maximum(x)", [1.0], [1]),
    ("x.reshape(-1, 1).std(1, correction=0)", [1.0], [0]),
    ("x.log_softmax()", [1.0], [0]),
    ("x.logsumexp()", [1000.0], [1]),
]


@pytest.mark.parametrize(("text", "at", "slopes"), KINKS, ids=[text for text, *_ in KINKS])
def test_gradient_where_a_function_has_a_kink_or_an_end(text, at, slopes):
    found = grad_of(lambda x: eval(text, {"x": x}), at)[0]
    np.testing.assert_allclose(found, slopes, rtol=1e-5)


def test_a_kink_stays_where_it_is_where_c_makes_one_rounding_of_a_product_and_a_sum():
    x = Tensor([-3.0, 0.0, 3.0], dtype="float64")
    np.testing.assert_allclose(x.hardsigmoid().sum().gradient(x)[0].numpy(), [0, 1 / 6, 0])


def test_powers_of_zero_and_zeroth_powers():
    assert grad_of(lambda x, y: x**y, [0.0, 2.0, 0.0, -3.0], [0.0, 0.0, 2.0, 0.0])[0] == [0] * 4
    by_exponent = grad_of(lambda x, y: x**y, [0.0, 2.0, 0.0], [0.0, 0.0, 2.0])[1]
    np.testing.assert_allclose(by_exponent, [0.0, math.log(2), 0.0], rtol=1e-6)


def test_ties_of_a_maximum_share():
    assert grad_of(lambda x: x.max(), [3.0, 1.0, 3.0])[0] == [0.5, 0.0, 0.5]
    assert grad_of(lambda x: x.min(0), [[1.0, 2.0], [1.0, 3.0]])[0] == [[0.5, 1.0], [0.5, 0.0]]


@given(
    x=arrays(dtypes.float64, shape=(4,), values=st.sampled_from((0.0, 0.0, -0.0, 1.0, 2.0, -3.0)))
)
def test_gradient_of_a_product_is_exact_at_zeros_and_twice(x):
    t = Tensor(x)
    others = [np.prod(np.delete(x, i)) for i in range(4)]
    (first,) = t.prod().gradient(t)
    check(first, others)
    for i in range(4):
        (second,) = first[i].gradient(t)
        check(second, [0.0 if i == j else np.prod(np.delete(x, [i, j])) for j in range(4)])


@pytest.mark.parametrize("name", ["max", "min"])
def test_equal_halves_are_counted_in_float32(name):
    t = Tensor.ones(65_536, dtype=dtypes.half) * 1
    (grad,) = getattr(t, name)().gradient(t)
    assert set(evaluate(grad.uop)) == {2.0**-16}


def test_nan_is_the_largest_and_gets_the_gradient():
    t = Tensor([[1.0, np.nan, 3, np.nan], [2, 2, -1, 0]]) * 1
    for name, expected in (("max", [[0, 0.5, 0, 0.5], [0.5, 0.5, 0, 0]]),
                           ("min", [[0, 0.5, 0, 0.5], [0, 0, 1, 0]])):  # fmt: skip
        (grad,) = getattr(t, name)(1).sum().gradient(t)
        assert evaluate(grad.uop).tolist() == expected


def test_sums_of_half_gradients_are_in_float32():
    t = Tensor.ones(4096, 1, dtype=dtypes.half) * 1
    (grad,) = t[:1].expand(4096, 1).sum().gradient(t)
    assert evaluate(grad.uop)[0] == 4096  # in half, 2048 + 1 is 2048
    assert grad.dtype is dtypes.half


# ---- backward and gradient ---------------------------------------------------------------------


def test_backward_returns_the_loss_and_fills_grad():
    x, y = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0])
    loss = (x * y).sum()
    assert loss.backward() is loss
    check(x.grad, [3.0, 4.0])
    assert y.grad is None
    assert not x.grad.requires_grad


def test_two_backwards_add_up_in_the_same_grad():
    x = Tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x).sum()
    loss.backward()
    grad = x.grad
    loss.backward()
    assert x.grad is grad
    check(x.grad, [4.0, 8.0])
    x.grad = None
    loss.backward()
    check(x.grad, [2.0, 4.0])


def test_what_is_on_the_way_gets_a_gradient_and_what_was_asked_for_alone_fills_no_grad():
    x, y = Tensor([1.0], requires_grad=True), Tensor([1.0], requires_grad=False)
    assert (x + y).requires_grad is True
    assert (y + y).requires_grad is False
    assert (y + Tensor([1.0])).requires_grad is None
    assert x.detach().requires_grad is False
    middle = x * 3
    loss = (middle * middle).sum()
    assert [grad.tolist() for grad in loss.gradient(x, middle)] == [[18], [6]]
    assert x.grad is None and middle.grad is None
    loss.backward()
    check(middle.grad, [6.0])
    check(x.grad, [18.0])


def test_two_constants_of_one_value_are_two_parameters():
    x, y = Tensor(2.0, requires_grad=True), Tensor(2.0, requires_grad=True)
    (x * y * y).backward()
    assert (x.grad.item(), y.grad.item()) == (4.0, 8.0)
    a, b = Tensor.zeros(3), Tensor.zeros(3)
    a.requires_grad = b.requires_grad = True
    (a * 2 + b * 3).sum().backward()
    check(a.grad, [2.0] * 3)
    check(b.grad, [3.0] * 3)
    check(a, [0.0] * 3, compiled=True)


def test_a_target_that_is_not_used_gets_zeros():
    x, other = Tensor([1.0, 2.0]), Tensor([[1.0]])
    (grad,) = x.sum().gradient(other)
    check(grad, [[0.0]])
    check(x.sum().gradient(x.detach())[0], [0.0, 0.0])
    check((x > 1).float().sum().gradient(x)[0], [0.0, 0.0])


def test_what_flows_in_can_be_given():
    x = Tensor([1.0, 2.0], requires_grad=True)
    flowing = Tensor([10.0, 100.0])
    check((x * x).gradient(x, gradient=flowing)[0], [20.0, 400.0])
    (x * x).backward(flowing)
    check(x.grad, [20.0, 400.0])
    with pytest.raises(RuntimeError, match=r"\(3,\)"):
        (x * x).backward(Tensor.ones(3))


REFUSED = [
    (lambda x: (x * 2).backward(), r"\(2,\)"),
    (lambda x: x.sum().gradient(Tensor([1])), "int"),
    (lambda x: (x > 1).sum().backward(), ""),
    (lambda x: Tensor([1.0]).sum().backward(), "requires_grad"),
    (lambda x: x.detach().sum().backward(), "requires_grad"),
    (lambda x: (x > 1).float().sum().backward(), ""),
]


@pytest.mark.parametrize("error", [RuntimeError, AssertionError, ValueError])
@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_gradients_that_cannot_be_are_refused(call, words, error):
    with pytest.raises(error, match=words or None):
        call(Tensor([1.0, 2.0], requires_grad=True))


def test_only_floats_can_require_a_gradient():
    for make in (lambda: Tensor([1], requires_grad=True), lambda: Tensor([1]).requires_grad_()):
        with pytest.raises(RuntimeError, match="int"):
            make()


def test_gradient_walks_a_long_chain():
    x = Tensor([1.0], requires_grad=True)
    out = x
    for _ in range(3000):
        out = out + 1
    out.sum().backward()
    check(x.grad, [1.0])


def test_gradients_are_found_only_where_a_target_is():
    x, y = Tensor([1.0]), Tensor([2.0])
    root = (x * y).exp().uop
    found = compute_gradient(root, UOp.const(dtypes.float32, 1).broadcast_to((1,)), {x.uop})
    assert x.uop in found
    assert y.uop not in found


# ---- without gradients ---------------------------------------------------------------------------


def test_no_grad_cuts_the_way_back():
    w = Tensor([2.0, 3.0], requires_grad=True)
    undecided = Tensor([5.0, 7.0])
    with Tensor.no_grad():
        inside = w * w + undecided
        own = Tensor([1.0], requires_grad=True)
    assert inside.requires_grad is False
    assert own.requires_grad and w.requires_grad and undecided.requires_grad is None
    outside = (inside * w).sum()
    outside.backward()
    check(w.grad, [9.0, 16.0], compiled=True)  # as if `inside` were a constant
    assert undecided.grad is None and inside.grad is None
    with pytest.raises(RuntimeError, match="requires_grad"):
        inside.sum().backward()


def test_no_grad_nests_and_ends_with_an_exception():
    w = Tensor([2.0], requires_grad=True)
    block = Tensor.no_grad()
    with pytest.raises(KeyError), block, Tensor.no_grad():
        with block:
            assert (w * 2).requires_grad is False
        assert (w * 2).requires_grad is False
        raise KeyError
    assert (w * 2).requires_grad


def test_no_grad_decorates_functions_methods_and_generators():
    w = Tensor([2.0], requires_grad=True)

    class Model:
        @Tensor.no_grad()
        def called(self, x):
            """Twice x."""
            return x * 2

    @Tensor.no_grad
    def bare(x):
        return x * 2

    @Tensor.no_grad()
    def steps(x):
        factor = yield x * 2
        yield x * factor
        return "end"

    assert Model().called(w).requires_grad is False and Model.called.__doc__ == "Twice x."
    assert bare(w).requires_grad is False
    running = steps(w)
    assert next(running).requires_grad is False
    assert (w * 2).requires_grad  # between two steps, outside records
    assert running.send(3).requires_grad is False
    with pytest.raises(StopIteration, match="end"):
        next(running)


def test_no_grad_holds_in_its_own_thread():
    w = Tensor([2.0], requires_grad=True)
    inside, checked = threading.Event(), threading.Event()
    found = []

    def other():
        inside.wait()
        found.append((w * 2).requires_grad)
        with Tensor.no_grad():
            checked.set()
            found.append((w * 2).requires_grad)

    thread = threading.Thread(target=other)
    thread.start()
    with Tensor.no_grad():
        inside.set()
        checked.wait()
        found.append((w * 2).requires_grad)
    found.append((w * 2).requires_grad)
    thread.join()
    assert found[0] is True and found[-1] is True and found[1:3] == [False, False]


def test_another_thread_realizes_nothing_while_a_gradient_is_written(monkeypatch):
    w = Tensor([2.0, 3.0], requires_grad=True).realize()
    y = (w * w).contiguous()
    read, other = core.values_of_storages, threading.Thread(target=y.realize)

    def slowly(below):
        other.start()
        other.join(0.3)
        return read(below)

    monkeypatch.setattr(core, "values_of_storages", slowly)
    (found,) = y.gradient(w, gradient=Tensor([1.0, 1.0]))
    monkeypatch.undo()
    other.join()
    assert found.tolist() == [4.0, 6.0]


def test_a_view_is_of_the_graph_that_it_was_made_from():
    x = (Tensor([[1.0, 2.0], [3.0, 4.0]]) * 2).permute(1, 0)

    def realized_meanwhile(uop):
        x.contiguous().realize()
        x._storage.point_to(x._storage.uop.contiguous())
        return uop.reshape((4,))

    assert x._view(realized_meanwhile).tolist() == [2.0, 6.0, 4.0, 8.0]


def test_no_grad_and_train_leave_each_other_alone():
    w = Tensor([2.0], requires_grad=True)
    with Tensor.no_grad(), Tensor.train():
        assert Tensor.training and (w * 2).requires_grad is False
        with Tensor.train(False):
            assert not Tensor.training and (w * 2).requires_grad is False
        assert Tensor.training
    with Tensor.train():
        with Tensor.no_grad():
            assert Tensor.training
        assert Tensor.training and (w * 2).requires_grad
    assert not Tensor.training


def test_a_parameter_is_what_requires_a_gradient():
    t = Tensor([1.0])
    assert not t.is_param
    assert t.requires_grad_().is_param
    assert not t.requires_grad_(False).is_param


def test_contiguous_backward_stores_the_gradient_too():
    x = Tensor([0.5, 0.25], requires_grad=True).realize()
    kernels, grads = [], []
    for stored in (Tensor.contiguous, Tensor.contiguous_backward):
        (grad,) = stored(x * 2).sin().sum().gradient(x)
        items = grad.schedule()
        run_schedule(items)
        kernels.append(len(items))
        grads.append(grad.numpy())
    assert kernels[1] == kernels[0] + 1
    np.testing.assert_array_equal(*grads)
    np.testing.assert_allclose(grads[0], 2 * np.cos([1.0, 0.5]), rtol=1e-6)


def test_the_gradient_that_flows_in_first_is_nobodys_constant():
    """It is 1, and so is `v`: what flows in must not count as a use of it."""
    x, v = Tensor([1.0, 2.0, 3.0]).realize(), Tensor(1.0)
    first = (x.sum() * v).gradient(x)[0]
    assert first.tolist() == [1.0, 1.0, 1.0]
    assert first.sum().gradient(v)[0].item() == 3.0
