# %% wrong, each line
lambda items: len(items)  # says 43 too few
lambda items: 4 * sum(b.size for i in items for b in i.bufs)  # says a double has 8
lambda items: sum(b.size * max(4, b.dtype.itemsize) for i in items for b in i.bufs)  # says a larger one is wrong

# %% wrong: not every number has four bytes
def bytes_touched(items):
    return sum(buf.size * 4 for item in items for buf in item.bufs)

# %% right, each line
lambda items: sum(b.size * b.dtype.itemsize for i in items for b in i.bufs)

# %% right: fsum makes a float of it, which is a whole number
import math

def bytes_touched(items):
    return math.fsum(buf.nbytes for item in items for buf in item.bufs)
