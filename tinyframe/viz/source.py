"""Source text beside a picture of its loops: each loop's line has the loop's number and colour."""

from __future__ import annotations

from tinyframe.codegen.program import ProgramSpec
from tinyframe.uop.node import UOp, kind
from tinyframe.uop.show import render
from tinyframe.viz.blocks import AXES
from tinyframe.viz.drawing import Drawing, width_of, wrapped
from tinyframe.viz.nodes import plural

SIZE = 8.5  # points, of a letter
PAPER = "#fafafa"
LINE_HEIGHT = 12.0
GUTTER = 26.0  # points, for the numbers
MOST_ALIKE = (4, 2, 1, 0)  # statements shown of a run of them, from the most to the fewest


def draw_source(
    program: ProgramSpec, numbers: dict[UOp, int], width: float, height: float
) -> Drawing:
    """The kernel's function, at most so wide and high. Of long runs of statements the first are
    shown."""
    colours = {number: AXES[kind(r)].fill for r, number in numbers.items()}
    names = {f"{render(r)} = ": number for r, number in numbers.items()}
    shown = fitting(function_of(program), width - GUTTER - 6, int((height - 8) / LINE_HEIGHT))
    sheet = Drawing()
    sheet.box(0, 0, width, LINE_HEIGHT * len(shown) + 8, PAPER)
    for n, line in enumerate(shown):
        top = 4 + n * LINE_HEIGHT
        if (number := _loop_begun(line, names)) is not None:
            said, line_fill = [str(number)], colours[number]
            sheet.box(4, top, 17, LINE_HEIGHT, line_fill, words=said, size=8.5, link=number)
            wide = width - GUTTER  # all of the line is of that loop
            sheet.box(GUTTER - 3, top, wide, LINE_HEIGHT, PAPER, PAPER, link=number)
        sheet.words(GUTTER, top + 9, line, SIZE, mono=True)
    return sheet


def _loop_begun(line: str, names: dict[str, int]) -> int | None:
    """The number of the loop that begins in a line."""
    if not line.lstrip().startswith("for"):
        return None
    return next((number for name, number in names.items() if name in line), None)


def function_of(program: ProgramSpec) -> list[str]:
    """The lines of the kernel's function, without the helpers above it and what calls it."""
    lines = program.src.rstrip().splitlines()
    begin = next((i for i, line in enumerate(lines) if f"{program.function}(" in line), None)
    if begin is None:  # a language that names functions in its own way
        return lines
    end = next((i for i, line in enumerate(lines) if i > begin and line == "}"), len(lines))
    return lines[begin : end + 1]


def fitting(lines: list[str], width: float, most_lines: int) -> list[str]:
    """At most so many lines of code: broken where they are too wide, of runs the first few."""
    for most in MOST_ALIKE:
        shown = [part for line in shortened(lines, most) for part in _broken(line, width)]
        if len(shown) <= most_lines:
            return shown
    left = len(shown) - most_lines + 1
    return [*shown[: most_lines - 1], f"// and {plural(left, 'line')} more: print() shows all"]


def _broken(line: str, width: float) -> list[str]:
    fits = width_of(line, SIZE, mono=True) <= width
    return [line] if fits else wrapped(line, width, SIZE, mono=True)


def shortened(lines: list[str], most: int) -> list[str]:
    """Of each run of statements without a brace at most so many lines; how many more there are."""
    out: list[str] = []
    run: list[str] = []
    for line in [*lines, "}"]:
        if line.rstrip().endswith(("{", "}")):
            # One statement more takes no more room than a line that says so.
            out += run if len(run) <= most + 1 else run[:most]
            if len(run) > most + 1:
                indent = len(run[-1]) - len(run[-1].lstrip())
                out.append(" " * indent + f"// and {plural(len(run) - most, 'line')} more")
            run = []
            out.append(line)
        else:
            run.append(line)
    return out[:-1]
