"""A change to review: a small library before it and after it, with eight faults in what was added.

reviewed.txt has the library; reviewed.json has the faults, and the lines that may look like faults,
each with the reason why it isn't. The after is really run by the tests, which show that each fault
is one: see tests/classroom/test_contributing.py.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from classroom.contributing.patches import texts_in


@dataclass(frozen=True)
class Fault:
    """kind: in a word or two. why: what is wrong. lines: each begins with one of these texts."""

    kind: str
    why: str
    lines: tuple[str, ...]


_told = json.loads(Path(__file__).with_name("reviewed.json").read_text(encoding="utf-8"))
TITLE: str = _told["title"]
AUTHOR_SAYS: str = _told["author says"]
FAULTS = tuple(Fault(each["kind"], each["why"], tuple(each["lines"])) for each in _told["faults"])
INNOCENT: dict[str, str] = _told["innocent"]  # each line's beginning: why it's no fault
BEFORE, AFTER = (
    {
        name.removeprefix(when): text
        for name, text in texts_in("reviewed.txt").items()
        if name.startswith(when)
    }
    for when in ("before ", "after ")
)
