"""A toy project with answers to it, and grading that is quick: in this process, without a sandbox,
for submissions that tests wrote; or once for tests of what is done with the report.
"""

import json
import re
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from classroom.grader.handed_in import read_submission
from classroom.grader.judge import _seed, grade, judge_check, load_project, place_of
from classroom.grader.recorded import known
from classroom.grader.report import cleaned
from classroom.grader.sandbox import Limits, Protection, tried
from classroom.grader.tasks import Ask
from classroom.mini import loader
from classroom.mini.stages import STAGES
from classroom.toys.grading import Here
from tinyframe import Device

TOY = Path(__file__).with_name("toy.py")
RIGHT = "def double(x): return x + x\ndef lazily(x): return x * 2\n"
HALF = "def double(x):\n    return x + x\n\n\ndef lazily(x):\n    return [][x]\n"
WRONG = "def double(x): return x\ndef lazily(x): return x\n"
SLOW = Limits(load_seconds=60, answer_seconds=60, total_seconds=240)  # of a busy machine


loader.install({stage.module: stage.reference for stage in STAGES})  # as it is in the sandbox


def rows(project, text, seed="0", tasks=None):
    """What becomes of each check of the project, or of these tasks of it."""
    with devices_as_they_were():
        here, lines = Here(text), text.split("\n")
        return [
            judge_check(check, Ask(here, _seed(seed, number) % (project.cases or 1 << 64)), lines)
            for number, check in enumerate(project.checks, 1)
            if tasks is None or check.task in tasks
        ]


@contextmanager
def devices_as_they_were():
    """Devices that a submission registers inside are gone afterwards."""
    there, default = set(Device._devices), Device._assigned
    try:
        yield
    finally:
        Device._assigned = default
        for known in (Device._devices, Device._opened):
            for name in [name for name in known if name.split(":")[0] not in there]:
                del known[name]


def parts_of(path):
    """(name, the rest) of a text in parts, each of which begins with a line === and its name."""
    parts = re.split(r"^=== (.*)\n", path.read_text(), flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def recorded(tasks, cases):
    """As record.answers, in this process, and for tasks anywhere."""
    project = load_project(tasks)
    text = (tasks.parents[1] / place_of(project, tasks)).read_text()
    known.clear()
    with devices_as_they_were():
        here = Here(text)
        judged = [judge_check(check, Ask(here, case), text.split("\n"))
                  for check in project.checks if not check.hidden for case in cases]  # fmt: skip
    assert all(row.passed for row in judged), [row.found for row in judged if row.found]
    return json.loads(json.dumps(known))


_reports = {}


def grade_once(path, tasks, protection, limits=None, seed=None, *rest):
    """As grade(); a text that was graded before gets the same report, with this file's name."""
    key = read_submission(path), tasks, limits, seed
    if key not in _reports:
        _reports[key] = grade(path, tasks, protection, limits, seed)
    return replace(_reports[key], file=cleaned(path))


def without(protection: Protection, *names: str) -> Protection:
    """The same protection with less, tried anew."""
    less: dict[str, Any] = {"user": None, "wrapper": "", "landlock": 0, "seccomp": False}
    left = tried(replace(protection, **{name: less[name] for name in names}))
    assert left is not None
    return left
