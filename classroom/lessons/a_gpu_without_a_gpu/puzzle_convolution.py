"""A convolution: `out[i]` is `a[i] * w[0] + a[i+1] * w[1] + a[i+2] * w[2]`, and what is beyond the
end of `a` counts as 0. Blocks of 8 threads, as many as needed.
Hint: Eight results need ten elements. Who brings the other two?
Hint: A shared array of 10: everybody brings one, and threads 0 and 1 bring one more, if it exists.
Three threads bring the weights.
Because: The two elements that belong to the next block are called the halo. At each border they are
read twice, once by each neighbour.
"""

import numpy as np

from classroom.cuda.judging import Inputs, Task
from classroom.puzzlebook.games.gpu import KernelPuzzle, T, a_block, enough, numbers, some


def signal(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(1, 4 * T))
    return {"a": numbers(rng, n), "w": numbers(rng, 3), "n": n}


def slid(a: np.ndarray, w: np.ndarray, n: int) -> np.ndarray:
    padded = np.concatenate([a, np.zeros(2, np.float32)])
    return sum((w[k] * padded[k : k + n] for k in range(3)), np.zeros(n, np.float32))


puzzle = KernelPuzzle(
    Task(
        {"a": some(16), "w": np.array([1, 10, 100], np.float32), "n": 16},
        slid,
        signal,
        block=a_block,
        grid=enough,
    ),
    par=1.5,
    best=1.5,
)

# %% wrong, each line
convolution.replace("t < 2", "t < 1")  # says nobody has written to
convolution.replace("s[10]", "s[8]")  # says and `s` has 8 elements
convolution.replace("__syncthreads();", "")  # says A race

# %% right, each line
"int i = blockIdx.x * 8 + threadIdx.x;\nif (i >= n) return;\nfloat sum = 0;\nfor (int k = 0; k < 3 && i + k < n; k++) sum += a[i + k] * w[k];\nout[i] = sum;"  # nothing shared
