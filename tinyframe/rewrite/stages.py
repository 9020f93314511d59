"""A stage of the compiler: run by name, checked against the spec, and shown.

    staged("expand copies", spec_kernel, lambda: expand_copies(sink))

SPEC=1 verifies the result, DEBUG=4 prints its new lines and the rules that fired (DEBUG=5 all of
its lines), and observers are told (`observe.py`). All of that is free when off.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from tinyframe.observe import observers, tell
from tinyframe.rewrite.matcher import PatternMatcher, Rewrite, record
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
    """The result of `run`. before: the graph it started from, if comparing the two makes sense."""
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
    return f"───── {name} ".ljust(72, "─")  # fits in a terminal of 80 columns


def stage_text(
    name: str, before: UOp | None, graph: UOp | list[UOp], passes: list[Rewrite], whole: bool
) -> str:
    """One stage as text: its name, the graph or program, and how often each rule fired.

    A stage that changed nothing is one line. Otherwise the lines that the graph before it had too
    are folded, unless `whole` is set.
    """
    if graph is before:
        return title(f"{name} (nothing to do)")
    lines = listing(graph).split("\n") if isinstance(graph, list) else summary(graph).split("\n")
    if before is not None and not whole:
        lines = folded(lines, summary(before).split("\n"))
    lines = [title(name), *lines]
    fired: Counter = Counter()
    for p in passes:  # many are small: each simplified expression is a pass of its own
        fired.update(p.rules_fired())
    if fired:
        lines.append("rules that fired:")
        lines += [f"  {count:3d}× {rule!r}" for rule, count in fired.most_common(MOST_RULES)]
    if len(fired) > MOST_RULES:
        lines.append(f"  … and {len(fired) - MOST_RULES} more")
    return "\n".join(lines)


def folded(lines: list[str], before: list[str]) -> list[str]:
    """Numbered lines; runs of lines that were the same before, number included, become one."""
    out: list[str] = []
    pairs = itertools.zip_longest(lines, before[: len(lines)])
    for same, run in itertools.groupby(enumerate(pairs), lambda pair: pair[1][0] == pair[1][1]):
        numbers = [number for number, _ in run]
        if same and len(numbers) >= FEWEST_FOLDED:
            out.append(f"   … {numbers[0]} to {numbers[-1]} as before")
        else:
            out += lines[numbers[0] : numbers[-1] + 1]
    return out
