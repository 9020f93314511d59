"""Part 11a, a change of your own: the exercises, and what an answer has to do.

What is written for tinyframe is tried in a copy of it, in one process (`classroom/contributing`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from classroom.ask import call, describe
from classroom.contributing.clocks import (
    MACHINES,
    Machine,
    Tired,
    innocence,
    lines,
    mistakes,
)
from classroom.contributing.drive_by import HUNKS
from classroom.contributing.scratch import SPECIAL, TESTS, functions_of, judged
from classroom.exercise import Exercise, Wrong

CLOSE = 0.1  # relative: how far off a measurement may be
DAYS = (11, *range(100, 107))  # the notebook's, and seven more: the same for every answer


# ---- a test --------------------------------------------------------------------------------------


def notices_values(answer: Any) -> str:
    """answer: a test, or several, of the values of sinc."""
    try_test(answer, "values")
    return (
        "It fails today, because there is no `sinc`. It will pass on a right one. And none of five "
        "wrong ones gets past it."
    )


def notices_slopes(answer: Any) -> str:
    """answer: a test, or several, of the slopes of sinc."""
    try_test(answer, "slopes")
    return "Five wrong slopes, and none gets past your test. The last one got past most of mine."


def try_test(answer: Any, which: str) -> None:
    found = functions_of(answer)
    if not any(function.__name__.startswith("test") for function in found):
        raise Wrong("A test has to be a function whose name begins with `test`.")
    told = judged([(TESTS, f) for f in found], tests=[TESTS], planted=which)
    failed = [result for result in told["tests"][0] if result["error"]]
    if not failed:
        raise Wrong(
            "Your test passes, and Tensor has no `sinc` yet. A test that can't fail says nothing.",
            "tinyframe as it is",
        )
    first = failed[0]
    if first["error"] != "AttributeError" or "sinc" not in first["text"]:
        raise Wrong(
            "It fails today, as it should, but for the wrong reason.",
            "tinyframe as it is",
            "AttributeError: … has no attribute 'sinc'",
            f"{first['error']}: {first['text']}",
            more=where(first),
        )
    right, *wrong = told["planted"]
    if right["failed"]:
        first = right["failed"][0]
        close = " (float32 has about seven digits, so leave room for rounding.)"
        compares = first["error"] in ("AssertionError", "ValueError")
        raise Wrong(
            f"Your test fails on a sinc that is right.{close * compares}",
            got=f"{first['error']}: {first['text']}",
            more=where(first),
        )
    for planted in wrong:
        if not planted["failed"]:
            raise Wrong(f"Your test doesn't notice a sinc that {planted['said']}.")


def where(result: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return (("your line", f"`{result['line']}`"),) if result["line"] else ()


# ---- a method ------------------------------------------------------------------------------------


def has_values(answer: Any) -> str:
    """answer: the method `sinc`, or helpers and the method."""
    try_method(answer, "values")
    return "Values, five dtypes, and it stays lazy. That's a method of Tensor, and it's yours."


def has_slopes(answer: Any) -> str:
    """answer: the method `sinc`, whose slopes are right as well."""
    try_method(answer, "slopes")
    return "The slope is right at 0, beside 0 and far from it, in float and in double."


def try_method(answer: Any, which: str) -> None:
    found = functions_of(answer)
    if found[-1].__name__ != "sinc":
        raise Wrong(
            "The method has to be called `sinc`, as in NumPy.", got=f"`{found[-1].__name__}`"
        )
    for problem in judged([(SPECIAL, f) for f in found], cases=which)["cases"]:
        if "NameError" in problem["text"]:
            problem["text"] += " (In special.py, there's only what that file has.)"
        raise Wrong(
            problem["text"],
            problem.get("case", ""),
            problem.get("expected", ""),
            problem.get("got", ""),
        )


# ---- five changes that nobody asked for ----------------------------------------------------------


@cache
def effects() -> dict[str, list[str]]:
    """Of each hunk, the expressions whose kernels it changes."""
    return judged([], hunks=True)["hunks"]


def guilty(answer: Any) -> str:
    """answer: the letters of the hunks that change kernels."""
    said = letters(answer)
    real = {letter for letter, names in effects().items() if names}
    if innocent := sorted(said - real):
        hunk = HUNKS[innocent[0]]
        raise Wrong(
            f"{innocent[0]} changes no kernel: nothing that uses `{hunk.function}` is different.",
            got=", ".join(sorted(said)),
        )
    if missing := sorted(real - said):
        names = ", ".join(f"`{name}`" for name in effects()[missing[0]])
        raise Wrong(
            f"Nothing on your list explains why these are different: {names}.",
            got=", ".join(sorted(said)) or "nothing",
        )
    kinds = sum(map(len, effects().values()))
    return f"Three harmless-looking lines, and {kinds} kinds of kernels came out differently."


def letters(answer: Any) -> set[str]:
    """Letters, in whatever form they came: "BCE", "b, c", a list, a set."""
    if not isinstance(answer, Iterable) or isinstance(answer, (bytes, dict)):
        raise Wrong(
            "The answer has to be letters, as a text or as a list of texts.", got=describe(answer)
        )
    if isinstance(answer, str):  # "BCE", "b, c, e", "B, C and E"
        answer = "".join(re.split(r"\band\b|[\s,;&]+", answer))
    found = [str(item).strip().upper() for item in answer]
    if strange := [item for item in found if item not in HUNKS]:
        raise Wrong(
            f"The answer has to be letters from {min(HUNKS)} to {max(HUNKS)}.", got=strange[0]
        )
    return set(found)


# ---- measuring -----------------------------------------------------------------------------------


def fair(answer: Any) -> str:
    """answer(old, new, clock): how many times as fast `new` is."""
    for day, seed in enumerate(DAYS):
        for name, habits in MACHINES.items():
            machine = Machine(name, seed)
            case = f"{name}, {day} days later" if day else f"{name}: {habits.said}"
            said = told_by(answer, machine, case)
            off = said / machine.truth if machine.truth else 0
            if abs(off - 1) <= CLOSE:
                continue
            if abs(said * machine.truth - 1) <= CLOSE:
                raise Wrong("Upside down: that's how many times as fast the old one is.", case)
            raise Wrong("It has to be within 10% of what's true.", case,
                        f"{machine.truth:.2f}", f"{said:.2f}")  # fmt: skip
    return "Six machines, one of them on a Monday, and none could fool you."


def told_by(answer: Any, machine: Machine, case: str) -> float:
    try:
        said = call(answer, machine.old, machine.new, machine.clock)
    except ZeroDivisionError:
        raise Wrong(
            "One of your times is 0: its clock didn't tick between the two looks at it. Let more "
            "calls go into a turn.",
            case,
        ) from None
    except Tired:
        raise Wrong(
            "Your function calls the programs more than 200,000 times. Nobody waits for that.", case
        ) from None
    if isinstance(said, np.ndarray) and said.ndim == 0:
        said = said.item()
    if isinstance(said, bool) or not isinstance(said, (int, float)):
        raise Wrong("The answer has to be a number.", case, got=describe(said))
    return float(said)


# ---- four mistakes -------------------------------------------------------------------------------


def four_mistakes(answer: Any) -> str:
    """answer: the numbers of the lines with a mistake."""
    said, wrong = numbers(answer), mistakes()
    found = sorted(said & set(wrong))
    missed = [mistake for number, mistake in wrong.items() if number not in said]
    alarms = sorted(said - set(wrong))
    if missed or alarms:
        rows = [("found", f"line {n}: {wrong[n].what}") for n in found]
        rows += [("no mistake", f"line {n}: {innocence(n)}") for n in alarms]
        rows += [("missed", f"one: {mistake.asks}") for mistake in missed]
        raise Wrong(f"{len(found)} of {len(wrong)} mistakes found.", more=tuple(rows))
    return "All four. " + " ".join(
        f"Line {n}: {mistake.what}." for n, mistake in sorted(wrong.items())
    )


def numbers(answer: Any) -> set[int]:
    """Numbers of lines, in whatever form they came."""
    items: Iterable[Any]
    if isinstance(answer, str):
        items = re.findall(r"\d+", answer) or ["?"]
    elif isinstance(answer, Iterable):
        items = answer
    else:
        items = [answer]
    found = set()
    for item in items:
        whole = isinstance(item, (int, float, np.number)) and not isinstance(item, bool)
        text = str(int(item)) if whole and item == int(item) else str(item).strip()
        if not text.isdecimal():
            raise Wrong("The answer has to be the numbers of lines.", got=describe(item))
        found.add(int(text))
    if beyond := sorted(found - set(range(1, max(lines()) + 1))):
        raise Wrong(f"The answer has to be numbers from 1 to {max(lines())}.", got=beyond[0])
    return found


EXERCISES = (
    Exercise(
        "11.1",
        "test-of-values",
        "Write a test that fails",
        notices_values,
        hints=(
            "What does NumPy say at 0, at whole numbers, and between them? A test that only looks "
            "at one of these lets something through.",
            "`np.testing.assert_allclose(found, expected, atol=…)`, where `found` is a Tensor's "
            "`.numpy()` and `expected` is NumPy's own function of the same numbers.",
        ),
        because="Many points on both sides of 0, and 0 among them, beside a function that somebody "
        "else wrote. `atol` leaves room for the last digits of a float32, and for nothing else.",
        seconds=150.0,
    ),
    Exercise(
        "11.2",
        "method-with-values",
        "Write the method",
        has_values,
        hints=(
            "A formula, and a WHERE for the one number at which the formula has no value. What did "
            "the methods around it do about ints and about half precision?",
            "`self.eq(0).where(one, other)` chooses. `@float_function` above the `def` computes "
            "half in float32 and makes floats of ints. And each method there has a docstring.",
        ),
        because="sin(πx) / (πx) has a hole at 0, and the WHERE fills it. The decorator takes care "
        "of all dtypes, and the docstring of whoever calls it.",
        seconds=150.0,
    ),
    Exercise(
        "11.3",
        "test-of-slopes",
        "Write a test of the slopes",
        notices_slopes,
        hints=(
            "You have NumPy's sinc in 64 bits. How do you get slopes out of a function that has "
            "only values? And at which x does the picture say that you should look?",
            "A finite difference of `np.sinc` with an eps of 1e-5 is good for ten digits. Compare "
            "it with `x.sinc().sum().gradient(x)`, at 0, at a few thousandths of a unit and less, "
            "and further out. The slope at 0.0001 is about -0.0003, so mind your `atol`.",
        ),
        because="The finite difference is taken of NumPy's function, in 64 bits, so nothing of "
        "ours is in it. The points lie where the formula is in trouble, and `atol` is smaller "
        "than the slopes there.",
        seconds=150.0,
    ),
    Exercise(
        "11.4",
        "method-with-slopes",
        "Mend the slopes",
        has_slopes,
        hints=(
            "Near 0, don't divide at all. Which function without a division is so close to sinc "
            "there that a float can't tell them apart? And how do you keep x = 0 out of the other "
            "branch?",
            "With z = (πx)², sinc is 1 - z/(2·3) + z²/(2·3·4·5) - z³/(2·3·4·5·6·7) …; eight terms "
            "are plenty below |πx| = 1. Give each branch an argument that suits it: "
            "`is_small.where(angle, 0)` for one, `is_small.where(1, angle)` for the other.",
        ),
        because="Near 0 the series has no division in it, so nothing large is subtracted from "
        "anything large. Far from 0 the formula is fine. And each branch sees an argument for "
        "which it's finite, even where the other one is chosen.",
        seconds=150.0,
    ),
    Exercise(
        "11.5",
        "guilty-hunks",
        "Which of the five lines change kernels?",
        guilty,
        hints=(
            "Take the orange boxes one by one. Which of the five functions does each of them call?",
            "`after.of(\"x.tanh()\")` shows what became different in its C. Two of the five write "
            "the same graph as before: work out what `self**2` becomes, and what "
            "`math.log2(math.e)` is.",
        ),
        because="`self**2` is built as `self * self`, and `math.log2(math.e)` is the same number "
        "as `1 / math.log(2)`. The other three write different graphs. B is the worst: the "
        "compiler has a rule for a multiplication by 1 / log(2), and a division doesn't match it.",
        seconds=150.0,
    ),
    Exercise(
        "11.6",
        "fair-comparison",
        "Measure fairly",
        fair,
        hints=(
            "What should happen before the first look at the clock? If the machine gets slower "
            "while you measure, how do you make sure that it gets slower for both?",
            "Call both a few dozen times for nothing. Then take turns: many calls of `old` "
            "between two looks at the clock, as many of `new`, and again. Each pair of turns "
            "gives a ratio, and `statistics.median` doesn't care about the few that went wrong.",
        ),
        because="The warm-up takes care of the compiler and the caches, the many calls of a turn "
        "of the clock, taking turns of a machine that changes, and the median of interruptions.",
        seconds=60.0,
    ),
    Exercise(
        "11.7",
        "four-mistakes",
        "Find four mistakes",
        four_mistakes,
        hints=(
            "Read it once for each question: who else is using the machine? Does each function do "
            "its work? What does a first call do that no other does? Which times are compared?",
            "`Tensor`s are lazy. Kernels are compiled when they are first needed. And `make` "
            "likes to use every core that there is.",
        ),
        because="Every one of them makes sinc look better. That's how you recognize a benchmark "
        "that somebody wanted to be true.",
    ),
)  # fmt: skip
