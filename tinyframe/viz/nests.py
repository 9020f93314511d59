"""`kernel(x)`: the loops of a kernel as nested boxes, beside its source.

    kernel(a @ b)                       # with the Opts that its plan gives it
    kernel(a @ b, every=True)           # before the first Opt, and after each of them
    kernel(a @ b, opts=[Opt(OptOps.VECTOR, 1, 8)])

A box is a loop: it has a number, also found beside the line of source where the loop begins, the
number of its turns, and its kind as a colour, a name and a letter. Inside is the work of one turn.
Below are the ranges that are no longer loops, but copies and lanes of that work.
"""

from __future__ import annotations

import difflib
import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.codegen.program import ProgramSpec
from tinyframe.renderer import Renderer
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp, axis_type, extent
from tinyframe.uop.show import render
from tinyframe.viz.drawing import HIGH, MUTED, PAGE, Drawing, width_of, wrapped
from tinyframe.viz.kernels import one_kernel, renderer_of
from tinyframe.viz.kinds import ARROW, MARKED, TEXT
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import DrawnPicture
from tinyframe.viz.touched import arguments_after, draw_tiles, tile_text

NEST, GAP = 208.0, 18.0  # points: the width of a nest; the space between two, or to the source
NARROW = 170.0  # points: narrower boxes have narrower margins
MOST_LOOPS = (24, 16, 10, 6)  # to draw: the first of these that fits a screen
MOST_OPTS = 7  # with a line each
ACROSS = 3  # cards in a row
SIZE, LINE_HEIGHT, GUTTER = 8.5, 12.0, 26.0  # points: code's font size and lines; its left margin
PAPER = "#fafafa"
MOST_ALIKE = (4, 2, 1, 0)  # statements shown of each run: the first of these that fits


def kernel(
    x: Any, opts: Sequence[Opt] | None = None, *, number: int | None = None, every: bool = False
) -> DrawnPicture:
    """A picture of one kernel of x (a Tensor, a ScheduleItem, a list of these, or a kernel's SINK).

    number: which kernel, from 1 on, in running order; without one, the one with most arithmetic.
    opts: in place of its plan's. every: shows the loops before the first Opt and after each of
    them, the elements that one tile of results touches, and the number of operations per element
    loaded from memory; without the source.
    Nothing runs. TypeError for any other x; ValueError if there is no such kernel; KernelOptError
    for Opts that the kernel does not allow.
    """
    item, which = one_kernel(x, number, "kernel")
    renderer = renderer_of(item)
    program = get_program(item.ast, renderer, opts)
    headline = f"loops of {program.function}{which}"
    given = "With the Opts that were given."
    reason = given if opts is not None else "No plan: the loops are as written."
    if program.plan is not None:
        reason = f"Plan: {program.plan.name}, because {program.plan.why}."
    if every:
        return _step_by_step(headline, reason, item.ast, renderer, program.opts)
    sheet = Drawing()
    top = sheet.paragraph(0, 0, reason, PAGE)
    done = [f"{n}. {opt_text(opt)}" for n, opt in enumerate(program.opts, 1)]
    for line in done if len(done) <= MOST_OPTS else ["; ".join(done)]:
        top = sheet.paragraph(0, top, line, PAGE)
    room = HIGH - top
    for most in MOST_LOOPS:
        nest = draw_nest(program, most=most)
        if nest.height <= room:
            break
    sheet.put(nest, 0, top + 6)
    sheet.put(draw_source(program, PAGE - NEST - GAP, room), NEST + GAP, top + 6)
    text = [headline, reason, *done, *lines_of(parts_of(program)), *gone_text(program)]
    return DrawnPicture(headline, "\n".join([*text, "", program.src.rstrip()]), sheet)


# ---- the loops of a program ----------------------------------------------------------------------


class Axis(NamedTuple):
    """The look of a kind of loop. fill: a light shade of its colour in kernel names
    (AxisType.color). name: in a box, after its size. meaning: in a sentence."""

    fill: str
    name: str
    meaning: str


AXES = {
    AxisType.GLOBAL: Axis("#cfdcfb", "blocks", "blocks of the grid"),
    AxisType.THREAD: Axis("#bfeaf0", "shared by cores", "turns that the cores divide up"),
    AxisType.LOCAL: Axis("#bfeaf0", "threads", "threads of a block"),
    AxisType.LOOP: Axis("#e4e4e4", "loop", "turns, one after another"),
    AxisType.GROUP: Axis("#d3efd0", "threads, reducing", "threads of a block that reduce together"),
    AxisType.WARP: Axis("#bfeaf0", "threads of a warp", "threads that use a tensor core together"),
    AxisType.REDUCE: Axis("#fbd0cf", "reducing loop", "turns that are reduced to one value"),
    AxisType.SERIAL: Axis("#fbd0cf", "scanning loop", "turns that each need the one before"),
    AxisType.UPCAST: Axis("#fdf0b0", "copies", "copies of what is in the loops, side by side"),
    AxisType.VECTOR: Axis("#fdf0b0", "lanes", "lanes of a vector"),
    AxisType.UNROLL: Axis("#f3d3f1", "unrolled", "turns of a reduce, written out"),
}
# kinds that a GPU runs in parallel
AT_ONCE = (AxisType.GLOBAL, AxisType.LOCAL, AxisType.GROUP, AxisType.WARP)
INSIDE = (AxisType.UPCAST, AxisType.VECTOR, AxisType.UNROLL)  # kinds that are no longer loops

