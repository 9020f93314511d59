"""A device's conformance as a picture: a box for each operation and dtype, right or wrong.

    table = conformance("MINE")
    table                      # drawn; its text names the rows that are wrong
    table.story("remainder")   # the first wrong number of a row, and the kernel it came from

What is tried is what `python -m tinyframe.runtime.conformance` tries, for seven dtypes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence

from tinyframe.device import Device
from tinyframe.dtype import DType, dtypes
from tinyframe.settings import Context
from tinyframe.tools.conformance import CHECKS, tried
from tinyframe.tools.parts import PARTS
from tinyframe.viz.drawing import MUTED, Drawing
from tinyframe.viz.picture import DrawnPicture

COLUMNS = (dtypes.bool, dtypes.char, dtypes.short, dtypes.ushort, dtypes.int, dtypes.uint,
           dtypes.float)  # fmt: skip
RIGHT, WRONG, NONE = "#d3efd0", "#ffb27a", "#f4f4f4"  # fills
LETTERS, HIGH, WIDE, NAME, GAP = 8.0, 13.0, 27.0, 104.0, 26.0  # points
# of what a part's docstring says, the end is for who calls it
ASKED = re.compile(r"; |\. Empty|\. Nothing")
PATH = re.compile(r"^ *File .*\n(?! *File| *$)?.*\n?", re.MULTILINE)  # the way through the files

Marks = Mapping[DType | None, str]  # of each dtype, or of the whole row, what is wrong; "" if right


class Story(str):
    """Words that a notebook shows as they are."""

    def __repr__(self) -> str:
        return str(self)


class Conformance(DrawnPicture):
    """rows: {what was tried: the story of each dtype, "" where it's right}. Of a part, the dtype is
    None."""

    def __init__(self, device: str, rows: Mapping[str, Marks]) -> None:
        self.rows = rows
        wrong = {name: marks for name, marks in rows.items() if any(marks.values())}
        said = f"{device}: {len(rows) - len(wrong)} of {len(rows)} rows are right"
        wide = max(map(len, rows))
        lines = [f"  NO  {name:{wide}}  {_columns(marks)}".rstrip()
                 for name, marks in wrong.items()]  # fmt: skip
        super().__init__(said, "\n".join([said, *lines]), _drawn(rows))

    @property
    def wrong(self) -> list[str]:
        """The rows that are wrong."""
        return [name for name, marks in self.rows.items() if any(marks.values())]

    def story(self, row: str) -> Story:
        """The first thing that is wrong in a row."""
        if row not in self.rows:
            close = difflib.get_close_matches(row, self.rows, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            return Story(f"There's no row {row!r}.{hint}")
        return Story(next(filter(None, self.rows[row].values()), f"{row} is right."))


def conformance(device: str, rows: Sequence[str] = ()) -> Conformance:
    """What a device computes, compared with PYTHON. rows: only these; all where none is named."""
    name = Device.named(device)
    found: dict[str, Marks] = {}
    with Context(DEBUG=0):
        for part, test in PARTS.items():
            if part in (rows or PARTS):
                found[part] = {None: _part(test, part, name)}
        for check in CHECKS:
            if check.name in rows or not rows:
                kinds = [dtype for dtype in COLUMNS if dtype in check.dtypes]
                results = {dtype: tried(check, dtype, name) for dtype in kinds}
                found[check.name] = {
                    dtype: _readable(result.story) if result.mark == "NO" else ""
                    for dtype, result in results.items()
                }
    return Conformance(name, found)


def _part(test: Callable[[str], str], part: str, device: str) -> str:
    try:
        said = test(device)
    except Exception as error:  # whatever a backend that is broken raises
        said = f"{type(error).__name__}: {error}"
    asked = ASKED.split(" ".join((test.__doc__ or "").split()))[0].rstrip(".")
    return f"{part}, on {device}:\n  {said}\n\nWhat this row asks: {asked}." if said else ""


def _readable(story: str) -> str:
    """A story without the lines of Python that led to it."""
    return PATH.sub("", story)


def _columns(marks: Marks) -> str:
    """The dtypes that are wrong."""
    kinds = [
        repr(dtype).removeprefix("dtypes.") for dtype, story in marks.items() if dtype and story
    ]
    return "all" if len(kinds) == len(marks) > 1 else " ".join(kinds)


def _drawn(rows: Mapping[str, Marks]) -> Drawing:
    sheet = Drawing()
    names = list(rows)
    half = (len(names) + 1) // 2 if len(names) > 12 else len(names)
    for side, part in enumerate((names[:half], names[half:])):
        left = side * (NAME + len(COLUMNS) * WIDE + GAP)
        for column, dtype in enumerate(COLUMNS if part else ()):
            x = left + NAME + (column + 0.5) * WIDE
            label = repr(dtype).removeprefix("dtypes.")
            sheet.words(x, LETTERS, label, LETTERS - 0.5, anchor="middle", colour=MUTED)
        for number, name in enumerate(part):
            y = HIGH * (number + 1)
            sheet.words(left + NAME - 6, y + HIGH * 0.7, name, LETTERS, anchor="end", colour=MUTED)
            _row(sheet, rows[name], left + NAME, y)
    return sheet


def _row(sheet: Drawing, marks: Marks, left: float, y: float) -> None:
    if None in marks:
        _box(sheet, marks[None], left, y, WIDE * len(COLUMNS))
        return
    for column, dtype in enumerate(COLUMNS):
        if dtype in marks:
            _box(sheet, marks[dtype], left + column * WIDE, y, WIDE)


def _box(sheet: Drawing, story: str, x: float, y: float, width: float) -> None:
    fill, word = (WRONG, "NO") if story else (RIGHT, "ok")
    sheet.box(x + 1, y + 1, width - 2, HIGH - 2, fill, fill, [word], radius=2, size=LETTERS - 1,
              title=story.partition("\n\n")[0])  # fmt: skip
