"""Divisions become shifts

Hint: What do `>> 3` and `& 7` do to the bits of 29, and to those of -3? When is `c & (c - 1)` 0?
Hint: `x >> (c.arg.bit_length() - 1)` and `x & (c.arg - 1)`, if c is a power of two above 0, else
None. For CDIV, whose pattern is `UPat(Ops.CDIV, src=(x, c))`, ask for `x.vmin >= 0`, too.
Because: `>>` rounds down, just as `//` does, below zero too. C's division rounds towards zero, so
it's the same only where nothing is negative; and 0 isn't a power of two, although 0 & -1 is 0.
Right: Every division that can become a shift or a mask did, and none that can't.
"""

import random

from classroom.added import table_of
from classroom.exercise import Wrong
from classroom.lessons.rules.shared import given, refuse_lie
from classroom.lies import lie, shown, written
from tinyframe.rewrite import PatternMatcher, RewriteLoopError, graph_rewrite
from tinyframe.uop import Ops, UOp


def applied(table: PatternMatcher, root: UOp) -> UOp:
    """What a table makes of a graph in the end; Wrong where there is no end, or no UOp."""
    try:
        after = graph_rewrite(root, table)
    except RewriteLoopError:
        text = "Your rules never stop. What does the result of one match again?"
        raise Wrong(text, f"`{written(root)}`") from None
    return after


def check(answer) -> None:
    """answer(): rows that make shifts and masks of divisions by powers of two."""
    table = table_of(given(answer))
    i, j, n = UOp.variable("i", -40, 40), UOp.variable("j", 0, 50), random.choice((16, 32, 64))
    k = UOp.variable("k", -9, 200)
    slow = {Ops.IDIV, Ops.MOD, Ops.CDIV, Ops.CMOD}
    for before in (j // 8, j % 8, i // 4, i % 4, (i * 3 + j) // 16, (j + 1) % 2, k // n, k % n):
        after = applied(table, before)
        refuse_lie(before, after)
        if left := [u for u in after.toposort() if u.op in slow]:
            raise Wrong(f"There's still {a_or_an(left[0].op.name)} in it.",
                        f"`{written(before)}`", got=f"`{written(after)}`")  # fmt: skip
    for before in (j // 6, j % 12, i // -8, i % -8, i // 0, i % 0, i // 1, i % 1, i // j, i // 3):
        refuse_lie(before, applied(table, before))
    for x in (j, i):
        for value in (8, 2, 6):
            before = x.alu(Ops.CDIV, x.const_like(value))
            after = applied(table, before)
            found = lie(before, after)
            if found is not None:
                raise Wrong(f"C's division rounds towards zero, so for {found.where()} that's a "
                            "lie. When is it sure that both divisions agree? `x.vmin` knows.",
                            f"`{written(before)}` became `{written(after)}`",
                            expected=shown(found.honest), got=shown(found.other))  # fmt: skip
            if x is j and value != 6 and any(u.op in slow for u in after.toposort()):
                raise Wrong("This is C's division, and `j` is never negative. A shift would do.",
                            f"`{written(before)}`, for j from 0 to 50",
                            got=f"`{written(after)}`")  # fmt: skip


def a_or_an(name: str) -> str:
    return f"{'an' if name[0] in 'AEIO' else 'a'} {name}"

# %% shared
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.uop import Ops, UOp
x, y, z, v = (UPat.var(name) for name in "xyzv")
c, d = UPat.cvar("c"), UPat.cvar("d")
def power(c):
    return c.arg > 0 and c.arg & (c.arg - 1) == 0

def shift(x, c):
    return x >> (c.arg.bit_length() - 1) if power(c) else None

def mask(x, c):
    return x & (c.arg - 1) if power(c) else None

IDIV, MOD, CDIV = x // c, x % c, UPat(Ops.CDIV, src=(x, c))
def careful(x, c):
    return shift(x, c) if x.vmin >= 0 else None

C_ROW = (CDIV, careful)

# %% wrong, each line
[(IDIV, shift), (MOD, mask), (CDIV, shift)]  # says rounds towards zero
[(IDIV, shift), C_ROW]  # says still a MOD
[(IDIV, shift), (MOD, mask)]  # says A shift would do
[(IDIV, shift), (MOD, lambda x, c: x & (c.arg - 1)), C_ROW]  # says a lie
"shifts"  # says asks for a function
lambda: "shifts"  # says A row has to be a pair
[(IDIV, lambda x, c: x // c + 0)]  # says Your rules never stop

# %% wrong: there's no logarithm of 0 or of -8
import math

def cheaper():
    def shift(x, c):
        k = math.log2(c.arg)
        return x >> int(k) if k == int(k) else None

    def mask(x, c):
        return x & (c.arg - 1) if math.log2(c.arg) % 1 == 0 else None

    return [
        (x // c, shift),
        (x % c, mask),
        (UPat(Ops.CDIV, src=(x, c)), lambda x, c: shift(x, c) if x.vmin >= 0 else None),
    ]

# %% right, each line
[(IDIV, shift), (MOD, mask), C_ROW]
