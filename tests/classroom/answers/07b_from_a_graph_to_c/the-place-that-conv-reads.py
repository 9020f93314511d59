# %% shared
import numpy as np

# %% wrong, each line
lambda r, c, i, j, width: r * width + c  # says corner of the window
lambda r, c, i, j, width: (r + i) * 6 + c + j  # says wrong for other sizes
lambda r, c, i, j, width: ((r + i) * width + c + j) / 4  # says whole number
lambda row, column, i, j, width: column + j + width * row + i  # a pair of brackets is missing

# %% right, each line
lambda r, c, i, j, width: r * width + c + i * width + j
lambda *where: int(np.dot(where[:4], (where[4], 1, where[4], 1)))
