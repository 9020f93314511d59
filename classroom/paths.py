"""The way of an expression through tinyframe's files, call by call, and a picture of it.

    walk = walked("a + b")        # in a Python of its own, where nothing is in any cache
    walk.rooms                    # {"uop/node.py": {"UOp.__new__": 21, …}, …} in the order entered
    route(walk)                   # the files as rooms, numbered in the order of the first call
    first, again = walks("a + b", "a + b", to="numbers")    # one after the other, in one Python

An expression may use Tensor; `a` and `b`, three floats each; and `m`, 3 × 3. `walking.py` is what
runs in that other process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from classroom.exercise import Wrong
from classroom.limit import OutOfTime
from classroom.tables import Table
from classroom.walking import ROOT, Call
from tinyframe.viz.drawing import MUTED, Drawing, colour_of, width_of
from tinyframe.viz.picture import DrawnPicture, Picture

ENDS = ("C", "numbers")  # where a walk may end: at the source text, or at what it computes
# The other process is on one thread of one device, without anything that was kept on disk.
SETTINGS = {"DEVICE": "CPU", "THREADS": "1", "NOOPT": "1", "CACHE": "0", "DEBUG": "0", "SPEC": "0",
            "BEAM": "0", "VIZ": "0", "VIZ_TRACE": "", "RELAXED": "0", "JIT": "1"}  # fmt: skip
SECONDS = 60.0  # that a walk may take


@dataclass(frozen=True)
class Walk:
    """What was called for an expression, in order. source: the C it became, of its last kernel; ""
    where it went on to numbers."""

    expression: str
    calls: tuple[Call, ...]
    source: str = ""

    @cached_property
    def rooms(self) -> dict[str, dict[str, int]]:
        """Each file once, in the order of its first call: its functions, and how often each was
        entered."""
        found: dict[str, dict[str, int]] = {}
        for file, function in self.calls:
            functions = found.setdefault(file, {})
            functions[function] = functions.get(function, 0) + 1
        return found


def walked(expression: str, to: str = "C") -> Walk:
    """The walk of an expression that is computed for the first time."""
    (walk,) = walks(expression, to=to)
    return walk


@cache
def walks(*expressions: str, to: str = "C") -> tuple[Walk, ...]:
    """The walks of several, one after the other in one process. Wrong, with what Python says, where
    one of them is no expression that gives a Tensor."""
    asked = json.dumps({"expressions": expressions, "to": ENDS[ENDS.index(to)]})
    try:
        done = subprocess.run(
            [sys.executable, "-m", "classroom.walking"],
            input=asked,
            env={**os.environ, **SETTINGS, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise OutOfTime from None
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        raise Wrong(f"`{expressions[-1]}` goes nowhere: {said}")
    return tuple(
        Walk(expression, tuple(map(tuple, found["calls"])), found["source"])
        for expression, found in zip(expressions, json.loads(done.stdout), strict=True)
    )


# ---- the picture ---------------------------------------------------------------------------------

WIDE, HIGH, GAP, ACROSS = 118.0, 38.0, 16.0, 5  # points; and rooms in a row
NUMBER, NAME, SMALL = 9.0, 10.5, 8.5  # sizes of letters
GREY = "#eeeeee"
# the folders that most walks enter, as they come; the others share a colour
FLOORS = ("uop", "tensor", "run", "schedule", "tinyframe", "runtime", "rewrite", "algebra",
          "codegen", "renderer")  # fmt: skip


def floor_of(file: str) -> str:
    """The folder that a file is in: "codegen" of codegen/optimize/loops.py."""
    return file.partition("/")[0] if "/" in file else "tinyframe"


def counted(walk: Walk) -> dict[str, int]:
    """The files of a walk in order, and how many different functions of each are called."""
    return {file: len(functions) for file, functions in walk.rooms.items()}


def route(walk: Walk, rooms: Mapping[str, int] | None = None) -> Picture:
    """The files of a walk as rooms, each once, in the order of the first call. rooms: the files,
    and how many functions of each, where it is not this module that counted."""
    shown = dict(counted(walk) if rooms is None else rooms)
    lines = [f"{number:3}  {file:34} {count:3}"
             for number, (file, count) in enumerate(shown.items(), 1)]  # fmt: skip
    text = "\n".join([f"{walk.expression}: {summary(shown)}", *lines])
    sheet = drawn(walk, shown, summary(shown), lambda file: True)
    return DrawnPicture(f"the way of {walk.expression} through tinyframe", text, sheet)


def twice(expression: str, rooms: Iterable[str]) -> Picture:
    """The way to the numbers, once more: what the second time doesn't enter is grey. rooms: those
    of which the text says whether they are entered again; the rest depends on the machine."""
    first, again = walks(expression, expression, to="numbers")
    words = "the second time; grey: not entered"
    sheet = drawn(first, counted(first), words, lambda file: file in again.rooms)
    lines = [f"{file:24} {'entered again' if file in again.rooms else '-'}" for file in rooms]
    return DrawnPicture(f"what the second {expression} enters", "\n".join(lines), sheet)


def difference(expression: str, other: str) -> Table:
    """The functions that the first expression takes to its C, and the other one doesn't."""
    walk, without = walked(expression), walked(other)
    new = {file: [name for name in functions if name not in without.rooms.get(file, {})]
           for file, functions in walk.rooms.items()}  # fmt: skip
    rows = [(file, ", ".join(names)) for file, names in new.items() if names]
    return Table(("file", f"called for {expression}, and not for {other}"), rows)


