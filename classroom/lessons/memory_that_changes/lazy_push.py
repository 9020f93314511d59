"""A window on the latest values

Hint: Which of the old values are still there afterwards, and where?
Hint: `window[1:]` are the ones that stay. `assign` wants as many values as the window has, so
what goes behind them? Or write into two slices: which of the two first?
Because: Everything except the first value, and then the new one: that's the new window. tinyframe
sees that element 0 is about to be overwritten by what element 1 holds, and so on, so it computes
all the new values before it writes the first of them.
Right: Each number moved to where its neighbour was, and nobody was overwritten too early.
"""

import random

import numpy as np

from classroom.ask import call, fresh_tensor, same_values, unlike, wrong_if
from classroom.lessons.memory_that_changes.shared import _themselves
from tinyframe import Tensor
from tinyframe.device import buffer_of


def check(answer) -> None:
    """answer(window, value): the window, one place further, in the memory that it has."""
    n = random.randint(7, 12)  # written one by one, each place takes a kernel of its own
    for window, values in (
        (Tensor([1.0, 2.0, 3.0, 4.0]).realize(), (5.0, 6.0)),
        (fresh_tensor(n), (7.0, -1.0, 8.5)),
    ):
        shown = window.numel() == 4
        case = "`window = [1, 2, 3, 4]`, then 5" if shown else "a longer window"
        memory = buffer_of(window.uop)
        for value in values:
            case = case.replace("then 5", "then 5 and 6") if value == 6.0 else case
            before = window.numpy().copy()
            _themselves(call(answer, window, value), {"window": window}, case)
            wanted = np.append(before[1:], np.float32(value))
            mistakes = {
                "Nothing has changed.": before,
                "The window moved the other way. The oldest value, the first, should go.":
                    np.append(value, before[:-1]),
                "The new value is there twice: it was written before the others moved up.":
                    np.append(before[1:-1], (value, value)),
                "The new value is there, but the others haven't moved.":
                    np.append(before[:-1], value),
                "The others have moved, but the new value isn't there.":
                    np.append(before[1:], before[-1]),
                "The oldest value came back in at the end, where the new one belongs.":
                    np.append(before[1:], before[0]),
            }  # fmt: skip
            unlike(window, mistakes, wanted, case, shown=False)
            same_values(window, wanted, case, shown)
            wrong_if(buffer_of(window.uop) is not memory,
                     "The values are right, but the window is in different memory now.",
                     case)  # fmt: skip

# %% shared
from tinyframe import Tensor
def written(window, place, value):
    window[place] = value
    return window

def moved_up(window, value=None):
    window[:-1] = window[1:]
    return window if value is None else written(window, -1, value)

# %% wrong, each line
lambda window, value: window  # says Nothing has changed
lambda window, value: window[1:].cat(Tensor([value]))  # says returns a new Tensor

# %% wrong: the new value twice, and one lost
def push(window, value):
    window[-1] = value
    window[:-1] = window[1:]
    return window

# %% wrong: says in different memory now
def moved_house(window, value):
    window.uop = window[1:].cat(Tensor([value])).realize().uop
    return window
moved_house

# %% right, each line
lambda window, value: moved_up(window, value).realize()
