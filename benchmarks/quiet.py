"""Whether the machine was quiet: fixed loops, which take longer when somebody else is at work.

They are those of roofline.py: multiply-adds in registers notice who takes a core or slows the clock
down, reading an array that no cache holds notices who moves data. A row is held against what bounds
it: the first loop, and the second as well where memory does. What a quiet machine gives is what the
quicker quarter of all looks took, and not the least: other tenants of a virtual machine may use the
same memory for hours, and a moment without them would make all the rest look busy. A row waits for
a quiet look, is measured, and again where the look after it was too slow; of rows that never had it
quiet, the quietest measurement counts, and is marked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import numpy as np

from benchmarks.measure import Turns

T = TypeVar("T")

# One other busy process on a machine of two cores made turns of the loops take 1.3 times as long or
# more, two of them 1.5 or more. On a quiet one, nine looks of ten took less than 1.08 times the
# least (in registers) and 1.16 to 1.23 times (reading).
BUSY = 1.2
LEARN = 20  # looks at the start: 1.5 s, in which it is quiet at least once
ATTEMPTS = 3  # at one row
PAUSE = 2.0  # seconds until the next look
WAITS = 300  # pauses of a table, for a machine that is never quiet: ten minutes


class Quiet:
    """Looks at the loops, and knows what they took each time, in seconds."""

    def __init__(self, loops: Mapping[str, Turns]) -> None:
        self.loops = loops
        self.looks: dict[str, list[float]] = {name: [] for name in loops}
        self.waits = WAITS

    def learn(self) -> None:
        for _ in range(LEARN):
            self.pace(self.loops)

    def usual(self, name: str) -> float:
        """What a loop takes on the quiet machine."""
        return float(np.quantile(self.looks[name], 0.25))

    def pace(self, names: Iterable[str]) -> float:
        """How many times as long as that the slowest of these loops takes now."""
        for name in names:
            self.looks[name].append(self.loops[name].turn())
        return max(self.looks[name][-1] / self.usual(name) for name in names)

    def wait(self, names: Iterable[str]) -> float:
        """The pace, as soon as the machine is quiet, or when waiting has no end."""
        while (found := self.pace(names)) > BUSY and self.waits:
            self.waits -= 1
            time.sleep(PAUSE)
        return found

    def around(self, measure: Callable[[], T], names: Iterable[str]) -> tuple[T, float]:
        """What `measure` gives on a machine that these loops find quiet, or else on the quietest of
        ATTEMPTS, and the pace just before or after it, the larger of the two."""
        tries: list[tuple[T, float]] = []
        for _ in range(ATTEMPTS):
            before, value = self.wait(names), measure()
            tries.append((value, max(before, self.pace(names))))
            if tries[-1][1] <= BUSY:
                break
        return min(tries, key=lambda found: found[1])
