"""DEBUG=4: every stage of the way down, by name: the graph after it and the rules that fired."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from tinyframe.rewrite.trace import Pass, record
from tinyframe.settings import settings
from tinyframe.uop.node import UOp

T = TypeVar("T", UOp, list)


def staged(name: str, run: Callable[[], T], before: UOp | None = None) -> T:
    """The result of `run`, a stage of the compiler; printed with its rules where DEBUG is 4 or more."""
    if settings.DEBUG < 4:
        return run()
    with record() as passes:
        out = run()
    print(f"{_title(name)}\n  (nothing to do)" if out is before else stage_text(name, out, passes))
    return out


def _title(name: str) -> str:
    return f"───── {name} ".ljust(100, "─")


def stage_text(name: str, graph: UOp | list[UOp], passes: list[Pass]) -> str:
    """One stage as text: its name, the graph or program, and how often each rule fired."""
    from tinyframe.uop.show import listing, summary
    fired: Counter = Counter()
    for p in passes:
        # sub-expressions simplified one at a time are many small passes: they are counted together
        fired.update(p.rules_fired())
    lines = [_title(name), listing(graph) if isinstance(graph, list) else summary(graph)]
    if fired:
        lines.append("rules that fired:")
        lines += [f"  {count:3d}× {rule!r}" for rule, count in fired.most_common(12)]
        if len(fired) > 12:
            lines.append(f"  … and {len(fired) - 12} more")
    return "\n".join(lines)
