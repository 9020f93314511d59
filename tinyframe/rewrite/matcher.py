"""PatternMatcher, a table of rules, and graph_rewrite, which applies one to a whole graph.

    fold = PatternMatcher([
        (UPat.var("x") + 0, lambda x: x),
        (UPat.cvar("a") * UPat.cvar("b"), lambda a, b: a.const_like(a.arg * b.arg)),
    ])
    graph_rewrite(graph, fold)

A rule's function gets the nodes that its pattern names, as far as it has parameters for them, and
`ctx` if it has that parameter. It returns the replacement, or None: "no match after all".
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import linecache
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tinyframe.dtype import DType, dtypes
from tinyframe.observe import tell_became
from tinyframe.uop.node import Comparisons, GroupOp, Ops, UOp, arg_key, map_sizes, sources_first
from tinyframe.uop.show import render_pattern

# ---- UPat: a pattern that a UOp may match --------------------------------------------------------
#
#     UPat(Ops.ADD, src=(UPat.var("x"), UPat.cvar("c")))     or, the same but in either order:
#     UPat.var("x") + UPat.cvar("c")
#
# Whatever a pattern leaves out matches anything. A name binds the node it matches; used twice, it
# must match the same object twice, so `UPat.var("x") + UPat.var("x")` matches only `y + y`.

Bindings = dict[str, UOp]


class UPat(Comparisons):
    """Matches a UOp by op, dtype, sources and arg.

    op: one or several. dtype: one or several (vectors also match by their scalar). src: a tuple (in
    this order), a list (in any order), or one pattern for every source. allow_any_len: more sources
    may follow those of `src`.
    """

    __slots__ = ("alternatives", "any_len", "arg", "dtypes", "name", "ops", "orders", "required",
                 "sources", "src")  # fmt: skip

    def __init__(
        self,
        op: Ops | Iterable[Ops] | None = None,
        dtype: DType | Iterable[DType] | None = None,
        src: tuple[UPat, ...] | list[UPat] | UPat | None = None,
        arg: Any = None,
        name: str | None = None,
        allow_any_len: bool = False,
    ):
        self.ops: frozenset[Ops] | None = _set_of(Ops, op)
        self.dtypes: frozenset[DType] | None = _set_of(DType, dtype)
        self.arg, self.name, self.src = arg, name, src
        self.any_len = allow_any_len
        self.alternatives: tuple[UPat, ...] = ()
        self.sources = () if src is None else (src,) if isinstance(src, UPat) else tuple(src)
        # the allowed orders of the sources; None: one pattern for every source
        self.orders: list[tuple[UPat, ...]] | None = None
        if isinstance(src, (tuple, list)):
            in_any_order = itertools.permutations(src) if isinstance(src, list) else [self.sources]
            self.orders = list(dict.fromkeys(in_any_order))
        # ops that must be among the sources: a cheap test before the full match
        single = [p.ops for p in self.sources if p.ops is not None and len(p.ops) == 1]
        self.required: frozenset[Ops] = frozenset().union(*single)

    # ---- making patterns ----------------------------------------------------------------------

    @staticmethod
    def var(name: str | None = None, dtype: DType | Iterable[DType] | None = None) -> UPat:
        """Anything, of `dtype` if given."""
        return UPat(dtype=dtype, name=name)

    @staticmethod
    def cvar(
        name: str | None = None, dtype: DType | Iterable[DType] | None = None, arg: Any = None
    ) -> UPat:
        """Any constant, or the one whose value is `arg`."""
        return UPat(Ops.CONST, dtype=dtype, arg=arg, name=name)

    @staticmethod
    def const(dtype: DType | Iterable[DType] | None, value: Any) -> UPat:
        """The constant `value`."""
        return UPat(Ops.CONST, dtype=dtype, arg=value)

    @staticmethod
    def any(*patterns: UPat) -> UPat:
        """Whatever matches one of the patterns."""
        pattern = UPat()
        pattern.alternatives = patterns
        pattern.ops = frozenset().union(*[p.ops or GroupOp.All for p in patterns])
        return pattern

    def named(self, name: str) -> UPat:
        other = UPat(self.ops, self.dtypes, self.src, self.arg, name, self.any_len)
        other.alternatives = self.alternatives
        return other

    def alu(self, op: Ops, *others: UPat) -> UPat:
        sources = (self, *others)
        return UPat(op, src=list(sources) if op in GroupOp.Commutative else sources)

    def _binary(self, op: Ops, other: Any, reverse: bool = False) -> UPat:
        other = other if isinstance(other, UPat) else UPat.const(None, other)
        return other.alu(op, self) if reverse else self.alu(op, other)

    # fmt: off
    def __sub__(self, other): return self + (other * -1 if isinstance(other, UPat) else -other)
    def __rsub__(self, other): return other + self * -1
    def __neg__(self): return self * -1
    def __invert__(self): return self.ne(True)
    def where(self, yes, no): return self.alu(Ops.WHERE, yes, no)
    def cast(self, dtype: DType | None = None): return UPat(Ops.CAST, dtype, (self,))
    def sqrt(self): return self.alu(Ops.SQRT)
    def exp2(self): return self.alu(Ops.EXP2)
    def log2(self): return self.alu(Ops.LOG2)
    def sin(self): return self.alu(Ops.SIN)
    def reciprocal(self): return self.alu(Ops.RECIP)
    # fmt: on

    # ---- matching -----------------------------------------------------------------------------

    def allows(self, op: Ops, dtype: DType) -> bool:
        """Whether a node with this op and dtype can match at all."""
        return (self.ops is None or op in self.ops) and (
            self.dtypes is None or dtype in self.dtypes or dtype.scalar() in self.dtypes
        )

    def match(self, u: UOp, bindings: Bindings) -> list[Bindings]:
        """All ways in which `u` matches, each as a dict from names to nodes."""
        return self.match_rest(u, bindings) if self.allows(u.op, u.dtype) else _NO_MATCH

    def match_rest(self, u: UOp, bindings: Bindings) -> list[Bindings]:
        """match() for a node whose op and dtype are known to be allowed."""
        if self.arg is not None and not _same_arg(self.arg, u):
            return _NO_MATCH
        if self.name is not None:
            if (bound := bindings.get(self.name)) is None:
                bindings = {**bindings, self.name: u}
            elif bound is not u:
                return _NO_MATCH
        if self.alternatives:
            return [b for p in self.alternatives for b in p.match(u, bindings)]
        if self.src is None:
            return [bindings]
        if self.orders is None:  # one pattern for every source
            return _match_all(self.sources * len(u.src), u.src, bindings)
        more = len(u.src) - len(self.sources)
        if more < 0 or (more > 0 and not self.any_len):
            return _NO_MATCH
        if len(self.orders) == 1:
            return _match_all(self.orders[0], u.src, bindings)
        return [b for order in self.orders for b in _match_all(order, u.src, bindings)]

    def __repr__(self) -> str:
        return render_pattern(self)


def _set_of(kind: type, given: Any) -> frozenset | None:
    """One value of a kind, or several, as a set; None stays None."""
    return None if given is None else frozenset([given] if isinstance(given, kind) else given)


_NO_MATCH: list[Bindings] = []


def _match_all(
    patterns: tuple[UPat, ...], sources: tuple[UOp, ...], bindings: Bindings
) -> list[Bindings]:
    found = [bindings]
    for pattern, source in zip(patterns, sources, strict=False):
        if not pattern.allows(source.op, source.dtype):
            return _NO_MATCH
        if len(found) == 1:
            found = pattern.match_rest(source, found[0])
        else:
            found = [b for given in found for b in pattern.match_rest(source, given)]
        if not found:
            break
    return found


def _same_arg(wanted: Any, u: UOp) -> bool:
    if u.op is Ops.CONST and type(wanted) is not type(u.arg):
        if isinstance(u.arg, bool) or not isinstance(wanted, (int, float)):
            return False
        wanted = float(wanted) if dtypes.is_float(u.dtype) else wanted
    return arg_key(wanted) == arg_key(u.arg)


# ---- recording: each rule that fired, with the nodes before and after ----------------------------
#
# For DEBUG=4, pictures and tests:
#
#     with record() as passes:
#         graph_rewrite(graph, rules, name="simplify")
#     passes[0].name, passes[0].before, passes[0].after, passes[0].steps
#
# Outside such a block nothing is recorded, and it costs nothing.


@dataclass
class Step:
    """One application of a rule: `before` became `after`. rule: None if `after` was cached by an
    earlier rewrite with the same rules."""

    rule: Rule | None
    before: UOp
    after: UOp


@dataclass
class Rewrite:
    """One graph_rewrite: the graph before and after, and the steps in between.

    walk: replacements were not rewritten again.
    """

    name: str
    before: UOp
    walk: bool = False
    after: UOp | None = None
    steps: list[Step] = field(default_factory=list)

    def rules_fired(self) -> Counter[Rule]:
        return Counter(step.rule for step in self.steps if step.rule is not None)


_recording: list[list[Rewrite]] = []


@contextlib.contextmanager
def record() -> Iterator[list[Rewrite]]:
    """The passes of every graph_rewrite inside the block, in order."""
    passes: list[Rewrite] = []
    _recording.append(passes)
    try:
        yield passes
    finally:
        _recording.pop(next(i for i, p in enumerate(_recording) if p is passes))


def source_of(rule: Rule) -> str:
    """The line that defines a rule, as `file:line  text`; its pattern if the file isn't there."""
    file, line = rule.location
    text = linecache.getline(file, line).strip().rstrip(",") or repr(rule.pattern)
    return f"{file.rsplit('/', 1)[-1]}:{line}  {text}"


