"""Bounds: the smallest and largest value that a node can have, computed from those of its sources.

    >>> i = UOp.range(8, 0)
    >>> (i * 4 + 3).bounds
    (3, 31)

Most of index simplification rests on them: `(i*4+3) // 32` is 0 because 31 < 32. Two promises:

- *Sound.* Integers wrap around, so a result that could leave its dtype's range may be anything in
  that range: int8 100..100 plus 100..100 is (-128, 127), not (200, 200).
- Bounds cannot express NaN: what has other bounds than (-inf, inf) is never NaN. Of floats these
  are constants, integers as float32s, and sums and products of those.
"""
from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable

from tinyframe.dtype import DType, dtypes, truncate
from tinyframe.uop.evaluate import python_alu
from tinyframe.uop.node import Ops, UOp, upper

Bounds = tuple[int, int]


@functools.cache
def dtype_bounds(dtype: DType) -> Bounds:
    """The range of one lane of `dtype`; (-inf, inf) for void too, which has no value."""
    if dtype.scalar() is dtypes.void:
        return -math.inf, math.inf  # type: ignore[return-value]
    return dtype.min, dtype.max  # type: ignore[return-value]


def fits(dtype: DType, low: int, high: int) -> bool:
    """Whether an integer dtype can hold all of low..high, so that nothing wraps around."""
    smallest, largest = dtype_bounds(dtype)
    return smallest <= low and high <= largest


def corners(fn: Callable[[int, int], int], x: Bounds, y: Bounds) -> Bounds:
    """The bounds of a function that is monotonic in each argument: its extremes are at the ends."""
    values = [fn(a, b) for a in x for b in y]
    return min(values), max(values)


SMALLEST, LARGEST = 2.0**-126, (2 - 2.0**-23) * 2.0**127  # of the normal float32s


def rounded(dtype: DType, low: float, high: float) -> Bounds:
    """Bounds of a float32, one unit in the last place wider than these, unless these are float32s:
    a device may fuse a product and a sum, and then not round the product. It may also take a
    denormal number for 0. Other floats, and those that may be inf, have no bounds."""
    nearest = truncate[dtypes.float32]
    low -= 0 if nearest(low) == low else max(abs(low) * 2.0**-23, SMALLEST)
    high += 0 if nearest(high) == high else max(abs(high) * 2.0**-23, SMALLEST)
    if dtype.scalar() is not dtypes.float32 or not (-LARGEST <= low <= high <= LARGEST):
        return dtype_bounds(dtype)
    return 0.0 if 0 < low < SMALLEST else low, 0.0 if -SMALLEST < high < 0 else high  # type: ignore[return-value]


def rule(*ops: Ops, ints_only: bool = True, floats_too: bool = False):
    """Adds a rule: the bounds of an op, from the node and the bounds of each source.

    With `ints_only` the rule is for integers only, and bounds that do not fit the dtype widen to
    its whole range. With `floats_too` it also holds for floats, and their bounds are rounded.
    """
    def add(fn):
        def bounds(u: UOp) -> Bounds:
            if not ints_only:
                return fn(u, *[s.bounds for s in u.src])
            if floats_too and dtypes.is_float(u.dtype):
                return rounded(u.dtype, *fn(u, *[s.bounds for s in u.src]))
            if not dtypes.is_int(u.dtype):
                return dtype_bounds(u.dtype)
            low, high = fn(u, *[s.bounds for s in u.src])
            return (low, high) if fits(u.dtype, low, high) else dtype_bounds(u.dtype)
        UOp.bounds.rule(*ops)(bounds)
        return fn
    return add


@UOp.bounds.rule(Ops.UNIQUE, Ops.DEVICE, Ops.KERNEL, Ops.SINK, Ops.STORE, Ops.ENDRANGE, Ops.BARRIER)
def _(u): return dtype_bounds(dtypes.void)


# ---- leaves -------------------------------------------------------------------------------------


@UOp.bounds.rule(Ops.CONST)
def _(u):
    if not isinstance(u.arg, (bool, int, float)) or u.arg != u.arg:
        return dtype_bounds(u.dtype)
    low, high = dtype_bounds(u.dtype)
    fits_it = low <= u.arg <= high and not dtypes.is_float(u.dtype)
    value = u.arg if fits_it else truncate[u.dtype](u.arg)
    return value, value


@UOp.bounds.rule(Ops.DEFINE_VAR)
def _(u): return u.arg[1], u.arg[2]


# not the bound value: a kernel compiled for one value of a Variable serves all of them
@UOp.bounds.rule(Ops.BIND)
def _(u): return u.src[0].bounds


@UOp.bounds.rule(Ops.RANGE)
def _(u): return 0, max(0, u.src[0].vmax - 1)


@UOp.bounds.rule(Ops.IOTA)
def _(u): return 0, max(0, u.arg - 1)


@UOp.bounds.rule(Ops.SPECIAL)
def _(u):
    return 0, max(0, upper(u.arg[1]) - 1)


# ---- structure ----------------------------------------------------------------------------------


@UOp.bounds.rule(Ops.RESHAPE, Ops.PERMUTE, Ops.EXPAND, Ops.SHRINK, Ops.FLIP, Ops.WINDOW, Ops.DETACH,
                 Ops.CONTIGUOUS, Ops.FUSE, Ops.COPY, Ops.GEP)
def _(u): return u.src[0].bounds


@rule(Ops.VECTORIZE)
def _(u, *lanes): return union(*lanes)


def union(*bounds: Bounds) -> Bounds:
    return min(low for low, _ in bounds), max(high for _, high in bounds)


# ---- arithmetic ---------------------------------------------------------------------------------


