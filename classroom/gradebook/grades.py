"""`python -m classroom grades COMMAND`: what is kept of a class, in grades/.

python -m classroom grades show --project 01_tensor_basics            # the table
python -m classroom grades show --project 01_tensor_basics ann        # how ann's came about
python -m classroom grades set --project 01_tensor_basics ann zeros 4 --by Lee --why "a typo"
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from classroom.gradebook.cohort import Cohort, add_folder, add_people, cohort_of
from classroom.gradebook.records import Change, Grading, Record
from classroom.grader.handed_in import CannotGrade
from classroom.grader.report import cleaned

Does = Callable[[Cohort, argparse.Namespace], int]


# ---- show ----------------------------------------------------------------------------------------


def show(cohort: Cohort, told: argparse.Namespace) -> int:
    """The table; or of one student, the points and a line on each grading and change."""
    if not told.student:
        print(cohort.sheet().shown())
        return 0
    print("\n".join(history(record_of(cohort, told.student))))
    return 0


def record_of(cohort: Cohort, student: str) -> Record:
    if not cohort.records.path(student).is_file():
        raise CannotGrade(f"nothing is kept of {student!r} in {cohort.name}")
    return cohort.records.get(student)


def history(record: Record) -> list[str]:
    """A record in words: what each task is worth, then what happened, in its order."""
    lines = [f"{record.student}, {record.project}: {record.status}, {record.total} points"]
    lines += [f"  {points:>4}  {task}" for task, points in record.points().items()]
    lines += [f"note: {record.note}"] * bool(record.note)
    happened = [(g.at, _grading(g)) for g in record.gradings]
    happened += [(c.at, _change(c)) for c in record.changes]
    return lines + [f"{at}  {text}" for at, text in sorted(happened)]


def _grading(g: Grading) -> str:
    by = f"grader {g.commit or 'without a commit'}, version {g.version}"
    asked = f", only {', '.join(g.tasks)}" if g.tasks else ""
    seed = f", seed {g.seed!r}" if g.seed else ""
    less = f", without: {'; '.join(g.without)}" if g.without else ""
    note = f" ({g.note})" if g.note else ""
    return f"{g.status}, {g.points} points{note}; files {g.digest}, {by}{asked}{seed}{less}"


def _change(c: Change) -> str:
    what = "taken back" if c.points is None else f"{c.points} points"
    return f"{c.task}: {what}, by {c.by}: {c.why}"


# ---- set -----------------------------------------------------------------------------------------


def change(cohort: Cohort, told: argparse.Namespace) -> int:
    """Points by hand, with a name and a reason."""
    record = record_of(cohort, told.student)
    tasks = {check.task: 0 for check in cohort.project.checks}
    for check in cohort.project.checks:
        tasks[check.task] += check.points
    is_known = told.task in tasks or told.task in record.decided()
    if not is_known and not (told.extra and told.points is not None):
        raise CannotGrade(f"{cohort.name} has no task {told.task!r}; it has {', '.join(tasks)}. "
                          "--extra gives points beside those of the tasks")  # fmt: skip
    if told.points is not None and told.points > (most := tasks.get(told.task, told.points)):
        raise CannotGrade(f"{told.task} has {most} points at most; give more beside it: --extra, "
                          "with another name")  # fmt: skip
    by, why = cleaned(told.by).strip(), cleaned(told.why).strip()
    if not (by and why):
        raise CannotGrade("a change needs a name and a reason: --by NAME --why TEXT")
    before = record.total
    record.changes.append(Change(told.task, told.points, by, why))
    cohort.records.keep(record)
    cohort.write()
    print(f"{record.student}: {record.total} points, {before} before")
    return 0


def points(text: str) -> int | None:
    if text == "undo":
        return None
    if not text.removeprefix("-").isdecimal():
        raise argparse.ArgumentTypeError("has to be a whole number, or undo")
    return int(text)


# ---- the others ----------------------------------------------------------------------------------


def pages(cohort: Cohort, told: argparse.Namespace) -> int:
    """Everything that is made of the records, made again."""
    cohort.write()
    print(f"written: {cohort.grades / cohort.name}.csv and .html, {cohort.pages}/")
    return 0


# ---- the command ---------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(
        prog="python -m classroom grades", description="What is kept of a class, in grades/."
    )
    each = whole.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, does: Does, meaning: str) -> argparse.ArgumentParser:
        made = each.add_parser(name, help=meaning, description=meaning)
        made.add_argument("--project", required=True, help="such as 01_tensor_basics")
        add_folder(made)
        add_people(made)
        made.set_defaults(does=does)
        return made

    shown = command("show", show, "the table; or how one student's points came about")
    shown.add_argument("student", nargs="?", help="only this one, with every grading and change")
    set_ = command("set", change, "points by hand, with a name and a reason")
    set_.add_argument("student")
    set_.add_argument("task", help="whose points are replaced")
    set_.add_argument("points", type=points, help="a number; undo takes the last word back")
    set_.add_argument("--by", default="", metavar="NAME", help="who decides it")
    set_.add_argument("--why", default="", metavar="TEXT", help="the reason; the student reads it")
    set_.add_argument("--extra", action="store_true", help="points beside those of the tasks, such "
                      "as style")  # fmt: skip
    command("pages", pages, "make the table and all pages again")
    return whole


def main(arguments: list[str]) -> int:
    told = parser().parse_args(arguments)
    try:
        return int(told.does(cohort_of(told), told))
    except CannotGrade as error:
        print(f"grades: {error}", file=sys.stderr)
    except OSError as error:
        print(f"grades: {told.grades} cannot be read or written: {error}", file=sys.stderr)
    return 2
