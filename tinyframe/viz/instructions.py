"""`instructions(x)`: each line of a kernel's C beside its machine code.

    instructions(a @ b)                 # the kernel with most arithmetic

The compiler prints its assembly, with the source line of each instruction. It moves code around, so
the instructions of a line need not be adjacent in the program; here they are. Instructions that
calculate with floats are marked, and explained in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import cycle
from typing import Any, NamedTuple

from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.device import Device
from tinyframe.viz.drawing import HIGH, MUTED, PAGE, Drawing, width_of, wrapped
from tinyframe.viz.kernels import one_kernel, renderer_of
from tinyframe.viz.kinds import KINDS
from tinyframe.viz.nests import function_of, shortened
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import DrawnPicture

SIZE, LINE_HEIGHT = 8.5, 12.0  # points
GUTTER, MIDDLE = 24.0, 336.0  # points: the left edges of the source and of the instructions
PAPER, STRIPE = "#fafafa", "#f0f0f0"
# The most instructions per line, and lines per run of statements: the first pair that fits is used.
MOST = ((40, 99), (16, 99), (8, 99), (4, 99), (4, 12), (4, 6), (3, 4), (2, 2), (1, 1))

# The float instructions of x86 (with and without AVX) and of ARM. On x86 the last letters mean one
# number ("ss", "sd") or as many as the register holds ("ps", "pd"); integer instructions don't have
# them. ARM's begin with "f".
KIND = "(?P<kind>[sp][sdh])"
MEANINGS = [
    (rf"v?fn?m(add|sub)\d+{KIND}|fn?m(add|sub|la|ls)", "multiply and add"),
    (rf"v?mul{KIND}|fn?mul", "multiply"),
    (rf"v?(add|sub){KIND}|f(add|sub)", "add or subtract"),
    (rf"v?(max|min){KIND}|f(max|min)(nm)?", "larger or smaller"),
    (rf"v?div{KIND}|fdiv", "divide"),
    (rf"v?sqrt{KIND}|fsqrt", "square root"),
]
REGISTER_BYTES = {"x": 16, "y": 32, "z": 64}  # xmm, ymm, zmm (Intel, manual 1, 10.2 and 14.1)
ELEMENT_BYTES = {"ps": 4, "pd": 8, "ph": 2}
# Four floats are `v0.4s`, and on macOS the count is on the operation: `fmul.4s v0, v1, v2`.
ARM_LANES = re.compile(r"\.(\d+)[hsd]\b")

# `# x86`, `## x86 on macOS`, `// ARM`, `; ARM on macOS`; but on ARM `#4` is a number
COMMENT = re.compile(r"^\s*#.*|\s#[#\s].*|//.*|;.*")
LABEL = re.compile(r"(?P<name>[\w.$]+):")
PLACE = re.compile(r"\s*\.loc\s+\d+\s+(?P<line>\d+)")


class Row(NamedTuple):
    """A line of the source, with its number (0: none) and its instructions."""

    number: int
    line: str
    instructions: list[str]


def instructions(
    x: Any, opts: Sequence[Opt] | None = None, *, number: int | None = None
) -> DrawnPicture:
    """A picture of the machine code of one kernel of x, a Tensor or anything that kernel() takes.

    number: which kernel, from 1 on, in running order; without one, the one with most arithmetic.
    opts: in place of its plan's. Nothing runs. The code differs from machine to machine and from
    compiler to compiler. TypeError and ValueError as for kernel(); also ValueError if the device's
    compiler cannot print assembly (only CPU's can).
    """
    item, which = one_kernel(x, number, "instructions")
    program = get_program(item.ast, renderer_of(item), opts)
    name = item.bufs[0].device if item.bufs else Device.DEFAULT
    compiler = Device[name].compiler
    if not hasattr(compiler, "assembly"):
        raise ValueError(f"instructions() draws kernels of CPU; {name} does not print assembly")
    made = by_line(compiler.assembly(program.src), program.function)
    headline = f"machine code of {program.function}{which}"
    source, lines = function_of(program.src, program.function), program.src.splitlines()
    first = 1 + next(n for n in range(len(lines)) if lines[n : n + len(source)] == source)
    # The lines above the function that were inlined into it, then its own.
    numbers = [n for n in sorted(made) if 0 < n < first] + [first + n for n in range(len(source))]
    rows = [Row(n, lines[n - 1], made.get(n, [])) for n in numbers]
    counted = sum(len(row.instructions) for row in rows)
    said = f"{plural(counted, 'instruction')} for {plural(len(source), 'line')} of C."
    calculating = [n for n, row in enumerate(rows) if any(map(meaning, row.instructions))]
    for most, most_lines in MOST:
        shown: list[Row] = []
        for run, is_left_out in shortened([row.line for row in rows], most_lines, calculating):
            own = sum(len(rows[n].instructions) for n in run)
            words = f"// {plural(len(run), 'line')} more, {plural(own, 'instruction')}"
            shown += [Row(0, words, [])] if is_left_out else [rows[n] for n in run]
        sheet = _sheet(said, shown, most)
        if sheet.height <= HIGH:
            break
    text = [headline, said]
    for row in rows:
        # Everything after | differs from compiler to compiler.
        text.append(f"{row.number:3}  {row.line}" if row.number >= first else f"     | {row.line}")
        text += [f"     | {i:44} {meaning(i)}".rstrip() for i in row.instructions]
    return DrawnPicture(headline, "\n".join(text), sheet)


def by_line(assembly: str, function: str) -> dict[int, list[str]]:
    """The instructions of a function, by the source line that they come from."""
    found: dict[int, list[str]] = {}
    line, inside = 0, False
    for text in assembly.splitlines():
        if label := LABEL.match(text):
            # labels such as .L3: are inside the function, and macOS writes _ before each name
            if not label["name"].startswith((".", "L")):
                inside = label["name"].removeprefix("_") == function
        elif place := PLACE.match(text):
            line = int(place["line"]) or line  # clang's 0 means no line
        elif inside and (words := COMMENT.sub("", text).split()) and words[0][0] != ".":
            found.setdefault(line, []).append(" ".join(words))
    return found


def meaning(instruction: str) -> str:
    """The float arithmetic of an instruction, as "16 × multiply"; "" if it has none."""
    name = instruction.split()[0].partition(".")[0]
    for pattern, words in MEANINGS:
        if found := re.fullmatch(pattern, name):
            many = lanes(found["kind"] or "", instruction)
            return f"{many} × {words}" if many > 1 else words
    return ""


def lanes(kind: str, instruction: str) -> int:
    """How many numbers an instruction computes at once."""
    if (x86 := re.search(r"\b([xyz])mm\d", instruction)) and kind in ELEMENT_BYTES:
        return REGISTER_BYTES[x86[1]] // ELEMENT_BYTES[kind]
    arm = ARM_LANES.search(instruction)
    return int(arm[1]) if arm else 1


def _sheet(said: str, rows: Iterable[Row], most: int) -> Drawing:
    """A stripe for each line of the source, with at most `most` of its instructions."""
    sheet, room, kind = Drawing(), PAGE - MIDDLE, KINDS["elementwise"]
    sheet.words(0, 11, said, colour=MUTED)
    top = 20.0
    for row, fill in zip(rows, cycle((STRIPE, PAPER)), strict=False):
        code = wrapped(row.line, MIDDLE - GUTTER - 10, SIZE, mono=True)
        own = sorted(row.instructions, key=lambda i: not meaning(i))  # arithmetic first, if cut
        shown = row.instructions if len(own) <= most + 1 else own[:most]
        left = len(own) - len(shown)
        height = LINE_HEIGHT * max(len(code), len(shown) + bool(left))
        sheet.box(0, top, PAGE, height, fill, fill, radius=0)
        if row.number:
            sheet.words(GUTTER - 6, top + 9, str(row.number), SIZE, anchor="end", mono=True)
        for n, part in enumerate(code):
            sheet.words(GUTTER, top + 9 + n * LINE_HEIGHT, part, SIZE, mono=True)
        for n, instruction in enumerate(shown):
            y, words = top + n * LINE_HEIGHT, meaning(instruction)
            text = wrapped(instruction, room, SIZE, mono=True)[0]
            if words:
                size = room + 1, LINE_HEIGHT - 2
                sheet.box(MIDDLE - 3, y + 1, *size, kind.fill, kind.line, radius=2)
                if width_of(text, SIZE, mono=True) + width_of(words, SIZE) < room - 12:
                    sheet.words(PAGE - 6, y + 9, words, SIZE, anchor="end")
            sheet.words(MIDDLE, y + 9, text, SIZE, mono=True)
        if left:
            sheet.words(MIDDLE, top + 9 + len(shown) * LINE_HEIGHT, f"and {left} more", SIZE)
        top += height
    return sheet
