"""The slopes of `a * b + a`

Hint: Along how many paths does `a` reach `z`?
Hint: Work out the slope along each path by itself. What do you do with the two?
Because: `a` reaches `z` along two arrows. Through the product it contributes a slope of `b`,
which is 5. Through the addition it contributes 1. Nudge `a`, and both paths move `z`, so the
slopes are added: 6. Along a path you multiply, where paths meet you add, and there's nothing more
to it than that.
"""

from classroom.ask import predicts
from tinyframe import Tensor


def slopes_of_multiply_add() -> tuple[int, ...]:
    a, b = Tensor([2.0]).realize(), Tensor([5.0]).realize()
    return tuple(round(slope.item()) for slope in (a * b + a).sum().gradient(a, b))


check = predicts(slopes_of_multiply_add)

# %% guesses
((6, 2), (5, 2), (2, 5), (6, 3), (5, 1))

# %% asked again, each line
6  # one number of two

# %% right, each line
'6, 2'  # typed as text
