# %% wrong, each line
'if (!threadIdx.x) for (int i = 0; i < blockDim.x; i++) out[i] = a[i] + 10;'  # one thread does it all
'a[threadIdx.x] += 10;'  # a is const

# %% right, each line
'out[threadIdx.x] = 1e1 + a[blockIdx.x * 99 + threadIdx.x];'  # 1e1
