"""What the last pages of 6a, 6b and 6c claim."""

from __future__ import annotations

import numpy as np
import pytest

from classroom.mini import triumphs
from tests.course.claims import claim, memory
from tinyframe import GlobalCounters, Tensor, TinyJit, nn
from tinyframe.jit.jit import JitError
from tinyframe.tensor.gradient import flow_back
from tinyframe.uop import Ops

# ---- 6a -----------------------------------------------------------------------------------------


@claim("A gradient is a graph, so it's lazy, gets fused, and can be differentiated again.")
def a_gradient_is_a_graph():
    x = memory(4)
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
    x = memory(3)
    v = x.numpy()
    (one_path,) = (x * x).sin().exp().sum().gradient(x)
    slope = np.exp(np.sin(v * v)) * np.cos(v * v) * 2 * v
    assert np.allclose(one_path.numpy(), slope, rtol=1e-4)
    (two_paths,) = ((x * x).sin().exp() + x.sqrt()).sum().gradient(x)
    assert np.allclose(two_paths.numpy(), slope + 0.5 / np.sqrt(v), rtol=1e-4)


@claim("EXPAND and the sum are each other's gradient, and so are PAD and SHRINK.")
def pairs_of_ops():
    m, column = memory(3, 4), memory(3, 1)
    pairs = [
        (column.expand(3, 4), Ops.REDUCE_AXIS, lambda g: g.sum(axis=1, keepdims=True)),
        (m.sum(axis=1, keepdim=True), Ops.EXPAND, lambda g: np.repeat(g, 4, axis=1)),
        (m.pad(((1, 0), (0, 2))), Ops.SHRINK, lambda g: g[1:4, 0:4]),
        (m.shrink(((1, 3), (0, 2))), Ops.PAD, lambda g: np.pad(g, ((1, 0), (0, 2)))),
    ]
    for y, op, expected in pairs:
        grad = memory(*y.shape)
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


@claim("A matrix product needs a row of its own.")
def a_matrix_product_has_no_row():
    m, w, g = memory(3, 4), memory(4, 2), memory(3, 2)
    product = m @ w
    ops = {u.op for u in product.uop.toposort()} - {Ops.UNIQUE, Ops.DEVICE, Ops.BUFFER}
    movement = {Ops.RESHAPE, Ops.PERMUTE, Ops.EXPAND}
    assert ops - movement == {Ops.MUL, Ops.REDUCE_AXIS}
    (dw,) = product.gradient(w, gradient=g)
    assert np.allclose(dw.numpy(), m.numpy().T @ g.numpy(), rtol=1e-5)


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
    parameters = [memory(*shape) for shape in ((2, 8), (8,), (8, 1), (1,))]
    w1, b1, w2, b2 = parameters
    loss = (((x @ w1 + b1).tanh() @ w2 + b2 - y) ** 2).mean()
    for parameter, slope in zip(parameters, loss.gradient(*parameters), strict=True):
        parameter.assign(parameter - 0.1 * slope)
    before = GlobalCounters.kernel_count
    Tensor.realize(loss, *parameters)
    # two of the forward half, one of the slopes behind tanh, which two parameters need, the loss,
    # and for each parameter one that ends in its new value
    assert GlobalCounters.kernel_count - before == 4 + len(parameters)


@claim("Hidden values that start as copies of one another stay copies.")
def copies_stay_copies():
    x, y = memory(20, 2), memory(20, 1)
    w1, b1, w2 = (
        Tensor.full(shape, 0.4).contiguous().realize() for shape in ((2, 5), (5,), (5, 1))
    )
    before = w1.numpy().copy()
    for _ in range(20):
        loss = (((x @ w1 + b1).tanh() @ w2 - y) ** 2).mean()
        for p, slope in zip((w1, b1, w2), loss.gradient(w1, b1, w2), strict=True):
            p.assign((p - 0.1 * slope).detach())
        Tensor.realize(w1, b1, w2)
    values = (x @ w1 + b1).tanh().numpy()
    assert np.allclose(values, values[:, :1], atol=1e-6)
    assert np.abs(w1.numpy() - before).max() > 1e-2


def kept_by(optimizer):
    tensors = nn.state.get_state_dict(optimizer).values()
    return sum(t.numel() for t in tensors) - sum(p.numel() for p in optimizer.params)


@claim("Adam keeps two more numbers for every parameter than SGD does.")
def two_more_for_each():
    model = nn.Linear(7, 5)
    parameters = nn.state.get_parameters(model)
    sgd, adam = nn.optim.SGD(parameters), nn.optim.Adam(parameters)
    steps_counted = 1 + len(parameters)  # all, and those that each parameter missed
    assert kept_by(adam) - kept_by(sgd) == 2 * (7 * 5 + 5) + steps_counted


