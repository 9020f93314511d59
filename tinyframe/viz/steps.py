"""One kernel's route through the compiler, step by step; and a rewrite in words.

    way = way_of(sink, renderer)
    way.stages[0].rules[0].meaning, way.stops[12], way.rewrite(way.stops[12])

The kernel is compiled to source text again, and recorded (`explorer/record.py`). Nothing runs. A
stop is one rewrite, or the end of a stage; its picture is made on demand.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tinyframe.algebra.symbolic import forget_simplified
from tinyframe.codegen import get_program
from tinyframe.observe import observing
from tinyframe.renderer import Renderer
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import INFIX, render
from tinyframe.viz.explorer.record import OURS, Recorder, shown_rule
from tinyframe.viz.explorer.rows import Row, Word
from tinyframe.viz.explorer.rows import Step as Rewrite
from tinyframe.viz.explorer.store import Store
from tinyframe.viz.explorer.trace import Described, Trace
from tinyframe.viz.nodes import plural

# What each stage of the compiler does for C.
MEANINGS_TO_C = {
    "simplify": "applies algebra to indices and values",
    "canonicalize loops": "merges neighbouring loops, and splits those that a division cuts in two",
    "optimize": "splits, reorders and vectorizes the loops, as the list of opts says",
    "flatten indices": "turns one index per dimension into one offset into memory",
    "decompose": "rewrites operations that the device lacks into ones that it has",
    "expand lanes": "turns a loop over lanes into vectors",
    "expand copies": "writes out the iterations of unrolled loops side by side",
    "decompose copies": "rewrites again what copying the indices added",
    "use idioms": "picks the shortest form",
    "masks": "turns vectors of booleans into masks, as the language has them",
    "separate loops": "gives reduces loops of their own where one has to be inside others",
    "block long sums": "adds up long sums in blocks, so that rounding errors stay small",
    "linearize": "puts the operations into the order in which they run",
}
# And for other languages, some of which need stages of their own.
MEANINGS = {
    **MEANINGS_TO_C,
    "ranges to values": "turns loops that a GPU runs at once into indices of blocks and threads",
    "fragments": "lets a warp read what tensor cores multiply as whole matrices",
    "scalarize": "computes lane by lane, where the language can only move vectors",
    "wrap integers": "computes with unsigned integers, where signed ones may not wrap around",
    "emulate int64": "computes 64-bit integers in two words, where the language lacks them",
    "replace unsupported ops": "rewrites what the language cannot express",
}


class Rule(NamedTuple):
    """A rule of the compiler. place: `file.py:line`. source: that line. meaning: the first sentence
    of its docstring, if it has one."""

    place: str
    source: str
    meaning: str = ""

    @property
    def title(self) -> str:
        """Its place, with the name of its function if that has a docstring."""
        name = self.source.removeprefix("def ").partition("(")[0]
        return f"{self.place}  {name}" if self.meaning else self.place


def rule_at(file: str, line: int) -> Rule:
    """The rule at a line of a file, with the first sentence of its docstring."""
    shown, _, text = shown_rule(file, line)
    place = f"{shown if file.startswith(OURS) else Path(file).name}:{line}"
    said = ast.get_docstring(_functions(file)[line]) if text.startswith("def ") else None
    words = " ".join((said or "").split())
    return Rule(place if shown else "", text, words.partition(". ")[0].rstrip("."))


@functools.cache
def _functions(file: str) -> dict[int, ast.FunctionDef]:
    """The functions in a file, by line."""
    tree = ast.parse("".join(linecache.getlines(file)))
    return {node.lineno: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


class Stop(NamedTuple):
    """A place to stop: at rewrite `step` of stage `stage`, or at its end if `step` is None."""

    stage: int
    step: int | None


@dataclass(repr=False)
class Way(Described):
    """Everything that happened to one kernel. function: its name in the source."""

    function: str
    rules: list[Rule]

    @cached_property
    def changing(self) -> list[int]:
        """The numbers of the stages that changed something, or gave the kernel a new form."""
        return [n for n, s in enumerate(self.stages) if s.steps or s.before is not s.after]

    @cached_property
    def stops(self) -> list[Stop]:
        """Every rewrite, in order, and the end of each stage."""
        return [Stop(n, step) for n in self.changing
                for step in (*range(len(self.stages[n].steps)), None)]  # fmt: skip

    @property
    def count(self) -> int:
        """The number of rewrites."""
        return sum(len(s.steps) for s in self.stages)

    def before_stage(self, n: int) -> list[Row]:
        """The graph that a stage starts with; the last stage doesn't record it."""
        before = self.stages[n].before
        return self.stages[n - 1].roots if before is None else [before]

    def rewrite(self, stop: Stop) -> Rewrite | None:
        """The rule and the two nodes of a stop; None at the end of a stage."""
        return None if stop.step is None else self.stages[stop.stage].steps[stop.step][-1]

    def busiest(self, most: int) -> list[tuple[Rule, int, Rewrite]]:
        """The rules that fired most often: how often, and the first rewrite of each."""
        made = [rewrite for stage in self.stages for *_, rewrite in stage.steps]
        times = Counter(rewrite.rule for rewrite in made if self.rules[rewrite.rule].place)
        first = {rewrite.rule: rewrite for rewrite in reversed(made)}
        return [(self.rules[r], count, first[r]) for r, count in times.most_common(most)]


