"""A stage of the compiler: run by name, checked against the spec, and shown.

    staged("expand copies", spec_kernel, lambda: expand_copies(sink))

SPEC=1 verifies what comes out, DEBUG=4 prints it with the rules that fired, and observers are told
(`observe.py`). None of it costs anything when off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from tinyframe.observe import observers, tell
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.rewrite.spec import SpecError, verify
from tinyframe.rewrite.steps import Pass, record
from tinyframe.settings import settings
from tinyframe.uop.node import UOp
from tinyframe.uop.show import listing, printable, summary

Graph = TypeVar("Graph", UOp, list[UOp])
MOST_RULES = 12  # listed for each stage


def staged(
    name: str, spec: PatternMatcher, run: Callable[[], Graph], before: UOp | None = None
) -> Graph:
    """The result of `run`; `before` is the graph it started from, where that is worth comparing."""
    if settings.DEBUG < 4 and not observers():
        out = run()
    else:
        with record() as passes:
            out = run()
        tell.stage(name, before, out, passes)
        if settings.DEBUG >= 4:
            nothing = f"{title(name)}\n  (nothing to do)"
            print(printable(nothing if out is before else stage_text(name, out, passes)))
    if settings.SPEC:
        try:
            verify(out, spec)
        except SpecError as error:
            raise SpecError(f"after the stage {name!r}: {error}") from error.__cause__
    return out


def title(name: str) -> str:
    return f"───── {name} ".ljust(100, "─")


def stage_text(name: str, graph: UOp | list[UOp], passes: list[Pass]) -> str:
    """One stage as text: its name, the graph or program, and how often each rule fired."""
    lines = [title(name), listing(graph) if isinstance(graph, list) else summary(graph)]
    fired: Counter = Counter()
    for p in passes:  # expressions simplified one at a time are many small passes
        fired.update(p.rules_fired())
    if fired:
        lines.append("rules that fired:")
        lines += [f"  {count:3d}× {rule!r}" for rule, count in fired.most_common(MOST_RULES)]
    if len(fired) > MOST_RULES:
        lines.append(f"  … and {len(fired) - MOST_RULES} more")
    return "\n".join(lines)
