"""One step of the walk from a value to its sources: which ones are needed, and at which indices.

Fusion takes these steps from the outputs to the inputs, to find where each value is used; lowering
takes them in reverse, to compute the value at those indices. So index arithmetic is done once.

Under a PAD or an UNWINDOW an index may be out of range. Their source gets a fresh in-range RANGE in
place of that index, a *placeholder*; `ranges.py` substitutes the real index.
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
"""placeholder -> (the real index, the condition that it is in range)"""


@dataclass
class Step:
    """A step from a value at some indices to its sources.

    sources: the ones needed. indices: those of the sources. real: the same without placeholders,
    over a kernel's loops alone. ranges: of a reduce. conditions: of the placeholders of a PAD.
    """

    sources: tuple[UOp, ...]
    indices: Indices
    real: Indices
    ranges: tuple[UOp, ...] = ()
    conditions: Conditions | None = None


Steps = dict[UOp, dict[Indices, Step]]
"""Everything computed in a kernel -> the indices it is computed at -> the step from there."""


def reindexed(indices: Indices, mapping: dict[UOp, UOp]) -> Indices:
    """Indices in terms of other ranges."""
    if all(i.op in (Ops.RANGE, Ops.CONST) for i in indices):
        return tuple([mapping.get(i, i) for i in indices])
    return tuple([i.substitute(mapping).simplify() for i in indices])


def depends_on(indices: Indices) -> frozenset[UOp]:
    """The RANGEs that the indices depend on."""
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
        if u.op is Ops.UNWINDOW:  # k is always in range; i may not be
            about_i = valid if d == u.arg[0] else []
        else:
            about_i = [c for c in valid if c.op is Ops.CONST or _about(c, i)]
        if about_i:
            placeholder = UOp.range(size, next(numbers))
            conditions[placeholder] = i.cast(placeholder.dtype), all_of(about_i)
            out[d] = placeholder
    return Step(sources, tuple(out), outer, conditions=conditions)


def _about(c: UOp, index: UOp) -> bool:
    """Whether a condition is about an index: both depend on a RANGE, or on a Variable alone."""
    return bool(c.ranges & index.ranges if c.ranges else c.unknowns & index.unknowns)


def sources_needed(u: UOp, ix: Indices, source_ix: Indices) -> tuple[UOp, ...]:
    """The sources that the value at `ix` (`source_ix` in the sources) depends on: one branch of a
    WHERE whose condition the bounds decide, none of a PAD in its padding. So a slice of a cat()
    only needs the part that it is in."""
    if u.op is Ops.PAD and is_inside(u, source_ix) is False:
        return ()
    if u.op is Ops.WHERE and (chosen := _decided(u.src[0], ix)) is not None:
        return u.src[1:2] if chosen else u.src[2:]
    return u.src[1:2] if u.op is Ops.ASSIGN else u.src[:1] if u.op is Ops.COPY else u.src


def _decided(condition: UOp, ix: Indices) -> bool | None:
    """The value of a padded constant condition at these indices; None if bounds don't decide it."""
    while condition.op is Ops.PAD:
        ix = source_indices(condition, ix)
        if (inside := is_inside(condition, ix)) is not True:
            return inside
        condition = condition.src[0]
    constant = condition.base
    return constant.arg if is_leaf(condition) and constant.op is Ops.CONST else None


# ---- leaves: values that need no computation --------------------------------------------------


def is_memory(u: UOp) -> bool:
    """Whether a value is in memory already: a BUFFER or the result of a KERNEL, in any shape."""
    u = memory_state(u)
    return u.op is Ops.BUFFER or is_result(u)


@recursive_property
def _leaf(u: UOp) -> bool:
    one_value = u.op in _KEEPS_ONE_VALUE and _leaf.of(u.src[0]) and u.base.op is Ops.CONST
    return one_value or u.op in LEAVES or is_memory(u)


LEAVES = {Ops.CONST, Ops.IOTA, Ops.BIND, Ops.DEFINE_VAR}
_KEEPS_ONE_VALUE = GroupOp.Movement - {Ops.PAD, Ops.UNWINDOW}


def is_leaf(u: UOp) -> bool:
    """Whether a value needs no computation: memory, an IOTA, the same constant in every element."""
    return _leaf.of(u)
