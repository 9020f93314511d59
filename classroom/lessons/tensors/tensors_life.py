"""Conway's Game of Life

Hint: How do you make a tensor that holds, for each cell, its upper neighbour? What is above the
first row?
Hint: `p = board.pad(((1, 1), (1, 1)))`. Then `p[:-2, 1:-1]` holds the upper neighbours; there are
eight such slices. Add them up, and compare.
Because: Padding gives every cell eight neighbours. Each of the eight slices of the padded board
has the board's shape, and holds one neighbour of every cell; their sum counts. `|` and `&` are
*or* and *and*.
Right: Eight slices and two comparisons, and it's alive.
"""

import numpy as np

from classroom.ask import Wrong, call, fresh_sizes, same_values, wants
from tinyframe import Tensor

GLIDER = np.array([[0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [1, 1, 1, 0, 0], [0] * 5, [0] * 5], np.int32)


def check(answer) -> None:
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
            raise Wrong("Python asked whether a whole Tensor is true. Write `&` and `|` in place "
                        "of `and` and `or`, and put brackets around each comparison: `(a == 1) & "
                        "(b == 2)`.") from None  # fmt: skip
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
        same_values(got.int(), expected, case, small, mistakes)


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

# %% shared
def life(board, survive=(2, 3), born=3, middle=False, wrap=False):
    if wrap:
        around = sum(board.roll((r, c), (0, 1)) for r in (-1, 0, 1) for c in (-1, 0, 1)) - board
    else:
        p = board.pad(((1, 1), (1, 1)))
        rows, columns = board.shape
        around = sum(p[r : r + rows, c : c + columns] for r in range(3) for c in range(3))
        around = around if middle else around - board
    alive = (around == survive[0]) | (around == survive[1])
    return ((board == 1) & alive) | (around == born)

# %% wrong, each line
lambda board: life(board, born=2)  # says [0, 2] is 1
lambda board: life(board, wrap=True)  # says wraps around
lambda board: board == 1 | board == 2  # says brackets around each comparison

# %% right, each line
lambda board: life(board).float()
