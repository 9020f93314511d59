"""Which of these can strides describe?

Hint: Write down the cell numbers along each axis of the view. Are neighbours always the same
distance apart?
Hint: `grid.T.reshape(24)` begins with the cells 0, 6, 12, 18, 1. `grid[:, 1:5]` has four cells of
each row. What comes after the fourth one?
Because: Strides work as long as one step along an axis always means the same number of cells. In
number 4 the step is 6, 6, 6 and then back by 17; in number 6 it is 1, 1, 1 and then 3. Number 5
has the same numbers as number 6, but the jump falls between two rows, where it has a stride of
its own.
"""

from classroom.ask import (
    predicts,
)
from classroom.lessons.three_kinds_of_op.shared import numbered_grid


def strides_are_enough() -> tuple[bool, ...]:
    grid = numbered_grid()
    views = (
        grid.flip(1),
        grid[1:3, ::2],
        grid[0].expand(4, 6),
        grid.T.reshape(24),
        grid[:, 1:5].reshape(4, 2, 2),
        grid[:, 1:5].reshape(16),
    )
    return tuple(None not in view.uop.st.strides for view in views)


check = predicts(strides_are_enough)

# %% guesses
(
    (True, True, True, False, True, False),
    (True, True, True, True, True, True),
    (True, True, False, False, False, False),
    (True, True, True, True, False, False),
)

# %% wrong, each line
(True, True, False, False, True, False)  # 0 is a stride

# %% asked again, each line
'T T T F T F'  # no commas; thought right
