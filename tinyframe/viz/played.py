"""Indices played out: the elements of memory that a kernel names while some of its loops run.

    elements_named(places, ranges)     # of INDEXes, as numbers of elements, each once

Every RANGE that runs is an array of all its values; the ops of an index are NumPy's on those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from tinyframe.uop.node import Ops, UOp, is_symbolic, length

MOST_PLAYED = 1 << 22  # combinations of ranges: 32 MB of numbers; more are not played

Values = dict[UOp, np.ndarray]

ON_ARRAYS: dict[Ops, Callable[..., np.ndarray]] = {
    Ops.ADD: np.add, Ops.SUB: np.subtract, Ops.MUL: np.multiply, Ops.IDIV: np.floor_divide,
    Ops.MOD: np.mod, Ops.MAX: np.maximum, Ops.MIN: np.minimum, Ops.CMPLT: np.less,
    Ops.CMPEQ: np.equal, Ops.CMPNE: np.not_equal, Ops.AND: np.bitwise_and, Ops.OR: np.bitwise_or,
    Ops.XOR: np.bitwise_xor, Ops.NEG: np.negative, Ops.WHERE: np.where,
}  # fmt: skip


class NotPlayed(ValueError):
    """It cannot be said before running which elements these are; the text says why."""


def elements_named(places: Iterable[UOp], ranges: Iterable[UOp]) -> np.ndarray:
    """The elements that these INDEXes of one argument name while `ranges` run, all others standing
    at 0: as numbers of the flattened argument, sorted, each once.

    NotPlayed where that depends on what is in memory or on a Variable, or is too much work.
    """
    running = list(ranges)
    return np.unique(np.concatenate([_named_by(place, running) for place in places]))


def _named_by(place: UOp, running: Sequence[UOp]) -> np.ndarray:
    below = place.toposort(lambda u: u.op is not Ops.RANGE)
    used = [u for u in below if u.op is Ops.RANGE]
    if any(isinstance(size, UOp) for size in place.arg) or any(map(is_symbolic, used)):
        raise NotPlayed("depends on a Variable")
    turning = [r for r in used if r in running]
    if math.prod(map(length, turning)) > MOST_PLAYED:
        raise NotPlayed("too many to draw")
    values: Values = {r: np.zeros((), int) for r in used}
    for axis, r in enumerate(turning):
        along = [-1 if a == axis else 1 for a in range(len(turning))]
        values[r] = np.arange(length(r)).reshape(along)
    flat = np.zeros((), int)
    for index, size in zip(place.src[2:], place.arg, strict=True):
        flat = flat * size + played(index, values)
    flat, valid = np.broadcast_arrays(flat, played(place.src[1], values))
    return flat[valid.astype(bool)].ravel()


def played(u: UOp, values: Values) -> np.ndarray:
    """An index for every combination of the ranges in `values`, to which all below it is added."""
    for x in u.toposort(lambda x: x not in values and x.op is not Ops.LOAD):
        if x in values:
            continue
        if x.op is Ops.LOAD:
            raise NotPlayed("depends on what is in memory")
        if x.op in (Ops.DEFINE_VAR, Ops.BIND):
            raise NotPlayed("depends on a Variable")
        if x.op is Ops.CONST:
            values[x] = np.array(x.arg)
        elif x.op is Ops.CAST:
            values[x] = values[x.src[0]]
        elif x.op in ON_ARRAYS:
            values[x] = ON_ARRAYS[x.op](*[values[s] for s in x.src])
        else:
            raise NotPlayed(f"has {x.op.name} in its index")
    return values[u]
