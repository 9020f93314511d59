"""Grades one file: starts the submission, asks every check of the project, adds up the points."""

from __future__ import annotations

import codecs
import hashlib
import io
import re
import runpy
import tokenize
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from classroom.cut import hidden_lines
from classroom.grader import turns
from classroom.grader.channel import Closed, Late, Malformed, Message
from classroom.grader.handed_in import CannotGrade, Files, files_of
from classroom.grader.recorded import CASES, has_recorded
from classroom.grader.report import Report, Row, cleaned
from classroom.grader.sandbox import ROOT, Limits, Peer, Protection, Workplace
from classroom.grader.tasks import (
    NOT_WRITTEN,
    Ask,
    Check,
    Ended,
    Finding,
    NotStarted,
    Project,
    Raised,
    Wrong,
    finding,
)

NOT_LOADED = "the file could not be loaded"
NO_MORE = "not asked, because the program broke off in another check of this task"
TIME_IS_UP = "the time limit for the whole project was reached"
MOST_ENDS = 3  # a submission that breaks off is started anew; after so many, for other tasks only
PATIENCE = 2.0  # seconds in which a process that is gone can be told from one that only hung up

# by the name of the limit, which is shown in units of so many bits
ENDINGS = {
    "memory": ("it took more than {} MB of memory and was stopped", 20),
    "processes": ("it started more than {} processes and was stopped", 0),
    "output": ("it printed more than {} kB and was stopped", 10),
    "disk": ("it wrote more than {} MB to disk and was stopped", 20),
    "files": ("it made more than {} files and was stopped", 0),
    "closed": ("it stopped answering", 0),
    "killed": ("it was killed", 0),
}


# ---- what is there to grade ----------------------------------------------------------------------


def why_not_python(source: bytes) -> str:
    """What keeps these bytes from being a program at all; empty where nothing does."""
    if not source.strip():
        return "the file is empty. Did you save it?"
    if encoding := other_encoding(source):
        return f"the file says it is in {encoding}; save it as UTF-8 without that line."
    try:
        source.decode()
    except UnicodeDecodeError as error:
        return f"the file is not text in UTF-8 (byte {error.start})."
    return "the file has null bytes in it." if b"\0" in source else ""


def other_encoding(source: bytes) -> str:
    """The encoding that one of the first two lines names, where it is not UTF-8; else empty."""
    try:
        name, lines = tokenize.detect_encoding(io.BytesIO(source).readline)
    except SyntaxError:  # none that Python knows, or bytes that are not in it
        name, lines = "", source.splitlines()[:2]
    if name and codecs.lookup(name).name in ("utf-8", "utf-8-sig"):
        return ""
    found = re.search(rb"coding[:=][ \t]*([-\w.]+)", b"\n".join(lines))
    written = found[1].decode() if found else name
    return "" if re.fullmatch(r"(?i)utf[-_]?8(-sig)?", written) else cleaned(written, 40)


def lines_of(source: bytes) -> list[str]:
    """The lines as Python counts them. str.splitlines would also end one at a form feed."""
    return re.split(r"\r\n|\r|\n", source.decode(errors="replace"))


# The whole file of tasks, where there is one; else what a release has of it.
TASKS = (ROOT / "solutions" / "projects" / "tasks", ROOT / "classroom" / "projects")


def tasks_of(name: str) -> Path:
    """The file of tasks of a project, such as "01_tensor_basics"."""
    for folder in TASKS:
        if (path := folder / f"{name}.py").is_file():
            return path
    known = sorted({path.stem for folder in TASKS for path in folder.glob("*.py")})
    there = ", ".join(known) or "none"
    renamed = ". If yours has a different name, add --project and one of these" if known else ""
    raise CannotGrade(f"there is no project {name!r}; there are: {there}{renamed}")


def load_project(tasks: Path) -> Project:
    """The project that a file of tasks declares, its checks in the order of their tasks."""
    is_release = has_recorded(tasks)
    project: Project = runpy.run_path(str(tasks))["project"]
    project.cases = CASES if is_release else None
    hidden = hidden_lines(tasks.read_text())
    order = list(dict.fromkeys(check.task for check in project.checks))
    project.checks = [
        replace(check, hidden=check.judge.__code__.co_firstlineno in hidden)
        for check in sorted(project.checks, key=lambda check: order.index(check.task))
    ]
    return project


def is_untouched(source: bytes, name: str) -> bool:
    """Whether this is the project's file as it was handed out."""
    original = ROOT / "projects" / name
    return original.is_file() and original.read_bytes().split() == source.split()


