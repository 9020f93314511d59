"""NumPy in 64 bits wherever it may be, and einsum."""

import numpy as np

from tinyframe import Tensor
from tinyframe.rewrite.matcher import UPat
from tinyframe.uop import Ops


def slope(name, x, w):
    if name == "sigmoid":
        return x.sigmoid() * (-x).sigmoid()
    return w if name == "product" else x.add(x)


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


def straight_row(limit):
    """A factor of 0 or 1, in place of a choice."""

    def passed(grad, x):
        outside = (x < -limit).cast(grad.dtype) + (x > limit).cast(grad.dtype)
        return (grad * (1 - outside),)

    return [UPat(Ops.TRUNC, src=(UPat.var("x"),)), passed]


def slope_of_rate(loss, w, rate, steps):
    """All weights, from the first to the last, before anything is differentiated by the rate."""
    path = [w]
    while len(path) <= steps:
        path.append(path[-1] - loss(path[-1]).gradient(path[-1])[0] * rate)
    final = loss(path[-1])
    return final.gradient(w, rate)[1]


def paint(places, picture, most):
    """Bumps where the picture is bright, with a last layer by hand; then Adam for all of it."""
    from mini.part6 import Adam

    rng = np.random.default_rng(11)
    width = (most - 1) // 4
    angles = np.linspace(0, 2 * np.pi, width, endpoint=False)
    first = 2.5 * np.stack([np.cos(angles), np.sin(angles)])
    layers = [(Mini(first), Mini(rng.uniform(-1, 1, (1, width)))),  # noqa: F821
              (Mini(rng.normal(0, 0.05, (width, 1))), Mini([[-1.0]]))]  # noqa: F821  # fmt: skip
    adam = Adam([part for layer in layers for part in layer], lr=0.08)
    for _ in range(500):
        off = picture - brightness(places, layers)  # noqa: F821
        if adam.step((off * off).mean()).numpy() < 0.04:
            break
    return [[part.numpy() for part in layer] for layer in layers]
