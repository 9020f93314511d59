"""Which of the five lines change kernels?

Hint: Take the orange boxes one by one. Which of the five functions does each of them call?
Hint: `after.of("x.tanh()")` shows what became different in its C. Two of the five write the same
graph as before: work out what `self**2` becomes, and what `math.log2(math.e)` is.
Because: `self**2` is built as `self * self`, and `math.log2(math.e)` is the same number as `1 /
math.log(2)`. The other three write different graphs. B is the worst: the compiler has a rule for
a multiplication by 1 / log(2), and a division doesn't match it.
"""

import re
from collections.abc import Iterable
from functools import cache

from classroom.ask import Wrong, describe, wrong_if
from classroom.contributing.drive_by import HUNKS
from classroom.contributing.scratch import judged

SECONDS = 150.0


@cache
def effects() -> dict[str, list[str]]:
    """Of each hunk, the expressions whose kernels it changes."""
    return judged([], hunks=True)["hunks"]


def check(answer) -> str:
    """answer: the letters of the hunks that change kernels."""
    said = letters(answer)
    real = {letter for letter, names in effects().items() if names}
    if innocent := sorted(said - real):
        hunk = HUNKS[innocent[0]]
        raise Wrong(f"{innocent[0]} changes no kernel: nothing that uses `{hunk.function}` is "
                    "different.", got=", ".join(sorted(said)))  # fmt: skip
    if missing := sorted(real - said):
        names = ", ".join(f"`{name}`" for name in effects()[missing[0]])
        raise Wrong(f"Nothing on your list explains why these are different: {names}.",
                    got=", ".join(sorted(said)) or "nothing")  # fmt: skip
    kinds = sum(map(len, effects().values()))
    return f"Three harmless-looking lines, and {kinds} kinds of kernels came out differently."


def letters(answer) -> set[str]:
    """Letters, in whatever form they came: "BCE", "b, c", a list, a set."""
    wrong_if(not isinstance(answer, Iterable) or isinstance(answer, (bytes, dict)),
             "The answer has to be letters, as a text or as a list of texts.",
             got=describe(answer))  # fmt: skip
    if isinstance(answer, str):  # "BCE", "b, c, e", "B, C and E"
        answer = "".join(re.split(r"\band\b|[\s,;&]+", answer))
    found = [str(item).strip().upper() for item in answer]
    if strange := [item for item in found if item not in HUNKS]:
        raise Wrong(f"The answer has to be letters from {min(HUNKS)} to {max(HUNKS)}.",
                    got=strange[0])  # fmt: skip
    return set(found)

# %% wrong, each line
"BCDE"  # says D changes no kernel
"B"  # says explains why these are different
"the first"  # says letters from A to E
3  # says has to be letters
["exp", "lerp", "polynomial"]  # names, and letters were asked for

# %% right, each line
"c, b, e"
(letter for letter in "BCE")
