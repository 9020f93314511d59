"""Cache lines of a column

Hint: How far is it in memory from one number of a column to the next?
Hint: Eight neighbours in a row of `b`, starting at a multiple of eight: do they ever need two
cache lines?
Because: A column has 512 numbers, each in a row of its own and so in a line of its own. Eight
columns side by side are in the very same 512 lines. So the vector gets eight results out of what
one result used to cost.
"""

from classroom.ask import predicts
from classroom.lessons.fast.shared import matmul
from classroom.tiles import LANES, lines_read
from tinyframe.codegen.optimize.loops import Opt, OptOps

VECTOR = Opt(OptOps.VECTOR, 1, LANES)


def lines_of_b() -> tuple[int, ...]:
    x = matmul(512, 512, 512)
    return tuple(lines_read(x, opts)[2] for opts in ([], [VECTOR]))


check = predicts(lines_of_b)

# %% guesses
((512, 512), (512, 64), (512, 4096), (32, 256), (32, 32), (1, 8))

# %% asked again, each line
'512 and 512'  # a sentence
