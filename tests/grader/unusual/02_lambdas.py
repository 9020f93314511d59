"""Tables of lambdas, generators turned into tuples, and the walrus."""

from functools import partial
from itertools import pairwise, product

from tinyframe.uop import Ops
from tinyframe.uop.node import GroupOp

GROUPS = {
    "movement": GroupOp.Movement.__contains__,
    "elementwise": GroupOp.Elementwise.__contains__,
    "reduction": {Ops.REDUCE_AXIS, Ops.REDUCE}.__contains__,
}
count = lambda group, nodes: sum(1 for u in nodes if group(u.op))  # noqa: E731
kinds_of = lambda t: {k: count(g, [*t.uop.toposort()]) for k, g in GROUPS.items()}  # noqa: E731
ranges = partial(filter, lambda u: u.op is Ops.RANGE)


def loops_of(kernel):
    return tuple(
        [u.src[0].arg, "reduce" if "REDUCE" in str(u.arg[1]) else "loop"]
        for u in sorted(ranges(kernel.toposort()), key=lambda u: u.arg[0])
    )


def loops_of_sum(shape, axes):
    step, rows = 1, []
    for axis, size in reversed([*enumerate(shape)]):
        rows.append((axis in axes, axis, size, step))
        step *= size
    return [[size, ("loop", "reduce")[added], step] for added, _, size, step in sorted(rows)]


cell = lambda view, index: sum(  # noqa: E731
    (i * s for i, s in zip(index, view["strides"], strict=True)), view["offset"]
)

MOVED = {
    "permute": lambda n, s, o, axes: ([n[a] for a in axes], [s[a] for a in axes], o),
    "flip": lambda n, s, o, axes: (
        n,
        [-step if a in axes else step for a, step in enumerate(s)],
        o + sum((n[a] - 1) * s[a] for a in axes),
    ),
    "shrink": lambda n, s, o, bounds: (
        [stop - begin for begin, stop in bounds],
        s,
        o + sum(begin * step for (begin, _), step in zip(bounds, s, strict=True)),
    ),
    "expand": lambda n, s, o, new: (new, [t if a == b else 0 for t, a, b in zip(s, n, new)], o),  # noqa: B905
    "unfold": lambda n, s, o, arg: (
        [*n[: arg[0]], 1 + (n[arg[0]] - arg[1]) // arg[2], *n[arg[0] + 1 :], arg[1]],
        [*s[: arg[0]], s[arg[0]] * arg[2], *s[arg[0] + 1 :], s[arg[0]]],
        o,
    ),
}


def moved(view, name, argument):
    keys = "shape", "strides", "offset"
    return {**dict(zip(keys, MOVED[name](*map(view.get, keys), argument), strict=True))}


def reshaped(view, shape):
    """The new strides follow from neighbours; then each step along each axis has to be the same."""
    old = [cell(view, place) for place in product(*(range(size) for size in view["shape"]))]
    places = [*product(*(range(size) for size in shape))]
    where = dict(zip(places, old, strict=True))
    strides = []
    for axis, size in enumerate(shape):
        lines = {}
        for place in places:
            lines.setdefault((*place[:axis], *place[axis + 1 :]), []).append(where[place])
        steps = {b - a for line in lines.values() for a, b in pairwise(line)}
        if len(steps) > 1:
            return "".join(["co", "py"])
        strides.append(steps.pop() if size > 1 else 0)
    return {"offset": old[0], "strides": strides, "shape": tuple(shape)}


def einsum(formula, *tensors):
    """Two Tensors at a time by `@` where that is all, else everything expanded to the full size."""
    before, after = formula.split("->")
    sizes = {c: n for name, t in zip(before.split(","), tensors, strict=True)
             for c, n in zip(name, t.shape, strict=True)}  # fmt: skip
    order = [*after, *(c for c in dict.fromkeys(before.replace(",", "")) if c not in after)]
    there = lambda name: [c for c in order if c in name]  # noqa: E731
    full = [
        t.permute(*map(name.index, there(name)))
        .reshape(*(sizes[c] if c in name else 1 for c in order))
        .expand(*map(sizes.get, order))
        for name, t in zip(before.split(","), tensors, strict=True)
    ]
    total = partial(max, key=lambda t: 0)(full[:1])
    for more in full[1:]:
        total = more * total
    for axis in reversed(range(len(after), len(order))):
        total = total.sum(axis)
    return total
