"""A name for each of the rooms 6 to 10

Hint: For 6 and 8, look at what comes out: a list of instructions, and a piece of C.
Hint: 6: print the `uops` of a program. 7: a dict with a row for each op. 8: C's last function. 9:
who has `__call__`? 10: what does `Linear.__call__` return?
Because: A list needs an end for each loop, which a graph doesn't. A language is a table. Every
kernel is entered by the same door. A GPU needs a runner of its own, and a layer hardly anything.
Right: From a list of nodes to two kinds of machine, and to a layer. That's all ten.
"""

from classroom.rooms import answered


def check(answer) -> None:
    answered(answer, range(6, 11))

# %% shared
ALL_OF_BACK = {6: "ENDRANGE", 7: "code_for_op", 8: "_entry", 9: "CUDARunner", 10: "linear"}

# %% wrong, each line
ALL_OF_BACK | {6: "RANGE"}  # says Room 6
5  # says has to be a dict
{9: "the CUDA driver"}  # that's not in the room

# %% asked again, each line
{7: "CStyleLanguage.code_for_op[Ops.ADD]"}  # the dict and the row in it: right, and four rooms are still to be read

# %% right, each line
ALL_OF_BACK

# %% right: the things themselves
from tinyframe.gpu.drivers.cuda import CUDARunner
back = [Ops.ENDRANGE, "code_for_op", "_entry", CUDARunner, Tensor.linear]