@rule(Ops.ADD, floats_too=True)
def _(u, x, y): return x[0] + y[0], x[1] + y[1]


@rule(Ops.SUB, floats_too=True)
def _(u, x, y): return x[0] - y[1], x[1] - y[0]


@rule(Ops.NEG, floats_too=True)
def _(u, x): return -x[1], -x[0]


@rule(Ops.MUL, floats_too=True)
def _(u, x, y): return corners(operator.mul, x, y)


@rule(Ops.MULACC)
def _(u, x, y, z):
    low, high = corners(operator.mul, x, y)
    return low + z[0], high + z[1]


@rule(Ops.MAX)
def _(u, x, y): return max(x[0], y[0]), max(x[1], y[1])


@rule(Ops.MIN)
def _(u, x, y): return min(x[0], y[0]), min(x[1], y[1])


@rule(Ops.IDIV, Ops.CDIV)
def _(u, x, y):
    """A quotient is monotonic in the divisor on either side of 0, and x/0 is 0."""
    (low, high), divide = y, python_alu[u.op]
    parts = [corners(divide, x, (low, min(high, -1)))] if low < 0 else []
    parts += [corners(divide, x, (max(low, 1), high))] if high > 0 else []
    parts += [(0, 0)] if low <= 0 <= high else []
    return union(*parts)


@rule(Ops.MOD)
def _(u, x, y):
    low, high = y
    if low == high > 0 and x[0] // low == x[1] // low:
        return x[0] % low, x[1] % low
    if x[0] >= 0 and low > 0:
        return (x if x[1] < low else (0, min(x[1], high - 1)))
    return min(low + 1, 0), max(high - 1, 0)  # has the divisor's sign


@rule(Ops.CMOD)
def _(u, x, y):
    largest = max(abs(y[0]), abs(y[1]), 1) - 1
    if x[0] >= 0 and y[0] > x[1]:
        return x
    return max(min(x[0], 0), -largest), min(max(x[1], 0), largest)  # has the dividend's sign


SHIFTS = {Ops.SHL: operator.lshift, Ops.SHR: operator.rshift}


@rule(*SHIFTS)
def _(u, x, y):
    if y[0] < 0 or y[1] >= u.dtype.scalar().bits:
        return dtype_bounds(u.dtype)
    return corners(SHIFTS[u.op], x, y)


# ---- bits and booleans --------------------------------------------------------------------------
# False < True, so the bounds of a bool are (False, True), or one value twice


BITS = {Ops.AND: operator.and_, Ops.OR: operator.or_, Ops.XOR: operator.xor}


@rule(*BITS, ints_only=False)
def _(u, x, y):
    if dtypes.is_bool(u.dtype):
        return _differs(x, y) if u.op is Ops.XOR else corners(BITS[u.op], x, y)
    masks = [high for low, high in (x, y) if low >= 0]
    if u.op is Ops.AND and masks:
        return 0, min(masks)
    if len(masks) < 2:
        return _bits_of(x, y)
    return max(x[0], y[0]) if u.op is Ops.OR else 0, (1 << max(masks).bit_length()) - 1


def _bits_of(x: Bounds, y: Bounds) -> Bounds:
    """All signed integers with as many bits as the widest bound: -4 … 3 for 2 and -1."""
    bits = max((n if n >= 0 else ~n).bit_length() for n in (*x, *y))
    return -(1 << bits), (1 << bits) - 1


def _differs(x: Bounds, y: Bounds) -> tuple[bool, bool]:
    """Bounds of `x != y`."""
    one_value_each = x[0] == x[1] and y[0] == y[1]
    return x[1] < y[0] or y[1] < x[0], not (one_value_each and x[0] == y[0])


def _equals(x: Bounds, y: Bounds) -> tuple[bool, bool]:
    low, high = _differs(x, y)
    return not high, not low


COMPARED: dict[Ops, Callable[[Bounds, Bounds], tuple[bool, bool]]] = {
    Ops.CMPNE: _differs,
    Ops.CMPEQ: _equals,
    Ops.CMPLT: lambda x, y: (x[1] < y[0], x[0] < y[1]),
    Ops.CMPLE: lambda x, y: (x[1] <= y[0], x[0] <= y[1]),
}


@rule(*COMPARED, ints_only=False)
def _(u, x, y):
    may_be_nan = dtypes.is_float(u.src[0].dtype) and (-math.inf, math.inf) in (x, y)
    low, high = (False, True) if may_be_nan else COMPARED[u.op](x, y)
    return (low, high) if dtypes.is_bool(u.dtype) else (-int(high), -int(low))  # lanes of a mask


@rule(Ops.WHERE, ints_only=False)
def _(u, condition, yes, no):
    if dtypes.is_float(u.dtype):
        return dtype_bounds(u.dtype)
    if condition[0] == condition[1]:
        return yes if condition[0] else no
    test, *branches = u.src
    if test.op is Ops.CMPLT and set(test.src) == set(branches):  # the min or max of two values
        choose = min if test.src[0] is branches[0] else max
        return choose(yes[0], no[0]), choose(yes[1], no[1])
    return union(yes, no)


@rule(Ops.CAST, ints_only=False)
def _(u, x):
    if dtypes.is_float(u.src[0].dtype):
        return dtype_bounds(u.dtype)
    if dtypes.is_float(u.dtype):
        return rounded(u.dtype, *map(float, x))
    if dtypes.is_bool(u.dtype):
        return x[0] > 0 or x[1] < 0, x != (0, 0)
    x = int(x[0]), int(x[1])
    return x if fits(u.dtype, *x) else dtype_bounds(u.dtype)
