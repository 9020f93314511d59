"""The product of two matrices of `n` × `n`, in blocks of 4 × 4 threads. `n` is any number. With
every product from memory it's 2 · `n` loads; do it with far fewer.
Hint: The 16 threads of a block need 4 rows of `a` and 4 columns of `b`. Bring them in pieces of 4 ×
4, and use each piece before you bring the next.
Hint: Two shared arrays `[4][4]`. In a loop over pieces: load one element of each, or 0 beyond the
end; barrier; add up four products; barrier.
Because: Each number that is brought is used four times, so there are a quarter of the loads.
tinyframe does this with larger tiles.
"""

from math import ceil

import numpy as np

from classroom.cuda.judging import Inputs, Task
from classroom.puzzlebook.games.gpu import SIDE, KernelPuzzle, a_square, numbers, some


def two_matrices(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(2, 3 * SIDE))
    return {"a": numbers(rng, n, n), "b": numbers(rng, n, n), "n": n}


puzzle = KernelPuzzle(
    Task(
        {"a": some(8, 8), "b": some(8, 8) - 4, "n": 8},
        lambda a, b, n: a @ b,
        two_matrices,
        block=a_square,
        grid=lambda n, **_: (ceil(n / SIDE), ceil(n / SIDE)),
    ),
    par=4,
    best=4,
)

# %% wrong, each line
tiled_matmul.replace("  __syncthreads();\n}", "}")  # says A race
tiled_matmul.replace("row < n && k + x < n ? a", "row < n ? a")  # beyond the end of a row

# %% right, each line
"int x = blockIdx.x * 4 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;\nif (x >= n || y >= n) return;\nfloat sum = 0;\nconst float* row = a + y * n;\nfor (int k = 0; k < n; k++) sum += row[k] * b[k * n + x];\nout[y * n + x] = sum;"  # nothing shared
