"""A number that changes

Hint: Which kind of value does a replay look up in every call?
Hint: A Tensor with memory. `Tensor(3.0)` is a constant and has none; what did the error message
suggest?
Because: A replay reads the memory of the Tensors that it's given. `Tensor(number)` is a constant
and has no memory; `.contiguous()` gives it some. `Tensor([number])` has memory from the start.
"""

from classroom.lessons.training.shared import scale

check = scale

# %% shared
from tinyframe import Tensor, nn

# %% wrong, each line
lambda captured, x, number: x * number  # says never called
lambda captured, x, number: captured(x, number)  # says raised JitError
lambda captured, x, number: captured(x, Tensor(number))  # says `.contiguous()` does

# %% wrong: says should run twice
def recaptured(captured, x, number):
    captured.reset()
    return captured(x, Tensor([number]))
recaptured

# %% right, each line
lambda captured, x, n: captured(x, x * 0 + n)  # computed, so it gets memory of its own
