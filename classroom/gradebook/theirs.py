"""A CSV file of another system, in which we fill in cells.

    table = Table(Path("grades.csv").read_bytes())
    table.put(3, 5, "84")
    Path("filled.csv").write_bytes(table.data())

All else stays as it came, byte by byte.
"""

from __future__ import annotations

import codecs
import re
from decimal import ROUND_HALF_UP, Decimal

from classroom.grader.handed_in import CannotGrade

SEPARATORS = ",;\t"
BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"))  # fmt: skip


class Table:
    """rows: what is in the cells. Whatever isn't put into it stays as it was, byte by byte."""

    def __init__(self, data: bytes) -> None:
        self.bom, self.encoding = next(
            ((bom, name) for bom, name in BOMS if data.startswith(bom)), (b"", "")
        )
        text = self._decoded(data[len(self.bom) :])
        first = re.sub(r'"(?:[^"]|"")*+"', "", text).partition("\n")[0]
        self.separator = max(SEPARATORS, key=first.count)
        plain = rf"[^{self.separator}\r\n]*"
        cell = re.compile(rf'("(?:[^"]|"")*+"{plain}|{plain})({self.separator}|\r\n|\n|\r|\Z)')
        self._raw: list[list[str]] = [[]]
        self._ends: list[str] = []
        for found in cell.finditer(text):
            self._raw[-1].append(found[1])
            if found[2] != self.separator:
                self._ends.append(found[2])
                if found.end() == len(text):
                    break
                self._raw.append([])
        self.rows = [[_unquoted(raw) for raw in row] for row in self._raw]

    def _decoded(self, data: bytes) -> str:
        for name in [self.encoding] if self.encoding else ["utf-8", "cp1252"]:
            try:
                self.encoding = name
                return data.decode(name)
            except UnicodeDecodeError:
                continue
        raise CannotGrade("this file's letters can't be read; save it as CSV in UTF-8")

    def at(self, row: int, column: int) -> str:
        """What is in a cell, without blanks around it; nothing where there is no such cell."""
        cells = self.rows[row]
        return cells[column].strip() if 0 <= column < len(cells) else ""

    def column(self, title: str) -> int:
        """The number of the column with this title, in any case; -1 where there is none."""
        titles = [each.strip().casefold() for each in self.rows[0]]
        return titles.index(title.casefold()) if title.casefold() in titles else -1

    def of(self, row: int, title: str) -> str:
        """What is in a row's cell below this title; nothing where there is none."""
        return self.at(row, self.column(title))

    def put(self, row: int, column: int, text: str) -> None:
        missing = [""] * (column + 1 - len(self.rows[row]))
        self.rows[row] += missing
        self._raw[row] += missing
        special = any(c in text for c in f'{self.separator}"\r\n')
        is_quoted = special or self._raw[row][column].startswith('"')
        self.rows[row][column] = text
        self._raw[row][column] = '"' + text.replace('"', '""') + '"' if is_quoted else text

    def data(self) -> bytes:
        lines = zip(self._raw, self._ends, strict=True)
        text = "".join(self.separator.join(row) + end for row, end in lines)
        # what an older encoding lacks is written as HTML, which is what comments are
        return self.bom + text.encode(self.encoding, "xmlcharrefreplace")


def _unquoted(raw: str) -> str:
    found = re.fullmatch(r'"((?:[^"]|"")*)"(.*)', raw, re.DOTALL)
    return found[1].replace('""', '"') + found[2] if found else raw


# ---- numbers -------------------------------------------------------------------------------------


def number(text: str) -> Decimal | None:
    """A number with a point or a comma before its decimals; None where it is none."""
    if not re.fullmatch(r"\s*-?\d[\d.,]*\s*", text):
        return None
    whole, _, decimals = text.strip().replace(",", ".").rpartition(".")
    return Decimal(f"{whole.replace('.', '')}.{decimals}" if whole else decimals)


def scaled(points: int, of: int, maximum: Decimal) -> Decimal:
    """Points of so many as a mark of at most maximum, with two decimals, half up."""
    mark = points * maximum / (of or 1)
    return mark.quantize(Decimal("0.01"), ROUND_HALF_UP)


def in_digits(mark: Decimal, comma: bool = False) -> str:
    text = f"{mark:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace(".", ",") if comma else text
