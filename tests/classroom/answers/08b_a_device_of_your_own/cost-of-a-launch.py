# %% shared
from typing import Any, NamedTuple
import numpy as np
class Line(NamedTuple):
    launch: float
    each: float

def ends(sizes, seconds):
    each = (seconds[-1] - seconds[0]) / (sizes[-1] - sizes[0])
    return Line(seconds[0] - each * sizes[0], each)

# %% wrong, each line
lambda sizes, seconds: ends(sizes, seconds)[::-1]  # says swapped
lambda sizes, seconds: [1e6 * v for v in ends(sizes, seconds)]  # says in microseconds
lambda sizes, seconds: ends(sizes, seconds)[1]  # says two numbers

# %% wrong: says a thousand additions in it too
def first_time(sizes, seconds):
    return seconds[0], (seconds[-1] - seconds[-2]) / (sizes[-1] - sizes[-2])
first_time

# %% wrong: says a share of the launch
def share_of_the_launch(sizes, seconds):
    launch, _ = ends(sizes, seconds)
    return launch, seconds[-1] / sizes[-1]
share_of_the_launch

# %% wrong: says misses the small ones
def plain_line(sizes, seconds):
    each, launch = np.polyfit(sizes, seconds, 1)
    return launch, each
plain_line

# %% wrong: the two smallest: nothing but noise
def launch_and_each(sizes, seconds):
    each = (seconds[1] - seconds[0]) / (sizes[1] - sizes[0])
    return seconds[0] - each * sizes[0], each

# %% right, each line
ends

# %% right: least squares of the percents
def launch_and_each(sizes, seconds):
    n, s = np.array(sizes), np.array(seconds)
    return np.linalg.lstsq(np.c_[1 / s, n / s], np.ones(len(s)), rcond=None)[0]
