# %% shared
ALL_OF_FRONT = {1: "Operators", 2: "COPY", 3: "_GraphKey", 4: "__new__", 5: "guard"}

# %% wrong, each line
ALL_OF_FRONT | {5: "lower"}  # says Rooms 1, 2, 3 and 4 are right. Room 5: Hot
{6: "ENDRANGE"}  # says there's no room 6
"Operators"  # says has to be a dict
{1: "Operators", 4: "UOpMetaClass.__call__"}  # that's where tinygrad does it

# %% asked again, each line
{}  # an empty dict is no answer yet
{3: "It's the class _GraphKey"}  # a whole sentence, and right; four rooms are still to be read

# %% right, each line
ALL_OF_FRONT

# %% right
from tinyframe.uop import Ops
from tinyframe.uop.node import Operators, UOp
{"1": Operators, 2: Ops.ASSIGN, 3: "GraphKey", 4: UOp.__new__, 5: "ranges.guard"}