def drawn(
    walk: Walk, shown: Mapping[str, int], words: str, is_lit: Callable[[str], bool]
) -> Drawing:
    """The rooms of a walk on a sheet, joined in order; those that are not lit are grey."""
    floors = [*dict.fromkeys(map(floor_of, shown))]
    sheet, top = Drawing(), 14.0
    sheet.words(0, top, walk.expression, 13, bold=True, mono=True, colour=MUTED)
    sheet.words(width_of(walk.expression, 13, True, True) + 14, top, words, 11, colour=MUTED)
    top += 16
    places = [_place(number, top) for number in range(len(shown))]
    for (x, y), (x2, y2) in zip(places, places[1:], strict=False):
        middle = (x + WIDE / 2, y + HIGH / 2), (x2 + WIDE / 2, y2 + HIGH / 2)
        sheet.line(middle, width=2)
    for number, ((file, count), (x, y)) in enumerate(zip(shown.items(), places, strict=True), 1):
        entered = sum(walk.rooms.get(file, {}).values())
        title = f"{file}: {count} functions, entered {entered} times"
        fill = _colour(floor_of(file)) if is_lit(file) else GREY
        sheet.box(x, y, WIDE, HIGH, fill, title=title)
        sheet.words(x + 6, y + 13, str(number), NUMBER, bold=True)
        sheet.words(x + WIDE - 6, y + 13, f"{count} · {entered:,}×", SMALL, anchor="end")
        inner = file.partition("/")[2]
        name = inner if inner and inner != "__init__.py" else file
        size = min(NAME, NAME * (WIDE - 12) / width_of(name, NAME))
        sheet.words(x + WIDE / 2, y + 29, name, size, anchor="middle")
    _legend(sheet, floors, sheet.height + 14)
    return sheet


def _place(number: int, top: float) -> tuple[float, float]:
    """The corner of a room: rows are walked to the right and to the left by turns."""
    row, column = divmod(number, ACROSS)
    column = column if row % 2 == 0 else ACROSS - 1 - column
    return column * (WIDE + GAP), top + row * (HIGH + GAP)


def _colour(floor: str) -> str:
    """The colour of a folder, the same in every picture."""
    number = FLOORS.index(floor) if floor in FLOORS else len(FLOORS)
    return colour_of(number, len(FLOORS) + 1)


def _legend(sheet: Drawing, floors: list[str], top: float) -> None:
    x = 0.0
    for name in floors:
        wide = width_of(name, NUMBER) + 22
        if x + wide > ACROSS * (WIDE + GAP):
            x, top = 0.0, top + 16
        sheet.box(x, top - 8, 10, 10, _colour(name), radius=2)
        sheet.words(x + 14, top, name, NUMBER, colour=MUTED)
        x += wide
    sheet.words(0, top + 17, "left: its number on the way; right: different functions, and calls",
                NUMBER, colour=MUTED)  # fmt: skip


def summary(rooms: Mapping[str, int]) -> str:
    return f"{len(rooms)} rooms, {sum(rooms.values())} functions"


def entered(walk: Walk, files: Iterable[str]) -> tuple[bool, ...]:
    """Which of these files a walk enters."""
    return tuple(file in walk.rooms for file in files)
