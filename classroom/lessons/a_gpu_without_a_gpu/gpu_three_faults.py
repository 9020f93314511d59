"""Repair a kernel with three faults

Hint: Run it, repair what it's told about, and run it again: each message is about one fault.
Which of the 16 threads are in the branch where the barrier stands?
Hint: What can stand beyond `n` and never be the largest? (`a[min(i, n - 1)]` is one way.) The
barrier goes behind the `if`. And only one thread may write the result.
Because: The guard keeps the last block inside of `a`; behind the `if`, every thread reaches the
barrier; and with `if (t == 0)` only the thread that knows the result writes it.
Right: No race, nothing out of bounds, and everybody comes to every barrier. All three faults could
have stayed hidden on a GPU for a long time.
"""

from math import ceil

import numpy as np

from classroom.cuda.judging import Inputs, Judgement, Task

SECONDS = 120.0


WIDE = 16  # threads in a block of 8.13


def largest(a: np.ndarray, n: int) -> np.ndarray:
    return np.array([part.max() for part in np.split(a, range(WIDE, n, WIDE))])


def cold_days(rng: np.random.Generator) -> Inputs:
    """Numbers below zero, so that a 0 that fills up a block is the largest."""
    n = int(rng.integers(1, 5 * WIDE))
    return {"a": -rng.integers(1, 90, n).astype(np.float32), "n": n}


REPAIR = Task(
    {"a": -np.arange(3, 23, dtype=np.float32), "n": 20},
    largest,
    cold_days,
    block=lambda **_: (WIDE,),
    grid=lambda n, **_: (ceil(n / WIDE),),
    one_each=False,
    most_shared=13,
)


def check(answer) -> None:
    """The largest element of each block, by a tree, without a fault."""
    Judgement(REPAIR).check(answer)

# %% shared
AS_GIVEN = """
__shared__ float s[16];
int t = threadIdx.x, i = blockIdx.x * 16 + t;
s[t] = a[i];
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (t < half) {
    s[t] = max(s[t], s[t + half]);
    __syncthreads();
  }
}
out[blockIdx.x] = s[t];
"""
LOAD = "s[t] = a[min(i, n - 1)];"
BLOCK_MAX = f"""
__shared__ float s[16];
int t = threadIdx.x, i = blockIdx.x * 16 + t;
{LOAD}
__syncthreads();
for (int half = 8; half > 0; half /= 2) {{
  if (t < half) s[t] = max(s[t], s[t + half]);
  __syncthreads();
}}
if (t == 0) out[blockIdx.x] = s[0];
"""

# %% wrong, each line
AS_GIVEN  # says so does thread 15 of block 0 (line 11)
BLOCK_MAX.replace("}\n", "\n")  # says only
lambda a: a.max()  # says between triple quotes

# %% wrong: says is 0; it should be
FILLED_WITH_0 = BLOCK_MAX.replace(LOAD, "s[t] = i < n ? a[i] : 0;")
FILLED_WITH_0

# %% wrong: says nothing went through shared memory
ALONE = """
if (threadIdx.x == 0) {
  float most = a[blockIdx.x * 16];
  for (int i = blockIdx.x * 16; i < n && i < blockIdx.x * 16 + 16; i++) most = max(most, a[i]);
  out[blockIdx.x] = most;
}
"""
ALONE

# %% wrong: says 16 threads write
EVERYBODY_THE_SAME = BLOCK_MAX.replace("if (t == 0) out", "out")
EVERYBODY_THE_SAME

# %% wrong: says A tree needs fewer
IN_SHARED_ALONE = BLOCK_MAX.replace("if (t < half) s[t] = max(s[t], s[t + half]);", "").replace(
    "if (t == 0) out[blockIdx.x] = s[0];",
    "float most = s[0];\nfor (int k = 1; k < 16; k++) most = max(most, s[k]);\n"
    "if (t == 0) out[blockIdx.x] = most;",
)
IN_SHARED_ALONE

# %% wrong: right in CUDA, but the lesson's barrier is a different one
"""
__shared__ float s[16];
int t = threadIdx.x, i = blockIdx.x * 16 + t;
s[t] = a[min(i, n - 1)];
__syncwarp();
for (int half = 8; half > 0; half /= 2) {
  if (t < half) s[t] = max(s[t], s[t + half]);
  __syncwarp();
}
if (t == 0) out[blockIdx.x] = s[0];
"""

# %% wrong: a return before the barrier
"""
__shared__ float s[16];
int t = threadIdx.x, i = blockIdx.x * 16 + t;
if (i >= n) return;
s[t] = a[i];
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (t < half && i + half < n) s[t] = max(s[t], s[t + half]);
  __syncthreads();
}
if (t == 0) out[blockIdx.x] = s[0];
"""

# %% right
VERY_SMALL = BLOCK_MAX.replace(LOAD, "s[t] = i < n ? a[i] : -1e30f;  // less than anything")
VERY_SMALL
