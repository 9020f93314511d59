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
        "float* out, const float* a, const float* b, int n",
        {"a": some(8, 8), "b": some(8, 8) - 4, "n": 8},
        lambda a, b, n: a @ b,
        two_matrices,
        block=a_square,
        grid=lambda n, **_: (ceil(n / SIDE), ceil(n / SIDE)),
    ),
    par=4,
    best=4,
)

# %% wrong: one barrier: the next piece comes while somebody still reads
"""
__shared__ float at[4][4], bt[4][4];
int x = threadIdx.x, y = threadIdx.y;
int row = blockIdx.y * 4 + y, column = blockIdx.x * 4 + x;
float sum = 0;
for (int k = 0; k < n; k += 4) {
  at[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
  bt[y][x] = k + y < n && column < n ? b[(k + y) * n + column] : 0;
  __syncthreads();
  for (int j = 0; j < 4; j++) sum += at[y][j] * bt[j][x];
}
if (row < n && column < n) out[row * n + column] = sum;
"""
