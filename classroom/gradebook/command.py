"""`python -m classroom grade-class SUBMISSIONS`: grade one project of a whole class.

    python -m classroom grade-class ../submissions --project 01_tensor_basics

SUBMISSIONS is a folder with one folder for each student, an archive (.zip) of it, or what Canvas,
Moodle, Gradescope or GitHub Classroom let you download. Each student is graded by one of several
processes, and what is found is kept in grades/ at once. So it can be stopped, or killed, and
started again: whoever was graded is skipped while neither the files nor the grader have changed.
Then come a table, a page for each student, and a page on the class.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from classroom.gradebook.cohort import (
    PAGES,
    Cohort,
    add_folder,
    add_people,
    cohort_of,
    handed_in,
    key_of,
)
from classroom.gradebook.handed import HandedIn
from classroom.gradebook.job import Done, Job, do, version_of
from classroom.gradebook.records import FAILED, Grading, now
from classroom.gradebook.sheet import Sheet
from classroom.gradebook.workers import worked_off
from classroom.grader import leftovers
from classroom.grader.command import parser_of, progress, tidied_up, unsupported
from classroom.grader.handed_in import CannotGrade
from classroom.grader.judge import ROOT
from classroom.grader.kernels import WORTH, fill, kept_for
from classroom.grader.sandbox import Limits
from classroom.grader.warden import MemoryGroup
from classroom.pages import counted

# ---- what is asked for ---------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    whole = parser_of("grade-class", "Grade a project of a whole class, several students at once.")
    add = whole.add_argument
    add("submissions", type=Path, help="a folder for each student, a zip of that, or what Canvas, "
        "Moodle, Gradescope or GitHub Classroom export")  # fmt: skip
    add("--project", required=True, help="such as 01_tensor_basics")
    add_folder(whole)
    add_people(whole)
    add("--times", type=Path, metavar="CSV", help="student, when: when each handed in")
    add("--jobs", type=at_least_one, default=cores(), metavar="N", help="so many submissions at a "
        "time (default: one for each core, %(default)s here)")  # fmt: skip
    add("--scheduler", metavar="ADDRESS", help="of a Dask cluster that does the work, such as "
        "tcp://10.0.0.5:8786")  # fmt: skip
    add("--student", action="append", default=[], metavar="NAME",
        help="only this one; may be given several times")  # fmt: skip
    add("--task", action="append", default=[], metavar="NAME", help="ask only this task again, and "
        "keep the points of the others; may be given several times")  # fmt: skip
    add("--again", action="store_true", help="also grade what has not changed")
    add("--blind", action="store_true", default=None, help="codes in place of names, on pages and "
        "in tables, until `grades pages --names`")  # fmt: skip
    return whole


def at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("has to be 1 or more")
    return int(text)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---- doing it ------------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    told = parser().parse_args(arguments)
    if problem := unsupported():
        print(f"grade-class: {problem}", file=sys.stderr)
        return 2
    try:
        cohort = cohort_of(told)
        handed, notes = handed_in(cohort)
        for note in [*notes, *filter(None, [] if told.scheduler else [uncounted()])]:
            print(f"grade-class: {note}", file=sys.stderr)
        with tidied_up():
            grade_all(cohort, chosen(cohort, handed, told.student), told)
        leftovers.sweep()  # of processes that died on the way
        sheet = cohort.write()
    except CannotGrade as error:
        return _said(str(error))
    except OSError as error:
        return _said(f"{told.grades} cannot be written: {error}")
    except KeyboardInterrupt:  # by SIGTERM too
        return _said(f"stopped; {told.grades} has everybody up to here. The same command goes on.")
    finally:
        progress("")
    print(sheet.shown())
    return summary(sheet, told.grades)


def uncounted() -> str:
    """What to know of a machine whose kernel counts no submission's memory; empty of others."""
    group = MemoryGroup(Limits().memory)
    group.remove()
    return "" if group.folder else (
        "there is no memory control group here, so a submission can take about 1 GB of the "
        "kernel's memory beyond its limit (docs/sandbox.md says how to get one)")  # fmt: skip


def _said(problem: str) -> int:
    progress("")
    print(f"grade-class: {problem}", file=sys.stderr)
    return 2


def summary(sheet: Sheet, grades: Path) -> int:
    """The last lines, and the exit status: 0 if everybody was graded."""
    counts = sheet.counts()
    kinds = ", ".join(f"{count} {status}" for status, count in counts.items())
    print(f"{counted(len(sheet.rows), 'student')}: {kinds}.")
    at, pages = grades / sheet.project, grades / PAGES / sheet.project
    print(f"The table is in {at}.csv, a page on the class in {at}.html, theirs are in {pages}/.")
    return 0 if set(counts) == {"graded"} else 1


