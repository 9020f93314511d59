# %% right, each line
'int i = threadIdx.y * 4 + threadIdx.x;\nif (i < rows * columns) out[i] = a[i] + 10;'  # 16 threads in a row, whatever the shape
