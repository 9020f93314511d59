"""The result of grading, and the forms in which it is read: people, Gradescope, GitHub, JUnit, CSV.

Whatever came from a submission is text of its author: it is cut, and loses what a terminal, a
spreadsheet or a browser would obey, and what cannot be seen.

Of the instructor's own checks, a student is told the points and a hint, and not what was wrong:
that would give away, one submission at a time, what they ask.
"""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import os
import re
import shutil
import sys
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from classroom.grader.tasks import NOT_WRITTEN

if TYPE_CHECKING:
    from rich.console import Console

# Letters and symbols that look like nothing: fillers of Korean writing, and a Braille cell without
# dots. Other blanks (zero-width, bidi, control) are not printable anyway.
BLANK = "\u115f\u1160\u2800\u3164\uffa0"


def cleaned(text: Any, most: int = 300, keep: str = "") -> str:
    """Characters that can be seen (and spaces, and those of `keep`), and not too many of them.

    Line ends and tabs become spaces; a mark that goes on top of a letter stays where the two are
    one character (é), and other combining marks go.
    """
    start = unicodedata.normalize("NFC", str(text)[: 4 * most])
    shown = "".join(c if c in keep else " " if c in "\t\r\n" else _visible(c) for c in start)
    return shown if len(shown) <= most else f"{shown[:most]}..."


def _visible(c: str) -> str:
    is_mark = unicodedata.category(c) in ("Mn", "Me")
    return c if c.isprintable() and not is_mark and c not in BLANK else ""


