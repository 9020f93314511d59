"""What a scored puzzle is, whatever is asked and counted; a game is a set of them.

    puzzle("outer", outer)      tries an answer: right or wrong, drawn, and its score kept
    puzzles("golf")             the scoreboard of a game

Each module of `classroom/puzzlebook/games/` has a `GAME`, and derives its puzzles from `Puzzle`.
Each of these stands in a file beside its lesson, `classroom/lessons/puzzles/puzzle_outer.py`: its
words as the docstring, like an exercise's, then `puzzle`, then planted answers. Names are unique
among all games. The fewer the better, whatever `unit` says is counted; where it says nothing,
nothing is counted, and a trial has no score.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from classroom.exercise import Exercise
from classroom.exercise_file import Description, description, load
from classroom.exercises import order, place_of
from classroom.lesson_text import PUZZLE
from tinyframe.viz.picture import Picture

Score = int | float


class Trial(Protocol):
    """One try at a puzzle, made anew for each answer."""

    @property
    def score(self) -> Score | None:
        """What a right answer took; None as long as there is none."""

    def check(self, answer: Any) -> str:
        """What a right answer is told. Wrong, with a sentence, if it is not right."""

    def picture(self) -> Picture | None:
        """What is drawn beneath what is said."""


@dataclass(frozen=True, kw_only=True)
class Puzzle:
    """par: what the worked answer takes, where that is the same on every machine. best: the fewest
    that anybody has found, a dare. seconds: how long a try may take. words: the docstring of its
    file, which also gives it its name."""

    par: Score = 0
    best: Score = 0
    seconds: float = 10.0
    name: str = ""
    words: Description = Description("", (), "")

    @property
    def par_here(self) -> Score:
        """Par on this machine."""
        return self.par

    @property
    def sentence(self) -> str:
        return self.words.title

    @property
    def hints(self) -> tuple[str, ...]:
        return self.words.hints

    @property
    def because(self) -> str:
        return self.words.because

    def trial(self) -> Trial:
        """A new try."""
        raise NotImplementedError

    def example(self) -> Picture | None:
        """What is drawn while there is no answer."""
        return None


@dataclass(frozen=True)
class Game:
    """Puzzles that are scored alike. name: as in `puzzles("golf")`. part: the notebook it is in, as
    "7c". unit: what a score counts, in the plural; "" where all that counts is that it's done."""

    name: str
    part: str
    title: str
    unit: str

    @property
    def puzzles(self) -> tuple[Puzzle, ...]:
        """Its puzzles, in the order of the notebook."""
        return _puzzles_of(self.part)


@cache
def _puzzles_of(part: str) -> tuple[Puzzle, ...]:
    return tuple(
        _loaded(place_of(notebook, name), name.removeprefix(PUZZLE))
        for notebook, names in order().items() if notebook.lstrip("0").startswith(f"{part}_")
        for name in names if name.startswith(PUZZLE)
    )  # fmt: skip


def _loaded(file: Path, name: str) -> Puzzle:
    module = load(file)
    return replace(module.puzzle, name=name, words=description(module.__doc__ or ""))


@cache
def games() -> tuple[Game, ...]:
    """All of them, in the order of the course."""
    from classroom.puzzlebook import games as package

    names = [module.name for module in pkgutil.iter_modules(package.__path__)]
    found: list[Game] = [import_module(f"{package.__name__}.{name}").GAME for name in names]
    return tuple(sorted(found, key=lambda game: (len(game.part), game.part)))


@cache
def by_name() -> dict[str, Puzzle]:
    """The puzzles of all games."""
    return {puzzle.name: puzzle for game in games() for puzzle in game.puzzles}


def exercise_of(puzzle: Puzzle, check: Callable[[Any], str] | None = None) -> Exercise:
    """The puzzle as an exercise, to be judged, helped with and kept like one."""
    return Exercise(
        puzzle.name,
        f"{PUZZLE}{puzzle.name}",
        puzzle.sentence,
        check or (lambda answer: puzzle.trial().check(answer)),
        puzzle.hints,
        because=puzzle.because,
        seconds=puzzle.seconds,
    )


def against_par(score: Score, puzzle: Puzzle) -> str:
    """What a score is worth; where fewer are known to be enough, that is a dare."""
    par, best = puzzle.par_here, puzzle.best
    if score < best:
        return f"Par is {par}, and the shortest way we knew has {best}. Yours is shorter. Keep it!"
    if score == best:
        return f"{'That is par' if score == par else f'Par is {par}'}, and we know no better way."
    against = "That is par." if score == par else f"Par is {par}."
    return f"{against} It can be done in {best}. Can you?"


def total(scores: list[Score]) -> str:
    """Their sum, as it is said: 54, or 2.5."""
    return f"{sum(scores):g}"
