"""Which claim is wrong?

Hint: Five of these you've seen in a picture or done yourself. Which one haven't you?
Hint: Somebody has to know about both kernels in order to fuse them. Who sees only one at a time?
Because: Triton is handed one function at a time, and makes a kernel of it. It never sees the next
one.
Right: Triton compiles one function, and that's a kernel. Which operations share it is decided by
whoever writes it: you, or Inductor.
"""

from classroom.ask import Wrong, describe, wrong_if
from classroom.other_frameworks import CLAIMS


def check(answer) -> None:
    """The number of the claim that's wrong."""
    typed = str(answer).strip(" .[](){}").lower().removeprefix("claim").strip()
    number = int(float(typed)) if typed.replace(".", "", 1).isdecimal() else 0
    if isinstance(answer, bool) or not 1 <= number <= len(CLAIMS):
        raise Wrong(f"The answer has to be a number from 1 to {len(CLAIMS)}.", got=describe(answer))
    wrong_if(why := CLAIMS[number - 1][1], f"That claim is right. {why}", f"claim {number}")

# %% wrong, each line
3  # says That claim is right
7  # says a number from 1 to 6

# %% right, each line
4.0

# %% right
import numpy as np
np.int64(4)
