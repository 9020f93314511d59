"""The same, but there are always 8 threads, and `n` may be less. Nobody may touch what isn't there.
Hint: What should thread 6 do if there are 5 elements?
Hint: Nothing. `if (i < n)` in front of the line that reads and writes.
Because: Blocks come in one size and data in any, so almost every kernel begins with a guard.
"""

from classroom.cuda.judging import Task
from classroom.puzzlebook.games.gpu import KernelPuzzle, T, a_block, plus_ten, some, vector

puzzle = KernelPuzzle(
    Task({"a": some(5), "n": 5}, plus_ten, lambda rng: vector(rng, 1, T), block=a_block)
)

# %% wrong, each line
add_ten  # says Thread 5 reads `a[5]`, and `a` has 5 elements
guard.replace("i < n", "i < n - 1")  # says `out[4]` was never written

# %% right, each line
'int i = threadIdx.x;\ni < n && (out[i] = a[i] + 10);'  # && for if
