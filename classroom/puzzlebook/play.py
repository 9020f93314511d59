"""What a learner calls in a notebook: `puzzle("outer", outer)`, and `puzzles()`, the scoreboard."""

from __future__ import annotations

from typing import Any

import numpy as np

from classroom import grids
from classroom.exercise import judge
from classroom.learner import record, show
from classroom.learner.progress import NOWHERE, as_table
from classroom.puzzlebook.judge import Trial, exercise_of
from classroom.puzzlebook.table import BY_NAME, PUZZLES, Inputs, Puzzle
from tinyframe.viz.picture import Picture

HEADINGS = ("puzzle", "done", "your ops", "par", "")


def puzzle(name: str, answer: Any = ...) -> None:
    """Try an answer to a puzzle: say whether it is right and how many ops it takes.

    A wrong answer is drawn beside the right one; without an answer, the example is drawn.
    """
    if (row := BY_NAME.get(name)) is None:
        show.message("note", "", f"There is no puzzle {name!r}. There are {', '.join(BY_NAME)}.")
        return
    trial = Trial(row)
    outcome = judge(exercise_of(row, trial.check), answer)
    notes = [record.note(outcome)]
    if outcome.state == "right":
        notes.append(record.note_ops(outcome.exercise, trial.ops.total()))
    words = outcome.text or row.sentence
    note = " ".join(filter(None, notes))
    show.message(outcome.state, f"{name} {outcome.state}.", words, outcome.rows, note)
    if trial.case is not None:
        case = trial.case
        _draw(grids.side_by_side(named(row, case.inputs), case.got, case.expected))
    elif outcome.state == "open":
        _draw(grids.example(named(row, row.example), np.asarray(row.expected(*row.example))))


def puzzles() -> None:
    """The scoreboard: which puzzles are done, and with how many ops."""
    file = record.place()
    noted, said = record.read(file) if file else ({}, NOWHERE)
    body = [_score(row, noted.get(exercise_of(row).name, {})) for row in PUZZLES]
    done = sum(bool(line[1]) for line in body)
    show.both(*as_table(HEADINGS, body, f"{done} of {len(PUZZLES)} done. {said}".rstrip()))


def _score(row: Puzzle, entry: record.Entry) -> tuple[str, ...]:
    """A row under HEADINGS."""
    ops = entry.get("ops")
    words = ""
    if ops is not None:
        below = row.par - ops
        words = f"{below} under par" if below > 0 else "par" if below == 0 else f"{-below} over"
    return row.name, "✓" * entry.get("done", False), str(ops or "-"), str(row.par), words


def named(row: Puzzle, inputs: Inputs) -> list[tuple[str, Any]]:
    """Inputs with the names that the notebook gives them."""
    return list(zip(row.parameters, inputs, strict=True))


def _draw(picture: Picture) -> None:
    show.both(picture.text, picture.html())
