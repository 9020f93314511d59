"""Floats of 64 bits, and what is there already: tinyframe's own methods where they are allowed."""

from tinyframe import Tensor, dtypes


def slope(name, x, w):
    match name:
        case "square":
            return x + x
        case "product":
            return w
        case "sigmoid":
            s = 1 / (1 + (-x).exp())
            return s * (1 - s)


def huber(error, below, above):
    e = error.cast(dtypes.float64)
    middle = e.minimum(above).maximum(-below)
    return (e.detach() > above).where(
        above * (e - above / 2),
        (e.detach() < -below).where(below * (-e - below / 2), e * e / 2),
    ) + 0 * middle.detach()


def gradient_of_all(loss, start, batches):
    w = start()
    before = 0.0 if w.grad is None else w.grad.numpy().copy()
    rows = sum(map(len, batches))
    for batch in batches:
        loss(w, batch).mul(len(batch) / rows).backward()
    return Tensor(w.grad.numpy() - before)


def forwards(f, x, direction, rules):
    """Nothing but speeds: zeros are written out everywhere, and multiplied too."""
    root = f(x).uop
    speeds = {x.uop: direction.uop}
    for u in root.toposort():
        if u.op.name in rules and u is not x.uop:
            for source in u.src:
                speeds.setdefault(source, source.const_like(0))
            speeds[u] = rules[u.op.name](u, tuple(speeds[source] for source in u.src))
    return Tensor(speeds[root])


def slope_of_rate(loss, w, rate, steps):
    """With gradients of nodes, and a step that is a node."""
    from mini.part6 import gradient

    node, number = w.uop, rate.uop
    for _ in range(steps):
        node = node + -1 * number * gradient(loss(Mini(node)).uop, node)[0]  # noqa: F821
    return Mini(gradient(loss(Mini(node)).uop, number)[0])  # noqa: F821
