"""Sums of integers: split into terms, rebuilt in a canonical order, divided and compared.

Reshaping, slicing and splitting loops write index expressions full of divisions; a reader, and a C
compiler, want `i*4+j`. Everything here rests on one idea. A sum is split into `terms`, each with
its factor, and rebuilt by `from_terms` in one canonical order:

    (i + 3)*4 + j - 1     terms: {i: 4, j: 1, None: 11}     from_terms: i*4 + j + 11

so equal sums become the same object however they were written. Division by c then looks at each
term: what c divides comes out, and if the rest is known to lie in 0..c-1 (bounds.py), no division
is left:  (i*4 + j) // 4 = i  and  (i*4 + j) % 4 = j  where j < 4.

Integers wrap around. Sums and products may be rearranged regardless, since all of that holds modulo
2**n too; a rule on division or order first makes sure that the sum it looks into cannot wrap
(`exact_terms`). The functions are rules of `symbolic.py`'s tables: from a node to a simpler one.
"""

from __future__ import annotations

import functools
import math
import operator
import zlib
from collections import Counter
from typing import Any

from tinyframe.dtype import DType, dtypes, truncate
from tinyframe.uop.bounds import corners, dtype_bounds, fits
from tinyframe.uop.node import Ops, UOp, recursive_property

Terms = dict[Any, int]
"""A sum: the factor of each term (a UOp), and the constant under None. Factors are not 0."""

MOST_TERMS = 64
"""Longer sums are left in the order they were written: putting one in order costs its length, and a
chain of n additions would cost n*n."""


# ---- the order of terms -------------------------------------------------------------------------


@recursive_property
def _order(u: UOp) -> tuple:
    """The sort key of terms, factors and conditions, the same in every process: the first leaf
    (buffers and slots, Variables by name, ranges by number), the op, a digest of everything
    below."""
    if u.op is Ops.RANGE:
        number = u.arg[0]
        leaf = (2, number, "") if isinstance(number, int) else (2, 0, repr(number))
    elif u.op in (Ops.DEFINE_VAR, Ops.SPECIAL):
        leaf = (1, 0, u.arg[0])
    elif u.src:
        leaf = min(order(s)[0] for s in u.src)
    elif u.op is Ops.CONST:
        leaf = (4, 0, "")
    else:
        leaf = (0, u.arg, "") if isinstance(u.arg, int) else (3, 0, "")
    below = [order(s)[2] for s in u.src]
    return leaf, u.op.value, hash((u.op.value, _dtype_hash(u.dtype), _arg_hash(u.arg), *below))


order = _order.of


# by CRC, since hash(str) differs from process to process
@functools.cache
def _dtype_hash(dtype: DType) -> int:
    return zlib.crc32(repr(dtype).encode())


def _arg_hash(arg: object) -> int:
    if isinstance(arg, int):
        return 2 * arg + 1  # never -1, which Python hashes like -2
    # the argument of a PLACE is a graph
    return 0 if arg is None or isinstance(arg, UOp) else zlib.crc32(repr(arg).encode())


# ---- sums to terms, and back --------------------------------------------------------------------


def constant(dtype: DType, value: int) -> UOp:
    """`value`, wrapped around into an integer dtype."""
    low, high = dtype_bounds(dtype)
    value = value if low <= value <= high else truncate[dtype.scalar()](value)
    return UOp(Ops.CONST, dtype, (), value) if dtype.count == 1 else UOp.const(dtype, value)


def value_of(u: UOp) -> int | None:
    """The value of an integer constant (in every lane); None if `u` is not one."""
    if u.op is Ops.VECTORIZE and len(set(u.src)) == 1:
        u = u.src[0]
    return u.arg if u.op is Ops.CONST and u.arg.__class__ is int else None


_SUMS = {Ops.ADD, Ops.SUB, Ops.NEG, Ops.MUL, Ops.CONST, Ops.VECTORIZE, Ops.CAST}


