"""The loops of a program as boxes inside of boxes, and below them what is no loop any more.

    draw_nest(program, tree)

A box is a loop: its number, how often it runs, and its kind as a colour, a name and a letter.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from tinyframe.codegen.program import ProgramSpec
from tinyframe.uop.node import UOp, kind
from tinyframe.viz.blocks import AXES, INSIDE, Block, axis_text, loops_of, work_text
from tinyframe.viz.drawing import MUTED, Drawing, width_of, wrapped
from tinyframe.viz.kinds import ARROW, MARKED
from tinyframe.viz.nodes import plural

NEST = 208.0  # points: how wide a nest is
NARROW = 170.0  # points: in narrower boxes there is less room around what is inside
MOST_LOOPS = 24  # drawn


def numbers_of(tree: Block) -> dict[UOp, int]:
    """The loops of a program, numbered in the order of the source."""
    return {r: n for n, r in enumerate(loops_of(tree), 1)}


def gone_from(program: ProgramSpec) -> list[UOp]:
    """The RANGEs that are no loops any more: copies and lanes of what the loops hold."""
    return [r for r in program.loops if kind(r) in INSIDE]


def gone_text(program: ProgramSpec) -> list[str]:
    """The same as text, a line for each."""
    gone = gone_from(program)
    return [f"{axis_text(r)} ({kind(r).letter}): {AXES[kind(r)].meaning}" for r in gone]


def draw_nest(
    program: ProgramSpec,
    tree: Block,
    changed: Collection[int] = (),
    most: int = MOST_LOOPS,
) -> Drawing:
    """The loops as boxes, at most so many, and below them what is no loop any more. changed: which
    of these, counted in that order, get a thick outline."""
    numbers = numbers_of(tree)
    shown = {r: n for r, n in numbers.items() if n <= most}
    marked = {r for n, r in enumerate((*numbers, *gone_from(program))) if n in changed}
    sheet = Drawing()
    _Nest(shown, marked).fill(sheet, tree, 0, 0, NEST)
    if left_out := len(numbers) - len(shown):
        sheet.words(0, sheet.height + 14, f"and {plural(left_out, 'loop')} more", colour=MUTED)
    left, top = 0.0, sheet.height + 6
    for r in gone_from(program):
        words = f"{kind(r).letter}  {axis_text(r)}"
        width = width_of(words) + 14
        if left and left + width > NEST:
            left, top = 0.0, top + 24
        _outlined(sheet, left, top, width, 20, r, r in marked, words=[words])
        left += width + 6
    return sheet


def _outlined(
    sheet: Drawing,
    x: float,
    y: float,
    width: float,
    height: float,
    r: UOp,
    is_marked: bool,
    link: int | None = None,
    words: Sequence[str] = (),
) -> None:
    """The box of a RANGE. link: its number, where it is a loop."""
    line, thick = (MARKED["color"], 2.5) if is_marked else (ARROW, 1)
    axis = AXES[kind(r)]
    title = f"{axis_text(r)}: {axis.meaning}"
    sheet.box(x, y, width, height, axis.fill, line, words, title, thick=thick, link=link)


class _Nest(NamedTuple):
    """What is drawn of a nest. numbers: the loops that are. marked: those with a thick outline."""

    numbers: dict[UOp, int]
    marked: set[UOp]

    def fill(self, sheet: Drawing, block: Block, x: float, top: float, width: float) -> float:
        """Draws what is in a block, less the loops that have no number, between x and x + width;
        gives where it ends."""
        for part in block.body:
            if isinstance(part, Block):
                if part.range not in self.numbers:
                    continue
                top = self.loop(sheet, part, x, top, width) + 5
            else:
                lines = wrapped(work_text(part), width - 12)
                high = 8 + 13.6 * len(lines)
                sheet.box(x, top, width, high, "#ffffff", words=lines)
                top += high + 5
        return top

    def loop(self, sheet: Drawing, block: Block, x: float, top: float, width: float) -> float:
        """The box of a loop with all that is in it; gives where it ends."""
        r = block.range
        assert r is not None
        title = wrapped(axis_text(r), width - 27 - 18, bold=True)
        margin = 6 if width > NARROW else 3
        inside = Drawing()
        inner = self.fill(inside, block, margin, 8 + 14 * len(title), width - 2 * margin)
        height, number = inner + 2, self.numbers[r]
        _outlined(sheet, x, top, width, height, r, r in self.marked, number)
        sheet.box(x + 5, top + 4, 17, 14, "#ffffff", words=[str(number)], size=9, link=number)
        for n, line in enumerate(title):
            sheet.words(x + 27, top + 15 + 14 * n, line, bold=True)
        sheet.words(x + width - 7, top + 15, kind(r).letter, bold=True, anchor="end")
        sheet.put(inside, x, top)
        return top + height
