"""What a learner calls in a notebook: `puzzle("outer", outer)`, and `puzzles()`, the scoreboard."""

from __future__ import annotations

from typing import Any

from classroom.exercise import judge
from classroom.learner import record, show
from classroom.learner.progress import NOWHERE, as_table
from classroom.puzzlebook.game import Game, Puzzle, Score, by_name, exercise_of, games, total
from tinyframe.viz.picture import Picture


def puzzle(name: str, answer: Any = ...) -> None:
    """Try an answer to a puzzle: say whether it is right, and what it scores.

    A wrong answer is drawn beside the right one; without an answer, the example is drawn.
    """
    if (row := by_name().get(name)) is None:
        there = ", ".join(by_name())
        show.message("note", "", f"There is no puzzle {name!r}. There are {there}.")
        return
    trial = row.trial()
    outcome = judge(exercise_of(row, trial.check), answer)
    notes = [record.note(outcome)]
    if outcome.state == "right" and trial.score is not None:
        notes.append(record.note_score(outcome.exercise, trial.score))
    words = outcome.text or row.sentence
    note = " ".join(filter(None, notes))
    show.message(outcome.state, f"{name} {outcome.state}.", words, outcome.rows, note)
    drawn = row.example() if outcome.state == "open" else trial.picture()
    if drawn is not None:
        _draw(drawn)


def puzzles(name: str = "one-liners") -> None:
    """The scoreboard of a game: which puzzles are done, and in how many; of those, the fewest
    known."""
    game = next((game for game in games() if game.name == name), None)
    if game is None:
        there = ", ".join(game.name for game in games())
        show.message("note", "", f"There is no game {name!r}. There are {there}.")
        return
    file = record.place()
    noted, said = record.read(file) if file else ({}, NOWHERE)
    entries = [(row, noted.get(exercise_of(row).name, {})) for row in game.puzzles]
    body = [_score(row, entry, bool(game.unit)) for row, entry in entries]
    done = [(row, entry) for row, entry in entries if entry.get("done")]
    if counted := [(row, entry["score"]) for row, entry in done if "score" in entry]:
        scores = [score for _, score in counted]
        body.append(("total", str(len(counted)), *_numbers(scores, [row for row, _ in counted])))
    seen = sum(entry.get("helped", False) for _, entry in done)
    with_help = f", {seen} after a look at the answer" if seen else ""
    after = f"{len(done)} of {len(game.puzzles)} done{with_help}. {said}".rstrip()
    show.both(*as_table(_headings(game), body, after))


def _headings(game: Game) -> tuple[str, ...]:
    if not game.unit:
        return "puzzle", "done", ""
    return "puzzle", "done", f"your {game.unit}", "par", "best known", ""


def _score(row: Puzzle, entry: record.Entry, counts: bool) -> tuple[str, ...]:
    """A row under the headings. counts: whether there is a score."""
    mark = "✓" * entry.get("done", False)
    if not counts:
        cells, words = [mark], ""
    elif "score" in entry:
        *cells, words = mark, *_numbers([entry["score"]], [row])
    else:
        *cells, words = mark, "-", str(row.par_here), "", ""
    said = ", ".join(filter(None, [words, "answer seen" * entry.get("helped", False)]))
    return row.name, *cells, said


def _numbers(scores: list[Score], rows: list[Puzzle]) -> tuple[str, ...]:
    """What was scored beside the pars of these puzzles and the fewest known, and a word on it."""
    par = sum(row.par_here for row in rows)
    below = par - sum(scores)
    words = f"{below:g} under par" if below > 0 else "par" if below == 0 else f"{-below:g} over"
    return total(scores), total([par]), total([row.best for row in rows]), words


def _draw(picture: Picture) -> None:
    show.both(picture.text, picture.html())
