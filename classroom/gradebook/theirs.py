"""A CSV file of another system, kept as it came but for the cells that we fill in; and which of its
rows is which of our students.

    table = Table(Path("grades.csv").read_bytes())
    table.put(3, 5, "84")
    Path("filled.csv").write_bytes(table.data())

Nobody gets the mark of somebody else: a row and a student belong together where a number, a login
or an address says so, or else the name, and nothing speaks against it. Where two could be meant,
none is.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache

from classroom.gradebook.names import student_name
from classroom.gradebook.roster import Student
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


# ---- people --------------------------------------------------------------------------------------

IDENTIFIERS = ("number", "login", "email")


@dataclass(frozen=True)
class Person:
    """What a row says of who it is; "" where it doesn't say."""

    name: str
    number: str = ""
    login: str = ""
    email: str = ""

    @property
    def said(self) -> str:
        more = self.login or self.email or self.number
        name, more = student_name(self.name), student_name(more)
        return f"{name} ({more})" if name and more else name or more


def named(student: Student) -> str:
    """For messages."""
    name = student.name or student.key
    return name if name == student.key else f"{name} ({student.key})"


@dataclass(frozen=True)
class Match:
    """found: for each student's key the number of their row. Everybody else is in a list, in words:
    those who have no row, rows of nobody, and those of whom it can't be told. guessed: all that is
    known of them is what their folder is called, which is a login or a number of the row."""

    found: Mapping[str, int]
    without: Sequence[str]
    nobodys: Sequence[str]
    unclear: Sequence[str]
    guessed: Sequence[str]

    def notes(self, what: str) -> list[str]:
        """Sentences on those who aren't matched. what: theirs, such as "the gradebook"."""
        rows = [
            (f"In your class, but not in {what}", self.without),
            (f"In {what}, but not in your class", self.nobodys),
            ("Left alone, because it isn't clear whose mark belongs there", self.unclear),
            ("Matched by the name of their folder alone; look these over", self.guessed),
        ]
        return [f"{head}: {'; '.join(names)}." for head, names in rows if names]


def matched(students: Iterable[Student], people: Mapping[int, Person]) -> Match:
    """Which row is whose. people: who each row is, by its number."""
    all_of_us = list(students)
    bare = {student.key for student in all_of_us if _is_bare(student)}
    sure: dict[int, set[str]] = {}
    by_name: dict[int, set[str]] = {}
    disputed: dict[int, list[str]] = {}
    for row, person in people.items():
        for student in all_of_us:
            same, differs = _compared(student, person)
            alike = _plain(person.name) in {_plain(student.name), _plain(student.key)} - {""}
            if (same or alike) and differs:
                disputed.setdefault(row, []).append(
                    f"{person.said} isn't quite {named(student)}: {differs}"
                )
            elif same:
                sure.setdefault(row, set()).add(student.key)
            elif alike:
                by_name.setdefault(row, set()).add(student.key)
    taken = set().union(*sure.values())
    meant = {row: sure.get(row) or by_name.get(row, set()) - taken for row in people}
    rows_of = Counter(key for keys in meant.values() for key in keys)
    found = {
        key: row for row, keys in meant.items() for key in keys
        if len(keys) == 1 and rows_of[key] == 1
    }  # fmt: skip
    at = set(found.values())
    ours = {student.key: named(student) for student in all_of_us}
    unclear = [
        f"{people[row].said} could be {' or '.join(sorted(ours[key] for key in keys))}"
        for row, keys in meant.items() if keys and row not in at
    ]  # fmt: skip
    for row, why in disputed.items():
        if row not in at:
            unclear += why
    known = {key for keys in meant.values() for key in keys}
    guessed = [
        f"{key} is {people[row].said}" for key, row in found.items()
        if key in bare and _plain(people[row].name) != _plain(key)
    ]  # fmt: skip
    return Match(
        found,
        [named(s) for s in all_of_us if s.key not in known],
        [p.said for row, p in people.items() if not meant[row] and row not in disputed],
        unclear,
        guessed,
    )


def _compared(student: Student, person: Person) -> tuple[bool, str]:
    """(whether an identifier of the row is the student's; in words, which one is not)."""
    theirs = {kind: _plain(getattr(person, kind)) for kind in IDENTIFIERS}
    ours = {kind: _plain(getattr(student, kind)) for kind in IDENTIFIERS}
    if "@" in theirs["login"]:  # many log in with their address
        theirs["email"] = theirs["email"] or theirs["login"]
        theirs["login"] = theirs["login"] if "@" in ours["login"] else ""
    if _is_bare(student):
        return _plain(student.key) in {*theirs.values()} - {""}, ""
    both = [kind for kind in IDENTIFIERS if ours[kind] and theirs[kind]]
    differ = [
        f"the {kind} is {theirs[kind]}, not {ours[kind]}"
        for kind in both if ours[kind] != theirs[kind]
    ]  # fmt: skip
    return any(ours[kind] == theirs[kind] for kind in both), "; ".join(differ)


def _is_bare(student: Student) -> bool:
    """Whether there is nothing but what a folder or file is called, because there is no roster."""
    return not any((student.number, student.login, student.email, student.github))


@cache
def _plain(text: str) -> str:
    """For comparing: the last name after the first ones, small letters."""
    text = student_name(text).casefold()
    if text.count(",") == 1:
        last, _, first = text.partition(",")
        text = f"{first.strip()} {last.strip()}"
    return text.strip()
