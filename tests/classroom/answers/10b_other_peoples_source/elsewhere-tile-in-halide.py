# %% shared
from classroom.loop_nests import Var
names = "x y k xo xi xm yo yi a b"
x, y, k, xo, xi, xm, yo, yi, a, b = (Var(v) for v in names.split())
def splits(c):
    return c.split(x, xo, xi, 8).split(xo, xo, xm, 2).split(y, yo, yi, 6)

def marked(c):
    return c.vectorize(xi).unroll(xm).unroll(yi)

# %% wrong, each line
lambda c: marked(splits(c))  # says runs inside the copies
lambda c: c.split(x, xo, xi, 8).vectorize(xi)  # says Along y, there should be loops
lambda c: c.vectorize(k)  # says part of the sum
lambda c: c  # says three plain loops

# %% wrong: says has to be the schedule itself
def nothing_given(c):
    marked(splits(c).reorder(xi, xm, yi, k, xo, yo))
    return 3
nothing_given

# %% right, each line
lambda c: marked(splits(c).reorder(yi, xm, xi, k, xo, yo))

# %% right
def other_names(c):
    c = c.split(x, a, b, 16).split(b, b, xi, 8).split(y, y, yi, 6)
    return c.reorder(xi, yi, b, k, a, y).vectorize(xi).unroll(b).unroll(yi)
other_names
