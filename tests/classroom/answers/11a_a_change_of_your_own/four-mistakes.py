# %% shared
import numpy as np

# %% wrong, each line
"16"  # says 0 of 4 mistakes found
[99]  # says numbers from 1 to 24
["sinc"]  # says numbers of lines
range(1, 25)  # shouts at every line

# %% right, each line
{24, 22, 10, 2}
np.array([2, 10, 22, 24])
