"""What a waiting result costs

Hint: Which of the four still need the old numbers after `x` has changed?
Hint: A view shows the new numbers. A sum that was written down before the change has to show the
old ones. When is the last moment to compute it?
Because: In the first two cases nobody needs the old numbers, so one kernel writes the new ones in
place. `x.sum()` and `x + 1` need the old numbers. So each of them is computed just before the old
numbers are overwritten, and that takes a second kernel.
"""

from collections.abc import Callable

from classroom.ask import fresh_sizes, fresh_tensor, predicts
from tinyframe import GlobalCounters, Tensor

WAITING: list[Callable[[Tensor], Tensor | None]] = [
    lambda x: None,
    lambda x: x[:10],
    lambda x: x.sum(),
    lambda x: x + 1,
]


def kernels_while_something_waits() -> tuple[int, ...]:
    counts = []
    for make in WAITING:
        x = fresh_tensor(*fresh_sizes(1))
        _waiting = make(x)
        before = GlobalCounters.kernel_count
        x.assign(x * 2).realize()
        counts.append(GlobalCounters.kernel_count - before)
    return tuple(counts)


check = predicts(kernels_while_something_waits)

# %% guesses
((1, 1, 2, 2), (1, 1, 1, 1), (1, 2, 2, 2), (0, 0, 1, 1))
