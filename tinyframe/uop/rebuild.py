"""A graph made anew from its sources up: what most passes do that are no tables of rules."""

from __future__ import annotations

from collections.abc import Callable

from tinyframe.observe import tell_became
from tinyframe.uop.node import UOp


def rebuild(
    root: UOp,
    change: Callable[[UOp, UOp], UOp],
    done: dict[UOp, UOp] | None = None,
    below: Callable[[UOp], bool] | None = None,
) -> UOp:
    """What a graph becomes when `change` is applied to each node, sources first.

    change: gets a node as it was, and the same node on its new sources (the same object where none
        is new); what it returns stands in the node's place.
    done: what some nodes become is known; what every other one becomes is added.
    below: False for a node that stays as it is, with everything under it.
    """
    done = {} if done is None else done
    known = set(done)

    def opens(u: UOp) -> bool:
        return u not in known and (below is None or below(u))

    for u in root.toposort(gate=opens if known or below else None):
        if u in known:
            continue
        if below is not None and not below(u):
            done[u] = u
            continue
        src = tuple([done[s] for s in u.src])
        done[u] = change(u, u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag))
    tell_became(done.items())
    return done[root]
