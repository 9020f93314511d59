"""What has been done, in `my_course/.progress.json`: {"exercises": {name: entry}}. An entry has

    done      the exercise has been answered right, or the prediction has been made
    first     whether the first answer was right; not there if the worked answer was seen before
    hints     how many hints have been shown
    helped    the worked answer has been shown
    score     of a puzzle: the lowest that a right answer got (ops, loads …, see puzzlebook/game.py)

It is written only where the learner's copy is, found by walking up from the working directory, so
`course/` and `solutions/`, run as tests, leave no trace. Exercises are kept by name, which an
update of the course does not change; one that no longer exists stays in the file, uncounted.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classroom.exercise import Exercise, Outcome
from classroom.written import written

COPY, FILE = "my_course", ".progress.json"
SECOND_GUESS = "Your first guess is the one that counts."
LOOKED_UP = "It is marked as looked up, since you saw the worked answer first."


def _number(value: Any) -> int | float:
    return value if type(value) is int else float(value)


FIELDS: dict[str, Callable[[Any], Any]] = {
    "done": bool,
    "first": bool,
    "hints": int,
    "helped": bool,
    "score": _number,
}

Entry = dict[str, Any]
Record = dict[str, Entry]


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
    if outcome.state == "open":
        return ""
    exercise, right = outcome.exercise, outcome.state == "right"
    is_guess = bool(exercise.shown_by)

    def edit(record: Record) -> str:
        entry = record.setdefault(exercise.name, {})
        is_second = is_guess and "first" in entry
        if not entry.get("helped"):
            entry.setdefault("first", right)
        entry["done"] = entry.get("done", False) or right or is_guess
        if entry.get("helped") and right:
            return LOOKED_UP
        return SECOND_GUESS if is_second else ""

    return _change(edit)


def note_done(exercises: Iterable[Exercise]) -> str:
    """Remember several exercises as done, without a word on which answer was the first."""
    if not (names := [exercise.name for exercise in exercises]):
        if file := place():
            _write_page(file)
        return ""

    def edit(record: Record) -> str:
        for name in names:
            record.setdefault(name, {})["done"] = True
        return ""

    return _change(edit)


def note_help(exercise: Exercise, hints: int = 0, answer: bool = False) -> str:
    """Remember the help that was given: so many hints, or the worked answer. To look at that when
    one is done, to compare, is no help."""

    def edit(record: Record) -> str:
        entry = record.setdefault(exercise.name, {})
        entry["hints"] = max(entry.get("hints", 0), hints)
        entry["helped"] = entry.get("helped", False) or (answer and not entry.get("done", False))
        return ""

    return _change(edit)


def note_score(exercise: Exercise, score: int | float) -> str:
    """Remember what a right answer to a puzzle scored, if none was lower."""

    def edit(record: Record) -> str:
        entry = record.setdefault(exercise.name, {})
        entry["score"] = min(entry.get("score", score), score)
        return ""

    return _change(edit)


def hints_seen(exercise: Exercise) -> int:
    """How many of an exercise's hints this learner has been shown."""
    file = place()
    return read(file)[0].get(exercise.name, {}).get("hints", 0) if file else 0


def hints_left(exercise: Exercise) -> int:
    """How many hints there are still to be seen; none of an exercise that is done, and none where
    nothing is kept."""
    file = place()
    entry = read(file)[0].get(exercise.name, {}) if file else {"done": True}
    return 0 if entry.get("done", False) else max(len(exercise.hints) - entry.get("hints", 0), 0)


def forget(names: Iterable[str], file: Path | None = None) -> tuple[list[str], str]:
    """Forget what is kept under these names, in this file or that of the working directory.
    Returns those that anything was known about, and trouble."""
    forgotten: list[str] = []

    def edit(record: Record) -> str:
        forgotten.extend(name for name in names if record.pop(name, None) is not None)
        return ""

    trouble = _change(edit, file)
    return forgotten, trouble


@dataclass(frozen=True)
class Counts:
    """How far somebody is with some exercises. still: those that aren't done. right: predictions
    that were right at the first try, of so many `guessed`. helped: exercises whose worked answer
    was seen first."""

    of: int
    still: list[Exercise]
    right: int
    guessed: int
    helped: int

    @property
    def done(self) -> int:
        return self.of - len(self.still)


def counts(exercises: Iterable[Exercise], record: Record) -> Counts:
    entries = [(e, record.get(e.name, {})) for e in exercises]
    guesses = [entry["first"] for e, entry in entries if e.shown_by and "first" in entry]
    still = [e for e, entry in entries if not entry.get("done", False)]
    helped = sum(entry.get("helped", False) for _, entry in entries)
    return Counts(len(entries), still, sum(guesses), len(guesses), helped)


def _change(edit: Callable[[Record], str], file: Path | None = None) -> str:
    """Edit the record and write it; returns what `edit` has to say, and trouble if there is any.
    Outside a learner's copy nothing is kept."""
    file = file or place()
    if file is None:
        return ""
    said: list[str] = []
    try:
        with _locked(file):
            record, trouble = read(file)
            said += [trouble, edit(record)]
            _write(file, record)
            _write_page(file)
    except OSError as error:
        said.append(f"This could not be saved in {file.name}: {error.strerror}.")
    return " ".join(filter(None, said))


def _write_page(file: Path) -> None:
    from classroom.learner import start_page  # which reads this

    with suppress(OSError):  # a page, and not worth a word here
        start_page.write(file.parent)


def read(file: Path) -> tuple[Record, str]:
    """The record; and what happened to a file that made no sense, which is kept beside."""
    try:
        return parse(file.read_text()), ""
    except FileNotFoundError:
        return {}, ""
    except (ValueError, LookupError, TypeError, AttributeError):
        broken = file.with_name(f"{FILE}.unreadable")
        number = 1
        while broken.exists():
            number += 1
            broken = file.with_name(f"{FILE}.unreadable{number}")
        file.rename(broken)
        return (
            {},
            f"{FILE} could not be read. It was renamed to {broken.name}; progress starts over.",
        )


def parse(text: str) -> Record:
    """The record that a file holds. ValueError, LookupError … if it makes no sense."""
    found: Record = {}
    for name, entry in json.loads(text)["exercises"].items():
        found[str(name)] = {key: kind(entry[key]) for key, kind in FIELDS.items() if key in entry}
    return found


def _write(file: Path, record: Record) -> None:
    written(file, json.dumps({"exercises": record}, indent=1, sort_keys=True))


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """One at a time: two notebooks may be open."""
    with open(file.with_name(f"{FILE}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
