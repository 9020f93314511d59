"""Toy submissions before graders: the gullible ones, the real one, and the real one's checks
without its sandbox, for what nobody wrote to cheat.

A submission is a text. A text that was graded before isn't graded again.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np

from classroom import grader
from classroom.grader.answerer import answer, what_was_raised
from classroom.grader.channel import Message
from classroom.grader.judge import grade, judge_check, lines_of, load_project, raised_body
from classroom.grader.referee import answer as refereed
from classroom.grader.report import Report, Row, rendered
from classroom.grader.sandbox import ROOT, Limits, Protection, best_protection
from classroom.grader.tasks import Ask, Ended, Open, Raised, Wrong, finding
from classroom.written import place_of, written
from tinyframe.settings import settings

HERE = Path(__file__).parent
LARGER, READINGS = HERE / "larger.py", HERE / "readings.py"
SECONDS = 60.0  # for a gullible grader
COLUMNS = "100"  # of a report in a notebook


def as_file(text: str) -> str:
    """A text between triple quotes as a file would have it: from the left margin."""
    return textwrap.dedent(text).strip() + "\n"


class Graders:
    """The process of graders.py, which forks one for each submission to spoil as it likes."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def grade(self, name: str, folder: str) -> bool:
        """Whether there was an end within SECONDS; if not, all of it is stopped."""
        if self.process is None or self.process.poll() is not None:
            environment = {"PYTHONPATH": str(ROOT), "DEVICE": "CPU", "THREADS": "1", "NOOPT": "1"}
            self.process = subprocess.Popen(
                [sys.executable, "-m", "classroom.toys.graders"], env=os.environ | environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
                start_new_session=True,
            )  # fmt: skip
            atexit.register(self.process.kill)
        assert self.process.stdin and self.process.stdout
        with suppress(BrokenPipeError):
            print(name, folder, file=self.process.stdin, flush=True)
        if not select.select([self.process.stdout], [], [], SECONDS)[0]:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            return False
        if not self.process.stdout.readline():  # a submission has stopped its parent
            self.process.wait()
        return True


_graders = Graders()


def gullible(name: str, text: str) -> tuple[int | None, str]:
    """The points that one of graders.py gives, None where it gives none; and the last line of what
    went wrong, if anything did."""
    return _gullible(name, as_file(text))


@cache
def _gullible(name: str, text: str) -> tuple[int | None, str]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "submission.py").write_text(text)
        if not _graders.grade(name, folder):
            return None, f"it was stopped after {SECONDS:.0f} seconds"
        said = Path(folder) / "said.txt"
        lines = said.read_text(errors="replace").splitlines() if said.is_file() else []
        last = [line.strip() for line in lines if line.strip()][-1:]
        try:
            points = int((Path(folder) / "points.txt").read_text())
        except (OSError, ValueError):
            points = None
        return points, "".join(last)


@cache
def _protection() -> Protection:
    return best_protection()


def really(text: str) -> Report:
    """The real grader's report on `larger`: its sandbox, its processes, its fresh questions. It is
    remembered by the text of everything that takes part."""
    return _really(as_file(text))


@cache
def _really(text: str) -> Report:
    place = place_of("toys", text, [*sorted(Path(grader.__file__).parent.glob("*.py")), LARGER])
    if settings.CACHE:
        with suppress(OSError, ValueError, TypeError, LookupError):
            found = json.loads(place.read_text())
            return Report(**{**found, "rows": [Row(**row) for row in found["rows"]]})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / LARGER.name
        path.write_text(text)
        report = replace(grade(path, LARGER, _protection(), Limits().longer(3)), file=LARGER.name)
    if settings.CACHE and report.status != "out of time":
        with suppress(OSError):
            written(place, json.dumps(asdict(report)))
    return report


def report(found: str | Report) -> None:
    """Print a report as a student gets to see it; of a text, the real grader's on `larger`."""
    found = really(found) if isinstance(found, str) else found
    with mock.patch.dict(os.environ, COLUMNS=COLUMNS):
        print(rendered(found, "table", "student"))


class Here:
    """What Ask sends its questions to: a submission in this process. Answers go through JSON, as
    they would on a pipe."""

    def __init__(self, text: str, name: str = "submission.py") -> None:
        self.name, self.kept = name, dict[int, Any]()
        self.module = ModuleType("submission")
        self.module.__file__ = name
        code = compile(text.encode(), name, "exec", dont_inherit=True)
        exec(code, self.module.__dict__)

    def answer(self, who: str, kind: str, body: Any, arrays: list[np.ndarray]) -> Message:
        sent: list[np.ndarray] = []
        if who == "referee":
            kind, answered = refereed(Message("n", kind, body, arrays), sent)
            return Message("n", kind, answered, sent)
        question = Message("n", kind, json.loads(json.dumps(body)), arrays)
        loaded = self.module if who == "answerer" else None
        try:
            kind, body = answer(loaded, question, sent, self.kept)
        except Exception as error:
            raise Raised(raised_body(what_was_raised(error, self.name))) from None
        return Message("n", kind, json.loads(json.dumps(body)), [np.array(a) for a in sent])


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
