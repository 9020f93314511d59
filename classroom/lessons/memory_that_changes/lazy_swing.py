"""A string that swings

Hint: Three things hold values here: `now`, `before`, and what comes next. Which of them has to be
written down before anything is overwritten?
Hint: First an expression for the next values, from `now` and `before` as they are. Then one
`assign` each. If `now` goes first, where does `before` get its values from?
Because: `later` is a result, so it keeps the values of the moment, whatever happens to `now` and
`before` afterwards. `before` has to be assigned first, while `now` still means the old values.
Right: Two Tensors, the same memory from the first step to the last, and it moves.
"""

import numpy as np

from classroom.ask import call, fresh_sizes, same_values, wrong_if
from classroom.lessons.memory_that_changes.shared import _equal, _themselves
from tinyframe import Tensor


def check(answer) -> None:
    """answer(now, before): both a step later, of a string whose ends are held."""
    (n,) = fresh_sizes(1)
    for values in (np.array([0, 0, 1, 0, 0], np.float32), np.random.default_rng().random(n)):
        shown = len(values) == 5
        case = "`now` and `before` both [0, 0, 1, 0, 0]" if shown else "a longer string"
        here = there = values.astype(np.float32)
        now, before = Tensor(here).realize(), (Tensor(there) + 0).realize()
        for step in range(3):
            where = f"{case}, after {step + 1} step{'s' if step else ''}"
            bend = np.zeros_like(here)
            bend[1:-1] = here[:-2] - 2 * here[1:-1] + here[2:]
            later = 2 * here - there + 0.5 * bend
            _themselves(call(answer, now, before), {"now": now, "before": before}, where)
            got_now, got_before = now.numpy(), before.numpy()
            wrong_if(_equal(got_before, later) and _equal(got_now, later),
                     "`now` and `before` have the same values afterwards: `before` was assigned "
                     "when `now` was a step further already.", where)  # fmt: skip
            kept = _equal(got_before, there)
            wrong_if(_equal(got_now, later) and kept and not _equal(there, here),
                     "`now` is right, but `before` hasn't changed.", where)  # fmt: skip
            wrong_if(_equal(got_now, here) and kept, "Nothing has changed.", where)
            wrong_if(_equal(got_now, 2 * here - here + 0.5 * bend) and not _equal(later, got_now),
                     "`before` had been overwritten when `now` needed it.", where)  # fmt: skip
            same_values(now, later, f"{where}: `now`", shown)
            same_values(before, here, f"{where}: `before`", shown)
            here, there = later.astype(np.float32), here

# %% shared
def bend(u):
    return (u[:-2] - 2 * u[1:-1] + u[2:]).pad(((1, 1),))

def later(now, before, stiffness=0.5):
    return 2 * now - before + stiffness * bend(now)

def swung(now, before, stiffness):
    following = later(now, before, stiffness)
    before.assign(now)
    now.assign(following)
    return now, before

# %% wrong, each line
lambda now, before: (now, before)  # says Nothing has changed
lambda now, before: (later(now, before), now)  # says returns a new Tensor
lambda now, before: swung(now, before, 0.25)  # says after 1 step: `now`
lambda now, before: (now.assign(later(now, before)), before)  # says but `before` hasn't changed
lambda now, before: (before.assign(now), now.assign(later(now, before)))[::-1]  # says overwritten when `now` needed it

# %% wrong: before becomes later
def swing(now, before):
    later = 2 * now - before + 0.5 * bend(now)
    now.assign(later)
    before.assign(now)
    return now, before

# %% wrong: one kernel and the roles exchanged: a trick in C, but not the same two Tensors
def swing(now, before):
    before.assign(2 * now - before + 0.5 * bend(now))
    return before, now

# %% right, each line
lambda now, before: swung(now, before, 0.5)
