"""Rewriting that does not end: noticed by the number of steps, and the rules that are to blame."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from tinyframe.rewrite import trace
from tinyframe.uop.node import UOp

if TYPE_CHECKING:
    from tinyframe.rewrite.matcher import Rule

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
        self.record: trace.Pass | None = None
        if trace.is_recording():
            self.record = trace.begin(name or "rewrite", sink, walk)
        self.count, self.limit = 0, STEPS_AT_LEAST

    def add(self, rule: Rule, before: UOp, after: UOp) -> None:
        """Raises RewriteLoopError where these are too many for a graph of this size."""
        if self.record is not None:
            self.record.steps.append(trace.Step(rule, before, after))
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
            self.record.steps.append(trace.Step(None, u, known))
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

    def _recorded_again(self) -> list[trace.Step]:
        with trace.record() as passes:
            try:
                self.again()
            except RewriteLoopError:
                pass
        return passes[0].steps
