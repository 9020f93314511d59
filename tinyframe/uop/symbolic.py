"""Algebra: rules that give a simpler node of the same value. Index arithmetic, above all.

Reshaping, slicing and splitting loops write index expressions full of divisions; a reader, and a C
compiler, want `i*4+j`. Everything with integers rests on one idea: a sum is taken apart into
`terms`, {term: factor}, and put together again by `total`, in one fixed order:

    (i + 3)*4 + j - 1     terms: {i: 4, j: 1, None: 11}     total: i*4 + j + 11

so equal sums become the same object however they were written. Division by c then looks at each
term: what c divides comes out, and if the rest is known to lie in 0..c-1 (bounds.py), no division
is left:  (i*4 + j) // 4 = i  and  (i*4 + j) % 4 = j  where j < 4.

Integers wrap around. Sums and products may be rearranged regardless, since all of that holds modulo
2**n too; a rule on division or order first makes sure that the sum it looks into cannot wrap.

Tables: `index_rules` (integers and booleans, always on), `value_rules` (floats, exact), `sym` =
both; `symbolic_simple`, the identities among them; `relaxed` (inexact, on with RELAXED=1).
"""
from __future__ import annotations

import math
import operator
import zlib
from collections import Counter
from collections.abc import Iterable

from tinyframe.dtype import DType, Invalid, can_lossless_cast, dtypes, truncate
from tinyframe.rewrite.matcher import PatternMatcher, graph_rewrite
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop.bounds import corners, dtype_bounds, fits
from tinyframe.uop.evaluate import exec_alu
from tinyframe.uop.node import FIRST_RANGE, GroupOp, Ops, UOp, recursive_property

Terms = dict[UOp | None, int]
"""A sum: the factor of each term, and the constant under None. Factors are not 0."""

MOST_TERMS = 64
"""Longer sums are left in the order they were written: canonicalising one costs its length, and a
chain of n additions would cost n*n."""


def simplify(u: UOp) -> UOp:
    """The same value with the exact rules applied until none matches; each node is done once ever."""
    known = u.__dict__.get("_simplified")
    if known is None:
        return graph_rewrite(u, sym, name="simplify", memo="_simplified")
    return u if known is True else known


# ---- the order of terms -----------------------------------------------------------------------


@recursive_property
def _order(u: UOp) -> tuple:
    """A key to sort terms by that is the same in every run: by the first leaf (buffers, then ranges by
    number, variables by name), then by op, then by a digest of everything below."""
    if u.op is Ops.RANGE:
        number = u.arg[0]
        leaf = (2, number, "") if isinstance(number, int) else (2, 0, repr(number))
    elif u.op in (Ops.DEFINE_VAR, Ops.SPECIAL):
        leaf = (1, 0, u.arg[0])
    elif not u.src:
        leaf = (4, 0, "") if u.op is Ops.CONST else (0, u.arg, "") if isinstance(u.arg, int) else (3, 0, "")
    else:
        leaf = min(order(s)[0] for s in u.src)
    digest = hash((u.op.value, _text_hash(repr(u.dtype)), _arg_hash(u.arg), *[order(s)[2] for s in u.src]))
    return leaf, u.op.value, digest


def order(u: UOp) -> tuple:
    known = u.__dict__.get("_order")
    return _order.__get__(u, UOp) if known is None else known


def _text_hash(text: str) -> int:
    return zlib.crc32(text.encode())  # hash(str) differs from run to run


def _arg_hash(arg: object) -> int:
    return hash(arg) if isinstance(arg, int) else 0 if arg is None else _text_hash(repr(arg))


# ---- sums -------------------------------------------------------------------------------------


def constant(dtype: DType, value: int) -> UOp:
    low, high = dtype_bounds(dtype)
    value = value if low <= value <= high else truncate[dtype.scalar()](value)
    return UOp(Ops.CONST, dtype, (), value) if dtype.count == 1 else UOp.const(dtype, value)


def value_of(u: UOp) -> int | None:
    """The integer that a constant is (in every lane); None for anything else."""
    if u.op is Ops.VECTORIZE and all(s is u.src[0] for s in u.src):
        u = u.src[0]
    return u.arg if u.op is Ops.CONST and u.arg.__class__ is int else None


def terms(u: UOp) -> Terms:
    """`u` as a sum: {term: factor}, with the constant under None."""
    out: Terms = {}
    pending = [(u, 1)]
    seen = 0
    while pending:
        x, factor = pending.pop()
        op = x.op
        seen += 1
        if seen > 2 * MOST_TERMS:
            return {u: 1}
        if op is Ops.ADD:
            pending.append((x.src[1], factor))
            pending.append((x.src[0], factor))
        elif op is Ops.CONST and x.arg.__class__ is int:
            out[None] = out.get(None, 0) + factor * x.arg
        elif op is Ops.MUL and (c := value_of(x.src[1])) is not None:
            pending.append((x.src[0], factor * c))
        elif op is Ops.MUL and (c := value_of(x.src[0])) is not None:
            pending.append((x.src[1], factor * c))
        elif op is Ops.SUB:
            pending.append((x.src[1], -factor))
            pending.append((x.src[0], factor))
        elif op is Ops.NEG:
            pending.append((x.src[0], -factor))
        elif op is Ops.VECTORIZE and (c := value_of(x)) is not None:
            out[None] = out.get(None, 0) + factor * c
        else:
            out[x] = out.get(x, 0) + factor
    if 0 in out.values():
        out = {t: f for t, f in out.items() if f}
    return out