def track_rewrites(*args: Any, **kwargs: Any) -> Any:
    """tinygrad's decorator that groups the rewrites of a function under its name. Here record()
    sees every rewrite, so it returns the function unchanged. It may have arguments."""
    if len(args) == 1 and not kwargs and callable(args[0]):
        return args[0]
    return lambda fn: fn


rewrite_group = track_rewrites


# ---- endless rewriting ---------------------------------------------------------------------------
# It is detected by the number of steps, and the error names the rules to blame.

# a rewrite is endless if it takes more steps than both: this many per node, and this many in all
STEPS_PER_NODE, STEPS_AT_LEAST = 200, 20_000

# the error looks for repeated steps among this many last ones
LAST_STEPS = 50


class RewriteLoopError(RuntimeError):
    """Rules that undo each other, or grow the graph forever."""


class RewriteLog:
    """Counts the steps of one rewrite, and records them inside record()."""

    def __init__(self, name: str | None, sink: UOp, walk: bool) -> None:
        self.name, self.sink = name or "graph_rewrite", sink
        self.record: Rewrite | None = None
        if _recording:
            self.record = new = Rewrite(name or "rewrite", sink, walk)
            for passes in _recording:
                passes.append(new)
        self.count, self.limit = 0, STEPS_AT_LEAST
        self.last: deque[tuple[Rule, UOp, UOp]] = deque(maxlen=LAST_STEPS)

    def add(self, rule: Rule, before: UOp, after: UOp) -> None:
        """Adds a step; RewriteLoopError if there are now too many for a graph of this size."""
        self.last.append((rule, before, after))
        if self.record is not None:
            self.record.steps.append(Step(rule, before, after))
        self.count += 1
        if self.count > self.limit:
            self.limit = max(self.limit, STEPS_PER_NODE * len(self.sink.toposort()))
            if self.count > self.limit:
                raise self.error()

    def error(self) -> RewriteLoopError:
        """Names the rules of the last steps, back to where the rewriting last met the same node."""
        *earlier, (_, _, newest) = last = list(self.last)
        met = max((n for n, (_, before, _) in enumerate(earlier) if before is newest), default=0)
        listed = "\n  ".join(dict.fromkeys(repr(rule) for rule, _, _ in last[met:]))
        return RewriteLoopError(
            f"endless rewriting in {self.name}: these rules undo each other or never stop growing "
            f"the graph\n  {listed}"
        )


