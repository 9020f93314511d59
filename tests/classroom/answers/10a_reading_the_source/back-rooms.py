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
