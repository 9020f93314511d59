"""Part 3, tensors: what an answer has to do."""

from __future__ import annotations

import dis
import random
from types import CodeType
from typing import Any

import numpy as np

from classroom.ask import (
    call,
    describe,
    fresh_sizes,
    fresh_tensor,
    moves,
    predicts,
    same_values,
    small_tensor,
    wants,
)
from classroom.differences import close
from classroom.exercise import Exercise, Wrong
from classroom.guesses import Shape
from tinyframe import Tensor
from tinyframe.dtype import dtypes

TITLE = "Tensors"


# ---- what the predictions are about, done for real ----------------------------------------------


def names_of(*tensors: Tensor) -> tuple[str, ...]:
    return tuple(str(t.dtype).removeprefix("dtypes.") for t in tensors)


def shapes_of(*tensors: Tensor) -> tuple[Shape, ...]:
    return tuple(Shape(t.max_shape) for t in tensors)


def shapes_of_reductions() -> tuple[Shape, ...]:
    x = Tensor.ones(2, 3, 4)
    return shapes_of(x.sum(axis=1), x.max(axis=2, keepdim=True), x.sum(axis=(0, 2)))


def shapes_that_meet() -> tuple[Shape, ...]:
    ones = Tensor.ones
    return shapes_of(ones(5, 1) + ones(7), ones(2, 1, 4) * ones(3, 1), ones(6, 2, 3) @ ones(3, 5))


def dtypes_of_pixels() -> tuple[str, ...]:
    pixels = Tensor([50, 100, 200], dtype="uint8")
    return names_of(Tensor([1, 2.0]), pixels + 1, pixels * 0.5, (pixels > 99).sum())


# ---- functions ----------------------------------------------------------------------------------


SHOWN = (7, 9)  # sizes of a picture that can be told


