"""How many of eight are right without a barrier

Hint: Thread 0 runs to its end before thread 1 begins. Which element of `s` does it read, and has
anybody written it by then?
Hint: Thread `t` reads `s[7 - t]`, which thread `7 - t` writes. That thread has run already if its
number is smaller.
Because: Thread 4 reads what thread 3 wrote, so it's right, and so are 5, 6 and 7. The first four
read what nobody has written yet.
"""

import numpy as np

from classroom.ask import predicts
from classroom.cuda.lesson import launch

REVERSE = """
__shared__ float s[8];
int t = threadIdx.x;
s[t] = a[t];
out[t] = s[7 - t];
"""


def right_in_turns() -> int:
    """How many of eight numbers are reversed if threads run one after the other."""
    a = np.arange(1, 9, dtype=np.float32)
    run = launch(REVERSE, threads=8, races=False, a=a)
    assert run is not None
    return int((run.arrays["out"] == a[::-1]).sum())


check = predicts(right_in_turns)

# %% guesses
(4, 0, 8, 3, 5)

# %% asked again, each line
'the upper half'  # words

# %% right, each line
8 // 2  # computed