def place_of(project: Project, tasks: Path) -> str:
    """Where its file is, from the folder of all projects; the one to write in, if it has many."""
    return f"{tasks.stem}/{project.main}" if project.main else tasks.name


# ---- judging -------------------------------------------------------------------------------------


class Grading:
    """One submission while it is judged; what Ask sends its questions through."""

    def __init__(self, places: dict[str, Workplace], limits: Limits) -> None:
        self.places, self.limits = places, limits
        self.peers: dict[str, Peer] = {}
        self.heard: set[str] = set()  # which of them ever answered
        self.took = 0.0  # seconds of all answers
        self.by_clock = self.alone = 0.0  # the same by the clock, and while no other grader asked
        self.ends = 0
        self.is_late = self.is_alone = False  # of the check that is being judged
        self.printed = ""

    def judge(self, check: Check, seed: int, lines: list[str]) -> tuple[str, Row]:
        """(why the file could not be loaded, if so; the row of this check).

        What was late may have been so because of others: it is asked again, alone, before it
        counts, and the first time does not. But nobody keeps the others waiting for longer than a
        whole submission may take.
        """
        before = self.took, self.ends
        with turns.together():
            found = self._judge(check, seed, lines)
        if self.is_late and self.alone < self.limits.total_seconds and not self.is_over:
            self.took, self.ends = before
            began = self.by_clock
            with turns.alone():
                self.is_alone = True
                found = self._judge(check, seed, lines)
                self.is_alone = False
            self.alone += self.by_clock - began
        return found

    @property
    def is_over(self) -> bool:
        """Whether the time for the whole project is: its own seconds, or those of the clock."""
        limits = self.limits
        return self.took >= limits.total_seconds or self.by_clock >= self.most_by_clock

    @property
    def most_by_clock(self) -> float:
        return self.limits.total_seconds * self.limits.clock

    def _judge(self, check: Check, seed: int, lines: list[str]) -> tuple[str, Row]:
        self.is_late = False
        if problem := self.load(lines):
            return problem, _unasked(check, NOT_LOADED)
        return "", judge_check(check, Ask(self, seed), lines)

    def load(self, lines: list[str]) -> str:
        """Loads the submission where it is not running; in words, what went wrong."""
        if "answerer" in self.peers:
            return ""
        try:
            self._ask("answerer", "load", None, [], self.limits.load_seconds)
            return ""
        except Ended as ended:
            return str(ended)
        except Raised as error:
            text = _text(lines, error.line)
            return f"{error} in line {error.line} ({text})" if text else str(error)

    def answer(self, who: str, kind: str, body: Any, arrays: list[np.ndarray]) -> Message:
        """Of the "answerer", in which the submission is: Ended where it does not answer, Raised
        where it raised. Of the "referee", or of the "bench", which is like the answerer without the
        submission: Wrong where it was too much for them."""
        try:
            return self._ask(who, kind, body, arrays, self.limits.answer_seconds)
        except Ended as ended:
            if who == "answerer":
                raise
            raise Wrong(f"it cannot be judged: {ended}") from None

    def _ask(
        self, who: str, kind: str, body: Any, arrays: list[np.ndarray], seconds: float
    ) -> Message:
        limits = self.limits
        if self.is_over:
            raise Ended(TIME_IS_UP)
        if who not in self.peers:
            self.peers[who] = self._started(who)
        peer, before, began = self.peers[who], self.peers[who].took, monotonic()
        until = min(seconds * limits.clock, self.most_by_clock - self.by_clock)
        seconds_left = limits.total_seconds - self.took
        try:
            answer = peer.ask(kind, body, arrays, min(seconds, seconds_left), until)
            if answer.kind == "raised":
                raise Raised(raised_body(answer.body))
            return answer
        except Late as late:
            self.is_late = True
            why = f"no answer within {seconds:g} seconds{late}"
        except Malformed as error:
            why = f"what came back is not an answer: {error}"
        except Closed:
            why = ""
        finally:
            self.took += peer.took - before
            self.by_clock += monotonic() - began
        raise Ended(self._over(who, why))

    def _started(self, who: str) -> Peer:
        """A process that has answered once, before it runs anything of the submission. If the first
        one doesn't, it is NotStarted, and not the submission's fault. A later one is in a place
        that the submission may have spoiled."""
        seconds = self.limits.load_seconds
        try:
            main = "referee" if who == "referee" else "answerer"
            peer = self.places[who].start(f"classroom.grader.{main}")
            try:
                peer.ask("hello", None, [], seconds, seconds * self.limits.clock)
                self.heard.add(who)
                return peer
            except (Late, Closed, Malformed) as error:
                self.is_late = isinstance(error, Late)
                ended = peer.end(0.0 if self.is_late else PATIENCE)["ended"]
                why = f"no answer within {seconds:g} seconds" if self.is_late else ended
            except BaseException:
                peer.end()
                raise
        except OSError as error:
            why = str(error.strerror)
        # What was late is asked once more.
        if who in self.heard or self.is_late and not self.is_alone:
            raise Ended(f"it could not be started again ({why})")
        raise NotStarted(f"its process could not be started ({why}). Is there memory and disk "
                         "space left?")  # fmt: skip

    def _over(self, who: str, why: str) -> str:
        """Ends a process; in words, why it had to be, or (with no `why`) how it ended itself."""
        if who == "answerer":
            self.ends += 1
        status = self.peers.pop(who).end(0.0 if why else PATIENCE)
        self.printed += status["printed"]
        ended = status["ended"]
        if ended in ENDINGS and not (why and ended in ("closed", "killed")):
            text, unit = ENDINGS[ended]
            return text.format(getattr(self.limits, ended, 0) >> unit)
        how, _, number = ended.partition(" ")
        if why or how not in ("exit", "signal"):  # it was not even started
            return why or ended
        word = "with status" if how == "exit" else "by signal"
        return f"it exited ({word} {number}) before it answered"

    def end(self, who: str) -> None:
        """Ends a process, if it runs; what it printed is known then."""
        if who in self.peers:
            self.printed += self.peers.pop(who).end()["printed"]

    def close(self) -> None:
        for who in list(self.peers):
            self.end(who)


