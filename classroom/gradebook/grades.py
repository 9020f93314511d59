"""`python -m classroom grades COMMAND`: what is kept of a class, in grades/.

    python -m classroom grades show --project 01_tensor_basics            # the table
    python -m classroom grades show --project 01_tensor_basics ann        # how ann's came about
    python -m classroom grades set --project 01_tensor_basics ann zeros 4 --by Lee --why "a typo"

and comment, pages, mail, export, similar and course; --help after any of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from classroom.cut import without_marks
from classroom.gradebook import feedback
from classroom.gradebook.cohort import (
    Cohort,
    add_folder,
    add_people,
    cohort_of,
    handed_in,
    key_of,
)
from classroom.gradebook.course import Course
from classroom.gradebook.exports import (
    Exported,
    canvas_filled,
    canvas_new,
    github,
    gradescope,
    junit,
    moodle_filled,
    moodle_new,
)
from classroom.gradebook.mail import Sent, mails, planned, send, server_of, written_as_files
from classroom.gradebook.records import RECORDS, Change, Comment, Grading, Record
from classroom.gradebook.sheet import Sheet
from classroom.gradebook.similar import alike, handed_out, python_in
from classroom.gradebook.tables import csv_of
from classroom.grader.command import progress
from classroom.grader.handed_in import CannotGrade, files_of, read_submission
from classroom.grader.judge import ROOT
from classroom.grader.report import cleaned
from classroom.pages import counted
from classroom.written import written

Does = Callable[[Cohort, argparse.Namespace], int]


# ---- show ----------------------------------------------------------------------------------------


def show(cohort: Cohort, told: argparse.Namespace) -> int:
    """The table; or of one student, the points and a line on each grading and change."""
    sheet = cohort.sheet()
    if not told.student:
        print(sheet.shown())
        return 0
    record = record_of(cohort, told.student)
    student = cohort.shown(record.student)
    head, *lines = history(record, student)
    print("\n".join([f"{head}{_what_counts(sheet, student)}", *lines]))
    return 0


def _what_counts(sheet: Sheet, student: str) -> str:
    """What is left of the points where the work was late."""
    late = (row for row in sheet.rows if row.student.key == student and row.late)
    return next((f"; {row.late}: {row.final} count" for row in late), "")


def record_of(cohort: Cohort, student: str) -> Record:
    keys = {record.student for record in cohort.records.all()}
    if (key := key_of(cohort, student, keys)) is not None:
        return cohort.records.get(key)
    near = sorted(key for key in keys if student.casefold() in key.casefold())
    names = f"; {' or '.join(map(repr, near))}?" if near else ""
    raise CannotGrade(f"nothing is kept of {student!r} in {cohort.name}{names}")


def history(record: Record, student: str) -> list[str]:
    """A record in words: what each task is worth, then what happened, in its order."""
    lines = [f"{student}, {record.project}: {record.status}, {record.total} points"]
    lines += [f"  {points:>4}  {task}" for task, points in record.points().items()]
    lines += [f"note: {record.note}"] * bool(record.note)
    happened = [(g.at, _grading(g)) for g in record.gradings]
    happened += [(c.at, _change(c)) for c in record.changes]
    happened += [(c.at, f"{c.about or 'comment'}, by {c.by}: {c.text}") for c in record.comments]
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
    student = cohort.shown(record.student)
    counts = _what_counts(cohort.write(), student)
    print(f"{student}: {record.total} points, {before} before{counts}")
    return 0


def points(text: str) -> int | None:
    if text == "undo":
        return None
    if not text.removeprefix("-").isdecimal():
        raise argparse.ArgumentTypeError("has to be a whole number, or undo")
    return int(text)


def comment(cohort: Cohort, told: argparse.Namespace) -> int:
    """A comment on a task, a line or all of it; or the last one taken back."""
    record = record_of(cohort, told.student)
    text, by = cleaned(told.text or "", 1000).strip(), cleaned(told.by).strip()
    if told.undo:
        if not record.comments:
            raise CannotGrade("there is no comment to take back")
        record.comments.pop()
    elif not (text and by):
        raise CannotGrade("a comment needs a text and a name: TEXT --by NAME")
    elif told.line:
        record.comments.append(Comment(f"Line {told.line}", text, by, _line(cohort, record, told)))
    else:
        tasks = dict.fromkeys(check.task for check in cohort.project.checks) | record.decided()
        if told.task and told.task not in tasks:
            raise CannotGrade(f"{cohort.name} has no task {told.task!r}; it has {', '.join(tasks)}")
        record.comments.append(Comment(told.task, text, by))
    cohort.records.keep(record)
    cohort.write()
    print(f"{cohort.shown(record.student)}: {counted(len(record.comments), 'comment')}")
    return 0


def _line(cohort: Cohort, record: Record, told: argparse.Namespace) -> str:
    """What stands in a line of what was graded: 12, or parts.py:3 where there are several files."""
    theirs = (each.files for each in handed_in(cohort)[0]
              if each.student == record.student and each.digest == record.digest)  # fmt: skip
    if not (files := next(theirs, None)):
        raise CannotGrade("the file isn't the one that was graded: grade it again first")
    name, _, number = told.line.rpartition(":")
    lines = files.get(name or next(iter(files)), b"").decode(errors="replace").splitlines()
    if not (number.isdecimal() and 0 < int(number) <= len(lines)):
        raise CannotGrade(f"there is no line {told.line}")
    return lines[int(number) - 1].strip()


# ---- pages and mails -----------------------------------------------------------------------------


def pages(cohort: Cohort, told: argparse.Namespace) -> int:
    """Everything that is made of the records, made again."""
    sheet = cohort.write()
    print(f"written: {cohort.grades / cohort.name}.csv and .html, {cohort.pages}/")
    if told.anonymous:
        cohort.write_anonymous(sheet)
        print(f"written: {cohort.anonymous}, which you can show to the class")
    return 0


def mail(cohort: Cohort, told: argparse.Namespace) -> int:
    """Pages as mails: as files and a list of who would get what; sent where a server is named."""
    sheet, folder = cohort.sheet(), cohort.grades / "mail" / cohort.name
    letters = list(mails(sheet, told.sender, told.subject))
    sent = Sent(folder / "sent.csv")
    if not told.server:
        written_as_files(letters, folder)
        print(planned(sheet, letters, sent))
        print(f"Nothing was sent. The mails are in {folder}/; --server smtp://… sends them.")
        return 0
    before = len(sent.lines)
    try:
        refused = send(letters, server_of(told.server), sent, progress)
    finally:
        progress("")
    for student, why in refused:
        print(f"not sent to {student.key}: {why}")
    print(planned(sheet, letters, sent, went_out=len(sent.lines) - before).splitlines()[-1])
    return 1 if refused else 0


# ---- for others ----------------------------------------------------------------------------------


def export(cohort: Cohort, told: argparse.Namespace) -> int:
    """Marks in the form that another system takes, and what has to be known about them."""
    made = FORMATS[told.format](cohort.sheet(), told)
    folder = told.out or cohort.grades / "exports" / cohort.name / told.format
    for name, data in made.files.items():
        written(folder / name, data)
    for note in made.notes:
        print(f"- {note}")
    names = ", ".join(made.files) if len(made.files) < 4 else f"{len(made.files)} files"
    print(f"written to {folder}/: {names}")
    return 0


def _theirs(told: argparse.Namespace) -> bytes:
    try:
        return bytes(told.into.read_bytes())
    except OSError as error:
        raise CannotGrade(f"{told.into} cannot be read: {error.strerror}") from None


FORMATS: dict[str, Callable[[Sheet, argparse.Namespace], Exported]] = {
    "canvas": lambda sheet, told: (
        canvas_filled(sheet, _theirs(told), told.column, told.overwrite, told.zeros)
        if told.into else canvas_new(sheet, told.column, zeros=told.zeros)),
    "moodle": lambda sheet, told: (
        moodle_filled(sheet, _theirs(told), told.overwrite, told.zeros)
        if told.into else moodle_new(sheet, zeros=told.zeros)),
    "gradescope": lambda sheet, told: gradescope(sheet),
    "github": lambda sheet, told: github(sheet, told.repositories, feedback.markdown),
    "junit": lambda sheet, told: junit(sheet),
}  # fmt: skip


def similar(cohort: Cohort, told: argparse.Namespace) -> int:
    """Submissions that are alike, for the instructor's eye only."""
    handed = [replace(each, student=cohort.shown(each.student)) for each in handed_in(cohort)[0]]
    main, name = cohort.project.main, cohort.tasks.name
    starter, solution = (
        files_of(path, main) if path.exists() else {}
        for folder in ("projects", "solutions/projects")
        for path in [ROOT / folder / (cohort.name if main else name)]
    )
    starter |= {f"{path}.py": python_in(path.name, read_submission(path)) for path in told.given}
    course = {name: files for name, files in handed_out().items()
              if not name.startswith(f"projects/{cohort.name}")}  # fmt: skip
    solution = {file: without_marks(data.decode()).encode() if file.endswith(".py") else data
                for file, data in solution.items()}  # fmt: skip
    found = alike(handed, starter, course, solution)
    path = cohort.grades / f"{cohort.name}_similar.html"
    written(path, found.page())
    print(found.text())
    print(f"The lines side by side are in {path}.")
    return 0


