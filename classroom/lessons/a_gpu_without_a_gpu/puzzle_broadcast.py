"""A table of sums: in row `y` and column `x`, `a[y] + b[x]`. One block of 4 × 4 threads.
Hint: Which of the two numbers does the thread at (x, y) need?
Hint: `out[y * columns + x] = a[y] + b[x]`, behind a guard.
Because: Nothing is stretched: an index that doesn't name an axis repeats along it. (For fewer
loads, come back after the puzzle `shared`.)
"""

import numpy as np

from classroom.cuda.judging import Inputs, Task
from classroom.puzzlebook.games.gpu import SIDE, KernelPuzzle, a_square, numbers, some


def column_and_row(rng: np.random.Generator) -> Inputs:
    rows, columns = (int(x) for x in rng.integers(1, SIDE + 1, 2))
    return {"a": numbers(rng, rows), "b": numbers(rng, columns), "rows": rows, "columns": columns}


puzzle = KernelPuzzle(
    Task(
        {"a": some(4), "b": 10 * some(4), "rows": 4, "columns": 4},
        lambda a, b, **_: a[:, None] + b,
        column_and_row,
        block=a_square,
    ),
    par=2,
    best=0.5,
)

# %% wrong, each line
broadcast.replace("a[y] + b[x]", "a[x] + b[y]")  # says it should be
broadcast.replace("a[y] + b[x]", "a[y] * b[x]")  # says it should be
broadcast.replace("x < columns && ", "")  # nobody looks whether it is a column
"__shared__ float left[4], top[4];\nint x = threadIdx.x, y = threadIdx.y;\nif (x == 0 && y < rows) left[y] = a[y];\nif (y == 0 && x < columns) top[x] = b[x];\nif (x < columns && y < rows) out[y * columns + x] = left[y] + top[x];"  # says A race

# %% right, each line
"__shared__ float left[4], top[4];\nint x = threadIdx.x, y = threadIdx.y;\nif (x == 0 && y < rows) left[y] = a[y];\nif (y == 0 && x < columns) top[x] = b[x];\n__syncthreads();\nif (x < columns && y < rows) out[y * columns + x] = left[y] + top[x];"  # says and we know no better way
