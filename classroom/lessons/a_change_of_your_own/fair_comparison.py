"""Measure fairly

Hint: What should happen before the first look at the clock? If the machine gets slower while you
measure, how do you make sure that it gets slower for both?
Hint: Call both a few dozen times for nothing. Then take turns: many calls of `old` between two
looks at the clock, as many of `new`, and again. Each pair of turns gives a ratio, and
`statistics.median` doesn't care about the few that went wrong.
Because: The warm-up takes care of the compiler and the caches, the many calls of a turn of the
clock, taking turns of a machine that changes, and the median of interruptions.
Right: Six machines, one of them on a Monday, and none could fool you.
"""

from classroom.ask import Wrong, a_number, call
from classroom.contributing.clocks import MACHINES, Machine, Tired

SECONDS = 60.0


CLOSE = 0.1  # relative: how far off a measurement may be


DAYS = (11, *range(100, 107))  # the notebook's, and seven more: the same for every answer


def check(answer) -> None:
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


def told_by(answer, machine: Machine, case: str) -> float:
    try:
        said = call(answer, machine.old, machine.new, machine.clock)
    except ZeroDivisionError:
        raise Wrong("One of your times is 0: its clock didn't tick between the two looks at it. "
                    "Let more calls go into a turn.", case) from None  # fmt: skip
    except Tired:
        raise Wrong("Your function calls the programs more than 200,000 times. Nobody waits for "
                    "that.", case) from None  # fmt: skip
    return a_number(said, case)

# %% shared
from statistics import median
def lasting(run, calls, clock):
    begin = clock()
    for _ in range(calls):
        run()
    return clock() - begin

def in_turns(old, new, clock):
    lasting(old, 400, clock), lasting(new, 400, clock)
    return median(lasting(old, 400, clock) / lasting(new, 400, clock) for _ in range(41))

# %% wrong, each line
lambda old, new, clock: "fast"  # says has to be a number

# %% wrong: says a download comes and goes
def one_after_the_other(old, new, clock):
    old(), new()
    return lasting(old, 500, clock) / lasting(new, 500, clock)
one_after_the_other

# %% wrong: says One of your times is 0
def call_by_call(old, new, clock):
    for _ in range(50):
        old(), new()
    return median(lasting(old, 1, clock) / lasting(new, 1, clock) for _ in range(101))
call_by_call

# %% wrong: says Upside down
def upside_down(old, new, clock):
    return 1 / in_turns(old, new, clock)
upside_down

# %% wrong: says 200,000
def never_ends(old, new, clock):
    return median(lasting(old, 9000, clock) / lasting(new, 9000, clock) for _ in range(51))
never_ends

# %% wrong: a clock of its own, which isn't that of the machine
def compare(old, new, clock):
    begin = perf_counter()
    old()
    middle = perf_counter()
    new()
    return (middle - begin) / (perf_counter() - middle)

# %% right, each line
in_turns

# %% right
import numpy as np
def many_looks(old, new, clock):
    """The time of each, call by call, added up between ticks; NumPy's median, a NumPy scalar."""
    for _ in range(100):
        old(), new()
    ratios = []
    for _ in range(35):
        before = lasting(old, 200, clock)
        after = (lasting(new, 200, clock) + lasting(new, 200, clock)) / 2
        again = lasting(old, 200, clock)
        ratios.append((before + again) / 2 / after)
    return np.median(ratios)
many_looks