LONGEST_SIZE = 12  # characters

Work = Counter[tuple[str, int]]  # (an op, or `load`, `store`; how many elements at once) -> times


Part = tuple[tuple[UOp, ...], "UOp | Work"]  # the loops around it, and a loop or some work


def parts_of(program: ProgramSpec) -> list[Part]:
    """The loops of a program and the work between them, in the order of the source. A GPU's blocks
    and threads, which run in parallel, are around all others."""
    parts: list[Part] = []
    around: tuple[UOp, ...] = ()
    at_once = [r for r in program.loops if axis_type(r) in AT_ONCE]
    for u in [*sorted(at_once, key=lambda r: axis_type(r) is not AxisType.GLOBAL), *program.uops]:
        if u.op is Ops.RANGE:
            parts.append((around, u))
            around = (*around, u)
        elif u.op is Ops.ENDRANGE:
            around = around[:-1]
        elif what := _done_by(u):
            outer, work = parts[-1] if parts else (None, None)
            if outer != around or not isinstance(work, Counter):
                parts.append((around, work := Counter()))
            work[what, (u.src[1] if u.op is Ops.STORE else u).dtype.count] += 1
    return parts


def loops_of(parts: Iterable[Part]) -> list[UOp]:
    return [part for _, part in parts if isinstance(part, UOp)]


def work_of(parts: Iterable[Part]) -> list[tuple[Work, int]]:
    """The work, and how often each is done in all."""
    return [(part, math.prod(map(extent, around)))
            for around, part in parts if not isinstance(part, UOp)]  # fmt: skip


def _done_by(u: UOp) -> str | None:
    """The work that a line of the program does on the data; None if it is index arithmetic."""
    if u.op in (Ops.LOAD, Ops.STORE):
        memory = u.src[0].src[0]
        if memory.op is Ops.DEFINE_REG:
            return None
        panel = " to a panel" if u.op is Ops.STORE else " from a panel"
        return u.op.name.lower() + (panel if memory.op is Ops.DEFINE_LOCAL else "")
    on_numbers = u.op in GroupOp.ALU and any(s.op is Ops.LOAD or s.op in GroupOp.ALU for s in u.src)
    if on_numbers and u.dtype.base.name in ("int", "long", "bool"):  # as indices are
        on_numbers = any(s.op is Ops.LOAD for s in u.toposort())
    return u.op.name if on_numbers else None


def reuse(parts: Iterable[Part]) -> float:
    """Operations per element loaded from memory, in a whole program; loads from a panel don't
    count. Infinite if nothing is loaded."""
    total: Counter[bool] = Counter()
    for work, turns in work_of(parts):
        for (what, lanes), times in work.items():
            if what == "load" or what.isupper():
                each = 2 if what == Ops.MULACC.name else 1
                total[what == "load"] += turns * times * lanes * each
    return total[False] / total[True] if total[True] else math.inf


def work_text(work: Work) -> str:
    """`6 loads, 4 loads of 16, 24 MUL of 16`: each count, op and number of elements."""
    said = []
    for (what, lanes), times in work.items():
        word, *rest = what.split(" ", 1)
        name = plural(times, word) if word.islower() else f"{times} {word}"
        said.append(" ".join([name, *([f"of {lanes}"] if lanes > 1 else []), *rest]))
    return ", ".join(said)


def axis_text(r: UOp) -> str:
    """`128 × reducing loop`; if the size is a long expression, its maximum."""
    size = render(r.src[0])
    if len(size) > LONGEST_SIZE:
        size = f"up to {extent(r)}"
    return f"{size.removeprefix('(').removesuffix(')')} × {AXES[axis_type(r)].name}"


def loop_text(r: UOp) -> str:
    return f"{axis_text(r)} ({axis_type(r).letter})"


def lines_of(parts: Iterable[Part]) -> list[str]:
    """A line for each loop, with its number, and for the work between loops."""
    numbers = itertools.count(1)
    return [
        "  " * len(around)
        + (f"{next(numbers)}  {loop_text(part)}" if isinstance(part, UOp) else work_text(part))
        for around, part in parts
    ]


