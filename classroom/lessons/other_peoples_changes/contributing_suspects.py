"""A search that can skip

Hint: Which patches between good and bad are still worth a trial? Those that haven't been skipped.
What if none is left?
Hint: Keep a set of skipped numbers. While there are untried ones between good and bad, try the
one in the middle of those. At the end, everything after good, up to and including bad, is a
suspect.
Because: A skipped patch says nothing, so it stays a suspect as long as it's between the last good
one and the first bad one. All others there have been tried.
Right: It names one patch where that can be known, and where it can't, it says so rather than
blaming somebody.
"""

import random
from collections.abc import Iterable
from typing import Any

import numpy as np

from classroom.ask import Wrong, call, describe, wrong_if
from classroom.contributing import history
from classroom.contributing.history import BAD, GOOD, SKIP, most_trials, tried_by
from classroom.lessons.other_peoples_changes.shared import number_of_patch, shown


def check(answer) -> None:
    """answer(good, bad, verdict): all that could be the first bad one, as a list."""
    one_search(answer, 0, 30, 16, set(), "30 patches; 16 is the first bad one; all can be tested")
    case = "30 patches; 20 is the first bad one; 15 can't be tested"
    one_search(answer, 0, 30, 20, {15}, case)
    case = "30 patches; 15 is the first bad one; 13 and 14 can't be tested"
    one_search(answer, 0, 30, 15, {13, 14}, case)
    case = "30 patches; 15 is the first bad one, but neither 15 nor 16 can be tested"
    one_search(answer, 0, 30, 15, {15, 16}, case)
    case = "3 patches; 1 and 2 can't be tested"
    one_search(answer, 0, 3, 1, {1, 2}, case)
    rng = random.Random(11)
    for _ in range(300):
        low, count = rng.randint(0, 9), rng.randint(2, 40)
        inner = range(low + 1, low + count)
        skipped = set(rng.sample(inner, rng.randint(0, min(4, len(inner)))))
        first_bad = rng.randint(low + 1, low + count)
        those = f"; {shown(sorted(skipped))} can't be tested" if skipped else ""
        case = f"{low} is good, {low + count} is bad, the first bad one is {first_bad}{those}"
        one_search(answer, low, low + count, first_bad, skipped, case)


def one_search(answer, low: int, high: int, first_bad: int, skipped: set[int], case: str) -> None:
    def judged(n: Any) -> str:
        n = number_of_patch(n, low, high, case)
        return SKIP if n in skipped else BAD if n >= first_bad else GOOD

    expected, _ = tried_by(history.our_search, low, high, judged)

    def search(*inputs: Any) -> Any:
        return call(answer, *inputs)

    got, trials = tried_by(search, low, high, judged)
    numbers = as_numbers(got, case)
    tried = (("you tried", shown([n for n, _ in trials])),)
    if numbers != expected:
        said = "The list has to be everything that could be the first bad one."
        said += f" {hint_on(numbers, expected, dict(trials))}"
        raise Wrong(said, case, expected=expected, got=numbers, more=tried)
    allowed = most_trials(high - low, len(skipped))
    wrong_if(len(trials) > allowed,
             f"You found it, but in {len(trials)} trials, and {allowed} would do.", case,
             more=tried)  # fmt: skip


def hint_on(got: list[int], expected: list[int], tried: dict[int, str]) -> str:
    """What's wrong with a list of suspects."""
    missing, extra = sorted(set(expected) - set(got)), sorted(set(got) - set(expected))
    if skipped := [n for n in missing if tried.get(n) == SKIP]:
        return f"Why not {skipped[0]}? It couldn't be tested, so nobody knows that it's good."
    if missing:
        return f"{missing[0]} is missing."
    if tested := [n for n in extra if tried.get(n) == GOOD]:
        return f"You tried {tested[-1]}, and it's good."
    if untried := [n for n in extra[:-1] if n not in tried]:
        return f"You've stopped too early: you could still try {untried[-1]}."
    return f"{extra[0]} can't be it."


def as_numbers(got: Any, case: str) -> list[int]:
    what = "The answer has to be a list of numbers of patches."
    if isinstance(got, (str, bytes)) or not isinstance(got, Iterable):
        raise Wrong(what, case, got=describe(got))
    found = [one.item() if isinstance(one, np.generic) else one for one in got]
    if any(isinstance(one, bool) or not isinstance(one, int) for one in found):
        raise Wrong(what, case, got=describe(found))
    return sorted(set(found))

# %% shared
def halves(good, bad, verdict, what_of_a_skip):
    while bad - good > 1:
        mid = (good + bad) // 2
        word = verdict(mid)
        word = what_of_a_skip if word == "skip" else word
        good, bad = (good, mid) if word == "bad" else (mid, bad)
    return [bad]

def all_of_them(good, bad, verdict):
    """Goes outwards from the middle, past what can't be tested."""
    seen = set()
    while True:
        left = sorted(set(range(good + 1, bad)) - seen, key=lambda n: abs(2 * n - good - bad))
        if not left:
            return [*range(good + 1, bad + 1)]
        seen.add(left[0])
        word = verdict(left[0])
        if word == "bad":
            bad = left[0]
        if word == "good":
            good = left[0]

# %% wrong, each line
lambda g, b, v: halves(g, b, v, "bad")  # says 20 is missing
lambda g, b, v: "18, 19"  # says has to be a list
lambda g, b, v: [*map(str, all_of_them(g, b, v))]  # says a list of numbers of patches

# %% wrong: says in 29 trials, and 5 would do
def each_of_them(good, bad, verdict):
    words = {good: "good", bad: "bad"} | {n: verdict(n) for n in range(good + 1, bad)}
    low = max(n for n in words if words[n] == "good")
    high = min(n for n in words if words[n] == "bad")
    return list(range(low + 1, high + 1))
each_of_them

# %% wrong: goes up past what can't be tested, and never down
def suspects(good, bad, verdict):
    while bad - good > 1:
        n = (good + bad) // 2
        while n < bad and (word := verdict(n)) == "skip":
            n += 1
        if n == bad:
            return list(range(good + 1, bad + 1))
        good, bad = (good, n) if word == "bad" else (n, bad)
    return [bad]

# %% right, each line
all_of_them

# %% right: nearest to the middle; a range for a list
def suspects(good, bad, verdict):
    words = {}
    while True:
        left = [n for n in range(good + 1, bad) if words.get(n) is None]
        if not left:
            return range(good + 1, bad + 1)
        n = min(left, key=lambda n: abs(n - (good + bad) / 2))
        words[n] = verdict(n)
        good, bad = n if words[n] == "good" else good, n if words[n] == "bad" else bad
