# %% asked again: a range-based for, which the emulator can't watch (I had said right)
"""
__shared__ float s[8], total;
int t = threadIdx.x, i = blockIdx.x * 8 + t;
s[t] = i < n ? a[i] : 0;
__syncthreads();
if (t == 0) { total = 0; for (float x : s) total += x; }
__syncthreads();
if (i < n) out[i] = s[t] / total;
"""
