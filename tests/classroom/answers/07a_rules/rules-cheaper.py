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

# %% wrong: -4 has one bit, too
def cheaper():
    k = lambda c: c.arg.bit_length() - 1
    one_bit = lambda c: c.arg.bit_count() == 1
    return [
        (x // c, lambda x, c: x >> k(c) if one_bit(c) else None),
        (x % c, lambda x, c: x & (c.arg - 1) if one_bit(c) else None),
        (UPat(Ops.CDIV, src=(x, c)),
         lambda x, c: x >> k(c) if one_bit(c) and x.vmin >= 0 else None),
    ]

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

# %% right: what C compilers do below zero: add c - 1 first
def cheaper():
    k = lambda c: c.arg.bit_length() - 1
    power = lambda c: c.arg > 0 and c.arg.bit_count() == 1
    return [
        (x // c, lambda x, c: x >> k(c) if power(c) else None),
        (x % c, lambda x, c: x & (c.arg - 1) if power(c) else None),
        (UPat(Ops.CDIV, src=(x, c)),
         lambda x, c: ((x < 0).where(x + (c.arg - 1), x)) >> k(c) if power(c) else None),
    ]
