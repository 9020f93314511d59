"""`python -m classroom grade-class FOLDER`: grade one project of a whole class.

    python -m classroom grade-class ../submissions --project 01_tensor_basics

FOLDER has one folder for each student, with the file in it, or in its `projects/` (as in a clone of
their repository). Every student gets a row in a CSV file, with points for each task and one status:

    graded    there are points
    missing   there is no file of that name
    refused   a link, a file that is too large, or one that is not Python in UTF-8
    crashed   it could not be loaded, or the grader failed at it; the note says which
    late      its time was up before everything was asked; the points are those until then

The CSV file is written after each student. Started again, the command keeps the rows of files that
have not changed, and grades the others; students whose files are gone keep the points they had.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from classroom.grader.command import parser_of, progress, tidied_up, unsupported
from classroom.grader.handed_in import CannotGrade, files_of
from classroom.grader.judge import grade, load_project, tasks_of
from classroom.grader.kernels import WORTH, fill, kept_for
from classroom.grader.report import Report, cell, cleaned, render_rows
from classroom.grader.sandbox import Limits, best_protection
from classroom.grader.tasks import Project

FIRST, LAST = ("student", "status", "points", "of"), ("note", "file", "made from")


@dataclass
class Entry:
    """One student's row. made_from: a digest of all that decides about the points."""

    student: str
    status: str
    note: str = ""
    points: dict[str, int] = field(default_factory=dict)
    file: str = ""
    made_from: str = ""

    @property
    def total(self) -> int:
        return sum(self.points.values())


class Gradebook:
    """The rows of a class, and the CSV file that they are kept in."""

    def __init__(self, path: Path, project: Project) -> None:
        self.path, self.of = path, project.points - project.elsewhere
        self.tasks = list(dict.fromkeys(check.task for check in project.checks))
        self.columns = [*FIRST, *self.tasks, *LAST]
        self.entries: dict[str, Entry] = {entry.student: entry for entry in self._read()}

    def _read(self) -> list[Entry]:
        if not self.path.exists():
            return []
        other = f"{self.path} is not a gradebook of this project; give another --out"
        try:
            with open(self.path, newline="", encoding="utf-8") as file:
                reader = csv.DictReader(file)
                if reader.fieldnames != self.columns:
                    raise CannotGrade(other)
                return [self._entry(row) for row in reader]
        except (OSError, ValueError, TypeError) as error:
            raise CannotGrade(f"{other} ({error})") from None

    def _entry(self, row: dict[str, str]) -> Entry:
        points = {task: int(row[task]) for task in self.tasks if row[task]}
        student = row["student"].removeprefix("'")
        return Entry(student, row["status"], row["note"].removeprefix("'"), points,
                     row["file"].removeprefix("'"), row["made from"])  # fmt: skip

    def rows(self) -> list[list[str]]:
        """A row for each student, in the order of their names."""
        return [
            [cell(e.student), e.status, str(e.total), str(self.of)]
            + [str(e.points.get(task, "")) for task in self.tasks]
            + [cell(e.note), cell(e.file), e.made_from]
            for _, e in sorted(self.entries.items())
        ]

    def put(self, entry: Entry) -> None:
        """Keeps the row, in the file too, which is replaced as a whole. Points that were given stay
        when the file has gone, or when nothing but the grading went wrong."""
        before = self.entries.get(entry.student)
        same = entry.status == "missing" or (before and before.made_from == entry.made_from)
        if before and before.status == "graded" != entry.status and same:
            before.note = f"from an earlier run; now: {entry.note}"
        else:
            self.entries[entry.student] = entry
        unfinished = self.path.with_name(f".{self.path.name}.unfinished")
        with open(unfinished, "w", newline="", encoding="utf-8") as file:
            # all in quotes: a spreadsheet may take another character for the end of a cell
            write = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow
            for row in [self.columns, *self.rows()]:
                write(row)
        os.replace(unfinished, self.path)


def students_in(folder: Path) -> dict[str, Path]:
    """Each student's folder, by name. CannotGrade where there are none."""
    if not folder.is_dir():
        raise CannotGrade(f"there is no folder {folder}")
    found: dict[str, Path] = {}
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise CannotGrade(f"{folder} cannot be read: {error.strerror}") from None
    for path in paths:
        if path.name.startswith(".") or not path.is_dir():
            continue
        name = cell(cleaned(path.name, 80).strip()).removeprefix("'")
        if name in found:
            raise CannotGrade(f"two folders in {folder} look the same: {name}")
        found[name] = path
    if not found:
        raise CannotGrade(f"there are no students' folders in {folder}")
    return found


