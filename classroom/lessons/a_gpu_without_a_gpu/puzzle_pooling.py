"""The sum of each element and the two before it; at the start there are fewer. One block of 8
threads.
Hint: Your neighbours have read the two numbers that you need.
Hint: Shared memory and a barrier; after it, `i > 0` and `i > 1` say which neighbours exist.
Because: Neighbours read the same numbers, so they read them once, together.
"""

import numpy as np

from classroom.cuda.judging import Task
from classroom.puzzlebook.games.gpu import KernelPuzzle, T, a_block, some, vector


def last_three(a: np.ndarray, n: int) -> np.ndarray:
    return np.array([a[max(i - 2, 0) : i + 1].sum() for i in range(n)], np.float32)


puzzle = KernelPuzzle(
    Task({"a": some(8), "n": 8}, last_three, lambda rng: vector(rng, 1, T), block=a_block)
)

# %% wrong, each line
pooling.replace("if (i > 0)", "")  # says reads `s[-1]`, and an array starts at 0
pooling.replace("__syncthreads();", "")  # says A race
pooling.replace("__syncthreads();", "if (i > n) return;\n__syncthreads();")  # not everybody reaches the barrier

# %% right, each line
"int i = threadIdx.x;\nfloat sum = 0;\nfor (int k = max(i - 2, 0); k <= i && i < n; k++) sum += a[k];\nif (i < n) out[i] = sum;"  # a loop, and nothing shared
