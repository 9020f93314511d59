"""`kernel(x)`: the loops of a kernel as boxes inside of boxes, beside the source that they become.

    kernel(a @ b)                       # with the Opts that its plan gives it
    kernel(a @ b, every=True)           # before the first Opt, and after each of them
    kernel(a @ b, opts=[Opt(OptOps.VECTOR, 1, 8)])

A box is a loop: its number, which also stands beside the line of the source that begins it, how
often it runs, and its kind as a colour, a name and a letter. What stands in it is what one turn
does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.codegen.program import ProgramSpec
from tinyframe.viz.blocks import blocks_of, lines_of
from tinyframe.viz.drawing import HIGH, MUTED, PAGE, Drawing, wrapped
from tinyframe.viz.kernels import one_kernel, renderer_of
from tinyframe.viz.loop_boxes import MOST_LOOPS, NEST, draw_nest, gone_text, numbers_of
from tinyframe.viz.opt_by_opt import opt_text, step_by_step
from tinyframe.viz.picture import DrawnPicture
from tinyframe.viz.source import draw_source

GAP = 18.0  # points, between the loops and their source
FEWER_LOOPS = (MOST_LOOPS, 16, 10, 6)  # drawn: the first of these that fit a screen
MOST_OPTS = 7  # that have a line each


def kernel(
    x: Any, opts: Sequence[Opt] | None = None, *, number: int | None = None, every: bool = False
) -> DrawnPicture:
    """A picture of one kernel of x (a Tensor, a ScheduleItem, a list of these, or a kernel's SINK).

    number: which kernel, from 1 on, in running order; without one, the one with most arithmetic.
    opts: in place of those that its plan gives. every: the loops before the first Opt and after
    each of them, what one tile of results touches, and how many operations there are for each
    element that is loaded from memory; without the source.
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
    return step_by_step(headline, reason, item.ast, renderer, program.opts)


def reason_for(program: ProgramSpec, given: bool) -> str:
    """Why the loops are as they are. given: whether the caller chose the Opts."""
    if program.plan is not None:
        return f"Plan: {program.plan.name}, because {program.plan.why}."
    return "With the Opts that were given." if given else "No plan: the loops are as written."


# ---- one kernel beside its source ----------------------------------------------------------------


def _with_source(headline: str, reason: str, program: ProgramSpec) -> DrawnPicture:
    tree = blocks_of(program)
    numbers = numbers_of(tree)
    sheet = Drawing()
    top = _paragraph(sheet, 0, reason)
    opts = [f"{n}. {opt_text(opt)}" for n, opt in enumerate(program.opts, 1)]
    for line in opts if len(opts) <= MOST_OPTS else ["; ".join(opts)]:
        top = _paragraph(sheet, top, line)
    room = HIGH - top
    for most in FEWER_LOOPS:
        nest = draw_nest(program, tree, most=most)
        if nest.height <= room:
            break
    sheet.put(nest, 0, top + 6)
    source = draw_source(program, numbers, PAGE - NEST - GAP, room)
    sheet.put(source, NEST + GAP, top + 6)
    loops = [*lines_of(tree, numbers), *gone_text(program)]
    text = [headline, reason, *opts, *loops, "", program.src.rstrip()]
    return DrawnPicture(headline, "\n".join(text), sheet)


def _paragraph(sheet: Drawing, top: float, words: str) -> float:
    """Words across the page; gives where they end."""
    for line in wrapped(words, PAGE):
        sheet.words(0, top + 11, line, colour=MUTED)
        top += 15
    return top
