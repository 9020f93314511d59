"""What an answer to a puzzle is worth: right on every case, with the tools that are allowed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from classroom import grids
from classroom.ask import call, same_values, wants
from classroom.exercise import Wrong, wrong_if
from classroom.puzzlebook import ops
from classroom.puzzlebook.game import against_par
from classroom.puzzlebook.games.one_liners import NODES, Inputs, OneLiner
from tinyframe import Tensor
from tinyframe.dtype import dtypes
from tinyframe.uop import Ops
from tinyframe.viz.picture import Picture

# Names that are no tools, and may be used anywhere.
FREE = {"Tensor", "len"}
# What any answer may build: the ops that are counted, and what inputs and constants are made of.
PLAIN = {*ops.KINDS, Ops.BUFFER, Ops.CONST, Ops.DEVICE, Ops.UNIQUE,
         Ops.DETACH}  # of a // on floats, which is an operator like any other  # fmt: skip
FIXED = (9, 5, 2, 11)  # seeds of the cases that are the same each time: sizes odd, even and 1


@dataclass(frozen=True)
class Case:
    """What an answer was called with, what it gave, and what is right."""

    inputs: Inputs
    got: np.ndarray
    expected: np.ndarray


@dataclass
class Trial:
    """One try at a puzzle. ops: those of the example. case: the one that went wrong."""

    puzzle: OneLiner
    ops: Counter[str] = field(default_factory=Counter)
    case: Case | None = None

    @property
    def score(self) -> int | None:
        return self.ops.total() if self.ops else None

    def picture(self) -> Picture | None:
        """The case that went wrong: what came, beside what is right."""
        if (case := self.case) is None:
            return None
        return grids.side_by_side(self.puzzle.named(case.inputs), case.got, case.expected)

    def check(self, answer: Any) -> str:
        """What a right answer is told; Wrong with a sentence, and then `case` is what to draw."""
        for inputs in cases(self.puzzle):
            tensors = [Tensor(x).realize() if isinstance(x, np.ndarray) else x for x in inputs]
            got = call(answer, *tensors)
            refuse(self.puzzle, answer)
            wants(got, Tensor, "a Tensor")
            self.ops = self.ops or ops.count(got, *(t for t in tensors if isinstance(t, Tensor)))
            refuse_nodes(self.puzzle, got)
            expected = np.asarray(self.puzzle.expected(*inputs))
            try:
                same_values(
                    got.int() if got.dtype == dtypes.bool else got,
                    expected,
                    called(self.puzzle, inputs),
                )
            except Wrong as wrong:  # the values are drawn, so that they need not be listed
                self.case = Case(inputs, got.numpy(), expected)
                raise Wrong(str(wrong), called(self.puzzle, inputs)) from None
        return f"{ops.described(self.ops)}. {against_par(self.ops.total(), self.puzzle)}"


def cases(puzzle: OneLiner) -> Iterator[Inputs]:
    """The example, a few that are the same each time, and one that is not."""
    yield puzzle.inputs
    for seed in (*FIXED, None):
        yield puzzle.fresh(np.random.default_rng(seed))


def called(puzzle: OneLiner, inputs: Inputs) -> str:
    """The call as it would be written: `outer([1, 2, 3], [10, 20])`."""
    return f"`{puzzle.name}({', '.join(str(np.asarray(x).tolist()) for x in inputs)})`"


def refuse(puzzle: OneLiner, answer: Any) -> None:
    """Wrong if the answer calls something that this puzzle does not allow."""
    wrong_if(not ops.is_learners(answer), "Write a function of your own, with `def` or `lambda`.")
    allowed = {*puzzle.tools, *FREE}
    if not_allowed := sorted(ops.names(answer) - allowed):
        raise Wrong(f"`{not_allowed[0]}` is not one of the tools for this puzzle. You have "
                    "operators, slices, and "
                    f"{', '.join(f'`{tool}`' for tool in puzzle.tools)}.")  # fmt: skip


def refuse_nodes(puzzle: OneLiner, got: Tensor) -> None:
    """Wrong if a tool that is not allowed was used in disguise, as a[::-1] is a flip."""
    found = {u.op for u in got.uop.toposort()}
    hidden = [tool for tool in puzzle.without if NODES[tool] in found]
    if hidden:
        node = NODES[hidden[0]].name
        raise Wrong(f"Your graph has a node called {node}, the one that `{hidden[0]}` makes. Do "
                    "this one without it.")  # fmt: skip
    if odd := found - PLAIN:
        node = min(op.name for op in odd)
        raise Wrong(f"Your graph has a {node} node, which no tool of this puzzle makes.")
