"""What a launch costs

Hint: Which of the times tell you about the launch, and which about the elements? Noise is a part
of a time, so of a long one it's a lot.
Hint: From the last two sizes: the difference in seconds, divided by the difference in elements.
Then take its share out of the first time. Or `np.polyfit` with weights `w=1 / np.array(seconds)`,
so that each point counts by its percents.
Because: In percents, each time is as good as any other. So the large sizes say what an element
costs, since a launch is lost in them, and the small ones what a launch does.
Right: One number for getting started, one for each element: that's most of a device's speed.
"""

from typing import Any

import numpy as np

from classroom.ask import Wrong, call, describe

SIZES = [4**k for k in range(13)]


NOISE, WITHIN = 0.1, 0.15  # a machine's, and what an answer may be off by


SMALL = (
    "Your line is fine where the sizes are large, and misses the small ones: 10% of a millisecond "
    "is more than a whole launch."
)


SEED, ROUNDS = 0, 10  # a noise in which a line that's plain fails; how many others are tried


def check(answer) -> None:
    """answer(sizes, seconds): the seconds of a launch, and of each element."""
    sizes = [1000, 2000, 4000]
    _judge_line(answer, sizes, 5e-6, 1e-9, [1.0] * 3, 1e-3, "three sizes, no noise")
    case = f"sizes from 1 to {SIZES[-1]:,}, up to 10% of noise"
    noise = 1 + NOISE * np.random.default_rng(SEED).random(len(SIZES))
    _judge_line(answer, SIZES, 4e-6, 3e-10, noise, WITHIN, case)
    for fresh in map(np.random.default_rng, range(1, ROUNDS + 1)):
        noise, launch = 1 + NOISE * fresh.random(len(SIZES)), 2e-6 + 3e-6 * fresh.random()
        _judge_line(answer, SIZES, launch, 2.5e-10, noise, WITHIN, "fresh noise", shown=False)


def _judge_line(
    answer,
    sizes: list[int],
    launch: float,
    each: float,
    spread: Any,
    within: float,
    case: str,
    shown: bool = True,
) -> None:
    """Wrong unless answer(sizes, seconds) is this line; of noisy times, unless it's near."""
    seconds = [float((launch + each * n) * more) for n, more in zip(sizes, spread, strict=True)]
    got = call(answer, list(sizes), list(seconds))
    try:
        one, other = (float(value) for value in got)
    except (TypeError, ValueError):
        text = "The answer has to be two numbers: the seconds of a launch, and of each element."
        raise Wrong(text, case, got=describe(got)) from None
    fits = [abs(a - b) <= within * b for a, b in ((one, launch), (other, each))]
    if all(fits):
        return
    rows = (f"{launch:.3g}, {each:.3g}", f"{one:.3g}, {other:.3g}") if shown else ()
    if one < 0 or other < 0:
        text = "Neither a launch nor an element can take less than no time."
        raise Wrong(f"{text} {SMALL}" if fits[1] else text, case, *rows)
    if abs(one - each) <= within * each and abs(other - launch) <= within * launch:
        raise Wrong("The two are swapped: the launch comes first.", case, *rows)
    for factor, unit in ((1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds")):
        for value, wanted in ((one, launch), (other, each)):
            if abs(value - factor * wanted) <= within * factor * wanted:
                raise Wrong(f"One of them is in {unit}. Both should be in seconds.", case, *rows)
    if not fits[0]:
        text = "What a launch costs is wrong."
        if one > max(seconds):
            text = "A launch has to be shorter than the run that it's a part of."
        if len(sizes) > 3:
            text = SMALL if fits[1] else "Neither of the two is right once there's noise."
        elif abs(one - seconds[0]) <= 1e-3 * seconds[0]:
            text = "The first time has a thousand additions in it too. A launch takes less."
        raise Wrong(text, case, *rows)
    text = "What each element costs is wrong."
    if len(sizes) == 3 and any(
        abs(other - taken / n) <= 1e-3 * other for n, taken in zip(sizes, seconds, strict=True)
    ):
        text = "In that time for each element there's a share of the launch."
    raise Wrong(text, case, *rows)

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