@contextmanager
def opened(
    files: Files,
    limits: Limits,
    protection: Protection,
    kernels: Path | None = None,
    is_alone: bool = False,
) -> Iterator[Grading]:
    """A grading of this submission, whose processes start with these kernels. is_alone: its
    tinyframe is without the devices that are shipped."""
    # Each has a folder of its own: in a common one a submission could change the referee's files.
    referee = protection.for_referee()
    with (
        Workplace(limits, protection, files, kernels, is_alone) as place,
        Workplace(limits, referee, {}) as apart,
        Workplace(limits, referee.for_referee(), {}) as bench,
    ):
        grading = Grading({"answerer": place, "referee": apart, "bench": bench}, limits)
        try:
            yield grading
        except NotStarted as error:
            raise CannotGrade(str(error)) from None
        finally:
            grading.close()


def raised_body(body: Any) -> dict[str, Any]:
    """What a submission says that it raised, if it says so in the right form."""
    said = body if isinstance(body, dict) else {}
    texts = {key: cleaned(v) for key in ("type", "message") if isinstance(v := said.get(key), str)}
    line = said.get("line")
    return {"type": texts.get("type") or "something", "message": texts.get("message", ""),
            "line": line if type(line) is int else None}  # fmt: skip


def grade(path: Path, tasks: Path, *how: Any, **more: Any) -> Report:
    """The report on one file or folder, how as grade_files has it. CannotGrade where there is
    nothing to grade."""
    files = files_of(path, load_project(tasks).main)
    # there, as in a student's own repository, it's itself that it would be compared with
    more["in_place"] = ROOT / "projects" in path.resolve().parents
    return grade_files(files, cleaned(path), tasks, *how, **more)


