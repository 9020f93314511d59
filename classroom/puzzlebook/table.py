"""The puzzles, a row each: what is asked, in NumPy; a small example; what may be used; the par.

    Puzzle("outer(a, b)", "Every product of …", (ints(1, 2, 3), ints(10, 20)), np.outer, …)

To add one, add a row here and a cell to the worked notebook; a test says what `par` has to be, and
holds an answer that takes `best`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from classroom import grids
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
class Puzzle:
    """One puzzle.

    call: the function and its parameters, as "outer(a, b)". sentence: what it has to give.
    inputs: those of the case that is drawn first. expected: the right values, by NumPy.
    fresh: more inputs, small enough to be drawn. par: how many ops the worked answer takes (see
    `ops.count`). best: the fewest that anybody has found, which is a dare. without: which of TOOLS
    may not be used. also: which method may be, beyond TOOLS.
    """

    call: str
    sentence: str
    inputs: Inputs
    expected: Callable[..., Any]
    fresh: Callable[[np.random.Generator], Inputs]
    par: int
    best: int
    hints: tuple[str, str]
    because: str
    without: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.call.partition("(")[0]

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


def two_vectors(rng: np.random.Generator) -> Inputs:
    return numbers(rng, size(rng)), numbers(rng, size(rng))


def labels_and_count(rng: np.random.Generator) -> Inputs:
    below = size(rng, 3, 6)
    return labels(rng, below), below


# ---- right answers that NumPy has no function for -----------------------------------------------


def one_hot(labels: np.ndarray, n: int) -> np.ndarray:
    return np.eye(n, dtype=np.int32)[labels]


def padded(a: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([a, np.zeros(n - len(a), a.dtype)])


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([[((p - q) ** 2).sum() for q in b] for p in a])


def swapped(a: np.ndarray) -> np.ndarray:
    return np.roll(a, len(a) // 2)


PUZZLES = (
    Puzzle(
        "outer(a, b)",
        "Every product of an element of `a` and an element of `b`: a table with a row for each "
        "element of `a`.",
        (ints(1, 2, 3), ints(10, 20)),
        np.outer,
        two_vectors,
        par=5,
        best=5,
        hints=(
            "What happens when a column meets a row?",
            "`a[:, None]` is a column, and so is `a.reshape(-1, 1)`. Multiply it by `b`.",
        ),
        because="The column is stretched to the right and the row downwards; then one "
        "multiplication does the rest.",
    ),
    Puzzle(
        "eye(n)",
        "The identity matrix of shape `(n, n)`: 1 where row and column have the same "
        "number, 0 elsewhere.",
        (3,),
        lambda n: np.eye(n),
        a_size,
        par=6,
        best=4,
        hints=(
            "An element knows its row and its column. Which question do you ask about them?",
            "`Tensor.arange(n)[:, None]` is a column and `Tensor.arange(n)` a row. Which "
            "comparison?",
        ),
        because="A matrix is a rule for row i and column j, and here the rule is `i == j`. True "
        "and False count as 1 and 0.",
    ),
    Puzzle(
        "triu(n)",
        "The upper triangle: 1 where the column's number is at least the row's, 0 elsewhere.",
        (4,),
        lambda n: np.triu(np.ones((n, n))),
        a_size,
        par=7,
        best=5,
        hints=(
            "This is `eye` with a different question about i and j.",
            "`Tensor.arange(n)` is a row, and `[:, None]` makes a column of it. Is `column > row` "
            "almost what you want?",
        ),
        because="`<=` is recorded as *not greater*: one comparison, and one more node that turns "
        "it around.",
    ),
    Puzzle(
        "one_hot(labels, n)",
        "A row for each label, with 1 in the label's column and 0 in the other `n - 1`.",
        (ints(2, 0, 1), 4),
        one_hot,
        labels_and_count,
        par=6,
        best=6,
        hints=(
            "In row i, which column has to be 1?",
            "Compare a column of labels with the row `Tensor.arange(n)`.",
        ),
        because="The identity matrix asks `i == j`; this one asks `labels[i] == j`.",
    ),
    Puzzle(
        "checkerboard(n)",
        "A board of shape `(n, n)` with 0 in the top left corner, where 0 and 1 alternate along "
        "every row and column.",
        (4,),
        lambda n: np.indices((n, n)).sum(0) % 2,
        a_size,
        par=7,
        best=4,
        hints=(
            "Row number plus column number: how does it change with one step down or to the right?",
            "Add a column of `Tensor.arange(n)` to a row of it. What does `% 2` make of that?",
        ),
        because="One step changes i + j by 1, so it goes from even to odd and back.",
    ),
    Puzzle(
        "arange(n)",
        "The numbers 0, 1, 2, … below `n`, without `arange`. `cumsum`, the running sum, is "
        "allowed.",
        (5,),
        lambda n: np.arange(n),
        a_size,
        par=5,
        best=5,
        hints=(
            "What is the running sum of 1, 1, 1, …?",
            "It begins with 1. What do you have to subtract?",
        ),
        because="Counting is adding up ones. (tinyframe has a node for it, IOTA, since it is "
        "needed so often.)",
        without=("arange",),
        also=("cumsum",),
    ),
    Puzzle(
        "diff(a)",
        "Each element minus the one before it: one element fewer.",
        (ints(1, 4, 9, 16),),
        lambda a: np.diff(a),
        a_vector,
        par=4,
        best=4,
        hints=(
            "Put `a` without its first element above `a` without its last one.",
            "`a[1:]` and `a[:-1]` have the same shape.",
        ),
        because="Two slices of one vector, each a view, and one subtraction: no element looks at "
        "its neighbour, but the two meet.",
    ),
    Puzzle(
        "moving_average(a)",
        "The mean of every three neighbours: two elements fewer.",
        (floats(1, 2, 6, 4, 2),),
        lambda a: (a[:-2] + a[1:-1] + a[2:]) / 3,
        lambda rng: (numbers(rng, size(rng, 4, 9)).astype(np.float32),),
        par=6,
        best=6,
        hints=(
            "`diff` had two slices. This has three.",
            "`a[:-2]`, `a[1:-1]` and `a[2:]` have the same shape: add them up.",
        ),
        because="Three views of the same memory, each one step further. In two dimensions this is "
        "a blur.",
    ),
    Puzzle(
        "repeat(a, k)",
        "Each element, `k` times over.",
        (ints(7, 8, 9), 2),
        lambda a, k: np.repeat(a, k),
        lambda rng: (numbers(rng, size(rng)), size(rng, 1, 4)),
        par=3,
        best=3,
        hints=(
            "If each element had a row of its own, as long as `k`, how would you read the table?",
            "`a[:, None]`, then `expand` to `k` columns, then one axis again with `reshape(-1)`.",
        ),
        because="Three movements, and not one number is computed. Expanded the other way round, "
        "with `a[None]`, you would have repeated the whole vector.",
    ),
    Puzzle(
        "swap_halves(a)",
        "The second half first, then the first half. The length is even.",
        (ints(1, 2, 3, 4, 5, 6),),
        swapped,
        lambda rng: (numbers(rng, 2 * size(rng, 1, 4)),),
        par=3,
        best=3,
        hints=(
            "Two halves are two rows.",
            "`reshape(2, -1)`, exchange the rows, and `reshape(-1)`.",
        ),
        because="An axis can be split wherever it helps; after that, exchanging halves is a flip.",
    ),
    Puzzle(
        "normalise(x)",
        "Each row divided by its sum.",
        (floats([1, 1, 2], [3, 0, 1]),),
        lambda x: x / x.sum(axis=1, keepdims=True),
        lambda rng: (rng.integers(1, 9, (size(rng), size(rng))).astype(np.float32),),
        par=3,
        best=3,
        hints=(
            "Which shape must the sums have, so that each meets its own row?",
            "`x.sum(axis=1, keepdim=True)` is a column.",
        ),
        because="`keepdim` leaves a column, and a column is what meets rows. Without it, a square "
        "x gives wrong numbers and no error.",
    ),
    Puzzle(
        "running_sum(a)",
        "The sum of all elements up to and including each one, without `cumsum`.",
        (ints(1, 2, 3, 4),),
        lambda a: np.cumsum(a),
        a_vector,
        par=13,
        best=8,
        hints=(
            "Which elements does result i add up? Write a table of 0 and 1 that says so.",
            "In row i of the table there is a 1 in every column up to i. Ask that question, then "
            "use `@`.",
        ),
        because="Row i of the triangle picks the elements up to i, and the product adds them up.",
    ),
    Puzzle(
        "flip(a)",
        "The elements in reverse order, without `flip` and without a negative step.",
        (ints(5, 6, 7, 8),),
        lambda a: a[::-1],
        a_vector,
        par=13,
        best=5,
        hints=(
            "Multiplying by a matrix of 0 and 1 can exchange elements. Where are the ones?",
            "Row i has its 1 in column n - 1 - i, and there i + j is always the same.",
        ),
        because="The ones stand where i + j = n - 1: on the other diagonal. Each row picks one "
        "element.",
        without=("flip",),
    ),
    Puzzle(
        "pad(a, n)",
        "`a` filled up with zeros at the end, to length `n`, without `pad`.",
        (ints(1, 2, 3), 5),
        padded,
        lambda rng: ((a := numbers(rng, size(rng))), len(a) + size(rng, 0, 4)),
        par=13,
        best=7,
        hints=(
            "Which matrix turns 3 numbers into 5, and leaves the first three as they are?",
            "A table that asks `i == j`, with `n` rows and a column for each element of `a`. Then "
            "`@ a`.",
        ),
        because="A row without a 1 picks nothing, and that is 0. tinyframe's own PAD is cheaper: "
        "it is a condition on an index, as part 5 shows.",
        without=("pad",),
    ),
    Puzzle(
        "take(a, index)",
        "Element number `index[i]` of `a`, for each i. (`a[index]` does it with 19 ops. Do it with "
        "fewer.)",
        (ints(10, 20, 30, 40), ints(3, 0, 0)),
        lambda a, index: a[index],
        lambda rng: ((a := numbers(rng, size(rng))), labels(rng, len(a))),
        par=12,
        best=11,
        hints=(
            "One-hot rows pick elements. You have done both halves.",
            "`index[:, None] == Tensor.arange(…)` is a matrix that picks. Multiply it by `a`.",
        ),
        because="To look something up is to multiply by one-hot rows. An embedding layer is this, "
        "with a matrix in place of `a`.",
    ),
    Puzzle(
        "argmax(a)",
        "The index of the largest element, as a Tensor of shape `()`. No two elements are equal.",
        (ints(3, 9, 4, 1),),
        lambda a: np.array(a.argmax()),
        lambda rng: (different(rng, size(rng)),),
        par=10,
        best=6,
        hints=(
            "`a == a.max()` is True in one place. How do you get the number of that place?",
            "Multiplied by `Tensor.arange(len(a))`, every other place is 0. How do you make one "
            "number of that?",
        ),
        because="A mask with a single True, times the indices, leaves one index; the sum brings it "
        "out.",
    ),
    Puzzle(
        "histogram(labels, n)",
        "How often each of the numbers 0, 1, … below `n` occurs in `labels`.",
        (ints(1, 3, 1, 0, 1), 4),
        lambda labels, n: np.bincount(labels, minlength=n),
        labels_and_count,
        par=9,
        best=9,
        hints=(
            "You had a table with a row for each label. What is in its columns?",
            "Those are the columns of `one_hot`. Along which axis do you add up?",
        ),
        because="Each label puts a 1 in its column, so the sum of a column counts.",
    ),
    Puzzle(
        "bucket(a, edges)",
        "For each element, how many of `edges` are at or below it. `edges` is in order.",
        (ints(1, 5, 12, 20), ints(5, 10, 15)),
        lambda a, edges: np.searchsorted(edges, a, side="right"),
        lambda rng: (numbers(rng, size(rng)), np.sort(different(rng, size(rng, 2, 4)))),
        par=9,
        best=8,
        hints=(
            "Compare every element with every edge.",
            "A column of `a` meets the row of edges. What does each row of that table tell you?",
        ),
        because="No loop and no search: all comparisons at once, and their number is the bucket.",
    ),
    Puzzle(
        "distances(a, b)",
        "The squared distance of every point of `a` from every point of `b`; a point is a row.",
        (ints([0, 0], [3, 4]), ints([0, 1], [3, 0], [6, 8])),
        distances,
        lambda rng: (
            numbers(rng, size(rng, 2, 4), k := size(rng, 1, 3)),
            numbers(rng, size(rng, 2, 4), k),
        ),
        par=9,
        best=9,
        hints=(
            "You need three axes: points of `a`, points of `b`, coordinates. Which is summed?",
            "`a[:, None]` has shape (m, 1, k), and meets `b`, of shape (n, k).",
        ),
        because="Two tables with one axis in common meet in three dimensions, and the sum takes "
        "the common axis away.",
    ),
    Puzzle(
        "sort(a)",
        "The elements in ascending order. No two are equal.",
        (ints(20, 40, 30, 10),),
        lambda a: np.sort(a),
        lambda rng: (different(rng, size(rng)),),
        par=18,
        best=14,
        hints=(
            "If you knew for each element how many are smaller, you would know where it goes.",
            "The rank is `(a[:, None] > a).sum(axis=1)`. Then ask `rank == i` for every place i: "
            "that is a matrix that picks.",
        ),
        because="Counting the smaller ones gives each element its place, and a one-hot matrix puts "
        "it there. It does n² comparisons, all of them at once.",
    ),
)
