"""A stage of the compiler: run by name, checked against the spec, and shown.

    staged("expand copies", spec_kernel, lambda: expand_copies(sink))

SPEC=1 verifies what comes out, DEBUG=4 prints what is new in it with the rules that fired (5 all of
it), and observers are told (`observe.py`). None of it costs anything when off.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from tinyframe.observe import observers, tell
from tinyframe.rewrite.matcher import Pass, PatternMatcher, record
from tinyframe.rewrite.spec import SpecError, verify
from tinyframe.settings import settings
from tinyframe.uop.node import UOp
from tinyframe.uop.show import listing, printable, summary

Graph = TypeVar("Graph", UOp, list[UOp])
MOST_RULES = 12  # listed for each stage
FEWEST_FOLDED = 3  # unchanged lines in a row


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
            print(printable(stage_text(name, before, out, passes, settings.DEBUG >= 5)))
    if settings.SPEC:
        try:
            verify(out, spec)
        except SpecError as error:
            raise SpecError(f"after the stage {name!r}: {error}") from error.__cause__
    return out


def title(name: str) -> str:
    return f"───── {name} ".ljust(72, "─")  # a terminal of 80 columns doesn't break it


def stage_text(
    name: str, before: UOp | None, graph: UOp | list[UOp], passes: list[Pass], whole: bool
) -> str:
    """One stage as text: its name, the graph or program, and how often each rule fired.

    A stage that changed nothing is one line. Of one that did, lines that stood in the graph before
    it are folded, unless all is to be shown (`whole`).
    """
    if graph is before:
        return title(f"{name} (nothing to do)")
    lines = listing(graph).split("\n") if isinstance(graph, list) else summary(graph).split("\n")
    if before is not None and not whole:
        lines = folded(lines, summary(before).split("\n"))
    lines = [title(name), *lines]
    fired: Counter = Counter()
    for p in passes:  # expressions simplified one at a time are many small passes
        fired.update(p.rules_fired())
    if fired:
        lines.append("rules that fired:")
        lines += [f"  {count:3d}× {rule!r}" for rule, count in fired.most_common(MOST_RULES)]
    if len(fired) > MOST_RULES:
        lines.append(f"  … and {len(fired) - MOST_RULES} more")
    return "\n".join(lines)


def folded(lines: list[str], before: list[str]) -> list[str]:
    """Numbered lines; those in a row that are the same before, number and all, as one."""
    out: list[str] = []
    pairs = itertools.zip_longest(lines, before[: len(lines)])
    for same, run in itertools.groupby(enumerate(pairs), lambda pair: pair[1][0] == pair[1][1]):
        numbers = [number for number, _ in run]
        if same and len(numbers) >= FEWEST_FOLDED:
            out.append(f"   … {numbers[0]} to {numbers[-1]} as before")
        else:
            out += lines[numbers[0] : numbers[-1] + 1]
    return out
