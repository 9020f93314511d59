"""A name for each of the rooms 1 to 5

Hint: Each file opens with a paragraph on what it's for. Which word of the question is in it, or
in a docstring?
Hint: 1: `Tensor.__mro__`. 2: a constant in capitals, near the top. 3: which class has
`structure`? 4: where does Python make an object? 5: which docstring speaks of a condition?
Because: `+` is written once, for Tensors and nodes alike. Contiguous copies, copies and
assignments are always stored. The key is the graph without its buffers. A node that's there is
found before a new one is made. And a padding's condition goes to the INDEX.
Right: Five rooms, and you can find your way about in each. Half the house is yours.
"""

from classroom.rooms import answered


def check(answer) -> None:
    answered(answer, range(1, 6))

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
