"""A design: Opts for any shape

Hint: If h doesn't divide m, how often does the loop over tiles run? What does that cost?
Hint: Count the loads of every tile that fits: ceil(m / h) × ceil(vectors / w) × (h + w). Take the
best one, and write it as Opts: first axis 1, then axis 0.
Because: A tile that doesn't divide the matrix computes some results twice, so the best tile
depends on the shape. There are few enough to count them all.
"""

import random

from classroom.ask import Wrong, call
from classroom.lessons.fast.shared import as_opts, counted, in_registers, matmul, tiles
from classroom.tiles import LANES, REGISTERS

SECONDS = 30.0


ENOUGH = 1.2  # times the fewest loads that are known


SHAPES = ((512, 512), (8, 512), (512, 8), (7, 24), (100, 20), (2, 64), (5, 9))


def check(answer) -> str:
    """answer(m, n): Opts for a matmul with m rows and n columns, with few loads in all."""
    k = 32
    fresh = (random.randint(9, 60), random.randint(25, 150))
    worst = 0.0
    for m, n in (*SHAPES, fresh):
        shown = (m, n) != fresh or fresh in SHAPES
        case = f"`m, n = {m}, {n}`" if shown else "a different shape"
        opts = as_opts(call(answer, m, n))
        try:
            found = counted(matmul(m, n, k), opts, case)
        except Wrong:
            if shown:
                raise
            raise Wrong("One of your Opts isn't possible here.", case) from None
        if found.multiplications > 4 * -(-n // LANES) * m * k:
            raise Wrong(f"Where are the vectors of {LANES}?", case)
        in_registers(found.registers, case)
        fewest = fewest_loads(m, n, k)
        worst = max(worst, found.loads / fewest)
        if found.loads > ENOUGH * fewest:
            said = (f"about {fewest // k} for each k", found.loads // k) if shown else ("", "")
            raise Wrong("It can be done with far fewer loads.", case, *said)
    return f"Good for any shape: never more than {worst:.2f} times the fewest loads known."


def fewest_loads(m: int, n: int, k: int) -> int:
    """Loads of the best tile: it may overlap the one before, and computes those results twice."""
    vectors = -(-n // LANES)
    fits = [(h, w) for h, w in tiles(REGISTERS) if h <= m and w <= vectors]
    return min(-(-m // h) * -(-vectors // w) * (h + w) * k for h, w in fits)

# %% shared
from tinyframe.codegen.optimize.loops import Opt, OptOps
from itertools import product
VECTOR, UPCAST = OptOps.VECTOR, OptOps.UPCAST
EIGHT = Opt(VECTOR, 1, 8)
def rows(n):
    return Opt(UPCAST, 0, n)

def vectors(n):
    return Opt(UPCAST, 1, n)

def opts_of(h, w):
    tile = [*([vectors(w)] if w > 1 else []), *([rows(h)] if h > 1 else [])]
    return [EIGHT, *tile]

def tiles(registers, spare=1):
    sizes = product(range(1, registers), repeat=2)
    return [(h, w) for h, w in sizes if h * w + w + 1 + spare <= registers]

def counted(m, n, spare=0):
    """Opts of the tile with the fewest loads, counted."""
    across = -(-n // 8)
    fits = [(h, w) for h, w in tiles(16, spare) if h <= m and w <= across]
    return min(fits, key=lambda t: -(-m // t[0]) * -(-across // t[1]) * sum(t))

# %% wrong, each line
lambda m, n: [EIGHT]  # says far fewer loads
lambda m, n: [vectors(2), rows(2)]  # says Where are the vectors
lambda m, n: opts_of(min(m, 8), 2)  # says registers
lambda m, n: opts_of(*counted(512, 512))  # says UNROLL it
lambda m, n: counted(m, n)  # says list of Opts

# %% wrong: says isn't possible here
def a_list(m, n):
    """What the lesson shows, and one tile for whatever else comes."""
    known = [(512, 512), (8, 512), (512, 8), (7, 24), (100, 20), (2, 64), (5, 9)]
    return opts_of(*counted(m, n, 1)) if (m, n) in known else opts_of(512, 2)
a_list

# %% right, each line
lambda m, n: opts_of(*counted(m, n))