class Rule:
    """One row: where `pattern` matches, `function` returns the replacement."""

    def __init__(self, pattern: UPat, function: Callable[..., UOp | None]) -> None:
        self.pattern, self.function = pattern, function
        parameters = inspect.signature(function).parameters.values()
        everything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
        self.parameters = None if everything else frozenset(p.name for p in parameters)
        code = getattr(function, "__code__", None)
        self.location = (code.co_filename, code.co_firstlineno) if code else (repr(function), 0)

    def apply(self, u: UOp, ctx: Any) -> UOp | None:
        """The replacement for `u`, whose op and dtype the pattern allows; None if no match."""
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
        self.rules = [row if isinstance(row, Rule) else Rule(*row) for row in rows]
        self._candidates: dict[tuple[Ops, DType], list[Rule]] = {}

    def __add__(self, other: PatternMatcher) -> PatternMatcher:
        return PatternMatcher([*self.rules, *other.rules])

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def without(self, *rules: Rule) -> PatternMatcher:
        """The table without some of its rules."""
        return PatternMatcher([r for r in self.rules if r not in rules])

    def candidates(self, op: Ops, dtype: DType) -> list[Rule]:
        """The rules whose pattern allows this op and dtype; an index that is filled on demand."""
        if (found := self._candidates.get((op, dtype))) is None:
            found = [r for r in self.rules if r.pattern.allows(op, dtype)]
            self._candidates[op, dtype] = found
        return found

    def match(self, u: UOp, ctx: Any = None) -> tuple[Rule, UOp] | None:
        """The first rule that matches, and its replacement."""
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
        """The first matching rule's replacement for this one node; None if no rule matches."""
        found = self.match(u, ctx)
        return None if found is None else found[1]


