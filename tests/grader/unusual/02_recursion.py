"""Recursion in place of loops, and match in place of conditions."""

from functools import partial, reduce
from itertools import accumulate, product
from operator import mul


def cell(view, index):
    match view["strides"]:
        case [stride, *strides]:
            inner = {"strides": strides, "offset": view["offset"] + stride * index[0]}
            return cell(inner, index[1:])
    return view["offset"]


def reshaped(view, shape):
    """Merges axes that follow one another, and cuts what is merged into the new ones."""
    if 0 in shape:
        return dict(view, shape=shape)
    cells = [cell(view, place) for place in product(*map(range, view["shape"]))]
    after = list(accumulate(reversed(shape), mul, initial=1))[-2::-1]
    strides = [cells[n] - cells[0] if size > 1 else 7 for n, size in zip(after, shape, strict=True)]
    found = {"shape": tuple(shape), "strides": tuple(strides), "offset": cells[0]}
    again = (cell(found, place) for place in product(*map(range, shape)))
    return found if all(map(int.__eq__, again, cells)) else "copy"


def distances(maze, start, steps):
    """How often water is there, from the last step to the first."""

    def wet(after):
        if after == 0:
            return start
        before = wet(after - 1)
        wide = before.pad((1, 1), (1, 1))
        (h, w) = before.shape
        cuts = (((0, h), (1, 1 + w)), ((2, 2 + h), (1, 1 + w)), ((1, 1 + h), (0, w)),
                ((1, 1 + h), (2, 2 + w)))  # fmt: skip
        number = reduce(lambda total, cut: total + wide.shrink(*cut), cuts, before)
        return (number * maze > 0.5).where(1, 0)

    return 1 + steps - reduce(lambda total, n: total + wet(n), range(steps + 1), start * 0)


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