def terms(u: UOp) -> Terms:
    """`u` as a sum: {term: factor}, with the constant under None."""
    if u.op not in _SUMS:
        return {u: 1}
    out: Terms = {}
    pending = [(u, 1)]
    for _ in range(2 * MOST_TERMS):
        x, factor = pending.pop()
        op = x.op
        if op is Ops.ADD:
            pending.append((x.src[1], factor))
            pending.append((x.src[0], factor))
        elif op in (Ops.CONST, Ops.VECTORIZE) and (c := value_of(x)) is not None:
            out[None] = out.get(None, 0) + factor * c
        elif op is Ops.MUL and (c := value_of(x.src[1])) is not None:
            pending.append((x.src[0], factor * c))
        elif op is Ops.MUL and (c := value_of(x.src[0])) is not None:
            pending.append((x.src[1], factor * c))
        elif op is Ops.SUB:
            pending.append((x.src[1], -factor))
            pending.append((x.src[0], factor))
        elif op is Ops.NEG:
            pending.append((x.src[0], -factor))
        elif op is Ops.CAST and is_widened(x):
            for t, f in exact_terms(x.src[0]).items():
                out[t] = out.get(t, 0) + factor * f
        else:
            out[x] = out.get(x, 0) + factor
        if not pending:
            return {t: f for t, f in out.items() if f} if 0 in out.values() else out
    return {u: 1}


def is_widened(u: UOp) -> bool:
    """Whether a CAST widens an index from 32 to 64 bits. Its terms are then those of the narrow
    index, in the narrow dtype, and `from_terms` widens each."""
    return u.dtype.scalar() is dtypes.long and u.src[0].dtype.scalar() is dtypes.int


def from_terms(ts: Terms, dtype: DType = dtypes.int) -> UOp:
    """The sum of `ts` in its canonical order, the constant last, in `dtype`."""
    low, high = dtype_bounds(dtype)
    out: UOp | None = None
    for t in sorted([t for t in ts if t is not None], key=order):
        f = ts[t]
        if not low <= f <= high and not (f := truncate[dtype.scalar()](f)):
            continue
        t = t.cast(dtype)
        part = t if f == 1 else UOp(Ops.MUL, dtype, (t, constant(dtype, f)))
        out = part if out is None else UOp(Ops.ADD, dtype, (out, part))
    c = constant(dtype, ts.get(None, 0))
    return c if out is None else UOp(Ops.ADD, dtype, (out, c)) if value_of(c) else out


def narrowed(u: UOp) -> UOp | None:
    """A CAST of a sum from 64 to 32 bits: the sum of its terms in 32 bits, if they all have 32."""
    (x,) = u.src
    if u.dtype.scalar() is not dtypes.int or x.dtype.scalar() is not dtypes.long:
        return None
    ts = terms(x)
    return from_terms(ts, u.dtype) if all(t is None or t.dtype is u.dtype for t in ts) else None


def scaled(ts: Terms, factor: int) -> Terms:
    """The sum times `factor`."""
    return {t: f * factor for t, f in ts.items()} if factor else {}


def plus(a: Terms, b: Terms) -> Terms:
    """a + b"""
    out = dict(a)
    for t, f in b.items():
        out[t] = out.get(t, 0) + f
    return {t: f for t, f in out.items() if f}


def bounds_of(ts: Terms) -> tuple[int, int]:
    """The smallest and largest value of a sum of integers that do not wrap around."""
    low = high = 0
    for t, f in ts.items():
        a, b = (1, 1) if t is None else t.bounds
        low += f * (a if f > 0 else b)
        high += f * (b if f > 0 else a)
    return low, high


def exact_terms(u: UOp) -> Terms:
    """terms(u) if their sum cannot wrap around; otherwise `u` as a single term."""
    ts = terms(u)
    return ts if fits(u.dtype, *bounds_of(ts)) else {u: 1}


def canonical_sum(u: UOp) -> UOp:
    """ADD, SUB, NEG, and MUL by a constant."""
    ts = recombined(terms(u), u.dtype)
    out = from_terms(ts, u.dtype)
    if out.op is Ops.CONST:
        return _in_shape_of(u, out)
    if all(t is None or t.__dict__.get("_simplified") is True and t.dtype is u.dtype for t in ts):
        out.__dict__["_simplified"] = True  # by construction: simplify() need not look again
    return out