def total(ts: Terms, dtype: DType = dtypes.int) -> UOp:
    """The sum of `ts` in its canonical order, the constant last; `dtype` is that of every term."""
    low, high = dtype_bounds(dtype)
    out: UOp | None = None
    for t in sorted((t for t in ts if t is not None), key=order) if len(ts) > 1 else ts:
        if t is None:
            continue
        f = ts[t]
        if not low <= f <= high and not (f := truncate[dtype.scalar()](f)):
            continue
        part = t if f == 1 else UOp(Ops.MUL, dtype, (t, constant(dtype, f)))
        out = part if out is None else UOp(Ops.ADD, dtype, (out, part))
    c = ts.get(None, 0)
    if out is None:
        return constant(dtype, c)
    if not low <= c <= high:
        c = truncate[dtype.scalar()](c)
    return UOp(Ops.ADD, dtype, (out, constant(dtype, c))) if c else out


def scaled(ts: Terms, factor: int) -> Terms:
    return {t: f * factor for t, f in ts.items()} if factor else {}


def plus(a: Terms, b: Terms) -> Terms:
    out = dict(a)
    for t, f in b.items():
        out[t] = out.get(t, 0) + f
    return {t: f for t, f in out.items() if f}


def span(ts: Terms) -> tuple[int, int]:
    """The smallest and largest value of a sum of integers that do not wrap around."""
    low = high = 0
    for t, f in ts.items():
        if t is None:
            low += f
            high += f
            continue
        a, b = t.bounds
        if f > 0:
            low += f * a
            high += f * b
        else:
            low += f * b
            high += f * a
    return low, high


def exact_terms(u: UOp) -> Terms:
    """terms(u) where their sum is what `u` is, without wrapping around; else `u` as one term."""
    ts = terms(u)
    return ts if fits(u.dtype, *span(ts)) else {u: 1}


def canonical_sum(u: UOp) -> UOp:
    """ADD, SUB, NEG and MUL by a constant."""
    ts = terms(u)
    if len(ts) > 1 and any(t is not None and t.op is Ops.MOD for t in ts):
        ts = recombined(ts, u.dtype)
    out = total(ts, u.dtype)
    if out.op is Ops.CONST:
        return u.const_like(out.arg) if u.shape else out
    if all(t is None or "_simplified" in t.__dict__ for t in ts):
        out.__dict__["_simplified"] = True  # canonical by construction: simplify() need not look again
    return out


def recombined(ts: Terms, dtype: DType) -> Terms:
    """x//c*c + x%c = x, and x//c%d*c + x%c = x%(c*d), at any scale and among other terms."""
    for t, f in ts.items():
        if t is None or t.op is not Ops.MOD or (c := value_of(t.src[1])) is None or c <= 0:
            continue
        partners = [p for p, g in ts.items() if g == f * c and p is not None and p.op in (Ops.IDIV, Ops.MOD)]
        if not partners:
            continue
        x = t.src[0]
        quotient = total(quotient_terms(terms(x), c, dtype) or {UOp(Ops.IDIV, dtype, t.src): 1}, dtype)
        for p in partners:
            rest = {s: g for s, g in ts.items() if s is not t and s is not p}
            if p is quotient:
                return recombined(plus(rest, scaled(terms(x), f)), dtype)
            if (p.op is Ops.MOD and p.src[0] is quotient and (d := value_of(p.src[1])) is not None
                    and d > 0 and fits(dtype, 0, c * d)):
                whole = UOp(Ops.MOD, dtype, (x, constant(dtype, c * d)))
                return recombined(plus(rest, {whole: f}), dtype)
    return ts


# ---- division ---------------------------------------------------------------------------------
# quotient_terms and remainder_terms give None where there is nothing to simplify.


def _split_best(ts: Terms, c: int) -> tuple[Terms, Terms, int, int]:
    """_split with factors cut towards 0, or to the nearest multiple of c where only that leaves a
    rest within 0..c-1: (a*3 + 3) % 4 = 3 - a  for a in 0..3."""
    cut = _split(ts, c)
    if cut[3] >= c and any(t is not None and 2 * abs(f) > c for t, f in cut[1].items()):
        nearest = _split(ts, c, to_nearest=True)
        if nearest[3] < c:
            return nearest
    return cut


def _split(ts: Terms, c: int, to_nearest: bool = False) -> tuple[Terms, Terms, int, int]:
    """ts = whole*c + rest: every factor of `rest` is smaller than c, and its smallest value lies in
    0..c-1; with the bounds of `rest`."""
    whole, rest = {}, {}
    for t, f in ts.items():
        if t is None:
            continue
        q = (2 * f + c) // (2 * c) if to_nearest else f // c if f >= 0 else -(-f // c)
        if q:
            whole[t] = q
        if f != q * c:
            rest[t] = f - q * c
    k = ts.get(None, 0)
    low, high = span(rest)
    q = (low + k) // c
    if k - q * c:
        rest[None] = k - q * c
    if q:
        whole[None] = q
    return whole, rest, low + k - q * c, high + k - q * c


