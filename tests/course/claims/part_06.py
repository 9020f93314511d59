"""What the last pages of 6a and 6b claim."""

from __future__ import annotations

import numpy as np
import pytest

from tests.course.claims import claim
from tinyframe import GlobalCounters, Tensor, TinyJit, nn
from tinyframe.jit.jit import JitError
from tinyframe.tensor.gradient import flow_back
from tinyframe.uop import Ops


def realized(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(0).random(shape, dtype=np.float32) + 0.5).realize()


# ---- 6a -----------------------------------------------------------------------------------------


@claim("A gradient is a graph, so it's lazy, gets fused, and can be differentiated again.")
def a_gradient_is_a_graph():
    x = realized(4)
    before = GlobalCounters.kernel_count
    (first,) = (x.sin() * x).sum().gradient(x)
    (second,) = first.sum().gradient(x)
    assert GlobalCounters.kernel_count == before
    second.realize()
    assert GlobalCounters.kernel_count == before + 1
    v = x.numpy()
    assert np.allclose(second.numpy(), 2 * np.cos(v) - v * np.sin(v), atol=1e-5)


@claim("Along a path slopes are multiplied, and where paths meet they're added.")
def paths_multiply_and_add():
    x = realized(3)
    v = x.numpy()
    (one_path,) = (x * x).sin().exp().sum().gradient(x)
    slope = np.exp(np.sin(v * v)) * np.cos(v * v) * 2 * v
    assert np.allclose(one_path.numpy(), slope, rtol=1e-4)
    (two_paths,) = ((x * x).sin().exp() + x.sqrt()).sum().gradient(x)
    assert np.allclose(two_paths.numpy(), slope + 0.5 / np.sqrt(v), rtol=1e-4)


@claim("EXPAND and the sum are each other's gradient, and so are PAD and SHRINK.")
def pairs_of_ops():
    m, column = realized(3, 4), realized(3, 1)
    pairs = [
        (column.expand(3, 4), Ops.REDUCE_AXIS, lambda g: g.sum(axis=1, keepdims=True)),
        (m.sum(axis=1, keepdim=True), Ops.EXPAND, lambda g: np.repeat(g, 4, axis=1)),
        (m.pad(((1, 0), (0, 2))), Ops.SHRINK, lambda g: g[1:4, 0:4]),
        (m.shrink(((1, 3), (0, 2))), Ops.PAD, lambda g: np.pad(g, ((1, 0), (0, 2)))),
    ]
    for y, op, expected in pairs:
        grad = realized(*y.shape)
        (back,) = flow_back(y.uop, grad.uop)
        assert back.op is op
        assert np.allclose(Tensor(back).numpy(), expected(grad.numpy()), rtol=1e-5)


@claim(
    "A finite difference checks any gradient, but only with an eps that's neither too large nor "
    "too small."
)
def finite_differences_lie_at_both_ends():
    def error(eps: float) -> float:
        up, down = (Tensor([1.0 + d]).exp().numpy()[0] for d in (eps, -eps))
        return abs(float(up - down) / (2 * eps) - np.e) / np.e

    assert error(1e-2) < 1e-4
    assert error(1.0) > 1e-1 and error(1e-7) > 1e-2
    assert error(1e-3) < error(1e-1)


@claim("A function with a Python loop has no derivative.")
def a_loop_has_a_derivative():
    def power(x):
        result = x
        for _ in range(20):
            result = result * x
        return result

    x = Tensor([1.1]).realize()
    (slope,) = power(x).sum().gradient(x)
    assert slope.item() == pytest.approx(21 * 1.1**20, rel=1e-4)
    assert len(power(x).uop.toposort()) > 20


@claim("The gradient of a maximum goes to the first of the largest.")
def the_largest_share():
    x = Tensor([1.0, 3.0, 3.0, 3.0])
    assert np.allclose(x.max().gradient(x)[0].numpy(), [0, 1 / 3, 1 / 3, 1 / 3])


@claim("A branch that isn't taken has no part in the gradient.")
def the_other_branch_takes_part():
    x = Tensor([0.0, 4.0])
    y = (x > 0).where(x.sqrt(), 0.0)
    assert y.tolist() == [0.0, 2.0]
    slopes = y.sum().gradient(x)[0].numpy()
    assert np.isnan(slopes[0]) and slopes[1] == 0.25


