# %% shared
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

# %% wrong, each line
AS_GIVEN  # says so does thread 15 of block 0 (line 11)
BLOCK_MAX.replace("max(", "maxx(")  # says doesn't understand
BLOCK_MAX.replace("}\n", "\n")  # says only
lambda a: a.max()  # says between triple quotes

# %% wrong: says is 0; it should be
FILLED_WITH_0 = BLOCK_MAX.replace(LOAD, "s[t] = i < n ? a[i] : 0;")
FILLED_WITH_0

# %% wrong: says nothing went through shared memory
ALONE = """
if (threadIdx.x == 0) {
  float most = a[blockIdx.x * 16];
  for (int i = blockIdx.x * 16; i < n && i < blockIdx.x * 16 + 16; i++) most = max(most, a[i]);
  out[blockIdx.x] = most;
}
"""
ALONE

# %% wrong: says 16 threads write
EVERYBODY_THE_SAME = BLOCK_MAX.replace("if (t == 0) out", "out")
EVERYBODY_THE_SAME

# %% wrong: says A tree needs fewer
IN_SHARED_ALONE = BLOCK_MAX.replace("if (t < half) s[t] = max(s[t], s[t + half]);", "").replace(
    "if (t == 0) out[blockIdx.x] = s[0];",
    "float most = s[0];\nfor (int k = 1; k < 16; k++) most = max(most, s[k]);\n"
    "if (t == 0) out[blockIdx.x] = most;",
)
IN_SHARED_ALONE

# %% wrong: right in CUDA, but the lesson's barrier is a different one
"""
__shared__ float s[16];
int t = threadIdx.x, i = blockIdx.x * 16 + t;
s[t] = a[min(i, n - 1)];
__syncwarp();
for (int half = 8; half > 0; half /= 2) {
  if (t < half) s[t] = max(s[t], s[t + half]);
  __syncwarp();
}
if (t == 0) out[blockIdx.x] = s[0];
"""

# %% wrong: a return before the barrier
"""
__shared__ float s[16];
int t = threadIdx.x, i = blockIdx.x * 16 + t;
if (i >= n) return;
s[t] = a[i];
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (t < half && i + half < n) s[t] = max(s[t], s[t + half]);
  __syncthreads();
}
if (t == 0) out[blockIdx.x] = s[0];
"""

# %% right
VERY_SMALL = BLOCK_MAX.replace(LOAD, "s[t] = i < n ? a[i] : -1e30f;  // less than anything")
VERY_SMALL

# %% right: filled with minus infinity, shifted, unsigned
"""
__shared__ float s[16];
int t = threadIdx.x, i = blockIdx.x * 16 + t;
s[t] = i < n ? a[i] : -INFINITY;
__syncthreads();
for (unsigned half = 8; half; half >>= 1) {
  if (t < half) s[t] = fmaxf(s[t], s[t + half]);
  __syncthreads();
}
if (!t) out[blockIdx.x] = *s;
"""
