"""Toy submissions before graders: the gullible ones, the real one, and the real one's checks
without its sandbox, for what nobody wrote to cheat.

A submission is a text. A text that was graded before isn't graded again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from classroom.grader.answerer import answer, what_was_raised
from classroom.grader.channel import Message, decode
from classroom.grader.judge import grade, judge_check, lines_of, load_project, raised_body
from classroom.grader.referee import answer as refereed
from classroom.grader.report import Report, rendered
from classroom.grader.sandbox import ROOT, Limits, Protection, best_protection
from classroom.grader.tasks import Ask, Ended, Open, Raised, Wrong, finding

HERE = Path(__file__).parent
LARGER, READINGS = HERE / "larger.py", HERE / "readings.py"
SECONDS = 60.0  # for a gullible grader
COLUMNS = "100"  # of a report in a notebook


def as_file(text: str) -> str:
    """A text between triple quotes as a file would have it: from the left margin."""
    return textwrap.dedent(text).strip() + "\n"


@cache
def gullible(name: str, text: str) -> tuple[int | None, str]:
    """The points that one of graders.py gives, None where it gives none; and the last line of what
    went wrong, if anything did. In a process of its own, which a submission may spoil as it
    likes."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "submission.py").write_text(as_file(text))
        environment = os.environ | {"PYTHONPATH": str(ROOT), "DEVICE": "CPU", "NOOPT": "1"}
        try:
            done = subprocess.run(
                [sys.executable, "-m", "classroom.toys.graders", name], cwd=folder,
                env=environment, capture_output=True, text=True, timeout=SECONDS,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None, f"it was stopped after {SECONDS:.0f} seconds"
        try:
            points = int((Path(folder) / "points.txt").read_text())
        except (OSError, ValueError):
            points = None
        last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
        return points, "".join(last).strip()


@cache
def _protection() -> Protection:
    return best_protection()


@cache
def really(text: str) -> Report:
    """The real grader's report on `larger`: its sandbox, its processes, its fresh questions."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / LARGER.name
        path.write_text(as_file(text))
        return grade(path, LARGER, _protection(), Limits().longer(3))


def report(found: str | Report) -> None:
    """Print a report as a student gets to see it; of a text, the real grader's on `larger`."""
    found = really(found) if isinstance(found, str) else found
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = COLUMNS
    try:
        print(rendered(found, "table", "student"))
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


class Here:
    """What Ask sends its questions to: a submission in this process. Answers go through JSON, as
    they would on a pipe."""

    def __init__(self, text: str, name: str = "submission.py") -> None:
        self.name, self.kept = name, dict[int, Any]()
        self.module = ModuleType("submission")
        self.module.__file__ = name
        exec(compile(text.encode(), name, "exec"), self.module.__dict__)

    def submission(self, kind: str, body: Any, arrays: list[np.ndarray]) -> Message:
        sent: list[np.ndarray] = []
        question = Message("n", kind, json.loads(json.dumps(body)), arrays)
        try:
            kind, body = answer(self.module, question, sent, self.kept)
        except Exception as error:
            raise Raised(raised_body(what_was_raised(error, self.name))) from None
        return Message("n", kind, json.loads(json.dumps(body)), [np.array(a) for a in sent])

    def referee(self, kind: str, body: Any, arrays: list[np.ndarray]) -> Message:
        sent: list[np.ndarray] = []
        kind, answered = refereed(Message("n", kind, body, arrays), sent)
        return Message("n", kind, answered, sent)

    def value(self, message: Message) -> Any:
        return decode(message.body, message.arrays)


def refused(
    check: Callable[[Ask], object], text: str, seed: int = 0, is_honest: bool = False
) -> str:
    """What a check of a learner's says against a file; nothing where it lets it through. A mistake
    in the check itself is raised where the file is honest."""
    ask = Ask(Here(text), seed)
    try:
        with np.errstate(all="ignore"):
            result = check(ask)
    except (Wrong, Raised, Ended, Open, AssertionError) as error:
        return finding(error, ask.last).text if str(error) else "not right"
    except Exception as error:
        if is_honest:
            raise
        return type(error).__name__
    found = [part.text for part in ask.parts().values() if part]
    return found[0] if found else "False" if result is False else ""


def readings(text: str) -> Report:
    """The report on a text that nobody wrote to cheat, without a sandbox. SyntaxError and the like
    where it is no program."""
    project, here = load_project(READINGS), Here(text)
    with np.errstate(all="ignore"):
        rows = [
            judge_check(check, Ask(here, number), lines_of(text.encode()))
            for number, check in enumerate(project.checks)
        ]
    return Report(project.title, READINGS.name, 100, 0, [], rows, afterwards=project.afterwards)
