"""What is kept of a class: one JSON file for each student and project, written by rename. Tables,
pages and statistics are made from these files, and never the other way round.

    records = Records(Path("grades"), "01_tensor_basics")
    record = records.get("ann")             # an empty one, if nothing is known yet
    records.keep(record)

A record has the last grading as a report, what an instructor changed by hand, and a line on each
grading and change that there ever was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from classroom.gradebook.handed import OTHER_PROJECT, WRONG_FILE, HandedIn
from classroom.gradebook.job import Done
from classroom.gradebook.names import file_name
from classroom.grader.handed_in import CannotGrade
from classroom.grader.report import Report, Row
from classroom.written import written

# graded, out of time, refused and crashed come from a report (report.py), wrong file and other
# project from what was handed in, beside these:
MISSING = "missing"  # nothing was handed in
FAILED = "failed"  # the grader could not do its work; it is tried again the next time
RECORDS = "records"  # their folder, in that of the grades


def now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


@dataclass(frozen=True)
class Change:
    """What an instructor decided. task: the one whose points are replaced, or the name of points
    that are added to the project's; points: None takes an earlier change of this task back."""

    task: str
    points: int | None
    by: str
    why: str
    at: str = field(default_factory=now)


@dataclass(frozen=True)
class Comment:
    """What an instructor has to say. about: a task, or a line, as "Line 12"; "" is all of it. own:
    what stands in that line."""

    about: str
    text: str
    by: str
    own: str = ""
    at: str = field(default_factory=now)


@dataclass(frozen=True)
class Grading:
    """A line on one grading, for whoever asks later how the points came about.

    version: of the grader and the tasks; commit: of the grader's repository, with a + where files
    were changed; seed: "" where it was made of the file. tasks: those that were asked, all if none
    is named.
    """

    at: str
    status: str
    points: int
    digest: str
    version: str
    commit: str = ""
    seed: str = ""
    seconds: float = 0.0
    protections: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    note: str = ""


@dataclass
class Record:
    """One student's work on one project: what it is worth, and how that came about."""

    student: str
    project: str
    status: str = MISSING
    note: str = ""
    file: str = ""
    when: str = ""
    digest: str = ""
    version: str = ""
    report: Report | None = None
    gradings: list[Grading] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)

    def is_known(self, handed: HandedIn, version: str) -> bool:
        """Whether grading this again would give the same."""
        same = self.report is not None and (self.digest, self.version) == (handed.digest, version)
        return same and self.status != FAILED

    @property
    def is_graded(self) -> bool:
        """Whether there are points to speak of, be they 0: by a grading, or by hand."""
        return self.report is not None or bool(self.decided())

    @property
    def is_begun(self) -> bool:
        """Whether something in it was written; a file as it was handed out spends no late days."""
        return self.report is not None and not all(row.is_open for row in self.report.rows)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of this project was handed in, and nothing decided, ever."""
        was_decided = self.report or self.gradings or self.changes or self.comments
        return self.status in (MISSING, WRONG_FILE, OTHER_PROJECT) and not was_decided

    def is_answered(self, asked: float) -> bool:
        """Whether somebody said or changed something since then, in seconds since 1970."""
        said = [*(each.at for each in self.changes), *(each.at for each in self.comments)]
        return any(datetime.fromisoformat(at).timestamp() >= int(asked) for at in said)

    def points(self) -> dict[str, int]:
        """What each task is worth, with what the instructor decided, and points beside the tasks'.
        Empty where there is nothing."""
        tasks = self.report.tasks() if self.report else {}
        found = {task: sum(row.points for row in rows) for task, rows in tasks.items()}
        return found | self.decided()

    def decided(self) -> dict[str, int]:
        """The points that the instructor's last word on each task gives."""
        last = {change.task: change.points for change in self.changes}
        return {task: points for task, points in last.items() if points is not None}

    @property
    def total(self) -> int:
        return sum(self.points().values())

    def put_missing(self, handed: HandedIn) -> None:
        """Nothing to grade: points that there were stay, and the note says so."""
        why = handed.problem or " ".join(handed.notes) or "nothing was handed in"
        status = handed.instead or ("refused" if handed.problem else MISSING)
        if self.report is not None and status != "refused":
            self.note = f"from an earlier run; now: {why}"
            return
        self.status, self.note, self.report = status, why, None
        self.file, self.when, self.digest, self.version = handed.file, handed.when, "", ""

    def put(self, handed: HandedIn, done: Done, grading: Grading) -> None:
        """The result of a grading. If it was the grader that failed, points that there were for the
        same files stay."""
        self.gradings.append(grading)
        if done.report is None:
            if self.report is not None and self.digest == handed.digest:
                self.note = f"from an earlier run; now: {done.failed}"
                return
            self.status, self.note, self.report = FAILED, done.failed, None
        else:
            report = done.report
            if grading.tasks and self.report is not None:
                report = _with_tasks(self.report, report, grading.tasks)
            self.status, self.report = report.status, report
            self.note = " ".join([*report.notes, *handed.notes])
        self.file, self.when = handed.file, handed.when
        self.digest, self.version = handed.digest, grading.version