def _in_shape_of(u: UOp, out: UOp) -> UOp:
    """`out`; a constant is expanded to the shape of `u`."""
    return u.const_like(out.arg) if out.op is Ops.CONST and u.shape else out


def _divisor(u: UOp) -> int:
    """The c of x // c and x % c, if it is a positive constant; otherwise 0."""
    return max(value_of(u.src[1]) or 0, 0)


def _remainders(ts: Terms) -> list[tuple[UOp, int, UOp, int]]:
    """The terms x % c of a sum, with positive constants c: (term, its factor, x, c)."""
    return [(t, f, t.src[0], c) for t, f in ts.items()
            if t is not None and t.op is Ops.MOD and (c := _divisor(t))]  # fmt: skip


def recombined(ts: Terms, dtype: DType) -> Terms:
    """x//c*c + x%c = x  and  x//c%d*c + x%c = x%(c*d), at any scale and among other terms."""
    for t, f, x, c in _remainders(ts):
        partners = [p for p, g in ts.items()
                    if g == f * c and p is not None and p.op in (Ops.IDIV, Ops.MOD)]  # fmt: skip
        if not partners:
            continue
        quotient = from_terms(_divided(Ops.IDIV, exact_terms(x), c, x.dtype), x.dtype)
        for p in partners:
            rest = {s: g for s, g in ts.items() if s is not t and s is not p}
            if p is quotient:
                return recombined(plus(rest, scaled(terms(x), f)), dtype)
            d = _divisor(p) if p.op is Ops.MOD and p.src[0] is quotient else 0
            if d and fits(x.dtype, 0, c * d):
                remainder = UOp(Ops.MOD, x.dtype, (x, constant(x.dtype, c * d)))
                return recombined(plus(rest, {remainder: f}), dtype)
    return ts


# ---- products -----------------------------------------------------------------------------------


def chain(u: UOp, op: Ops, most: float = MOST_TERMS) -> list[UOp]:
    """The operands of a chain of one op, in the order they are written: x*(y*z) gives x, y and z. A
    chain of more than `most` counts as one operand."""
    out, pending = [], [u]
    while pending:
        x = pending.pop()
        if x.op is op:
            pending += reversed(x.src)
        else:
            out.append(x)
        if len(out) + len(pending) > most:
            return [u]
    return out


def product_bounds(factors: Counter[UOp]) -> tuple[int, int]:
    """The smallest and largest value of a product of integers that does not wrap around."""
    bounds = [f.bounds for f in factors.elements()]
    return functools.reduce(functools.partial(corners, operator.mul), bounds, (1, 1))


def product(factors: list[UOp], dtype: DType) -> UOp:
    """The product of one or more factors in canonical order."""
    in_order = [f.cast(dtype) for f in sorted(factors, key=order)]
    return functools.reduce(lambda x, y: UOp(Ops.MUL, dtype, (x, y)), in_order)


def multiply(u: UOp) -> UOp:
    """MUL: a constant goes into the factors of a sum; other factors are put in order."""
    if value_of(u.src[1]) is not None or value_of(u.src[0]) is not None:
        return canonical_sum(u)
    scale, factors = 1, []
    for f in chain(u, Ops.MUL):
        if (c := value_of(f)) is not None:
            scale *= c
        else:
            factors.append(f)
    return from_terms({product(factors, u.dtype): scale} if scale else {}, u.dtype)


# ---- division -----------------------------------------------------------------------------------


