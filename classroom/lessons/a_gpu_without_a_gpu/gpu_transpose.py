"""A transpose that coalesces

Hint: Threads next to each other in `x` have to read neighbours, and write neighbours. They can't
be the same elements. Who could carry them from one to the other?
Hint: Read `a` into `tile[y][x]`, barrier, and then let thread (x, y) write what lies at
`tile[x][y]`. For the place in `out`, swap the block's coordinates and not the thread's.
Because: A block reads its tile row by row and writes it row by row. Only in between, in shared
memory, does somebody go down a column.
"""

from math import ceil

import numpy as np

from classroom.cuda.drawn import WARP, groups, lines_of
from classroom.cuda.judging import Inputs, Judgement, Task
from classroom.cuda.running import Run
from classroom.exercise import Wrong

SECONDS = 120.0


def a_matrix(rng: np.random.Generator) -> Inputs:
    rows, columns = (int(x) for x in rng.integers(20, 80, 2))
    a = rng.integers(-9, 21, (rows, columns)).astype(np.float32)
    return {"a": a, "rows": rows, "columns": columns}


TRANSPOSE = Task(
    {"a": np.arange(40 * 70, dtype=np.float32).reshape(40, 70), "rows": 40, "columns": 70},
    lambda a, **_: a.T.copy(),
    a_matrix,
    block=lambda **_: (WARP, WARP),
    grid=lambda rows, columns, **_: (ceil(columns / WARP), ceil(rows / WARP)),
)


MOST_LINES = 2  # of a warp: 32 neighbours fill one line, or lie across two


def scattered(run: Run, name: str, is_write: bool) -> int:
    """The most lines that one warp's accesses to an array are in."""
    return max(len(lines_of(group)) for group in groups(run, name, is_write))


def check(answer) -> str:
    """a.T, where neither the loads nor the stores of a warp are scattered over memory."""
    judgement = Judgement(TRANSPOSE)
    judgement.check(answer)
    run = judgement.run
    assert run is not None
    worst = {"reads `a`": scattered(run, "a", False), "writes `out`": scattered(run, "out", True)}
    if far := [(does, lines) for does, lines in worst.items() if lines > MOST_LINES]:
        both = " What it " + far[1][0].replace("writes", "writes to") + " is scattered, too." \
            if len(far) > 1 else ""  # fmt: skip
        does, lines = far[0]
        raise Wrong(f"The numbers are right. But where a warp {does}, its accesses are spread over "
                    f"{lines} lines of memory. With neighbouring threads at neighbouring elements "
                    f"it takes {MOST_LINES} at most.{both}", "a matrix of 40 × 70")  # fmt: skip
    return (
        f"At most {max(worst.values())} lines for a warp, on the way in and on the way out. The "
        "crossing happens in shared memory, where it costs next to nothing."
    )

# %% shared
TRANSPOSE = """
__shared__ float tile[32][33];
int tx = threadIdx.x, ty = threadIdx.y;
int x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
if (x < columns && y < rows) tile[ty][tx] = a[y * columns + x];
__syncthreads();
x = blockIdx.y * 32 + tx;
y = blockIdx.x * 32 + ty;
if (x < rows && y < columns) out[y * rows + x] = tile[tx][ty];
"""

# %% wrong: says writes `out`, its accesses are spread over 32 lines
WRITES_COLUMNS = """
int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
if (x < columns && y < rows) out[x * rows + y] = a[y * columns + x];
"""
WRITES_COLUMNS

# %% wrong: says A race
NO_BARRIER = TRANSPOSE.replace("__syncthreads();\n", "")
NO_BARRIER

# %% wrong: says it should be
TILE_BY_TILE = TRANSPOSE.replace("tile[tx][ty];", "tile[ty][tx];")
TILE_BY_TILE

# %% right
CROSSED_EARLY = TRANSPOSE.replace("tile[ty][tx] =", "tile[tx][ty] =").replace(
    "= tile[tx][ty];", "= tile[ty][tx];"
)
CROSSED_EARLY

# %% right: a flat tile with a gap
"""
__shared__ float tile[32 * 33];
int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
bool there = x < columns && y < rows;
tile[threadIdx.y * 33 + threadIdx.x] = there ? a[x + y * columns] : 0;
__syncthreads();
int r = blockIdx.y * 32 + threadIdx.x, c = blockIdx.x * 32 + threadIdx.y;
if (c < columns && r < rows) out[c * rows + r] = tile[threadIdx.x * 33 + threadIdx.y];
"""
