"""Hint: Take (i*12 + j) // 4, where j counts to 3. Why do you know at once that it's i*3? Two
different facts are at work. Which?
Hint: First fact: if the lowest and the highest x have the same quotient, so has everything in
between. Second: a term whose factor is f gives f // c to the quotient, and f % c stays inside.
Build both sums with `total`; if the inner one is x itself, you've gained nothing: None.
Because: x = whole*c + rest, so x // c is whole + rest // c, and x % c is rest % c, whatever sign
anything has: Python rounds down. The bounds then finish what's left.
"""

# %% wrong: the common factor leaves x, and of c what is left is g (right by chance for c = g * g)
from math import gcd

def divide(x, c, op):
    low, high = (end // c.arg for end in bounds(x))
    if low == high:
        return x.const(low) if op is Ops.IDIV else x - low * c.arg
    parts = terms(x)
    rest = total({term: factor % c.arg for term, factor in parts.items()})
    if rest is not x:
        whole = total({term: factor // c.arg for term, factor in parts.items()})
        return whole + rest // c if op is Ops.IDIV else rest % c
    g = gcd(c.arg, *parts.values())
    if g == 1 or op is Ops.MOD:
        return None
    return total({term: factor // g for term, factor in parts.items()}) // g

# %% wrong: (i * 5 + j) // 4 could lose an i, and i + 4 a 1
def divide(x, c, op):
    low, high = bounds(x)
    if 0 <= low and high < c.arg:
        return x.const(0) if op is Ops.IDIV else x
    parts = terms(x)
    whole = {t: f // c.arg for t, f in parts.items() if f % c.arg == 0}
    rest = total({t: f for t, f in parts.items() if t not in whole})
    if not any(whole.values()):
        return None
    return total(whole) + rest // c if op is Ops.IDIV else rest % c

# %% wrong: says can be simplified
def divide(x, c, op):
    return None

# %% wrong: says has a different value
def divide(x, c, op):
    rest = total({term: factor % c.arg for term, factor in terms(x).items()})
    whole = total({term: factor // c.arg for term, factor in terms(x).items()})
    low, high = (end // c.arg for end in bounds(rest))
    if low == high:
        return whole + low if op is Ops.IDIV else x
    if rest is not x:
        return whole + rest // c if op is Ops.IDIV else rest % c

# %% wrong, changed: says would be rewritten for ever
-     if rest is x:
-         return None

# %% wrong: says there is still a division in it
def divide(x, c, op):
    return x // c if op is Ops.IDIV else x % c

# %% right: a common factor comes out, too: (i*2 + 1) % 4 is i % 2 * 2 + 1
from math import gcd

def divide(x, c, op):
    low, high = (end // c.arg for end in bounds(x))
    if low == high:
        return x.const(low) if op is Ops.IDIV else x - low * c.arg
    parts = terms(x)
    rest = total({term: factor % c.arg for term, factor in parts.items()})
    if rest is not x:
        whole = total({term: factor // c.arg for term, factor in parts.items()})
        return whole + rest // c if op is Ops.IDIV else rest % c
    k = parts.get(None, 0)
    g = gcd(c.arg, *(factor for term, factor in parts.items() if term is not None))
    if g == 1:
        return None
    small = total({term: factor // g for term, factor in parts.items()})
    if op is Ops.IDIV:
        return small // (c.arg // g)
    return small % (c.arg // g) * g + k % g

# %% right
def divide(x, c, op):
    parts = terms(x)
    whole = total({t: f // c.arg for t, f in parts.items()})
    rest = total({t: f % c.arg for t, f in parts.items()})
    low, high = bounds(rest)
    if low // c.arg == high // c.arg:
        more = low // c.arg
        return whole + more if op is Ops.IDIV else rest - more * c.arg
    if rest is x:
        return UOp(op, (x, c))
    return whole + rest // c if op is Ops.IDIV else rest % c