def way_of(ast: UOp, renderer: Renderer) -> Way:
    """A kernel's route through the compiler to source text."""
    recorder = Recorder(Store.temporary(), [])
    forget_simplified()  # or nodes shared with an earlier kernel would be simplified already
    with observing(recorder):
        recorder.compiling(ast, renderer.device)
        program = get_program(ast, renderer)
        recorder.programmed(program, recorder.started, recorder.started)
    rules = [rule_at(*place) for place in recorder.rules]
    described = vars(Trace(recorder.store, dict).described("kernel/0"))
    return Way(**described, function=program.function, rules=rules)


# ---- a rewrite in words --------------------------------------------------------------------------

BRACKETED = {*INFIX, Ops.NEG, Ops.RECIP, Ops.WHERE, Ops.MULACC}  # by `render`
SHORT = 18  # characters: shorter expressions need no letter
FITS = 60  # characters: a letter for a longer expression is explained by its size only
MOST_WRITTEN = 14  # operations of one side that are written out; fewer if the text gets too long
LONGEST = 240  # characters
LETTERS = "abcdefghijkmnpqrstuvwxyz"  # without l and o, which look like digits


class Told(NamedTuple):
    """A rewrite in words. letters: pairs of a letter and its meaning."""

    before: str
    after: str
    letters: tuple[tuple[str, str], ...]

    @property
    def where(self) -> str:
        """`a is data1[ridx0], b is …`; empty without letters."""
        return ", ".join(f"{letter} is {meaning}" for letter, meaning in self.letters)


def told(before: Row, after: Row) -> Told:
    """The rewrite of one node into another: `a+(-b)` and `a-b`. Parts that both have are named a,
    b, c and so on, in reading order; parts that only one has are written out, the outermost
    operations first."""
    inside = [row.toposort().keys() for row in (before, after)]
    shared = inside[0] & inside[1]
    taken = {row.arg[0] for row in inside[0] | inside[1] if row.op is Ops.DEFINE_VAR}
    letters = [f"{c}{n or ''}" for n in range(len(taken) + MOST_WRITTEN) for c in LETTERS]
    free = [letter for letter in letters if letter not in taken]
    names: dict[Row, str] = {}

    def written(root: Row, most: int = MOST_WRITTEN) -> str:
        named = dict(names)
        spelled: dict[Row, None] = {}
        pending = [root]
        for row in pending:  # grows while it is walked
            if row in spelled or row in names or _is_short(row) or len(spelled) >= most:
                continue
            if row is root or row not in shared:
                spelled[row] = None
                pending += row.src
        met = {root, *spelled, *(s for row in spelled for s in row.src)}
        done: dict[Row, Row] = {}
        for row in root.toposort(lambda row: row in met):
            if row in spelled:
                src = tuple(done[s] for s in row.src)
                done[row] = _all_lanes(row, src) or replace(row, number=-1, src=src)
            elif row in met and (row in named or not _is_short(row)):
                done[row] = _named(row, named.setdefault(row, free[len(named)]))
            else:
                done[row] = row
        text = text_of(done[root])
        if len(text) > LONGEST and most > 1:  # the same part may appear many times
            return written(root, most // 2)
        names.update(named)
        return text

    texts = written(before), written(after)
    return Told(*texts, tuple((name, meaning_of(row)) for row, name in names.items()))


def _named(row: Row, name: str) -> Row:
    """A node that is written as this name."""
    return Row(-1, Ops.DEFINE_VAR, row.dtype, (), (Word(name), 0, 0))


def _all_lanes(row: Row, src: tuple[Row, ...]) -> Row | None:
    """`vec8(500)` in place of a VECTORIZE that says 500 eight times."""
    if row.op is not Ops.VECTORIZE or len(set(row.src)) > 1 or len(src) == 1:
        return None
    return _named(row, f"vec{len(src)}({render(src[0])})")  # type: ignore[arg-type]


def _is_short(row: Row) -> bool:
    """Whether a node is as short as a letter would be."""
    fits = row.op is not Ops.SINK and len(row.src) <= 2 and len(render(row)) <= SHORT  # type: ignore
    return fits or not row.src


def text_of(row: Row) -> str:
    """An expression in one line, without the outermost parentheses."""
    if row.op is Ops.STORE:
        index, value, *_ = row.src
        return f"{render(index)} = {render(value)}"  # type: ignore[arg-type]
    text = render(row)  # type: ignore[arg-type]
    return text[1:-1] if row.op in BRACKETED else text


def meaning_of(row: Row) -> str:
    """The meaning of a letter: its expression if that is short, or else its size."""
    text = text_of(_all_lanes(row, row.src) or row)
    if len(text) <= FITS and " ... " not in text:
        return text
    kind = {Ops.REDUCE: "reduce", Ops.SCAN: "scan"}.get(row.op)
    what = f"{row.arg.name} {kind}" if kind else row.op.name
    return f"{plural(len(row.toposort()), 'node')} that end in {what}"
