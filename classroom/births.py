"""Who made a node: the row of a table that it comes from, or the learner.

    passes = recorded(x)                  what the compiler's tables did, pass by pass, step by step
    births(x, who_made)                   each node of the finished kernel, and where it comes from
    told(x, "decompose")                  what DEBUG=4 prints of one stage
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from itertools import chain
from typing import Any

from classroom.tables import Table
from classroom.yours import yours_or
from tinyframe import Context, Tensor
from tinyframe.codegen import full_rewrite_to_sink, get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.matcher import Rewrite, Step, record, source_of
from tinyframe.uop import GroupOp, UOp
from tinyframe.viz.kernels import one_kernel

WIDEST = 66  # characters of a rule that are shown


def recorded(x: Tensor) -> tuple[UOp, list[Rewrite]]:
    """The finished kernel of a Tensor, and every pass of rules on the way there. Nothing runs."""
    item, _ = one_kernel(x, None, "recorded")
    with record() as passes:
        sink = full_rewrite_to_sink(item.ast, CStyleLanguage(), [])
    return sink, passes


def made_in(node: UOp, passes: Sequence[Rewrite]) -> Step | None:
    """The first step that a node comes out of, and didn't go into; None of one that was there."""

    def holds(graph: UOp) -> bool:
        return node in graph.toposort()

    steps = chain.from_iterable(each.steps for each in passes)
    return next((step for step in steps if holds(step.after) and not holds(step.before)), None)


def told(x: Tensor, stage: str) -> None:
    """Print what DEBUG=4 says of one stage on the way from a Tensor to C."""
    item, _ = one_kernel(x, None, "told")
    with Context(DEBUG=4), redirect_stdout(io.StringIO()) as said:
        get_program(item.ast, CStyleLanguage())
    for part in said.getvalue().split("───── ")[1:]:
        title = part.partition(" ─")[0].removesuffix(" (nothing to do)")
        if title == stage:
            print(f"───── {part}".rstrip())


def births(x: Tensor, who_made: Callable[..., Any]) -> Table:
    """The nodes of a kernel that compute values, each with the row that made it. who_made: the
    learner's function, which is used once it passes its check."""
    find = yours_or("who-made-it", who_made, made_in, "Traced by")
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
