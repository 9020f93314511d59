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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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


def _filled(
    sheet: Sheet,
    table: Table,
    column: int,
    maximum: Decimal,
    people: Mapping[int, Student],
    what: str,
    overwrite: bool,
    zeros: bool,
    closed: Mapping[int, str],
    cut: bool = False,
    comma: bool = False,
    comments: int = -1,
) -> list[str]:
    """Puts marks into a column of theirs; what is to be said about it.

    maximum: what it is worth. people: who each row is. closed: rows that are left alone, and why.
    cut: whether they take no more than the maximum. comma: before decimals. comments: the column
    for what students read, if there is one.
    """
    match = matched((row.student for row in sheet.rows), people)
    if not match.found:
        raise CannotGrade(f"nobody in {what} is in your class: "
                          f"{', '.join(match.nobodys[:3]) or 'it has no students'}")  # fmt: skip
    kept: list[str] = []
    left: list[str] = []
    above: list[str] = []
    for row in sheet.rows:
        key = row.student.key
        at = match.found.get(key)
        if at is None or not has_mark(row, zeros):
            continue
        if at in closed:
            left.append(f"{key} ({closed[at]})")
            continue
        mark = scaled(row.final, row.of, maximum)
        if cut and mark > maximum:
            above.append(key)
            mark = maximum
        there = table.at(at, column)
        if number(there) != mark:
            if there in ("", "-") or overwrite:
                table.put(at, column, in_digits(mark, comma))
            else:
                kept.append(f"{key} has {cleaned(there, 20)} there, and {in_digits(mark)} here")
        if comments >= 0 and (overwrite or not table.at(at, comments)):
            table.put(at, comments, cell(_comment(row)))
    lists = {
        "Not overwritten, because a different mark is there already": kept,
        f"Left alone in {what}": left,
        _NO_MORE.format(in_digits(maximum)): above,
    } | _without_mark(sheet, zeros)
    notes = [*match.notes(what), *named(lists)]
    if maximum == sheet.of:
        return notes
    some = sheet.of - sheet.of // 4
    return [f"The marks are scaled from {sheet.of} points to {in_digits(maximum)}: {some} are "
            f"{in_digits(scaled(some, sheet.of, maximum))}.", *notes]  # fmt: skip


_NO_MORE = "More than {} isn't taken, so this is what they get"


def _people(
    table: Table, rows: Iterable[int], name: Sequence[str], **others: str
) -> dict[int, Student]:
    """Who each of these rows is. name: the titles of the columns that have it, and of the others,
    by what they say of a student."""
    return {
        n: Student("", " ".join(table.of(n, title) for title in name),
                   **{kind: table.of(n, title) for kind, title in others.items()})
        for n in rows
    }  # fmt: skip


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
    name = ["Student"] if table.column("LastName") < 0 else ["FirstName", "LastName"]
    if min(map(table.column, [name[0], "ID", "Section"])) < 0:
        raise CannotGrade(
            "this is not a gradebook of Canvas: its first line has to have the columns Student, ID "
            "and Section (in Canvas: Grades, Export)"
        )
    points = next((n for n, row in enumerate(table.rows) if "Points Possible" in row[0]), None)
    if points is None:
        raise CannotGrade("the gradebook has no line with Points Possible; export it once more")
    at = _assignment(table, points, [column] if column else [sheet.title, sheet.project])
    maximum = number(table.at(points, at))
    if not maximum or maximum < 0:
        raise CannotGrade(f"{table.at(0, at)} is worth no points in Canvas; give it some there "
                          "first")  # fmt: skip
    rows = (n for n in range(points + 1, len(table.rows))
            if not all(map(NO_STUDENT.fullmatch, table.rows[n])))  # fmt: skip
    people = _people(table, rows, name, number="SIS User ID", login="SIS Login ID")
    if "test student" not in {row.student.name.casefold() for row in sheet.rows}:
        people = {n: p for n, p in people.items() if p.name != "Student, Test"}
    closed = {n: "the assignment isn't for them" for n in people if table.at(n, at) == "N/A"}
    notes = _filled(sheet, table, at, maximum, people, "the gradebook", overwrite, zeros, closed,
                    comma="," in table.at(points, at))  # fmt: skip
    return Exported({"canvas.csv": table.data()}, tuple(notes))


def _assignment(table: Table, points: int, wanted: list[str]) -> int:
    """The column of an assignment. CannotGrade, with those that there are, if none or several are
    meant, or nobody but Canvas may fill it."""
    there = {n: found for n, title in enumerate(table.rows[0])
             if (found := ASSIGNMENT.fullmatch(title.strip()))}  # fmt: skip
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
        raise CannotGrade(f"{there[meant[0]][0]} is a column that only Canvas may fill")
    return meant[0]


