"""What a learner calls in a notebook: `puzzle("outer", outer)`, and `puzzles()` for the scoreboard."""

from __future__ import annotations

from typing import Any

import numpy as np

from classroom.exercise import judge
from classroom.learner import record, show
from classroom import grids
from classroom.puzzlebook.judge import Trial
from classroom.puzzlebook.table import BY_NAME, Inputs, Puzzle
from tinyframe.viz.picture import Picture


def puzzle(name: str, answer: Any = ...) -> None:
    """Try an answer to a puzzle: say whether it is right and how many ops it takes, and draw a wrong
    one beside the right one. Without an answer, or with an empty one, draw the example."""
    if (row := BY_NAME.get(name)) is None:
        known = ", ".join(BY_NAME)
        show.message("note", "", f"There is no puzzle {name!r}. There are {known}.")
        return
    trial = Trial(row)
    outcome = judge(trial.exercise, answer)
    note = record.note(outcome)
    show.message(outcome.state, f"{name} {outcome.state}.", outcome.text or row.sentence,
                 outcome.rows, note)  # fmt: skip
    if trial.case:
        case = trial.case
        _draw(grids.side_by_side(named(row, case.inputs), case.got, case.expected))
    elif outcome.state == "open":
        expected = np.asarray(row.expected(*row.example))
        _draw(grids.example(named(row, row.example), expected))


def named(row: Puzzle, inputs: Inputs) -> list[tuple[str, Any]]:
    """Inputs with the names that the notebook gives them."""
    return list(zip(row.parameters, inputs, strict=True))


def _draw(picture: Picture) -> None:
    show.both(picture.text, picture.html())
