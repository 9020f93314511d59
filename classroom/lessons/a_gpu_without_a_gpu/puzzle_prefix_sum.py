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
from classroom.puzzlebook.games.gpu import ONE_ROW, WIDER, KernelPuzzle, some, vector

puzzle = KernelPuzzle(
    Task(
        ONE_ROW,
        {"a": some(32), "n": 32},
        lambda a, n: np.cumsum(a),
        lambda rng: vector(rng, 1, WIDER),
        block=lambda **_: (WIDER,),
        most_shared=28,
    ),
    par=1,
    best=1,
)

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
