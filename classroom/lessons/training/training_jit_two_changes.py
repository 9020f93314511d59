"""What a replay notices

Hint: This is the sixth call. Does it run the Python of `scaled`?
Hint: Only kernels run. `weight` is memory that they read. And where is `factor`?
Because: The kernel reads the memory of `weight`, so it sees the 3. But `factor` was 10 when the
kernel was recorded, and that 10 is a constant in its code. No Python runs that could notice the
100. So it's 1 · 3 · 10, where 300 would be right, and nothing warns you.
"""

from classroom.ask import predicts
from tinyframe import Tensor, TinyJit


def replayed_after_two_changes() -> int:
    factor, weight = 10.0, Tensor([1.0]).realize()
    captured = TinyJit(lambda x: x * weight * factor)
    for n in range(5):
        captured(Tensor([float(n)]))
    weight.assign(Tensor([3.0]))
    factor = 100.0
    return round(captured(Tensor([1.0])).item())


check = predicts(replayed_after_two_changes)

# %% guesses
(30, 300, 10, 100)

# %% asked again, each line
Tensor([30.0])  # a Tensor is no number here

# %% right, each line
30.0  # a float
