"""What a class comes to in one project: a row for each student, made of the records.

sheet = sheet_of(Path("grades"), "01_tensor_basics", load_project(tasks), roster, deadlines)
print(sheet.csv())
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from classroom.gradebook.deadlines import Deadlines, Lateness
from classroom.gradebook.names import Student, file_name
from classroom.gradebook.records import RECORDS, Record, Records
from classroom.gradebook.roster import Roster
from classroom.gradebook.tables import csv_of
from classroom.grader.handed_in import CannotGrade
from classroom.grader.report import cell, cleaned, render_rows
from classroom.grader.tasks import Project
from classroom.pages import counted

NOTHING = "nothing was handed in"
FIRST, LAST = ("student", "status", "points", "of"), ("late", "note", "file", "made from")


@dataclass(frozen=True)
class Row:
    """A student, what was kept of their work, and how late it was. asks: why somebody should look
    again, if the student isn't answered yet."""

    student: Student
    record: Record
    of: int
    lateness: Lateness | None = None
    asks: str = ""

    @property
    def points(self) -> dict[str, int]:
        """By task, with what the instructor decided, and points beside those of the tasks."""
        return self.record.points()

    @property
    def total(self) -> int:
        return sum(self.points.values())

    @property
    def final(self) -> int:
        """The points that count: the total without what being late costs, rounded half up."""
        percent = self.lateness.percent if self.lateness else 0
        return max(0, (2 * self.total * (100 - percent) + 100) // 200)

    @property
    def shade(self) -> int:
        return shade(self.final, self.of)

    @property
    def late(self) -> str:
        """In a word, for a table."""
        if not self.lateness or not self.lateness.days:
            return ""
        days = counted(self.lateness.days, "day")
        return f"{days}, -{self.lateness.percent} %" if self.lateness.percent else f"{days}, free"

    @property
    def note(self) -> str:
        """What is to be known about it, and what was changed by hand."""
        by_hand = ", ".join(f"{t} {p} by hand" for t, p in self.record.decided().items())
        asks = f"asks to look again: {self.asks}" if self.asks else ""
        return ". ".join(filter(None, [self.record.note.rstrip("."), by_hand, asks]))


@dataclass(frozen=True)
class Sheet:
    """All rows, in the order of the students' names. of: the points that a project's checks have.
    tasks: in their order, with those that instructors added."""

    project: str
    title: str
    of: int
    tasks: tuple[str, ...]
    rows: tuple[Row, ...]

    def cells(self) -> list[list[str]]:
        """The whole table as texts, its head first."""
        return [[*FIRST, *self.tasks, *LAST], *map(self._cells, self.rows)]

    def _cells(self, row: Row) -> list[str]:
        record, points = row.record, row.points
        made_from = f"{record.digest} {record.version}".strip()
        return [
            *(cell(row.student.key), record.status, str(row.final), str(row.of)),
            *(str(points.get(task, "")) for task in self.tasks),
            *(row.late, cell(row.note), cell(record.file), made_from),
        ]

    def csv(self) -> str:
        return csv_of(self.cells())

    def shown(self) -> str:
        """For a terminal, tasks by their numbers, notes below, without what only the file needs."""
        _, *whole = self.cells()
        count = len(FIRST) + len(self.tasks) + 1
        head = [*FIRST, *(str(n) for n in range(1, len(self.tasks) + 1)), LAST[0]]
        rows = [row[:count] for row in whole]
        if not any(row[-1] for row in rows):  # nobody is late
            head, rows = head[:-1], [row[:-1] for row in rows]
        notes = [f"{row[0]}: {row[count]}" for row in whole if row[count] not in ("", NOTHING)]
        return "\n".join([render_rows(head, rows), *notes, *[""] * bool(notes)])

    def counts(self) -> dict[str, int]:
        """How many students there are with each status."""
        return dict(sorted(Counter(row.record.status for row in self.rows).items()))


def sheet_of(
    grades: Path,
    project: str,
    declared: Project,
    roster: Roster | None = None,
    deadlines: Deadlines | None = None,
    is_blind: bool = False,
) -> Sheet:
    """What is kept of a project as a sheet; everybody in the roster has a row, and nobody else who
    handed in nothing. is_blind: codes stand for names, and what may have names in it is left out.
    CannotGrade where a request is nobody's."""
    kept = Records(grades, project).all()
    known = {student.key: student for student in roster.students} if roster else {}
    records = {record.student: record for record in kept
               if not (roster and record.is_empty and record.student not in known)}  # fmt: skip
    for key in known:
        records.setdefault(key, Record(key, project, note=NOTHING))
    of = declared.points - declared.elsewhere
    times = handed_in_when(grades) if deadlines else {}
    requests = Records(grades, project).requests()
    asked = {_whose(name, records, roster): name for name in requests}
    rows = []
    for key, record in sorted(records.items()):
        text, when = requests[asked[key]] if key in asked else ("", 0.0)
        asks = "" if record.is_answered(when) else cleaned(text.strip(), 1000)
        late = deadlines.lateness(key, times.get(key, {})) if deadlines else {}
        student = known.get(key, Student(key, key))
        if is_blind:
            student = Student(code_of(key, project), code_of(key, project))
            note = " ".join(record.report.notes) if record.report else ""
            record = replace(record, student=student.key, file="", note=note)
        rows.append(Row(student, record, of, late.get(project), asks))
    rows.sort(key=lambda row: row.student.key)
    tasks = dict.fromkeys(check.task for check in declared.checks)
    tasks |= dict.fromkeys(task for row in rows for task in row.points)
    return Sheet(project, declared.title, of, tuple(tasks), tuple(rows))


def shade(points: int, of: int) -> int:
    """How strong the colour of a cell is, from 0 to 4."""
    return round(4 * max(0, min(points, of)) / of) if of else 0


def code_of(student: str, project: str) -> str:
    """What a student is called where a project is graded without names."""
    return hashlib.sha256(f"{project} {student}".encode()).hexdigest()[:6]


def _whose(name: str, records: Iterable[str], roster: Roster | None) -> str:
    """Whose request it is, by the name of its file: a record's, or what the roster knows."""
    found = [key for key in records if name in (key, file_name(key))]
    if not found and roster and (student := roster.find(name)):
        found = [student.key]
    if not found:
        raise CannotGrade(f"{name}.txt beside the records asks to look again, and is nobody's: "
                          "call it as the student's record is called")  # fmt: skip
    return found[0]


def handed_in_when(grades: Path) -> dict[str, dict[str, str]]:
    """When each student handed in each project that they began; late days are shared by all."""
    found: dict[str, dict[str, str]] = {}
    for folder in sorted((grades / RECORDS).glob("*/")):
        for record in Records(grades, folder.name).all():
            found.setdefault(record.student, {})[folder.name] = record.when * record.is_begun
    return found
