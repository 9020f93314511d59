"""What a replay does

Hint: In which of the five calls does the Python of `step` run?
Hint: The kernels are recorded and launched again. Does anything make them fewer?
Because: Python runs in the first call and in the second one, which is recorded. The other three
are replays: they launch the very same 15 kernels, and nothing else happens. TinyJit makes no
kernel quicker; it takes away the Python between them.
"""

from classroom.ask import predicts
from tinyframe import GlobalCounters, Tensor, TinyJit


def five_calls() -> tuple[int, int]:
    """How often Python ran in five calls, and how many kernels the last of them launched."""
    weights = [Tensor.ones(8, 8).contiguous().realize() for _ in range(5)]
    runs = []

    @TinyJit
    def step(x: Tensor) -> Tensor:
        runs.append(1)
        for w in weights:
            x = (x @ w).softmax(axis=1)
        return x.realize()

    x = Tensor.ones(8, 8).contiguous().realize()
    for _ in range(5):
        before = GlobalCounters.kernel_count
        step(x)
    return len(runs), GlobalCounters.kernel_count - before


check = predicts(five_calls)

# %% guesses
((2, 15), (1, 15), (5, 15), (2, 1), (2, 0), (2, 10))

# %% asked again, each line
15  # one number of two

# %% right, each line
[2, 15]  # a list
