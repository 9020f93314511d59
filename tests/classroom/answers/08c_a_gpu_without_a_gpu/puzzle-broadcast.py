# %% wrong, each line
'int x = threadIdx.x, y = threadIdx.y;\nif (x < columns && y < rows) out[y * columns + x] = a[x] + b[y];'  # a and b are swapped
