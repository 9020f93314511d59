"""What part 7b does with kernels on their way to C, and the pictures of it.

    stage_titles(a @ b)              the stages that DEBUG=4 prints, by name
    vanished(removed_by, stages)     which ops each stage removed
    placed(sink, loops_around)       the statements of a kernel, each in the loops around it
    counted(text)                    C, and how often each of its lines runs
    painted(paint)                   a picture that one kernel computes, from nothing but loops

`vanished` uses the learner's function once it passes its check, and ours until then. The other two
draw whatever the learner's function says, right or wrong, and ours as long as it says nothing.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np

from classroom.grids import WRONG_FILL, shades
from classroom.limit import OutOfTime, time_limit
from classroom.yours import yours_or
from tinyframe import Context, Tensor
from tinyframe.codegen import get_program
from tinyframe.device import buffer_of
from tinyframe.dtype import dtypes
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.matcher import PatternMatcher, UPat, graph_rewrite
from tinyframe.run.realize import run_schedule
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.uop import GroupOp, Ops, UOp
from tinyframe.uop.show import INFIX, render
from tinyframe.viz.drawing import Drawing, width_of
from tinyframe.viz.kernels import one_kernel
from tinyframe.viz.kinds import KINDS, MARKED
from tinyframe.viz.picture import DrawnPicture, Picture

Stages = Sequence[tuple[str, Sequence[UOp]]]  # a name, and the nodes there are after it

ROWS, COLUMNS = 240, 320  # of what is painted
TITLE = re.compile(r"^───── (.+?) ─*$", re.MULTILINE)
LOOP = re.compile(r"\bfor \(int (\w+) = 0; \1 < (\d+);")


# ---- stages --------------------------------------------------------------------------------------


def stage_titles(x: Tensor) -> list[str]:
    """The stages that DEBUG=4 names on the way from a Tensor to C, in order. Nothing runs."""
    with Context(DEBUG=4), redirect_stdout(io.StringIO()) as said:
        item, _ = one_kernel(x, None, "stage_titles")
        get_program(item.ast, CStyleLanguage())
    return TITLE.findall(said.getvalue())


def removed(op: Ops, stages: Stages) -> str:
    """The name of the stage that removed an op for good; "" if none did."""
    with_op = [any(u.op is op for u in nodes) for _, nodes in stages]
    if not any(with_op) or with_op[-1]:
        return ""
    last = max(n for n, there in enumerate(with_op) if there)
    return stages[last + 1][0]


def vanished(removed_by: Any, stages: Stages) -> None:
    """A line for each stage that removed something for good: which ops."""
    find = yours_or("the-stage-that-removed-it", removed_by, removed, said="With")
    taken: dict[str, list[str]] = {name: [] for name, _ in stages}
    for op in dict.fromkeys(u.op for _, nodes in stages for u in nodes):
        if stage := find(op, stages):
            taken[stage].append(op.name)
    for name, ops in taken.items():
        if ops:
            print(f"{name:15} removes {', '.join(sorted(ops))}")


# ---- where statements go -------------------------------------------------------------------------


def nest_of(sink: UOp) -> tuple[UOp, ...]:
    """The loops of a kernel with one STORE and at most one REDUCE, outermost first."""
    (store,) = sink.src
    inner = [u for u in sink.toposort() if u.op is Ops.REDUCE]
    return (*store.own_ranges, *(inner[0].own_ranges if inner else ()))


def depth_of(u: UOp, nest: Sequence[UOp]) -> int:
    """How many of the loops have to be open around a value: those down to the deepest one that it
    changes with."""
    return max((n for n, counter in enumerate(nest, 1) if counter in u.ranges), default=0)


@dataclass(frozen=True)
class Line:
    """A statement, or the head of a loop. depth: how many loops it stands in, the one that it opens
    included. note: where it belongs, if that's elsewhere."""

    text: str
    depth: int
    is_loop: bool = False
    note: str = ""


def placed(sink: UOp, loops_around: Any) -> Picture:
    """The statements of a kernel in boxes, one for each loop, where loops_around(value, nest) puts
    them; what belongs elsewhere is marked. As long as it gives no numbers, ours is used."""
    nest = nest_of(sink)
    values = [u for u in sink.toposort() if u.op not in _NO_STATEMENT]
    right = {u: depth_of(u, nest) for u in values}
    found = _depths(loops_around, values, nest)
    lines = _lines(sink, nest, found or right, right)
    by = "your function" if found else "ours, until yours gives a number for each"
    print(f"Placed by {by}.")
    said = f"{len(values) + 1} statements in {len(nest)} loops, placed by {by}"
    wrong = sum(bool(line.note) for line in lines)
    said += f"; {wrong} of them in the wrong place" * bool(wrong)
    return DrawnPicture(said, "\n".join([said, *map(_indented, lines)]), _boxes(lines))


_NO_STATEMENT = {Ops.CONST, Ops.RANGE, Ops.DEFINE_GLOBAL, Ops.INDEX, Ops.STORE, Ops.SINK}
SECONDS = 5.0  # that the learner's function may take for all values of a kernel


