# %% shared
import numpy as np

# %% wrong, each line
lambda first, stride, count: count  # says counted the floats
lambda first, stride, count: count / 16  # says a whole number

# %% wrong: bytes divided by lines: forgets where the first cell lies
def lines_touched(first, stride, count):
    return -(-count * stride // 16)

# %% wrong: a range refuses a step of 0
def lines_touched(first, stride, count):
    return len({cell // 16 for cell in range(first, first + stride * count, stride)})

# %% right, each line
lambda f, s, n: np.unique((f + s * np.arange(n)) // 16).size

# %% right: a formula: steps below 16 skip no line; the exercise shows no negative stride
def lines_touched(first, stride, count):
    if stride >= 16:
        return count
    return (first + stride * (count - 1)) // 16 - first // 16 + 1
