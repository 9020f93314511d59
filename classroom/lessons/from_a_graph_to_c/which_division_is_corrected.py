"""Which divisions need a correction

Hint: When do Python and C disagree on x // 3? Which of the four x can be like that?
Hint: They agree unless x is below 0. What's the smallest x of each of the four?
Because: C rounds towards 0 and Python down, so they differ for negative numbers only. A counter
begins at 0, an uint8 can't be negative, and neither can a maximum with 0. Only the plain int32
can.
"""

from classroom.ask import (
    predicts,
)
from tinyframe import Tensor
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop import Ops
from tinyframe.uop.node import GroupOp


def divisions() -> tuple[bool, ...]:
    """Which of four quotients need more in C than a division."""
    x, small = Tensor([7, -7, 5]).realize(), Tensor([7, 7, 5], dtype="uint8").realize()
    return tuple(
        map(needs_correction, (Tensor.arange(8) // 3, x // 3, small // 3, x.maximum(0) // 3))
    )


def needs_correction(quotient: Tensor) -> bool:
    """Whether there is more arithmetic in a kernel's C than in its graph."""
    (item,) = quotient.schedule()
    lines = get_program(item.ast, CStyleLanguage()).uops
    arithmetic = GroupOp.ALU - {Ops.CAST}
    asked = sum(u.op in arithmetic and u.dtype is quotient.dtype for u in item.ast.toposort())
    return sum(u.op in arithmetic for u in lines) > asked


check = predicts(divisions)

# %% guesses
(
    (False, True, False, False),
    (True, True, True, True),
    (False, False, False, False),
    (False, True, False, True),
    (True, True, False, False),
)

# %% asked again, each line
{2}  # the numbers of the lines; not asked

# %% right, each line
np.array([0, 1, 0, 0])  # NumPy, with 1 for True