def _depths(
    loops_around: Callable[..., Any], values: Sequence[UOp], nest: Sequence[UOp]
) -> dict[UOp, int]:
    """Where the learner's function puts each value; nothing if it doesn't say so of all of them."""
    try:
        with time_limit(SECONDS):
            found = {u: int(loops_around(u, nest)) for u in values}
    except (Exception, OutOfTime):  # whatever it does, there is a picture
        return {}
    return found if all(0 <= depth <= len(nest) for depth in found.values()) else {}


def _lines(
    sink: UOp, nest: Sequence[UOp], found: dict[UOp, int], right: dict[UOp, int]
) -> list[Line]:
    """The lines of a kernel in the order in which they run."""
    names = {u: f"v{n}" for n, u in enumerate(found)}
    (store,) = sink.src
    after = [u for u in found if any(below.op is Ops.REDUCE for below in u.toposort())]

    def statement(u: UOp) -> Line:
        elsewhere = f"belongs in {right[u] or 'no'} loop{'s' * (right[u] != 1)}"
        note = elsewhere if found[u] != right[u] else ""
        return Line(f"{names[u]} = {_written(u, names)}", found[u], note=note)

    lines = [statement(u) for u in found if found[u] == 0 and u not in after]
    for depth, counter in enumerate(nest, 1):
        last = counter.src[0].arg - 1
        lines.append(Line(f"for {render(counter)} in 0 … {last}:", depth, is_loop=True))
        lines += [statement(u) for u in found if found[u] == depth and u not in after]
    lines += [statement(u) for u in after]
    place, value = (render(_named(s, names)) for s in store.src[:2])
    return [*lines, Line(f"{place} = {value}", len(store.own_ranges))]


def _written(u: UOp, names: dict[UOp, str]) -> str:
    """A statement, with the names of what it uses."""
    src = tuple(_named(s, names) for s in u.src)
    if u.op is Ops.REDUCE:
        what = {Ops.ADD: "sum", Ops.MAX: "largest", Ops.MUL: "product"}[u.arg]
        counters = ", ".join(map(render, u.own_ranges))
        return f"the {what} of {render(src[0])} over {counters}"
    text = render(UOp(u.op, u.dtype, src, u.arg))
    return text[1:-1] if u.op in INFIX else text


def _named(u: UOp, names: dict[UOp, str]) -> UOp:
    """The same expression, with variables in place of what has a name."""
    if u in names:
        return UOp(Ops.DEFINE_VAR, u.dtype, (), (names[u], 0, 0))
    return UOp(u.op, u.dtype, tuple(_named(s, names) for s in u.src), u.arg, u.tag)


def _indented(line: Line) -> str:
    note = f"    ({line.note})" if line.note else ""
    return "  " * (line.depth - line.is_loop + 1) + line.text + note


HIGH, INDENT, LETTERS = 19.0, 22.0, 11.0  # points: of a line, from loop to loop, of the font


def _boxes(lines: Sequence[Line]) -> Drawing:
    """Lines of code in nested boxes."""
    sheet, kind = Drawing(), KINDS["control"]
    widths = [width_of(line.text, LETTERS, mono=True) for line in lines]
    notes = [width_of(line.note, 10) for line in lines]
    widest = max(
        2 * INDENT * line.depth + width + note + 30
        for line, width, note in zip(lines, widths, notes, strict=True)
    )
    for n, line in enumerate(lines):
        if line.is_loop:
            last = max(m for m, other in enumerate(lines) if m >= n and other.depth >= line.depth)
            left = INDENT * (line.depth - 1)
            wide, high = widest - 2 * left, (last - n + 1) * HIGH + 1
            sheet.box(left, n * HIGH + 2, wide, high, kind.fill, kind.line)
    for n, (line, width) in enumerate(zip(lines, widths, strict=True)):
        left, base = INDENT * (line.depth - line.is_loop) + 6, n * HIGH + 15
        if line.note:
            sheet.box(left - 4, n * HIGH + 3, width + 8, HIGH - 3, WRONG_FILL, MARKED["color"],
                      thick=2)  # fmt: skip
            sheet.words(left + width + 12, base, line.note, 10)
        sheet.words(left, base, line.text, LETTERS, mono=True, bold=line.is_loop)
    return sheet


# ---- how often -----------------------------------------------------------------------------------


def counted(text: str) -> str:
    """The first function of a C text, with how often each line runs in front of it."""
    lines, around, begun = list[str](), list[int](), False
    for line in text.splitlines():
        begun = begun or line.startswith("void ")
        if not begun:
            continue
        closes = line.strip() == "}"
        if closes and not around:
            lines.append(f"        {line}")
            break
        if closes:
            around.pop()
        times = "" if closes or line.startswith("void ") else f"{math.prod(around)} ×"
        lines.append(f"{times:>6}  {line}")
        if loop := LOOP.search(line):
            around.append(int(loop[2]))
    return "\n".join(lines)


# ---- kernels by hand -----------------------------------------------------------------------------


def parameter(number: int, size: int) -> UOp:
    """Parameter number `number` of a kernel: so many floats in memory. The first is number 0."""
    return UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size), (), number)


