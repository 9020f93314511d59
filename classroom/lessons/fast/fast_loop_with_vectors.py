"""How often a loop runs, with vectors

Hint: How many groups of four are there in 1000 numbers? And in 1002?
Hint: Two numbers are left over, and they have to be computed somewhere.
Because: 250 groups of four are 1000 numbers. For 1002 the loop has to run once more, and that
last group starts at number 998, two places early. Two numbers are computed twice, but the loop
never has to ask whether it is past the end.
"""

from classroom.ask import predicts
from classroom.lessons.fast.shared import memory
from classroom.tiles import COUNTED_FOR
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.uop.node import extent
from tinyframe.viz.kernels import one_kernel


def runs_with_vectors() -> tuple[int, ...]:
    opts = [Opt(OptOps.VECTOR, 0, 4)]
    sums = [memory(n) * 2 + 1 for n in (1000, 1002)]
    asts = [one_kernel(x, None, "runs")[0].ast for x in sums]
    return tuple(extent(get_program(ast, COUNTED_FOR, opts).loops[0]) for ast in asts)


check = predicts(runs_with_vectors)

# %% guesses
((250, 251), (250, 250), (250, 252), (1000, 1002), (250, 250.5))