TrackedPatternMatcher = PatternMatcher  # every rewrite can be recorded

# the states of a node on the stack of a rewrite
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

    By default a node is matched after its sources, with `bottom_up` before them; `bpm` is a second
    table, matched before them in the same walk. Replacements are rewritten again, unless `walk` is
    set: then each node is visited once, and replacements stay as they are. `memo` names an
    attribute that caches results on the nodes permanently, for tables without `ctx` that are used
    many times. `became` is filled with each node's replacement.
    RewriteLoopError, naming the rules, if the rewriting is endless.
    """
    steps = RewriteLog(name, sink, walk)
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
    steps: RewriteLog,
) -> dict[UOp, UOp]:
    """The walk of graph_rewrite: maps each node to its replacement. `before` is applied on the way
    down, `after` on the way up."""
    done: dict[UOp, UOp] = {}
    in_progress: set[UOp] = set()
    # (node, its replacement so far, its state)
    stack: list[tuple[UOp, UOp, int]] = [(sink, sink, FRESH)]

    def finish(original: UOp, result: UOp) -> None:
        done[original] = result
        in_progress.discard(original)
        if memo is not None:
            original.__dict__[memo] = True if original is result else result

    def apply_rule(table: PatternMatcher, original: UOp, u: UOp) -> bool:
        """Whether a rule matches; its replacement is visited next, and `original` waits for it."""
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
                done[u] = u if known is True else known  # True: it stays as it is
                if done[u] is not u and steps.record is not None:
                    steps.record.steps.append(Step(None, u, known))
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
    """Replaces the nodes in `mapping`, including Variables in sizes; nothing is replaced inside a
    replacement. name: tinygrad's name for the pass, ignored here."""
    out = substituted(root, mapping)[root]
    return out if extra_pm is None else graph_rewrite(out, extra_pm)


def substituted(root: UOp, mapping: dict[UOp, UOp]) -> dict[UOp, UOp]:
    """Maps each node to its replacement by `substitute`."""
    done: dict[UOp, UOp] = dict(mapping)
    variables = {u for u in mapping if u.op in (Ops.BIND, Ops.DEFINE_VAR)}
    for u in sources_first((root,), known=mapping):
        src = tuple([done[s] for s in u.src])
        arg = u.arg
        if variables and not variables.isdisjoint(u.unknowns):
            arg = map_sizes(arg, lambda size: substitute(size, mapping).ssimplify())
        done[u] = u if src == u.src and arg is u.arg else UOp(u.op, u.dtype, src, arg, u.tag)
    tell_became(done.items())
    return done
