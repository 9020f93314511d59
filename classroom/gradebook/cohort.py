"""A class whose project is graded: what every command on it asks for, and what is written of it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from classroom.gradebook import class_page, feedback
from classroom.gradebook.deadlines import Deadlines, read_deadlines, read_times
from classroom.gradebook.handed import HandedIn
from classroom.gradebook.intake import taken_in
from classroom.gradebook.names import file_name
from classroom.gradebook.records import Records, written
from classroom.gradebook.roster import Roster, read_roster
from classroom.gradebook.sheet import Sheet, sheet_of
from classroom.grader.handed_in import CannotGrade
from classroom.grader.judge import load_project, tasks_of
from classroom.grader.tasks import Project

PAGES = "pages"  # their folder, in that of the grades


def add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--grades", type=Path, default=Path("grades"), metavar="FOLDER",
                        help="where everything is kept (default: grades)")  # fmt: skip


def add_people(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--roster", type=Path, metavar="CSV", help="who is in the class; also as Canvas, Moodle, "
        "Gradescope or GitHub Classroom export it")  # fmt: skip
    add("--deadlines", type=Path, metavar="CSV", help="project, due, and what being late costs")
    add("--extensions", type=Path, metavar="CSV", help="student, project, days or until, reason")


@dataclass(frozen=True)
class Cohort:
    """A class and one of its projects; `grades` is the folder where all is kept."""

    grades: Path
    tasks: Path
    project: Project
    roster: Roster | None = None
    deadlines: Deadlines | None = None

    @property
    def name(self) -> str:
        return self.tasks.stem

    @property
    def records(self) -> Records:
        return Records(self.grades, self.name)

    @property
    def pages(self) -> Path:
        return self.grades / PAGES / self.name

    def sheet(self) -> Sheet:
        return sheet_of(self.grades, self.name, self.project, self.roster, self.deadlines)

    def write(self) -> Sheet:
        """Writes the table, the page on the class and one for each student; the sheet that they
        were made of."""
        sheet = self.sheet()
        written(self.grades / f"{self.name}.csv", sheet.csv())
        written(self.grades / f"{self.name}.html", class_page.page(sheet))
        for row in sheet.rows:
            name = file_name(row.student.key)
            written(self.pages / f"{name}.html", feedback.page(row, sheet))
            written(self.pages / f"{name}.md", feedback.markdown(row, sheet))
        return sheet


def handed_in(
    cohort: Cohort, submissions: Path, times: Path | None = None
) -> tuple[list[HandedIn], list[str]]:
    """What each student handed in, and what an instructor should know about the rest."""
    name = cohort.name if cohort.project.main else cohort.tasks.name
    found = taken_in(submissions, name, cohort.project.main, cohort.roster,
                     read_times(times, cohort.roster) if times else {})  # fmt: skip
    return found.handed, found.notes


def cohort_of(told: argparse.Namespace) -> Cohort:
    """The class that a command names. CannotGrade where a table is wrong, or there is none."""
    tasks = tasks_of(told.project)
    roster = read_roster(told.roster) if told.roster else None
    if told.extensions and not told.deadlines:
        raise CannotGrade("--extensions needs --deadlines, the table of when projects are due")
    due = read_deadlines(told.deadlines, told.extensions, roster) if told.deadlines else None
    return Cohort(told.grades, tasks, load_project(tasks), roster, due)
