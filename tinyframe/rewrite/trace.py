"""Recording of rewrites: which rule turned what into what, for DEBUG=4, pictures and tests.

    with record() as passes:
        graph_rewrite(graph, rules, name="simplify")
    passes[0].name, passes[0].before, passes[0].after, passes[0].steps

Outside such a block nothing is recorded and nothing is paid.
"""

from __future__ import annotations

import contextlib
import linecache
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinyframe.rewrite.matcher import Rule
    from tinyframe.uop.node import UOp


@dataclass
class Step:
    """One rule applied once: `before` became `after`. rule: None where an earlier rewrite by the
    same rules had found that, and it was kept."""

    rule: Rule | None
    before: UOp
    after: UOp


@dataclass
class Pass:
    """One graph_rewrite: the graph before and after, and the steps between.

    walk: what a step gave was left as it is.
    """

    name: str
    before: UOp
    walk: bool = False
    after: UOp | None = None
    steps: list[Step] = field(default_factory=list)

    def rules_fired(self) -> Counter[Rule]:
        return Counter(step.rule for step in self.steps if step.rule is not None)


_recording: list[list[Pass]] = []


def is_recording() -> bool:
    return bool(_recording)


def begin(name: str, before: UOp, walk: bool) -> Pass:
    """Opens a Pass in every active recording."""
    new = Pass(name, before, walk)
    for passes in _recording:
        passes.append(new)
    return new


@contextlib.contextmanager
def record() -> Iterator[list[Pass]]:
    """The passes of every graph_rewrite inside the block, in order."""
    passes: list[Pass] = []
    _recording.append(passes)
    try:
        yield passes
    finally:
        _recording.pop(next(i for i, p in enumerate(_recording) if p is passes))


def source_of(rule: Rule) -> str:
    """The line a rule is written on, as `file:line  text`; its pattern where there is none."""
    file, line = rule.location
    text = linecache.getline(file, line).strip().rstrip(",") or repr(rule.pattern)
    return f"{file.rsplit('/', 1)[-1]}:{line}  {text}"


def track_rewrites(*args: Any, **kwargs: Any) -> Any:
    """A decorator of tinygrad's that groups the rewrites of a function under its name; here every
    rewrite is recorded alike, so it returns the function as it is. With or without arguments."""
    if len(args) == 1 and not kwargs and callable(args[0]):
        return args[0]
    return lambda fn: fn


rewrite_group = track_rewrites
