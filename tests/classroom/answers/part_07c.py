"""Part 7c: what somebody might answer, and what they are told."""

from __future__ import annotations

from itertools import product

import numpy as np

from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.codegen.optimize.plans import Nest

OBJECTS: set[str] = {"7.21"}

GUESSES = {
    "7.19": ((512, 512), (512, 64), (512, 4096), (32, 256), (32, 32), (1, 8)),
    "7.20": ((250, 251), (250, 250), (250, 252), (1000, 1002), (250, 250.5)),
}

VECTOR, UPCAST = OptOps.VECTOR, OptOps.UPCAST
EIGHT = Opt(VECTOR, 1, 8)


def rows(n):
    return Opt(UPCAST, 0, n)


def vectors(n):
    return Opt(UPCAST, 1, n)


def operations(m, n, k):
    return 2 * m * n * k


def elements(m, n, k):
    return m * k + k * n + m * n


def tiles(registers, spare=1):
    sizes = product(range(1, registers), repeat=2)
    return [(h, w) for h, w in sizes if h * w + w + 1 + spare <= registers]


def loads(tile):
    return sum(tile) / (tile[0] * tile[1])


def backwards(k, loops):
    """The first loop along which something is read backwards."""
    return next((r for r in loops for x in k.table.reads if x.step(r) == -1), None)


def any_backwards(k):
    """Any negative step will do."""
    r = next((r for r in k.around for x in k.table.reads if (x.step(r) or 0) < 0), None)
    return None if r is None else Nest(((VECTOR, r, k.lanes),))


def mirrored(k, op=VECTOR, lanes=None, loops=None):
    r = backwards(k, k.around if loops is None else loops)
    return None if r is None else Nest(((op, r, lanes or k.lanes),))


def several_vectors(k):
    r = backwards(k, k.around)
    return None if r is None else Nest(((VECTOR, r, k.lanes), (UPCAST, r, 4)))


def along_the_sum(k):
    if backwards(k, k.around) is None:
        return None
    (r,) = [r for r in k.loops if r not in k.around]
    return Nest(((VECTOR, r, k.lanes),))


def least(operations, nbytes, roof):
    return operations / roof.flops, nbytes / roof.bandwidth


def opts_of(h, w):
    tile = [*([vectors(w)] if w > 1 else []), *([rows(h)] if h > 1 else [])]
    return [EIGHT, *tile]


