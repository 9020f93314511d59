"""What a class's records are called, when what its roster says of a student has changed.

    follow(Path("grades"), roster)

A record has the student's name. If a name is mended, or somebody with the same name joins the
class, the student is called otherwise from then on. people.json in the folder of the grades has by
what else each was known the last time: whoever still has one of these takes all records along.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from classroom.gradebook.mail import Sent
from classroom.gradebook.names import Student, folded
from classroom.gradebook.records import RECORDS, Records, remembered
from classroom.gradebook.roster import Roster
from classroom.written import written

PEOPLE = "people.json"
LASTS = ("login", "number", "github", "email")  # not Moodle's id, which is of one assignment
Known = dict[str, dict[str, str]]  # of each key: what stands in each of these columns


def follow(grades: Path, roster: Roster) -> None:
    """Renames the records of those whom the roster calls otherwise than the last time, and notes
    what it calls them now. A record that is there already is never written over."""
    before: Known = remembered(grades / PEOPLE, _has_labels,
                               "doesn't say who is in the class; delete it")  # fmt: skip
    now = {student.key: _labels(student) for student in roster.students}
    renamed = dict(_renamed(before, now))
    for old, new in renamed.items():
        _rename(grades, old, new)
    # whoever has left may come back
    gone = {key: labels for key, labels in before.items() if key not in {*now, *renamed}}
    if (known := gone | now) != before:
        written(grades / PEOPLE, json.dumps(known, indent=1, ensure_ascii=False))


def _labels(student: Student) -> dict[str, str]:
    found = {each: folded(getattr(student, each)) for each in LASTS}
    return {each: label for each, label in found.items() if label}


def _renamed(before: Known, now: Known) -> Iterator[tuple[str, str]]:
    """Who isn't in the roster any more, and the one new student who can be nobody else."""
    new = {key: labels.items() for key, labels in now.items() if key not in before}
    for old, labels in before.items():
        same = [key for key, theirs in new.items() if labels.items() & theirs]
        if old not in now and len(same) == 1:
            yield old, same[0]


def _rename(grades: Path, old: str, new: str) -> None:
    for folder in sorted((grades / RECORDS).glob("*/")):
        records = Records(grades, folder.name)
        path, there = records.path(old), records.get(new)
        if not path.is_file():
            continue
        record = records.get(old)
        record.student = new
        if there.report is not None and there != record:  # the same where this was interrupted
            continue
        records.keep(record)
        Sent(grades / "mail" / folder.name / "sent.csv").rename(old, new)
        if (request := path.with_suffix(".txt")).is_file():
            request.rename(records.path(new).with_suffix(".txt"))
        path.unlink()  # last: as long as it is there, this goes on the next time


def _has_labels(found: Any) -> bool:
    return isinstance(found, dict) and all(isinstance(label, str) for label in found.values())
