# %% shared
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.dtype import dtypes
x, y, z, v = (UPat.var(name) for name in "xyzv")
i, j = (UPat.var(name, dtypes.ints) for name in "xy")

# %% wrong, each line
((x < y).where(y, x), lambda x, y: x.maximum(y))  # says fires for floats as well
((i < j).where(i, j), lambda x, y: x.maximum(y))  # says doesn't fire
((i < j).where(j, i), lambda x, y: x)  # says That's a lie
((i < j).where(j, i), lambda x, y: (y < x).where(x, y))  # says still a WHERE
lambda x, y: x.maximum(y)  # says A row has to be a pair
3  # says asks for a function

# %% wrong: int32 only; a uint8 is a whole number, too
def larger():
    x, y = UPat.var("x", dtypes.int), UPat.var("y", dtypes.int)
    return (x < y).where(y, x), lambda x, y: x.maximum(y)

# %% right, each line
((i < j).where(j, i), lambda x, y: y.maximum(x))

# %% right: the comparison written the other way round, with holes of its own
def larger():
    big, small = UPat.var("big", dtypes.ints), UPat.var("small", dtypes.ints)
    return (big > small).where(big, small), lambda big, small: big.maximum(small)
