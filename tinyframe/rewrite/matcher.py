"""PatternMatcher, a table of rules; and graph_rewrite, which applies one to a whole graph.

    fold = PatternMatcher([
        (UPat.var("x") + 0, lambda x: x),
        (UPat.cvar("a") * UPat.cvar("b"), lambda a, b: a.const_like(a.arg * b.arg)),
    ])
    graph_rewrite(graph, fold)

A rule's function gets the nodes its pattern named (those it has parameters for, and `ctx` if it
asks), and returns the replacement, or None: "no match after all".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tinyframe.dtype import DType
from tinyframe.rewrite import trace
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop.node import Ops, UOp, map_sizes, plain


class RewriteLoopError(RuntimeError):
    """Rules that undo each other, or that grow the graph for ever."""


@dataclass(frozen=True, eq=False)
class Rule:
    """One row: where `pattern` matches, `function` gives the replacement."""

    pattern: UPat
    function: Callable[..., UOp | None]
    parameters: frozenset[str] | None  # None: takes everything (**kwargs)
    location: tuple[str, int]

    @staticmethod
    def of(pattern: UPat, function: Callable[..., UOp | None]) -> Rule:
        parameters = inspect.signature(function).parameters.values()
        everything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
        names = None if everything else frozenset(p.name for p in parameters)
        code = getattr(function, "__code__", None)
        place = (code.co_filename, code.co_firstlineno) if code else (repr(function), 0)
        return Rule(pattern, function, names, place)

    def apply(self, u: UOp, ctx: Any) -> UOp | None:
        """What the rule gives for `u`, whose op and dtype the pattern allows; None: no match."""
        names = self.parameters
        for bindings in self.pattern.match_rest(u, _NOTHING):
            if names is None:
                out = self.function(**bindings, ctx=ctx)
            else:
                given: dict[str, Any] = bindings
                if not bindings.keys() <= names:
                    given = {name: node for name, node in bindings.items() if name in names}
                out = self.function(**given, ctx=ctx) if "ctx" in names else self.function(**given)
            if out is not None and out is not u:
                return out
        return None

    def __repr__(self) -> str:
        return trace.source_of(self)


_NOTHING: dict[str, UOp] = {}


class PatternMatcher:
    """A table of (UPat, function) rows, tried in order; two tables are joined with `+`."""

    def __init__(self, rows: Sequence[tuple[UPat, Callable[..., UOp | None]] | Rule]):
        self.rules = [row if isinstance(row, Rule) else Rule.of(*row) for row in rows]
        self._candidates: dict[tuple[Ops, DType], list[Rule]] = {}

    def __add__(self, other: PatternMatcher) -> PatternMatcher:
        return PatternMatcher([*self.rules, *other.rules])

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def without(self, *rules: Rule) -> PatternMatcher:
        """The table with some of its rules switched off."""
        return PatternMatcher([r for r in self.rules if r not in rules])

    def candidates(self, op: Ops, dtype: DType) -> list[Rule]:
        """The rules whose pattern allows this op and dtype: an index, filled as it is asked."""
        if (found := self._candidates.get((op, dtype))) is None:
            found = [r for r in self.rules if r.pattern.allows(op, dtype)]
            self._candidates[op, dtype] = found
        return found

    def match(self, u: UOp, ctx: Any = None) -> tuple[Rule, UOp] | None:
        """The first rule that gives something, and what it gives."""
        source_ops: set[Ops] | None = None
        for rule in self.candidates(u.op, u.dtype):
            if required := rule.pattern.required:
                if source_ops is None:
                    source_ops = {s.op for s in u.src}
                if not required <= source_ops:
                    continue
            if (out := rule.apply(u, ctx)) is not None:
                return rule, out
        return None

    def rewrite(self, u: UOp, ctx: Any = None) -> UOp | None:
        """What the first matching rule makes of this one node; None where no rule matches."""
        found = self.match(u, ctx)
        return None if found is None else found[1]


TrackedPatternMatcher = PatternMatcher  # every rewrite can be recorded, see trace.py

# a graph that needs more steps than this for each of its nodes does not end
STEPS_PER_NODE, STEPS_AT_LEAST = 200, 20_000

# what has been done to a node when it comes up again
FRESH, SOURCES_DONE, REPLACED = range(3)


def graph_rewrite(
    sink: UOp,
    pm: PatternMatcher,
    ctx: Any = None,
    bottom_up: bool = False,
    name: str | None = None,
    bpm: PatternMatcher | None = None,
    walk: bool = False,
    memo: str | None = None,
) -> UOp:
    """Applies a table to a graph until no rule matches any more.

    By default a node is matched after its sources are done; with `bottom_up` before (`bpm` is a
    second table, for before, in the same walk). What a rule returns is rewritten again, unless
    `walk`, which visits each node once and leaves what a rule returned as it is. `memo` names an
    attribute in which results are kept on the nodes for good: for tables without `ctx` that are
    used again and again.
    Raises RewriteLoopError, naming the rules, where the rewriting does not end.
    """
    record = trace.begin(name or "rewrite", sink) if trace.is_recording() else None
    before, after = (pm, bpm) if bottom_up else (bpm, pm)
    done: dict[UOp, UOp] = {}
    in_progress: set[UOp] = set()
    steps, limit = 0, STEPS_AT_LEAST

    def apply(table: PatternMatcher, u: UOp) -> UOp | None:
        nonlocal steps, limit
        if (found := table.match(u, ctx)) is None:
            return None
        rule, out = found
        if record is not None:
            record.steps.append(trace.Step(rule, u, out))
        steps += 1
        if steps > limit:
            limit = max(limit, STEPS_PER_NODE * len(sink.toposort()))
            if steps > limit:
                raise loop()
        return out

    def loop() -> RewriteLoopError:
        return _loop_error(
            name, record.steps if record else _last_steps(sink, pm, ctx, bottom_up, bpm, walk)
        )

    def finish(original: UOp, result: UOp):
        done[original] = result
        in_progress.discard(original)
        if memo is not None:
            original.__dict__[memo] = True if original is result else result

    # (node, what it has become so far, what has been done to it)
    stack: list[tuple[UOp, UOp, int]] = [(sink, sink, FRESH)]
    while stack:
        original, u, state = stack.pop()
        if state == FRESH:
            if u in done:
                continue
            if memo is not None and (known := u.__dict__.get(memo)) is not None:
                done[u] = u if known is True else known
                continue
            if u in in_progress:
                raise loop()
            in_progress.add(u)
            if before is not None:
                if (changed := apply(before, u)) is not None:
                    if walk:
                        finish(u, changed)
                    else:
                        stack += ((u, changed, REPLACED), (changed, changed, FRESH))
                    continue
            stack.append((u, u, SOURCES_DONE))
            for s in reversed(u.src):
                if s not in done:
                    stack.append((s, s, FRESH))
        elif state == SOURCES_DONE:
            src = tuple([done[s] for s in u.src])
            new = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
            if new is not u and before is not None and not walk:  # it may match now
                stack += ((original, new, REPLACED), (new, new, FRESH))
                continue
            if after is not None and (changed := apply(after, new)) is not None:
                if walk:
                    finish(original, changed)
                else:
                    stack += ((original, changed, REPLACED), (changed, changed, FRESH))
                continue
            finish(original, new)
            if not walk:  # it is a fixed point
                finish(new, new)
        else:
            finish(original, done[u])
    if record is not None:
        record.after = done[sink]
    return done[sink]


def _last_steps(sink, pm, ctx, bottom_up, bpm, walk) -> list[trace.Step]:
    """Runs a rewrite that is known to loop once more, recording, to learn which rules take part."""
    with trace.record() as passes:
        try:
            graph_rewrite(sink, pm, ctx, bottom_up, "find the loop", bpm, walk)
        except RewriteLoopError:
            pass
    return passes[0].steps


def _loop_error(name: str | None, steps: list[trace.Step]) -> RewriteLoopError:
    """Names the rules of the last steps, back to where the same node was met before."""
    last = steps[-50:]
    met = next((i for i in range(len(last) - 2, -1, -1) if last[i].before is last[-1].after), 0)
    listed = "\n  ".join(dict.fromkeys(repr(step.rule) for step in last[met:]))
    return RewriteLoopError(
        f"endless rewriting in {name or 'graph_rewrite'}: these rules undo each "
        f"other or never stop growing the graph\n  {listed}"
    )


def substitute(root: UOp, mapping: dict[UOp, UOp], extra_pm: PatternMatcher | None = None) -> UOp:
    """Every node of `mapping` replaced, Variables in sizes too; what is inside a replacement is
    left as it is."""
    out = substituted(root, mapping)[root]
    return out if extra_pm is None else graph_rewrite(out, extra_pm)


def substituted(root: UOp, mapping: dict[UOp, UOp]) -> dict[UOp, UOp]:
    """What each node becomes by `substitute`."""
    done: dict[UOp, UOp] = dict(mapping)
    variables = {u for u in mapping if u.op in (Ops.BIND, Ops.DEFINE_VAR)}
    for u in root.toposort(gate=lambda u: u not in mapping):
        if u in mapping:
            continue
        src = tuple([done[s] for s in u.src])
        arg = u.arg
        if variables and not variables.isdisjoint(u.unknowns):
            arg = map_sizes(arg, lambda size: plain(substitute(size, mapping)))
        done[u] = u if src == u.src and arg is u.arg else UOp(u.op, u.dtype, src, arg, u.tag)
    return done
