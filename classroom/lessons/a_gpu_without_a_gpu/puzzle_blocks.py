"""The square of each element. Now there are as many elements as you like: blocks of 8 threads, and
just enough of them.
Hint: Thread 0 of block 1 comes after thread 7 of block 0. Which element is its own?
Hint: `blockIdx.x * blockDim.x + threadIdx.x`. And if your score is 2: you read the same number
twice.
Because: A number that is used twice is read once and kept in a variable, which is a register of the
thread.
"""

from classroom.cuda.judging import Task
from classroom.puzzlebook.games.gpu import KernelPuzzle, T, a_block, enough, some, vector

puzzle = KernelPuzzle(
    Task(
        {"a": some(13), "n": 13},
        lambda a, n: a * a,
        lambda rng: vector(rng, 1, 5 * T),
        block=a_block,
        grid=enough,
    )
)

# %% wrong, each line
blocks.replace("blockIdx.x * blockDim.x + ", "")  # says The first is `out[8]`
blocks.replace("if (i < n)", "")  # says of block 1 reads `a[15]`
blocks.replace("x * x", "x + x")  # says it should be
blocks.replace("* blockDim.x", "* 9")  # says `out[8]` was never written.

# %% right, each line
"#define I (blockIdx.x * 8 + threadIdx.x)\nif (I < n) out[I] = powf(a[I], 2);"  # a macro
