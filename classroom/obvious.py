"""Ten rules that everybody knows from school, and which of them hold on a computer.

safe_rules()                     # for floats of 32 bits, and for whole numbers
lies_table({3: inf, 7: (1, 1e8)})    # the learner's counterexamples, with what comes of them
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from classroom.lies import Lie, differ, lie, number, shown
from classroom.tables import Table
from tinyframe.dtype import dtypes, truncate
from tinyframe.uop import Ops, UOp
from tinyframe.uop.evaluate import evaluate
from tinyframe.viz.drawing import MUTED, Drawing
from tinyframe.viz.picture import DrawnPicture, Picture

Side = Callable[[UOp, UOp], UOp]


def divided(x: UOp, y: UOp) -> UOp:
    """x / y, or x // y of whole numbers."""
    return x // y if dtypes.is_int(x.dtype) else x / y


def at_most(x: UOp, y: UOp) -> UOp:
    return x.alu(Ops.CMPLE, y)


@dataclass(frozen=True)
class Obvious:
    """A rule as it is taught: what to look for, and what to put there."""

    text: str
    before: Side
    after: Side

    @property
    def takes_two(self) -> bool:
        return "y" in self.text


TEN = (
    Obvious("x + 0  →  x", lambda x, y: x + 0, lambda x, y: x),
    Obvious("x * 1  →  x", lambda x, y: x * 1, lambda x, y: x),
    Obvious("x * 0  →  0", lambda x, y: x * 0, lambda x, y: x.const_like(0)),
    Obvious("x - x  →  0", lambda x, y: x.alu(Ops.SUB, x), lambda x, y: x.const_like(0)),
    Obvious("x + x  →  x * 2", lambda x, y: x + x, lambda x, y: x * 2),
    Obvious("x / x  →  1", lambda x, y: divided(x, x), lambda x, y: x.const_like(1)),
    Obvious("(x + y) - y  →  x", lambda x, y: (x + y).alu(Ops.SUB, y), lambda x, y: x),
    Obvious("x * 2 / 2  →  x", lambda x, y: divided(x * 2, x.const_like(2)), lambda x, y: x),
    Obvious("x < x  →  False", lambda x, y: x < x, lambda x, y: UOp.const(dtypes.bool, False)),
    Obvious("not (x < y)  →  y <= x", lambda x, y: (x < y).logical_not(),
            lambda x, y: at_most(y, x)),
)  # fmt: skip

WHOLE = [UOp.variable(name, -(2**31), 2**31 - 1) for name in "xy"]
ANY = [number(name) for name in "xy"]


@cache
def lie_of(rule: Obvious, whole: bool) -> Lie | None:
    """Where a rule is wrong; None where it holds."""
    x, y = WHOLE if whole else ANY
    return lie(rule.before(x, y), rule.after(x, y))


def safe_rules() -> tuple[int, int]:
    """How many of the ten hold for floats, and how many for whole numbers."""
    floats, ints = (sum(lie_of(rule, whole) is None for rule in TEN) for whole in (False, True))
    return floats, ints


def verdicts() -> Picture:
    """The ten, and for which numbers each of them holds."""
    rows = [(str(n), rule.text, *("holds" if lie_of(rule, whole) is None else "lies"
             for whole in (False, True))) for n, rule in enumerate(TEN, 1)]  # fmt: skip
    return _table(
        ("", "the rule", "floats", "whole numbers"), rows, "ten rules, and who may use them"
    )


def tried_on(rule: Obvious, given: Any) -> tuple[Any, Any, str] | None:
    """What both sides are for a value of x, or a pair (x, y), of floats; and these values, as
    `x = inf`. None if the values aren't what the rule needs."""
    if isinstance(given, Mapping):
        given = [given[name] for name in "xy" if name in given]
    values = list(given) if hasattr(given, "__len__") and not isinstance(given, str) else [given]
    if len(values) not in ((2,) if rule.takes_two else (1, 2)):
        return None
    try:
        numbers = [truncate[dtypes.float](float(value)) for value in values]
    except (TypeError, ValueError, OverflowError):
        return None
    known = dict(zip(ANY, numbers, strict=False))
    x, y = ANY
    said = ", ".join(f"{u.arg[0]} = {shown(value)}" for u, value in known.items())
    return evaluate(rule.before(x, y), known), evaluate(rule.after(x, y), known), said


def lies_table(counterexamples: Any) -> Picture | None:
    """A row for each of the learner's counterexamples: what both sides of the rule are there."""
    if not isinstance(counterexamples, Mapping):
        print("Nothing to draw yet.")
        return None
    rows = []
    for n, rule in enumerate(TEN, 1):
        if n in counterexamples and (found := tried_on(rule, counterexamples[n])) is not None:
            before, after, said = found
            mark = "lies" if differ(before, after) else "the same"
            rows.append((str(n), rule.text, said, shown(before), shown(after), mark))
    headings = ("", "the rule", "where", "is really", "would become", "")
    return _table(headings, rows, f"{len(rows)} rules caught lying")


LOOKS = {"holds": "#d3efd0", "lies": "#fde3d3", "the same": "#eeeeee"}
ROW, SIZE = 21.0, 11.5  # points


def _table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]], headline: str) -> Picture:
    sheet = Drawing()
    widths = [max([len(row[k]) for row in [headings, *rows]]) * 6.6 + 20
              for k in range(len(headings))]  # fmt: skip
    lefts = [sum(widths[:k]) for k in range(len(widths))]
    for left, words in zip(lefts, headings, strict=True):
        sheet.words(left + 6, 12, words, 10.5, colour=MUTED)
    for number_of_row, row in enumerate(rows):
        top = 20 + ROW * number_of_row
        for left, width, words in zip(lefts, widths, row, strict=True):
            if words in LOOKS:
                sheet.box(left + 3, top + 2, width - 10, ROW - 4, LOOKS[words], "none", [words])
            else:
                sheet.words(left + 6, top + 14, words, SIZE, mono=True, colour=MUTED)
    return DrawnPicture(headline, f"{headline}\n{Table(headings, rows)!r}", sheet)
