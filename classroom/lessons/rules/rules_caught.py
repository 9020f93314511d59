"""Catch them lying

Hint: Infinity catches more than one of them, and so does 0. Which of the ten only have to fear
large numbers, or two numbers of very different size?
Hint: Rule 1 needs -0.0. Rule 7 needs a small x and a large y; rule 8 an x near the largest float,
3.4e38; and rule 10 a NaN.
Because: -0.0 + 0 is 0.0. Infinity times 0, and infinity minus itself, are NaN, and so is 0 / 0. 1
+ 1e8 rounds to 1e8. 3e38 * 2 is infinity. And NaN isn't below 0, nor is 0 at most NaN.
Right: Seven of the ten, caught in the act. The next cell draws your evidence.
"""

from collections.abc import Mapping

from classroom.exercise import Wrong, wrong_if
from classroom.lies import differ, shown
from classroom.obvious import TEN, lie_of, tried_on


def check(answer) -> None:
    """answer: for the number of each rule that lies for floats, an x or an (x, y) that shows it."""
    wrong_if(not isinstance(answer, Mapping), "The answer has to be a dict: `{3: inf, …}`, from "
             "the number of a rule to an x, or to a pair (x, y).",
             got=type(answer).__name__)  # fmt: skip
    given = {number: value for number, value in answer.items() if value is not ...}
    if odd := [number for number in given if number not in range(1, len(TEN) + 1)]:
        raise Wrong(f"There are ten rules, 1 to 10, and no rule {odd[0]!r}.")
    for n, value in sorted(given.items()):
        rule = TEN[int(n) - 1]
        found = tried_on(rule, value)
        if found is None:
            wanted = "a pair (x, y) of numbers" if rule.takes_two else "a number"
            raise Wrong(f"Rule {n} needs {wanted}.", f"`{rule.text}`", got=repr(value))
        before, after, said = found
        if not differ(before, after):
            if lie_of(rule, False) is None:
                raise Wrong(f"Rule {n} holds for every float, as far as anybody knows. Leave it "
                            "out.", f"`{rule.text}`, for {said}",
                            more=(("both sides", shown(before)),))  # fmt: skip
            raise Wrong(f"Here rule {n} tells the truth. It lies elsewhere.",
                        f"`{rule.text}`, for {said}",
                        more=(("both sides", shown(before)),))  # fmt: skip
    missing = [n for n, rule in enumerate(TEN, 1) if lie_of(rule, False) and n not in given]
    if missing:
        some = f"rule {missing[0]}" if len(missing) == 1 else f"rules {listed(missing)}"
        raise Wrong(f"What you have is right. Nobody has caught {some} yet.")


def listed(numbers: list[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}"

# %% shared
from math import inf, nan
CAUGHT = {1: -0.0, 3: inf, 4: inf, 6: 0, 7: (1, 1e8), 8: 3e38, 10: (nan, 0)}

# %% wrong, each line
{3: inf}  # says Nobody has caught rules 1, 4, 6, 7, 8 and 10
CAUGHT | {3: 5.0}  # says Here rule 3 tells the truth
CAUGHT | {7: 1e8}  # says needs a pair
CAUGHT | {2: inf}  # says Rule 2 holds for every float
CAUGHT | {11: 0}  # says no rule 11
[inf, 0]  # says has to be a dict

# %% right, each line
CAUGHT
