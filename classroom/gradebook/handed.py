"""What a student handed in for a project, wherever it came from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from classroom.grader.handed_in import Files

WRONG_FILE, OTHER_PROJECT = "wrong file", "other project"  # what was handed in, and isn't this


@dataclass(frozen=True)
class HandedIn:
    """One student's work on one project, before it is graded.

    student: the name in the roster; without one, what the folder or file is called. files: empty
    where there is nothing to grade, and then `problem` says why, or `instead` what it is (one of
    the two above), unless it is missing. file: where it was found, from the folder of the class.
    when: a date and time in ISO 8601 with its offset from UTC, where it is known. notes: what the
    instructor should know about it.
    """

    student: str
    files: Files = field(default_factory=dict)
    file: str = ""
    problem: str = ""
    when: str = ""
    notes: tuple[str, ...] = ()
    instead: str = ""

    @property
    def digest(self) -> str:
        """Of the names and bytes of all files; empty where there are none."""
        whole = hashlib.sha256()
        for name, data in self.files.items():
            for part in (name.encode(), data):
                whole.update(len(part).to_bytes(8, "big") + part)
        return whole.hexdigest()[:16] if self.files else ""
