"""The same, but there are always 8 threads, and `n` may be less. Nobody may touch what isn't there.
Hint: What should thread 6 do if there are 5 elements?
Hint: Nothing. `if (i < n)` in front of the line that reads and writes.
Because: Blocks come in one size and data in any, so almost every kernel begins with a guard.
"""

from classroom.cuda.judging import Task
from classroom.puzzlebook.games.gpu import ONE_ROW, KernelPuzzle, T, a_block, plus_ten, some, vector

puzzle = KernelPuzzle(
    Task(
        ONE_ROW,
        {"a": some(5), "n": 5},
        plus_ten,
        lambda rng: vector(rng, 1, T),
        block=a_block,
    ),
    par=1,
    best=1,
)

# %% right, each line
'int i = min(threadIdx.x, n - 1);\nout[i] = a[i] + 10;'  # some do the last one again, and write the same; more loads than par
'int i = threadIdx.x;\ni < n && (out[i] = a[i] + 10);'  # && for if
