"""Who is in the class, under which names: a CSV file, as a learning platform or a person wrote it.

    roster = read_roster(Path("roster.csv"))
    roster.find("Smith, Ann")           # the one student that this can mean, or None

Its header says what it is. These are known, in any order and case:

    Canvas              Student, ID, SIS User ID, SIS Login ID, Section: the gradebook's export
    Moodle              Identifier, Full name, ID number, Email address: the grading worksheet of an
                        assignment; First name, Last name, ID number, Email address: the gradebook's
                        export (grade/import/csv/tests in Moodle 4)
    Gradescope          First Name, Last Name, SID, Email, Role: the roster's download
    GitHub Classroom    identifier, github_username, github_id, name: classroom_roster.csv
    a person            name, email, github, login, number, section
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from classroom.gradebook.names import student_name
from classroom.gradebook.tables import Line, lines_of
from classroom.grader.handed_in import CannotGrade
from classroom.grader.report import cleaned

COLUMNS = {
    "student": "sortable",
    "name": "name", "full name": "name", "student name": "name",
    "first name": "first", "firstname": "first", "given name": "first",
    "last name": "last", "lastname": "last", "surname": "last", "family name": "last",
    "email": "email", "e-mail": "email", "email address": "email", "mail": "email",
    "github": "github", "github username": "github", "github name": "github",
    "sis login id": "login", "login": "login", "login id": "login", "username": "login",
    "sis user id": "number", "sid": "number", "student id": "number", "id number": "number",
    "number": "number", "student number": "number",
    "id": "id", "identifier": "identifier",
    "section": "section", "sections": "section",
    "role": "role", "roles": "role",
}  # fmt: skip
STAFF = {"instructor", "ta", "teaching assistant", "reader", "teacher", "non-editing teacher",
         "manager", "observer"}  # fmt: skip
# Lines of Canvas's gradebook that aren't students: the points of each column, and a student for
# trying things out.
NOBODY = {"points possible", "student, test"}
TELLS_APART = ("login", "number", "github", "email", "id")


@dataclass(frozen=True)
class Student:
    """One student. key: what all records of this student are called. id: the platform's own number,
    which it writes into the names of files: Canvas's ID, or Moodle's of this assignment. Empty
    where it is not known."""

    key: str
    name: str = ""
    email: str = ""
    github: str = ""
    login: str = ""
    number: str = ""
    section: str = ""
    id: str = ""


class Roster:
    """The students of a class, in the order of the table."""

    def __init__(self, students: Iterable[Student]) -> None:
        self.students = tuple(students)
        self._keys = {student.key: student for student in self.students}
        self._ids = {student.id: student for student in self.students if student.id}
        self._called: dict[str, set[Student]] = {}
        for student in self.students:
            of_name = (squeezed(name) for name in turned(student.name))
            labels = (folded(getattr(student, each)) for each in TELLS_APART)
            for called in {folded(student.key), *labels, *of_name} - {""}:
                self._called.setdefault(called, set()).add(student)

    def find(self, text: str) -> Student | None:
        """The only one whose key, number, login, email, GitHub name or name this is. A name may be
        turned around or squeezed: "Ann Smith", "Smith, Ann" and "smithann" are the same."""
        shown = student_name(text)
        if shown in self._keys:
            return self._keys[shown]
        found = self._called.get(folded(text), set()) | self._called.get(squeezed(text), set())
        return next(iter(found)) if len(found) == 1 else None

    def with_id(self, number: str) -> Student | None:
        return self._ids.get(number)


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


def read_roster(path: Path) -> Roster:
    """CannotGrade names the line where the table can't be right."""
    lines = lines_of(path, COLUMNS, others=True)
    students: list[tuple[Line, Student]] = []
    for line in lines:
        is_staff = {each.strip() for each in folded(line["role"]).split(",")} & STAFF
        if is_staff or folded(line["sortable"]) in NOBODY:
            continue
        student = _student(line)
        if not any([student.name, *(getattr(student, each) for each in TELLS_APART)]):
            line.refuse("there is neither a name nor an email address, login or number")
        students.append((line, student))
    if not students:
        known = "name, email, github, login, number, section"
        raise CannotGrade(f"{path} has no students in it; its first line names the columns, for "
                          f"example: {known}")  # fmt: skip
    for each in TELLS_APART:
        _refuse_two(students, each)
    return Roster(_with_keys(students))


def _student(line: Line) -> Student:
    name = line["name"] or " ".join(filter(None, [line["first"], line["last"]]))
    sortable, identifier = line["sortable"], line["identifier"]
    if not name and sortable:
        last, comma, first = sortable.partition(", ")
        name = f"{first} {last}" if comma and "," not in first else sortable
    number, email, own_id = line["number"], line["email"], ""
    if line["id"]:  # Canvas's own, if there is Canvas's column beside it
        own_id, number = (line["id"], number) if sortable else ("", number or line["id"])
    if participant := folded(identifier).removeprefix("participant ").strip():
        if participant != folded(identifier):
            own_id = participant
        elif "@" in identifier:
            email = email or identifier
        elif identifier.isdigit():
            number = number or identifier
        else:
            name = name or identifier
    github = line["github"].removeprefix("https://github.com/").lstrip("@").rstrip("/")
    shown = (name, email, github, line["login"], number, line["section"], own_id)
    return Student("", *map(student_name, shown))


def _refuse_two(students: list[tuple[Line, Student]], each: str) -> None:
    """Nobody else may have the same."""
    seen: dict[str, int] = {}
    for line, student in students:
        if not (label := folded(getattr(student, each))):
            continue
        if label in seen:
            line.refuse(f"line {seen[label]} has the same {each} ({cleaned(label, 60)})")
        seen[label] = line.number


def _with_keys(students: list[tuple[Line, Student]]) -> list[Student]:
    """A key for each: the name, with something that tells two of the same name apart."""
    names: dict[str, int] = {}
    for _, student in students:
        names[folded(student.name)] = names.get(folded(student.name), 0) + 1
    keys: dict[str, int] = {}
    found = []
    for line, student in students:
        label = next(filter(None, (getattr(student, each) for each in TELLS_APART)), "")
        key = student.name or label
        if student.name and names[folded(student.name)] > 1:
            key = f"{student.name} ({label})" if label else student.name
        if folded(key) in keys:
            line.refuse(f"line {keys[folded(key)]} has the same name ({cleaned(key, 60)}); add a "
                        "column that tells the two apart, such as email or login")  # fmt: skip
        keys[folded(key)] = line.number
        found.append(replace(student, key=key))
    return found
