"""The result of grading, and the forms in which it is read: people, Gradescope, GitHub, JUnit, CSV.

Whatever came from a submission is text of its author: it is cut, and loses what a terminal or a
spreadsheet would obey.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any


def cleaned(text: Any, most: int = 300, keep: str = "") -> str:
    """Printable characters only (and those of `keep`), and not too many of them."""
    shown = "".join(c if c.isprintable() or c in keep else "?" for c in str(text)[: most + 1])
    return shown if len(shown) <= most else f"{shown[:most]}..."


@dataclass(frozen=True)
class Row:
    """What became of one check. `found` is empty where it passed."""

    task: str
    shows: str
    points: int
    of: int
    found: str
    hint: str
    line: int | None = None
    text: str = ""
    hidden: bool = False

    @property
    def passed(self) -> bool:
        return not self.found

    @property
    def where(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else ""


@dataclass
class Report:
    """`elsewhere`: points of checks that only the instructor has."""

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
        """The points that can be had here."""
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
            text += f"; {self.elsewhere} more are decided by your instructor's own checks"
        return text

    def without(self) -> list[str]:
        return [name for name, active in self.protections if not active]


# ---- for people ----------------------------------------------------------------------------------


def table(report: Report) -> str:
    """For a terminal, with rich."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = Table(box=box.SIMPLE_HEAD, title=report.title, title_justify="left", pad_edge=False)
    rows.add_column("task", no_wrap=True)
    rows.add_column("points", justify="right", no_wrap=True)
    rows.add_column("what was found", overflow="fold")
    for task, checks in report.tasks().items():
        points = f"{sum(row.points for row in checks)}/{sum(row.of for row in checks)}"
        same = len({row.found for row in checks}) == 1  # all right, all open, or none asked
        lines: list[tuple[str, str]] = []
        for row in checks[:1] if same else checks:
            found = "right" if row.passed else row.found
            lines.append((found if same else f"{row.shows}: {found}", _COLORS[row.passed]))
            lines += [(text, "cyan") for text in [row.where] if text]
            lines += [(f"hint: {row.hint}", "dim")] if not row.passed else []
        rows.add_row(task, points, Text("\n").join(Text(*line) for line in lines))
    terminal = Console(file=io.StringIO(), highlight=False, width=_width(), force_terminal=_color())
    terminal.print(rows)
    for note in report.notes:
        terminal.print(Text(note, style="bold"))
    if report.printed:
        count = len(report.printed.splitlines())
        terminal.print(f"It printed {count} lines while it was graded; they count for nothing.")
    for active, words in ((True, "Protections active"), (False, "Not active here")):
        if names := [name for name, is_active in report.protections if is_active is active]:
            terminal.print(Text(f"{words}: {'; '.join(names)}.", style="dim"))
    terminal.print(Text(report.result(), style="bold"))
    assert isinstance(terminal.file, io.StringIO)
    return "\n".join(line.rstrip() for line in terminal.file.getvalue().splitlines())


_COLORS = {True: "green", False: "red"}


def _color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _width() -> int:
    return max(60, min(110, shutil.get_terminal_size((100, 24)).columns))


# ---- for programs --------------------------------------------------------------------------------


def as_json(report: Report) -> str:
    found = asdict(report)
    found["protections"] = dict(report.protections)
    found |= {"score": report.score, "of": report.of, "full": report.is_full}
    return json.dumps(found, indent=1)


def gradescope(report: Report) -> str:
    """results.json of a Gradescope autograder."""
    tests = [
        {
            "name": f"{row.task}: {row.shows}",
            "score": row.points,
            "max_score": row.of,
            "status": "passed" if row.passed else "failed",
            "output": _advice(row),
        }
        for row in report.rows
    ]
    output = "\n".join([*report.notes, report.result()])
    return json.dumps({"score": report.score, "output": output, "tests": tests}, indent=1)


def github(report: Report) -> str:
    """Annotations for a workflow's log. Where GITHUB_OUTPUT and GITHUB_STEP_SUMMARY are set, also
    what GitHub Classroom's autograding-grading-reporter reads (`result`), and a summary."""
    lines = []
    for row in report.rows:
        if not row.passed:
            place = f"file={_escaped(report.file)},line={row.line or 1}"
            title = _escaped(f"{row.task} {row.points}/{row.of}")
            lines.append(f"::error {place},title={title}::{_escaped(_advice(row), False)}")
    lines.append(f"::notice title=score::{report.result()}")
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
    _append("GITHUB_STEP_SUMMARY", f"{report.title}: {report.result()}\n")
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
    failures = sum(not row.passed for row in report.rows)
    suite = ElementTree.Element(
        "testsuite", name=report.title, tests=str(len(report.rows)), failures=str(failures)
    )
    for row in report.rows:
        case = ElementTree.SubElement(suite, "testcase", classname=row.task, name=row.shows)
        if not row.passed:
            ElementTree.SubElement(case, "failure", message=row.found).text = _advice(row)
    ElementTree.SubElement(suite, "system-out").text = "\n".join([*report.notes, report.result()])
    return ElementTree.tostring(suite, encoding="unicode")


def as_csv(report: Report) -> str:
    """A row for each check, and one for the total; no cell is a formula."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(["file", "task", "check", "points", "of", "found"])
    for row in report.rows:
        write([_cell(c) for c in (report.file, row.task, row.shows)]
              + [row.points, row.of, _cell(row.found)])  # fmt: skip
    write([_cell(report.file), "total", "", report.score, report.of, _cell(" ".join(report.notes))])
    return out.getvalue().rstrip("\n")


def _cell(text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def _advice(row: Row) -> str:
    if row.passed:
        return ""
    return "\n".join(filter(None, [row.found, row.where, f"hint: {row.hint}"]))


FORMATS: dict[str, Callable[[Report], str]] = {
    "table": table,
    "json": as_json,
    "gradescope": gradescope,
    "github": github,
    "junit": junit,
    "csv": as_csv,
}
