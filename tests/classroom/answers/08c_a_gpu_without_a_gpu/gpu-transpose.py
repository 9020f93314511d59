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

# %% wrong: says between triple quotes
import numpy as np
np.transpose

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