def disc(answer: Any) -> str:
    """answer(n): a filled circle of True."""
    without_a_loop(answer)
    odd, half = fresh_sizes(2)
    # 7 can be shown, but there a diamond is a small circle; of 9, four points are at n / 3 exactly
    given = {n: call(answer, n) for n in (7, 9, odd, 2 * half)}
    for n, got in given.items():
        wants(got, Tensor, "a Tensor", _rows(n))
        if n == 7:
            continue
        mistakes = {
            "That's a circle around the corner (0, 0). Its middle should be (n // 2, n // 2).":
                np.add(*(np.indices((n, n)) ** 2)) < (n / 3) ** 2,
            "That's a diamond: you added the two distances. In a circle, their squares are added.":
                np.abs(np.indices((n, n)) - n // 2).sum(0) < n / 3,
            "That's a square. In a circle, the squares of the two distances are added.":
                np.abs(np.indices((n, n)) - n // 2).max(0) < n / 3,
            "Inside and outside are swapped.": ~circle(n, n / 3),
            "Your circle is as wide as it should be if the diameter were n / 3. That's the radius.":
                circle(n, n / 6),
            "Your circle is a little too small. Its radius is n / 3, and `//` rounds down.":
                circle(n, n // 3),
            "A point at exactly n / 3 from the middle isn't closer than that: `<`, and not `<=`.":
                circle(n, n / 3 + 1e-9),
            "Your middle lies between the points. It should be one of them, (n // 2, n // 2).":
                circle(n, n / 3, middle=n / 2 if n % 2 else (n - 1) / 2),
        }  # fmt: skip
        unlike(got, mistakes, circle(n, n / 3), _rows(n), shown=False)
    for n, got in given.items():
        expected = circle(n, n / 3).astype(np.int32)
        same_values(got.int(), expected, _rows(n), shown=n in SHOWN)
    return "A circle from a column, a row and one comparison. Pythagoras would be pleased."


def circle(n: int, radius: float, middle: float | None = None) -> np.ndarray:
    """Which of n x n points are closer than the radius to the one in the middle."""
    away = np.indices((n, n)) - (n // 2 if middle is None else middle)
    return (away**2).sum(0) < radius**2


def _rows(n: int) -> str:
    return f"`n = {n}`" if n in SHOWN else f"a larger {'odd' if n % 2 else 'even'} `n`"


def centre(answer: Any) -> str:
    """answer(x): each column minus its mean."""
    for x in (small_tensor(2, 3), fresh_tensor(*fresh_sizes(2))):
        small = x.numel() == 6
        case = "`x = [[1, 2, 3], [4, 5, 6]]`" if small else "a different shape"
        values = x.numpy().copy()  # what the answer does to x is its own affair
        got = call(answer, x)
        wants(got, Tensor, "a Tensor", case)
        shifted = values - values.mean(axis=0)
        mistakes = {
            "You subtracted the mean of each row. The columns have means of their own.":
                values - values.mean(axis=1, keepdims=True),
            "You subtracted the mean of the whole table. Each column has a mean of its own.":
                values - values.mean(),
            "You also divided by the standard deviation. Here the columns are only to be shifted.":
                shifted / values.std(axis=0, ddof=1),
        }  # fmt: skip
        unlike(got, mistakes, shifted, case, small)
        same_values(got, shifted, case, shown=small)
    return "Every column now has mean 0. This is the first half of what BatchNorm does."


def rotate(answer: Any) -> str:
    """answer(x): turned by 90 degrees clockwise, without a kernel."""
    moves(answer, lambda x: np.rot90(x, -1), "x")
    return "A rotated picture, and no pixel was moved: only the rule for what is at (i, j) is new."


def primes(answer: Any) -> str:
    """answer(n): a Tensor of n True and False, True where the index is prime."""
    without_a_loop(answer)
    for n in (12, random.randint(30, 150), 2, 3):
        case = f"`n = {n}`" if n <= 12 else "a larger `n`"
        got = call(answer, n)
        wants(got, Tensor, "a Tensor", case)
        is_prime = [k > 1 and all(k % d for d in range(2, k)) for k in range(n)]
        if n == 2 and got.tolist() == [True, False]:
            raise Wrong("0 isn't a prime number. Every number divides it, so here 1 and 2 do, and "
                        "that makes two divisors.", case, is_prime, got.tolist())  # fmt: skip
        same_values(got.int(), np.array(is_prime, np.int32), case, shown=n <= 12)
    return (
        "A table of all remainders and a sum along one axis: you tried every divisor, without a "
        "loop."
    )


def fill(answer: Any) -> str:
    """answer(x, holes): the mean of the other elements where `holes` is True."""
    rows, columns = fresh_sizes(2)
    pattern = np.random.default_rng().random((rows, columns)) < 0.3
    pattern[0, :2] = True, False
    cases = [
        (small_tensor(2, 3), np.array([[True, True, False], [False, False, False]])),
        (fresh_tensor(rows, columns), pattern),
    ]
    for x, holes in cases:
        small = holes.size == 6
        table = "`x = [[1, 2, 3], [4, 5, 6]]`, the 1 and the 2 are holes"
        case = table if small else "a different shape"
        values = x.numpy().copy()
        got = call(answer, x, Tensor(holes).realize())
        wants(got, Tensor, "a Tensor", case)
        mean, expected = values[~holes].mean(), np.where(holes, values[~holes].mean(), values)
        mistakes = {
            "The mean includes the elements in the holes. Leave those out.":
                np.where(holes, values.mean(), values),
            "The mean counts the holes as zeros. Divide by how many elements are not holes.":
                np.where(holes, values[~holes].sum() / values.size, values),
            "You filled the places that are not holes.": np.where(holes, values, mean),
            "`x.where(mask, other)` is PyTorch's order. Here the mask comes first: "
            "`mask.where(x, other)`.":
                np.where(values != 0, ~holes, mean),
        }  # fmt: skip
        unlike(got, mistakes, expected, case, small)
        same_values(got, expected, case, shown=small)
    return (
        "With `where`, nothing has to be cut out or put back: it chooses between two tensors, "
        "index by index."
    )


def average(answer: Any) -> str:
    """answer(a, b): the mean of two pictures of uint8, rounded down, as uint8."""
    first = np.array([10, 200, 255], np.uint8), np.array([20, 100, 255], np.uint8)
    fresh = np.random.default_rng().integers(0, 256, (2, *fresh_sizes(2)), dtype=np.uint8)
    fresh[:, 0, 0] = 255
    for a, b in (first, tuple(fresh)):
        small = a.size == 3
        case = "`a = [10, 200, 255]`, `b = [20, 100, 255]`" if small else "two larger pictures"
        got = call(answer, Tensor(a).realize(), Tensor(b).realize())
        wants(got, Tensor, "a Tensor", case)
        expected = (a.astype(np.int32) + b) // 2
        halves = (a.astype(np.float32) + b) / 2
        mistakes = {
            "Some sums are larger than 255. A uint8 can't hold those, so they wrapped around.":
                (a + b) // 2,
            "You rounded to the nearest whole number. Here every half is rounded down.":
                np.round(halves),
            "Every half was rounded up. Here it is rounded down.": np.ceil(halves),
        }  # fmt: skip
        unlike(got, mistakes, expected, case, small)
        same_values(got, expected, case, shown=small)
        if got.dtype != dtypes.uint8:
            raise Wrong(
                "The values are right, but these are no longer bytes: cast the result to `uint8`.",
                case, "a Tensor of uchar (uint8)", describe(got),
            )  # fmt: skip
    return "The sum of two bytes may not fit in a byte. You made room first, then went back."


GLIDER = np.array([[0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [1, 1, 1, 0, 0], [0] * 5, [0] * 5], np.int32)


def life(answer: Any) -> str:
    """answer(board): the next generation of Conway's Game of Life."""
    fresh = np.random.default_rng().integers(0, 2, fresh_sizes(2), dtype=np.int32)
    for board in (GLIDER, fresh):
        small = board is GLIDER
        case = "a glider on a board of 5 × 5" if small else "a larger board"
        try:
            got = call(answer, Tensor(board).realize())
        except TypeError as error:
            if "True or False" not in str(error):
                raise
            raise Wrong(
                "Python asked whether a whole Tensor is true. Write `&` and `|` in place of `and` "
                "and `or`, and put brackets around each comparison: `(a == 1) & (b == 2)`."
            ) from None
        wants(got, Tensor, "a Tensor", case)
        expected = next_generation(board)
        mistakes = {
            "You counted each cell as its own neighbour. There are eight, without the middle.":
                next_generation(board, middle=1),
            "Your board wraps around, so an edge sees the opposite one. Beyond the edge, "
            "everything is dead.":
                next_generation(np.pad(board, 1, mode="wrap"))[1:-1, 1:-1],
            "A dead cell with 2 living neighbours stays dead: 2 is enough only if it is alive.":
                next_generation(board, born=(2, 3)),
        }  # fmt: skip
        unlike(got.int(), mistakes, expected, case, small)
        same_values(got.int(), expected, case, shown=small)
    return "Eight slices and two comparisons, and it's alive."


def next_generation(board: np.ndarray, middle: int = 0, born: tuple[int, ...] = (3,)) -> np.ndarray:
    """One cell after the other, as the rule is told. (With other numbers: as it may be misread.)"""
    rows, columns = board.shape
    result = np.zeros_like(board)
    for r in range(rows):
        for c in range(columns):
            around = board[max(r - 1, 0) : r + 2, max(c - 1, 0) : c + 2].sum()
            around -= board[r, c] * (1 - middle)
            result[r, c] = around in born or (around in (2, 3) and board[r, c] == 1)
    return result


def without_a_loop(answer: Any) -> None:
    """Wrong where the learner's function has a `for` or a `while` in it."""
    pending = [getattr(answer, "__code__", None)]
    while pending:
        if (code := pending.pop()) is None:
            continue
        if any(step.opname in LOOPING for step in dis.get_instructions(code)):
            raise Wrong("There is a loop in your function. A column that meets a row needs none.")
        pending += [inner for inner in code.co_consts if isinstance(inner, CodeType)]


LOOPING = {"FOR_ITER", "JUMP_BACKWARD"}


def unlike(
    got: Tensor, mistakes: dict[str, np.ndarray], expected: np.ndarray, case: str, shown: bool
) -> None:
    """Wrong, with its sentence, where an answer is what a well-known mistake gives."""
    values = got.numpy()
    if values.shape != expected.shape or close(values, expected):
        return
    for said, mistaken in mistakes.items():
        if close(values, mistaken):
            both = (expected, values) if shown else ()
            raise Wrong(said, case, *(describe(each.tolist()) for each in both))


EXERCISES = (
    Exercise(
        "3.1",
        "tensors-disc",
        "A picture of a circle",
        disc,
        (
            "How far is the point (r, c) from the middle? Pythagoras knows, and its square is "
            "enough: you can compare squares.",
            "`i = Tensor.arange(n) - n // 2` counts from the middle. `i[:, None] ** 2` is a "
            "column, `i ** 2` is a row. What do they make together?",
        ),
        because="`i` counts from the middle. The column i² and the row i² add up to a table of "
        "squared distances, and a comparison with (n / 3)² says which of them are inside.",
    ),
    Exercise(
        "3.2",
        "tensors-shapes-of-reductions",
        "The shapes of three reductions",
        predicts(shapes_of_reductions),
        (
            "Which axes of (2, 3, 4) are left in each?",
            "A reduced axis disappears. With `keepdim=True` it stays, with size 1.",
        ),
        shown_by="the next cell",
        because="Cross out the axes that are reduced: axis 1 of (2, 3, 4) leaves (2, 4), and axes "
        "0 and 2 leave (3,). `keepdim=True` writes a 1 in place of crossing out: (2, 3, 1).",
    ),
    Exercise(
        "3.3",
        "tensors-centre",
        "Each column minus its mean",
        centre,
        (
            "Along which axis do you have to add up to get one number for each column?",
            "`x.mean(axis=0)` has one number for each column. Can you subtract it from `x` as it "
            "is?",
        ),
        because="`x.mean(axis=0)` goes down the rows and leaves one number for each column, with "
        "shape (columns,). Sizes are compared from the right, so it meets the columns of `x`.",
    ),
    Exercise(
        "3.4",
        "tensors-rotate",
        "A quarter turn",
        rotate,
        (
            "Where does the first row go? It becomes the last column.",
            "`x.T` turns rows into columns. Which of the two axes do you have to reverse after "
            "that? `flip` does it.",
        ),
        because="The transpose makes the first row the first column. Reversing the columns puts it "
        "last, and that is a clockwise turn. Two movements, and no kernel.",
    ),
    Exercise(
        "3.5",
        "tensors-shapes-that-meet",
        "Three shapes",
        predicts(shapes_that_meet),
        (
            "Write the two shapes below each other, aligned on the right.",
            "A 1, or an axis that is missing on the left, takes the other size. For `@`, "
            "look at the last two axes.",
        ),
        shown_by="the next cell",
        because="Align on the right. (5, 1) and (7,) give (5, 7); (2, 1, 4) and (3, 1) give (2, 3, "
        "4). In a matrix product the 3 disappears, since it is summed, and the 6 in front stays: "
        "(6, 2, 5).",
    ),
    Exercise(
        "3.6",
        "tensors-primes",
        "All primes below n",
        primes,
        (
            "How many divisors does a prime number have? In which table could you count them?",
            "A column of divisors 1 … n meets a row of numbers 0 … n - 1 in a table of remainders. "
            "Which remainder says that a divisor fits? And which number does every divisor fit?",
        ),
        because="The column holds all divisors from 1 to n, the row all numbers below n, and the "
        "table is True where one divides the other. A prime has exactly two divisors, 1 and "
        "itself. (Everything divides 0, and for n = 2, everything is two divisors as well.)",
    ),
    Exercise(
        "3.7",
        "tensors-fill",
        "Fill the holes with the mean",
        fill,
        (
            "What is the sum of the elements that are not holes? And how many are there?",
            "With zeros in the holes, the sum of `x` would be that of the others: use `where`. And "
            "`~holes` is True for the others.",
        ),
        because="Zeros do not change a sum, so put zeros into the holes, add up, and divide by the "
        "number of elements that are not holes. The result has shape `()`, which fits everywhere.",
    ),
    Exercise(
        "3.8",
        "tensors-dtypes-of-pixels",
        "Four dtypes",
        predicts(dtypes_of_pixels),
        (
            "Which of the Python numbers are ints, and which are floats?",
            "An int stays out of the way, a float doesn't. And what do you get when you count "
            "`True`s: could that be a bool, or a byte?",
        ),
        shown_by="the next cell",
        because="One float in a list makes all of it `float`. The 1 is an int and adapts, so bytes "
        "stay `uchar`; 0.5 is a float, and turns them into `float`. A comparison gives bools, and "
        "a sum of bools counts: `int`.",
    ),
    Exercise(
        "3.9",
        "tensors-average",
        "The mean of two pictures",
        average,
        (
            "What is 200 + 100, in a uint8?",
            "Which dtype has room for 300? `a.int()` converts, `//` divides and rounds down, and "
            '`.cast("uint8")` goes back.',
        ),
        because="200 + 100 needs more than 8 bits, so the sum has to be made in a wider dtype. The "
        "mean fits again, so it can go back to uint8.",
    ),
    Exercise(
        "3.10",
        "tensors-life",
        "Conway's Game of Life",
        life,
        (
            "How do you make a tensor that holds, for each cell, its upper neighbour? What is "
            "above the first row?",
            "`p = board.pad(((1, 1), (1, 1)))`. Then `p[:-2, 1:-1]` holds the upper neighbours; "
            "there are eight such slices. Add them up, and compare.",
        ),
        because="Padding gives every cell eight neighbours. Each of the eight slices of the padded "
        "board has the board's shape, and holds one neighbour of every cell; their sum counts. `|` "
        "and `&` are *or* and *and*.",
    ),
)