# ---- 6b -----------------------------------------------------------------------------------------

X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]


@claim("A training step is one expression, and its updates are fused with the gradients they use.")
def a_step_is_one_expression():
    x, y = Tensor(X).realize(), Tensor([[0.0], [1.0], [1.0], [0.0]]).realize()
    parameters = [realized(*shape) for shape in ((2, 8), (8,), (8, 1), (1,))]
    w1, b1, w2, b2 = parameters
    loss = (((x @ w1 + b1).tanh() @ w2 + b2 - y) ** 2).mean()
    for parameter, slope in zip(parameters, loss.gradient(*parameters), strict=True):
        parameter.assign(parameter - 0.1 * slope)
    before = GlobalCounters.kernel_count
    Tensor.realize(loss, *parameters)
    # two of the forward half, the loss, and for each parameter one that ends in its new value
    assert GlobalCounters.kernel_count - before == 3 + len(parameters)


@claim("The first step of Adam is as long as its learning rate, whatever the gradient is.")
def the_first_step_of_adam():
    for slope in (1000.0, 0.01, -3.0):
        p = Tensor([0.0], requires_grad=True)
        optimizer = nn.optim.Adam([p], lr=0.25)
        (p * slope).sum().backward()
        optimizer.step()
        assert p.item() == pytest.approx(-0.25 * np.sign(slope), rel=1e-4)


@claim(
    "BatchNorm uses the mean and variance of the batch while it trains, and running ones "
    "afterwards."
)
def batchnorm_in_training_and_after():
    norm, x = nn.BatchNorm(3), realized(16, 3) * 5
    v = x.numpy()
    with Tensor.train():
        trained = norm(x).numpy()
    expected = (v - v.mean(axis=0)) / np.sqrt(v.var(axis=0) + 1e-5)
    assert np.allclose(trained, expected, atol=1e-4)
    mean, variance = 0.1 * v.mean(axis=0), 0.9 + 0.1 * v.var(axis=0, ddof=1)
    assert np.allclose(norm(x).numpy(), (v - mean) / np.sqrt(variance + 1e-5), atol=1e-4)


@claim(
    "TinyJit follows Tensors, refuses an argument that's a different number than before, and "
    "freezes a number that the function looks up by itself."
)
def what_a_jit_follows():
    weight, outside = Tensor([1.0]).realize(), [10.0]
    captured = TinyJit(lambda x, k: x * weight * outside[0] * k)
    for _ in range(3):
        captured(Tensor([1.0]), 2.0)
    weight.assign(Tensor([3.0]))
    assert captured(Tensor([1.0]), 2.0).item() == 60.0
    outside[0] = 100.0
    assert captured(Tensor([1.0]), 2.0).item() == 60.0
    with pytest.raises(JitError, match="was captured as 2.0"):
        captured(Tensor([1.0]), 7.0)


@claim("With more steps, a line would learn XOR.")
def a_line_is_at_its_minimum():
    x, y = Tensor(X), Tensor([0.0, 1.0, 1.0, 0.0])
    w, b = Tensor([0.0, 0.0]).realize(), Tensor([0.5]).realize()

    def loss(w, b):
        return ((x @ w + b - y) ** 2).mean()

    for slope in loss(w, b).gradient(w, b):
        assert np.allclose(slope.numpy(), 0, atol=1e-6)
    moves = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    for a, c, d in moves.tolist():  # convex: no step in any direction is better
        assert loss(w + Tensor([a, c]), b + d).item() > loss(w, b).item()


@claim("The result of one call under TinyJit is overwritten by the next.")
def results_keep_their_values():
    captured = TinyJit(lambda x: x * 2)
    results = [captured(Tensor([float(n)])) for n in range(6)]
    assert [r.item() for r in results] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


@claim("A model that's good in training is good afterwards.")
def young_statistics():
    norm, x = nn.BatchNorm(1), Tensor([[8.0], [12.0]])
    with Tensor.train():
        in_training = norm(x).numpy()
    assert np.abs(norm(x).numpy() - in_training).min() > 5
    with Tensor.train():
        for _ in range(100):
            norm(x).realize()
    # now only the variance differs: the running one divides by n - 1
    assert np.allclose(norm(x).numpy(), in_training / np.sqrt(2), atol=1e-2)
