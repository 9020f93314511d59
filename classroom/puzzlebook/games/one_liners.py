"""Part 3b: twenty puzzles of one line, scored by the ops that they take."""

from __future__ import annotations

from classroom.puzzlebook.game import Game
from classroom.puzzlebook.table import PUZZLES

GAME = Game("one-liners", "3b", "Twenty one-liners", "ops", PUZZLES)
