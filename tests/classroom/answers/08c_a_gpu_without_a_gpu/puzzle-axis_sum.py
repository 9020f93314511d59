# %% wrong: the same in every block
axis_sum = """
__shared__ float s[16];
int i = threadIdx.x;
float own = 0;
for (int k = i; k < columns; k += 16) own += a[blockIdx.x * columns + k];
s[i] = own;
__syncthreads();
for (int half = 8; half > 0; half /= 2) {
  if (i < half) s[i] += s[i + half];
  __syncthreads();
}
out[blockIdx.x] = s[0];
"""

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
