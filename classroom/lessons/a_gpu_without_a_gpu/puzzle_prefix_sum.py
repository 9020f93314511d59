"""The running sum: each element plus all those before it. One block of 32 threads, and again no
thread may do it alone.
Hint: Add what is 1 place to your left, then what is 2 places to your left. What does each place
know after that?
Hint: In each round, read into a variable, barrier, then write, barrier. With one barrier fewer,
somebody reads a number that is already from the next round.
Because: After rounds of 1, 2 and 4, a place knows the sum of up to 8 numbers, its own the last;
after 8 and 16, of all 32.
"""

import numpy as np

from classroom.cuda.judging import Task
from classroom.puzzlebook.games.gpu import WIDER, KernelPuzzle, some, vector

puzzle = KernelPuzzle(
    Task(
        {"a": some(32), "n": 32},
        lambda a, n: np.cumsum(a),
        lambda rng: vector(rng, 1, WIDER),
        block=lambda **_: (WIDER,),
        most_shared=28,
    )
)

# %% wrong, each line
prefix_sum.replace("  __syncthreads();\n  s[i] += left;", "  s[i] += left;")  # says A race
prefix_sum.replace("far < 32", "far < 16")  # says it should be
"__shared__ float s[32];\nint i = threadIdx.x;\nif (i < n) s[i] = a[i];\n__syncthreads();\nfloat sum = 0;\nfor (int k = 0; k <= i; k++) sum += s[k];\nif (i < n) out[i] = sum;"  # says A tree needs fewer

# %% right: two rows in turns, with one barrier a round
"""
__shared__ float s[2][32];
int i = threadIdx.x, p = 0;
s[0][i] = i < n ? a[i] : 0;
__syncthreads();
for (int far = 1; far < 32; far *= 2, p = 1 - p) {
  s[1 - p][i] = s[p][i] + (i >= far ? s[p][i - far] : 0);
  __syncthreads();
}
if (i < n) out[i] = s[p][i];
"""
