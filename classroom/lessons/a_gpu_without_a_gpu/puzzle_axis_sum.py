"""The sum of each row of a matrix: block number `r` has row `r`, and 16 threads for it. Rows can be
longer than that. A tree, please.
Hint: Let each thread first add up its own part of the row, in a variable.
Hint: `for (int k = threadIdx.x; k < columns; k += 16)`. After it you have 16 numbers, and a tree
for 16 numbers is something you've written.
Because: The threads of a block walk along the row side by side, which is how memory likes to be
read. Then comes `dot`'s tree.
"""

from classroom.cuda.judging import Task
from classroom.puzzlebook.games.gpu import KernelPuzzle, a_wide_block, numbers, some

puzzle = KernelPuzzle(
    Task(
        {"a": some(3, 20), "columns": 20},
        lambda a, columns: a.sum(axis=1),
        lambda rng: {
            "a": (a := numbers(rng, *map(int, rng.integers(1, 40, 2)))),
            "columns": a.shape[1],
        },
        block=a_wide_block,
        grid=lambda a, columns: (len(a),),
        most_shared=13,
    ),
    par=20,
    best=20,
)

# %% wrong, each line
axis_sum.replace("k += 16", "k += 8")  # says it should be
axis_sum.replace("out[blockIdx.x]", "out[0]")  # says in different blocks

# %% right: each thread has a piece of its own; a pointer to the row
"""
__shared__ float s[16];
int i = threadIdx.x, each = (columns + 15) / 16;
const float* row = a + blockIdx.x * columns;
float sum = 0;
for (int k = i * each; k < min(columns, (i + 1) * each); k++) sum += row[k];
s[i] = sum;
for (int half = 8; half; half /= 2) {
  __syncthreads();
  if (i < half) s[i] += s[i + half];
}
if (!i) *(out + blockIdx.x) = s[0];
"""
