"""The tile for any machine

Hint: How many tiles are there at all that fit into 16 registers? Could you try them all?
Hint: `min(tiles, key=…)` finds the pair with the smallest `(h + w) / (h * w)`.
Because: There are so few tiles that trying all of them is the simplest thing. The best one is
nearly square when it's counted in loads: h of one kind, w of the other.
Right: Six rows of two vectors in 16 registers. That's the tile tinyframe uses, too.
"""

import random
from typing import Any

import numpy as np

from classroom.ask import Wrong, call, describe
from classroom.lessons.fast.shared import tiles


def check(answer) -> None:
    """answer(registers): rows and vectors of the tile with the fewest loads."""
    for registers in (16, 32, 8, 4, 12, random.randint(40, 99)):
        shown = registers < 40
        case = f"{registers} registers" if shown else "a different number of registers"
        got = call(answer, registers)
        rows, vectors = pair(got, case)
        if rows < 1 or vectors < 1:
            raise Wrong("A tile has at least one row and one vector.", case, got=describe(got))
        needs = rows * vectors + vectors + 2
        if needs > registers:
            said = (f"at most {registers} registers", needs) if shown else ("", "")
            raise Wrong("That tile doesn't fit into the registers.", case, *said)
        fewest = min((h + w) / (h * w) for h, w in tiles(registers))
        loads = (rows + vectors) / (rows * vectors)
        if loads > fewest + 1e-9:
            said = (f"{fewest:.3f} loads", f"{loads:.3f} loads") if shown else ("", "")
            text = "It has to be the tile with the fewest loads. A different one needs fewer."
            raise Wrong(text, case, *said)


def pair(got: Any, case: str) -> tuple[int, int]:
    try:
        numbers = [v.item() if isinstance(v, (np.generic, np.ndarray)) else v for v in got]
        rows, vectors = (int(v) for v in numbers if not isinstance(v, (bool, str)) and v == int(v))
        return rows, vectors
    except (TypeError, ValueError):
        text = "The answer has to be a pair of whole numbers: rows, and vectors in a row."
        raise Wrong(text, case, got=describe(got)) from None

# %% shared
from itertools import product
def tiles(registers, spare=1):
    sizes = product(range(1, registers), repeat=2)
    return [(h, w) for h, w in sizes if h * w + w + 1 + spare <= registers]

def loads(tile):
    return sum(tile) / (tile[0] * tile[1])

# %% wrong, each line
lambda registers: (4, 3)  # says fit into the registers
lambda registers: (1, 1)  # says needs fewer
lambda registers: (0, 3)  # says at least one row
lambda registers: 12  # says a pair of whole numbers

# %% right, each line
lambda registers: min(tiles(registers), key=lambda t: (loads(t), t))
