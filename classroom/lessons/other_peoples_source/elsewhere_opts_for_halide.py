"""Halide's loops, with our Opts

Hint: Which loops are left at the end, from outside in, and what is unrolled, vectorized or
parallel? Which of our Opts makes each of these?
Hint: A split whose inner loop is vectorized is one VECTOR, one whose inner loop is unrolled is
one UPCAST. Then a REORDER for what's left, and last THREAD.
Because: VECTOR and UPCAST split, mark and move all the way in. Of Halide's reorder, only yo and
xo are left to say, and parallel is THREAD.
"""

from classroom.ask import Open, Wrong, describe
from classroom.lessons.other_peoples_source.shared import described, same_nest
from classroom.loop_nests import NestError, matmul_in_halide, nest_of
from tinyframe.codegen.optimize.loops import KernelOptError, Opt


def as_opts(answer) -> list[Opt]:
    if isinstance(answer, Opt):
        answer = [answer]
    try:
        opts = list(answer)
    except TypeError:
        opts = [None]
    if not all(isinstance(opt, Opt) for opt in opts):
        raise Wrong("The answer has to be a list of Opts.", got=describe(answer))
    return opts


def check(answer) -> str:
    """Opts whose nest is the one that a Halide schedule makes."""
    opts = as_opts(answer)
    if not opts:
        raise Open("")
    try:
        made = nest_of(opts)
    except KernelOptError as error:
        raise Wrong(f"That's not possible: {error}.") from None
    except NestError as error:
        raise Wrong(str(error)) from None
    same_nest(made, described(matmul_in_halide()).nest)
    return f"Six directives of Halide's, and {len(opts)} Opts. The same loops."

# %% shared
from tinyframe.codegen.optimize.loops import Opt, OptOps
VECTOR, UPCAST, REORDER = OptOps.VECTOR, OptOps.UPCAST, OptOps.REORDER
ASKED = [Opt(VECTOR, 1, 16), Opt(UPCAST, 0, 4), Opt(REORDER, (1, 0, 2)), Opt(OptOps.THREAD, 0)]

# %% wrong, each line
ASKED[:1]  # says Along y, there should be loops of 12 and 4
[Opt(OptOps.STAGE, 0, 2)]  # says something else than loops
[Opt(VECTOR, 7, 16)]  # says there is no axis 7
4  # says list of Opts

# %% wrong: Halide's unroll isn't ours, which is for sums
like_halide = [Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.UNROLL, 0, 4)]
like_halide += [Opt(OptOps.REORDER, (1, 0, 2)), Opt(OptOps.THREAD, 0)]

# %% right, each line
ASKED

# %% right: reordered in between
like_halide = [Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.REORDER, (1, 0, 2))]
like_halide += [Opt(OptOps.UPCAST, 1, 4), Opt(OptOps.THREAD, 0)]
