"""Whether the machine was quiet: fixed loops, which take longer when somebody else is at work.

They are those of roofline.py: multiply-adds in registers notice who takes a core or slows the clock
down, reading an array that no cache holds notices who moves data. What a quiet machine gives is the
least that they ever took. A row waits for a quiet look at them, is measured, and again where the
look after it was too slow; of rows that never had it quiet, the quietest measurement counts, and is
marked.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from benchmarks.measure import Turns

T = TypeVar("T")

# One other busy process on a machine of two cores made turns of the loops take 1.3 times as long or
# more, two of them 1.5 or more. How much turns vary on a quiet machine has yet to be measured;
# results keep what the loops took, so that rows can be marked by another number later.
BUSY = 1.2
LEARN = 20  # looks at the start: 1.5 s, in which it is quiet at least once
ATTEMPTS = 3  # at one row
PAUSE = 2.0  # seconds until the next look
WAITS = 300  # pauses of a table, for a machine that is never quiet: ten minutes


def pace(took: Mapping[str, float], least: Mapping[str, float]) -> float:
    """How many times as long as on the quiet machine the slowest of the loops takes."""
    return max(took[name] / least[name] for name in least)


class Quiet:
    """Looks at the loops, and knows the least that each ever took, in seconds."""

    def __init__(self, loops: Mapping[str, Turns]) -> None:
        self.loops = loops
        self.least = dict.fromkeys(loops, math.inf)
        self.waits = WAITS

    def learn(self) -> None:
        for _ in range(LEARN):
            self.look()

    def look(self) -> dict[str, float]:
        """Seconds of each loop now."""
        took = {name: loop.turn() for name, loop in self.loops.items()}
        self.least = {name: min(least, took[name]) for name, least in self.least.items()}
        return took

    def wait(self) -> dict[str, float]:
        """Seconds of each loop, as soon as the machine is quiet, or when waiting has no end."""
        while pace(took := self.look(), self.least) > BUSY and self.waits:
            self.waits -= 1
            time.sleep(PAUSE)
        return took

    def around(self, measure: Callable[[], T]) -> tuple[T, dict[str, float]]:
        """What `measure` gives on a quiet machine, or else on the quietest of ATTEMPTS, and what
        the loops took just before or after, the longer of the two."""
        tries: list[tuple[T, dict[str, float]]] = []
        for _ in range(ATTEMPTS):
            before, value, after = self.wait(), measure(), self.look()
            tries.append((value, {name: max(before[name], after[name]) for name in before}))
            if pace(tries[-1][1], self.least) <= BUSY:
                break
        return min(tries, key=lambda found: pace(found[1], self.least))
