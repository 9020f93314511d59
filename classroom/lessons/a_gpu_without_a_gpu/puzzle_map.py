"""Add 10 to each element. There is one block, with exactly as many threads as there are elements.
Hint: All threads run the same text. What is different from one thread to the next?
Hint: `threadIdx.x` is 0 in the first thread, 1 in the next one. Use it as an index.
Because: There is no loop: where C would count, a GPU has a thread for each number.
"""

from classroom.cuda.judging import Task
from classroom.puzzlebook.games.gpu import KernelPuzzle, T, numbers, plus_ten, some

puzzle = KernelPuzzle(
    Task(
        "float* out, const float* a",
        {"a": some(T)},
        plus_ten,
        lambda rng: {"a": numbers(rng, int(rng.integers(1, 20)))},
        block=lambda a: (len(a),),
    ),
    par=1,
    best=1,
)

# %% wrong, each line
'if (!threadIdx.x) for (int i = 0; i < blockDim.x; i++) out[i] = a[i] + 10;'  # one thread does it all
'a[threadIdx.x] += 10;'  # a is const

# %% right, each line
'out[threadIdx.x] = 1e1 + a[blockIdx.x * 99 + threadIdx.x];'  # 1e1
