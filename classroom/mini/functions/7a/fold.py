"""Hint: There are three cases, and each is nearly one line with what you have. What's t * 0 if t is
infinite? So which of the three may also be used for floats?
Hint: All sources CONST: ALU[op] of their args, made x.dtype again. An ADD or MUL with x.dtype
int: total(rejoined(terms(x))). A CMPLT of ints whose two bounds are equal: that number.
Because: Sums of floats can't be put in a different order without changing a digit, so they're
left as they were written. Whole numbers can.
"""

# %% wrong: the float that a comparison gives is a 1.0, and x is a whole number
def fold(x):
    if x.op in ALU and all(s.op is Ops.CONST for s in x.src):
        return UOp(Ops.CONST, (), ALU[x.op](*[s.arg for s in x.src]).item())
    if x.dtype is int and x.op in (Ops.ADD, Ops.MUL):
        return total(rejoined(terms(x)))
    if x.op is Ops.CMPLT and x.dtype is int and len({*bounds(x)}) == 1:
        return x.const(bounds(x)[0])

# %% wrong: says Is there a `return`?
def fold(x):
    return None

# %% wrong: says should be 5
def fold(x):
    if x.op in ALU and all(source.op is Ops.CONST for source in x.src):
        return UOp(Ops.CONST, (), float(ALU[x.op](*(source.arg for source in x.src))))

# %% wrong: says has a term twice
def fold(x):
    if x.op in ALU and all(source.op is Ops.CONST for source in x.src):
        return UOp(Ops.CONST, (), x.dtype(ALU[x.op](*(source.arg for source in x.src))))

# %% wrong, changed: says is about floats
-     if x.dtype is int and x.op in (Ops.ADD, Ops.MUL):
+     if x.op in (Ops.ADD, Ops.MUL):

-     return None

# %% wrong, changed: says should become
-         return total(rejoined(terms(x)))
+         return total(terms(x))

-     return None

# %% wrong, changed: says there is nothing to fold
-     if x.dtype is int and x.op is Ops.CMPLT and len(set(bounds(x))) == 1:
+     if x.dtype is int and x.op is Ops.CMPLT:

-     return None

# %% wrong: says never come to an end
from math import gcd

def fold(x):
    if x.op in ALU and all(source.op is Ops.CONST for source in x.src):
        return UOp(Ops.CONST, (), x.dtype(ALU[x.op](*(source.arg for source in x.src))))
    if x.dtype is int and x.op in (Ops.ADD, Ops.MUL):
        parts = rejoined(terms(x))
        g = gcd(*parts.values())
        if x.op is Ops.MUL or g < 2:
            return total(parts)
        return total({term: factor // g for term, factor in parts.items()}) * g
    if x.dtype is int and x.op is Ops.CMPLT and len(set(bounds(x))) == 1:
        return UOp(Ops.CONST, (), bounds(x)[0])

# %% right
def fold(x):
    if x.op in ALU and not any(source.op is not Ops.CONST for source in x.src):
        value = ALU[x.op](*[source.arg for source in x.src])
        return x.const(x.dtype(value))
    if x.dtype is float:
        return x
    if x.op in (Ops.ADD, Ops.MUL):
        return total(rejoined(terms(x)))
    if x.op is Ops.CMPLT:
        low, high = bounds(x)
        return x.const(low) if low == high else x
    return x