def _coarse_part(rest: Terms, c: int) -> tuple[Terms, Terms, int] | None:
    """rest = coarse*g + fine, with g dividing c and fine in 0..g-1; the largest such g."""
    k = rest.get(None, 0)
    for g in sorted({math.gcd(f, c) for t, f in rest.items() if t is not None} - {1}, reverse=True):
        fine = {t: f for t, f in rest.items() if t is not None and f % g}
        low, high = span(fine)
        q = (low + k) // g
        if high + k - q * g < g:
            coarse = {t: f // g for t, f in rest.items() if t is not None and f % g == 0}
            if q:
                coarse[None] = q
            if k - q * g:
                fine[None] = k - q * g
            return coarse, fine, g
    return None


def _quotient(ts: Terms, c: int, dtype: DType) -> Terms:
    out = quotient_terms(ts, c, dtype)
    return {UOp(Ops.IDIV, dtype, (total(ts, dtype), constant(dtype, c))): 1} if out is None else out


def _remainder(ts: Terms, c: int, dtype: DType) -> Terms:
    out = remainder_terms(ts, c, dtype)
    return {UOp(Ops.MOD, dtype, (total(ts, dtype), constant(dtype, c))): 1} if out is None else out


def quotient_terms(ts: Terms, c: int, dtype: DType) -> Terms | None:
    """The sum `ts`, which does not wrap around, divided by c > 0 and rounded down."""
    if c == 1:
        return ts
    whole, rest, low, high = _split_best(ts, c)
    if high < c:
        return whole
    if not fits(dtype, low, high):
        return None
    if (parts := _coarse_part(rest, c)) is not None:  # (coarse*g + fine) // (n*g) = coarse // n
        coarse, _, g = parts
        return plus(whole, _quotient(coarse, c // g, dtype))
    inner = next(iter(rest))
    if inner is not None and rest[inner] == 1 and len(rest) - (None in rest) == 1:
        k = rest.get(None, 0)
        x, a = inner.src if inner.op in (Ops.IDIV, Ops.MOD) else (None, None)
        a = None if a is None else value_of(a)
        if a is not None and a > 0 and inner.op is Ops.IDIV:  # (x//a + k) // c = (x + k*a) // (a*c)
            ts = plus(exact_terms(x), {None: k * a})
            if fits(dtype, 0, a * c) and fits(dtype, *span(ts)):
                return plus(whole, _quotient(ts, a * c, dtype))
        if a is not None and a > 0 and inner.op is Ops.MOD and a % c == 0 and not k:  # x%(c*n)//c = x//c%n
            return plus(whole, _remainder(_quotient(exact_terms(x), c, dtype), a // c, dtype))
    if not whole:
        return None if rest == ts else {UOp(Ops.IDIV, dtype, (total(rest, dtype), constant(dtype, c))): 1}
    return plus(whole, _quotient(rest, c, dtype))


def remainder_terms(ts: Terms, c: int, dtype: DType) -> Terms | None:
    """What is left over by quotient_terms: in 0..c-1."""
    if c == 1:
        return {}
    for t, f in ts.items():  # (x%a*f + …) % c = (x*f + …) % c  where c divides a*f
        if t is not None and t.op is Ops.MOD and (a := value_of(t.src[1])) is not None and a > 0 and f * a % c == 0:
            inside = plus({s: g for s, g in ts.items() if s is not t}, scaled(exact_terms(t.src[0]), f))
            if fits(dtype, *span(inside)):
                return _remainder(inside, c, dtype)
    whole, rest, low, high = _split_best(ts, c)
    if high < c:
        return rest
    if not fits(dtype, low, high):
        return None
    if (parts := _coarse_part(rest, c)) is not None:  # (coarse*g + fine) % (n*g) = coarse%n*g + fine
        coarse, fine, g = parts
        return plus(scaled(_remainder(coarse, c // g, dtype), g), fine)
    return _remainder(rest, c, dtype) if whole else None


def divide(u: UOp) -> UOp | None:
    """IDIV and MOD of integers."""
    x, d = u.src
    dtype, is_div = u.dtype, u.op is Ops.IDIV
    if (c := value_of(d)) is None:
        return divide_by_symbol(u)
    if c == 0:
        return u.const_like(0)
    ts = exact_terms(x)
    if c < 0:  # x // -c = -x // c   and   x % -c = -(-x % c)
        ts, c = scaled(ts, -1), -c
        if not fits(dtype, *span(ts)) or not fits(dtype, c, c):
            return None
        out = _quotient(ts, c, dtype) if is_div else scaled(_remainder(ts, c, dtype), -1)
        return total(out, dtype)
    found = quotient_terms(ts, c, dtype) if is_div else remainder_terms(ts, c, dtype)
    if found is None:
        return None
    out = total(found, dtype)
    return u.const_like(out.arg) if out.op is Ops.CONST and u.shape else out


def divide_by_symbol(u: UOp) -> UOp | None:
    """x // d and x % d for a d > 0 that is not a constant, such as a symbolic size."""
    x, d = u.src
    if d.vmin <= 0:
        return None
    dtype, ts = u.dtype, exact_terms(x)
    (unit, scale), *others = terms(d).items()
    if others or unit is None:
        unit, scale = d, 1
    factors = Counter(product_factors(unit))
    whole, rest = {}, {}
    for t, f in ts.items():
        inside = Counter(product_factors(t)) if t is not None else Counter()
        if inside >= factors and f % scale == 0 and fits(dtype, *product_span(inside)):
            left = [*(inside - factors).elements()]
            whole = plus(whole, {product(left, dtype) if left else None: f // scale})
        else:
            rest[t] = f
    low, _ = span(rest)
    if low >= 0 and span(plus(terms(d), scaled(largest(rest), -1)))[0] > 0:
        return total(whole if u.op is Ops.IDIV else rest, dtype)
    if not whole:
        return None
    remaining = UOp(u.op, dtype, (total(rest, dtype), d))
    return total(plus(whole, {remaining: 1}), dtype) if u.op is Ops.IDIV else remaining


def largest(ts: Terms) -> Terms:
    """An upper bound of a sum, in which symbolic sizes stay: i over range(n) is at most n - 1."""
    out: Terms = {None: 0}
    for t, f in ts.items():
        if t is None:
            out = plus(out, {None: f})
        elif f > 0 and t.op is Ops.RANGE:
            out = plus(out, plus(scaled(terms(t.src[0]), f), {None: -f}))
        else:
            out = plus(out, {None: f * (t.vmax if f > 0 else t.vmin)})
    return out


# ---- products ---------------------------------------------------------------------------------


def product_factors(u: UOp) -> list[UOp]:
    return [f for s in u.src for f in product_factors(s)] if u.op is Ops.MUL else [u]


def product_span(factors: Counter[UOp]) -> tuple[int, int]:
    """The smallest and largest value of a product of integers that does not wrap around."""
    out = 1, 1
    for f in factors.elements():
        out = corners(operator.mul, out, f.bounds)
    return out


def product(factors: list[UOp], dtype: DType) -> UOp:
    first, *rest = sorted(factors, key=order)
    for f in rest:
        first = UOp(Ops.MUL, dtype, (first, f))
    return first


def multiply(u: UOp) -> UOp:
    """MUL: a constant goes into the factors of a sum; other factors are put in order."""
    if value_of(u.src[1]) is not None or value_of(u.src[0]) is not None:
        return canonical_sum(u)
    scale, factors = 1, []
    for s in u.src:
        for f in product_factors(s):
            if (c := value_of(f)) is not None:
                scale *= c
            else:
                factors.append(f)
    if len(factors) > MOST_TERMS:
        return u
    return total({product(factors, u.dtype): scale} if scale else {}, u.dtype)


# ---- order ------------------------------------------------------------------------------------


def negated(u: UOp) -> UOp:
    """not u"""
    if u.op is Ops.CMPNE and u.src[1].op is Ops.CONST and u.src[1].arg is True:
        return u.src[0]
    if u.op is Ops.CONST:
        return u.const_like(not u.arg)
    return UOp(Ops.CMPNE, u.dtype, (u, UOp.const(u.dtype, True)))


def is_negated(u: UOp) -> bool:
    return u.op is Ops.CMPNE and u.src[1].op is Ops.CONST and u.src[1].arg is True


def sides(u: UOp) -> tuple[Terms, int]:
    """Of a comparison a ? b of integers: (terms of a - b without the constant, constant of b - a)."""
    a, b = u.src
    difference = plus(exact_terms(a), scaled(exact_terms(b), -1))
    return difference, -difference.pop(None, 0)


def both_sides(ts: Terms, c: int, dtype: DType) -> tuple[UOp, UOp] | None:
    """ts ? c with what is subtracted moved to the right; None where a side could wrap around."""
    left = {t: f for t, f in ts.items() if f > 0}
    right = plus({t: -f for t, f in ts.items() if f < 0}, {None: c})
    if not left:
        left, right = {}, right
    if not fits(dtype, *span(left)) or not fits(dtype, *span(right)):
        return None
    return total(left, dtype), total(right, dtype)


def less(u: UOp) -> UOp | None:
    """a < b of integers."""
    dtype = u.src[0].dtype
    ts, c = sides(u)
    low, high = span(ts)
    if high < c or low >= c:
        return u.const_like(high < c)
    g = math.gcd(*ts.values())
    if g > 1:  # x*g < c  is  x < ceil(c/g)
        ts, c = {t: f // g for t, f in ts.items()}, -(-c // g)
    if all(f < 0 for f in ts.values()):  # -x < c  is  not x < 1-c
        ts, c = scaled(ts, -1), 1 - c
        out = _less(ts, c, dtype)
        return None if out is None else negated(out)
    return _less(ts, c, dtype)


def _less(ts: Terms, c: int, dtype: DType) -> UOp | None:
    for g in sorted({abs(f) for f in ts.values()} - {1}, reverse=True):  # x*g + fine < c, by x alone
        fine = {t: f for t, f in ts.items() if f % g}
        low, high = span(fine)
        if fine and len(fine) < len(ts) and -((low - c) // g) == -((high - c) // g):
            ts, c = {t: f // g for t, f in ts.items() if f % g == 0}, -((low - c) // g)
            break
    if len(ts) == 1:
        (t, f), = ts.items()
        if f == 1 and t.op is Ops.IDIV and (a := value_of(t.src[1])) is not None and a > 0:  # x//a < c
            inner, k = sides(UOp(Ops.CMPLT, dtypes.bool, (t.src[0], constant(dtype, 0))))
            if fits(dtype, c * a + k, c * a + k):
                return less(UOp(Ops.CMPLT, dtypes.bool.vec(dtype.count), (t.src[0], constant(dtype, c * a))))
    if (pair := both_sides(ts, c, dtype)) is None:
        return None
    return UOp(Ops.CMPLT, dtypes.bool.vec(dtype.count), pair)


def equal(u: UOp) -> UOp | None:
    """a == b and a != b of integers."""
    dtype, is_equal = u.src[0].dtype, u.op is Ops.CMPEQ
    ts, c = sides(u)
    low, high = span(ts)
    if not low <= c <= high:
        return u.const_like(not is_equal)
    if not ts:
        return u.const_like(is_equal)
    g = math.gcd(*ts.values())
    if c % g:
        return u.const_like(not is_equal)
    if ts[min(ts, key=order)] < 0:
        g = -g
    ts, c = {t: f // g for t, f in ts.items()}, c // g
    first = next(iter(ts))
    if len(ts) == 1 and first.op is Ops.CAST and dtypes.is_bool(first.src[0].dtype):  # c is 0 or 1
        return first.src[0] if bool(c) is is_equal else negated(first.src[0])
    pair = both_sides(ts, c, dtype)
    return None if pair is None else UOp(u.op, u.dtype, pair)


# ---- conditions -------------------------------------------------------------------------------


def conjuncts(condition: UOp) -> list[UOp]:
    """The conditions that AND joins, in the order they are written."""
    out, pending = [], [condition]
    while pending:
        u = pending.pop()
        if u.op is Ops.AND:
            pending += reversed(u.src)
        elif not (u.op is Ops.CONST and u.arg is True):
            out.append(u)
    return out


def all_of(conditions: Iterable[UOp]) -> UOp:
    """The AND of conditions, simplified."""
    out = None
    for c in conditions:
        out = c if out is None else out & c
    return UOp.const(dtypes.bool, True) if out is None else simplify(out)


def implies(condition: UOp, conjunct: UOp) -> bool:
    """Whether `conjunct` certainly holds where `condition` does."""
    if conjunct.op is Ops.CONST:
        return bool(conjunct.arg)
    given = conjuncts(simplify(condition))
    return all(any(_implies(g, c) for g in given) for c in conjuncts(simplify(conjunct)))


def limit(u: UOp) -> tuple[UOp, bool, int] | None:
    """`x < c` as (x, True, c) and `not x < c` as (x, False, c), on integers."""
    below = not is_negated(u)
    u = u if below else u.src[0]
    if u.op is Ops.CMPLT and dtypes.is_int(u.src[0].dtype) and (c := value_of(u.src[1])) is not None:
        return u.src[0], below, c
    return None


def _implies(a: UOp, b: UOp) -> bool:
    """Of two simple conditions: whether b holds wherever a does."""
    if a is b:
        return True
    p, q = limit(a), limit(b)
    if p is None or q is None or p[0] is not q[0] or p[1] is not q[1]:
        return False
    return p[2] <= q[2] if p[1] else p[2] >= q[2]


def _flattened(op: Ops, u: UOp) -> list[UOp] | None:
    """What a chain of AND or OR joins, each once; None where that is too much."""
    parts: dict[UOp, None] = {}
    pending = [u]
    while pending:
        x = pending.pop()
        if x.op is op:
            pending += reversed(x.src)
        else:
            parts[x] = None
        if len(parts) + len(pending) > MOST_TERMS:
            return None
    return list(parts)


def conjunction(u: UOp) -> UOp | None:
    """AND of booleans: sorted, nothing twice, nothing that follows from the rest."""
    if (parts := _flattened(Ops.AND, u)) is None:
        return None
    kept: dict[object, tuple[UOp, int]] = {}  # of the limits on one value, the tightest on each side
    for part in parts:
        if part.op is Ops.CONST:
            if not part.arg:
                return u.const_like(False)
        elif (known := limit(part)) is None:
            if negated(part) in parts:
                return u.const_like(False)
            kept[part] = part, 0
        else:
            x, below, c = known
            other = kept.get((x, not below))
            if other is not None and (c <= other[1] if below else other[1] <= c):  # below c and not below c
                return u.const_like(False)
            same = kept.get((x, below))
            if same is None or (c < same[1] if below else c > same[1]):
                kept[x, below] = part, c
    return _joined(Ops.AND, [part for part, _ in kept.values()], u)


def disjunction(u: UOp) -> UOp | None:
    """OR of booleans, likewise: the loosest limit on each side."""
    if (parts := _flattened(Ops.OR, u)) is None:
        return None
    kept: dict[object, tuple[UOp, int]] = {}
    for part in parts:
        if part.op is Ops.CONST:
            if part.arg:
                return u.const_like(True)
        elif (known := limit(part)) is None:
            if negated(part) in parts:
                return u.const_like(True)
            kept[part] = part, 0
        else:
            x, below, c = known
            other = kept.get((x, not below))
            if other is not None and (c >= other[1] if below else other[1] >= c):  # below c or not below c
                return u.const_like(True)
            same = kept.get((x, below))
            if same is None or (c > same[1] if below else c < same[1]):
                kept[x, below] = part, c
    return _joined(Ops.OR, [part for part, _ in kept.values()], u)


def _joined(op: Ops, parts: list[UOp], u: UOp) -> UOp:
    if not parts:
        return u.const_like(op is Ops.AND)
    first, *rest = sorted(parts, key=order)
    for c in rest:
        first = UOp(op, u.dtype, (first, c))
    return first


def equal_booleans(u: UOp) -> UOp | None:
    """a == b and a != b of booleans; `a != True` is how "not a" is written."""
    a, b = sorted(u.src, key=order)
    same = u.op is Ops.CMPEQ
    while is_negated(a):
        a, same = a.src[0], not same
    while is_negated(b):
        b, same = b.src[0], not same
    if a is b:
        return u.const_like(same)
    for x, y in ((a, b), (b, a)):
        if y.op is Ops.CONST:
            return x if y.arg is same else None if is_negated(u) else negated(x)
    return UOp(Ops.CMPEQ if same else Ops.CMPNE, u.dtype, (a, b))


# ---- what follows from a condition --------------------------------------------------------------

USES_BOUNDS = {Ops.IDIV, Ops.MOD, Ops.CDIV, Ops.CMOD, Ops.MAX, *GroupOp.Comparison}


def known_limits(conjunct: UOp) -> tuple[Terms, int, int] | None:
    """The bounds that a comparison of integers puts on a sum: `i + j < 4` gives (i + j, its own
    smallest value, 3)."""
    positive = not is_negated(conjunct)
    u = conjunct if positive else conjunct.src[0]
    if u.op not in (Ops.CMPLT, Ops.CMPEQ) or not dtypes.is_int(u.src[0].dtype):
        return None
    ts, c = sides(u)
    low, high = span(ts)
    if u.op is Ops.CMPEQ:
        return (ts, c, c) if positive else None
    return (ts, low, min(high, c - 1)) if positive else (ts, max(low, c), high)


def simplify_given(u: UOp, condition: UOp) -> UOp:
    """`u`, simplified with the bounds that `condition` puts on parts of it; equal to `u` wherever
    the condition holds. Under `i + k < 8`, `(i + k) % 8` is `i + k`."""
    u = simplify(u)
    given = conjuncts(simplify(condition))
    parts = u.toposort()
    if not given or not any(x.op in USES_BOUNDS or x in given for x in parts):
        return u
    limits: dict[tuple, tuple[Terms, int, int]] = {}
    for ts, low, high in filter(None, map(known_limits, given)):
        key = tuple(ts.items())
        if (other := limits.get(key)) is not None:
            low, high = max(low, other[1]), min(high, other[2])
        limits[key] = ts, low, high
    # a stand-in for each sum whose bounds have become tighter
    standins = [(ts, UOp.variable(f"given{n}", low, high)) for n, (ts, low, high) in enumerate(limits.values())
                if low <= high and (low, high) != span(ts)]

    def stand_in(x: UOp) -> UOp:
        found = terms(x)
        for ts, v in standins:
            k, odd = divmod(found.get(t := next(iter(ts)), 0), ts[t])
            if k and not odd and all(found.get(s) == k * f for s, f in ts.items()):
                found = plus({s: f for s, f in found.items() if s not in ts}, {v.cast(x.dtype): k})
        return total(found, x.dtype)

    done: dict[UOp, UOp] = {}
    for x in parts:
        src = tuple(done[s] for s in x.src)
        if x.op in USES_BOUNDS:
            src = tuple(stand_in(s) if dtypes.is_int(s.dtype) else s for s in src)
        done[x] = UOp.const(dtypes.bool, True) if x in given else x.replace(src=src)
    out = simplify(done[u])
    return simplify(out.substitute({v: total(ts) for ts, v in standins}))


# ---- the tables -------------------------------------------------------------------------------


def fold(u: UOp) -> UOp | None:
    """An op on constants."""
    if any(isinstance(s.arg, (bool, int, float)) is False for s in u.src) or u.op is Ops.BITCAST:
        return None
    return u.const_like(exec_alu(u.op, u.dtype, [s.arg for s in u.src]))


def one_value(u: UOp) -> UOp | None:
    low, high = u.bounds
    return u.const_like(low) if low == high else None


def maximum(u: UOp) -> UOp | None:
    """MAX of integers, by the bounds of the difference."""
    a, b = u.src
    low, high = span(plus(exact_terms(a), scaled(exact_terms(b), -1)))
    if low >= 0:
        return a
    if high <= 0:
        return b
    return UOp(Ops.MAX, u.dtype, (b, a)) if order(b) < order(a) else None


def drop_closed_constants(u: UOp) -> UOp | None:
    """A RANGE of size 1 has become 0, and needs no loop."""
    first = FIRST_RANGE[u.op]
    ranges = tuple(r for r in u.src[first:] if r.op is not Ops.CONST)
    if len(ranges) == len(u.src) - first:
        return None
    return u.src[0] if u.op is Ops.REDUCE and not ranges else u.replace(src=u.src[:first] + ranges)


def cast_of_cast(u: UOp, x: UOp) -> UOp | None:
    """A cast of a cast, where the first loses nothing (bool to int to float), or changes nothing
    within the bounds of x."""
    middle = u.src[0].dtype
    if can_lossless_cast(x.dtype, middle):
        return x.cast(u.dtype)
    if dtypes.is_int(x.dtype) and dtypes.is_int(middle):
        if fits(middle, *x.bounds) or (dtypes.is_int(u.dtype) and u.dtype.itemsize <= middle.itemsize):
            return x.cast(u.dtype)
    return None


INTS, BOOL, FLOATS = set(dtypes.ints), dtypes.bool, set(dtypes.floats)
x, y, z, c = UPat.var("x"), UPat.var("y"), UPat.var("z"), UPat.var("c")
true, false = UPat.const(BOOL, True), UPat.const(BOOL, False)


SUMS = {Ops.ADD, Ops.SUB, Ops.NEG, Ops.MUL}  # of integers: folded as sums, see canonical_sum


# of any dtype; exact for NaN, infinities and -0.0, since nothing is computed
common_rules = PatternMatcher([
    (UPat(GroupOp.Elementwise - SUMS, src=UPat(Ops.CONST), name="u"), fold),
    (UPat(SUMS, FLOATS | {BOOL}, src=UPat(Ops.CONST), name="u"), fold),
    (UPat(Ops.WHERE, src=(true, x, y)), lambda x, y: x),
    (UPat(Ops.WHERE, src=(false, x, y)), lambda x, y: y),
    (UPat(Ops.WHERE, src=(c, x, x)), lambda c, x: x),
    (UPat(Ops.WHERE, src=(c, UPat(Ops.WHERE, src=(c, x, y)), z)), lambda c, x, y, z: c.where(x, z)),
    (UPat(Ops.WHERE, src=(c, x, UPat(Ops.WHERE, src=(c, y, z)))), lambda c, x, y, z: c.where(x, z)),
    (UPat(Ops.WHERE, src=(c, UPat(Ops.WHERE, src=(UPat.var("d"), x, y)), y)),
     lambda c, d, x, y: (c & d).where(x, y)),
    (UPat(Ops.WHERE, src=(UPat(Ops.CMPNE, src=(c, true)), x, y)), lambda c, x, y: c.where(y, x)),
    (UPat(Ops.MAX, src=(x, x)), lambda x: x),
    (UPat(Ops.CAST, name="u", src=(x,)), lambda u, x: x if u.dtype is x.dtype else None),
    (UPat(Ops.CAST, name="u", src=(UPat(Ops.CAST, src=(x,)),)), cast_of_cast),
    (UPat(Ops.GEP, name="u", src=(UPat(Ops.VECTORIZE, name="v"),)), lambda u, v: v.src[u.arg]),
])

index_rules = PatternMatcher([
    (UPat((Ops.ADD, Ops.SUB, Ops.NEG), dtype=INTS, name="u"), canonical_sum),
    (UPat(Ops.MUL, dtype=INTS, name="u"), multiply),
    (UPat((Ops.IDIV, Ops.MOD), dtype=INTS, name="u"), divide),
    (UPat(Ops.MAX, dtype=INTS, name="u"), maximum),
    (UPat((Ops.RANGE, Ops.DEFINE_VAR, Ops.SPECIAL), name="u"), one_value),
    (UPat(Ops.CONST, dtype=INTS, name="u"), lambda u: constant(u.dtype, u.arg) if u.arg is not Invalid else None),
    (UPat(tuple(FIRST_RANGE), name="u"), drop_closed_constants),
    (UPat(Ops.BIND, src=(UPat(Ops.CONST), UPat.cvar("c"))), lambda c: c),
    (UPat(Ops.CMPLT, src=(UPat.var(dtype=INTS), UPat.var()), name="u"), less),
    (UPat((Ops.CMPEQ, Ops.CMPNE), src=(UPat.var(dtype=INTS), UPat.var()), name="u"), equal),
    # booleans
    (UPat(Ops.AND, dtype=BOOL, name="u"), conjunction),
    (UPat(Ops.OR, dtype=BOOL, name="u"), disjunction),
    (UPat((Ops.MUL, Ops.ADD, Ops.MAX), dtype=BOOL, src=(x, y), name="u"),
     lambda u, x, y: x & y if u.op is Ops.MUL else x | y),
    (UPat(Ops.NEG, dtype=BOOL, src=(x,)), lambda x: negated(x)),
    (UPat(Ops.XOR, dtype=BOOL, src=(x, y)), lambda x, y: x.ne(y)),
    (UPat((Ops.CMPEQ, Ops.CMPNE), src=(UPat.var(dtype=BOOL), UPat.var()), name="u"), equal_booleans),
    (UPat(Ops.CMPLT, src=(UPat.var("x", BOOL), y)), lambda x, y: negated(x) & y),
    (UPat(Ops.CMPNE, src=(UPat(Ops.CMPNE, src=(x, true)), true)), lambda x: x),
    (UPat(Ops.CMPNE, src=(UPat(Ops.CMPNE, src=(x, y), name="u"), true)),
     lambda u, x, y: None if is_negated(u) else x.eq(y)),
    (UPat(Ops.CMPNE, src=(UPat(Ops.CMPEQ, src=(x, y)), true)), lambda x, y: x.ne(y)),
    (UPat(Ops.WHERE, dtype=BOOL, src=(c, x, y)),
     lambda c, x, y: (c & x if y.op is Ops.CONST and y.arg is False else
                      c | y if x.op is Ops.CONST and x.arg is True else
                      negated(c) & y if x.op is Ops.CONST else
                      negated(c) | x if y.op is Ops.CONST else None)),
    # bits
    (UPat((Ops.AND, Ops.OR), dtype=INTS, src=(x, x)), lambda x: x),
    (UPat(Ops.AND, dtype=INTS, src=[x, UPat.cvar("c")]),
     lambda x, c: x if x.vmin >= 0 and x.vmax <= c.arg and c.arg & (c.arg + 1) == 0 else None),
    (UPat(Ops.TRUNC, dtype=INTS, src=(x,)), lambda x: x),
    (UPat((Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR), dtype=INTS, src=(x, UPat.const(None, 0))), lambda x: x),
    (UPat(Ops.AND, dtype=INTS, src=[x, UPat.const(None, 0)]), lambda x: x.const_like(0)),
    # truncating division is floor division where nothing is negative
    (UPat(Ops.CDIV, dtype=INTS, src=(x, y)), lambda x, y: x // y if x.vmin >= 0 and y.vmin > 0 else None),
    (UPat(Ops.CMOD, dtype=INTS, src=(x, y)), lambda x, y: x % y if x.vmin >= 0 and y.vmin > 0 else None),
]) + common_rules

zero, one, minus_one = (UPat.const(FLOATS, value) for value in (0.0, 1.0, -1.0))


def by_power_of_two(x: UOp, c: UOp) -> UOp | None:
    """x / c = x * (1/c), where 1/c is exact."""
    if math.frexp(c.arg)[0] not in (0.5, -0.5) or c.arg == 0:
        return None
    inverse = truncate[c.dtype](1 / c.arg)
    return x * inverse if math.isfinite(inverse) and inverse * c.arg == 1 else None


def known_power(x: UOp, c: UOp) -> UOp | None:
    """x ** c for the exponents where multiplying is no less exact; x**0 is 1 for NaN too."""
    return {0: lambda: x.const_like(1), 1: lambda: x, 2: lambda: x * x, -1: x.reciprocal}.get(c.arg, lambda: None)()


# Each gives the very same bits for NaN, infinities, -0.0 and where something overflows, but for the
# first: -0.0 + 0 would be 0.0. (Which of several NaNs a NaN is does not count.)
value_rules = PatternMatcher([
    (UPat(Ops.ADD, src=[x, zero]), lambda x: x),
    (UPat(Ops.ADD, src=[x, UPat.const(FLOATS, -0.0)]), lambda x: x),
    (UPat(Ops.SUB, src=(x, zero)), lambda x: x),
    (UPat(Ops.MUL, src=[x, one]), lambda x: x),
    (UPat(Ops.FDIV, src=(x, one)), lambda x: x),
    (UPat(Ops.FDIV, src=(x, UPat.cvar("c", FLOATS))), by_power_of_two),
    (UPat(Ops.POW, src=(x, UPat.cvar("c", FLOATS))), known_power),
    (UPat(Ops.MUL, src=[UPat(Ops.MUL, src=[x, minus_one]), minus_one]), lambda x: x),
    (UPat(Ops.NEG, dtype=FLOATS, src=(UPat(Ops.NEG, src=(x,)),)), lambda x: x),
    (UPat(Ops.MAX, src=[x, UPat.const(FLOATS, -math.inf)]), lambda x: x),
    (UPat(Ops.TRUNC, name="u", src=(UPat(Ops.TRUNC),)), lambda u: u.src[0]),
    (UPat(Ops.CMPLT, src=(UPat.var("x", FLOATS), x)), lambda x: x.const_like(1).ne(1)),
    # constants to the right
    (UPat((Ops.ADD, Ops.MUL), dtype=FLOATS, src=(UPat.cvar("c"), x), name="u"),
     lambda u, c, x: None if x.op is Ops.CONST else x.alu(u.op, c)),
])

# Equal in the algebra of real numbers only. Each says for which x the result differs.
relaxed = PatternMatcher([
    (UPat(Ops.LOG2, src=(UPat(Ops.EXP2, src=(x,)),)), lambda x: x),  # |x| large: overflow; rounding
    (UPat(Ops.EXP2, src=(UPat(Ops.LOG2, src=(x,)),)), lambda x: x),  # x < 0 was NaN; rounding
    (UPat(Ops.RECIP, src=(UPat(Ops.RECIP, src=(x,)),)), lambda x: x),  # rounding
    (UPat(Ops.MUL, src=(UPat(Ops.SQRT, name="r", src=(x,)), UPat.var("r"))), lambda r, x: x),  # x < 0 was NaN
    (UPat(Ops.MUL, src=[x, UPat(Ops.RECIP, src=(x,))]), lambda x: x.const_like(1)),  # 0, inf, NaN
    (UPat(Ops.FDIV, dtype=FLOATS, src=(x, x)), lambda x: x.const_like(1)),  # 0, inf, NaN
    (UPat(Ops.FDIV, src=(UPat(Ops.MUL, dtype=FLOATS, src=[x, y]), y)), lambda x, y: x),  # 0, inf, NaN
    (UPat(Ops.MUL, src=[UPat(Ops.FDIV, dtype=FLOATS, src=(x, y)), y]), lambda x, y: x),  # 0, inf, NaN
    (UPat(Ops.FDIV, src=(x, UPat.cvar("c", FLOATS))), lambda x, c: x * (1 / c.arg) if c.arg else None),  # rounding
    (UPat(Ops.MUL, name="u", src=[x, zero]), lambda u, x: u.const_like(0)),  # inf, NaN, -0.0
    (UPat(Ops.ADD, name="u", src=[UPat.var("x", FLOATS), UPat(Ops.MUL, src=[x, minus_one])]),
     lambda u, x: u.const_like(0)),  # inf, NaN
    (UPat(Ops.SUB, name="u", src=(UPat.var("x", FLOATS), x)), lambda u, x: u.const_like(0)),  # inf, NaN
    (UPat(Ops.MUL, src=(UPat(Ops.MUL, src=(x, UPat.cvar("a", FLOATS))), UPat.cvar("b"))),
     lambda x, a, b: x * (a * b)),  # rounding, overflow of either product
    (UPat(Ops.ADD, src=(UPat(Ops.ADD, src=(x, UPat.cvar("a", FLOATS))), UPat.cvar("b"))),
     lambda x, a, b: x + (a + b)),  # rounding, overflow
])

symbolic_simple = common_rules + value_rules
sym = index_rules + value_rules
