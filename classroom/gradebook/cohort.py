"""A class whose project is graded: what every command on it asks for, and what is written of it."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

from classroom.gradebook import class_page, feedback
from classroom.gradebook.deadlines import Deadlines, read_deadlines, read_times
from classroom.gradebook.handed import HandedIn
from classroom.gradebook.intake import taken_in
from classroom.gradebook.names import file_name
from classroom.gradebook.people import follow
from classroom.gradebook.records import Records, remembered
from classroom.gradebook.roster import Roster, read_roster
from classroom.gradebook.sheet import Sheet, code_of, sheet_of
from classroom.grader.handed_in import CannotGrade
from classroom.grader.judge import load_project, tasks_of
from classroom.grader.tasks import Project
from classroom.pages import counted
from classroom.written import written

PAGES = "pages"  # their folder, in that of the grades
TABLES = "tables.json"  # in the folder of the grades: where the class's tables are
BLIND = "blind"  # what it calls the projects that are graded without names


def add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--grades", type=Path, default=Path("grades"), metavar="FOLDER",
                        help="where everything is kept (default: grades)")  # fmt: skip


def add_people(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--roster", type=Path, metavar="CSV", action="append", help="who is in the class; also as "
        "Canvas, Moodle, Gradescope or GitHub Classroom export it. Several are joined; all tables "
        "are remembered")  # fmt: skip
    add("--deadlines", type=Path, metavar="CSV", help="project, due, and what being late costs")
    add("--extensions", type=Path, metavar="CSV", help="student, project, days or until, reason")


@dataclass(frozen=True)
class Cohort:
    """A class and one of its projects; `grades` is the folder where all is kept. times: the table
    of when each handed in. submissions: what they handed in. is_blind: it is graded without names.
    """

    grades: Path
    tasks: Path
    project: Project
    roster: Roster | None = None
    deadlines: Deadlines | None = None
    times: Path | None = None
    submissions: Path | None = None
    is_blind: bool = False

    @property
    def name(self) -> str:
        return self.tasks.stem

    @property
    def records(self) -> Records:
        return Records(self.grades, self.name)

    @property
    def pages(self) -> Path:
        return self.grades / PAGES / self.name

    @property
    def anonymous(self) -> Path:
        """The page that can be shown to the class, once it was asked for."""
        return self.grades / f"{self.name}_anonymous.html"

    def sheet(self) -> Sheet:
        return sheet_of(self.grades, self.name, self.project, self.roster, self.deadlines,
                        self.is_blind)  # fmt: skip

    def shown(self, student: str) -> str:
        """What this one is called as long as the project is graded without names, or else."""
        return code_of(student, self.name) if self.is_blind else student

    def write(self) -> Sheet:
        """Writes the table, the page on the class and one for each student; the sheet that they
        were made of."""
        sheet = self.sheet()
        written(self.grades / f"{self.name}.csv", sheet.csv())
        written(self.grades / f"{self.name}.html", class_page.page(sheet))
        if self.anonymous.is_file():
            self.write_anonymous(sheet)
        names = {file_name(row.student.key) for row in sheet.rows}
        for page in [*self.pages.glob("*.html"), *self.pages.glob("*.md")]:
            if page.stem not in names:  # whoever is called otherwise now
                page.unlink()
        for row in sheet.rows:
            name = file_name(row.student.key)
            written(self.pages / f"{name}.html", feedback.page(row, sheet))
            written(self.pages / f"{name}.md", feedback.markdown(row, sheet))
        return sheet

    def write_anonymous(self, sheet: Sheet) -> None:
        written(self.anonymous, class_page.page(sheet, anonymous=True))


def handed_in(cohort: Cohort) -> tuple[list[HandedIn], list[str]]:
    """What each student handed in, and what an instructor should know about it."""
    if cohort.submissions is None:
        raise CannotGrade(f"nobody has said where {cohort.name} was handed in; grade-class is told")
    name = cohort.name if cohort.project.main else cohort.tasks.name
    times = read_times(cohort.times, cohort.roster) if cohort.times else {}
    found = taken_in(cohort.submissions, name, cohort.project.main, cohort.roster, times)
    count = sum(bool(each.files or each.problem or each.instead) for each in found.handed)
    people = counted(len(found.handed), "student")
    notes = [f"{found.layout}: {count} of {people} handed something in"]
    if cohort.deadlines and cohort.name not in cohort.deadlines.of_project:
        notes.append(f"the table of deadlines has no line for {cohort.name}, so nobody is late")
    elif cohort.deadlines and (timeless := sum(bool(e.files) and not e.when for e in found.handed)):
        notes.append(f"nothing says when {timeless} of them handed in, so they count as in time; "
                     "--times names a table that says so")  # fmt: skip
    here = {each.student for each in found.handed}
    kept = {record.student for record in cohort.records.all() if not record.is_empty}
    if cohort.roster and (left := sorted(kept - here)):
        notes.append(f"kept from before, but neither in the roster nor handed in now: "
                     f"{', '.join(left)}. If they are nobody, delete their files in "
                     f"{cohort.records.folder}/")  # fmt: skip
    return found.handed, [*notes, *(cohort.roster.notes if cohort.roster else ()), *found.notes]


def cohort_of(told: argparse.Namespace) -> Cohort:
    """The class that a command names. CannotGrade where a table is wrong, or there is none.

    A table that isn't named is the one that was named before: who gives points by hand must not
    lose what being late costs.
    """
    tasks = tasks_of(told.project)
    named = {"roster": told.roster or [], "deadlines": [told.deadlines],
             "extensions": [told.extensions],
             **{f"{what} of {tasks.stem}": [getattr(told, what, None)]
                for what in ("times", "submissions")}}  # fmt: skip
    before = remembered(
        told.grades / TABLES, lambda at: isinstance(at, (str, list)), "doesn't say where the "
        "class's tables are; delete it, and name them again: --roster, --deadlines, --extensions, "
        "--times"
    )  # fmt: skip
    now = {what: [at] if isinstance(at, str) else at for what, at in before.items()}
    for what, paths in named.items():
        now[what] = [str(path.resolve()) for path in paths if path] or now.get(what, [])
    blind, here = set(now.get(BLIND, ())), {tasks.stem}
    if (asked := getattr(told, BLIND, None)) is not None:
        blind = blind | here if asked else blind - here
    now[BLIND] = sorted(blind)
    rosters, due, more, times, handed = ([*map(Path, now[what])] for what in named)
    roster = read_roster(*rosters) if rosters else None
    if roster:
        follow(told.grades, roster)
    if more and not due:
        raise CannotGrade("--extensions needs --deadlines, the table of when projects are due")
    deadlines = read_deadlines(due[0], next(iter(more), None), roster) if due else None
    cohort = Cohort(
        told.grades, tasks, load_project(tasks), roster, deadlines, next(iter(times), None),
        next(iter(handed), None), tasks.stem in blind,
    )  # fmt: skip
    if (kept := {what: at for what, at in now.items() if at}) != before:
        written(told.grades / TABLES, json.dumps(kept, indent=1, ensure_ascii=False))
    return cohort


def key_of(cohort: Cohort, name: str, keys: set[str]) -> str | None:
    """Whom a name, login, number or address means, of the students with these keys; or the code of
    one whose name isn't told."""
    student = cohort.roster.find(name) if cohort.roster else None
    codes = {code_of(key, cohort.name): key for key in keys}
    found = name if name in keys else student.key if student else codes.get(name)
    return found if found in keys else None
