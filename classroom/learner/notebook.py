"""What a learner calls in a notebook: `check`, `predict`, `hint`, `progress`.

All of them show what they have to say below the cell, as HTML and as text, and return nothing.
"""

from __future__ import annotations

from typing import Any

from classroom.exercise import Exercise, judge
from classroom.exercises import find
from classroom.learner import record, show
from classroom.learner.progress import table


def check(number: str, answer: Any) -> None:
    """Say whether this answer to an exercise is right, and remember it: check("4.3", my_answer)."""
    if (exercise := _find(number)) is None:
        return
    outcome = judge(exercise, answer)
    show.outcome(outcome, note=record.note(outcome))


def predict(number: str, guess: Any) -> None:
    """The same for a prediction, made before the cell that shows what happens is run.

    The first guess is the one that counts for "right first time".
    """
    check(number, guess)


def hint(number: str, level: int = 1) -> None:
    """A hint for an exercise; a higher level says more: hint("4.3"), then hint("4.3", 2)."""
    if (exercise := _find(number)) is None:
        return
    last = len(exercise.hints)
    level = min(max(int(level), 1), last)
    more = f' `hint("{exercise.number}", {level + 1})` says more.' if level < last else ""
    show.message(
        "hint", f"{exercise.number}, hint {level} of {last}.", exercise.hints[level - 1] + more
    )


def progress(part: int | None = None) -> None:
    """The exercises that are done, part by part; progress(4) for one part."""
    show.both(*table(record.place(), part))


def _find(number: str) -> Exercise | None:
    try:
        return find(number)
    except LookupError as error:
        show.message("note", "", str(error))
        return None
