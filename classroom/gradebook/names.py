"""Students and their names: as people write them, as they are compared, and as names of files."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from typing import Any

from classroom.grader.report import BLANK

MOST_MARKS = 3  # on one letter; Thai, Hebrew and Vietnamese need two
LONGEST = 100  # characters of a name
LONGEST_FILE = 120  # bytes of a file's name, without its end
NOT_IN_FILES = set('/\\:*?"<>|%')


@dataclass(frozen=True)
class Student:
    """One student. key: what this student is called everywhere, and nobody else is. id: the
    platform's own number, which it writes into the names of files: Canvas's ID, or Moodle's of this
    assignment. Empty where it is not known."""

    key: str
    name: str = ""
    email: str = ""
    github: str = ""
    login: str = ""
    number: str = ""
    section: str = ""
    id: str = ""


def student_name(text: Any) -> str:
    """The name with everything that can be seen, marks on letters too (ศิริ keeps its own), and
    without what can't: line ends, blanks that look like nothing, signs that turn text around."""
    shown: list[str] = []
    marks = 0
    for c in unicodedata.normalize("NFC", str(text)[: 4 * LONGEST]):
        is_mark = unicodedata.category(c) in ("Mn", "Mc", "Me")
        marks = marks + 1 if is_mark else 0
        if c in "\t\r\n":
            shown.append(" ")
        elif c.isprintable() and c not in BLANK and marks <= MOST_MARKS and (shown or not is_mark):
            shown.append(c)
    return " ".join("".join(shown).split())[:LONGEST].strip()


def file_name(student: str) -> str:
    """A name for this student's files that no other student's are called, on any system: it ends in
    four letters of a digest where a system might take two names for one."""
    safe = "".join("_" if c in NOT_IN_FILES or not c.isprintable() else c for c in student)
    safe = safe.strip(". ") or "_"
    while len(safe.encode()) > LONGEST_FILE:
        safe = safe[:-1]
    alike = unicodedata.normalize("NFC", safe.casefold())
    if alike == student:
        return student
    return f"{safe}-{hashlib.sha256(student.encode()).hexdigest()[:4]}"


def folded(text: str) -> str:
    """The text as it is compared: large and small letters alike, however they are encoded."""
    shown = unicodedata.normalize("NFKC", student_name(text)).casefold()
    return unicodedata.normalize("NFKC", shown)


def squeezed(text: str) -> str:
    """Letters with their marks, and digits, nothing else: what Canvas leaves of a name."""
    return "".join(c for c in folded(text) if unicodedata.category(c)[0] in "LMN")


def turned(name: str) -> list[str]:
    """The name with each number of its first words put last: nobody knows where first names end."""
    words = name.split()
    return [" ".join(words[at:] + words[:at]) for at in range(len(words))]
