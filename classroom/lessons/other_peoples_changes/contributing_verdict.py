"""Good, bad or neither

Hint: What's true of every good owl, with a frame or without, and not of today's? Hold a row up to
a mirror: `row[::-1]`.
Hint: Inside of `try`, get the rows; `except Exception` is "skip". Then count the rows that differ
from their mirror image. The wink makes five of those, the bug fifteen.
Because: The frame is symmetric, too, so mirrors don't mind it. The wink changes a few rows, the
bug nearly all. And a version that can't run says nothing about the bug.
Right: All 31 versions, the joke and the broken ones among them. Your computer can take it from
here.
"""

from typing import Any

from classroom.ask import Wrong, call, describe
from classroom.contributing import history
from classroom.contributing.history import BAD, GOOD, SKIP

ABOUT = {
    0: "the owl as it was at first",
    9: "the owl winks, on purpose",
    13: "it has stopped winking",
    14: "there's a frame around it",
    17: "the last one that draws it well",
    18: "this one raises an error",
    19: "its right half is in the wrong place",
    22: "this one raises an error",
    26: "two frames, and a broken owl in them",
    30: "today's owl",
}


def check(answer) -> None:
    """answer(n): "good", "bad" or "skip" of each version of the owl."""
    numbers = [30, 0, 17, 19, 18, 22, 9, 14, *range(31)]
    for n in numbers:
        wanted = history.our_verdict(n)
        case = f"patch {n}" + (f": {ABOUT[n]}" if n in ABOUT else "")
        got = as_word(call(answer, n), case)
        if got == wanted:
            continue
        if wanted == SKIP:
            said = "A version that can't draw anything is neither good nor bad."
        elif n in range(9, 13):
            said = "It winks, and that's a joke and not the bug. How much of the owl differs then?"
        elif got == SKIP:
            said = "This version does draw a poster, so it can be tested."
        else:
            said = f'That one is {wanted}. Look at it: `owls({{"": owl.poster({n})}})`.'
        raise Wrong(said, case, expected=wanted, got=got)


def as_word(got: Any, case: str) -> str:
    word = got.strip().lower() if isinstance(got, str) else ""
    if word not in (GOOD, BAD, SKIP):
        raise Wrong('The answer has to be "good", "bad" or "skip".', case, got=describe(got))
    return word

# %% shared
from classroom.contributing.history import History
OWL = History()
def by_numbers(n):
    return "skip" if n in (18, 22) else "bad" if n > 18 else "good"

# %% wrong, each line
lambda n: "good"  # says That one is bad
lambda n: n > 18  # says has to be

# %% wrong: says raised AttributeError
def errors_get_out(n):
    return "bad" if sum(row != row[::-1] for row in OWL.poster(n)) > 7 else "good"
errors_get_out

# %% wrong: the frame was on purpose
def verdict(n):
    try:
        return "good" if owl.poster(n) == owl.poster(0) else "bad"
    except Exception:
        return "skip"

# %% asked again: None isn't skip; whatever returns nothing is asked again (I had said wrong)
def verdict(n):
    try:
        poster = owl.poster(n)
    except Exception:
        return None
    return "bad" if sum(r != r[::-1] for r in poster) > 5 else "good"

# %% right, each line
by_numbers

# %% right
import numpy as np
def by_halves(n):
    try:
        rows = OWL.poster(n)
    except (AttributeError, NameError):
        return "SKIP"
    alike = np.mean([row == "".join(reversed(row)) for row in rows])
    return " bad" if alike < 0.5 else "Good"
by_halves
