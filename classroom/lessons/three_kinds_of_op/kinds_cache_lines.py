"""How many cache lines are touched

Hint: Which line is cell 0 in? And cells 15, 16 and 100?
Hint: The line of a cell is `cell // 16`. Which Python type keeps each line once, however often
you put it in?
Because: A line counts once, however many of its floats you read. So collect the line of each cell
in a set, and count the set.
Right: Ten floats side by side come in one or two cache lines. Ten floats that are 16 or more cells
apart take ten.
"""

import random

from classroom.ask import Wrong, call, whole_number
from classroom.lessons.three_kinds_of_op.shared import FLOATS_IN_A_LINE, _if


def check(answer) -> None:
    """answer(first, stride, count): how many cache lines these reads touch."""
    shown = [(0, 1, 16), (0, 1, 17), (8, 1, 16), (0, 16, 10), (0, 40, 3), (0, 0, 10)]
    fresh = [(random.randint(0, 50), random.randint(1, 40), random.randint(2, 60)) for _ in "1234"]
    for reads in shown + fresh:
        first, stride, number = reads
        case = f"`lines_touched({first}, {stride}, {number})`" if reads in shown else ""
        got = whole_number(call(answer, *reads), case)
        expected = len({(first + k * stride) // FLOATS_IN_A_LINE for k in range(number)})
        if got != expected:
            raise Wrong(_about_lines(got, expected, reads), case, *_if(case, expected, got))


def _about_lines(got: int, expected: int, reads: tuple[int, int, int]) -> str:
    """What somebody who got this number has probably counted."""
    first, stride, number = reads
    last = first + (number - 1) * stride
    counted = {
        number: "You counted the floats. Several of them can be in one cache line.",
        (last - first) // FLOATS_IN_A_LINE + 1: "Mind where the first float is in its line.",
        last // FLOATS_IN_A_LINE - first // FLOATS_IN_A_LINE + 1: (
            "You counted every line between the first float and the last. A large stride skips "
            "lines, and those are not read."
        ),
    }
    return counted.get(got, f"Your count is too {'high' if got > expected else 'low'}.")

# %% shared
import numpy as np

# %% wrong, each line
lambda first, stride, count: count  # says counted the floats
lambda first, stride, count: count / 16  # says a whole number

# %% wrong: bytes divided by lines: forgets where the first cell lies
def lines_touched(first, stride, count):
    return -(-count * stride // 16)

# %% wrong: a range refuses a step of 0
def lines_touched(first, stride, count):
    return len({cell // 16 for cell in range(first, first + stride * count, stride)})

# %% right, each line
lambda f, s, n: np.unique((f + s * np.arange(n)) // 16).size