@claim(
    "TinyJit follows the memory of Tensors, refuses what has none or has moved, and freezes a "
    "number that the function looks up by itself."
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
    rows = memory(6)
    for moving in (lambda n: Tensor(float(n)), lambda n: rows[n]):
        times = TinyJit(lambda x, k: x * k)
        with pytest.raises(JitError, match="contiguous"):
            for n in range(4):
                times(Tensor([1.0]), moving(n))
        times = TinyJit(lambda x, k: x * k)
        for n in range(4):
            k = moving(n)
            assert times(Tensor([1.0]), k.contiguous()).item() == pytest.approx(k.item())


@claim("After training, a BatchNorm can be folded into the Linear before it.")
def a_folded_batchnorm():
    linear, norm, x = nn.Linear(4, 3), nn.BatchNorm(3), memory(30, 4)
    with Tensor.train():
        for _ in range(3):
            norm(linear(x)).realize()
    factor = (norm.running_var + norm.eps).rsqrt() * norm.weight
    both = nn.Linear(4, 3)
    both.weight = linear.weight * factor.reshape(3, 1)
    both.bias = linear.bias * factor - norm.running_mean * factor + norm.bias
    assert np.allclose(both(x).numpy(), norm(linear(x)).numpy(), atol=1e-5)


@claim("Adam takes several times the kernels of SGD.")
def one_kernel_more():
    counts = []
    for kind in (nn.optim.SGD, nn.optim.Adam):
        model, x = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)), memory(6, 4)
        optimizer = kind(nn.state.get_parameters(model), lr=0.1)
        for _ in range(2):  # the first step realizes the parameters, too
            optimizer.zero_grad()
            model(x).square().mean().backward()
            Tensor.realize(*[p.grad for p in optimizer.params])
            before = GlobalCounters.kernel_count
            optimizer.step()
        counts.append(GlobalCounters.kernel_count - before)
    assert counts == [4, 5]


@claim("The result of one call under TinyJit is overwritten by the next.")
def results_keep_their_values():
    captured = TinyJit(lambda x: x * 2)
    results = [captured(Tensor([float(n)])) for n in range(6)]
    assert [r.item() for r in results] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


@claim("BatchNorm does the same in training and afterwards.")
def batchnorm_in_training_and_after():
    norm, x = nn.BatchNorm(3), memory(16, 3) * 5
    v = x.numpy()
    with Tensor.train():
        trained = norm(x).numpy()
    expected = (v - v.mean(axis=0)) / np.sqrt(v.var(axis=0) + 1e-5)
    assert np.allclose(trained, expected, atol=1e-4)
    mean, variance = 0.1 * v.mean(axis=0), 0.9 + 0.1 * v.var(axis=0, ddof=1)
    assert np.allclose(norm(x).numpy(), (v - mean) / np.sqrt(variance + 1e-5), atol=1e-4)


# ---- 6c -----------------------------------------------------------------------------------------


@claim(
    "A framework of four short files differentiates a loop of 100 steps, with the same result as "
    "tinyframe."
)
def a_loop_in_both():
    def slope(kind):
        start = v = kind([1.5])
        x = v * 0
        for _ in range(100):
            v = v - 0.01 * (v * v + 1).sqrt()
            x = x + 0.01 * v
        (found,) = (x * x).sum().gradient(start)
        return found.numpy().item()

    assert slope(triumphs.mini().Tensor) == pytest.approx(slope(Tensor), rel=1e-5)


@claim(
    "Slopes do more than point downhill: with one for each pair of an input and a result, you can "
    "solve equations."
)
def four_throws():
    kind, throw = triumphs.mini().Tensor, (3.0, 3.0)
    for _ in range(3):
        throw = triumphs.next_throw(triumphs.landing, *(kind([v]) for v in throw), triumphs.HOOP)
    place = [triumphs.plain(end) for end in triumphs.landing(*(kind([v]) for v in throw))]
    assert np.allclose(place, triumphs.HOOP, atol=1e-4)


@claim("A gradient is made of ops that have rows, so it has a gradient.")
def gradients_of_gradients_in_mini():
    module = triumphs.mini()
    x = module.Tensor([0.5, 1.0, 1.5])
    f = (-x * x).exp()
    (slope,) = f.sum().gradient(x)
    computed = {u.op for u in slope.uop.toposort()} - {module.Ops.BUFFER, module.Ops.CONST}
    assert computed <= set(module.GRADIENT)
    (bend,) = slope.sum().gradient(x)
    v = x.numpy()
    assert np.allclose(bend.numpy(), (4 * v * v - 2) * np.exp(-v * v), atol=1e-5)


@claim("An op is a row in two tables, one for its values and one for its gradient.")
def two_rows_are_an_op():
    op = triumphs.taught(np.tanh, lambda grad, node, x: (grad * (1 - node * node),))
    x = triumphs.mini().Tensor([0.3, -1.0])
    (slope,) = op(x).sum().gradient(x)
    assert np.allclose(slope.numpy(), 1 - np.tanh(x.numpy()) ** 2, atol=1e-6)


@claim("A convolution needs a row of its own.")
def a_convolution_has_no_row():
    module = triumphs.mini()
    x, w = (module.Tensor(np.random.default_rng(0).random(s)) for s in ((2, 1, 5, 5), (3, 1, 3, 3)))
    y = x.conv2d(w)
    computed = {u.op for u in y.uop.toposort()} - {module.Ops.BUFFER, module.Ops.CONST}
    ops = module.Ops
    movement = {ops.RESHAPE, ops.PERMUTE, ops.EXPAND, ops.SHRINK, ops.PAD, ops.FLIP}
    assert computed <= movement | {ops.MUL, ops.REDUCE_AXIS}
    assert (y.sum().gradient(w)[0].numpy() > 0).all()


@claim("Looking at a value with numpy() changes nothing.")
def the_way_back_is_gone():
    x = triumphs.mini().Tensor([2.0])
    y = x * x
    assert y.sum().gradient(x)[0].numpy().item() == 4.0
    y.numpy()
    assert y.sum().gradient(x)[0].numpy().item() == 0.0
