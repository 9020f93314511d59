"""One expression for each task, as far as it goes."""

from functools import partial, reduce
from itertools import repeat, starmap

import numpy as np

from tinyframe import Tensor, TinyJit, dtypes
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop import Ops

slope = lambda name, x, w: (  # noqa: E731
    w if name == "product" else (x + x) if name == "square" else (1 - (s := x.sigmoid())) * s
)
mul_row = lambda grad, x, y: tuple(map(partial(np.multiply, grad), (y, x)))  # noqa: E731
expand_row = lambda grad, shape: reduce(  # noqa: E731
    lambda g, d: g.sum(d, keepdims=True) if shape[d] == 1 else g, range(len(shape)), grad
)
max_row = lambda grad, x: (  # noqa: E731
    (at := x >= np.max(x, axis=(axes := tuple(
        d for d, (a, b) in enumerate(zip(grad.shape, x.shape, strict=True)) if a != b
    )), keepdims=True)) / at.sum(axes, keepdims=True) * grad
)  # fmt: skip


def is_gradient(f, claimed, x):
    """Each element by itself, in Python's floats."""
    measured = finite_difference(f, x, 0.005)  # noqa: F821
    said, measured = (t.flatten().tolist() for t in (claimed(x), measured))
    most = 0.02 * max(map(abs, measured))
    return all(abs(a - b) <= most for a, b in zip(said, measured, strict=True))


def old_names():
    made = {
        "Exp": Tensor.exp, "Log": Tensor.log, "Sum": Tensor.sum, "Max": Tensor.max,
        "Relu": Tensor.relu, "Neg": Tensor.neg,
        "_broadcasted": lambda x: x.reshape(1, 3).expand(2, 3),
    }  # fmt: skip
    of_interest = {"EXP2", "LOG2", "REDUCE_AXIS", "WHERE", "EXPAND", "MUL"}
    best = ["EXP2", "LOG2", "REDUCE_AXIS", "WHERE", "MUL", "EXPAND"]
    found = {}
    for name, function in made.items():
        ops = {u.op.name for u in function(Tensor([1.0, 2.0, 3.0]).realize()).uop.toposort()}
        found[name] = min(ops & of_interest, key=best.index)
    return found | {"Less": None}


def huber(error, below, above):
    over, under = error > above, error < -below
    weight = (over | under).where(0.0, 1.0)
    linear = over.where(above, under.where(-below, 0.0))
    constant = over.where(-above * above / 2, under.where(-below * below / 2, 0.0))
    return weight * error * error / 2 + linear * error + constant


minimum_row = lambda: (  # noqa: E731
    UPat(Ops.MIN, src=(UPat.var("a"), UPat.var("b"))),
    lambda grad, a, b: tuple(starmap(
        lambda p, q: (q < p).where(grad.const_like(0), p.eq(q).where(grad * 0.5, grad)),
        [(a, b), (b, a)],
    )),
)  # fmt: skip


def gradient_of_all(loss, start, batches):
    w = start()
    sizes = [len(batch) for batch in batches]
    parts = [loss(w, b).gradient(w)[0].realize() * n for b, n in zip(batches, sizes, strict=True)]
    return sum(parts[1:], parts[0]) / sum(sizes)


def train(x, y, weights, steps=400):
    """With momentum; what moves is one flat Tensor."""
    names, shapes = [*weights], [t.shape for t in weights.values()]
    sizes = [int(np.prod(shape)) for shape in shapes]
    flat = Tensor.cat(*[t.flatten() for t in weights.values()]).realize()

    def unpacked(flat):
        ends = np.cumsum(sizes).tolist()
        parts = zip(names, shapes, sizes, ends, strict=True)
        return {name: flat[end - size : end].reshape(shape) for name, shape, size, end in parts}

    @TinyJit
    def step(flat, speed):
        loss = ((predict(x, unpacked(flat)) - y) ** 2).mean()  # noqa: F821
        speed = 0.8 * speed + loss.gradient(flat)[0]
        return [t.realize() for t in ((flat - 0.5 * speed), speed, loss)]

    speed, losses = Tensor.zeros(sum(sizes), dtype=dtypes.float32).contiguous().realize(), []
    for _ in repeat(None, steps):
        flat, speed, loss = step(flat, speed)
        losses.append(loss.item())
    return unpacked(flat), tuple(losses)
