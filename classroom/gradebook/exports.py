"""A sheet in the forms that other systems take.

    done = canvas_filled(sheet, Path("export.csv").read_bytes(), "Project 1")
    done.files["canvas.csv"]    # bytes
    done.notes                  # what an instructor has to know about it, in sentences

Formats are those of their makers' documents:

  Canvas      what reads and writes the file in Canvas itself: lib/gradebook_importer.rb and
              lib/gradebook_exporter.rb (instructure/canvas-lms, 2023)
  Moodle      MoodleDocs 4.5, "Grade import", and what reads the files: importgradeslib.php and
              locallib.php of mod/assign/feedback/offline, grade/import/csv/classes/load_data.php
  Gradescope  "Autograder Specifications" and "Submission Metadata" (2022)
  JUnit       junit-10.xsd of Jenkins's xUnit plugin
  GitHub      `gh pr comment --help`; a comment has at most 65,536 characters

A file of theirs comes back as it was, byte by byte, but for the cells that are filled in. A mark
that is there and differs stays, unless `overwrite` is true. Marks are scaled to what theirs is
worth. Who has no mark, no row or no place is named in the notes.
"""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from classroom.gradebook.handed import OTHER_PROJECT, WRONG_FILE
from classroom.gradebook.match import matched, named
from classroom.gradebook.names import Student, file_name
from classroom.gradebook.records import MISSING
from classroom.gradebook.sheet import Row, Sheet
from classroom.gradebook.tables import csv_of
from classroom.gradebook.theirs import Table, in_digits, number, scaled
from classroom.grader.handed_in import CannotGrade
from classroom.grader.report import Report, cell, cleaned, junit_suite, not_graded, shortened
from classroom.grader.report import gradescope as results_of

NOTHING = {MISSING: "nothing was handed in", WRONG_FILE: "there is no file of this project",
           OTHER_PROJECT: "this is another project's file"}  # fmt: skip


@dataclass(frozen=True)
class Exported:
    """files: by name, in folders where there are many. notes: sentences for the instructor."""

    files: dict[str, bytes]
    notes: tuple[str, ...] = ()


def has_mark(row: Row, zeros: bool = False) -> bool:
    """Whether there is something to hand on. zeros: also 0 for who handed in nothing."""
    return row.record.is_graded or (zeros and row.record.status in NOTHING)


def _without_mark(sheet: Sheet, zeros: bool) -> dict[str, list[str]]:
    return {"No mark": [f"{row.student.key} ({row.record.status})" for row in sheet.rows
                        if not has_mark(row, zeros)]}  # fmt: skip


# ---- filling a table of theirs -------------------------------------------------------------------


@dataclass
class _Filling:
    """A column of theirs that gets marks. maximum: what it is worth. closed: rows that are left
    alone, and why. cut: whether they take no more than the maximum."""

    table: Table
    column: int
    maximum: Decimal
    people: Mapping[int, Student]
    what: str
    closed: Mapping[int, str] = field(default_factory=dict)
    cut: bool = False
    comma: bool = False

    def filled(
        self,
        sheet: Sheet,
        overwrite: bool,
        zeros: bool,
        comments: tuple[int, Callable[[Row], str]] | None = None,
    ) -> tuple[str, ...]:
        """Puts them in; what is to be said about it. comments: a column for what students read."""
        match = matched((row.student for row in sheet.rows), self.people)
        if not match.found:
            raise CannotGrade(
                f"nobody in {self.what} is in your class: "
                f"{', '.join(match.nobodys[:3]) or 'it has no students'}"
            )
        kept: list[str] = []
        closed: list[str] = []
        above: list[str] = []
        for row in sheet.rows:
            at = match.found.get(row.student.key)
            if at is None or not has_mark(row, zeros):
                continue
            if at in self.closed:
                closed.append(f"{row.student.key} ({self.closed[at]})")
                continue
            mark = scaled(row.final, row.of, self.maximum)
            if self.cut and mark > self.maximum:
                above.append(row.student.key)
                mark = self.maximum
            there = self.table.at(at, self.column)
            is_new = there in ("", "-") or overwrite
            if is_new and number(there) != mark:
                self.table.put(at, self.column, in_digits(mark, self.comma))
            elif number(there) != mark:
                said = f"has {cleaned(there, 20)} there, and {in_digits(mark)} here"
                kept.append(f"{row.student.key} {said}")
            if comments and (overwrite or not self.table.at(at, comments[0])):
                self.table.put(at, comments[0], cell(comments[1](row)))
        lists = {
            "Not overwritten, because a different mark is there already": kept,
            f"Left alone in {self.what}": closed,
            f"More than {in_digits(self.maximum)} isn't taken, so this is what they get": above,
        } | _without_mark(sheet, zeros)
        return *_scale(sheet.of, self.maximum), *match.notes(self.what), *named(lists)


