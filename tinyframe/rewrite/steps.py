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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

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


# ---- rewriting that does not end -----------------------------------------------------------------
# It is noticed by the number of steps, and the rules that are to blame are named.

# a graph that needs more steps than this for each of its nodes does not end
STEPS_PER_NODE, STEPS_AT_LEAST = 200, 20_000

# of the steps before that, those that are looked through for the ones that repeat
LAST_STEPS = 50


class RewriteLoopError(RuntimeError):
    """Rules that undo each other, or that grow the graph for ever."""


class Steps:
    """The steps of one rewrite: counted, and recorded where somebody asked for that.

    again: does the same rewrite once more, to learn its steps where nobody recorded them.
    """

    def __init__(
        self, name: str | None, sink: UOp, walk: bool, again: Callable[[], object]
    ) -> None:
        self.name, self.sink, self.again = name or "graph_rewrite", sink, again
        self.record: Pass | None = None
        if is_recording():
            self.record = begin(name or "rewrite", sink, walk)
        self.count, self.limit = 0, STEPS_AT_LEAST

    def add(self, rule: Rule, before: UOp, after: UOp) -> None:
        """Raises RewriteLoopError where these are too many for a graph of this size."""
        if self.record is not None:
            self.record.steps.append(Step(rule, before, after))
        self.count += 1
        if self.count > self.limit:
            self.limit = max(self.limit, STEPS_PER_NODE * len(self.sink.toposort()))
            if self.count > self.limit:
                raise self.error()

    def recalled(self, u: UOp, known: UOp | Literal[True]) -> UOp:
        """What an earlier rewrite by the same rules made of a node; True: it stays as it is."""
        if known is True:
            return u
        if self.record is not None:
            self.record.steps.append(Step(None, u, known))
        return known

    def error(self) -> RewriteLoopError:
        """Names the rules of the last steps, back to where the same node was met before."""
        steps = self.record.steps if self.record is not None else self._recorded_again()
        last = steps[-LAST_STEPS:]
        met = next((i for i in range(len(last) - 2, -1, -1) if last[i].before is last[-1].after), 0)
        listed = "\n  ".join(dict.fromkeys(repr(s.rule) for s in last[met:] if s.rule))
        return RewriteLoopError(
            f"endless rewriting in {self.name}: these rules undo each other or never stop growing "
            f"the graph\n  {listed}"
        )

    def _recorded_again(self) -> list[Step]:
        with record() as passes:
            try:
                self.again()
            except RewriteLoopError:
                pass
        return passes[0].steps
