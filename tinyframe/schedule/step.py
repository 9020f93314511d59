"""One step of the walk from a value to its sources: which of them are needed, and where.

Fusion goes these steps from the outputs to the inputs, to find where each value is used; lowering
goes them back, and finds the value at each place. So the arithmetic of indices is done once.

PAD and UNWINDOW are where an index may point outside. What they cover is looked at with a fresh
in-range RANGE in place of that index, a *placeholder*; `ranges.py` puts the real index in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tinyframe.algebra.symbolic import all_of, conjuncts
from tinyframe.uop.movement import (
    Indices,
    condition,
    is_inside,
    is_result,
    memory_state,
    source_indices,
)
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp, recursive_property

Conditions = dict[UOp, tuple[UOp, UOp]]
"""placeholder -> (the real index, when it is in range)"""


@dataclass
class Step:
    """From a value at some indices to its sources: which are needed, and where; the RANGEs of a
    reduce, the placeholders of a PAD."""

    sources: tuple[UOp, ...]
    indices: Indices
    real: Indices  # the same without placeholders, over a kernel's loops alone
    ranges: tuple[UOp, ...] = ()
    conditions: Conditions | None = None


Steps = dict[UOp, dict[Indices, Step]]
"""All that is computed in a kernel, and at which indices: the steps from there."""


def moved(indices: Indices, mapping: dict[UOp, UOp]) -> Indices:
    """Indices in terms of other ranges."""
    if all(i.op in (Ops.RANGE, Ops.CONST) for i in indices):
        return tuple([mapping.get(i, i) for i in indices])
    return tuple([i.substitute(mapping).simplify() for i in indices])


def depends_on(indices: Indices) -> frozenset[UOp]:
    """The RANGEs that occur in indices."""
    return frozenset[UOp]().union(*[i.ranges for i in indices])


def step_from(u: UOp, ix: Indices, real: Indices, numbers: Iterator[int]) -> Step:
    """The step from a value at these indices. `real`: the same without placeholders; `numbers`
    gives fresh range numbers."""
    if u.op is Ops.REDUCE_AXIS:
        ranges = {a: UOp.range(u.src[0].shape[a], next(numbers), AxisType.REDUCE) for a in u.arg[1]}
        inner, outer = (
            tuple([ranges.get(d, i) for d, i in enumerate(indices)]) for indices in (ix, real)
        )
        return Step(u.src, inner, outer, tuple(ranges.values()))
    inner = source_indices(u, ix)
    outer = inner if real == ix else source_indices(u, real)
    sources = sources_needed(u, ix, inner)
    if u.op not in (Ops.PAD, Ops.UNWINDOW) or not sources:
        return Step(sources, inner, outer)
    valid = conjuncts(condition(u, ix, inner))
    conditions, out = {}, list(inner)
    for d, (i, size) in enumerate(zip(inner, u.src[0].shape, strict=True)):
        if u.op is Ops.UNWINDOW:  # k is in range by itself; it is i whose place need not exist
            about_i = valid if d == u.arg[0] else []
        else:
            about_i = [c for c in valid if c.op is Ops.CONST or _speaks_of(c, i)]
        if about_i:
            placeholder = UOp.range(size, next(numbers))
            conditions[placeholder] = i.cast(placeholder.dtype), all_of(about_i)
            out[d] = placeholder
    return Step(sources, tuple(out), outer, conditions=conditions)


def _speaks_of(c: UOp, index: UOp) -> bool:
    return bool(c.ranges & index.ranges)


def sources_needed(u: UOp, ix: Indices, source_ix: Indices) -> tuple[UOp, ...]:
    """The sources of a value that decide it at `ix`, which is `source_ix` in them: of a choice one,
    where bounds tell which, and none of a PAD outside of what it pads. So a slice of a cat() is the
    part that it is in."""
    if u.op is Ops.PAD and is_inside(u, source_ix) is False:
        return ()
    if u.op is Ops.WHERE and (chosen := _decided(u.src[0], ix)) is not None:
        return u.src[1:2] if chosen else u.src[2:]
    return u.src[1:2] if u.op is Ops.ASSIGN else u.src[:1] if u.op is Ops.COPY else u.src


def _decided(condition: UOp, ix: Indices) -> bool | None:
    """What PADs of one truth value are at these indices; None for all that bounds do not tell."""
    while condition.op is Ops.PAD:
        ix = source_indices(condition, ix)
        if (inside := is_inside(condition, ix)) is not True:
            return inside
        condition = condition.src[0]
    constant = condition.base
    return constant.arg if is_leaf(condition) and constant.op is Ops.CONST else None


# ---- what nothing has to be computed for ------------------------------------------------------


def is_memory(u: UOp) -> bool:
    """A value that is in memory already: a BUFFER, or the result of a KERNEL, in any shape."""
    u = memory_state(u)
    return u.op is Ops.BUFFER or is_result(u)


@recursive_property
def _leaf(u: UOp) -> bool:
    one_value = u.op in _KEEPS_ONE_VALUE and _leaf.of(u.src[0]) and u.base.op is Ops.CONST
    return one_value or u.op in LEAVES or is_memory(u)


LEAVES = {Ops.CONST, Ops.IOTA, Ops.BIND, Ops.DEFINE_VAR}
_KEEPS_ONE_VALUE = GroupOp.Movement - {Ops.PAD, Ops.UNWINDOW}


def is_leaf(u: UOp) -> bool:
    """What nothing has to be computed for: memory, an index, a number in every element."""
    return _leaf.of(u)
