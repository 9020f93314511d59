"""Find four mistakes

Hint: Read it once for each question: who else is using the machine? Does each function do its
work? What does a first call do that no other does? Which times are compared?
Hint: `Tensor`s are lazy. Kernels are compiled when they are first needed. And `make` likes to use
every core that there is.
Because: Every one of them makes sinc look better. That's how you recognize a benchmark that
somebody wanted to be true.
"""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from classroom.ask import Wrong, describe
from classroom.contributing.clocks import innocence, lines, mistakes


def check(answer) -> str:
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


def numbers(answer) -> set[int]:
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

# %% shared
import numpy as np

# %% wrong, each line
"16"  # says 0 of 4 mistakes found
[99]  # says numbers from 1 to 24
["sinc"]  # says numbers of lines
range(1, 25)  # shouts at every line

# %% right, each line
{24, 22, 10, 2}
np.array([2, 10, 22, 24])
