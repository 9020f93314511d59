"""How many numbers were read for one entry?

Hint: How would you work out this one entry on paper?
Hint: It's a product. How many of the numbers in `x` does it need, and does it need any of the
others?
Because: Two: `x[123456]` and `x[654321]`. The index went all the way down to `x`, so nothing else
was ever read, or made.
"""

import re

from classroom.ask import predicts
from tinyframe import Context, Tensor
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage


def numbers_read_for_an_entry() -> int:
    """How many numbers its program reads, which has no loop."""
    x = Tensor.arange(1_000_000, dtype="int64").realize()
    (item,) = (x.reshape(-1, 1) * x.reshape(1, -1))[123_456, 654_321].contiguous().schedule()
    with Context(NOOPT=1):
        source = get_program(item.ast, CStyleLanguage()).src
    return len(re.findall(r"= data\d+\[", source)) if "for (" not in source else len(x)


check = predicts(numbers_read_for_an_entry)

# %% guesses
(2, 0, 1, 1_000_000, 2_000_000)

# %% wrong, each line
123_456 + 654_321  # all the numbers on the way

# %% asked again, each line
'two'  # a word for a number

# %% right, each line
len({123_456, 654_321})  # counted
