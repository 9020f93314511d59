"""Part 3b: twenty puzzles of one line, scored by the ops that they take.

What is asked, in NumPy; a small example; what may be used; the par. A test says what `par` has to
be, and holds an answer that takes `best`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from classroom import grids
from classroom.puzzlebook.game import Game, Puzzle
from tinyframe.uop import Ops
from tinyframe.viz.picture import Picture

if TYPE_CHECKING:
    from classroom.puzzlebook.judge import Trial

Inputs = tuple[Any, ...]  # arrays of int32 or float32, and ints

# What every puzzle may use, besides operators (+ - * / // % @, comparisons, & |) and slices.
TOOLS = ("arange", "ones", "where", "sum", "max", "reshape", "expand", "T", "flip", "pad", "shape")

# The nodes that give away a tool which was used under a different name: a[::-1] is a flip.
NODES = {"arange": Ops.IOTA, "flip": Ops.FLIP, "pad": Ops.PAD}


@dataclass(frozen=True)
class OneLiner(Puzzle):
    """One puzzle.

    call: the function and its parameters, as "outer(a, b)". inputs: those of the case that is drawn
    first. expected: the right values, by NumPy. fresh: more inputs, small enough to be drawn. par:
    how many ops the worked answer takes (see `ops.count`). without: which of TOOLS may not be used.
    also: which method may be, beyond TOOLS.
    """

    call: str
    inputs: Inputs
    expected: Callable[..., Any]
    fresh: Callable[[np.random.Generator], Inputs]
    without: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(self.call.partition("(")[2].removesuffix(")").split(", "))

    def trial(self) -> Trial:
        from classroom.puzzlebook.judge import Trial  # which reads this table

        return Trial(self)

    def example(self) -> Picture:
        """The inputs of that case, and what is right for them."""
        return grids.example(self.named(self.inputs), np.asarray(self.expected(*self.inputs)))

    def named(self, inputs: Inputs) -> list[tuple[str, Any]]:
        """Inputs with the names that the notebook gives them."""
        return list(zip(self.parameters, inputs, strict=True))

    @property
    def tools(self) -> tuple[str, ...]:
        return *(tool for tool in TOOLS if tool not in self.without), *self.also


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def floats(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


# ---- fresh inputs -------------------------------------------------------------------------------


def size(rng: np.random.Generator, least: int = 2, most: int = 7) -> int:
    return int(rng.integers(least, most + 1))


def numbers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Whole numbers from -9 to 20, zero among them."""
    return rng.integers(-9, 21, shape, dtype=np.int32)


def different(rng: np.random.Generator, count: int) -> np.ndarray:
    """Whole numbers from -20 to 20, no two of them equal."""
    return (rng.permutation(41)[:count] - 20).astype(np.int32)


def labels(rng: np.random.Generator, below: int) -> np.ndarray:
    return rng.integers(0, below, size(rng), dtype=np.int32)


def a_size(rng: np.random.Generator) -> Inputs:
    return (size(rng, 1),)


def a_vector(rng: np.random.Generator) -> Inputs:
    return (numbers(rng, size(rng, 3)),)


def labels_and_count(rng: np.random.Generator) -> Inputs:
    below = size(rng, 3, 6)
    return labels(rng, below), below


GAME = Game("one-liners", "3b", "Twenty one-liners", "ops")
