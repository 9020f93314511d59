"""Add 10 to each element of a matrix. The block has 4 × 4 threads, and `threadIdx` has an `x` and a
`y`. The matrix lies in memory row after row, and may be smaller.
Hint: How far into memory does row `y` begin?
Hint: At `y * columns`. And two things have to be guarded.
Because: Two indices are a convenience: memory has one, so a row number is multiplied by the length
of a row.
"""

import numpy as np

from classroom.cuda.judging import Inputs, Task
from classroom.puzzlebook.games.gpu import SIDE, KernelPuzzle, a_square, numbers, plus_ten, some


def matrix(rng: np.random.Generator, least: int, most: int) -> Inputs:
    rows, columns = (int(x) for x in rng.integers(least, most + 1, 2))
    return {"a": numbers(rng, rows, columns), "rows": rows, "columns": columns}


puzzle = KernelPuzzle(
    Task(
        {"a": some(3, 4), "rows": 3, "columns": 4},
        plus_ten,
        lambda rng: matrix(rng, 1, SIDE),
        block=a_square,
    )
)

# %% wrong, each line
two_d.replace("y < rows", "y < columns")  # says and `a` has

# %% right, each line
two_d.replace("y * columns + x", "x * rows + y")  # each is somebody's