# ---- loops as boxes ------------------------------------------------------------------------------


def gone_from(program: ProgramSpec) -> list[UOp]:
    """The RANGEs that are no longer loops."""
    return [r for r in program.loops if axis_type(r) in INSIDE]


def gone_text(program: ProgramSpec) -> list[str]:
    return [f"{loop_text(r)}: {AXES[axis_type(r)].meaning}" for r in gone_from(program)]


def draw_nest(
    program: ProgramSpec, changed: Collection[int] = (), most: int = MOST_LOOPS[0]
) -> Drawing:
    """At most `most` loops as boxes, and below them the ranges that are no longer loops. changed:
    the positions of those, counted in this order, that get a thick outline."""
    parts, gone = parts_of(program), gone_from(program)
    loops = loops_of(parts)
    numbers = {r: n for n, r in enumerate(loops[:most], 1)}
    marked = {r for n, r in enumerate((*loops, *gone)) if n in changed}
    sheet = Drawing()

    def outlined(sheet: Drawing, x: float, y: float, width: float, high: float, r: UOp, words=()):
        line, thick = (MARKED["color"], 2.5) if r in marked else (ARROW, 1)
        fill, _, meaning = AXES[axis_type(r)]
        title, link = f"{axis_text(r)}: {meaning}", numbers.get(r)
        sheet.box(x, y, width, high, fill, line, words, title, thick=thick, link=link)

    def fill(sheet: Drawing, around: tuple[UOp, ...], x: float, top: float, width: float) -> float:
        """Draws what is in these loops between x and x + width; returns where it ends."""
        for part in [part for outer, part in parts if outer == around]:
            if not isinstance(part, UOp):
                lines = wrapped(work_text(part), width - 12)
                sheet.box(x, top, width, 8 + 13.6 * len(lines), "#ffffff", words=lines)
                top += 13 + 13.6 * len(lines)
            elif number := numbers.get(part):
                inside, margin = Drawing(), 6 if width > NARROW else 3
                end = inside.paragraph(27, 4, axis_text(part), width - 45, bold=True, colour=TEXT)
                height = fill(inside, (*around, part), margin, end + 4, width - 2 * margin) + 2
                outlined(sheet, x, top, width, height, part)
                words, letter = [str(number)], axis_type(part).letter
                sheet.box(x + 5, top + 4, 17, 14, "#ffffff", words=words, size=9, link=number)
                sheet.words(x + width - 7, top + 15, letter, bold=True, anchor="end")
                sheet.put(inside, x, top)
                top += height + 5
        return top

    fill(sheet, (), 0, 0, NEST)
    if left_out := len(loops) - len(numbers):
        sheet.words(0, sheet.height + 14, f"and {plural(left_out, 'loop')} more", colour=MUTED)
    left, top = 0.0, sheet.height + 6
    for r in gone:
        words = f"{axis_type(r).letter}  {axis_text(r)}"
        width = width_of(words) + 14
        if left and left + width > NEST:
            left, top = 0.0, top + 24
        outlined(sheet, left, top, width, 20, r, [words])
        left += width + 6
    return sheet


# ---- their source --------------------------------------------------------------------------------


def draw_source(program: ProgramSpec, width: float, height: float) -> Drawing:
    """The kernel's function, in at most this width and height. The line of each loop has its number
    and colour. Only the first few of a long run of statements are shown."""
    loops = {f"{render(r)} = ": (n, r) for n, r in enumerate(loops_of(parts_of(program)), 1)}
    lines = function_of(program.src, program.function)
    shown = fitting(lines, width - GUTTER - 6, int((height - 8) / LINE_HEIGHT))
    sheet = Drawing()
    sheet.box(0, 0, width, LINE_HEIGHT * len(shown) + 8, PAPER)
    for n, line in enumerate(shown):
        top = 4 + n * LINE_HEIGHT
        begun = [loop for name, loop in loops.items() if name in line]
        if line.lstrip().startswith("for") and begun:
            number, r = begun[0]
            fill, words = AXES[axis_type(r)].fill, [str(number)]
            sheet.box(4, top, 17, LINE_HEIGHT, fill, words=words, size=8.5, link=number)
            wide = width - GUTTER  # the whole line is linked to the loop
            sheet.box(GUTTER - 3, top, wide, LINE_HEIGHT, PAPER, PAPER, link=number)
        sheet.words(GUTTER, top + 9, line, SIZE, mono=True)
    return sheet


def function_of(source: str, function: str) -> list[str]:
    """The lines of the kernel's function, without the helpers above it and its callers."""
    lines = source.rstrip().splitlines()
    begin = next((i for i, line in enumerate(lines) if f"{function}(" in line), None)
    if begin is None:  # the language changes the names of functions
        return lines
    end = next((i for i, line in enumerate(lines) if i > begin and line == "}"), len(lines))
    return lines[begin : end + 1]


