"""The dot product of `a` and `b`, in `out[0]`: the sum of all `a[i] * b[i]`. One block of 16
threads, and the sum is to be a tree: 16 numbers, then 8, 4, 2, 1.
Hint: Eight threads can turn 16 numbers into eight sums. How far away is the one that each of them
adds?
Hint: `for (int half = 8; half > 0; half /= 2)`: threads below `half` add `s[i + half]` to `s[i]`. A
barrier after each round, for everybody.
Because: Four rounds for 16 numbers, ten for 1,024. The threads that have nothing to add still come
to the barrier.
"""

import numpy as np

from classroom.cuda.judging import Inputs, Task
from classroom.puzzlebook.games.gpu import WIDE, KernelPuzzle, a_wide_block, numbers, some


def two_vectors(rng: np.random.Generator) -> Inputs:
    n = int(rng.integers(1, WIDE + 1))
    return {"a": numbers(rng, n), "b": numbers(rng, n), "n": n}


puzzle = KernelPuzzle(
    Task(
        {"a": some(16), "b": some(16)[::-1].copy(), "n": 16},
        lambda a, b, n: np.array([a @ b], np.float32),
        two_vectors,
        block=a_wide_block,
        most_shared=13,
    ),
    par=32,
    best=32,
)

# %% wrong, each line
dot.replace("half = 8", "half = 4")  # says it should be
dot.replace("if (i == 0) out", "out")  # says 16 threads write `out[0]`
dot.replace("if (i < half) s[i] += s[i + half];\n  __syncthreads();", "if (i < half) { s[i] += s[i + half]; __syncthreads(); }")  # says waits at the barrier
"out[0] += a[threadIdx.x] * b[threadIdx.x];"  # says A race

# %% wrong: nobody fills up what's beyond n
"""
__shared__ float s[16];
int i = threadIdx.x;
if (i < n) s[i] = a[i] * b[i];
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (i < half) s[i] += s[i + half];
  __syncthreads();
}
if (i == 0) out[0] = s[0];
"""

# %% right: a tree of two rounds, by fours
"""
__shared__ float s[16], q[4];
int i = threadIdx.x;
s[i] = i < n ? a[i] * b[i] : 0;
__syncthreads();
if (i < 4) q[i] = s[i] + s[i + 4] + s[i + 8] + s[i + 12];
__syncthreads();
if (i == 0) out[0] = q[0] + q[1] + q[2] + q[3];
"""
