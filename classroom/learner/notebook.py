"""What a learner calls in a notebook: `check`, `predict`, `hint`, `answer`, `reset`, `progress`.

All of them show what they have to say below the cell, as HTML and as text, and return nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from classroom.exercise import Exercise, judge
from classroom.exercises import exercises, find, parts
from classroom.exercises.answers import worked_answer
from classroom.learner import record, show, tell
from classroom.learner.progress import NOWHERE, table

DOCS = Path(__file__).resolve().parents[2] / "docs"


def check(number: str, answer: Any) -> None:
    """Say whether this answer to an exercise is right, and remember it: check("4.3", my_answer)."""
    if (exercise := _find(number)) is None:
        return
    outcome = judge(exercise, answer)
    show.outcome(outcome, note=record.note(outcome), link=tell.us(outcome, answer))


def predict(number: str, guess: Any) -> None:
    """Make a prediction, before running the cell that shows what happens: predict("4.1", 3).

    A prediction that has been made is done, right or wrong. The first guess is the one that counts.
    """
    check(number, guess)


def hint(number: str, level: int | None = None) -> None:
    """A hint for an exercise: hint("4.3"), the next when called again, or hint("4.3", 2).

    After the last one, answer("4.3") shows a worked answer.
    """
    if (exercise := _find(number)) is None:
        return
    last = len(exercise.hints)
    if level is None:
        level = record.hints_seen(exercise) + 1
    for_answer = f'`answer("{exercise.number}")` shows a worked answer.'
    if level > last:
        words = f'That was the last hint. (`hint("{exercise.number}", 1)` is the first one again.) '
        show.message("hint", f"{exercise.number}.", words + for_answer)
        return
    level = max(int(level), 1)
    note = record.note_help(exercise, hints=level)
    more = f'For more: `hint("{exercise.number}", {level + 1})`.' if level < last else for_answer
    words = f"{exercise.hints[level - 1]} {more}"
    show.message("hint", f"{exercise.number}, hint {level} of {last}.", words, note=note)


def answer(number: str) -> None:
    """A worked answer to an exercise, and the reason: answer("4.3"). It counts as help.

    For a function of mini, as in answer("flat"), you get it after both hints, or once yours works.
    """
    if (exercise := _find(number)) is None:
        return
    if exercise.hints_first and (left := record.hints_left(exercise)):
        words = "The hints come first. " if left > 1 else "There is one more hint first. "
        words += f'`hint("{exercise.number}")` shows it.' if left == 1 else (
            f'`hint("{exercise.number}")`, twice, and then ask again.')  # fmt: skip
        show.message("note", f"{exercise.number}.", words)
        return
    code = worked_answer(exercise)
    if not code:
        show.message("note", f"{exercise.number}.", "There is no worked answer to this one yet.")
        return
    show.answer(exercise, code, note=record.note_help(exercise, answer=True))


def reset(what: str | int) -> None:
    """Forget what is recorded of one exercise, reset("2.3"), or of a whole part, reset(2).

    What is written in notebooks stays as it is.
    """
    if str(what) in {str(part) for part in parts()}:
        chosen, name = exercises(int(what)), f"part {what}"
    elif (exercise := _find(str(what) if isinstance(what, int) else what)) is not None:
        chosen, name = (exercise,), exercise.number
    else:
        return
    if record.place() is None:
        show.message("note", "", NOWHERE)
        return
    forgotten, trouble = record.forget(e.name for e in chosen)
    if trouble:
        show.message("note", "", trouble)
    elif not forgotten:
        show.message("note", "", f"Nothing was recorded for {name}.")
    else:
        numbers = ", ".join(e.number for e in chosen if e.name in forgotten)
        words = f"Forgotten: {numbers}. What you wrote in the notebook is still there."
        show.message("note", "", words)


def progress(part: int | None = None) -> None:
    """The exercises that are done, part by part; progress(4) for one part."""
    show.both(*table(record.place(), part))


def picture(name: str) -> None:
    """Show a picture of the repository's docs/: picture("pipeline.svg")."""
    show.picture(DOCS / name)


def _find(number: str) -> Exercise | None:
    if isinstance(number, float):  # 4.10 is 4.1
        show.message("note", "", 'Put the number in quotes, please: "4.10" and not 4.10.')
        return None
    try:
        return find(number)
    except LookupError as error:
        show.message("note", "", str(error))
        return None
