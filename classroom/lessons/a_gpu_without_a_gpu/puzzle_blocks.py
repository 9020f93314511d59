"""The square of each element. Now there are as many elements as you like: blocks of 8 threads, and
just enough of them.
Hint: Thread 0 of block 1 comes after thread 7 of block 0. Which element is its own?
Hint: `blockIdx.x * blockDim.x + threadIdx.x`. And if your score is 2: you read the same number
twice.
Because: A number that is used twice is read once and kept in a variable, which is a register of the
thread.
"""

from classroom.cuda.judging import Task
from classroom.puzzlebook.games.gpu import ONE_ROW, KernelPuzzle, T, a_block, enough, some, vector

puzzle = KernelPuzzle(
    Task(
        ONE_ROW,
        {"a": some(13), "n": 13},
        lambda a, n: a * a,
        lambda rng: vector(rng, 1, 5 * T),
        block=a_block,
        grid=enough,
    ),
    par=1,
    best=1,
)