def grade_files(
    files: Files,
    name: str,
    tasks: Path,
    protection: Protection,
    limits: Limits | None = None,
    seed: str | None = None,
    kernels: Path | None = None,
    progress: Callable[[str], None] = lambda text: None,
    only: Collection[str] = (),
    in_place: bool = False,
) -> Report:
    """The report on these files, which it calls `name`.

    seed: what random inputs are made from. By default the file's own bytes and those of the tasks:
    a file always gets the same report, and a learner who has no hidden checks cannot know their
    inputs. kernels: a folder of compiled ones that it may start with, see kernels.py. only: the
    tasks that are asked, by name; all of them where it is empty. in_place: they were handed out
    where they lie, so nothing is left to tell whether they have changed.
    """
    project = load_project(tasks)
    source, whole = next(iter(files.values())), b"\0".join(files.values())
    limits = (Limits() if limits is None else limits).longer(project.times)
    seed = seed or hashlib.sha256(whole + tasks.read_bytes()).hexdigest()
    lines = lines_of(source)
    report = Report(project.title, name, project.points, project.elsewhere,
                    protection.rows(), afterwards=project.afterwards)  # fmt: skip
    asks = [(n, c) for n, c in enumerate(project.checks, 1) if not only or c.task in only]
    if not in_place and is_untouched(source, place_of(project, tasks)):
        report.notes.append("Nothing in this file has changed yet. Did you save it?")
        report.rows = [_unasked(check, NOT_WRITTEN) for _, check in asks]
        return report
    if stopped := why_not_python(source):
        report.status = "refused"
        report.notes.append(f"This file cannot be graded: {stopped}")
    copied = {} if stopped else project.copied(files)
    with opened(files, limits, protection, kernels, project.is_alone) as grading:
        # Hidden ones last, by a process of their own: a report shows students what was wrong with
        # answers to the others, and in these a submission could tell what it has been asked.
        rows: dict[int, Row] = {}
        asked: list[Check] = []
        broken: dict[str, None] = {}  # tasks in which it broke off
        for number, check in sorted(asks, key=lambda each: each[1].hidden):
            done = f"{len(rows) + 1} of {len(asks)}"
            progress(f"checking {done}: {check.task}, {check.shows}")
            is_broken = grading.ends >= MOST_ENDS and check.task in broken
            if why := stopped or copied.get(check.task) or (NO_MORE if is_broken else ""):
                rows[number] = _unasked(replace(check, hint=""), why)
                continue
            if check.hidden and not any(each.hidden for each in asked):
                grading.end("answerer")
            asked.append(check)
            drawn = _seed(seed, number) % (project.cases or 1 << 64)
            ends = grading.ends
            problem, rows[number] = grading.judge(check, drawn, lines)
            if grading.ends > ends:
                rows[number] = replace(rows[number], broke_off=True)
                broken[check.task] = None
            if grading.is_over:
                report.status, stopped = "out of time", TIME_IS_UP
                report.notes.append(f"{done} checks were asked: then {TIME_IS_UP}.")
            elif problem:
                report.status = "crashed"
                if check.hidden:  # it may have kept what it was asked, and say it now
                    problem = "not a second time"
                report.notes.append(f"The file could not be loaded: {problem}.")
                stopped = NOT_LOADED
        if unasked := {row.task for row in rows.values() if row.found == NO_MORE}:
            names = ", ".join(task for task in broken if task in unasked)
            report.notes.append("The program broke off again and again, so not all checks were "
                                f"asked of {names}.")  # fmt: skip
        report.rows += [rows[number] for number, _ in asks]
        grading.close()
        report.printed = cleaned(grading.printed, 4000, keep="\n")
    return report


def _seed(seed: str, number: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed} {number}".encode()).digest()[:8], "big")


def judge_check(check: Check, ask: Ask, lines: list[str]) -> Row:
    """What becomes of one check: all of its points, those of its parts, or none."""
    try:
        check.judge(ask)
    except NotStarted:
        raise
    except Exception as error:
        return _row(check, 0, [finding(error, ask.last)], lines)
    parts = ask.parts()
    right = [name for name, found in parts.items() if not found]
    missed = [(name, found) for name, found in parts.items() if found]
    if not missed:
        return _row(check, check.points, [], lines)
    if not right and {found.text for _, found in missed} == {NOT_WRITTEN}:
        return _row(check, 0, [Finding(NOT_WRITTEN)], lines)
    named = f": {'; '.join(right)}" if right else ""
    head = Finding(f"{len(right)} of {len(parts)} parts right{named}")
    others = [Finding(f"{name}: {found.text}", found.line) for name, found in missed]
    return _row(check, check.points * len(right) // len(parts), [head, *others], lines)


def _unasked(check: Check, why: str) -> Row:
    """Nothing was found, so there is nothing to keep from students either."""
    return replace(_row(replace(check, hidden=False), 0, [Finding(why)], []), was_asked=False)


def _row(check: Check, points: int, findings: list[Finding], lines: list[str]) -> Row:
    found = "\n".join(cleaned(each.text) or "not right" for each in findings)
    told = next((each.line for each in findings if each.line is not None), None)
    line = told if told is not None and 1 <= told <= len(lines) else None
    return Row(
        check.task, check.shows, points, check.points, found, check.hint, line,
        _text(lines, line), check.hidden, check.trusts,
    )  # fmt: skip


def _text(lines: list[str], line: int | None) -> str:
    """The learner's own line, as the grader reads it in the file."""
    return cleaned(lines[line - 1].strip(), 100) if line and 1 <= line <= len(lines) else ""
