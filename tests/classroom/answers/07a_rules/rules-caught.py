# %% shared
from math import inf, nan
import numpy as np
CAUGHT = {1: -0.0, 3: inf, 4: inf, 6: 0, 7: (1, 1e8), 8: 3e38, 10: (nan, 0)}

# %% wrong, each line
{3: inf}  # says Nobody has caught rules 1, 4, 6, 7, 8 and 10
CAUGHT | {3: 5.0}  # says Here rule 3 tells the truth
CAUGHT | {7: 1e8}  # says needs a pair
CAUGHT | {2: inf}  # says Rule 2 holds for every float
CAUGHT | {11: 0}  # says no rule 11
[inf, 0]  # says has to be a dict
{1: -0.0, 3: inf, 4: inf, 6: 0, 7: (1, 1e8), 8: 1e39, 10: (nan, 0)}  # 1e39 is infinite in 32 bits, and so is its half

# %% right, each line
CAUGHT

# %% right
from tinyframe import Variable
m, n = Variable("m", 0, 9), Variable("n", 0, 5)
{np.int64(n): value for n, value in CAUGHT.items()}
