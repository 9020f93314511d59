"""Is there anything left of each line? Seven times True or False

Hint: Which of the lines compute something, for some element?
Hint: Movement becomes index arithmetic, and `+ 0` has a rule. Is there one for two relus?
Because: A transpose only changes an index, adding 0 has a rule, and a detach is only for
gradients. But nobody has a rule for a relu of a relu, so both are computed.
"""

from classroom.ask import predicts
from classroom.origins import remains
from tinyframe import Tensor

SECONDS = 90


def lines_that_remain() -> tuple[bool, ...]:
    a = Tensor([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]]).realize()

    def steps() -> Tensor:
        doubled = a * 2
        turned = doubled.T
        same = turned + 0
        alone = same.detach()
        clipped = alone.relu()
        again = clipped.relu()
        return again.sum()

    return remains(steps)


check = predicts(lines_that_remain)

# %% guesses
(
    (True, False, False, False, True, True, True),
    (True, True, True, True, True, True, True),
    (True, True, False, False, True, False, True),
    (True, False, False, False, True, False, True),
    (True, False, True, False, True, True, True),
)

# %% asked again, each line
[True, False, False, False, True, True]  # six of seven

# %% right, each line
(1, 0, 0, 0, 1, 1, 1)  # numbers for True and False
