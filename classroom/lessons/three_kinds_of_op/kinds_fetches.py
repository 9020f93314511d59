"""A cache

Hint: What do you have to know about the lines that you keep, to throw out the right one? In which
order could a list hold them?
Hint: Keep a list of lines, with the most recently used one at the end. If the line you read is in
the list, move it to the end. If it isn't, count a fetch, append it, and drop the first line if
there are now more than `room`.
Because: The list is kept in the order of last use, so the line to drop is always the first. Every
read puts its line at the end, whether it was in the list or had to be fetched.
"""

import random

import numpy as np

from classroom.ask import Wrong, call, whole_number
from classroom.lessons.three_kinds_of_op.shared import FLOATS_IN_A_LINE


def check(answer) -> str:
    """answer(cells, room): how many lines a cache of so many lines fetches for these reads."""
    across = np.arange(64 * 64).reshape(64, 64)
    shown = [([0, 1, 2, 31], 4), ([0, 1, 16, 17, 0], 1), ([0, 16, 0, 32, 0, 16], 2)]
    given = [whole_number(call(answer, [*cells], room), _of_cache(cells, room))
             for cells, room in shown]  # fmt: skip
    said = {
        "You fetched a line for every read, even where it was in the cache.":
            lambda cells, room: len(cells),
        "Your cache keeps more than `room` lines. One has to go before the next can come.":
            lambda cells, room: len({cell // FLOATS_IN_A_LINE for cell in cells}),
        "A fetch brings a whole line, 16 cells, and not a single one.":
            lambda cells, room: len(set(cells)),
        "Your cache throws out the line that came in first. It should be the one that hasn't been "
        "used for the longest time, and each read of a line is a use.":
            lambda cells, room: fetched(cells, room, renews=False),
    }  # fmt: skip
    why = [words for words, count_as in said.items() if given == [count_as(*c) for c in shown]]
    for (cells, room), got in zip(shown, given, strict=True):
        if got != (expected := fetched(cells, room)):
            words = why[0] if why else f"That's too {'many' if got > expected else 'few'} fetches."
            raise Wrong(words, _of_cache(cells, room), expected, got)
    fresh = [(random.choices(range(400), k=300), random.randint(3, 9)) for _ in "12"]
    for cells, room in (*fresh, (across.T.ravel().tolist(), 32)):
        got = whole_number(call(answer, [*cells], room), "many reads")
        if got != (expected := fetched(cells, room)):
            more = "many" if got > expected else "few"
            raise Wrong(f"With many reads, you get too {more} fetches.")
    along, down = (fetched(walk.ravel().tolist(), 32) for walk in (across, across.T))
    return (
        "You built a cache. With room for 32 lines, it takes "
        f"{along} fetches to read a 64 × 64 matrix along its rows, and {down:,} to read it down "
        f"its columns: each line {down // along} times."
    )


def _of_cache(cells: list[int], room: int) -> str:
    return f"`fetches({cells}, room={room})`"


def fetched(cells: list[int], room: int, renews: bool = True) -> int:
    """The fetches of a cache that drops the line used longest ago (or, where a use renews nothing,
    the line that came first)."""
    kept, number = list[int](), 0
    for line in (cell // FLOATS_IN_A_LINE for cell in cells):
        if line not in kept:
            number += 1
            kept = [*kept, line][-room:]
        elif renews:
            kept.remove(line)
            kept.append(line)
    return number

# %% shared
import numpy as np
def cache(cells, room, renews=True, first=0):
    kept, count = [], 0
    for cell in cells:
        line = cell // 16
        if line not in kept:
            count += 1
            kept.append(line)
        elif renews:
            kept.append(kept.pop(kept.index(line)))
        if len(kept) > room:
            kept.pop(first)
    return count

# %% wrong, each line
lambda cells, room: len(cells)  # says for every read
lambda cells, room: cache(cells, min(room, 2))  # says With many reads

# %% wrong: first in, first out
from collections import deque

def fetches(cells, room):
    lines, count = deque(maxlen=room), 0
    for cell in cells:
        if cell // 16 not in lines:
            lines.append(cell // 16)
            count += 1
    return count

# %% right, each line
lambda cells, room: np.float32(cache(cells, room))
