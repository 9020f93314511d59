"""NumPy in 64 bits wherever it may be, and einsum."""

import numpy as np

from tinyframe import Tensor


def finite_difference(f, x, eps=0.01):
    """All nudges at once, as the rows of a matrix."""
    values = x.numpy().astype(np.float64)
    nudges = eps * np.eye(values.size).reshape(-1, *values.shape)

    def at(points):
        return np.array([f(Tensor(point.astype(np.float32))).item() for point in points])

    slopes = (at(values + nudges) - at(values - nudges)) / (2 * eps)
    return Tensor(slopes.reshape(values.shape))


def slope(name, x, w):
    if name == "sigmoid":
        return x.sigmoid() * (-x).sigmoid()
    return w if name == "product" else x.add(x)


def is_gradient(f, claimed, x):
    measured, said = (np.ravel(t.numpy()) for t in (finite_difference(f, x), claimed(x)))
    return np.allclose(said, measured, rtol=0, atol=0.02 * np.linalg.norm(measured, np.inf))


def mul_row(grad, x, y):
    return [np.einsum("...,...->...", grad, other) for other in (y, x)]


def expand_row(grad, shape):
    letters = "abcdefgh"[: grad.ndim]
    kept = "".join(c for c, a, b in zip(letters, grad.shape, shape, strict=True) if a == b)
    return np.einsum(f"{letters}->{kept}", np.float64(grad)).reshape(shape)


def max_row(grad, x):
    axes = np.flatnonzero(np.array(grad.shape) != x.shape)
    share = np.equal(x, np.amax(x, tuple(axes), keepdims=True)).astype(float)
    share /= np.sum(share, tuple(axes), keepdims=True)
    return share * grad


def huber(error, below, above):
    inside = error.clip(-below, above)
    return inside * (error - inside / 2)


def hessian(f, x):
    first = f(x).gradient(x)[0]
    units = np.eye(len(x.numpy()), dtype=np.float32)
    rows = [(first * Tensor(unit)).sum().gradient(x)[0].numpy() for unit in units]
    return Tensor(np.array(rows, np.float64))


def gradient_of_all(loss, start, batches):
    counts = np.array([batch.shape[0] for batch in batches])
    w = start()
    each = [loss(w, batch).gradient(w)[0].numpy() for batch in batches]
    return Tensor(np.einsum("n...,n->...", np.float64(each), counts / counts.sum()))


def train(x, y, weights):
    """By hand, backwards and all, in NumPy; Tensors at the end."""
    (a, b), w = (
        (np.float64(t.numpy()) for t in (x, y)),
        {k: np.float64(t.numpy()) for k, t in weights.items()},
    )
    losses = []
    for _ in range(800):
        hidden = np.tanh(a @ w["w1"] + w["b1"])
        out = 1 / (1 + np.exp(-(hidden @ w["w2"] + w["b2"])))
        losses.append(np.mean((out - b) ** 2))
        flow = 2 * (out - b) / b.size * out * (1 - out)
        back = flow @ w["w2"].T * (1 - hidden**2)
        slopes = {"w1": a.T @ back, "b1": back.sum(0), "w2": hidden.T @ flow, "b2": flow.sum(0)}
        w = {name: value - 2 * slopes[name] for name, value in w.items()}
    return {name: Tensor(value) for name, value in w.items()}, losses
