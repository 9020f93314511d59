"""Gradients: for each primitive op, the gradients of its sources.

A row gets `grad`, the gradient of the loss with respect to this node, and the nodes named in its
pattern (`z` is the node itself); it returns one gradient, or None, per source. `z = x * y` is the
shortest full example: dz/dx = y and dz/dy = x.

`compute_gradient` walks from the loss to the inputs and sums the gradients that arrive at each
node. Its results are graphs like any other, so they can be differentiated again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from tinyframe.device import is_overwritten
from tinyframe.dtype import dtypes, sum_acc_dtype
from tinyframe.errors import GradientError
from tinyframe.rewrite.matcher import PatternMatcher, UPat
from tinyframe.tensor.base import Storage, follow, path_between, storages_at
from tinyframe.tensor.history import Lost, Origin, flows, flows_to, origin_of, sources
from tinyframe.uop.movement import numbers_along, place_dtype
from tinyframe.uop.node import Ops, UOp, collector_paused, identity, sint, sources_first

Gradients = tuple[UOp | None, ...]


# ---- helpers of the rows -------------------------------------------------------------------------


def zeros(u: UOp) -> UOp:
    """0 in the shape, dtype and device of `u`."""
    device = () if u.device is None else (UOp(Ops.DEVICE, arg=u.device),)
    return UOp(Ops.CONST, u.dtype, device, dtypes.as_const(0, u.dtype)).broadcast_to(u.shape)


def sum_to(u: UOp, axes: tuple[int, ...]) -> UOp:
    """The sum over axes, which keep size 1; half and bfloat16 are summed in float32."""
    return u.cast(sum_acc_dtype(u.dtype)).reduce_axis(Ops.ADD, axes).cast(u.dtype)


def nonzero(x: UOp) -> UOp:
    """x with 1 in place of 0."""
    return x.eq(0).where(x.const_like(1), x)


# ---- elementwise ---------------------------------------------------------------------------------


def maximum(grad: UOp, x: UOp, y: UOp) -> Gradients:
    """To the larger one; half to each where they are equal; all to both where one is NaN."""
    tie = x.eq(y).where(grad * 0.5, grad)
    zero = grad.const_like(0)
    return (x < y).where(zero, tie), (y < x).where(zero, tie)


def power(grad: UOp, z: UOp, x: UOp, y: UOp) -> Gradients:
    """z = x**y: dz/dx is y * x**(y-1), and 0 where y is 0; dz/dy is z * log(x), and 0 where x is 0
    and y is not negative, the limit from above."""
    zero = grad.const_like(0)
    by_base = y.eq(0).where(zero, grad * y * x.alu(Ops.POW, y - 1))
    flat = x.eq(0) & (y < 0).logical_not()
    by_exponent = flat.where(zero, grad * z * (flat.where(x.const_like(1), x).log2() * math.log(2)))
    return by_base, by_exponent


# ---- reductions ----------------------------------------------------------------------------------


def maximum_of_all(grad: UOp, z: UOp, x: UOp) -> Gradients:
    """To the maximum, in equal parts if there are several; NaN counts as the largest. They are
    counted in float32: half ends at 65504."""
    largest = x.eq(z.expand(x.shape)) | x.ne(x)
    count = largest.cast(sum_acc_dtype(grad.dtype)).reduce_axis(Ops.ADD, z.arg[1])
    share = (grad.cast(count.dtype) / count).cast(grad.dtype).expand(x.shape)
    return (largest.where(share, share.const_like(0)),)


def product_of_all(grad: UOp, z: UOp, x: UOp) -> Gradients:
    """To each the product of all others, exact where some are 0, and so for the second gradient.

    `rest` is the product of the others that are not 0. If none of the others is 0 that is it; if
    one is, the product is that one times `rest`: 0, but not constant. If more are it stays 0.
    """
    axes, shape = z.arg[1], x.shape
    is_zero = x.eq(0)
    without_zeros = nonzero(x)
    rest = without_zeros.reduce_axis(Ops.MUL, axes).expand(shape) / without_zeros
    only_zeros = is_zero.where(x, x.const_like(0))
    other_zero = only_zeros.reduce_axis(Ops.ADD, axes).expand(shape) + only_zeros * -1
    marks = is_zero.cast(dtypes.int32)
    zeros_among_others = marks.reduce_axis(Ops.ADD, axes).expand(shape) + marks * -1
    others = zeros_among_others.eq(1).where(other_zero * rest, x.const_like(0))
    return (grad.expand(shape) * zeros_among_others.eq(0).where(rest, others),)


def scan(grad: UOp, z: UOp, x: UOp) -> Gradients:
    """z is a linear recurrence, z[i] = x[i] * z[i-1] + …: a sum's factors are 1, and a maximum's 0
    where it is new. So what flows to z[i] is one too, from the last element to the first:
    later[i] = grad[i] + x[i+1] * later[i+1]."""
    (op, axis), size = z.arg, z.shape[z.arg[1]]
    backwards = tuple(d == axis for d in range(len(z.shape)))

    def part(u: UOp, begin: sint, end: sint) -> UOp:
        return u.shrink(tuple((begin, end) if d == axis else (0, s) for d, s in enumerate(u.shape)))

    if op is Ops.ADD:
        return (grad.flip(backwards).scan_axis(op, axis).flip(backwards),)
    is_new = x.eq(z) | x.ne(x)
    factors = is_new.logical_not().cast(grad.dtype) if op is Ops.MAX else x
    following = _fitted(part(factors, 1, size), axis, size).flip(backwards)
    later = following.scan_axis(Ops.MULACC, axis, grad.flip(backwards)).flip(backwards)
    if op is Ops.MAX:
        return (is_new.where(later, zeros(later)),)
    start = part(zeros(z), 0, 1) + identity(op, z.dtype)
    of_factors = later * start.cat(part(z, 0, size - 1), dim=axis)
    return (of_factors,) if op is Ops.MUL else (of_factors, later)


# ---- movement ------------------------------------------------------------------------------------


def window(grad: UOp, z: UOp, x: UOp) -> Gradients:
    """The sum over all windows that contain an element."""
    axis, size, stride, dilation = z.arg
    known = all(isinstance(s, int) for s in (*x.shape, *z.shape))
    if known and size > stride > 1 and dilation == 1:
        return (_by_phase(grad, axis, stride, x.shape[axis]),)
    places = grad.unwindow(axis, stride, dilation, x.shape[axis])
    return (sum_to(places, (len(z.shape) - 1,)).reshape(x.shape),)


def _by_phase(grad: UOp, axis: int, stride: int, length: int) -> UOp:
    """The sum of windows that lie `stride` apart and overlap, for elements m*stride + r. Such an
    element is in place k = a*stride + r of window m - a: for each r, windows side by side."""
    last, count = len(grad.shape) - 1, -(-grad.shape[-1] // stride)
    apart = _fitted(grad, last, count * stride).reshape((*grad.shape[:-1], count, stride))
    front, back = range(axis + 1), range(axis + 1, last)
    apart = apart.permute((*front, last + 1, *back, last))  # r next to the windows, a last
    apart = apart.unwindow(axis, 1, 1, apart.shape[axis] + count - 1)
    summed = sum_to(apart, (last + 1,))
    shape = [*grad.shape[:axis], apart.shape[axis] * stride, *grad.shape[axis + 1 : last]]
    return _fitted(summed.reshape(tuple(shape)), axis, length)  # 0 outside all windows


def unwindow(grad: UOp, z: UOp, x: UOp) -> Gradients:
    """From element `o*stride + k*dilation` of row k back to (o, k): windows over all rows, of which
    only the diagonal, row k at position k, is used."""
    axis, stride, dilation, _ = z.arg
    count, size = x.shape[axis], x.shape[-1]
    needed = (count - 1) * stride + dilation * (size - 1) + 1
    windows = _fitted(grad, axis, needed).window(axis, size, stride, dilation)
    return (_diagonal(windows),)


def take(grad: UOp, z: UOp, x: UOp) -> Gradients:
    """All that flows to an element, from each place that it was taken to; half and bfloat16 are
    added up in float32. If one of a row is taken, each element looks whether it is that one."""
    index, wide = z.src[1], sum_acc_dtype(grad.dtype)
    if index.shape[z.arg] == 1:
        dtype = place_dtype(index.dtype)
        here = index.cast(dtype).expand(x.shape).eq(numbers_along(x.shape, z.arg).cast(dtype))
        return here.where(grad.expand(x.shape), zeros(x)), None
    memory = zeros(x).cast(wide).contiguous()
    view = memory.take(z.arg, index)
    return memory.assign(grad.cast(wide), view, Ops.ADD).cast(x.dtype), None


def _fitted(u: UOp, axis: int, length: sint) -> UOp:
    """An axis cut, or padded with zeros, at its end."""
    more = tuple((0, max(0, length - s) if d == axis else 0) for d, s in enumerate(u.shape))
    return u.pad(more).shrink(tuple((0, length if d == axis else s) for d, s in enumerate(u.shape)))


def _diagonal(u: UOp) -> UOp:
    """The diagonal of the last two axes, of size n: every (n+1)-th of their n*n elements."""
    *front, n, _ = u.shape
    flat = u.reshape((*front, n * n))
    rows = _fitted(flat, len(front), n * n + n).reshape((*front, n, n + 1))
    return _fitted(rows, len(front) + 1, 1).reshape((*front, n))


# ---- memory --------------------------------------------------------------------------------------


def assign(grad: UOp, z: UOp) -> Gradients:
    """To the value; the overwritten elements get none. A third source is the view of the first that
    is written to: then the first gets the gradient of all other elements."""
    state, _, *views = z.src
    if not views:
        return None, grad
    (view,) = views
    if view.op is Ops.TAKE:
        return (*_assign_at(grad, z, view.src[1], view.arg), None)
    inside = put_back(view, state, _true(view))
    steps = path_between(state, view)
    return inside.where(grad.const_like(0), grad), follow(steps, grad), None


def _assign_at(grad: UOp, z: UOp, index: UOp, axis: int) -> tuple[UOp, UOp]:
    """The gradients of the memory and the values of an ASSIGN at places that are data."""
    state, value, view = z.src
    path = path_between(state, view.src[0])

    def taken(u: UOp) -> UOp:
        return follow(path, u).take(axis, index)

    def with_values(u: UOp, value: UOp, op: Ops | None) -> UOp:
        return with_part(u, taken(u), value, op)

    def shares(weight: UOp, own: UOp, of_value: UOp) -> tuple[UOp, UOp]:
        """weight, and what is taken of it, where that holds."""
        kept, passed = weight, taken(weight)
        return own.where(kept, zeros(kept)), of_value.where(passed, zeros(passed))

    match z.arg:
        case Ops.ADD:
            return grad, taken(grad)
        case None:  # the last value for a place, which was that with the largest number
            number = numbers_along(index.shape, axis)
            last = with_values(zeros(state).cast(number.dtype) - 1, number, Ops.MAX)
            at = taken(last).eq(number)
            return with_values(grad, zeros(value), None), at.where(taken(grad), zeros(value))
        case Ops.MAX:
            wide, best = sum_acc_dtype(grad.dtype), taken(z)
            own, of_value = state.eq(z) | state.ne(state), value.eq(best) | value.ne(value)
            count = with_values(own.cast(wide), of_value.cast(wide), Ops.ADD)
            return shares((grad.cast(wide) / count).cast(grad.dtype), own, of_value)
    # a product: of all others that are not 0, where none of the others is
    count = with_values(state.eq(0).cast(dtypes.int), value.eq(0).cast(dtypes.int), Ops.ADD)
    product = with_values(nonzero(state), nonzero(value), Ops.MUL)
    others = count - state.eq(0).cast(dtypes.int), taken(count) - value.eq(0).cast(dtypes.int)
    flowing = shares(grad * product, others[0].eq(0), others[1].eq(0))
    return flowing[0] / nonzero(state), flowing[1] / nonzero(value)


# ---- the table -----------------------------------------------------------------------------------

# the tag of a CONTIGUOUS whose gradient is stored too
STORED_BOTH_WAYS = "both ways"

x, y = UPat.var("x"), UPat.var("y")

rules: list[tuple[UPat, Callable[..., Any]]] = [
    # one source
    (UPat(Ops.CAST, src=(x,)), lambda grad, x: (grad.cast(x.dtype),)),
    (UPat(Ops.NEG), lambda grad: (-grad,)),
    (UPat(Ops.RECIP, name="z"), lambda grad, z: (-grad * z * z,)),
    (UPat(Ops.SQRT, name="z"), lambda grad, z: (grad / (z * 2),)),
    (UPat(Ops.EXP2, name="z"), lambda grad, z: (grad * z * math.log(2),)),
    (UPat(Ops.LOG2, src=(x,)), lambda grad, x: (grad / (x * math.log(2)),)),
    (UPat(Ops.SIN, src=(x,)), lambda grad, x: (grad * x.cos(),)),
    (UPat(Ops.COS, src=(x,)), lambda grad, x: (-grad * x.sin(),)),
    (UPat(Ops.TRUNC), lambda grad: (zeros(grad),)),
    # two
    (UPat(Ops.ADD), lambda grad: (grad, grad)),
    (UPat(Ops.SUB), lambda grad: (grad, -grad)),
    (UPat(Ops.MUL, src=(x, y)), lambda grad, x, y: (grad * y, grad * x)),
    (UPat(Ops.FDIV, src=(x, y), name="z"), lambda grad, z, y: (grad / y, -grad * (z / y))),
    (UPat(Ops.IDIV), lambda grad: (zeros(grad), zeros(grad))),
    # z = x - floor(x/y) * y
    (UPat(Ops.MOD, src=(x, y)), lambda grad, x, y: (grad, grad * (x.alu(Ops.IDIV, y) * -1))),
    # z = x - trunc(x/y) * y
    (UPat(Ops.FMOD, src=(x, y), name="z"), lambda grad, z, x, y: (grad, grad * ((z - x) / y))),
    (UPat(Ops.MAX, src=(x, y)), maximum),
    (UPat(Ops.POW, src=(x, y), name="z"), power),
    # three
    (UPat(Ops.WHERE, src=(UPat.var("condition"), UPat(), UPat())), lambda grad, condition: (
        None,
        condition.where(grad, grad.const_like(0)),
        condition.where(grad.const_like(0), grad))),
    (UPat(Ops.MULACC, src=(x, y, UPat())), lambda grad, x, y: (grad * y, grad * x, grad)),
    # reductions
    (UPat(Ops.REDUCE_AXIS, src=(x,), name="z"), lambda grad, z, x: {
        Ops.ADD: lambda *_: (grad.expand(x.shape),),
        Ops.MAX: maximum_of_all,
        Ops.MUL: product_of_all,
    }[z.arg[0]](grad, z, x)),
    (UPat(Ops.SCAN_AXIS, src=(x,), allow_any_len=True, name="z"), scan),
    # movement: the elements of the gradient go back to where those of the source came from
    (UPat(Ops.RESHAPE, src=(x,)), lambda grad, x: (grad.reshape(x.shape),)),
    (UPat(Ops.PERMUTE, name="z"), lambda grad, z: (
        grad.permute(tuple(z.arg.index(d) for d in range(len(z.arg)))),)),
    (UPat(Ops.EXPAND, src=(x,), name="z"), lambda grad, x, z: (
        sum_to(grad, tuple(d for d, s in enumerate(x.shape) if s != z.shape[d])),)),
    (UPat(Ops.PAD, src=(x,), name="z"), lambda grad, x, z: (
        grad.shrink(tuple((b, b + s) for (b, _), s in zip(z.arg, x.shape, strict=True))),)),
    (UPat(Ops.SHRINK, src=(x,), name="z"), lambda grad, x, z: (
        grad.pad(tuple((b, s - e) for (b, e), s in zip(z.arg, x.shape, strict=True))),)),
    (UPat(Ops.FLIP, name="z"), lambda grad, z: (grad.flip(z.arg),)),
    (UPat(Ops.WINDOW, src=(x,), name="z"), window),
    (UPat(Ops.UNWINDOW, src=(x,), name="z"), unwindow),
    (UPat(Ops.TAKE, src=(x, UPat()), name="z"), take),
    # memory
    (UPat(Ops.CONTIGUOUS, name="z"), lambda grad, z: (
        grad.contiguous() if z.tag == STORED_BOTH_WAYS else grad,)),
    (UPat(Ops.FUSE), lambda grad: (grad,)),
    (UPat(Ops.DETACH), lambda grad: (None, grad)),
    (UPat(Ops.COPY, src=(x, UPat())), lambda grad, x: (grad.copy_to_device(x.device), None)),
    (UPat(Ops.ASSIGN, name="z"), assign),
]  # fmt: skip
gradient_rules = PatternMatcher(rules)

# ---- the walk ------------------------------------------------------------------------------------


def below_with_history(root: UOp) -> dict[UOp, None]:
    """All nodes that `root` depends on, and itself, sources first, through histories too."""
    return sources_first((root,), sources)


def values_of_storages(below: Iterable[UOp]) -> dict[Storage, list[UOp]]:
    """The values that each storage has or had among these nodes, sources first; without those from
    which a later one was computed."""
    found: dict[Storage, list[UOp]] = {}
    for u in below:
        for storage in storages_at(u):
            found.setdefault(storage, []).append(u)
    return {storage: _last_ones(values) for storage, values in found.items()}


def _last_ones(values: list[UOp]) -> list[UOp]:
    last: list[UOp] = []
    passed: dict[UOp, None] = {}
    for u in reversed(values) if len(values) > 1 else ():
        if u not in passed:
            last.append(u)
            more = sources_first((u,), flows_to, known=passed)
            passed.update(more)
    return last or values


@collector_paused()
def compute_gradient(
    root: UOp,
    root_grad: UOp,
    targets: Collection[UOp],
    below: Iterable[UOp] | None = None,
) -> dict[UOp, UOp]:
    """The gradient of `root` with respect to every node between it and `targets`, inclusive.

    root_grad: the incoming gradient, of the root's shape and dtype. It flows through the history of
    realized values. A target on which the root does not depend, or only through ops that stop
    gradients, is not in the result. below: below_with_history(root), if that is known already.
    """
    below = below_with_history(root) if below is None else below
    order = [u for u in below if dtypes.is_float(u.dtype)]
    leads_to_target: set[UOp] = set()
    for u in order:
        if u in targets or (flows(u) and not leads_to_target.isdisjoint(sources(u))):
            leads_to_target.add(u)

    grads = {root: root_grad}
    for u in reversed(order):
        if u not in grads or not flows(u) or leads_to_target.isdisjoint(src := sources(u)):
            continue
        flowing = (grads[u],) if isinstance(origin_of(u), Origin) else flow_back(u, grads[u])
        for source, grad in zip(src, flowing, strict=True):
            if grad is not None and source in leads_to_target:
                grads[source] = grads[source] + grad if source in grads else grad
    return grads


def is_cut_off(root: UOp, targets: Collection[UOp]) -> bool:
    """Whether a target would get a gradient from `root` if nothing were detached."""

    def through(u: UOp) -> tuple[UOp, ...]:
        is_open = flows(u) or (u.op is Ops.DETACH and dtypes.is_float(u.dtype))
        return sources(u) if is_open else ()

    return any(u in targets for u in sources_first((root,), through))


def lost_below(root: UOp, below: Iterable[UOp]) -> dict[Storage, str]:
    """The storages that gradients of `root` no longer reach, since a history below it was dropped,
    and the reason. below: below_with_history(root)."""
    if not any(isinstance(origin_of(u), Lost) for u in below):
        return {}
    through = sources_first((root,), flows_to)
    lost = [o for u in through if flows(u) and isinstance(o := origin_of(u), Lost)]
    return {storage: origin.why for origin in lost for storage in origin.storages()}


def readable(grads: Sequence[UOp], root: UOp, below: Iterable[UOp]) -> list[UOp]:
    """Gradients as graphs that can be computed now.

    They depend on nodes in the past of `root`: in `below`, its below_with_history(). Of these,
    values whose memory was overwritten are recomputed from their history, and in-place changes are
    replaced by the values they produced. GradientError if a value is gone and has no history.
    """
    # of a realized value `below` has the history, and not the BUFFER below a view
    bases = (u.base for u in below if u.op is Ops.BUFFER or origin_of(u) is not None)
    if not any(u.op is Ops.ASSIGN for u in below) and not any(map(is_overwritten, bases)):
        return list(grads)
    present = root.toposort(gate=lambda u: origin_of(u) is None)
    done: dict[UOp, UOp] = {}
    for u in sources_first(grads, lambda u: sources(u) if _is_recomputed(u) else u.src):
        if _is_recomputed(u):
            (computed,) = sources(u)
            done[u] = done[computed]
        elif u.op is Ops.BUFFER and is_overwritten(u):
            raise GradientError(
                f"this gradient needs {u.arg} values of {u.dtype} that are gone: their memory was "
                "changed in place (by assign(), a slice assignment or an optimizer's step) after "
                "they were used. Ask for the gradient before the change, or compute it again from "
                "the current values"
            )
        else:
            src = tuple([done[s] for s in u.src])
            new = u if src == u.src else u.replace(src=src)
            if u.op is Ops.ASSIGN and u not in present and u.src[1].op is not Ops.KERNEL:
                state, value, *views = src  # the value alone, without changing memory
                new = with_part(state, views[0], value, u.arg) if views else value
            done[u] = new
    return [done[grad] for grad in grads]


def _is_recomputed(u: UOp) -> bool:
    """Whether a realized value was overwritten, and can be recomputed from its history: not one
    that was written without gradients, of which that is the history of an older value."""
    origin = origin_of(u)
    is_its_own = isinstance(origin, Origin) and origin.uop.op is not Ops.DETACH
    return is_its_own and is_overwritten(u.base)


def with_part(whole: UOp, view: UOp, value: UOp, op: Ops | None = None) -> UOp:
    """`whole` with the part that `view` shows replaced by `value`, or at places that are data
    combined with it."""
    if view.op is Ops.TAKE:
        memory = whole.contiguous()
        part = follow(path_between(whole, view.src[0]), memory)
        return memory.assign(value, part.take(view.arg, view.src[1]), op)
    inside, put = put_back(view, whole, _true(view)), put_back(view, whole, value)
    return inside.where(put, whole)


def put_back(view: UOp, whole: UOp, value: UOp) -> UOp:
    """A value of the shape of `view` at its positions in `whole`, 0 elsewhere."""
    while view is not whole:
        if view.op is not Ops.DETACH:  # it stops gradients, but moves no element
            (value,) = flow_back(view, value)  # type: ignore[assignment]
        view = view.src[0]
    return value


def _true(u: UOp) -> UOp:
    return UOp.const(dtypes.bool, True).broadcast_to(u.shape)


def flow_back(u: UOp, grad: UOp) -> Gradients:
    """The gradients of a node's sources, given its own: by the first row that matches."""
    for rule in gradient_rules.candidates(u.op, u.dtype):
        for named in rule.pattern.match(u, {"grad": grad}):
            given = named.keys() if rule.parameters is None else named.keys() & rule.parameters
            return rule.function(**{name: named[name] for name in given})  # type: ignore[return-value]
    raise GradientError(f"there is no gradient of {u.op}")
