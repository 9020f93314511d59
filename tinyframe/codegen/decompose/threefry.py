"""THREEFRY, the random number generator, in 32-bit additions, rotations and exclusive ors.

Threefry-2x32 with 20 rounds, from Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy
as 1, 2, 3" (SC 2011): it scrambles a 64-bit counter under a 64-bit key, so the nth random number
doesn't depend on the ones before it. The low halves of counter, key and result come first.
"""

from __future__ import annotations

from tinyframe.dtype import dtypes
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop.node import Ops, UOp

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA  # from the paper: keeps an all-zero key from being a weak one


def _halves(x: UOp) -> tuple[UOp, UOp]:
    return (x & 0xFFFFFFFF).cast(dtypes.uint32), (x >> 32).cast(dtypes.uint32)


def threefry(counter: UOp, key: UOp) -> UOp:
    key_low, key_high = _halves(key)
    keys = (key_low, key_high, key_low ^ key_high ^ PARITY)
    low, high = _halves(counter)
    low, high = low + keys[0], high + keys[1]
    for group in range(5):
        for count in ROTATIONS[group % 2]:
            low = low + high
            high = ((high << count) | (high >> (32 - count))) ^ low
        low = low + keys[(group + 1) % 3]
        high = high + keys[(group + 2) % 3] + (group + 1)
    return (high.cast(dtypes.uint64) << 32) | low.cast(dtypes.uint64)


random_numbers = PatternMatcher(
    [
        (UPat(Ops.THREEFRY, src=(UPat.var("counter"), UPat.var("key"))), threefry),
    ]
)
