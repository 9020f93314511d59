"""Kernels that were compiled before: a grading spends most of its time in a C compiler.

    fill(tasks, progress)    # grades the worked solution, and keeps what was compiled for it
    kept_for(tasks)          # the archive of these kernels; None where there is none

Each process unpacks a copy of its own (Workplace, confine.py), so that a submission can read them,
and change nothing that another one sees. Submissions never add to them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from classroom.grader.handed_in import files_of
from classroom.grader.judge import ROOT, load_project, opened
from classroom.grader.sandbox import Limits, Protection
from tinyframe.disk_cache import place_for

SEEDS = 16  # random inputs have random shapes: with these, most that will be asked for are there
WORTH = 16  # so many submissions take longer than filling does


def kept_for(tasks: Path) -> Path | None:
    """The kernels for a project, if they were made by this compiler for these tasks."""
    path = _archive(tasks)
    return path if path.is_file() else None


def _archive(tasks: Path) -> Path:
    digest = hashlib.sha256()
    for path in (tasks, *_worked(tasks), *sorted((ROOT / "tinyframe").rglob("*.py"))):
        digest.update(path.read_bytes())
    return place_for("grader") / f"{tasks.stem}-{digest.hexdigest()[:16]}.zip"


def _worked(tasks: Path) -> list[Path]:
    path = tasks.parents[1] / tasks.name
    return [path] if path.is_file() else []


def fill(tasks: Path, progress: Callable[[str], None]) -> None:
    """Compiles the kernels for a project, unless they are there, or there is no worked solution."""
    archive, worked = _archive(tasks), _worked(tasks)
    if archive.is_file() or not worked:
        return
    checks = load_project(tasks).checks
    with opened(files_of(worked[0]), Limits().longer(100), Protection()) as grading:
        for number, check in enumerate(checks, 1):
            progress(f"compiling kernels, {number} of {len(checks)}: {check.task}")
            for seed in range(SEEDS):
                grading.judge(check, seed, [])
        place = grading.places["answerer"]
        made = shutil.make_archive(str(place.folder / "kernels"), "zip", place.work / "cache")
        archive.parent.mkdir(parents=True, exist_ok=True)
        for old in archive.parent.glob(f"{tasks.stem}-*.zip"):  # of an older compiler
            with contextlib.suppress(OSError):
                old.unlink()
        unfinished = archive.with_suffix(f".{os.getpid()}")
        shutil.copyfile(made, unfinished)
        os.replace(unfinished, archive)