@dataclass(frozen=True)
class Row:
    """What became of one check. `found`: a line on each thing that is wrong; empty where it passed.

    hidden: it is one of the instructor's own checks. trusts: what the submission's own process told
    about itself, and nobody can check. was_asked: whether it was asked at all. broke_off: the
    submission ended there, or had to be ended.
    """

    task: str
    shows: str
    points: int
    of: int
    found: str
    hint: str
    line: int | None = None
    text: str = ""
    hidden: bool = False
    trusts: str = ""
    was_asked: bool = True
    broke_off: bool = False

    @property
    def passed(self) -> bool:
        return not self.found

    @property
    def is_open(self) -> bool:
        return self.found == NOT_WRITTEN

    @property
    def where(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else ""

    def for_student(self) -> Row:
        """The same row as its student may see it."""
        if not self.hidden or self.passed or self.is_open:
            return self
        found = "partly right" if self.points else "not right yet"
        return replace(self, found=f"{found} (one of your instructor's own checks)", line=None,
                       text="")  # fmt: skip


@dataclass
class Report:
    """What a grading found.

    elsewhere: points of checks that only the instructor has. afterwards: what to say to somebody
    with all points. status: "graded", "refused" (no Python file), "crashed" (it did not load), or
    "out of time" (it was up before all was asked).
    """

    title: str
    file: str
    total: int
    elsewhere: int
    protections: list[tuple[str, bool]]
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    printed: str = ""
    afterwards: str = ""
    status: str = "graded"

    @property
    def score(self) -> int:
        return sum(row.points for row in self.rows)

    @property
    def of(self) -> int:
        """The points of the checks that are here."""
        return self.total - self.elsewhere

    @property
    def is_full(self) -> bool:
        return self.score == self.of > 0

    def tasks(self) -> dict[str, list[Row]]:
        """The rows, task by task."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.task, []).append(row)
        return found

    def result(self) -> str:
        text = f"{self.score} of {self.of} points"
        if self.elsewhere:
            text += f"; {self.elsewhere} more depend on your instructor's own checks"
        return text

    def praise(self) -> str:
        """What to say to somebody with all points, and what comes next; else nothing."""
        done = "Nice work: everything that is checked here is right."
        return " ".join(filter(None, [done, self.afterwards])) if self.is_full else ""

    def summary(self) -> list[str]:
        """What is said about the whole, in every format."""
        return [*self.notes, self.result(), *filter(None, [self.praise()])]

    def for_student(self) -> Report:
        """The same report as its student may see it. What the program printed may tell what it was
        asked."""
        return replace(self, rows=[row.for_student() for row in self.rows], printed="")

    def without(self) -> list[str]:
        return [name for name, active in self.protections if not active]


# ---- for people ----------------------------------------------------------------------------------


def table(report: Report) -> str:
    """For a terminal, with rich."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows = Table(box=box.SIMPLE_HEAD, title=report.title, title_justify="left", pad_edge=False)
    rows.add_column("task", no_wrap=True)
    rows.add_column("points", justify="right", no_wrap=True)
    rows.add_column("result", overflow="fold")
    tasks = report.tasks()
    untouched = [task for task, checks in tasks.items() if all(row.is_open for row in checks)]
    for task, checks in tasks.items():
        if task in untouched:
            continue
        points = f"{sum(row.points for row in checks)}/{sum(row.of for row in checks)}"
        same = len({row.found for row in checks}) == 1  # all right, or none asked
        lines: list[tuple[str, str]] = []
        for row in checks[:1] if same else checks:
            found = "right" if row.passed else row.found
            lines.append((found if same else f"{row.shows}: {found}", _COLORS[row.passed]))
            lines += [(text, "cyan") for text in [row.where] if text]
            lines += [(f"hint: {row.hint}", "dim")] if row.hint and not row.passed else []
        rows.add_row(task, points, Text("\n").join(Text(*line) for line in lines))
    terminal = _terminal()
    if rows.rows:
        terminal.print(rows)
    if untouched and not (report.notes and len(untouched) == len(tasks)):  # which say as much
        said = f"{NOT_WRITTEN.capitalize()}, or nothing returned"
        terminal.print(Text(f"{said}: {', '.join(untouched)}.\n"))
    if report.printed:
        count = len(report.printed.splitlines())
        what = "1 line" if count == 1 else f"{count} lines"
        terminal.print(f"It printed {what} while it was graded; that does not affect the points.")
    for text in report.summary():
        terminal.print(Text(text, style="bold"))
    return _written_on(terminal)


def render_rows(head: list[str], rows: list[list[str]]) -> str:
    """Rows of texts as a table for a terminal. Where there is little room, the first and the last
    column are folded, and no other is cut."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for number, name in enumerate(head):
        grid.add_column(name, no_wrap=0 < number < len(head) - 1, overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    terminal = _terminal()
    terminal.print(grid)
    return _written_on(terminal)


def _terminal() -> Console:
    from rich.console import Console

    width = max(60, min(110, shutil.get_terminal_size((100, 24)).columns))
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return Console(file=io.StringIO(), highlight=False, width=width, force_terminal=color,
                   force_jupyter=False)  # fmt: skip


def _written_on(terminal: Console) -> str:
    assert isinstance(terminal.file, io.StringIO)
    return "\n".join(line.rstrip() for line in terminal.file.getvalue().splitlines())


def _sandbox(report: Report) -> str:
    """Lines for instructors, on the protections and on what is taken on trust; JSON has more."""
    missing = [name.partition(":")[0].partition(" (")[0] for name in report.without()]
    has = f"is without {'; '.join(missing)}" if missing else "has all protections"
    trusted = {f"{row.task} ({row.trusts})": None for row in report.rows if row.trusts}
    told = f"\nTaken on trust: {', '.join(trusted)}." if trusted else ""
    return f"The sandbox {has}.{told}"


_COLORS = {True: "green", False: "red"}


# ---- for programs --------------------------------------------------------------------------------


def as_json(report: Report) -> str:
    found = asdict(report)
    found["protections"] = dict(report.protections)
    found |= {"score": report.score, "of": report.of, "full": report.is_full}
    return json.dumps(found, indent=1)


MOST_OF_A_TEXT = 4000  # characters in results.json


def gradescope(report: Report, score: int | None = None, said: Iterable[str] = ()) -> str:
    """results.json of a Gradescope autograder ("Autograder Specifications", 2022). All of it is
    text: Gradescope renders nothing. Its documents name no most size; a text is cut at 4000
    characters, and says so.

    Students see each test as for_student() has it. What was wrong in the instructor's own checks
    follows in tests that count for nothing and are visible to instructors only. score: the one that
    counts, where it isn't that of the checks, and said: why.
    """
    student = report.for_student()
    tests = [_test(row, "visible", row.points, row.of) for row in student.rows]
    pairs = zip(report.rows, student.rows, strict=True)
    tests += [_test(row, "hidden", 0, 0, "For instructors: ") for row, seen in pairs if row != seen]
    text = "\n".join([*student.summary(), *said])
    return _results(report.score if score is None else score, text, tests)


def _test(row: Row, visibility: str, points: int, of: int, whose: str = "") -> dict[str, Any]:
    return {"name": f"{whose}{row.task}: {row.shows}", "name_format": "text", "score": points,
            "max_score": of, "status": "passed" if row.passed else "failed",
            "output": shortened(_advice(row), MOST_OF_A_TEXT), "output_format": "text",
            "visibility": visibility}  # fmt: skip


def _results(score: int, output: str, tests: list[dict[str, Any]]) -> str:
    as_text = dict.fromkeys(("output_format", "test_output_format", "test_name_format"), "text")
    whole = {"score": score, "output": shortened(output, MOST_OF_A_TEXT), **as_text,
             "stdout_visibility": "hidden", "tests": tests}  # fmt: skip
    return json.dumps(whole, indent=1)


def shortened(text: str, most: int) -> str:
    """The text, of at most so many characters; where something is missing, it says so."""
    end = "\n(The rest was cut.)"
    return text if len(text) <= most else text[: most - len(end)].rstrip() + end


def github(report: Report) -> str:
    """Annotations for a workflow's log. Where GITHUB_OUTPUT and GITHUB_STEP_SUMMARY are set, also
    what GitHub Classroom's autograding-grading-reporter reads (`result`), and a summary."""
    lines = []
    for row in report.rows:
        if not row.passed:
            place = f"file={_escaped(report.file)},line={row.line or 1}"
            title = _escaped(f"{row.task} {row.points}/{row.of}")
            lines.append(f"::error {place},title={title}::{_escaped(_advice(row), False)}")
    lines += [f"::warning title=note::{_escaped(note, False)}" for note in report.notes]
    said = filter(None, [report.result(), report.praise()])
    lines += [f"::notice title=score::{_escaped(text, False)}" for text in said]
    tests = [
        {"name": f"{row.task}: {row.shows}", "status": "pass" if row.passed else "fail",
         "score": row.points, "max_score": row.of, "message": _advice(row),
         "filename": report.file, "line_no": row.line or 0}
        for row in report.rows
    ]  # fmt: skip
    status = "pass" if report.is_full else "fail"
    result = {"version": 1, "status": status, "max_score": report.of, "tests": tests}
    encoded = base64.b64encode(json.dumps(result).encode()).decode()
    _append("GITHUB_OUTPUT", f"result={encoded}\n")
    summary = html.escape("\n".join([report.title, *report.summary()]))
    _append("GITHUB_STEP_SUMMARY", f"<pre>{summary}</pre>\n")
    return "\n".join(lines)


def _append(variable: str, text: str) -> None:
    if path := os.environ.get(variable):
        with open(path, "a") as file:
            file.write(text)


def _escaped(text: str, in_property: bool = True) -> str:
    for plain, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        text = text.replace(plain, code)
    return text.replace(":", "%3A").replace(",", "%2C") if in_property else text


def junit(report: Report) -> str:
    return ElementTree.tostring(junit_suite(report, report.title), encoding="unicode")


def junit_suite(report: Report, name: str) -> ElementTree.Element:
    """The report as a testsuite of JUnit's XML."""
    failures = sum(not row.passed for row in report.rows)
    suite = ElementTree.Element(
        "testsuite", name=name, tests=str(len(report.rows)), failures=str(failures), errors="0"
    )
    for row in report.rows:
        case = ElementTree.SubElement(suite, "testcase", classname=row.task, name=row.shows)
        if not row.passed:
            ElementTree.SubElement(case, "failure", message=row.found).text = _advice(row)
    ElementTree.SubElement(suite, "system-out").text = "\n".join(report.summary())
    return suite


def as_csv(report: Report) -> str:
    """A row for each check, and one for the total; no cell is a formula."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(["file", "task", "check", "points", "of", "found"])
    for row in report.rows:
        write([cell(c) for c in (report.file, row.task, row.shows)]
              + [row.points, row.of, cell(row.found)])  # fmt: skip
    write([cell(report.file), "total", "", report.score, report.of, cell(" ".join(report.notes))])
    return out.getvalue().rstrip("\n")


FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20"  # full-width signs count too
SECOND_FORMULA = re.compile(rf"[;|\t](?=\s*[{re.escape(FORMULA)}])")


def cell(text: str) -> str:
    """Text that a spreadsheet does not take for a formula, nor for two cells with one in the
    second, where it is told that something else than a comma is between them."""
    text = SECOND_FORMULA.sub(",", text)
    return f"'{text}" if text.strip()[:1] and text.strip()[0] in FORMULA else text


def _advice(row: Row) -> str:
    if row.passed:
        return ""
    hint = f"hint: {row.hint}" if row.hint else ""
    return "\n".join(filter(None, [row.found, row.where, hint]))


FORMATS: dict[str, Callable[[Report], str]] = {
    "table": table, "json": as_json, "gradescope": gradescope, "github": github, "junit": junit,
    "csv": as_csv,
}  # fmt: skip
# Who reads a format, unless --for says so. Gradescope's keeps the two apart by itself.
READERS = {name: "student" if name == "github" else "instructor" for name in FORMATS}


def not_graded(why: str, name: str) -> str:
    """What a format says where there is no report at all. Gradescope needs a result for everybody;
    the others leave it to the error message."""
    return _results(0, f"Nothing was graded: {cleaned(why)}", []) if name == "gradescope" else ""


def rendered(report: Report, name: str, reader: str | None = None) -> str:
    """The report in one of FORMATS, as a "student" or the "instructor" may see it. A table for
    somebody who has said that they are the instructor ends with a line on the sandbox."""
    student = (reader or READERS[name]) == "student"
    text = FORMATS[name](report.for_student() if student else report)
    return f"{text}\n{_sandbox(report)}" if (name, reader) == ("table", "instructor") else text