def simplify_division(u: UOp) -> UOp | None:
    """IDIV and MOD."""
    x, d = u.src
    dtype, is_div = u.dtype, u.op is Ops.IDIV
    if (c := value_of(d)) is None:
        return divide_by_symbol(u)
    if c == 0:
        return u.const_like(0)
    ts = exact_terms(x)
    found: Terms | None
    if c > 0:
        found = (quotient_terms if is_div else remainder_terms)(ts, c, dtype)
    else:  # x // -c = -x // c   and   x % -c = -(-x % c)
        ts, c = scaled(ts, -1), -c
        if not fits(dtype, *bounds_of(ts)) or not fits(dtype, c, c):
            return None
        found = scaled(_divided(u.op, ts, c, dtype), 1 if is_div else -1)
    return None if found is None else _in_shape_of(u, from_terms(found, dtype))


def quotient_terms(ts: Terms, c: int, dtype: DType) -> Terms | None:
    """The sum `ts`, which does not wrap around, divided by c > 0 and rounded down; None if there is
    nothing to simplify."""
    quotient, rest, low, high = _split(ts, c)
    if high < c:
        return quotient
    if not fits(dtype, low, high):
        return None
    if (parts := _coarse_and_fine(rest, c)) is not None:  # (coarse*g + fine) // (n*g) = coarse // n
        coarse, _, g = parts
        return plus(quotient, _divided(Ops.IDIV, coarse, c // g, dtype))
    if (found := _quotient_of_one(rest, c, dtype)) is not None:
        return plus(quotient, found)
    return plus(quotient, _divided(Ops.IDIV, rest, c, dtype)) if quotient else None


def _quotient_of_one(ts: Terms, c: int, dtype: DType) -> Terms | None:
    """(x//a + k) // c = (x + k*a) // (a*c)  and  x%(c*n) // c = x//c % n."""
    k = ts.get(None, 0)
    (t, f), *others = [(t, f) for t, f in ts.items() if t is not None]
    if others or f != 1 or t.op not in (Ops.IDIV, Ops.MOD) or not (a := _divisor(t)):
        return None
    x = t.src[0]
    if t.op is Ops.IDIV:
        inside = plus(exact_terms(x), {None: k * a})
        if fits(dtype, 0, a * c) and fits(dtype, *bounds_of(inside)):
            return _divided(Ops.IDIV, inside, a * c, dtype)
    elif a % c == 0 and not k:
        return _divided(Ops.MOD, _divided(Ops.IDIV, exact_terms(x), c, dtype), a // c, dtype)
    return None


def remainder_terms(ts: Terms, c: int, dtype: DType) -> Terms | None:
    """The remainder of quotient_terms, in 0..c-1; None if there is nothing to simplify."""
    for t, f, x, a in _remainders(ts):
        if a * f % c == 0:  # (x%a*f + …) % c = (x*f + …) % c  if c divides a*f
            rest = {s: g for s, g in ts.items() if s is not t}
            inside = plus(rest, scaled(exact_terms(x), f))
            if fits(dtype, *bounds_of(inside)):
                return _divided(Ops.MOD, inside, c, dtype)
    quotient, rest, low, high = _split(ts, c)
    if high < c:
        return rest
    if not fits(dtype, low, high):
        return None
    if (parts := _coarse_and_fine(rest, c)) is not None:
        coarse, fine, g = parts  # (coarse*g + fine) % (n*g) = coarse%n * g + fine
        return plus(scaled(_divided(Ops.MOD, coarse, c // g, dtype), g), fine)
    return _divided(Ops.MOD, rest, c, dtype) if quotient else None


def _divided(op: Ops, ts: Terms, c: int, dtype: DType) -> Terms:
    """The quotient (IDIV) or remainder (MOD) of a sum; a division as one term if there is no other
    form."""
    out = (quotient_terms if op is Ops.IDIV else remainder_terms)(ts, c, dtype)
    if out is None:
        return {UOp(op, dtype, (from_terms(ts, dtype), constant(dtype, c))): 1}
    return out


def _split(ts: Terms, c: int) -> tuple[Terms, Terms, int, int]:
    """ts = quotient*c + rest, with the factors in `rest` smaller than c and its smallest value in
    0..c-1; and the bounds of `rest`.

    Factors are rounded towards 0, or to the nearest multiple of c if only that leaves a rest within
    0..c-1: (a*3 + 3) % 4 = 3 - a  for a in 0..3.
    """
    cut = _cut(ts, {t: f // c if f >= 0 else -(-f // c) for t, f in ts.items()}, c)
    if cut[3] >= c and any(t is not None and 2 * abs(f) > c for t, f in cut[1].items()):
        nearest = _cut(ts, {t: (2 * f + c) // (2 * c) for t, f in ts.items()}, c)
        if nearest[3] < c:
            return nearest
    return cut


def _cut(ts: Terms, quotient: Terms, c: int) -> tuple[Terms, Terms, int, int]:
    rest = {t: r for t, f in ts.items() if t is not None and (r := f - quotient[t] * c)}
    low, high = bounds_of(rest)
    k = ts.get(None, 0)
    q = quotient[None] = (low + k) // c
    if k := k - q * c:
        rest[None] = k
    return {t: f for t, f in quotient.items() if f}, rest, low + k, high + k


def _coarse_and_fine(ts: Terms, c: int) -> tuple[Terms, Terms, int] | None:
    """ts = coarse*g + fine, with g dividing c and fine in 0..g-1; the largest such g."""
    ts = dict(ts)
    k = ts.pop(None, 0)
    divisors = {math.gcd(f, c) for f in ts.values()}
    for g in sorted(divisors - {1}, reverse=True):
        fine = {t: f for t, f in ts.items() if f % g}
        low, high = bounds_of(fine)
        q = (low + k) // g
        if high + k - q * g < g:
            coarse = {t: f // g for t, f in ts.items() if f % g == 0}
            return plus(coarse, {None: q}), plus(fine, {None: k - q * g}), g
    return None


def divide_by_symbol(u: UOp) -> UOp | None:
    """x // d and x % d for a d > 0 that is not a constant, such as a symbolic size."""
    x, d = u.src
    if d.vmin <= 0:
        return None
    dtype, ts = u.dtype, exact_terms(x)
    (unit, scale), *others = terms(d).items()
    if others or unit is None:
        unit, scale = d, 1
    factors = Counter(chain(unit, Ops.MUL))
    quotient: Terms = {}
    rest: Terms = {None: ts.pop(None, 0)}
    for t, f in ts.items():
        inside = Counter(chain(t, Ops.MUL))
        if inside >= factors and f % scale == 0 and fits(dtype, *product_bounds(inside)):
            left = [*(inside - factors).elements()]
            quotient = plus(quotient, {product(left, dtype) if left else None: f // scale})
        else:
            rest[t] = f
    in_range = (
        bounds_of(rest)[0] >= 0 and bounds_of(plus(terms(d), scaled(largest(rest), -1)))[0] > 0
    )
    if in_range:
        return from_terms(quotient if u.op is Ops.IDIV else rest, dtype)
    if not quotient:
        return None
    remaining = UOp(u.op, dtype, (from_terms(rest, dtype), d))
    return from_terms(plus(quotient, {remaining: 1}), dtype) if u.op is Ops.IDIV else remaining


def largest(ts: Terms) -> Terms:
    """An upper bound of a sum in terms of symbolic sizes: i over range(n) is at most n - 1."""
    out: Terms = {}
    for t, f in ts.items():
        if t is not None and t.op is Ops.RANGE and f > 0:
            out = plus(out, plus(scaled(terms(t.src[0]), f), {None: -f}))
        else:
            out = plus(out, {None: bounds_of({t: f})[1]})
    return out


# ---- comparison ---------------------------------------------------------------------------------


def is_negated(u: UOp) -> bool:
    """Whether `u` is a "not x", written `x != True`."""
    return u.op is Ops.CMPNE and u.src[1].op is Ops.CONST and u.src[1].arg is True


def without_not(u: UOp) -> tuple[UOp, bool]:
    """(x, True) for "x" and (x, False) for "not x"."""
    return (u.src[0], False) if is_negated(u) else (u, True)


def negated(u: UOp) -> UOp:
    """not u"""
    if is_negated(u):
        return u.src[0]
    if u.op is Ops.CONST:
        return u.const_like(not u.arg)
    return UOp(Ops.CMPNE, u.dtype, (u, UOp.const(u.dtype, True)))


def sides(u: UOp) -> tuple[Terms, int]:
    """A comparison a ? b as (terms, c): a - b without its constant  ?  that constant negated."""
    a, b = u.src
    difference = plus(exact_terms(a), scaled(exact_terms(b), -1))
    return difference, -difference.pop(None, 0)


def both_sides(ts: Terms, c: int, dtype: DType) -> tuple[UOp, UOp] | None:
    """ts ? c with subtracted terms moved to the right; None if a side could wrap around."""
    left = {t: f for t, f in ts.items() if f > 0}
    right = plus({t: -f for t, f in ts.items() if f < 0}, {None: c})
    if not fits(dtype, *bounds_of(left)) or not fits(dtype, *bounds_of(right)):
        return None
    return from_terms(left, dtype), from_terms(right, dtype)


def less(u: UOp) -> UOp | None:
    """CMPLT: with the constant on the right, and a first term that is not subtracted."""
    dtype = u.src[0].dtype
    ts, c = sides(u)
    low, high = bounds_of(ts)
    if high < c or low >= c:
        return u.const_like(high < c)
    g = math.gcd(*ts.values())  # x*g < c  is  x < ceil(c/g)
    ts, c = {t: f // g for t, f in ts.items()}, -(-c // g)
    if all(f < 0 for f in ts.values()):  # -x < c  is  not x < 1-c
        out = _less(scaled(ts, -1), 1 - c, dtype)
        return None if out is None else negated(out)
    return _less(ts, c, dtype)


def _less(ts: Terms, c: int, dtype: DType) -> UOp | None:
    for g in sorted({abs(f) for f in ts.values()} - {1}, reverse=True):  # coarse*g + fine < c
        coarse = {t: f // g for t, f in ts.items() if f % g == 0}
        low, high = bounds_of({t: f for t, f in ts.items() if f % g})
        if len(coarse) < len(ts) and (low - c) // g == (high - c) // g:  # coarse < ceil((c-fine)/g)
            ts, c = coarse, -((low - c) // g)
            break
    boolean = dtypes.bool.vec(dtype.count)
    if len(ts) == 1:
        ((t, f),) = ts.items()
        a = _divisor(t) if f == 1 and t.op is Ops.IDIV else 0
        if a and fits(t.dtype, c * a, c * a):  # x//a < c  is  x < c*a
            return UOp(Ops.CMPLT, boolean, (t.src[0], constant(t.dtype, c * a)))
    pair = both_sides(ts, c, dtype)
    return None if pair is None else UOp(Ops.CMPLT, boolean, pair)


def equal(u: UOp) -> UOp | None:
    """CMPEQ and CMPNE: with the constant on the right, and a first term that is not subtracted."""
    dtype, is_equal = u.src[0].dtype, u.op is Ops.CMPEQ
    ts, c = sides(u)
    low, high = bounds_of(ts)
    if not low <= c <= high:
        return u.const_like(not is_equal)
    if not ts:
        return u.const_like(is_equal)
    g = math.gcd(*ts.values())
    if c % g:
        return u.const_like(not is_equal)
    first = min(ts, key=order)
    g = g if ts[first] > 0 else -g
    ts, c = {t: f // g for t, f in ts.items()}, c // g
    if len(ts) == 1 and first.op is Ops.CAST and dtypes.is_bool(first.src[0].dtype):  # c is 0 or 1
        return first.src[0] if bool(c) is is_equal else negated(first.src[0])
    pair = both_sides(ts, c, dtype)
    return None if pair is None else UOp(u.op, u.dtype, pair)


def maximum(u: UOp) -> UOp | None:
    """MAX, by the bounds of the difference."""
    a, b = u.src
    low, high = bounds_of(plus(exact_terms(a), scaled(exact_terms(b), -1)))
    if low >= 0:
        return a
    if high <= 0:
        return b
    return UOp(Ops.MAX, u.dtype, (b, a)) if order(b) < order(a) else None
