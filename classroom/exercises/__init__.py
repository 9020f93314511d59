"""The exercises of every part: a file for each, in `classroom/lessons/`, in its lesson's folder.

What such a file says and holds is in `exercise_file.py`. Its code defines `check`, a function of
the answer, or what comes true of a prediction, `predicts(…)`; and SECONDS, how long a check may
take, if 10 are too few. Its name is the one that the exercise keeps: `rules_bounds.py` is
rules-bounds. What several exercises of a lesson need is in `shared.py` beside them. `order.json`
has the order, from which the numbers are made.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from classroom.exercise import Exercise
from classroom.exercise_file import description, load
from classroom.guesses import Prediction
from classroom.lesson_text import PUZZLE, file_of, numbers

LESSONS = Path(__file__).resolve().parents[1] / "lessons"
TITLES = {
    1: "Why tinyframe", 2: "Wrong bills and lost time", 3: "Tensors", 4: "Lazy evaluation",
    5: "Three kinds of op", 6: "Gradients and training", 7: "The compiler", 8: "Devices",
    9: "Projects and portfolio", 10: "Reading the source", 11: "Contributing",
}  # fmt: skip


def parts() -> dict[int, str]:
    """The parts that have exercises, and their titles; a part of a fork's own is called by the name
    of its first lesson."""
    first = {int(notebook[:2]): notebook.partition("_")[2] for notebook in reversed(order())}
    own = {part: name.replace("_", " ").capitalize() for part, name in first.items()}
    return dict(sorted((own | TITLES).items()))


@cache
def order() -> dict[str, list[str]]:
    """The names of the exercises of each notebook (`07a_rules`), in order; of puzzles, too."""
    return json.loads((LESSONS / "order.json").read_text(encoding="utf-8"))


@cache
def exercises(part: int) -> tuple[Exercise, ...]:
    """Those of a part, in order; none where there is no such part."""
    return tuple(_loaded(file, number) for file, number in _files(part))


def place_of(notebook: str, name: str) -> Path:
    """The file of an exercise."""
    return LESSONS / notebook.partition("_")[2] / file_of(name)


def _files(part: int) -> list[tuple[Path, str]]:
    """The files of a part's exercises, with their numbers."""
    numbered = numbers(order())
    return [
        (place_of(notebook, name), numbered[name])
        for notebook, names in order().items() if int(notebook[:2]) == part
        for name in names if not name.startswith(PUZZLE)
    ]  # fmt: skip


def find(number: str) -> Exercise:
    """The exercise of that number or name, the puzzle of that name, or the function of mini.
    LookupError, with what there is, where there is none."""
    from classroom.mini import helping

    number = numbers(order()).get(number, str(number))
    if found := next((p for p in puzzles() if p.number == number), None) or helping.find(number):
        return found
    part = number.split(".")[0]
    there = exercises(int(part)) if part.isdecimal() else ()
    for exercise in there:
        if exercise.number == number:
            return exercise
    known = f"; part {part} has {there[0].number} to {there[-1].number}" if there else ""
    raise LookupError(f"There is no exercise {number!r}{known}.")


@cache
def puzzles() -> tuple[Exercise, ...]:
    """The puzzles of all games, as exercises whose numbers are names."""
    from classroom.puzzlebook.game import by_name, exercise_of

    return tuple(exercise_of(puzzle) for puzzle in by_name().values())


def _loaded(file: Path, number: str) -> Exercise:
    module = load(file)
    title, hints, because, right = description(module.__doc__ or "")
    return Exercise(
        number,
        file.stem.replace("_", "-"),
        title,
        module.check,
        hints,
        shown_by="the next cell" if isinstance(module.check, Prediction) else "",
        because=because,
        right=right,
        seconds=getattr(module, "SECONDS", Exercise.seconds),
    )