def chosen(cohort: Cohort, handed: list[HandedIn], names: list[str]) -> list[HandedIn]:
    """Those of the students that were named; all of them, if none was."""
    keys = {each.student for each in handed}
    found = {name: key_of(cohort, name, keys) for name in names}
    if unknown := sorted(name for name, key in found.items() if key is None):
        raise CannotGrade(f"nobody here is called {', '.join(map(repr, unknown))}")
    return [each for each in handed if not names or each.student in found.values()]


def grade_all(cohort: Cohort, handed: list[HandedIn], told: argparse.Namespace) -> None:
    """Grades whoever has to be graded, and keeps each result as soon as it is there."""
    declared = {check.task for check in cohort.project.checks}
    if unknown := sorted(set(told.task) - declared):
        raise CannotGrade(f"{cohort.name} has no task {', '.join(map(repr, unknown))}")
    jobs = {job.student: job for each in handed if (job := job_for(cohort, each, told))}
    by_name, commit = {each.student: each for each in handed}, commit_of_grader()
    shows = Shows(len(jobs), 1 if told.scheduler else told.jobs)
    for done in worked(list(jobs.values()), cohort.tasks, told, shows.began):
        each, record = by_name[done.student], cohort.records.get(done.student)
        record.put(each, done, line_of(done, jobs[done.student], each.digest, commit))
        cohort.records.keep(record)
        shows.done(done.student)


def job_for(cohort: Cohort, handed: HandedIn, told: argparse.Namespace) -> Job | None:
    """What is to be graded of this student; None where nothing is, which is kept."""
    record, version = cohort.records.get(handed.student), version_of(cohort.name)
    if not handed.files:
        record.put_missing(handed)
        cohort.records.keep(record)
        return None
    if record.is_known(handed, version) and not (told.again or told.task):
        if (record.file, record.when) != (handed.file, handed.when):
            record.file, record.when = handed.file, handed.when
            cohort.records.keep(record)
        return None
    # A task alone is enough where the others were asked of the same files.
    same = record.report is not None and record.digest == handed.digest
    only = tuple(told.task) if same else ()
    return Job(handed.student, cohort.name, handed.files, handed.file, version, told.seed,
               told.slow, only)  # fmt: skip


def worked(
    jobs: list[Job], tasks: Path, told: argparse.Namespace, began: Callable[[Job], None]
) -> Iterator[Done]:
    """The results: of a cluster, of several processes, or of this one."""
    if told.scheduler:
        from classroom.gradebook.cluster import done_by

        yield from done_by(told.scheduler, jobs, began)
        return
    if len(jobs) >= WORTH and kept_for(tasks) is None:
        fill(tasks, progress)
    if (count := min(told.jobs, len(jobs))) > 1:
        yield from worked_off(jobs, count, began)
        return
    for job in jobs:
        began(job)
        yield do(job)


def line_of(done: Done, job: Job, digest: str, commit: str) -> Grading:
    """What is kept on this grading for whoever asks how the points came about."""
    report = done.report
    return Grading(
        at=now(),
        status=report.status if report else FAILED,
        points=report.score if report else 0,
        digest=digest,
        version=job.version,
        commit=commit,
        seed=job.seed or "",
        seconds=round(done.seconds, 2),
        protections=tuple(name for name, active in done.protections.items() if active),
        without=tuple(name for name, active in done.protections.items() if not active),
        tasks=job.only,
        note=done.failed,
    )


def commit_of_grader() -> str:
    """The commit of this repository, with a + where files were changed since; empty without git."""
    try:
        told = [
            subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
            for words in (("rev-parse", "--short=12", "HEAD"), ("status", "--porcelain"))
        ]
    except OSError:
        return ""
    commit, changed = (each.stdout.strip() if each.returncode == 0 else "" for each in told)
    return f"{commit}+" if commit and changed else commit


class Shows:
    """The line of progress: how far it is, who is graded now, and how long it may still take."""

    def __init__(self, count: int, at_once: int) -> None:
        self.count, self.at_once = count, at_once
        self.ready = 0
        self.began_at = 0.0
        self.now: dict[str, None] = {}

    def began(self, job: Job) -> None:
        self.began_at = self.began_at or time.monotonic()  # kernels may have been compiled before
        self.now[job.student] = None
        self.tell()

    def done(self, student: str) -> None:
        self.ready += 1
        self.now.pop(student, None)
        self.tell()

    def tell(self) -> None:
        names = ", ".join(self.now)
        left = f", {self.estimate()} left" if self.ready >= max(2, self.at_once) else ""
        progress(f"{self.ready} of {self.count} graded{left}" + (f": {names}" if names else ""))

    def estimate(self) -> str:
        each = (time.monotonic() - self.began_at) / self.ready
        seconds = each * (self.count - self.ready)
        return "less than a minute" if seconds < 60 else f"about {seconds / 60:.0f} min"
