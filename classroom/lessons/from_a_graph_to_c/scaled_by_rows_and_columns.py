"""Kernels of four sums

Hint: Write the two loops of each sum down, the result's loop outside. In which of them is the
exponential's index?
Hint: If its index is that of the outer loop, it's computed once per element. If it's that of the
inner loop, the outer one repeats it.
Because: Sums along axis 1 have the loop over rows outside. A scale for each row is computed
there, once for each of its elements. A scale for each column would be computed again in every
row, which is four times too often, so it's stored. For axis 0 it's the other way round.
"""

from classroom.ask import (
    kernels,
    predicts,
)
from tinyframe import Tensor


def kernels_of_four() -> tuple[int, ...]:
    a, row, column = (Tensor.zeros(*s).contiguous().realize() for s in ((4, 6), (1, 6), (4, 1)))
    return tuple(
        kernels((a * scale.exp()).sum(axis=axis)) for scale in (column, row) for axis in (1, 0)
    )


check = predicts(kernels_of_four)

# %% guesses
((1, 2, 2, 1), (1, 1, 1, 1), (2, 2, 2, 2), (1, 1, 2, 2), (2, 1, 1, 2))

# %% asked again, each line
'1221'  # a string