def _scale(of: int, maximum: Decimal) -> list[str]:
    if maximum == of:
        return []
    example = in_digits(scaled(of - of // 4, of, maximum))
    return [f"The marks are scaled from {of} points to {in_digits(maximum)}: {of - of // 4} are "
            f"{example}."]  # fmt: skip


def _column(head: list[str], *names: str) -> int:
    """The number of the column with one of these names; -1 where there is none."""
    for name in names:
        for at, title in enumerate(head):
            if title.strip().casefold() == name.casefold():
                return at
    return -1


# ---- Canvas --------------------------------------------------------------------------------------

ASSIGNMENT = re.compile(r"(?P<title>.*\S)\s*\((?P<id>\d+)\)")
NO_STUDENT = re.compile(r"\s*(muted|manual posting.*)?\s*", re.IGNORECASE)


def canvas_filled(
    sheet: Sheet, data: bytes, column: str = "", overwrite: bool = False, zeros: bool = False
) -> Exported:
    """A gradebook that was exported from Canvas, with the marks in one of its columns.

    column: the assignment's title, its number or the whole head; by default, the one called as the
    project is. Columns that only Canvas may fill, the points that are possible and the test student
    are left alone, and so is a student that the assignment isn't for (N/A).
    """
    table = Table(data)
    head = [title.strip() for title in table.rows[0]]
    last = _column(head, "LastName")
    name = _column(head, "Student") if last < 0 else _column(head, "FirstName")
    if name < 0 or _column(head, "ID") < 0 or _column(head, "Section") < 0:
        raise CannotGrade(
            "this is not a gradebook of Canvas: its first line has to have the columns Student, ID "
            "and Section (in Canvas: Grades, Export)"
        )
    points = next((n for n, row in enumerate(table.rows) if "Points Possible" in row[0]), None)
    if points is None:
        raise CannotGrade("the gradebook has no line with Points Possible; export it once more")
    at = _assignment(table, head, points, [column] if column else [sheet.title, sheet.project])
    maximum = number(table.at(points, at))
    if not maximum or maximum < 0:
        raise CannotGrade(f"{head[at]} is worth no points in Canvas; give it some there first")
    people = {}
    for n, row in enumerate(table.rows[points + 1 :], points + 1):
        if all(NO_STUDENT.fullmatch(c) for c in row):
            continue
        who = table.at(n, name) if last < 0 else f"{table.at(n, name)} {table.at(n, last)}"
        people[n] = Student(
            "",
            who,
            number=table.at(n, _column(head, "SIS User ID")),
            login=table.at(n, _column(head, "SIS Login ID")),
        )
    ours = {row.student.name.casefold() for row in sheet.rows}
    if "test student" not in ours:
        people = {n: p for n, p in people.items() if p.name != "Student, Test"}
    closed = {n: "the assignment isn't for them" for n in people if table.at(n, at) == "N/A"}
    filling = _Filling(table, at, maximum, people, "the gradebook", closed,
                       comma="," in table.at(points, at))  # fmt: skip
    notes = filling.filled(sheet, overwrite, zeros)
    return Exported({"canvas.csv": table.data()}, notes)


def _assignment(table: Table, head: list[str], points: int, wanted: list[str]) -> int:
    """The column of an assignment. CannotGrade, with those that there are, if none or several are
    meant, or nobody but Canvas may fill it."""
    there = {n: found for n, title in enumerate(head) if (found := ASSIGNMENT.fullmatch(title))}
    meant = [
        n for n, found in there.items()
        for name in wanted
        if name.casefold() in (found[0].casefold(), found["title"].casefold(), found["id"])
    ]  # fmt: skip
    titles = "; ".join(cleaned(found[0]) for found in there.values()) or "no assignments at all"
    if len(set(meant)) != 1:
        said = "no column" if not meant else "several columns"
        raise CannotGrade(f"{said} called {wanted[0]!r}; the gradebook has: {titles}. "
                          "--column names one of them")  # fmt: skip
    if "read only" in table.at(points, meant[0]):
        raise CannotGrade(f"{head[meant[0]]} is a column that only Canvas may fill")
    return meant[0]


def canvas_new(
    sheet: Sheet, column: str = "", points: int | None = None, zeros: bool = False
) -> Exported:
    """A gradebook to be imported to Canvas: it finds students by SIS User ID, then by login, then
    by their whole name. column: the assignment's head; Canvas makes a new one if it has none of
    this name. points: what it is worth there, if not what the project is.

    Who has no mark has no line: an empty cell would take away what is there.
    """
    maximum = Decimal(points or sheet.of)
    names = Counter(row.student.name.casefold() for row in sheet.rows)
    left_out, by_name, lines = [], [], []
    for row in sheet.rows:
        who = row.student
        if not has_mark(row, zeros):
            continue
        if not (who.number or who.login):
            if names[who.name.casefold()] > 1:
                left_out.append(who.key)
                continue
            by_name.append(who.key)
        mark = in_digits(scaled(row.final, row.of, maximum))
        said = [who.name or who.key, "", who.number, who.login, who.section]
        lines.append([*map(cell, said), mark])
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column or sheet.title]
    worth = ["    Points Possible", "", "", "", "", in_digits(maximum)]
    lists = {
        "Left out, because another student has the same name and nothing tells them apart":
        left_out,
        "Canvas will look for these by name, as there is neither number nor login": by_name,
    } | _without_mark(sheet, zeros)  # fmt: skip
    notes = (*_scale(sheet.of, maximum), *named(lists))
    return Exported({"canvas.csv": _csv([head, worth, *lines])}, notes)


def _csv(rows: list[list[str]]) -> bytes:
    return csv_of(rows, "\r\n", all_quoted=False).encode()


# ---- Moodle --------------------------------------------------------------------------------------


def moodle_filled(
    sheet: Sheet, data: bytes, overwrite: bool = False, zeros: bool = False,
    comment: Callable[[Row], str] | None = None,
) -> Exported:  # fmt: skip
    """The grading worksheet of a Moodle assignment, with marks and, where it has a column for them,
    feedback comments.

    Moodle finds students by the Identifier, and takes no mark that is higher than the maximum or
    older than what it has, so that column of dates is left alone. comment: what a student reads, as
    HTML; by default the points of each task.
    """
    table = Table(data)
    head = table.rows[0]
    identifier, grade = _column(head, "Identifier"), _column(head, "Grade")
    most, changed = _column(head, "Maximum Grade"), _column(head, "Last modified (grade)")
    if min(identifier, grade, most, changed) < 0:
        raise CannotGrade(
            "this is not a grading worksheet of Moodle in English: its first line has to have the "
            "columns Identifier, Grade, Maximum Grade and Last modified (grade). Switch Moodle to "
            "English while you download it and upload it again"
        )
    may, text = _column(head, "Grade can be changed"), _column(head, "Feedback comments")
    name = _column(head, "Full name")
    people = {
        n: Student(
            "",
            table.at(n, name if name >= 0 else identifier),
            number=table.at(n, _column(head, "ID number")),
            login=table.at(n, _column(head, "Username")),
            email=table.at(n, _column(head, "Email address")),
        )
        for n, row in enumerate(table.rows)
        if n and any(row)
    }
    worth = {table.at(n, most) for n in people}
    maximum = number(worth.pop()) if len(worth) == 1 else None
    if not maximum:
        raise CannotGrade("the worksheet's Maximum Grade is not one number, as a scale's isn't")
    closed = {n: "it is locked" for n in people if may >= 0 and table.at(n, may) == "No"}
    filling = _Filling(table, grade, maximum, people, "the worksheet", closed, cut=True,
                       comma="," in table.at(min(people), most))  # fmt: skip
    comments = (text, comment or _comment) if text >= 0 else None
    notes = filling.filled(sheet, overwrite, zeros, comments)
    return Exported({"moodle.csv": table.data()}, notes)


def _comment(row: Row) -> str:
    """What a student reads beside the mark, as HTML."""
    report = row.record.report
    tasks = report.tasks() if report else {}
    of = {task: sum(each.of for each in rows) for task, rows in tasks.items()}
    lines = [f"{row.final} of {row.of} points."]
    lines += [f"{task}: {points} of {of[task]}" if task in of else f"{task}: {points}"
              for task, points in row.points.items()]  # fmt: skip
    lines += [text for text in [row.lateness.note if row.lateness else ""] if text]
    return "<br>".join(html.escape(line) for line in lines)


MOODLES_NAMES = {"email": "Email address", "number": "ID number", "login": "Username"}


def moodle_new(sheet: Sheet, maximum: int | None = None, zeros: bool = False) -> Exported:
    """A list of grades for Moodle's gradebook (Grades, Import, CSV file).

    There, one column says who is meant, and a single unknown student stops the whole import. So it
    is the identifier that most of them have, and who hasn't got it is left out by name. Feedback is
    not in it: imported alone, it would take grades away.
    """
    top = Decimal(maximum or sheet.of)
    rows = [row for row in sheet.rows if has_mark(row, zeros)]
    have = {kind: [bool(getattr(row.student, kind)) for row in rows] for kind in MOODLES_NAMES}
    kind = max(have, key=lambda kind: sum(have[kind]))
    if not any(have[kind]):
        raise CannotGrade(
            "Moodle's gradebook needs a roster with addresses, numbers or logins; without, fill in "
            "the grading worksheet that it offers for download"
        )
    count = Counter(getattr(row.student, kind) for row in rows)
    by = MOODLES_NAMES[kind]
    fits = [count[getattr(row.student, kind)] == 1 and getattr(row.student, kind) for row in rows]
    left_out = [row.student.key for row, fit in zip(rows, fits, strict=True) if not fit]
    lines = [
        [cell(getattr(row.student, kind)), cell(row.student.name),
         in_digits(min(top, scaled(row.final, row.of, top)))]
        for row, fit in zip(rows, fits, strict=True) if fit
    ]  # fmt: skip
    above = [row.student.key for row in rows if row.final > row.of]
    lists = {
        f"Left out, because they have no {by.lower()} of their own": left_out,
        f"More than {in_digits(top)} isn't taken, so this is what they get": above,
    } | _without_mark(sheet, zeros)
    notes = (f"In Moodle, choose {by} under “Map from” as well as under “Map to”.",
             *_scale(sheet.of, top), *named(lists))  # fmt: skip
    return Exported({"moodle.csv": _csv([[by, "Full name", sheet.title], *lines])}, notes)


# ---- Gradescope ----------------------------------------------------------------------------------

# Gradescope takes results from an autograder and from nowhere else, so this is one.
HANDS_OVER = '''#!/usr/bin/env python3
"""Gives a student the result that was made beforehand: python -m classroom grades export."""

import json
import shutil
from pathlib import Path

root = Path("/autograder")
known = json.loads((root / "source" / "students.json").read_text(encoding="utf-8"))
users = json.loads((root / "submission_metadata.json").read_text(encoding="utf-8"))["users"]
found = {known[user["email"].lower()] for user in users if user["email"].lower() in known}
name = found.pop() if len(found) == 1 else "nobody.json"
shutil.copy(root / "source" / "results" / name, root / "results" / "results.json")
'''


def gradescope(sheet: Sheet) -> Exported:
    """A results.json for each student, and the two files of an autograder that hands them over by
    address. Zip what is in the folder, upload it as the assignment's autograder, and let it run
    again for all submissions."""
    files = {
        "setup.sh": b"#!/usr/bin/env bash\n",
        "run_autograder": HANDS_OVER.encode(),
        "results/nobody.json": not_graded("your instructor has no result for this address yet",
                                          "gradescope").encode(),
    }  # fmt: skip
    count = Counter(row.student.email.lower() for row in sheet.rows)
    students, unreachable = {}, []
    for row in sheet.rows:
        name = f"{file_name(row.student.key)}.json"
        files[f"results/{name}"] = _results(row).encode()
        email = row.student.email.lower()
        if email and count[email] == 1:
            students[email] = name
        else:
            unreachable.append(row.student.key)
    files["students.json"] = json.dumps(students, indent=1, ensure_ascii=False).encode()
    notes = named({"Without an address of their own, so that Gradescope can't tell who they are":
                   unreachable})  # fmt: skip
    return Exported({f"gradescope/{k}": v for k, v in files.items()}, tuple(notes))


def _results(row: Row) -> str:
    if not has_mark(row):
        why = NOTHING | {"refused": "what was handed in couldn't be read"}
        return not_graded(why.get(row.record.status, "ask your instructor"), "gradescope")
    report = _report(row)
    said = [f"{task}: {points} points, by your instructor"
            for task, points in row.record.decided().items()]  # fmt: skip
    said += [text for text in [row.lateness.note if row.lateness else ""] if text]
    if row.final != report.score:
        said.append(f"In all: {row.final} of {row.of} points")
    return results_of(report, row.final, said)


def _report(row: Row) -> Report:
    """What the checks found; one without checks, where nothing was graded."""
    return row.record.report or Report(row.record.project, "", row.of, 0, [])


# ---- JUnit ---------------------------------------------------------------------------------------


def junit(sheet: Sheet) -> Exported:
    """One file with a testsuite for each student, for the instructor: it says what was wrong in
    hidden checks. A suite's properties are the points that count and the status."""
    root = ElementTree.Element("testsuites", name=sheet.title)
    for row in sheet.rows:
        suite = junit_suite(_report(row), row.student.key)
        properties = ElementTree.Element("properties")
        for name, value in (("points", row.final), ("of", row.of), ("status", row.record.status)):
            ElementTree.SubElement(properties, "property", name=name, value=str(value))
        suite.insert(0, properties)
        root.append(suite)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, 0)) for suite in root)))
    ElementTree.indent(root, " ")
    return Exported({"junit.xml": ElementTree.tostring(root, encoding="utf-8",
                                                       xml_declaration=True) + b"\n"})  # fmt: skip


