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
from tinyframe.observe import tell_became
from tinyframe.rewrite.pattern import UPat
from tinyframe.rewrite.steps import Steps, source_of
from tinyframe.uop.node import Ops, UOp, map_sizes, plain


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
        return source_of(self)


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


TrackedPatternMatcher = PatternMatcher  # every rewrite can be recorded, see steps.py

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
    became: dict[UOp, UOp] | None = None,
) -> UOp:
    """Applies a table to a graph until no rule matches any more.

    By default a node is matched after its sources are done; with `bottom_up` before (`bpm` is a
    second table, for before, in the same walk). What a rule returns is rewritten again, unless
    `walk`, which visits each node once and leaves what a rule returned as it is. `memo` names an
    attribute in which results are kept on the nodes for good: for tables without `ctx` that are
    used again and again. `became` gets what each node of the graph has become.
    Raises RewriteLoopError, naming the rules, where the rewriting does not end.
    """
    steps = Steps(
        name,
        sink,
        walk,
        lambda: graph_rewrite(sink, pm, ctx, bottom_up, "find the loop", bpm, walk),
    )
    before, after = (pm, bpm) if bottom_up else (bpm, pm)
    done = _rewritten(sink, before, after, ctx, walk, memo, steps)
    result = done[sink]
    if became is not None:
        became.update(done)
    tell_became(done.items())
    if steps.record is not None:
        steps.record.after = result
    return result


def _rewritten(
    sink: UOp,
    before: PatternMatcher | None,
    after: PatternMatcher | None,
    ctx: Any,
    walk: bool,
    memo: str | None,
    steps: Steps,
) -> dict[UOp, UOp]:
    """What each node becomes in the walk of graph_rewrite: `before` is applied on the way down,
    `after` on the way up."""
    done: dict[UOp, UOp] = {}
    in_progress: set[UOp] = set()
    # (node, what it has become so far, what has been done to it)
    stack: list[tuple[UOp, UOp, int]] = [(sink, sink, FRESH)]

    def finish(original: UOp, result: UOp) -> None:
        done[original] = result
        in_progress.discard(original)
        if memo is not None:
            original.__dict__[memo] = True if original is result else result

    def apply_rule(table: PatternMatcher, original: UOp, u: UOp) -> bool:
        """Whether a rule matches; what it returns comes next, and the original waits for it."""
        if (found := table.match(u, ctx)) is None:
            return False
        rule, out = found
        steps.add(rule, u, out)
        if walk:
            finish(original, out)
        else:
            stack.extend(((original, out, REPLACED), (out, out, FRESH)))
        return True

    while stack:
        original, u, state = stack.pop()
        if state == REPLACED:
            finish(original, done[u])
        elif state == SOURCES_DONE:
            src = tuple([done[s] for s in u.src])
            new = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
            if new is not u and before is not None and not walk:  # it may match now
                stack += ((original, new, REPLACED), (new, new, FRESH))
            elif after is None or not apply_rule(after, original, new):
                finish(original, new)
                if not walk:  # it is a fixed point
                    finish(new, new)
        elif u not in done:
            if memo is not None and (known := u.__dict__.get(memo)) is not None:
                done[u] = steps.recalled(u, known)
                continue
            if u in in_progress:
                raise steps.error()
            in_progress.add(u)
            if before is None or not apply_rule(before, u, u):
                stack.append((u, u, SOURCES_DONE))
                for s in reversed(u.src):
                    if s not in done:
                        stack.append((s, s, FRESH))
    return done


@UOp.substitute.by
def substitute(
    root: UOp,
    mapping: dict[UOp, UOp],
    name: str | None = None,
    extra_pm: PatternMatcher | None = None,
) -> UOp:
    """Every node of `mapping` replaced, Variables in sizes too; what is inside a replacement is
    left as it is. name: where tinygrad names the pass; not used here."""
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
    tell_became(done.items())
    return done
