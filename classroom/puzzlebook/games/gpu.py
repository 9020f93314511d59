"""Part 8c: twelve kernels for a GPU that need not be there, scored by loads from its memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np

from classroom import grids
from classroom.cuda.judging import Inputs, Judgement, Task
from classroom.cuda.running import Size
from classroom.puzzlebook.game import Game, Puzzle, against_par
from tinyframe.viz.picture import Picture

T = 8  # threads in a block
WIDE, WIDER = 16, 32  # threads in a block whose work is a tree
SIDE = 4  # of a block of threads with two axes


@dataclass
class KernelTrial:
    """One try at a puzzle."""

    puzzle: KernelPuzzle
    judgement: Judgement

    @property
    def score(self) -> float | None:
        return self.judgement.loads

    def check(self, answer: Any) -> str:
        said = self.judgement.check(answer)
        assert self.score is not None
        return f"{said} {against_par(self.score, self.puzzle)}"

    def picture(self) -> Picture | None:
        return self.judgement.picture()


@dataclass(frozen=True)
class KernelPuzzle(Puzzle):
    """A kernel to be written. score: loads from the GPU's memory for each result, in the
    example."""

    task: Task
    seconds: float = field(default=60.0, kw_only=True)
    par: float = field(default=1, kw_only=True)
    best: float = field(default=1, kw_only=True)

    def trial(self) -> KernelTrial:
        return KernelTrial(self, Judgement(self.task))

    def example(self) -> Picture:
        inputs = self.task.example
        shown = [(name, value) for name, value in inputs.items() if isinstance(value, np.ndarray)]
        return grids.example(shown, np.asarray(self.task.expected(**inputs)))


# ---- inputs --------------------------------------------------------------------------------------


def some(*shape: int) -> np.ndarray:
    """1, 2, 3, … as floats, and after 9 again from 1."""
    return (np.arange(np.prod(shape)) % 9 + 1).astype(np.float32).reshape(shape)


def numbers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Whole numbers from -9 to 20: floats add them up exactly, in any order."""
    return rng.integers(-9, 21, shape).astype(np.float32)


def vector(rng: np.random.Generator, least: int, most: int) -> Inputs:
    n = int(rng.integers(least, most + 1))
    return {"a": numbers(rng, n), "n": n}


# ---- what has to come out ------------------------------------------------------------------------


def plus_ten(a: np.ndarray, **_: Any) -> np.ndarray:
    return a + 10


# ---- how many threads, and blocks ----------------------------------------------------------------


def a_block(**_: Any) -> Size:
    return (T,)


def a_wide_block(**_: Any) -> Size:
    return (WIDE,)


def a_square(**_: Any) -> Size:
    return (SIDE, SIDE)


def enough(n: int, **_: Any) -> Size:
    """So many blocks that each of n results has a thread."""
    return (ceil(n / T),)


GAME = Game("gpu", "8c", "Twelve GPU puzzles", "loads for each result")
