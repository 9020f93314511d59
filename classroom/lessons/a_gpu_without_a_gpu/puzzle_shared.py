"""Each element divided by the sum of its block's elements. Blocks of 8 threads; the last block may
have fewer elements.
Hint: Everybody needs all 8 numbers. Can each thread bring one, and all of them look?
Hint: Put your element into `s[threadIdx.x]`, or 0 if there is none. Then a barrier, outside of any
`if`. Then add up all 8.
Because: Each number crosses the slow road to memory once, and is read 8 times from where reading is
cheap.
"""

import numpy as np

from classroom.cuda.judging import Task
from classroom.puzzlebook.games.gpu import KernelPuzzle, T, a_block, enough, numbers, some


def shares(a: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([x / x.sum() for x in np.split(a, range(T, n, T))])


puzzle = KernelPuzzle(
    Task(
        {"a": some(13), "n": 13},
        shares,
        lambda rng: {"a": (a := np.abs(numbers(rng, int(rng.integers(1, 30)))) + 1), "n": len(a)},
        block=a_block,
        grid=enough,
    )
)

# %% wrong, each line
shared.replace("__syncthreads();", "")  # says A race

# %% right, each line
shared.replace("s[8]", "s[8], unused[2][3]")  # two arrays in one line

# %% asked again: a range-based for, which the emulator can't watch (I had said right)
"""
__shared__ float s[8], total;
int t = threadIdx.x, i = blockIdx.x * 8 + t;
s[t] = i < n ? a[i] : 0;
__syncthreads();
if (t == 0) { total = 0; for (float x : s) total += x; }
__syncthreads();
if (i < n) out[i] = s[t] / total;
"""
