# %% right: two rows in turns, with one barrier a round
"""
__shared__ float s[2][32];
int i = threadIdx.x, p = 0;
s[0][i] = i < n ? a[i] : 0;
__syncthreads();
for (int far = 1; far < 32; far *= 2, p = 1 - p) {
  s[1 - p][i] = s[p][i] + (i >= far ? s[p][i - far] : 0);
  __syncthreads();
}
if (i < n) out[i] = s[p][i];
"""
