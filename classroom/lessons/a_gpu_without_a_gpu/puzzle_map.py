"""Add 10 to each element. There is one block, with exactly as many threads as there are elements.
Hint: All threads run the same text. What is different from one thread to the next?
Hint: `threadIdx.x` is 0 in the first thread, 1 in the next one. Use it as an index.
Because: There is no loop: where C would count, a GPU has a thread for each number.
"""

from classroom.cuda.judging import Task
from classroom.puzzlebook.games.gpu import KernelPuzzle, T, numbers, plus_ten, some

puzzle = KernelPuzzle(
    Task(
        {"a": some(T)},
        plus_ten,
        lambda rng: {"a": numbers(rng, int(rng.integers(1, 20)))},
        block=lambda a: (len(a),),
    )
)

# %% wrong, each line
add_ten.replace("+ 10", "+ 11")  # says Every value is 1 too large
"out[0] = a[0] + 10;"  # says 7 elements of `out` were never written. The first is `out[1]`
"int i = threadIdx.x;\nout[i] = a[j] + 10;"  # says your line 2 `out[i] = a[j] + 10;`
add_ten.replace("a[i] + 10;", "a[i] + 10")  # says doesn't understand
"for (int i = 0; i < 8; i++) out[i] = a[i] + 10;"  # says one at most
"int i = 1;"  # says Nothing was written
"int i = threadIdx.x;\nout[i + 1] = a[i] + 10;"  # says writes `out[8]`, and `out` has 8
"int i = threadIdx.x;\nout[i] = a[i - 1] + 10;"  # says an array starts at 0
"int i = threadIdx.x;\nout[i] = a[i * 1000000];"  # says far outside of every array
"out[0] = 0; for (int i = 0; i < 10; i--) out[0] = 0;"  # says a loop that never ends
"out[threadIdx.x] = a[0];\n__builtin_trap();"  # says It crashed
"#include <math.h>\nout[0] = 1;"  # says Leave out `#include`
"atomicAdd(out, 1);"  # says Atomic
"extern __shared__ float s[];\ns[0] = 1;"  # says Give a shared array its size
"__syncwarp();\nout[0] = 1;"  # says the emulator doesn't know `__syncwarp`
lambda a: a + 10  # says between triple quotes
'if (!threadIdx.x) for (int i = 0; i < blockDim.x; i++) out[i] = a[i] + 10;'  # one thread does it all
'a[threadIdx.x] += 10;'  # a is const

# %% right, each line
"*(out + threadIdx.x) = *(a + threadIdx.x) + 10;"  # pointers

# %% asked again, each line
"// not yet\n"  # a comment and nothing else
