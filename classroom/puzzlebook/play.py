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

HEADINGS = ("puzzle", "done", "your ops", "par", "best known", "")


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
    """The scoreboard: which puzzles are done, and with how many ops; of those, the fewest known."""
    file = record.place()
    noted, said = record.read(file) if file else ({}, NOWHERE)
    entries = [(row, noted.get(exercise_of(row).name, {})) for row in PUZZLES]
    body = [_score(row, entry) for row, entry in entries]
    done = [(row, entry) for row, entry in entries if entry.get("done")]
    if counted := [(row, entry["ops"]) for row, entry in done if "ops" in entry]:
        body.append(
            ("total", *_numbers(sum(ops for _, ops in counted), [row for row, _ in counted]))
        )
    seen = sum(entry.get("helped", False) for _, entry in done)
    with_help = f", {seen} after a look at the answer" if seen else ""
    after = f"{len(done)} of {len(PUZZLES)} done{with_help}. {said}".rstrip()
    show.both(*as_table(HEADINGS, body, after))


def _score(row: Puzzle, entry: record.Entry) -> tuple[str, ...]:
    """A row under HEADINGS."""
    if "ops" not in entry:
        cells = ("✓" * entry.get("done", False), "-", str(row.par), "", "")
    else:
        cells = ("✓" * entry.get("done", False), *_numbers(entry["ops"], [row])[1:])
    words = ", ".join(filter(None, [cells[-1], "answer seen" * entry.get("helped", False)]))
    return row.name, *cells[:-1], words


def _numbers(ops: int, rows: list[Puzzle]) -> tuple[str, ...]:
    """Ops beside the pars of these puzzles and the fewest ops known, under HEADINGS[1:]."""
    par, best = sum(row.par for row in rows), sum(row.best for row in rows)
    below = par - ops
    words = f"{below} under par" if below > 0 else "par" if below == 0 else f"{-below} over"
    return str(len(rows)), str(ops), str(par), str(best), words


def named(row: Puzzle, inputs: Inputs) -> list[tuple[str, Any]]:
    """Inputs with the names that the notebook gives them."""
    return list(zip(row.parameters, inputs, strict=True))


def _draw(picture: Picture) -> None:
    show.both(picture.text, picture.html())
