"""`python -m classroom grade FILE`: grade a project, out of 100 points.

    python -m classroom grade projects/01_tensor_basics.py
    python -m classroom grade ann/tensors.py --project 01_tensor_basics --format csv

Ends with status 0 for full marks (of the checks that are here), or from --min-score on; with 1 for
less, and with 2 where there is nothing to grade. classroom/gradebook/ grades a whole class.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from classroom.grader.handed_in import CannotGrade
from classroom.grader.judge import grade, tasks_of
from classroom.grader.kernels import kept_for
from classroom.grader.report import FORMATS, Report, not_graded, rendered
from classroom.grader.sandbox import Limits, best_protection


def parser_of(command: str, description: str) -> argparse.ArgumentParser:
    """With the arguments that a command takes which grades one file or many."""
    parser = argparse.ArgumentParser(prog=f"python -m classroom {command}", description=description)
    add = parser.add_argument
    add("--slow", type=float, default=1.0, metavar="TIMES", help="allow this many times the time")
    add("--seed", help="make the random inputs from this text, the same for whoever is graded")
    return parser


def parser() -> argparse.ArgumentParser:
    whole = parser_of("grade", "Grade a project, out of 100 points.")
    add = whole.add_argument
    add("file", type=Path, help="the learner's file, folder, or a zip of the folder")
    add("--project", help="which project it is, if the file has been renamed")
    add("--format", choices=FORMATS, default="table", help="how the result is written")
    readers = ("student", "instructor")
    add("--for", choices=readers, dest="reader", help="students do not see why hidden checks fail")
    add("--json", action="store_const", const="json", dest="format", help="the same as a JSON text")
    add("--min-score", type=int, help="status 0 from this many points on (default: all)")
    return whole


def main(arguments: list[str]) -> int:
    told = parser().parse_args(arguments)
    if problem := unsupported():
        print(f"grade: {problem}", file=sys.stderr)
        return 2
    if told.format == "table" and find_spec("rich") is None:
        print("grade: the table needs rich; pip install rich, or --format json", file=sys.stderr)
        return 2
    try:
        tasks = tasks_of(told.project or told.file.absolute().stem)  # of . too
        limits = Limits().longer(told.slow)
        with tidied_up():
            held, kernels = best_protection(), kept_for(tasks)
            report = grade(told.file, tasks, held, limits, told.seed, kernels, progress)
    except CannotGrade as error:
        print(f"grade: {error}", file=sys.stderr)
        if text := not_graded(str(error), told.format):
            print(text)
        return 2
    except KeyboardInterrupt:  # by SIGTERM too
        print("grade: stopped", file=sys.stderr)
        return 2
    finally:
        progress("")
    _keep(told.file, tasks.stem, report)
    print(rendered(report, told.format, told.reader))
    enough = report.is_full if told.min_score is None else report.score >= told.min_score
    return 0 if enough else 1


def _keep(file: Path, name: str, report: Report) -> None:
    """Keep the points of a project that is in a learner's copy, for the portfolio; but not those
    of a copied solution."""
    from classroom.learner import kept, record

    folder = file.absolute().parent
    if record.place(folder) is not None:
        from classroom.portfolio.lines import is_copied_project

        if not is_copied_project(file, name):
            entry = {"points": report.score, "of": report.of}
            kept.keep(f"project {name}", report.score, entry, folder)


@contextmanager
def tidied_up() -> Iterator[None]:
    """SIGTERM and SIGHUP end the grading as Ctrl-C does: nothing of it stays behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = (signal.SIGTERM, signal.SIGHUP)

    def stop(number: int, frame: object) -> None:
        for again in (*asked, signal.SIGINT):  # what is being tidied up is not interrupted
            signal.signal(again, lambda *_: None)  # SIG_IGN would complain of one that's on its way
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (*asked, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def unsupported() -> str:
    """Why nothing can be graded on this system; empty where it can."""
    return "on Windows, run this in WSL." if os.name == "nt" else ""


EVERY = 60.0  # seconds between two lines in a log
_log: dict[str, float] = {}  # since when the next one is due


def progress(text: str) -> None:
    """One line that is written over; in a log, a line a minute at most. Ends with an empty one."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:78]}", end="", file=sys.stderr, flush=True)
    elif not text:
        _log.clear()
    elif time.monotonic() - _log.setdefault("since", time.monotonic()) >= EVERY:
        _log["since"] = time.monotonic()
        print(text, file=sys.stderr, flush=True)