def counted(m, n, spare=0):
    """Opts of the tile with the fewest loads, counted."""
    across = -(-n // 8)
    fits = [(h, w) for h, w in tiles(16, spare) if h <= m and w <= across]
    return min(fits, key=lambda t: -(-m // t[0]) * -(-across // t[1]) * sum(t))


def rows_first(m, n):
    """The same tile, its rows done before its vectors: where all rows go, axis 0 is gone."""
    h, w = counted(m, n)
    tile = [rows(h)] if h > 1 else []
    if w > 1:
        tile.append(Opt(UPCAST, 0 if h == m else 1, w))
    return [EIGHT, *tile]


WRONG = [
    ("7.18", lambda m, n, k: m * n * k / (4 * elements(m, n, k)), "counted the multiplications"),
    ("7.18", lambda m, n, k: operations(m, n, k) / elements(m, n, k), "takes 4 bytes"),
    ("7.18", lambda m, n, k: operations(m, n, k) / (4 * (m * k + k * n)), "has to be written"),
    ("7.18", lambda m, n, k: 4 * elements(m, n, k) / operations(m, n, k), "Upside down"),
    ("7.18", lambda m, n, k: operations(m, n, k) / (8 * m * n * k + 4 * m * n), "every load"),
    ("7.18", lambda m, n, k: 85.333333, "operations divided by the bytes"),
    ("7.18", lambda m, n, k: m / 6, "`m, n, k = 2, 3, 4`"),
    ("7.18", lambda m, n, k: (m, n, k), "has to be a number"),
    ("7.21", [], "one number at a time"),
    ("7.21", [EIGHT], "Too many loads"),
    ("7.21", [EIGHT, rows(6)], "got 1.17"),
    ("7.21", [EIGHT, vectors(8), rows(8)], "more registers than there are"),
    ("7.21", [vectors(4), rows(4)], "one number at a time"),
    ("7.21", [Opt(VECTOR, 1, 4), vectors(2), rows(6)], "fewer than 8 numbers"),
    ("7.21", [Opt(VECTOR, 5, 8)], "there is no axis 5"),
    ("7.21", [Opt(VECTOR, 1, 12)], "vectors have 2, 4, 8"),
    ("7.21", [rows(6), EIGHT, "UPCAST"], "list of Opts"),
    ("7.21", 6, "list of Opts"),
    ("7.21", (6, 2), "list of Opts"),
    ("7.22", lambda registers: (4, 3), "fit into the registers"),
    ("7.22", lambda registers: (1, 1), "needs fewer"),
    ("7.22", lambda registers: min(tiles(registers, 0), key=loads), "doesn't fit"),
    ("7.22", lambda registers: max(tiles(registers), key=lambda t: t[0] * t[1]), "fewest loads"),
    ("7.22", lambda registers: (0, 3), "at least one row"),
    ("7.22", lambda registers: min(map(loads, tiles(registers))), "a pair of whole numbers"),
    ("7.22", lambda registers: 12, "a pair of whole numbers"),
    ("7.23", lambda k: Nest(((VECTOR, k.around[0], k.lanes),)), "whose step isn't -1"),
    (
        "7.23",
        lambda k: mirrored(k) or Nest(((VECTOR, k.around[-1], k.lanes),)),
        "takes this kernel",
    ),
    ("7.23", lambda k: mirrored(k, lanes=4), "`k.lanes`"),
    ("7.23", lambda k: mirrored(k, op=UPCAST), "no vectors"),
    ("7.23", along_the_sum, "along the loop of the reduction"),
    ("7.23", lambda k: mirrored(k, loops=k.loops), "not along its results"),
    ("7.23", any_backwards, "no step is -1"),
    ("7.23", lambda k: [(VECTOR, k.around[0], k.lanes)], "has to be a Nest"),
    ("7.23", lambda k: backwards(k, k.around), "has to be a Nest"),
    ("7.24", lambda o, b, s, roof: s / sum(least(o, b, roof)), "You added"),
    ("7.24", lambda o, b, s, roof: s / min(least(o, b, roof)), "closer limit"),
    ("7.24", lambda o, b, s, roof: max(least(o, b, roof)) / s, "Upside down"),
    ("7.24", lambda o, b, s, roof: max(least(o, b, roof)), "the least time"),
    ("7.24", lambda o, b, s, roof: s / least(o, b, roof)[0], "192e6 bytes"),
    ("7.24", lambda o, b, s, roof: s / least(o, b, roof)[1], "2e9 operations"),
    ("7.24", lambda o, b, s, roof: o / s, "has to be the time"),
    ("7.24", least, "TypeError"),
    ("7.25", lambda m, n: opts_of(6, 2), "`m, n = 8, 512`"),
    ("7.25", lambda m, n: [EIGHT], "far fewer loads"),
    ("7.25", lambda m, n: [vectors(2), rows(2)], "Where are the vectors"),
    ("7.25", lambda m, n: opts_of(min(m, 8), 2), "registers"),
    ("7.25", lambda m, n: opts_of(min(m, 6), min(n // 8, 2)), "`m, n = 8, 512`"),
    ("7.25", lambda m, n: opts_of(*counted(512, 512)), "UNROLL it"),
    ("7.25", lambda m, n: [Opt(VECTOR, 2, 8)], "far fewer loads"),
    ("7.25", lambda m, n: counted(m, n), "list of Opts"),
]

RIGHT = [
    ("7.18", lambda m, n, k: np.float64(operations(m, n, k)) / (4 * elements(m, n, k))),
    ("7.18", lambda m, n, k: np.array(0.5 / (1 / m + 1 / n + 1 / k))),
    ("7.21", (EIGHT, rows(4), vectors(3))),
    ("7.21", opts_of(5, 2)),
    ("7.21", [rows(3), EIGHT, vectors(3)]),
    ("7.21", [EIGHT, vectors(2), rows(6), Opt(OptOps.REORDER, (1, 0, 2)), Opt(OptOps.STAGE, 0, 2)]),
    ("7.22", lambda registers: max(tiles(registers), key=lambda t: (-loads(t), t))),
    ("7.22", lambda registers: min(tiles(registers), key=lambda t: (loads(t), t))),
    ("7.22", lambda registers: np.array(min(tiles(registers), key=loads))),
    ("7.22", lambda registers: [float(v) for v in min(tiles(registers), key=loads)]),
    ("7.23", mirrored),
    ("7.23", lambda k: mirrored(k) or False),
    ("7.23", several_vectors),
    ("7.24", lambda o, b, s, roof: min(s * roof.flops / o, s * roof.bandwidth / b)),
    ("7.24", lambda o, b, s, roof: np.float32(s / max(least(o, b, roof)))),
    ("7.25", lambda m, n: opts_of(*counted(m, n))),
    ("7.25", lambda m, n: tuple(opts_of(*counted(m, n)))),
    ("7.25", lambda m, n: iter(opts_of(*counted(m, n)))),
    ("7.25", rows_first),
]  # fmt: skip
