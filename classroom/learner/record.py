"""What has been done, in `my_course/.progress.json`: {"exercises": {name: {"done", "first"}}}.

It is written only where the learner's copy is, found by walking up from the working directory, so
`course/` and `solutions/`, run as tests, leave no trace. Exercises are kept by name, which an
update of the course does not change; one that no longer exists stays in the file, uncounted.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from classroom.exercise import Outcome

COPY, FILE = "my_course", ".progress.json"

Record = dict[str, dict[str, bool]]


def place(here: Path | None = None) -> Path | None:
    """The file with the progress of the copy that a folder (the working directory) is in, or None
    where it is in none."""
    here = here or Path.cwd()
    for folder in (here, *here.parents):
        if folder.name == COPY and folder.is_dir():
            return folder / FILE
    return None


def note(outcome: Outcome) -> str:
    """Remember an outcome; returns what the learner has to know about that, or nothing."""
    file = place()
    if file is None or outcome.state == "open":
        return ""
    right = outcome.state == "right"
    try:
        with _locked(file):
            record, trouble = read(file)
            entry = record.setdefault(outcome.exercise.name, {"first": right, "done": False})
            entry["done"] = entry["done"] or right
            _write(file, record)
    except OSError as error:
        return f"This could not be noted in {file.name}: {error.strerror}."
    return trouble


def read(file: Path) -> tuple[Record, str]:
    """The record; and what happened to a file that made no sense, which is kept beside."""
    try:
        entries = json.loads(file.read_text())["exercises"]
        record = {
            str(name): {"first": bool(entry["first"]), "done": bool(entry["done"])}
            for name, entry in entries.items()
        }
        return record, ""
    except FileNotFoundError:
        return {}, ""
    except (ValueError, LookupError, TypeError, AttributeError):
        broken = file.with_name(f"{FILE}.unreadable")
        number = 1
        while broken.exists():
            number += 1
            broken = file.with_name(f"{FILE}.unreadable{number}")
        file.rename(broken)
        return {}, f"{FILE} could not be read. It is now {broken.name}, and progress begins anew."


def _write(file: Path, record: Record) -> None:
    """Whole or not at all, whatever happens meanwhile."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f"{FILE}.")
    try:
        with open(handle, "w") as unfinished:
            json.dump({"exercises": record}, unfinished, indent=1, sort_keys=True)
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """One at a time: two notebooks may be open."""
    with open(file.with_name(f"{FILE}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
