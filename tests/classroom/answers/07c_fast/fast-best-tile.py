# %% shared
from itertools import product
def tiles(registers, spare=1):
    sizes = product(range(1, registers), repeat=2)
    return [(h, w) for h, w in sizes if h * w + w + 1 + spare <= registers]

def loads(tile):
    return sum(tile) / (tile[0] * tile[1])

# %% wrong, each line
lambda registers: (4, 3)  # says fit into the registers
lambda registers: (1, 1)  # says needs fewer
lambda registers: (0, 3)  # says at least one row
lambda registers: 12  # says a pair of whole numbers

# %% wrong: vectors and rows have changed places
def best_tile(registers):
    fits = [(w, h) for h in range(1, registers) for w in range(1, registers)
            if h * w + w + 2 <= registers]
    return min(fits, key=lambda t: (t[0] + t[1]) / (t[0] * t[1]))

# %% right, each line
lambda registers: min(tiles(registers), key=lambda t: (loads(t), t))

# %% right
import numpy as np
lambda registers: np.array(min(tiles(registers), key=loads))
