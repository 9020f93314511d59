# %% right, each line
lambda a: -(a[:-1] - a[1:])  # turned round twice
lambda a: a[1 : len(a)] - a[0 : len(a) - 1]  # slices written in full
