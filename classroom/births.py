"""Who made a node: the row of a table that it comes from, or the learner.

    passes = recorded(x)                  what the compiler's tables did, pass by pass, step by step
    births(x, who_made)                   each node of the finished kernel, and where it comes from
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from classroom.tables import Table
from classroom.yours import yours_or
from tinyframe import Tensor
from tinyframe.codegen import full_rewrite_to_sink
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.steps import Pass, Step, record, source_of
from tinyframe.uop import GroupOp, UOp
from tinyframe.viz.kernels import one_kernel

WIDEST = 66  # characters of a rule that are shown


def recorded(x: Tensor) -> tuple[UOp, list[Pass]]:
    """The finished kernel of a Tensor, and every pass of rules on the way there. Nothing runs."""
    item, _ = one_kernel(x, None, "recorded")
    with record() as passes:
        sink = full_rewrite_to_sink(item.ast, CStyleLanguage(), [])
    return sink, passes


def made_in(node: UOp, passes: Sequence[Pass]) -> Step | None:
    """The first step that a node comes out of, and didn't go into; None of one that was there."""
    for step in (step for each in passes for step in each.steps):
        if node in step.after.toposort() and node not in step.before.toposort():
            return step
    return None


def births(x: Tensor, who_made: Callable[..., Any]) -> Table:
    """The nodes of a kernel that compute values, each with the row that made it. who_made: the
    learner's function, which is used once it passes its check."""
    find = yours_or("10.7", who_made, made_in, "Traced by")
    sink, passes = recorded(x)
    rows = []
    for u in sink.toposort():
        if u.op in GroupOp.Elementwise:
            step = find(u, passes)
            if step is None:
                said = "it was there before"
            elif step.rule is None:
                said = "found earlier"
            else:
                said = source_of(step.rule)
            said = said if len(said) <= WIDEST else f"{said[:WIDEST]} …"
            rows.append((u.op.name, u.render(simplify=False), said))
    return Table(("node", "as text", "made by"), rows)
