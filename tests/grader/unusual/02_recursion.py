"""Recursion in place of loops, and match in place of conditions."""

from functools import reduce
from itertools import accumulate, product
from operator import mul

from tinyframe.uop import Ops
from tinyframe.uop.node import GroupOp


def below(u, found):
    """This node and all nodes below it, each once."""
    if u not in found:
        found[u] = None
        [below(source, found) for source in u.src]
    return found


def kinds_of(tensor):
    def kind(u):
        match u.op:
            case Ops.REDUCE_AXIS:
                return "reduction"
            case op if op in GroupOp.Movement:
                return "movement"
            case op if op in GroupOp.Elementwise:
                return "elementwise"

    kinds = [kind(u) for u in below(tensor.uop, {})]
    return {name: kinds.count(name) for name in ("movement", "reduction", "elementwise")}


def kinds_in_kernel(kernel):
    nodes = below(kernel, {})
    places = reduce(lambda found, u: below(u, found) if u.op is Ops.INDEX else found, nodes, {})
    found = [(u.op is Ops.REDUCE, u in places) for u in nodes
             if u.op in {*GroupOp.Elementwise, Ops.REDUCE}]  # fmt: skip
    return {
        "reduction": sum(is_sum for is_sum, _ in found),
        "movement": found.count((False, True)),
        "elementwise": found.count((False, False)),
    }


def loops_of_sum(shape, axes, n=0):
    if n == len(shape):
        return ()
    loop = (shape[n], "reduce" if n in axes else "loop", reduce(mul, shape[n + 1 :], 1))
    rest = loops_of_sum(shape, axes, n + 1)
    kept = tuple(row for row in rest if row[1] == "loop")
    return (loop, *rest) if n not in axes else (*kept, loop, *rest[len(kept) :])


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


def predicted_kernels(steps, n, waiting=()):
    if not steps:
        return int(bool({*waiting} - {"transpose", "flip"}))
    step, *rest = steps
    turned = waiting[waiting.index("share") :].count("transpose") % 2 if "share" in waiting else 0
    match step:
        case "store":
            return bool(waiting) + predicted_kernels(rest, n)
        case "product":
            stop = {"exp", "product", "share"} & {*waiting}
        case "sums":
            stop = n >= 32 and "product" in waiting
        case "share":
            stop = "product" in waiting or turned
        case _:
            stop = False
    if stop:
        return 1 + predicted_kernels(rest, n, (step,))
    return predicted_kernels(rest, n, (*waiting, step))


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
