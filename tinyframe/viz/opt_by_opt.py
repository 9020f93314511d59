"""A kernel Opt by Opt: its loops, what one tile of it touches, and what each step saves.

step_by_step(headline, reason, ast, renderer, opts)
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence

from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.codegen.program import ProgramSpec
from tinyframe.renderer import Renderer
from tinyframe.uop.node import UOp, kind
from tinyframe.viz.blocks import Block, axis_text, blocks_of, lines_of, loops_of, reuse
from tinyframe.viz.drawing import MUTED, PAGE, Drawing, wrapped
from tinyframe.viz.loop_boxes import NEST, draw_nest, gone_from, gone_text, numbers_of
from tinyframe.viz.picture import DrawnPicture
from tinyframe.viz.touched import Argument, arguments_after, draw_tiles, tile_text

ACROSS, GAP = 3, 18.0  # cards in a row; points between two

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
    OptOps.TENSOR_CORE: "rows, columns and sum, axes {axis}, in tiles that tensor cores compute",
}


def opt_text(opt: Opt) -> str:
    """`UPCAST(1, 4): 4 of axis 1 side by side, in registers`."""
    said = [str(opt.axis), *([] if opt.arg is None else [str(opt.arg)])]
    axis = ", ".join(map(str, opt.axis)) if isinstance(opt.axis, tuple) else opt.axis
    is_all = opt.arg in (0, None) and opt.op is not OptOps.STAGE
    words = OPTS[opt.op].format(axis=axis, arg="all turns" if is_all else opt.arg)
    return f"{opt.op.name}({', '.join(said)}): {words}"


def step_by_step(
    headline: str, reason: str, ast: UOp, renderer: Renderer, opts: Sequence[Opt]
) -> DrawnPicture:
    """A card for each step, three in a row; what an Opt changed has a thick outline. reason: a
    sentence above them."""
    sheet = Drawing()
    text = [headline, reason]
    top = 0.0
    for line in wrapped(reason, PAGE):
        sheet.words(0, top + 11, line, colour=MUTED)
        top += 15
    cards = []
    before: list[tuple] | None = None
    for n in range(len(opts) + 1):
        program = get_program(ast, renderer, opts[:n])
        tree, arguments = blocks_of(program), arguments_after(ast, renderer, opts[:n])
        title = f"{n}. {opt_text(opts[n - 1])}" if n else "As written: no Opt"
        after = [_key(r) for r in (*loops_of(tree), *gone_from(program))]
        changed = set() if before is None else changed_places(before, after)
        before = after
        each = reuse(tree)
        about = f"operations per element from memory: {each:,.3g}" if math.isfinite(each) else ""
        cards.append(_card(title, about, program, tree, changed, arguments))
        text += [title, *lines_of(tree, numbers_of(tree)), *gone_text(program)]
        text += [f"one tile of {tile_text(argument)}" for argument in arguments]
        text.append(about)
    top += 8
    for row in range(0, len(cards), ACROSS):
        for column, card in enumerate(cards[row : row + ACROSS]):
            sheet.put(card, column * (NEST + GAP), top)
        top += max(card.height for card in cards[row : row + ACROSS]) + 16
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
    title: str,
    about: str,
    program: ProgramSpec,
    tree: Block,
    changed: set[int],
    arguments: Sequence[Argument],
) -> Drawing:
    sheet = Drawing()
    lines = wrapped(title, NEST, bold=True)
    for n, line in enumerate(lines):
        sheet.words(0, 11 + 14 * n, line, bold=True, colour=MUTED)
    sheet.put(draw_nest(program, tree, changed), 0, 14 * len(lines) + 4)
    sheet.put(draw_tiles(arguments, NEST), 0, sheet.height + 10)
    if about:
        sheet.words(0, sheet.height + 14, about, colour=MUTED)
    return sheet
