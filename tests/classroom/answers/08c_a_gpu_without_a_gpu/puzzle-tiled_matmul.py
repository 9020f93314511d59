# %% wrong: one barrier: the next piece comes while somebody still reads
"""
__shared__ float at[4][4], bt[4][4];
int x = threadIdx.x, y = threadIdx.y;
int row = blockIdx.y * 4 + y, column = blockIdx.x * 4 + x;
float sum = 0;
for (int k = 0; k < n; k += 4) {
  at[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
  bt[y][x] = k + y < n && column < n ? b[(k + y) * n + column] : 0;
  __syncthreads();
  for (int j = 0; j < 4; j++) sum += at[y][j] * bt[j][x];
}
if (row < n && column < n) out[row * n + column] = sum;
"""
