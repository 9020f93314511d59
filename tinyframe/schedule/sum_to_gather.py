"""A sum that selects one element is that element, which makes gather, embedding and one_hot cheap.

    sum over v of (v == token[i] ? weight[v, e] : 0)     becomes     weight[token[i], e]

Movement ops cannot express an index that is itself a value in memory, so the frontend compares it
with every position (IOTA) and sums over them. Lowered to loops, that is a REDUCE in which all terms
but one are 0, and the loop is not needed: its RANGE is replaced by the index, and the load is
guarded, because an index out of range selects nothing and gives 0.
"""

from __future__ import annotations

from collections.abc import Callable

from tinyframe.algebra.sums import from_terms, plus, scaled, terms
from tinyframe.algebra.symbolic import all_of, conjuncts
from tinyframe.dtype import dtypes
from tinyframe.rewrite.matcher import PatternMatcher, UPat
from tinyframe.uop.bounds import fits
from tinyframe.uop.node import Ops, UOp

Guard = Callable[[UOp, dict[UOp, tuple[UOp, UOp]], bool], UOp]


def gathered_index(condition: UOp, r: UOp) -> UOp | None:
    """The value of `r` at which `condition` (an equality) holds, if that does not depend on `r`."""
    if condition.op is not Ops.CMPEQ or not dtypes.is_int(condition.src[0].dtype):
        return None
    left, right = condition.src
    if left.dtype is not right.dtype or dtypes.is_unsigned(left.dtype):
        return None
    difference = plus(terms(left), scaled(terms(right), -1))
    with_r = [t for t in difference if t is not None and r in t.ranges]
    if len(with_r) != 1 or difference[with_r[0]] not in (1, -1):
        return None
    (term,) = with_r
    uncast = term.src[0] if term.op is Ops.CAST else term
    if uncast is not r or not fits(term.dtype, *r.bounds):
        return None
    sign = -difference.pop(term)
    return from_terms(scaled(difference, sign), left.dtype)


def gather_rules(guard: Guard) -> PatternMatcher:
    """The rule, as a table. guard: the function of ranges.py, which imports this file."""

    def gather(reduce: UOp, condition: UOp, value: UOp, nothing: UOp) -> UOp | None:
        if nothing.arg != 0:
            return None
        parts = conjuncts(condition)
        for r in reduce.own_ranges:
            for equality in parts:
                if (index := gathered_index(equality, r)) is None:
                    continue
                widest = max(index.dtype, r.dtype, key=lambda dtype: dtype.itemsize)
                in_range = (index >= 0) & (index.cast(widest) < r.src[0].cast(widest))
                rest = [c for c in parts if c is not equality]
                chosen = all_of(rest).where(value, nothing) if rest else value
                found = guard(chosen, {r: (index.cast(r.dtype), in_range.simplify())}, True)
                return found.reduce(Ops.ADD, *[x for x in reduce.own_ranges if x is not r])
        return None

    where = UPat(Ops.WHERE, src=(UPat.var("condition"), UPat.var("value"), UPat.cvar("nothing")))
    pattern = UPat(Ops.REDUCE, arg=Ops.ADD, src=(where,), allow_any_len=True, name="reduce")
    return PatternMatcher([(pattern, gather)])
