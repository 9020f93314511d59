# %% right, each line
'int i = min(threadIdx.x, n - 1);\nout[i] = a[i] + 10;'  # some do the last one again, and write the same; more loads than par
'int i = threadIdx.x;\ni < n && (out[i] = a[i] + 10);'  # && for if
