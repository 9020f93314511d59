"""Back through a running sum

Hint: In which elements of `c` does `x[1]` count? Add up the gradients of those.
Hint: `cumsum` adds up from the front, and you need it from the end. Which movement turns one into
the other?
Because: `x[i]` counts in `c[i]` and in everything after it, so the gradients of these places are
added: a running sum that starts at the end.
Right: A running sum from the other end. The table has it too, in its row for SCAN_AXIS.
"""

import numpy as np

from classroom.ask import fresh_sizes, fresh_tensor, same_values, tensor_of, wrong_if
from classroom.lessons.gradients.shared import close, undifferentiated
from tinyframe import Tensor

SECONDS = 60.0  # a sum for each place is right, and takes a while


def check(answer) -> None:
    """answer(grad): what flows back to x through x.cumsum(0)."""
    (n,) = fresh_sizes(1)
    cases = {"`grad = [1, 2, 3]`": Tensor([1.0, 2.0, 3.0]), "a different length": fresh_tensor(n)}
    for case, grad in cases.items():
        with undifferentiated():
            got = tensor_of(answer, grad, case=case)
        values = grad.numpy()
        wrong_if(close(got, np.cumsum(values)), "This adds up the gradients of the places before. "
                 "But `x[1]` takes no part in `c[0]`: it counts in `c[1]`, `c[2]` and all that "
                 "follow.", case)  # fmt: skip
        same_values(got, np.cumsum(values[::-1])[::-1], case, shown=len(values) == 3)

# %% shared
from tinyframe import Tensor, nn

# %% wrong, each line
lambda grad: grad.cumsum(0)  # says the places before
lambda grad: grad.sum()  # says axis
lambda grad: (x := Tensor.zeros(3)).cumsum(0).gradient(x)  # says asks tinyframe

# %% right, each line
lambda g: g.sum() - g.cumsum(0) + g  # the total without what came before
