# %% wrong: sixteen threads write one element, where one is enough
dot = """
__shared__ float s[16];
int i = threadIdx.x;
s[i] = i < n ? a[i] * b[i] : 0;
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (i < half) s[i] += s[i + half];
  __syncthreads();
}
out[0] = s[0];
"""

# %% wrong: nobody fills up what's beyond n
"""
__shared__ float s[16];
int i = threadIdx.x;
if (i < n) s[i] = a[i] * b[i];
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (i < half) s[i] += s[i + half];
  __syncthreads();
}
if (i == 0) out[0] = s[0];
"""

# %% right: a tree of two rounds, by fours
"""
__shared__ float s[16], q[4];
int i = threadIdx.x;
s[i] = i < n ? a[i] * b[i] : 0;
__syncthreads();
if (i < 4) q[i] = s[i] + s[i + 4] + s[i + 8] + s[i + 12];
__syncthreads();
if (i == 0) out[0] = q[0] + q[1] + q[2] + q[3];
"""