def _with_tasks(before: Report, now: Report, tasks: tuple[str, ...]) -> Report:
    """The report of before with these tasks as they were found now."""
    found = now.tasks()
    kept = before.tasks()
    order = [*kept, *(task for task in found if task not in kept)]
    rows = [row for task in order for row in (found if task in tasks else kept)[task]]
    return replace(before, rows=rows)


# ---- as files ------------------------------------------------------------------------------------


class Records:
    """The records of one project; `folder` is that of all grades."""

    def __init__(self, folder: Path, project: str) -> None:
        self.folder, self.project = folder / RECORDS / project, project

    def path(self, student: str) -> Path:
        return self.folder / f"{file_name(student)}.json"

    def get(self, student: str) -> Record:
        path = self.path(student)
        return read(path) if path.is_file() else Record(student, self.project)

    def all(self) -> Iterator[Record]:
        """In the order of names."""
        yield from sorted(map(read, self.folder.glob("*.json")), key=lambda record: record.student)

    def requests(self) -> dict[str, tuple[str, float]]:
        """What students wrote who want somebody to look again, and when: files NAME.txt beside the
        records, by that name."""
        return {path.stem: (path.read_text(errors="replace"), path.stat().st_mtime)
                for path in sorted(self.folder.glob("*.txt"))}  # fmt: skip

    def keep(self, record: Record) -> None:
        text = json.dumps(asdict(record), indent=1, ensure_ascii=False)
        written(self.path(record.student), text + "\n")


def remembered(path: Path, is_right: Callable[[Any], bool], otherwise: str) -> dict[str, Any]:
    """What a file of our own has by name; nothing where there is none. CannotGrade, which says what
    otherwise is to be done, where it isn't ours, or a value isn't right."""
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if not (isinstance(found, dict) and all(map(is_right, found.values()))):
        raise CannotGrade(f"{path} {otherwise}")
    return found


def read(path: Path) -> Record:
    """CannotGrade where this is no record."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        report = found.pop("report")
        return Record(
            report=_report(report) if report else None,
            gradings=[Grading(**_tuples(each)) for each in found.pop("gradings")],
            changes=[Change(**each) for each in found.pop("changes")],
            comments=[Comment(**each) for each in found.pop("comments")],
            **found,
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise CannotGrade(f"{path} is not a record of a grading ({error})") from None


def _report(found: dict[str, Any]) -> Report:
    rows = [Row(**row) for row in found.pop("rows")]
    protections = [(name, active) for name, active in found.pop("protections")]
    return Report(**found, rows=rows, protections=protections)


def _tuples(found: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in found.items()}
