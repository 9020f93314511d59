# %% wrong, each line
3  # says That claim is right
7  # says a number from 1 to 6

# %% right, each line
4.0

# %% right
import numpy as np
np.int64(4)