def course(told: argparse.Namespace) -> int:
    """One table for all projects that something is kept of."""
    found = [cohort_of(argparse.Namespace(**vars(told), project=folder.name))
             for folder in sorted((told.grades / RECORDS).glob("*/"))]  # fmt: skip
    whole = Course([cohort.sheet() for cohort in found if not cohort.is_blind])
    if not whole.sheets:
        raise CannotGrade(f"nothing is kept in {told.grades} yet, or without names")
    written(told.grades / "course.csv", csv_of(whole.cells()))
    written(told.grades / "course.html", whole.page())
    print(whole.shown())
    for cohort in found:
        if cohort.is_blind:
            print(f"{cohort.name} is left out: it is graded without names as yet.")
    print(f"written: {told.grades / 'course'}.csv and .html")
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
    said = command("comment", comment, "what you have to say, on a student's page")
    said.add_argument("student")
    said.add_argument("text", nargs="?", help="what the student reads")
    said.add_argument("--by", default="", metavar="NAME", help="who says it; students don't read")
    about = said.add_mutually_exclusive_group()
    about.add_argument("--task", default="", help="the task that it is about")
    about.add_argument("--line", default="", help="or the line: 12, or parts.py:12")
    about.add_argument("--undo", action="store_true", help="take the last comment back")
    paged = command("pages", pages, "make the table and all pages again")
    paged.add_argument("--anonymous", action="store_true", help="also a page on the class that can "
                       "be shown to it: nobody is named")  # fmt: skip
    blind = paged.add_mutually_exclusive_group()
    blind.add_argument("--blind", action="store_true", default=None, help="with codes in place of "
                       "names, from now on")  # fmt: skip
    blind.add_argument("--names", action="store_false", dest="blind", help="with names again")
    mailed = command("mail", mail, "pages as mails: written as files, or sent")
    mailed.add_argument("--from", required=True, dest="sender", metavar="ADDRESS", help="who sends "
                        'them: "Prof. Ellis <ellis@uni.example>"')  # fmt: skip
    mailed.add_argument("--subject", default="", help="default: Feedback on PROJECT")
    mailed.add_argument("--server", metavar="URL", help="send them by this one: smtp://you@host "
                        "or smtps://you@host. Without it, nothing is sent")  # fmt: skip
    out = command("export", export, "marks for Canvas, Moodle, Gradescope, GitHub, or as JUnit")
    out.add_argument("format", choices=FORMATS)
    out.add_argument("--into", type=Path, metavar="CSV", help="Canvas's gradebook or Moodle's "
                     "grading worksheet, as downloaded: a copy of it is filled in")  # fmt: skip
    out.add_argument("--column", default="", help="Canvas's assignment (default: the project)")
    out.add_argument("--repositories", default="", metavar="NAME", help="GitHub's, such as "
                     "cs101/tensor-basics-{github}")  # fmt: skip
    out.add_argument("--overwrite", action="store_true", help="also replace marks that are there")
    out.add_argument("--zeros", action="store_true", help="0 for whoever handed in nothing")
    out.add_argument("--out", type=Path, metavar="FOLDER", help="where the files go")
    compared = command("similar", similar, "submissions that are alike, for your eyes only")
    compared.add_argument("submissions", type=Path, nargs="?", help="default: those graded last")
    compared.add_argument(
        "--given",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="what else everybody was given; may be named several times",
    )
    of_all = each.add_parser("course", help="one table for all projects, side by side")
    add_folder(of_all)
    add_people(of_all)
    of_all.set_defaults(does=course)
    return whole


def main(arguments: list[str]) -> int:
    told = parser().parse_args(arguments)
    try:
        if told.does is course:
            return course(told)
        cohort = cohort_of(told)
        if cohort.is_blind and told.does in (mail, export):
            raise CannotGrade(f"{cohort.name} is graded without names as yet: grades pages --names")
        return int(told.does(cohort, told))
    except CannotGrade as error:
        print(f"grades: {error}", file=sys.stderr)
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"grades: {told.grades} cannot be read or written: {error}", file=sys.stderr)
    return 2
