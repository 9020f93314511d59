"""Who is in the class, under which names: a CSV file, as a learning platform or a person wrote it.

    roster = read_roster(Path("roster.csv"), Path("more.csv"))
    roster.find("Smith, Ann")           # the one student that this can mean, or None

If there are several tables, each adds what it knows, and whom the ones before it don't have. A
header says what it is. These are known, in any order and case:

    Canvas              Student, ID, SIS User ID, SIS Login ID, Section: the gradebook's export
    Moodle              Identifier, Full name, ID number, Email address: the grading worksheet of an
                        assignment; First name, Last name, ID number, Email address: the gradebook's
                        export (grade/import/csv/tests in Moodle 4)
    Gradescope          First Name, Last Name, SID, Email, Role: the roster's download
    GitHub Classroom    identifier, github_username, github_id, name: classroom_roster.csv
    a person            name, email, github, login, number, section
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path

from classroom.gradebook.match import matched
from classroom.gradebook.names import Student, folded, squeezed, student_name, turned
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


Lines = list[tuple[Line, Student]]


class Roster:
    """The students of a class, in the order of the table. notes: what is to be known about it."""

    def __init__(self, students: Iterable[Student], notes: Iterable[str] = ()) -> None:
        self.students, self.notes = tuple(students), tuple(notes)
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


def read_roster(*paths: Path) -> Roster:
    """CannotGrade names the line where a table can't be right, or whom it could mean."""
    students: Lines = []
    notes: list[str] = []
    for path in paths:
        new = _with_keys(_lines(path))
        students = _with_keys(_joined(students, new, path, notes) if students else new)
    return Roster([student for _, student in students], notes)


def _joined(before: Lines, new: Lines, path: Path, notes: list[str]) -> Lines:
    """Each student with what the new table knows besides, then those that only it has."""
    match = matched((student for _, student in before), {n: s for n, (_, s) in enumerate(new)})
    if match.unclear:
        raise CannotGrade(f"{path}: {match.unclear[0]}. Give both tables a column that tells them "
                          "apart, such as login")  # fmt: skip
    found = []
    for line, student in before:
        more = new[match.found[student.key]][1] if student.key in match.found else student
        added = {each.name: getattr(student, each.name) or getattr(more, each.name)
                 for each in fields(Student)}  # fmt: skip
        found.append((line, Student(**added)))
    if match.found and match.nobodys:
        notes.append(f"only in {path}: {', '.join(match.nobodys)}")
    known = set(match.found.values())
    return found + [each for n, each in enumerate(new) if n not in known]


def _lines(path: Path) -> Lines:
    lines = lines_of(path, COLUMNS, others=True)
    students: Lines = []
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
    return students


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
    if "@" in line["login"]:  # many log in with their address
        email = email or line["login"]
    github = line["github"].removeprefix("https://github.com/").lstrip("@").rstrip("/")
    shown = (name, email, github, line["login"], number, line["section"], own_id)
    return Student("", *map(student_name, shown))


def _refuse_two(students: Lines, each: str) -> None:
    """Nobody else may have the same."""
    seen: dict[str, int] = {}
    for line, student in students:
        if not (label := folded(getattr(student, each))):
            continue
        if label in seen:
            line.refuse(f"line {seen[label]} has the same {each} ({cleaned(label, 60)})")
        seen[label] = line.number


def _with_keys(students: Lines) -> Lines:
    """A key for each: the name, with something that tells two of the same name apart."""
    for each in TELLS_APART:
        _refuse_two(students, each)
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
        found.append((line, replace(student, key=key)))
    return found
