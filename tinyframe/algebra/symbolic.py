"""Algebra: tables of rules that rewrite a node to a simpler one of the same value, and their uses.

| table | what it holds |
|---|---|
| `index_rules` | integers and booleans, as they stand in indices and conditions; always on |
| `value_rules` | floats; each row gives the same bits for NaN, infinities, -0.0 and on overflow |
| `sym` | both |
| `symbolic_simple` | what holds for values of any kind: folding, identities, selection |
| `relaxed` | floats as if they were real numbers; on with RELAXED=1, before ops are decomposed |

The algebra of integer sums, which is most of it, is in `sums.py`. A condition (of a PAD, a guard)
is a conjunction of comparisons; `simplify_given` uses its bounds on an index.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable

from tinyframe.algebra.sums import (
    Terms,
    bounds_of,
    canonical_sum,
    chain,
    constant,
    equal,
    from_terms,
    is_negated,
    less,
    maximum,
    multiply,
    narrowed,
    negated,
    order,
    plus,
    sides,
    simplify_division,
    terms,
    value_of,
    without_not,
)
from tinyframe.dtype import DType, Invalid, can_lossless_cast, dtypes, truncate
from tinyframe.rewrite.matcher import PatternMatcher, UPat, graph_rewrite
from tinyframe.uop.bounds import fits
from tinyframe.uop.evaluate import exec_alu
from tinyframe.uop.node import FIRST_RANGE, GroupOp, Ops, UOp

__all__ = ["all_of", "conjuncts", "index_rules", "is_multiple", "known_limits", "relaxed",
           "simplify", "simplify_given", "sym", "symbolic_simple", "terms",
           "from_terms", "value_rules"]  # fmt: skip


@UOp.simplify.by
def simplify(u: UOp) -> UOp:
    """The same value with the rules of `sym` applied until none matches; each node is done once."""
    known = u.__dict__.get("_simplified")
    if known is None:
        return graph_rewrite(u, sym, name="simplify", memo="_simplified")
    return u if known is True else known


def forget_simplified() -> None:
    """Clears the memoized results of simplify(), so that its steps can be shown even for nodes that
    were simplified before."""
    for entry in list(UOp._table.values()):
        if (u := entry()) is not None:
            u.__dict__.pop("_simplified", None)


# ---- conditions ---------------------------------------------------------------------------------


def conjuncts(condition: UOp) -> list[UOp]:
    """The conditions joined by AND, in the order they are written; an empty list for True."""
    parts = chain(condition, Ops.AND, most=math.inf)
    return [u for u in parts if not (u.op is Ops.CONST and u.arg is True)]


def all_of(conditions: Iterable[UOp]) -> UOp:
    """The AND of conditions, simplified; True if there are none."""
    return simplify(functools.reduce(lambda x, y: x & y, conditions, UOp.const(dtypes.bool, True)))


def limit(u: UOp) -> tuple[UOp, bool, int] | None:
    """`x < c` as (x, True, c) and `not x < c` as (x, False, c), on integers; else None."""
    u, below = without_not(u)
    if u.op is Ops.CMPLT and dtypes.is_int(u.src[0].dtype):
        if (c := value_of(u.src[1])) is not None:
            return u.src[0], below, c
    return None


def junction(u: UOp) -> UOp | None:
    """AND and OR of booleans: sorted, without duplicates; of several limits on one value AND keeps
    the tightest on each side, OR the loosest."""
    parts = dict.fromkeys(chain(u, u.op))
    if u in parts:  # too long
        return None
    is_and = u.op is Ops.AND
    decided = u.const_like(not is_and)  # one False makes an AND False, one True an OR True
    kept: dict[object, tuple[UOp, int]] = {}
    for part in parts:
        if part.op is Ops.CONST:
            if part.arg is not is_and:
                return decided
        elif (known := limit(part)) is None:
            if negated(part) in parts:
                return decided
            kept[part] = part, 0
        else:
            x, below, c = known
            if (other := kept.get((x, not below))) is not None:
                under, over = (c, other[1]) if below else (other[1], c)  # x < under, x >= over
                if under <= over if is_and else under >= over:
                    return decided
            same = kept.get((x, below))
            if same is None or (c < same[1] if below is is_and else c > same[1]):
                kept[x, below] = part, c
    if not kept:
        return u.const_like(is_and)
    left = sorted((part for part, _ in kept.values()), key=order)
    return functools.reduce(lambda x, y: UOp(u.op, u.dtype, (x, y)), left)


def equal_booleans(u: UOp) -> UOp | None:
    """a == b and a != b of booleans; "not a" is written `a != True`."""
    (a, is_a), (b, is_b) = map(without_not, sorted(u.src, key=order))  # a constant comes last
    same = (u.op is Ops.CMPEQ) is (is_a is is_b)
    if a is b:
        return u.const_like(same)
    if b.op is Ops.CONST:
        return a if b.arg is same else None if is_negated(u) else negated(a)
    return UOp(Ops.CMPEQ if same else Ops.CMPNE, u.dtype, (a, b))


def is_multiple(u: UOp, n: int) -> bool:
    """Whether an integer is known to be a multiple of n, as `min(32*i, 268) + 8*j` is of 4."""
    return all(
        factor % n == 0
        or (t is not None and t.op in (Ops.MIN, Ops.MAX) and all(is_multiple(s, n) for s in t.src))
        # of a power of two, although the sum may have wrapped around
        or (t is not None and t.op is Ops.BITCAST and n & (n - 1) == 0 and is_multiple(t.src[0], n))
        for t, factor in terms(u).items()
    )


# ---- what follows from a condition --------------------------------------------------------------

USES_BOUNDS = {Ops.IDIV, Ops.MOD, Ops.CDIV, Ops.CMOD, Ops.MAX, *GroupOp.Comparison}
_DONE_ANYWAY = (Ops.LOAD, Ops.REDUCE, Ops.SCAN)


def known_limits(conjunct: UOp) -> tuple[Terms, int, int] | None:
    """The sum that a comparison of integers limits, and its bounds if the comparison holds:
    `i + j < 4` gives (i + j, its own lower bound, 3)."""
    u, positive = without_not(conjunct)
    if u.op not in (Ops.CMPLT, Ops.CMPEQ) or not dtypes.is_int(u.src[0].dtype):
        return None
    ts, c = sides(u)
    low, high = bounds_of(ts)
    if u.op is Ops.CMPEQ:
        return (ts, c, c) if positive else None
    return (ts, low, min(high, c - 1)) if positive else (ts, max(low, c), high)


@UOp.simplify_given.by
def simplify_given(u: UOp, condition: UOp) -> UOp:
    """`u`, simplified with the bounds that `condition` puts on parts of it; equal to `u` wherever
    the condition holds. Under `i + k < 8`, `(i + k) % 8` is `i + k`.

    What it reads or reduces stays as it is, since that runs where the condition fails, too."""
    u = simplify(u)
    given = conjuncts(simplify(condition))
    decided = dict.fromkeys(given, True) | {c.src[0]: False for c in given if is_negated(c)}
    parts = u.toposort(gate=lambda x: x.op not in _DONE_ANYWAY)
    if not given or not any(x.op in USES_BOUNDS or x in decided for x in parts):
        return u
    placeholders = _placeholders(given)
    done: dict[UOp, UOp] = {}
    for x in parts:
        src = x.src if x.op in _DONE_ANYWAY else tuple([done[s] for s in x.src])
        if x.op in USES_BOUNDS:
            src = tuple([_with_placeholders(s, placeholders) for s in src])
        done[x] = x.const_like(decided[x]) if x in decided else x.replace(src=src)
    back = {v: from_terms(ts, v.dtype) for ts, v in placeholders}
    return simplify(simplify(done[u]).substitute(back))


def _placeholders(given: list[UOp]) -> list[tuple[Terms, UOp]]:
    """For each sum whose bounds are tighter under the conditions, a Variable with those bounds."""
    limits: dict[tuple, tuple[Terms, int, int]] = {}
    for ts, low, high in filter(None, map(known_limits, given)):
        if (known := limits.get(key := tuple(ts.items()))) is not None:
            low, high = max(low, known[1]), min(high, known[2])
        limits[key] = ts, low, high
    tighter = [(ts, low, high) for ts, low, high in limits.values()
               if low <= high and (low, high) != bounds_of(ts)]  # fmt: skip
    tighter.sort(key=lambda known: -len(known[0]))  # the longest sums first, the most specific
    return [(ts, UOp.variable(f"given{n}", low, high, _dtype_of(ts)))
            for n, (ts, low, high) in enumerate(tighter)]  # fmt: skip


def _dtype_of(ts: Terms) -> DType:
    """The dtype of a sum: the widest one of its terms, or int64 if the sum needs that."""
    dtype = max((t.dtype for t in ts if t is not None), key=lambda dtype: dtype.itemsize)
    return dtypes.long if dtype is dtypes.int and not fits(dtype, *bounds_of(ts)) else dtype


def _with_placeholders(x: UOp, placeholders: list[tuple[Terms, UOp]]) -> UOp:
    """A sum in which each known sum, or a multiple of it, is replaced by its placeholder."""
    if not dtypes.is_int(x.dtype):
        return x
    found = terms(x)
    for ts, v in placeholders:
        t = next(iter(ts))
        k, odd = divmod(found.get(t, 0), ts[t])
        there = all(found.get(s) == k * f for s, f in ts.items())
        holds = v.dtype is x.dtype or (v.dtype, x.dtype) == (dtypes.int, dtypes.long)
        if there and k and not odd and holds:
            found = plus({s: f for s, f in found.items() if s not in ts}, {v: k})
    return from_terms(found, x.dtype)


# ---- the tables ---------------------------------------------------------------------------------


def fold(u: UOp) -> UOp | None:
    """An op on constants."""
    if any(s.arg is Invalid for s in u.src):
        return None
    return u.const_like(exec_alu(u.op, u.dtype, [s.arg for s in u.src]))


def wrap(u: UOp) -> UOp | None:
    """-1 as an unsigned constant is the largest one."""
    return None if u.arg is Invalid else constant(u.dtype, u.arg)


def one_value(u: UOp) -> UOp | None:
    """A loop of exactly one iteration, or a Variable that can have only one value."""
    low, high = u.bounds
    size = u.src[0] if u.op is Ops.RANGE else u.arg[1] if u.op is Ops.SPECIAL else None
    may_not_run = isinstance(size, UOp) and size.vmin < 1
    return u.const_like(low) if low == high and not may_not_run else None


def drop_closed_constants(u: UOp) -> UOp | None:
    """REDUCE, STAGE and STORE: a RANGE of size 1 has become 0, and needs no loop; nor does SCAN."""
    if u.op is Ops.SCAN:
        return u.src[-2] if u.src[-1].op is Ops.CONST else None
    ranges = [r for r in u.own_ranges if r.op is not Ops.CONST]
    if len(ranges) == len(u.own_ranges):
        return None
    return u.src[0] if u.op is Ops.REDUCE and not ranges else u.with_ranges(*ranges)


def cast_of_cast(u: UOp, x: UOp) -> UOp | None:
    """A cast of a cast, if the first loses nothing that the second would have kept."""
    middle = u.src[0].dtype
    if can_lossless_cast(x.dtype, middle):
        return x.cast(u.dtype)
    if dtypes.is_int(x.dtype) and dtypes.is_int(middle):
        narrows = dtypes.is_int(u.dtype) and u.dtype.itemsize <= middle.itemsize
        return x.cast(u.dtype) if narrows or fits(middle, *x.bounds) else None
    return None


def by_power_of_two(x: UOp, c: UOp) -> UOp | None:
    """x / c = x * (1/c), if 1/c is exact."""
    if abs(math.frexp(c.arg)[0]) != 0.5:
        return None
    inverse = truncate[c.dtype](1 / c.arg)
    return x * inverse if inverse * c.arg == 1 else None


def known_power(x: UOp, c: UOp) -> UOp | None:
    """x ** c for the exponents where multiplication is as exact; x**0 is 1 even for NaN."""
    powers = {0: lambda: x.const_like(1), 1: lambda: x, 2: lambda: x * x, -1: x.reciprocal}
    return powers[c.arg]() if c.arg in powers else None


def floor_like(op: Ops):
    """A truncating division is a floor division if nothing is negative."""
    return lambda x, y: x.alu(op, y) if x.vmin >= 0 and y.vmin > 0 else None


def fits_in_mask(x: UOp, c: UOp) -> UOp | None:
    """x & 0b111 = x, if x is in 0..7."""
    is_mask = c.arg & (c.arg + 1) == 0
    return x if is_mask and 0 <= x.vmin and x.vmax <= c.arg else None


INTS, BOOL, FLOATS = set(dtypes.ints), dtypes.bool, set(dtypes.floats)
SUMS = {Ops.ADD, Ops.SUB, Ops.NEG, Ops.MUL}  # of integers these are folded by canonical_sum

x, y, z, c, d = (UPat.var(name) for name in "xyzcd")
true, false = UPat.const(BOOL, True), UPat.const(BOOL, False)
zero, one, minus_one = (UPat.const(FLOATS, value) for value in (0.0, 1.0, -1.0))
int_x, bool_x, float_x = UPat.var("x", INTS), UPat.var("x", BOOL), UPat.var("x", FLOATS)
float_c = UPat.cvar("c", FLOATS)


def where(condition: UPat, yes: UPat, no: UPat) -> UPat:
    """The pattern of a WHERE."""
    return UPat(Ops.WHERE, src=(condition, yes, no))


# fmt: off
# Rules that compute nothing, or fold constants: exact for NaN, infinities and -0.0.
common_rules = PatternMatcher([
    (UPat(GroupOp.Elementwise - SUMS - {Ops.BITCAST}, src=UPat(Ops.CONST), name="u"), fold),
    (UPat(SUMS, FLOATS | {BOOL}, src=UPat(Ops.CONST), name="u"), fold),
    (where(true, x, y), lambda x, y: x),
    (where(false, x, y), lambda x, y: y),
    (where(c, x, x), lambda c, x: x),
    (where(c, where(c, x, y), z), lambda c, x, y, z: c.where(x, z)),
    (where(c, x, where(c, y, z)), lambda c, x, y, z: c.where(x, z)),
    (where(c, where(d, x, y), y), lambda c, d, x, y: (c & d).where(x, y)),
    (where(c.ne(true), x, y), lambda c, x, y: c.where(y, x)),
    (UPat(Ops.MAX, src=(x, x)), lambda x: x),
    (UPat(Ops.CAST, name="u", src=(x,)), lambda u, x: x if u.dtype is x.dtype else None),
    (UPat(Ops.CAST, name="u", src=(UPat(Ops.CAST, src=(x,)),)), cast_of_cast),
    (UPat(Ops.GEP, name="u", src=(UPat(Ops.VECTORIZE, name="v"),)), lambda u, v: v.src[u.arg]),
])

index_rules = PatternMatcher([
    # sums of integers: sums.py
    (UPat({Ops.ADD, Ops.SUB, Ops.NEG}, INTS, name="u"), canonical_sum),
    (UPat(Ops.MUL, INTS, name="u"), multiply),
    (UPat({Ops.IDIV, Ops.MOD}, INTS, name="u"), simplify_division),
    (UPat(Ops.MAX, INTS, name="u"), maximum),
    (UPat(Ops.CMPLT, src=(int_x, y), name="u"), lambda u, x, y: less(u)),
    (UPat({Ops.CMPEQ, Ops.CMPNE}, src=(int_x, y), name="u"), lambda u, x, y: equal(u)),
    (UPat(Ops.CDIV, INTS, src=(x, y)), floor_like(Ops.IDIV)),
    (UPat(Ops.CMOD, INTS, src=(x, y)), floor_like(Ops.MOD)),
    # leaves, and ops that own ranges
    (UPat(Ops.CONST, INTS, name="u"), wrap),
    (UPat({Ops.RANGE, Ops.DEFINE_VAR, Ops.SPECIAL}, name="u"), one_value),
    (UPat(Ops.BIND, src=(UPat(Ops.CONST), UPat.cvar("c"))), lambda c: c),
    (UPat({*FIRST_RANGE, Ops.SCAN}, name="u"), drop_closed_constants),
    # booleans: "not x" is written x != True
    (UPat({Ops.AND, Ops.OR}, BOOL, name="u"), junction),
    (UPat(Ops.MUL, BOOL, src=(x, y)), lambda x, y: x & y),
    (UPat({Ops.ADD, Ops.MAX}, BOOL, src=(x, y)), lambda x, y: x | y),
    (UPat(Ops.NEG, BOOL, src=(x,)), lambda x: negated(x)),
    (UPat(Ops.XOR, BOOL, src=(x, y)), lambda x, y: x.ne(y)),
    (UPat(Ops.CMPLT, src=(bool_x, y)), lambda x, y: negated(x) & y),
    (UPat({Ops.CMPEQ, Ops.CMPNE}, src=(bool_x, y), name="u"), lambda u, x, y: equal_booleans(u)),
    (UPat(Ops.CMPNE, src=(UPat(Ops.CMPEQ, src=(x, y)), true)), lambda x, y: x.ne(y)),
    (UPat(Ops.CMPNE, src=(UPat(Ops.CMPNE, src=(x, y), name="u"), true)),
     lambda u, x, y: x if is_negated(u) else x.eq(y)),
    (where(c, x, false), lambda c, x: c & x),
    (where(c, x, true), lambda c, x: negated(c) | x),
    (where(c, false, y), lambda c, y: negated(c) & y),
    (where(c, true, y), lambda c, y: c | y),
    # bits
    (UPat({Ops.AND, Ops.OR}, INTS, src=(x, x)), lambda x: x),
    (UPat({Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR}, INTS, src=(x, UPat.const(None, 0))), lambda x: x),
    (UPat(Ops.AND, INTS, src=[x, UPat.const(None, 0)]), lambda x: x.const_like(0)),
    (UPat(Ops.AND, INTS, src=[x, UPat.cvar("c")]), fits_in_mask),
    (UPat(Ops.TRUNC, INTS, src=(x,)), lambda x: x),
    (UPat(Ops.CAST, INTS, name="u", src=(UPat(SUMS, INTS),)), narrowed),
]) + common_rules

# Each gives the same bits for NaN, infinities, -0.0 and on overflow, except for the first:
# -0.0 + 0.0 would be 0.0. (The payload of a NaN doesn't count.)
value_rules = PatternMatcher([
    (UPat(Ops.ADD, src=[x, zero]), lambda x: x),
    (UPat(Ops.ADD, src=[x, UPat.const(FLOATS, -0.0)]), lambda x: x),
    (UPat(Ops.SUB, src=(x, zero)), lambda x: x),
    (UPat(Ops.MUL, src=[x, one]), lambda x: x),
    (UPat(Ops.FDIV, src=(x, one)), lambda x: x),
    (UPat(Ops.FDIV, src=(x, float_c)), by_power_of_two),
    (UPat(Ops.POW, src=(x, float_c)), known_power),
    (UPat(Ops.MUL, src=[UPat(Ops.MUL, src=[x, minus_one]), minus_one]), lambda x: x),
    (UPat(Ops.NEG, FLOATS, src=(UPat(Ops.NEG, src=(x,)),)), lambda x: x),
    (UPat(Ops.MAX, src=[x, UPat.const(FLOATS, -math.inf)]), lambda x: x),
    (UPat(Ops.TRUNC, src=(UPat(Ops.TRUNC, name="u"),)), lambda u: u),
    (UPat(Ops.CMPLT, src=(float_x, x), name="u"), lambda u, x: u.const_like(False)),
    # a constant stands on the right
    (UPat({Ops.ADD, Ops.MUL}, FLOATS, src=(float_c, x), name="u"),
     lambda u, c, x: None if x.op is Ops.CONST else x.alu(u.op, c)),
])

# Equal for real numbers only. Comments say when the result differs for floats: nan: an argument or
# the result is NaN or inf, or a denominator is 0; over: something overflows; round: in the last
# digits. For values only, before ops are decomposed: the decompositions use rounding on purpose,
# as in (x + 2**23) - 2**23.
relaxed = PatternMatcher([
    # over, round
    (UPat(Ops.LOG2, src=(UPat(Ops.EXP2, src=(x,)),)), lambda x: x),
    (UPat(Ops.RECIP, src=(UPat(Ops.RECIP, src=(x,)),)), lambda x: x),
    (UPat(Ops.FDIV, src=(x, float_c)), lambda x, c: x * (1 / c.arg) if c.arg else None),
    (UPat(Ops.MUL, src=(UPat(Ops.MUL, src=(x, UPat.cvar("a", FLOATS))), UPat.cvar("b"))),
     lambda x, a, b: x * (a * b)),
    (UPat(Ops.ADD, src=(UPat(Ops.ADD, src=(x, UPat.cvar("a", FLOATS))), UPat.cvar("b"))),
     lambda x, a, b: x + (a + b)),
    # nan, round
    (UPat(Ops.EXP2, src=(UPat(Ops.LOG2, src=(x,)),)), lambda x: x),
    (UPat(Ops.MUL, src=(UPat(Ops.SQRT, name="r", src=(x,)), UPat.var("r"))), lambda r, x: x),
    (UPat(Ops.FDIV, src=(UPat(Ops.MUL, FLOATS, src=[x, y]), y)), lambda x, y: x),
    (UPat(Ops.MUL, src=[UPat(Ops.FDIV, FLOATS, src=(x, y)), y]), lambda x, y: x),
    # nan
    (UPat(Ops.MUL, src=[x, UPat(Ops.RECIP, src=(x,))]), lambda x: x.const_like(1)),
    (UPat(Ops.FDIV, src=(float_x, x)), lambda x: x.const_like(1)),
    (UPat(Ops.MUL, src=[x, zero]), lambda x: x.const_like(0)),
    (UPat(Ops.ADD, src=[float_x, UPat(Ops.MUL, src=[x, minus_one])]), lambda x: x.const_like(0)),
    (UPat(Ops.SUB, src=(float_x, x)), lambda x: x.const_like(0)),
])
# fmt: on

symbolic_simple = common_rules + value_rules
sym = index_rules + value_rules