def submission_in(folder: Path, name: str) -> Path | None:
    """The student's file: in the folder itself, or in its `projects`. A project that is a folder
    has a name without an end, and may be a zip."""
    names = [name] if Path(name).suffix else [name, f"{name}.zip"]
    places = [place / each for place in (folder, folder / "projects") for each in names]
    return next((path for path in places if os.path.lexists(path)), None)


def grade_student(
    student: str, folder: Path, name: str, digest: str, judge: Callable[[Path], Report]
) -> Entry:
    """The row of one student, whatever happens."""
    path = submission_in(folder, name)
    points: dict[str, int] = {}
    if path is None:
        status, note = "missing", f"there is no {name} in the folder or its projects/"
    elif folder.is_symlink():
        status, note = "refused", "the student's folder is a symbolic link"
    else:
        try:
            report = judge(path)
            status, note = report.status, " ".join(report.notes)
            points = {task: sum(r.points for r in rows) for task, rows in report.tasks().items()}
        except CannotGrade as error:
            status, note = "refused", str(error)
        except Exception as error:  # of the grader: the others are graded all the same
            status, note = "crashed", f"the grader failed ({type(error).__name__}: {error})"
    file = cleaned(path) if path else ""
    return Entry(student, status, cleaned(note), points, file, digest)


def digest_of(path: Path | None, main: str, *others: bytes) -> str:
    """What decides about the points: the files, the tasks, the seed. Empty if one of the files
    cannot be read."""
    try:
        files = {} if path is None else files_of(path, main)
    except CannotGrade:
        return ""
    whole = b"\0".join([*files.values(), *others])
    return hashlib.sha256(whole).hexdigest()[:16] if files else ""


def parser() -> argparse.ArgumentParser:
    whole = parser_of(
        "grade-class", "Grade one project of a whole class: a row for each student in a CSV file."
    )
    add = whole.add_argument
    add("folder", type=Path, help="has one folder for each student")
    add("--project", required=True, help="such as 01_tensor_basics")
    add("--out", type=Path, help="the CSV file (default: PROJECT.csv here)")
    add("--again", action="store_true", help="also grade files that have not changed")
    return whole


def main(arguments: list[str]) -> int:
    told = parser().parse_args(arguments)
    if problem := unsupported():
        print(f"grade-class: {problem}", file=sys.stderr)
        return 2
    out = told.out or Path(f"{told.project}.csv")
    try:
        tasks = tasks_of(told.project)
        students = students_in(told.folder)
        project = load_project(tasks)
        book = Gradebook(out, project)
        if loose := [path.name for path in sorted(told.folder.glob("*.py"))]:
            names = cleaned(", ".join(loose))
            print(
                f"grade-class: not in a student's folder, so not graded: {names}", file=sys.stderr
            )
        with tidied_up():
            if len(students) >= WORTH:
                fill(tasks, progress)
            for number, (student, folder) in enumerate(students.items(), 1):
                place = f"{number} of {len(students)}"
                grade_next(book, student, folder, tasks, project, told, place)
    except CannotGrade as error:
        print(f"grade-class: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"grade-class: {out} cannot be written: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # by SIGTERM too
        print(f"grade-class: stopped; {out} has everybody up to here", file=sys.stderr)
        return 2
    finally:
        progress("")
    print(shown(book))
    counts = Counter(entry.status for entry in book.entries.values())
    kinds = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    print(f"{counts.total()} students: {kinds}. The whole table is in {out}.")
    return 0 if set(counts) == {"graded"} else 1


def grade_next(
    book: Gradebook,
    student: str,
    folder: Path,
    tasks: Path,
    project: Project,
    told: argparse.Namespace,
    place: str,
) -> None:
    """Grades one student and keeps the row, unless the book has it already."""
    progress(f"{place}: {student}")
    seed = (told.seed or "").encode()
    name = tasks.stem if project.main else tasks.name
    digest = digest_of(submission_in(folder, name), project.main, tasks.read_bytes(), seed)
    before = book.entries.get(student)
    is_known = before and before.status == "graded" and before.made_from == digest != ""
    if is_known and not told.again:
        return

    kernels = kept_for(tasks)

    def judge(path: Path) -> Report:
        limits = Limits().longer(told.slow)
        return grade(path, tasks, best_protection(), limits, told.seed, kernels)

    book.put(grade_student(student, folder, name, digest, judge))


def shown(book: Gradebook) -> str:
    """The rows for a terminal, tasks by their numbers, without what only the file needs."""
    numbers = [str(n) for n in range(1, len(book.tasks) + 1)]
    head = [*FIRST, *numbers, LAST[0]]
    rows = [row[: len(head)] for row in book.rows()]
    if find_spec("rich") is None:
        return "\n".join(", ".join(row) for row in [head, *rows])
    return render_rows(head, rows)
