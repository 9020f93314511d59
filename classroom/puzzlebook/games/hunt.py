"""Part 10c: twenty questions about tinyframe's source. Thirteen ask for a name, seven for a change.

Nothing is counted but that a question is answered. `hunted.py` finds what is right, by running
tinyframe and looking on; `changes.py` tries a change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from classroom.puzzlebook.game import Game, Puzzle
from tinyframe.viz.picture import Picture


@dataclass(frozen=True)
class Question(Puzzle):
    """One of the twenty. check: as an exercise has it. par and best mean nothing here."""

    check: Callable[[Any], str]
    seconds: float = field(default=30.0, kw_only=True)

    def trial(self) -> Search:
        return Search(self)


@dataclass(frozen=True)
class Search:
    """One try at a question. Nothing is scored or drawn."""

    question: Question

    @property
    def score(self) -> None:
        return None

    def check(self, answer: Any) -> str:
        return self.question.check(answer)

    def picture(self) -> Picture | None:
        return None


GAME = Game("hunt", "10c", "The scavenger hunt", "")
