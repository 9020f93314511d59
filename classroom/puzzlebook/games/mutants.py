"""Part 7a: ten compilers, each with one wrong rule, and the smallest expression that shows it.

    puzzle("nearly", Variable("i", 0, 5) % 5)

An answer is an expression of Variables with bounds, of `number("x")` and of constants. It kills a
mutant if the mutant makes something of it that has a different value somewhere. The fewer nodes the
better. `tests/classroom/test_mutants.py` tries all the smaller ones that can be made of a few
leaves, which is what `best` stands on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from classroom.exercise import Open, Wrong, wrong_if
from classroom.lies import Lie, lie, shown, tried, variables_of, written
from classroom.puzzlebook.game import Game, Puzzle, against_par
from tinyframe import Tensor
from tinyframe.dtype import dtypes, truncate
from tinyframe.rewrite import PatternMatcher, Rule, UPat, graph_rewrite
from tinyframe.rewrite.matcher import record, source_of
from tinyframe.uop import GroupOp, Ops, UOp
from tinyframe.uop.evaluate import evaluate, exec_alu
from tinyframe.viz.drawing import MUTED, Drawing, width_of
from tinyframe.viz.picture import DrawnPicture, Picture

MOST_NODES = 200  # of an answer: nobody needs a tenth of that
LEAVES = {Ops.CONST, Ops.DEFINE_VAR}

# ---- the compilers -------------------------------------------------------------------------------

x, y, a, b = (UPat.var(name) for name in "xyab")
i, f = UPat.var("x", dtypes.int), UPat.var("x", dtypes.float)
c, d = UPat.cvar("c"), UPat.cvar("d")
zero, one = UPat.const(None, 0), UPat.const(None, 1)


def folded(u: UOp) -> UOp:
    values = [truncate[s.dtype](s.arg) for s in u.src]  # 1e30 is no float32 until it's rounded
    return u.const_like(exec_alu(u.op, u.dtype, values))


# fmt: off
# What is right in each of them. A row stands in one line, because that line is shown.
HONEST = PatternMatcher([
    (UPat(GroupOp.Elementwise - {Ops.BITCAST}, src=UPat(Ops.CONST), name="u"), folded),
    (x * one, lambda x: x),
    (i + zero, lambda x: x),
    (i * zero, lambda x: x.const_like(0)),
    (UPat(Ops.MAX, src=(x, x)), lambda x: x),
    (UPat(Ops.WHERE, src=(y, x, x)), lambda x, y: x),
    (i % c, lambda x, c: x if 0 <= x.vmin and x.vmax < c.arg else None),
    (i // c, lambda x, c: x.const_like(0) if 0 <= x.vmin and x.vmax < c.arg else None),
])
# fmt: on


@dataclass(frozen=True)
class Mutant(Puzzle):
    """A compiler with a wrong rule, the only one of `wrong`, whose words are what its author
    thought. A row stands in one line, because that line is shown."""

    wrong: PatternMatcher

    @property
    def rule(self) -> Rule:
        return self.wrong.rules[0]

    @property
    def row(self) -> str:
        """The rule as it is written in its file."""
        return source_of(self.rule).partition("  ")[2]

    @property
    def sentence(self) -> str:
        return f"{self.words.title} Its row: `{self.row}`"

    @property
    def table(self) -> PatternMatcher:
        """All rules of this compiler; the wrong one has its turn first."""
        return PatternMatcher([self.rule, *HONEST])

    def compiled(self, expression: UOp) -> tuple[UOp, int]:
        """What the compiler makes of an expression, and how often the wrong rule fired."""
        with record() as passes:
            after = graph_rewrite(expression, self.table, name=self.name)
        return after, sum(step.rule is self.rule for step in passes[0].steps)

    def trial(self) -> Trial:
        return Trial(self)


@dataclass
class Trial:
    """One try at killing a mutant: what it made of the expression, and where that differs."""

    mutant: Mutant
    before: UOp | None = None
    after: UOp | None = None
    found: Lie | None = None

    @property
    def score(self) -> int | None:
        return len(self.before.toposort()) if self.found and self.before is not None else None

    def check(self, answer: Any) -> str:
        """What a kill is told; Wrong with why the mutant survived."""
        expression = understood(answer)
        self.before = expression
        self.after, fired = self.mutant.compiled(expression)
        said = written(expression)
        if not fired:
            raise Wrong("It survives, because its wrong rule never fired: "
                        f"{self._silence(expression)}", f"`{said}`",
                        more=(("the row", f"`{self.mutant.row}`"),))  # fmt: skip
        self.found = lie(expression, self.after)
        if self.found is None:
            raise Wrong(f"It survives. The rule fired, and `{said}` became "
                        f"`{written(self.after)}`, but both have the same value wherever I looked. "
                        "Which values of what is in there would make a difference?", f"`{said}`",
                        more=survived(expression, self.after))  # fmt: skip
        nodes = len(expression.toposort())
        where = f", for {self.found.where()}" if self.found.values else ""
        return (
            f"Killed{where}: {shown(self.found.honest)} is right, and the mutant says "
            f"{shown(self.found.other)}. {nodes} nodes. {against_par(nodes, self.mutant)}"
        )

    def _silence(self, expression: UOp) -> str:
        """Why the wrong rule never fired."""
        alone = PatternMatcher([self.mutant.rule])
        if fits := [u for u in expression.toposort() if alone.rewrite(u) not in (None, u)]:
            return (
                f"`{written(fits[0])}` does match the row, but sources come first, and by then an "
                "honest row had changed one of them."
            )
        return "nothing in your expression matches the row, or its condition says no."

    def picture(self) -> Picture | None:
        """The expression before and after, and the two values."""
        if self.before is None or self.after is None:
            return None
        values = None if self.found is None else self.found
        return drawn(self.before, self.after, values)


def understood(answer: Any) -> UOp:
    """An answer as an expression; Wrong where it isn't one that can be tried."""
    if callable(answer) and not isinstance(answer, UOp):
        answer = answer()
    if answer is None or answer is ...:
        raise Open
    if isinstance(answer, Tensor):
        raise Wrong("A Tensor has buffers in it. Build the expression of Variables and `number`s.")
    wrong_if(isinstance(answer, (bool, int, float)), "Python has computed that already, and all "
             f"that's left is {answer}. An expression needs a Variable, a `number` or a "
             "`UOp.const` in it.", got=answer)  # fmt: skip
    if not isinstance(answer, UOp):
        raise Wrong("The answer has to be an expression, a UOp.", got=type(answer).__name__)
    nodes = answer.toposort()
    wrong_if(len(nodes) > MOST_NODES, f"That has {len(nodes)} nodes. It can be done in a handful.")
    for u in nodes:
        wrong_if(u.op not in LEAVES and (u.op not in GroupOp.Elementwise or u.op is Ops.BITCAST),
                 f"There's a {u.op.name} in it. Take Variables, `number`s and constants, and "
                 "operations on single numbers.")  # fmt: skip
    return answer