# ---- GitHub --------------------------------------------------------------------------------------

ACCOUNT = re.compile(r"[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}")
LONGEST_COMMENT = 65_536


def github(sheet: Sheet, repositories: str, written: Callable[[Row, Sheet], str]) -> Exported:
    """A comment for each student's repository, and comments.csv, which says where each belongs:

        repository,file
        cs101/tensor-basics-ann,ann.md

    With GitHub Classroom's feedback pull requests that is `gh pr comment 1 --repo REPOSITORY
    --body-file FILE` for each line. repositories: what they are called, with {github} for the
    student's account, such as "cs101/tensor-basics-{github}". written: a student's page in
    Markdown (feedback.markdown).
    """
    if "{github}" not in repositories or repositories.count("/") != 1:
        raise CannotGrade(
            f"{repositories!r} doesn't say which repository is whose; it should look like "
            "--repositories cs101/tensor-basics-{github}"
        )
    files: dict[str, bytes] = {}
    lines, left_out = [["repository", "file"]], []
    count = Counter(row.student.github.lower() for row in sheet.rows)
    for row in sheet.rows:
        account = row.student.github
        if not ACCOUNT.fullmatch(account) or count[account.lower()] > 1:
            left_out.append(row.student.key)
            continue
        name = f"{file_name(account)}.md"
        files[name] = shortened(written(row, sheet), LONGEST_COMMENT).encode()
        lines.append([repositories.replace("{github}", account), name])
    files["comments.csv"] = _csv(lines)
    notes = named({"Left out, because they have no GitHub account of their own in the roster":
                   left_out})  # fmt: skip
    return Exported(files, tuple(notes))
