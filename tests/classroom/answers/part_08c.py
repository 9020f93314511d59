"""Part 8c: what somebody might answer, and what they are told."""

from __future__ import annotations

from typing import Any

import numpy as np

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = {"8.13", "8.15"}

# for each prediction what is right, and what somebody might think
GUESSES: dict[str, tuple[Any, ...]] = {
    "8.12": (4, 0, 8, 3, 5),
    "8.14": ((2, 4, 1), (1, 4, 1), (2, 1, 1), (2, 4, 32), (1, 1, 1), (2, 3, 1)),
}

# ---- 8.13 ----------------------------------------------------------------------------------------

LOAD = "s[t] = a[min(i, n - 1)];"
BLOCK_MAX = f"""
__shared__ float s[16];
int t = threadIdx.x, i = blockIdx.x * 16 + t;
{LOAD}
__syncthreads();
for (int half = 8; half > 0; half /= 2) {{
  if (t < half) s[t] = max(s[t], s[t + half]);
  __syncthreads();
}}
if (t == 0) out[blockIdx.x] = s[0];
"""
AS_GIVEN = """
__shared__ float s[16];
int t = threadIdx.x, i = blockIdx.x * 16 + t;
s[t] = a[i];
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (t < half) {
    s[t] = max(s[t], s[t + half]);
    __syncthreads();
  }
}
out[blockIdx.x] = s[t];
"""
ONE_WRITER = AS_GIVEN.replace("out[b", "if (t == 0) out[b")
BARRIER_MOVED = BLOCK_MAX.replace(LOAD, "s[t] = a[i];")
FILLED_WITH_0 = BLOCK_MAX.replace(LOAD, "s[t] = i < n ? a[i] : 0;")
NO_BARRIER_IN_LOOP = BLOCK_MAX.replace("  __syncthreads();\n}", "}")
ALONE = """
if (threadIdx.x == 0) {
  float most = a[blockIdx.x * 16];
  for (int i = blockIdx.x * 16; i < n && i < blockIdx.x * 16 + 16; i++) most = max(most, a[i]);
  out[blockIdx.x] = most;
}
"""
IN_SHARED_ALONE = BLOCK_MAX.replace("if (t < half) s[t] = max(s[t], s[t + half]);", "").replace(
    "if (t == 0) out[blockIdx.x] = s[0];",
    "float most = s[0];\nfor (int k = 1; k < 16; k++) most = max(most, s[k]);\n"
    "if (t == 0) out[blockIdx.x] = most;",
)
SMALLEST = BLOCK_MAX.replace("max(", "min(").replace("a[min(i", "a[min(i")

# Guarded in the tree, so that what lies beyond n is never looked at.
GUARDED_TREE = """
__shared__ float s[16];
int t = threadIdx.x;
int i = blockIdx.x * blockDim.x + t;
if (i < n) s[t] = a[i];
__syncthreads();
for (int far = 1; far < 16; far *= 2) {
  if (t % (2 * far) == 0 && i + far < n) s[t] = fmaxf(s[t], s[t + far]);
  __syncthreads();
}
if (t == 0) out[blockIdx.x] = s[0];
"""
EVERYBODY_THE_SAME = BLOCK_MAX.replace("if (t == 0) out", "out")
A_WHOLE_KERNEL = f"__global__ void largest(float* out, const float* a, int n) {{{BLOCK_MAX}}}"
VERY_SMALL = BLOCK_MAX.replace(LOAD, "s[t] = i < n ? a[i] : -1e30f;  // less than anything")

# ---- 8.15 ----------------------------------------------------------------------------------------

WRITES_COLUMNS = """
int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
if (x < columns && y < rows) out[x * rows + y] = a[y * columns + x];
"""
READS_COLUMNS = """
int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
for (int both = 0; both < 1; both++) {
  int row = blockIdx.y * 32 + threadIdx.x, column = blockIdx.x * 32 + threadIdx.y;
  if (row < rows && column < columns) out[column * rows + row] = a[row * columns + column];
}
"""
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
NO_BARRIER = TRANSPOSE.replace("__syncthreads();\n", "")
TILE_BY_TILE = TRANSPOSE.replace("tile[tx][ty];", "tile[ty][tx];")
NO_GUARD = TRANSPOSE.replace("if (x < columns && y < rows) ", "")
A_COPY = """
int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
if (x < columns && y < rows) out[y * columns + x] = a[y * columns + x];
"""
FLAT_TILE = TRANSPOSE.replace("[32][33]", "[1024]").replace("[ty][tx]", "[ty * 32 + tx]").replace(
    "[tx][ty]", "[tx * 32 + ty]"
)  # fmt: skip
# The crossing on the way in.
CROSSED_EARLY = TRANSPOSE.replace("tile[ty][tx] =", "tile[tx][ty] =").replace(
    "= tile[tx][ty];", "= tile[ty][tx];"
)

# number of an exercise, a wrong answer, a word of what is said about it
WRONG: list[Any] = [
    ("8.13", AS_GIVEN, "so does thread 15 of block 0 (line 11)"),
    ("8.13", ONE_WRITER, "waits at the barrier in line 8"),
    ("8.13", BARRIER_MOVED, "and `a` has 20 elements"),
    ("8.13", FILLED_WITH_0, "is 0; it should be"),
    ("8.13", NO_BARRIER_IN_LOOP, "A race"),
    ("8.13", ALONE, "nothing went through shared memory"),
    ("8.13", EVERYBODY_THE_SAME, "16 threads write"),
    ("8.13", IN_SHARED_ALONE, "A tree needs fewer"),
    ("8.13", BLOCK_MAX.replace("max(", "maxx("), "doesn't understand"),
    ("8.13", BLOCK_MAX.replace("half /= 2", "half *= 1"), "a loop that never ends"),
    ("8.13", BLOCK_MAX.replace("}\n", "\n"), "only"),
    ("8.13", SMALLEST, "it should be"),
    ("8.13", lambda a: a.max(), "between triple quotes"),
    ("8.15", WRITES_COLUMNS, "writes `out`, its accesses are spread over 32 lines"),
    ("8.15", READS_COLUMNS, "reads `a`, its accesses are spread over 32 lines"),
    ("8.15", NO_BARRIER, "A race"),
    ("8.15", TILE_BY_TILE, "it should be"),
    ("8.15", NO_GUARD, "elements"),
    ("8.15", A_COPY, "it should be"),
    ("8.15", np.transpose, "between triple quotes"),
]

# number of an exercise, a right answer that is not the worked one
RIGHT: list[Any] = [
    ("8.13", GUARDED_TREE),
    ("8.13", A_WHOLE_KERNEL),
    ("8.13", VERY_SMALL),
    ("8.15", FLAT_TILE),
    ("8.15", CROSSED_EARLY),
]