def survived(before: UOp, after: UOp, most: int = 3) -> tuple[tuple[str, str], ...]:
    """A few of the values that were tried, and what both have there, as rows."""
    variables = variables_of(before, after)
    if not variables:
        return (("both are", shown(evaluate(before, {}))),)
    rows = []
    for values in [*tried(*variables)][:most]:
        where = ", ".join(f"{u.arg[0]} = {shown(value)}" for u, value in values.items())
        rows.append((where, f"both are {shown(evaluate(before, values))}"))
    return tuple(rows)


# ---- the picture ---------------------------------------------------------------------------------

BEFORE, AFTER, RIGHT, LIE = "#fdebd0", "#e3e3f3", "#d3efd0", "#fdd9d0"
CODE, HIGH = 12.0, 26.0  # points
TITLES = ("your expression", "the mutant's")


def drawn(before: UOp, after: UOp, found: Lie | None) -> Picture:
    """An expression, what became of it, and both values where they differ."""
    texts = [written(before), written(after)]
    values = ["", ""] if found is None else [shown(found.honest), shown(found.other)]
    where = "the same values" if found is None else found.where() or "no variables"
    sheet, left = Drawing(), 0.0
    for title, text, value, look in zip(TITLES, texts, values, (RIGHT, LIE), strict=True):
        wide = 24 + max(
            width_of(title, 10.5), width_of(text, CODE, mono=True), width_of(value, 14, bold=True)
        )
        sheet.words(left, 11, title, 10.5, colour=MUTED)
        fill = BEFORE if title == TITLES[0] else AFTER
        sheet.box(left, 17, wide, HIGH, fill, words=[text], size=CODE, mono=True)
        if found is not None:
            sheet.box(left, 50, wide, HIGH, look, words=[value], size=14)
        left += wide + 34
        if title == TITLES[0]:
            sheet.line([(left - 29, 30), (left - 5, 30)], arrow=True)
    sheet.words(left - 22, 67 if found else 34, where, 11, colour=MUTED)
    sheet.width += 0.2 * width_of(where, 11)  # in case that the reader's letters are wider
    lines = [f"{texts[0]}  becomes  {texts[1]}"]
    lines += [f"{where}: {values[0]} is right, the mutant has {values[1]}"] if found else [where]
    return DrawnPicture("what the mutant made of it", "\n".join(lines), sheet)


GAME = Game("mutants", "7a", "Ten mutants", "nodes")
