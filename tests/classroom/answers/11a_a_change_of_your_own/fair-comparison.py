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
