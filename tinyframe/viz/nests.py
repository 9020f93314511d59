"""`kernel(x)`: the loops of a kernel as boxes inside of boxes, beside the source that they become.

    kernel(a @ b)                       # with the Opts that the plan gives it
    kernel(a @ b, every=True)           # before the first Opt, and after each
    kernel(a @ b, opts=[Opt(OptOps.VECTOR, 1, 8)])

A box is a loop: how often it runs, its kind as a colour and a letter, and its number, which stands
beside the line of the source that begins it. What stands in it is what one turn does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.codegen.program import ProgramSpec, estimate_ops
from tinyframe.device import Device
from tinyframe.schedule.item import Kernel, ScheduleItem
from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import AddrSpace, AxisType, GroupOp, Ops, UOp
from tinyframe.uop.range import kind
from tinyframe.uop.show import render
from tinyframe.viz.drawing import MUTED, Drawing, width_of
from tinyframe.viz.kinds import ARROW, TEXT
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import DrawnPicture

# Light fills of the colours that kernel names have (AxisType.color), and what a kind means.
AXES = {
    AxisType.GLOBAL: ("#cfdcfb", "blocks of the grid"),
    AxisType.THREAD: ("#bfeaf0", "shared among cores"),
    AxisType.LOCAL: ("#bfeaf0", "threads of a block"),
    AxisType.LOOP: ("#ececec", "a loop"),
    AxisType.GROUP: ("#d3efd0", "threads that reduce together"),
    AxisType.REDUCE: ("#fbd0cf", "a loop that reduces"),
    AxisType.UPCAST: ("#fdf0b0", "copies side by side"),
    AxisType.VECTOR: ("#fdf0b0", "lanes of a vector"),
    AxisType.UNROLL: ("#f3d3f1", "unrolled"),
}
LINE_HEIGHT = 13  # points, of the source
MOST_ALIKE = 4  # statements in a row, of which the others are counted


@dataclass
class Block:
    """A loop of the program, or with no `range` all of it. body: loops, and what is done between
    them: how many loads, stores and operations, of how many elements."""

    range: UOp | None
    body: list[Block | Counter[tuple[str, int]]] = field(default_factory=list)

    def count(self, what: str, elements: int) -> None:
        if not self.body or isinstance(self.body[-1], Block):
            self.body.append(Counter())
        work = self.body[-1]
        assert isinstance(work, Counter)
        work[what, elements] += 1


def blocks_of(program: ProgramSpec) -> Block:
    """The loops of a program as a tree, outermost first."""
    open_blocks = [Block(None)]
    for u in program.uops:
        if u.op is Ops.RANGE:
            block = Block(u)
            open_blocks[-1].body.append(block)
            open_blocks.append(block)
        elif u.op is Ops.ENDRANGE:
            open_blocks.pop()
        elif what := _done_by(u):
            open_blocks[-1].count(what, u.dtype.count if u.op is not Ops.STORE else u.src[1].dtype.count)
    return open_blocks[0]


def _done_by(u: UOp) -> str | None:
    """What a line of the program does for the numbers; None where it works on indices."""
    if u.op in (Ops.LOAD, Ops.STORE):
        memory = u.src[0].src[0]
        if memory.op is Ops.DEFINE_REG:
            return None
        panel = "to a panel" if u.op is Ops.STORE else "from a panel"
        return f"{u.op.name.lower()}{f' {panel}' if memory.op is Ops.DEFINE_LOCAL else ''}"
    is_number = u.op in GroupOp.ALU and any(s.op is Ops.LOAD or s.op in GroupOp.ALU for s in u.src)
    return u.op.name if is_number and not _is_index(u) else None


def _is_index(u: UOp) -> bool:
    return u.dtype.base.name in ("int", "long", "bool") and all(
        s.op is not Ops.LOAD for s in u.toposort()
    )


def work_text(work: Counter[tuple[str, int]]) -> str:
    """`6 loads, 4 loads of 16, 24 MUL of 16`: how often, what, and of how many lanes."""
    said = []
    for (what, lanes), times in work.items():
        word, *rest = what.split(" ", 1)
        name = plural(times, word) if word.islower() else f"{times} {word}"
        said.append(" ".join([name, *rest, *([f"of {lanes}"] if lanes > 1 else [])]))
    return ", ".join(said)


# ---- the picture ---------------------------------------------------------------------------------


def kernel(
    x: Any, opts: Sequence[Opt] | None = None, *, number: int | None = None, every: bool = False
) -> DrawnPicture:
    """A picture of one kernel of x (a Tensor, ScheduleItem or SINK): its loops beside its source.

    number: which kernel, from 1 on, in running order; without one, the one with most arithmetic.
    opts: in place of those that its plan gives. every: the loops before the first Opt and after
    each of them, without the source. ValueError where there is no such kernel; KernelOptError for
    Opts that it does not allow.
    """
    ast, which = kernel_of(x, number)
    renderer = Device[Device.DEFAULT].renderer
    program = get_program(ast, renderer, opts)
    headline = f"{program.function}{which}"
    if not every:
        return _with_source(headline, program)
    steps = [get_program(ast, renderer, program.opts[:n]) for n in range(len(program.opts) + 1)]
    return _step_by_step(headline, steps)


def kernel_of(x: Any, number: int | None) -> tuple[UOp, str]:
    """The kernel of that number, or the one with most arithmetic; and which one that is."""
    asts = _kernels_of(x)
    if not asts:
        raise ValueError("there is no kernel to draw: nothing has to be computed")
    if number is not None and not 1 <= number <= len(asts):
        raise ValueError(f"kernel number {number}: there are {plural(len(asts), 'kernel')}")
    if number is None:
        number = 1 + max(range(len(asts)), key=lambda n: estimate_ops(asts[n]))
    return asts[number - 1], f", kernel {number} of {len(asts)}" if len(asts) > 1 else ""


def _kernels_of(x: Any) -> list[UOp]:
    if isinstance(x, Tensor):
        x = x.schedule()
    things = x if isinstance(x, (list, tuple)) else [x]
    asts = [thing.ast if isinstance(thing, (ScheduleItem, Kernel)) else thing for thing in things]
    if not all(isinstance(ast, UOp) and ast.op in (Ops.SINK, Ops.COPY) for ast in asts):
        raise TypeError(
            "kernel() draws a Tensor, a ScheduleItem or a list of them, "
            f"not {type(x).__name__}"
        )
    return [ast for ast in asts if ast.op is Ops.SINK]


def _with_source(headline: str, program: ProgramSpec) -> DrawnPicture:
    numbers: dict[UOp, int] = {}
    nest = _nest(program, numbers)
    sheet = Drawing()
    top = 0.0
    text = [headline]
    if program.plan is not None:
        for line in _wrapped(f"plan: {program.plan.name}, because {program.plan.why}"):
            sheet.words(0, top + 11, line, colour=MUTED)
            top += 15
            text.append(line)
    sheet.put(nest, 0, top + 6)
    source = _source(program, numbers)
    sheet.put(source, nest.width + 24, top + 6)
    text += [*_lines_of(blocks_of(program), numbers), "", program.src.rstrip()]
    return DrawnPicture(headline, "\n".join(text), sheet)


def _step_by_step(headline: str, steps: list[ProgramSpec]) -> DrawnPicture:
    sheet = Drawing()
    text, left, top, row_end = [headline], 0.0, 0.0, 0.0
    for n, program in enumerate(steps):
        numbers: dict[UOp, int] = {}
        title = "no Opt" if n == 0 else f"{n}. {program.opts[-1]}".replace("Opt(OptOps.", "").rstrip(")")
        nest = _nest(program, numbers)
        if left and left + nest.width > 1000:
            left, top = 0.0, row_end + 14
        sheet.words(left, top + 11, title, bold=True, colour=MUTED)
        sheet.put(nest, left, top + 17)
        left += max(nest.width, width_of(title, bold=True)) + 16
        row_end = max(row_end, top + 17 + nest.height)
        text += [title, *_lines_of(blocks_of(program), numbers)]
    return DrawnPicture(headline, "\n".join(text), sheet)


def _wrapped(text: str, width: int = 110) -> list[str]:
    import textwrap

    return textwrap.wrap(text, width)


def _axis_text(r: UOp) -> str:
    meaning = AXES[kind(r)][1]
    return f"{render(r.src[0])} × {meaning}"


def _nest(program: ProgramSpec, numbers: dict[UOp, int]) -> Drawing:
    """The blocks of a program as boxes; gives each loop its number."""
    gone = [r for r in program.loops if kind(r) in (AxisType.UPCAST, AxisType.VECTOR, AxisType.UNROLL)]
    sheet = _block(blocks_of(program), numbers)
    if gone:
        inner = Drawing()
        left = 0.0
        for r in gone:
            words = f"{r.arg[1].letter} {_axis_text(r)}"
            width = width_of(words) + 14
            inner.box(left, 0, width, 20, AXES[kind(r)][0], words=[words])
            left += width + 6
        sheet.put(inner, 0, sheet.height + 8)
    return sheet


def _block(block: Block, numbers: dict[UOp, int]) -> Drawing:
    inside: list[Drawing] = []
    if block.range is not None:
        numbers[block.range] = len(numbers) + 1
        number = numbers[block.range]
    for part in block.body:
        if isinstance(part, Block):
            inside.append(_block(part, numbers))
        else:
            words = work_text(part)
            drawing = Drawing()
            lines = _wrapped(words, 38)
            width = max(map(width_of, lines)) + 14
            drawing.box(0, 0, width, 8 + 14 * len(lines), "#ffffff", words=lines)
            inside.append(drawing)
    sheet = Drawing()
    if block.range is None:
        top = 0.0
        for drawing in inside:
            sheet.put(drawing, 0, top)
            top += drawing.height + 5
        return sheet
    title = f"{number}  {_axis_text(block.range)}"
    width = max([width_of(title, bold=True) + 34, *[d.width + 16 for d in inside]])
    height = 24 + sum(d.height + 5 for d in inside) + 3
    fill = AXES[kind(block.range)][0]
    sheet.box(0, 0, width, height, fill, title=title)
    sheet.words(8, 16, title, bold=True)
    sheet.words(width - 8, 16, kind(block.range).letter, bold=True, anchor="end")
    top = 24.0
    for drawing in inside:
        sheet.put(drawing, 8, top)
        top += drawing.height + 5
    return sheet


def _lines_of(block: Block, numbers: dict[UOp, int], depth: int = 0) -> list[str]:
    """The same as text, a line for each loop and for what it does."""
    lines = []
    for part in block.body:
        if isinstance(part, Block):
            assert part.range is not None
            lines.append("  " * depth + f"{numbers[part.range]}  {_axis_text(part.range)}")
            lines += _lines_of(part, numbers, depth + 1)
        else:
            lines.append("  " * depth + work_text(part))
    return lines


def _source(program: ProgramSpec, numbers: dict[UOp, int]) -> Drawing:
    """The source, where of many statements alike the first are shown, and loops have their
    number."""
    names = {f"{render(r)} = ": number for r, number in numbers.items()}
    colours = {number: AXES[kind(r)][0] for r, number in numbers.items()}
    sheet = Drawing()
    lines = program.src.rstrip().splitlines()
    begin = next((i for i, line in enumerate(lines) if f"{program.function}(" in line), 0)
    end = next((i for i, line in enumerate(lines) if i > begin and line == "}"), len(lines))
    shown = [part for line in _shortened(lines[begin : end + 1]) for part in _broken(line)]
    width = max(width_of(line, 9.5, mono=True) for line in shown) + 32
    sheet.box(0, 0, width, LINE_HEIGHT * len(shown) + 8, "#fafafa")
    for n, line in enumerate(shown):
        top = 4 + n * LINE_HEIGHT
        found = [n for name, n in names.items() if line.lstrip().startswith("for") and name in line]
        if found:
            sheet.box(4, top, 18, LINE_HEIGHT, colours[found[0]], words=[str(found[0])], size=9)
        sheet.words(26, top + 10, line, 9.5, mono=True)
    return sheet


def _broken(line: str) -> list[str]:
    """A line of code in pieces that fit beside the loops."""
    import textwrap

    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, 88, subsequent_indent=indent + "    ", drop_whitespace=False) or [""]


def _shortened(lines: list[str]) -> list[str]:
    """Runs of statements without a loop, at most so many lines of each."""
    out: list[str] = []
    run: list[str] = []
    for line in [*lines, "}"]:
        if line.rstrip().endswith(("{", "}")):
            out += run[:MOST_ALIKE]
            if len(run) > MOST_ALIKE:
                indent = len(run[-1]) - len(run[-1].lstrip())
                out.append(" " * indent + f"// and {plural(len(run) - MOST_ALIKE, 'line')} more")
            run = []
            out.append(line)
        else:
            run.append(line)
    return out[:-1]
