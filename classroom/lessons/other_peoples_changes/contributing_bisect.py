"""Bisect

Hint: You always know one that's good and one that's bad. When are you done? And which number
between them do you try next?
Hint: While bad - good is above 1: try the middle, (good + bad) // 2, and let it take the place of
one of the two. At the end, bad is the first one.
Because: Between good and bad there's always the place where it changed. Each trial keeps that so,
and halves the distance. When they are neighbours, there's nothing left to ask.
Right: 30 patches in 5 trials, wherever the first bad one is. A million would take 20, and that is
why nobody reads a million patches.
"""

import itertools
from typing import Any

from classroom.ask import Wrong, call, same_number
from classroom.lessons.other_peoples_changes.shared import (
    number_of_patch,
    several,
    shown,
    worst_case,
)


def check(answer) -> None:
    """answer(good, bad, is_bad): the first that's bad, in as few trials as halving takes."""
    for first_bad in (19, 1, 30, 2, 16, 15):
        one_bisect(
            answer, 0, 30, first_bad, f"30 patches, of which {first_bad} is the first bad one"
        )
    for low, count in itertools.product((0, 7), range(1, 40)):
        for first_bad in range(low + 1, low + count + 1):
            case = f"{low} is good, {low + count} is bad, and {first_bad} is the first bad one"
            one_bisect(answer, low, low + count, first_bad, case)


def one_bisect(answer, low: int, high: int, first_bad: int, case: str) -> None:
    trials: list[int] = []

    def is_bad(n: Any) -> bool:
        trials.append(number_of_patch(n, low, high, case))
        return trials[-1] >= first_bad

    same_number(call(answer, low, high, is_bad), first_bad, case)
    allowed = max(worst_case(high - low), 0)
    if len(trials) > allowed:
        again = "" if len(set(trials)) == len(trials) else " Some were tried twice."
        raise Wrong(f"You found it, but in {several(len(trials), 'trial')}, and {allowed} would "
                    f"do. Each trial can rule out half of what's left.{again}", case,
                    more=(("you tried", shown(trials)),))  # fmt: skip

# %% wrong, each line
lambda good, bad, is_bad: bad if is_bad(good - 1) else bad  # says go from 0 to 30
lambda good, bad, is_bad: is_bad((good + bad) / 4)  # says has to be the number
lambda good, bad, is_bad: [19]  # says has to be a whole number

# %% wrong: says in 19 trials, and 5 would do
def one_by_one(good, bad, is_bad):
    return next(n for n in range(good + 1, bad + 1) if is_bad(n))
one_by_one

# %% wrong: says 1 too small
def last_good(good, bad, is_bad):
    while bad - good > 1:
        mid = (good + bad) // 2
        good, bad = (good, mid) if is_bad(mid) else (mid, bad)
    return good
last_good

# %% wrong: by thirds, which takes more trials
def bisect(good, bad, is_bad):
    while bad - good > 1:
        third = (bad - good + 2) // 3
        if is_bad(good + third):
            bad = good + third
        elif good + 2 * third < bad and is_bad(good + 2 * third):
            good, bad = good + third, good + 2 * third
        else:
            good = min(good + 2 * third, bad - 1)
    return bad

# %% right
def by_recursion(good, bad, is_bad):
    if bad - good <= 1:
        return bad
    mid = good + (bad - good + 1) // 2 if (bad - good) % 2 else (good + bad) // 2
    return by_recursion(good, mid, is_bad) if is_bad(mid) else by_recursion(mid, bad, is_bad)
by_recursion

# %% right: Python has one
def bisect(good, bad, is_bad):
    from bisect import bisect_left
    return bisect_left(range(bad), True, lo=good + 1, key=is_bad)
