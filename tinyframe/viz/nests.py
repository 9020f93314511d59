"""`kernel(x)`: the loops of a kernel as boxes inside of boxes, beside the source that they become.

    kernel(a @ b)                       # with the Opts that its plan gives it
    kernel(a @ b, every=True)           # before the first Opt, and after each of them
    kernel(a @ b, opts=[Opt(OptOps.VECTOR, 1, 8)])

A box is a loop: its number, which also stands beside the line of the source that begins it, how
often it runs, and its kind as a colour, a name and a letter. What stands in it is what one turn
does.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Sequence
from typing import Any

from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.codegen.program import ProgramSpec
from tinyframe.uop.node import UOp
from tinyframe.uop.range import kind
from tinyframe.viz.blocks import (
    AXES,
    INSIDE,
    Block,
    axis_text,
    blocks_of,
    lines_of,
    loops_of,
    reuse,
    work_text,
)
from tinyframe.viz.drawing import HIGH, MUTED, PAGE, Drawing, width_of, wrapped
from tinyframe.viz.kernels import one_kernel, renderer_of
from tinyframe.viz.kinds import ARROW, MARKED
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import DrawnPicture
from tinyframe.viz.source import draw_source

NEST, GAP = 208.0, 18.0  # points: how wide a nest is, and what is left between two things
MOST_LOOPS = (24, 16, 10, 6)  # drawn: as many as fit a screen
MOST_OPTS = 7  # that have a line each

# What an Opt does, of `axis` and of what its argument says.
OPTS = {
    OptOps.SPLIT: "axis {axis} in pieces of {arg}",
    OptOps.REORDER: "the loops in the order {axis}",
    OptOps.UPCAST: "{arg} of axis {axis} side by side, in registers",
    OptOps.VECTOR: "{arg} of axis {axis} in one vector",
    OptOps.UNROLL: "{arg} of axis {axis} written out, one after another",
    OptOps.THREAD: "axis {axis} shared by the cores",
    OptOps.STAGE: "what axis {axis} reads of data{arg} is copied to a panel first",
    OptOps.GLOBAL: "axis {axis} as an axis of the grid of blocks",
    OptOps.LOCAL: "{arg} of axis {axis} at once, by the threads of a block",
    OptOps.GROUP: "the reduce of axis {axis} by {arg} threads of a block",
}


def kernel(
    x: Any, opts: Sequence[Opt] | None = None, *, number: int | None = None, every: bool = False
) -> DrawnPicture:
    """A picture of one kernel of x (a Tensor, a ScheduleItem, a list of these, or a kernel's SINK).

    number: which kernel, from 1 on, in running order; without one, the one with most arithmetic.
    opts: in place of those that its plan gives. every: the loops before the first Opt and after
    each of them, without the source, and how many operations there are for each element that is
    loaded from memory.
    Nothing runs. TypeError for what is none of these; ValueError where there is no such kernel;
    KernelOptError for Opts that it does not allow.
    """
    item, which = one_kernel(x, number, "kernel")
    renderer = renderer_of(item)
    program = get_program(item.ast, renderer, opts)
    headline = f"loops of {program.function}{which}"
    reason = reason_for(program, opts is not None)
    if not every:
        return _with_source(headline, reason, program)
    counts = range(len(program.opts) + 1)
    steps = [get_program(item.ast, renderer, program.opts[:n]) for n in counts]
    return _step_by_step(headline, reason, steps)


def reason_for(program: ProgramSpec, given: bool) -> str:
    """Why the loops are as they are. given: whether the caller chose the Opts."""
    if program.plan is not None:
        return f"Plan: {program.plan.name}, because {program.plan.why}."
    return "With the Opts that were given." if given else "No plan: the loops are as written."


def opt_text(opt: Opt) -> str:
    """`UPCAST(1, 4): 4 of axis 1 side by side, in registers`."""
    said = [str(opt.axis), *([] if opt.arg is None else [str(opt.arg)])]
    axis = ", ".join(map(str, opt.axis)) if isinstance(opt.axis, tuple) else opt.axis
    is_all = opt.arg in (0, None) and opt.op is not OptOps.STAGE
    words = OPTS[opt.op].format(axis=axis, arg="all turns" if is_all else opt.arg)
    return f"{opt.op.name}({', '.join(said)}): {words}"


# ---- one kernel beside its source ----------------------------------------------------------------


def _with_source(headline: str, reason: str, program: ProgramSpec) -> DrawnPicture:
    tree = blocks_of(program)
    numbers = _numbers(tree)
    sheet = Drawing()
    top = _paragraph(sheet, 0, reason)
    opts = [f"{n}. {opt_text(opt)}" for n, opt in enumerate(program.opts, 1)]
    for line in opts if len(opts) <= MOST_OPTS else ["; ".join(opts)]:
        top = _paragraph(sheet, top, line)
    room = HIGH - top
    for most in MOST_LOOPS:
        nest = _nest(program, tree, numbers, most=most)
        if nest.height <= room:
            break
    sheet.put(nest, 0, top + 6)
    source = draw_source(program, numbers, PAGE - NEST - GAP, room)
    sheet.put(source, NEST + GAP, top + 6)
    loops = [*lines_of(tree, numbers), *_gone_text(program)]
    text = [headline, reason, *opts, *loops, "", program.src.rstrip()]
    return DrawnPicture(headline, "\n".join(text), sheet)


def _paragraph(sheet: Drawing, top: float, words: str) -> float:
    """Words across the page; gives where they end."""
    for line in wrapped(words, PAGE):
        sheet.words(0, top + 11, line, colour=MUTED)
        top += 15
    return top


def _numbers(tree: Block) -> dict[UOp, int]:
    """The loops of a program, numbered in the order of the source."""
    return {r: n for n, r in enumerate(loops_of(tree), 1)}


# ---- Opt by Opt ----------------------------------------------------------------------------------


def _step_by_step(headline: str, reason: str, steps: list[ProgramSpec]) -> DrawnPicture:
    """A card for each step, three in a row; what an Opt changed has a thick outline."""
    sheet = Drawing()
    text = [headline, reason]
    top = _paragraph(sheet, 0, reason) + 6
    cards = []
    before: list[tuple] | None = None
    for n, program in enumerate(steps):
        tree = blocks_of(program)
        title = f"{n}. {opt_text(program.opts[-1])}" if n else "As written: no Opt"
        after = [_key(r) for r in (*loops_of(tree), *_gone(program))]
        changed = set() if before is None else changed_places(before, after)
        before = after
        each = reuse(tree)
        about = f"operations per element from memory: {each:,.3g}" if math.isfinite(each) else ""
        cards.append(_card(title, about, program, tree, changed))
        text += [title, *lines_of(tree, _numbers(tree)), *_gone_text(program), about]
    for row in range(0, len(cards), 3):
        for column, card in enumerate(cards[row : row + 3]):
            sheet.put(card, column * (NEST + GAP), top)
        top += max(card.height for card in cards[row : row + 3]) + 14
    return DrawnPicture(headline, "\n".join(filter(None, text)), sheet)


def _key(r: UOp) -> tuple:
    """What makes a loop another one: its kind and size."""
    return kind(r), axis_text(r)


def changed_places(before: Sequence[tuple], after: Sequence[tuple]) -> set[int]:
    """Which entries of `after` are not in `before`, or not in the same order."""
    matching = difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    same = {place for m in matching for place in range(m.b, m.b + m.size)}
    return set(range(len(after))) - same


def _card(
    title: str, about: str, program: ProgramSpec, tree: Block, changed: set[int]
) -> Drawing:
    sheet = Drawing()
    lines = wrapped(title, NEST, bold=True)
    for n, line in enumerate(lines):
        sheet.words(0, 11 + 14 * n, line, bold=True, colour=MUTED)
    nest = _nest(program, tree, _numbers(tree), changed)
    sheet.put(nest, 0, 14 * len(lines) + 4)
    if about:
        sheet.words(0, sheet.height + 14, about, colour=MUTED)
    return sheet


# ---- boxes ---------------------------------------------------------------------------------------


def _gone(program: ProgramSpec) -> list[UOp]:
    """The RANGEs that are no loops any more: copies and lanes of what the loops hold."""
    return [r for r in program.loops if kind(r) in INSIDE]


def _gone_text(program: ProgramSpec) -> list[str]:
    return [f"{axis_text(r)} ({kind(r).letter}): {AXES[kind(r)].meaning}" for r in _gone(program)]


def _nest(
    program: ProgramSpec,
    tree: Block,
    numbers: dict[UOp, int],
    changed: Collection[int] = (),
    most: int = MOST_LOOPS[0],
) -> Drawing:
    """The loops as boxes, at most so many, and below them what is no loop any more. changed: which
    of these, counted in that order, get a thick outline."""
    shown = {r: n for r, n in numbers.items() if n <= most}
    marked = {r for n, r in enumerate((*numbers, *_gone(program))) if n in changed}
    sheet = Drawing()
    _fill(sheet, tree, shown, marked, 0, 0, NEST)
    if left_out := len(numbers) - len(shown):
        sheet.words(0, sheet.height + 14, f"and {plural(left_out, 'loop')} more", colour=MUTED)
    left, top = 0.0, sheet.height + 6
    for r in _gone(program):
        words = f"{kind(r).letter}  {axis_text(r)}"
        width = width_of(words) + 14
        if left and left + width > NEST:
            left, top = 0.0, top + 24
        _outlined(sheet, left, top, width, 20, r, r in marked, [words])
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
    words: Sequence[str] = (),
) -> None:
    """The box of a RANGE."""
    line, thick = (MARKED["color"], 2.5) if is_marked else (ARROW, 1)
    axis = AXES[kind(r)]
    title = f"{axis_text(r)}: {axis.meaning}"
    sheet.box(x, y, width, height, axis.fill, line, words, title, thick=thick)


def _fill(
    sheet: Drawing,
    block: Block,
    numbers: dict[UOp, int],
    marked: set[UOp],
    x: float,
    top: float,
    width: float,
) -> float:
    """Draws what is in a block, less the loops that have no number, between x and x + width; gives
    where it ends."""
    for part in block.body:
        if isinstance(part, Block):
            if part.range not in numbers:
                continue
            inside = Drawing()
            height = _fill(inside, part, numbers, marked, 6, 22, width - 12) + 2
            top = _loop(sheet, part, numbers, marked, x, top, width, height, inside) + 5
        else:
            lines = wrapped(work_text(part), width - 12)
            high = 8 + 13.6 * len(lines)
            sheet.box(x, top, width, high, "#ffffff", words=lines)
            top += high + 5
    return top


def _loop(
    sheet: Drawing,
    block: Block,
    numbers: dict[UOp, int],
    marked: set[UOp],
    x: float,
    top: float,
    width: float,
    height: float,
    inside: Drawing,
) -> float:
    r = block.range
    assert r is not None
    _outlined(sheet, x, top, width, height, r, r in marked)
    sheet.box(x + 5, top + 4, 17, 14, "#ffffff", words=[str(numbers[r])], size=9)
    sheet.words(x + 27, top + 15, axis_text(r), bold=True)
    sheet.words(x + width - 7, top + 15, kind(r).letter, bold=True, anchor="end")
    sheet.put(inside, x, top)
    return top + height
