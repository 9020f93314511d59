# %% wrong, each line
lambda view, i, j: view.offset + i * view.shape[1] + j  # says offset 12
lambda view, i, j: (i, j)  # says has to be a whole number
lambda view, i, j: view.offset + i * view.strides[0] + j  # right as long as nobody flips it

# %% right, each line
lambda view, i, j: float(view.offset + i * view.strides[0] + j * view.strides[1])
lambda view, *at: view.offset + sum(n * step for n, step in zip(at, view.strides))  # for any number of axes