def canvas_new(sheet: Sheet, column: str = "", zeros: bool = False) -> Exported:
    """A gradebook to be imported to Canvas: it finds students by SIS User ID, then by login, then
    by their whole name. column: the assignment's head; Canvas makes a new one if it has none of
    this name.

    Who has no mark has no line: an empty cell would take away what is there.
    """
    names = Counter(row.student.name.casefold() for row in sheet.rows)
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column or sheet.title]
    left_out, by_name = [], []
    lines = [head, ["    Points Possible", "", "", "", "", str(sheet.of)]]
    for row in sheet.rows:
        who = row.student
        if not has_mark(row, zeros):
            continue
        if not (who.number or who.login):
            if names[who.name.casefold()] > 1:
                left_out.append(who.key)
                continue
            by_name.append(who.key)
        said = [who.name or who.key, "", who.number, who.login, who.section]
        lines.append([*map(cell, said), str(row.final)])
    lists = {
        "Left out, because another student has the same name and nothing tells them apart":
        left_out,
        "Canvas will look for these by name, as there is neither number nor login": by_name,
    } | _without_mark(sheet, zeros)  # fmt: skip
    return Exported({"canvas.csv": _csv(lines)}, tuple(named(lists)))


def _csv(rows: list[list[str]]) -> bytes:
    return csv_of(rows, "\r\n", all_quoted=False).encode()


# ---- Moodle --------------------------------------------------------------------------------------


def moodle_filled(
    sheet: Sheet, data: bytes, overwrite: bool = False, zeros: bool = False
) -> Exported:
    """The grading worksheet of a Moodle assignment, with marks and, where it has a column for them,
    feedback comments.

    Moodle finds students by the Identifier, and takes no mark that is higher than the maximum or
    older than what it has, so that column of dates is left alone.
    """
    table = Table(data)
    needed = ["Identifier", "Grade", "Maximum Grade", "Last modified (grade)"]
    if min(map(table.column, needed)) < 0:
        raise CannotGrade(
            "this is not a grading worksheet of Moodle in English: its first line has to have the "
            "columns Identifier, Grade, Maximum Grade and Last modified (grade). Switch Moodle to "
            "English while you download it and upload it again"
        )
    rows = [n for n, row in enumerate(table.rows) if n and any(row)]
    name = "Full name" if table.column("Full name") >= 0 else "Identifier"
    people = _people(table, rows, [name], number="ID number", login="Username",
                     email="Email address")  # fmt: skip
    worth = {table.of(n, "Maximum Grade") for n in rows}
    maximum = number(min(worth)) if len(worth) == 1 else None
    if not maximum:
        raise CannotGrade("the worksheet's Maximum Grade is not one number, as a scale's isn't")
    closed = {n: "it is locked" for n in rows if table.of(n, "Grade can be changed") == "No"}
    notes = _filled(sheet, table, table.column("Grade"), maximum, people, "the worksheet",
                    overwrite, zeros, closed, cut=True, comma="," in min(worth),
                    comments=table.column("Feedback comments"))  # fmt: skip
    return Exported({"moodle.csv": table.data()}, tuple(notes))


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


def moodle_new(sheet: Sheet, zeros: bool = False) -> Exported:
    """A list of grades for Moodle's gradebook (Grades, Import, CSV file).

    There, one column says who is meant, and a single unknown student stops the whole import. So it
    is the identifier that most of them have, and who hasn't got it is left out by name. Feedback is
    not in it: imported alone, it would take grades away.
    """
    rows = [row for row in sheet.rows if has_mark(row, zeros)]
    have = {kind: Counter(getattr(row.student, kind) for row in rows) for kind in MOODLES_NAMES}
    kind = max(have, key=lambda kind: len(rows) - have[kind][""])
    count, by = have[kind], MOODLES_NAMES[kind]
    if count[""] == len(rows):
        raise CannotGrade(
            "Moodle's gradebook needs a roster with addresses, numbers or logins; without, fill in "
            "the grading worksheet that it offers for download"
        )
    left_out, above, lines = [], [], [[by, "Full name", sheet.title]]
    for row in rows:
        who = getattr(row.student, kind)
        if row.final > sheet.of:
            above.append(row.student.key)
        if not who or count[who] > 1:
            left_out.append(row.student.key)
        else:
            lines.append([cell(who), cell(row.student.name), str(min(row.final, sheet.of))])
    lists = {
        f"Left out, because they have no {by.lower()} of their own": left_out,
        _NO_MORE.format(sheet.of): above,
    } | _without_mark(sheet, zeros)
    notes = f"In Moodle, choose {by} under “Map from” as well as under “Map to”.", *named(lists)
    return Exported({"moodle.csv": _csv(lines)}, notes)


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
