"""Outlines: groups of values that differ only in which memory they read are lowered once.

An unrolled loop (the time steps of an LSTM, the stages of a sort, the parts of a long chain) gives
many groups of one form. An outline says all that the loop nest of a group depends on, with numbers
in place of memory and of RANGEs: where two are equal, so are the loop nests, but for what the slots
of the arguments stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass

from tinyframe.schedule.fuse import Placed, is_leaf
from tinyframe.uop.movement import memory_state, stored_state
from tinyframe.uop.node import GroupOp, Ops, UOp, arg_key, sources_first


@dataclass
class Outline:
    """rows: equal for groups of one form. states: what they read and write, by its number there."""

    rows: tuple
    states: list[UOp]


def outline_of(group: list[Placed], computed: Set[UOp], is_read: Callable[[UOp], bool]) -> Outline:
    """The outline of values stored by one kernel.

    computed: all that is computed on the way to them, they included. is_read: whether a value, or
    the state that it shows, is read from memory.
    """
    members = {p.value for p in group}
    states: dict[UOp, int] = {}
    place: dict[UOp, int] = {}
    rows: list[tuple] = []

    def number(state: UOp) -> int:
        return states.setdefault(state, len(states))

    def add(u: UOp, *row) -> None:
        place[u] = len(rows)
        rows.append(row)

    def below(u: UOp) -> tuple[UOp, ...]:
        is_view = u.op in GroupOp.Movement and not is_read(u)  # maybe of what is assigned to
        return u.src if u in computed or is_view else ()

    for u in sources_first([value for value, *_ in group], below):
        if u not in members and is_read(u):
            state = memory_state(u)
            add(u, number(state), u.shape, u.dtype, state.size)
        elif u.op in (Ops.BIND, Ops.DEFINE_VAR):
            add(u, u.src[0] if u.op is Ops.BIND else u)
        elif is_leaf(u):
            add(u, u.base.op, u.dtype, arg_key(u.base.arg), u.shape)
        elif u.src and not below(u):
            add(u, None)  # nothing of it is needed
        else:
            add(u, u.op, u.dtype, arg_key(u.arg), arg_key(u.tag), *[place[s] for s in u.src])
    for value, *_ in group:
        state = stored_state(value)
        rows.append((place[value], number(state), state.size))
    rows += _index_rows(i for _, indices, _ in group for i in indices)
    return Outline(tuple(rows), list(states))


def _index_rows(indices: Iterable[UOp]) -> list[tuple]:
    """Index expressions, with RANGEs by the order of their numbers."""
    roots = list(indices)
    order = sources_first(roots)
    ranges = sorted((u for u in order if u.op is Ops.RANGE), key=lambda r: r.arg[0])
    rank = {r: n for n, r in enumerate(ranges)}
    place = {u: n for n, u in enumerate(order)}
    rows = [(u.op, u.dtype, rank.get(u, arg_key(u.arg)), *[place[s] for s in u.src]) for u in order]
    return [*rows, tuple([place[i] for i in roots])]
