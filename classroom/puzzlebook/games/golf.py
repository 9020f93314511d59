"""Part 7c: matmul golf. Nearly as fast as the plan's loops, with as few Opts as possible.
Par is what the plan takes on this machine.

The learner's kernel and the plan's run in turns, so that a busy machine slows both down alike, and
what counts is the least time of each. Too slow is no wrong answer: nothing is kept of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from classroom.ask import describe
from classroom.exercise import Open, Wrong
from classroom.puzzlebook.game import Game, Puzzle, against_par
from classroom.race import least, planned_opts, ready, undisturbed
from classroom.speed import Card, cards, rate
from tinyframe.codegen.optimize.loops import KernelOptError, Opt
from tinyframe.tensor.core import Tensor
from tinyframe.viz.picture import DrawnPicture

GOAL = 0.9  # of the speed of the plan's loops
ROUNDS = 4  # of a few runs each, before a list of Opts is said to be too slow
HOPELESS = 0.6  # of it: then one round is enough to know


@dataclass(frozen=True)
class Hole(Puzzle):
    """A product of matrices of one size."""

    size: int
    # for a race on a busy machine; a loop that never ends can't be an answer
    seconds: float = field(default=90.0, kw_only=True)

    @property
    def sentence(self) -> str:
        return (
            f"{self.size} × {self.size} times {self.size} × {self.size}: reach {GOAL:.0%} of what "
            "the plan's loops reach, with as few Opts as you can."
        )

    @property
    def par_here(self) -> int:
        a, b = matrices(self.size)
        return len(planned_opts(a @ b))

    def trial(self) -> Stroke:
        return Stroke(self)


@dataclass
class Stroke:
    """One try. seconds: the least that the learner's kernel took, and the plan's."""

    hole: Hole
    score: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def check(self, answer: Any) -> str:
        """What a right answer is told. Wrong where the Opts can't be applied or change the values;
        Open, with what is missing, where they are too slow."""
        opts = opts_of(answer)
        a, b = matrices(self.hole.size)
        try:
            mine = ready(a @ b, opts)
        except KernelOptError as error:
            raise Wrong(f"{error}.") from None
        mine()
        if not np.allclose(mine.values(), (a.numpy() @ b.numpy()).ravel(), rtol=1e-3):
            raise Wrong("With these Opts the kernel computes different numbers.")
        runs = {"yours": undisturbed(mine), "the plan's": undisturbed(ready(a @ b))}
        for _ in range(ROUNDS):
            now = least(runs)
            self.seconds = {label: min(took, self.seconds.get(label, took))
                            for label, took in now.items()}  # fmt: skip
            if self.reached >= GOAL or self.reached < HOPELESS:
                break
        if self.reached < GOAL:
            raise Open(
                f"The numbers are right, and it isn't fast enough yet: {self.reached:.0%} of what "
                f"the plan's loops reach. The goal is {GOAL:.0%}."
            )
        self.score = len(opts)
        said = f"{self.score} Opt{'s' * (self.score != 1)}"
        return f"{said} for {self.reached:.0%} of the plan's speed. " + against_par(
            self.score, self.hole
        )

    @property
    def reached(self) -> float:
        return self.seconds["the plan's"] / self.seconds["yours"]

    def picture(self) -> DrawnPicture | None:
        """Both speeds, once there are two."""
        if not self.seconds:
            return None
        operations = 2 * self.hole.size**3
        row = ("the plan's", "yours")  # the first is grey, as in a race
        return cards([Card(label, rate(operations, self.seconds[label])) for label in row])


def opts_of(answer: Any) -> list[Opt]:
    if isinstance(answer, str) or not hasattr(answer, "__iter__"):
        raise Wrong("The answer has to be a list of Opts.", got=describe(answer))
    opts = list(answer)
    for opt in opts:
        if not isinstance(opt, Opt):
            raise Wrong("Everything in the list has to be an Opt.", got=describe(opt))
    return opts


@cache
def matrices(size: int) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(size)
    a, b = (Tensor(rng.random((size, size), np.float32)).realize() for _ in range(2))
    return a, b


GAME = Game("golf", "7c", "Matmul golf", "Opts")