def fitting(lines: list[str], width: float, most_lines: int) -> list[str]:
    """At most `most_lines` lines of code: too wide ones are wrapped, long runs are shortened."""
    for most in MOST_ALIKE:
        shown: list[str] = []
        for run, is_left_out in shortened(lines, most):
            if is_left_out:
                last = lines[run[-1]]
                indent = " " * (len(last) - len(last.lstrip()))
                shown.append(f"{indent}// and {plural(len(run), 'line')} more")
                continue
            for line in (lines[n] for n in run):
                fits = width_of(line, SIZE, mono=True) <= width
                shown += [line] if fits else wrapped(line, width, SIZE, mono=True)
        if len(shown) <= most_lines:
            return shown
    left = len(shown) - most_lines + 1
    return [*shown[: most_lines - 1], f"// and {plural(left, 'line')} more: print() shows all"]


def shortened(
    lines: Sequence[str], most: int, calculates: Collection[int] = ()
) -> Iterator[tuple[list[int], bool]]:
    """Groups of consecutive lines, by number, and whether each group is left out. Of a run of
    statements without a brace, the first `most` that calculate and the first `most` others are
    kept. A single statement is never left out: the note about it would take as much room."""
    for is_brace, run in groupby(range(len(lines)), lambda n: lines[n].rstrip()[-1:] in {*"{}"}):
        kept = numbers = list(run)
        if not is_brace:
            alike = [[n for n in numbers if (n in calculates) is kind] for kind in (True, False)]
            kept = [n for group in alike for n in group[:most]]
        for stays, part in groupby(numbers, lambda n, kept=frozenset(kept): n in kept):  # type: ignore
            found = list(part)
            yield found, not stays and len(found) > 1


# ---- Opt by Opt ----------------------------------------------------------------------------------

# The effect of each Opt, in terms of its axis and its argument.
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
    OptOps.PIPELINE: "{arg} of each panel in axis {axis}: some are filled while one is in use",
}


def opt_text(opt: Opt) -> str:
    """`UPCAST(1, 4): 4 of axis 1 side by side, in registers`."""
    said = [str(opt.axis), *([] if opt.arg is None else [str(opt.arg)])]
    axis = ", ".join(map(str, opt.axis)) if isinstance(opt.axis, tuple) else opt.axis
    is_all = opt.arg in (0, None) and opt.op is not OptOps.STAGE
    words = OPTS[opt.op].format(axis=axis, arg="all turns" if is_all else opt.arg)
    return f"{opt.op.name}({', '.join(said)}): {words}"


def _step_by_step(
    headline: str, reason: str, ast: UOp, renderer: Renderer, opts: Sequence[Opt]
) -> DrawnPicture:
    """A card for each step: the loops, the elements that one tile touches, and the operations per
    element loaded. Thick outlines mark what the Opt changed."""
    text = [headline, reason]
    cards = []
    before: list[tuple] = []
    for n in range(len(opts) + 1):
        program = get_program(ast, renderer, opts[:n])
        parts, arguments = parts_of(program), arguments_after(ast, renderer, opts[:n])
        title = f"{n}. {opt_text(opts[n - 1])}" if n else "As written: no Opt"
        after = [(axis_type(r), axis_text(r)) for r in (*loops_of(parts), *gone_from(program))]
        changed, before = changed_places(before or after, after), after
        each = reuse(parts)
        about = f"operations per element from memory: {each:,.3g}" if math.isfinite(each) else ""
        card = Drawing()
        top = card.paragraph(0, 0, title, NEST, bold=True)
        card.put(draw_nest(program, changed), 0, top + 4)
        card.put(draw_tiles(arguments, NEST), 0, card.height + 10)
        card.paragraph(0, card.height + 3, about, NEST)
        cards.append(card)
        tiles = [f"one tile of {tile_text(argument)}" for argument in arguments]
        text += [title, *lines_of(parts), *gone_text(program), *tiles, about]
    sheet = Drawing()
    top = sheet.paragraph(0, 0, reason, PAGE) + 8
    for row in range(0, len(cards), ACROSS):
        for column, card in enumerate(cards[row : row + ACROSS]):
            sheet.put(card, column * (NEST + GAP), top)
        top += max(card.height for card in cards[row : row + ACROSS]) + 16
    return DrawnPicture(headline, "\n".join(filter(None, text)), sheet)


def changed_places(before: Sequence[tuple], after: Sequence[tuple]) -> set[int]:
    """The positions of the entries of `after` that are not in `before`, or in a different order."""
    matching = difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    same = {place for m in matching for place in range(m.b, m.b + m.size)}
    return set(range(len(after))) - same