# An index without a shape is one into memory as it lies there.
SHAPED = PatternMatcher(
    [
        (
            UPat(Ops.INDEX, name="u"),
            lambda u: None if u.arg else u.replace(arg=(u.src[0].dtype.size,)),
        )
    ]
)


def run_kernel(sink: UOp, size: int, *inputs: np.ndarray, device: str = "PYTHON") -> np.ndarray:
    """What a kernel writes into its first parameter, `size` floats. On PYTHON, tinyframe's
    interpreter, an index outside of its memory is an error."""
    sink = graph_rewrite(sink, SHAPED)
    out = Tensor(np.full(size, np.nan, np.float32), device=device).realize()
    tensors = [out, *(Tensor(x.astype(np.float32), device=device).realize() for x in inputs)]
    with Context(SPEC=0):  # which would refuse such an index without saying what it is
        run_schedule([ScheduleItem(sink, tuple(buffer_of(t.uop.base) for t in tensors))])
    return out.numpy()


def painting(paint: Callable[[UOp, UOp], UOp], rows: int = ROWS, columns: int = COLUMNS) -> UOp:
    """The kernel that stores paint(row, column) for each row and column of a picture."""
    row, column = UOp.range(rows, 0), UOp.range(columns, 1)
    value = paint(row, column)
    place = parameter(0, rows * columns).index(row, column, shape=(rows, columns))
    return UOp.sink(place.store(value.cast(dtypes.float), row, column))


def mandelbrot(row: UOp, column: UOp) -> UOp:
    """For how many of 24 steps z² + c stays small, from the point c of each row and column."""
    imaginary = row.cast(dtypes.float) * 0.0104 - 1.25
    real = column.cast(dtypes.float) * 0.0104 - 2.35
    a, b, count = real, imaginary, real * 0.0
    for _ in range(24):
        a, b = a * a - b * b + real, a * b * 2.0 + imaginary
        count = count + (a * a + b * b < 4.0).where(1.0, 0.0)
    return count


def unfit(value: UOp, row: UOp, column: UOp) -> str:
    """Why a value can't be painted, in a sentence: it reads memory, mixes dtypes, might divide by
    0 …; "" if it can."""
    for u in value.toposort():
        if u.op in (Ops.LOAD, Ops.INDEX, Ops.DEFINE_GLOBAL, Ops.BUFFER):
            return "There's memory in your kernel. Paint with the counters alone."
        if u.op is Ops.RANGE and u not in (row, column):
            return f"Who is {render(u)}? Use the two counters that you are given."
        if u.op in (Ops.IDIV, Ops.MOD) and u.src[1].vmin <= 0 <= u.src[1].vmax:
            return (
                f"`{_short(u.src[1])}` may be 0, and C doesn't survive a division of whole numbers "
                "by 0. Add 1, or divide floats."
            )
        if u.op not in GroupOp.ALU or u.op in (Ops.CAST, Ops.BITCAST):
            continue
        sources = u.src[1:] if u.op is Ops.WHERE else u.src
        if len({s.dtype for s in sources}) > 1:
            return (
                f"In `{_short(u)}`, a whole number meets a float, and nodes don't convert by "
                "themselves. Cast one: `x.cast(dtypes.float)`."
            )
        if u.op in _OF_FLOATS and not all(dtypes.is_float(s.dtype) for s in sources):
            return (
                f"`{_short(u)}` needs a float, and gets a whole number. Cast it first: "
                "`x.cast(dtypes.float)`."
            )
    return ""


_OF_FLOATS = {Ops.FDIV, Ops.RECIP, Ops.SQRT, Ops.SIN, Ops.COS, Ops.EXP2, Ops.LOG2}


def _short(u: UOp) -> str:
    """An expression of the two counters, by their names, if it's short."""
    text = render(u).replace("ridx0", "row").replace("ridx1", "column")
    return text if len(text) <= 60 else u.op.name


def pixels_of(paint: Callable[[UOp, UOp], UOp]) -> np.ndarray:
    """What the kernel of a picture computes."""
    return run_kernel(painting(paint), ROWS * COLUMNS, device="CPU").reshape(ROWS, COLUMNS)


def painted(paint: Any) -> Picture:
    """The picture that a kernel computes, in grey; black for the smallest number. It's the
    learner's as soon as there is something to paint, whether it passes its check or not."""
    counters = UOp.range(ROWS, 0), UOp.range(COLUMNS, 1)
    try:
        with time_limit(SECONDS):
            value = paint(*counters)
        trouble = unfit(value, *counters) if isinstance(value, UOp) else "no node"
    except (Exception, OutOfTime) as error:  # whatever it does, there is a picture
        trouble = str(error) or "no answer"
    print("Painted by your function." if not trouble else
          "Painted by ours, until yours gives something to paint.")  # fmt: skip
    pixels = pixels_of(mandelbrot if trouble else paint)
    finite = np.isfinite(pixels)
    return shades(painted=np.where(finite, pixels, pixels[finite].min(initial=np.inf)))
