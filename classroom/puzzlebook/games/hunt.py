"""Part 10c: twenty questions about tinyframe's source. Thirteen ask for a name, seven for a change.

Nothing is counted but that a question is answered. `hunted.py` finds what is right, by running
tinyframe and looking on; `changes.py` tries a change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from classroom.puzzlebook import changes, hunted
from classroom.puzzlebook.game import Game, Puzzle
from classroom.puzzlebook.hunted import Names, Words
from tinyframe.viz.picture import Picture

__all__ = ["Names", "Question", "Words", "changes", "hunted"]  # what a question is made of


@dataclass(frozen=True)
class Question(Puzzle):
    """One of the twenty. check: as an exercise has it. par and best mean nothing here. It is its
    own trial: nothing is scored or drawn."""

    check: Callable[[Any], str]
    seconds: float = field(default=30.0, kw_only=True)

    @property
    def score(self) -> None:
        return None

    def trial(self) -> Question:
        return self

    def picture(self) -> Picture | None:
        return None


GAME = Game("hunt", "10c", "The scavenger hunt", "")
