"""CSV files: those that a person, a spreadsheet or a learning platform wrote, read line by line,
and those that are written here.

Commas, semicolons or tabs; with or without a byte order mark; columns in any order, case and
spelling that the caller lists.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn

from classroom.grader.handed_in import CannotGrade
from classroom.grader.report import cleaned


@dataclass(frozen=True)
class Line:
    """A line of a table: its cells by the names of their columns, without blanks around them."""

    path: Path
    number: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells.get(column, "")

    def refuse(self, why: str) -> NoReturn:
        raise CannotGrade(f"{self.path}, line {self.number}: {why}")


def lines_of(
    path: Path, columns: Mapping[str, str], needed: Collection[str] = (), others: bool = False
) -> list[Line]:
    """The table's lines below its header, without those that say nothing.

    columns: what a header may say, in small letters and with single blanks, and what that column is
    called here; if two are called alike, the first that isn't empty counts. needed: columns that
    have to be there. others: whether there may be further columns. CannotGrade names the file and
    the line.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CannotGrade(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CannotGrade(f"{path} is not text in UTF-8; save it as CSV in UTF-8") from None
    first = re.sub(r'"[^"]*"', "", text.lstrip()).partition("\n")[0]
    comma = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=comma, strict=True)
    found: list[Line] = []
    names: list[str] = []
    try:
        for row in reader:
            cells = [" ".join(cell.split()) for cell in row]
            line = Line(path, reader.line_num, {})
            if not any(cells):
                continue
            if not names:
                names = _header(line, cells, columns, needed, others)
                continue
            if any(cells[len(names) :]):
                line.refuse(f"it has {len(cells)} cells, and the header has {len(names)}; put "
                            "quotation marks around a cell with a comma in it")  # fmt: skip
            known: dict[str, str] = {}
            for name, cell in zip(names, cells, strict=False):
                if name and cell:
                    known.setdefault(name, cell)
            if known:
                found.append(Line(path, reader.line_num, known))
    except csv.Error as error:
        raise CannotGrade(f"{path}, line {reader.line_num}: {error}") from None
    if not names:
        raise CannotGrade(f"{path} is empty")
    return found


def csv_of(rows: Iterable[Sequence[str]], end: str = "\n", all_quoted: bool = True) -> str:
    """As a text. In quotes, since a spreadsheet may take another character for a cell's end."""
    out = io.StringIO()
    kind: Literal[0, 1] = csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
    csv.writer(out, lineterminator=end, quoting=kind).writerows(rows)
    return out.getvalue()


def same(names: Iterable[str]) -> dict[str, str]:
    """Columns that are called here as they are in the file."""
    return {name: name for name in names}


def _header(
    line: Line,
    cells: list[str],
    columns: Mapping[str, str],
    needed: Collection[str],
    others: bool,
) -> list[str]:
    """What each column is called here; "" where it is not used."""
    plain = [" ".join(cell.casefold().replace("_", " ").split()) for cell in cells]
    names = [columns.get(cell, "") for cell in plain]
    unknown = [cell for cell, name in zip(cells, names, strict=True) if cell and not name]
    if unknown and not others:
        line.refuse(f"there is no column {cleaned(unknown[0], 60)!r} in this table; there are: "
                    f"{', '.join(columns)}")  # fmt: skip
    for each in needed:
        if each not in names:
            line.refuse(f"the column {each!r} is missing")
    return names
