"""What a scored puzzle is, whatever is asked and counted; a game is a set of them.

    puzzle("outer", outer)      tries an answer: right or wrong, drawn, and its score kept
    puzzles("golf")             the scoreboard of a game

Each module of `classroom/puzzlebook/games/` has a `GAME`. A puzzle of it is any object with what
`Puzzle` lists (a frozen dataclass, say); nothing has to be derived from it. Names are unique among
all games. The fewer the better, whatever `unit` says is counted; where it says nothing, nothing is
counted, and a trial has no score.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from classroom.exercise import Exercise
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


class Puzzle(Protocol):
    """par: what the worked answer takes. best: the fewest that anybody has found, a dare."""

    @property
    def name(self) -> str: ...
    @property
    def sentence(self) -> str: ...
    @property
    def par(self) -> Score: ...
    @property
    def best(self) -> Score: ...
    @property
    def hints(self) -> tuple[str, ...]: ...
    @property
    def because(self) -> str: ...

    def trial(self) -> Trial:
        """A new try."""

    def example(self) -> Picture | None:
        """What is drawn while there is no answer."""


@dataclass(frozen=True)
class Game:
    """Puzzles that are scored alike. name: as in `puzzles("golf")`. part: the notebook it is in, as
    "7c". unit: what a score counts, in the plural; "" where all that counts is that it's done."""

    name: str
    part: str
    title: str
    unit: str
    puzzles: tuple[Puzzle, ...]


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
        f"puzzle-{puzzle.name}",
        puzzle.sentence,
        check or (lambda answer: puzzle.trial().check(answer)),
        puzzle.hints,
        because=puzzle.because,
        seconds=getattr(puzzle, "seconds", 10.0),
    )


def against_par(score: Score, puzzle: Puzzle) -> str:
    """What a score is worth; where fewer are known to be enough, that is a dare."""
    par, best = puzzle.par, puzzle.best
    if score < best:
        return f"Par is {par}, and the shortest way we knew has {best}. Yours is shorter. Keep it!"
    if score == best:
        return f"{'That is par' if score == par else f'Par is {par}'}, and we know no better way."
    against = "That is par." if score == par else f"Par is {par}."
    return f"{against} It can be done in {best}. Can you?"


def total(scores: list[Score]) -> str:
    """Their sum, as it is said: 54, or 2.5."""
    return f"{sum(scores):g}"
