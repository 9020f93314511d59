"""Our tile, in Halide

Hint: Split first: how many loops of x do you need, and how many of y? Then write down all six
from the inside out.
Hint: `c.split(x, xo, xi, 8).split(xo, xo, xm, 2).split(y, yo, yi, 6)`, then a reorder that begins
with xi and has k behind the copies.
Because: An UPCAST is a split, an unroll, and a place in the order. Halide has a directive for
each, so you can also say what UPCAST can't.
Right: The register tile of 7c, in Halide. What UPCAST does in one word takes it three.
"""

from classroom.ask import Wrong, call, describe
from classroom.lessons.other_peoples_source.shared import TILE, same_nest
from classroom.loop_nests import (
    UNROLLED,
    VECTORIZED,
    HalideStage,
    NestError,
    difference,
    matmul_in_halide,
    nest_of,
)


def check(answer) -> None:
    """answer(c): c, scheduled in Halide's manner, with the loops of TILE."""
    stage = matmul_in_halide()
    try:
        got = call(answer, stage)
    except NestError as error:
        raise Wrong(str(error)) from None
    if not isinstance(got, HalideStage):
        raise Wrong("The answer has to be the schedule itself: `return c.…`", got=describe(got))
    if not difference(matmul_in_halide().nest, got.nest):
        raise Wrong("Nothing has changed: these are still three plain loops.")
    wanted = nest_of(TILE)
    if got.nest.alike != wanted.alike and sorted(got.nest.alike) == sorted(wanted.alike):
        kinds = [w[3] for w in got.nest.alike]
        inside = [w for n, w in enumerate(got.nest.alike) if w[3] == "serial"
                  and any(kind in (UNROLLED, VECTORIZED) for kind in kinds[:n])]  # fmt: skip
        if inside:
            raise Wrong(f"The right loops, but that of {inside[0][0]} runs inside the copies. An "
                        "UPCAST always goes all the way in. Halide leaves a loop where it was "
                        "until you reorder.")  # fmt: skip
    same_nest(got.nest, wanted)

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
