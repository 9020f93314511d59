"""How many loops a convolution has

Hint: One loop for each axis of the result, and one for each axis that is summed over.
Hint: The result has the axes image, filter, row, column. What does one number of the result add
up?
Because: Four loops walk over the result: image, filter, row, column. For each of its numbers
three more walk over what is added up: channel, and row and column of the window.
"""

from classroom.ask import (
    predicts,
)
from classroom.lessons.matmul_and_convolution.shared import empty
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage


def loops_of_a_convolution() -> int:
    (item,) = empty(2, 3, 8, 8).conv2d(empty(4, 3, 3, 3)).schedule()
    return get_program(item.ast, CStyleLanguage(), []).src.count("for (")


check = predicts(loops_of_a_convolution)

# %% guesses
(7, 6, 4, 3)

# %% asked again, each line
'7 loops'  # a word in it; thought right

# %% right, each line
4 + 3  # a sum
