"""One grading as data: what goes to a worker, and what comes back. A worker may be this process,
another one here, or one on a machine far away."""

from __future__ import annotations

import ast
import functools
import hashlib
import time
from dataclasses import dataclass, field
from pathlib import Path

from classroom.grader.handed_in import CannotGrade, Files
from classroom.grader.judge import ROOT, grade_files, tasks_of
from classroom.grader.kernels import kept_for
from classroom.grader.report import Report, cleaned
from classroom.grader.sandbox import Limits, best_protection

# What the points depend on, beside the submission, the tasks, and what these import of classroom/:
# what runs in or beside a submission's process.
DECIDES = ("classroom/grader/*.py", "classroom/mini/sandboxed/*.py", "solutions/mini/*.py",
           "tinyframe/**/*.py")  # fmt: skip
ONLY_COMMANDS = ROOT / "classroom" / "grader" / "command.py"


@dataclass(frozen=True)
class Job:
    """A submission to be graded. only: these tasks, or all of them. version: of the grader and the
    tasks that is meant (version_of)."""

    student: str
    project: str
    files: Files
    file: str
    version: str
    seed: str | None = None
    slow: float = 1.0
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Done:
    """What became of a job. failed: why the grader could not do it; then there is no report."""

    student: str
    report: Report | None = None
    failed: str = ""
    seconds: float = 0.0
    protections: dict[str, bool] = field(default_factory=dict)


@functools.cache
def version_of(project: str) -> str:
    """A digest of the grader and of this project's tasks: with another one, points may differ."""
    tasks = tasks_of(project)
    paths = {path for pattern in DECIDES for path in ROOT.glob(pattern)} - {ONLY_COMMANDS}
    paths = _with_imports({tasks, *paths})
    if (recorded := tasks.with_suffix(".json")).is_file():
        paths.add(recorded)
    whole = hashlib.sha256()
    for path in sorted(paths):
        whole.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:16]


def _with_imports(paths: set[Path]) -> set[Path]:
    """These files and those of classroom/ that they import, and so on."""
    found: set[Path] = set()
    left = list(paths)
    while left:
        path = left.pop()
        if path in found:
            continue
        found.add(path)
        text = path.read_bytes()
        for node in ast.walk(ast.parse(text)) if b"classroom" in text else ():
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("classroom"):
                base = ROOT.joinpath(*str(node.module).split("."))
                asked = [base.with_suffix(".py"), *(base / f"{a.name}.py" for a in node.names)]
                left += [each for each in asked if each.is_file()]
    return found


@functools.cache
def kernels_for(tasks: Path) -> Path | None:
    return kept_for(tasks)


def do(job: Job) -> Done:
    """Grades it, whatever happens: what the grader raises is told, and the others go on."""
    began = time.monotonic()
    try:
        tasks = tasks_of(job.project)
        if job.version != version_of(job.project):
            failed = "this worker has another version of the grader, of tinyframe or of the tasks"
            return Done(job.student, failed=failed)
        held, limits = best_protection(), Limits().longer(job.slow)
        report = grade_files(job.files, job.file, tasks, held, limits, job.seed,
                             kernels_for(tasks), only=job.only)  # fmt: skip
        took = time.monotonic() - began
        return Done(job.student, report, "", took, dict(report.protections))
    except CannotGrade as error:
        return Done(job.student, failed=cleaned(error), seconds=time.monotonic() - began)
    except Exception as error:
        failed = f"the grader failed ({type(error).__name__}: {cleaned(error)})"
        return Done(job.student, failed=failed, seconds=time.monotonic() - began)
