"""Idiom recognition: ops that languages have and the algebra never writes: a - b, min, a <= b.

The algebra writes `a + b*-1`, `max(a*-1, b*-1)*-1` and `not b < a`, so that equal values are equal
nodes. Before a program is rendered, when nothing is simplified any more, this table writes them as
a person would. Every row also holds when integers wrap around, and for NaN and -0.0.
"""

from __future__ import annotations

from tinyframe.algebra.sums import from_terms, scaled, terms
from tinyframe.dtype import dtypes
from tinyframe.rewrite.matcher import PatternMatcher, UPat
from tinyframe.uop.node import Ops, UOp

FLOATS, SIGNED = set(dtypes.floats), set(dtypes.sints)

x, y, a, b, c = (UPat.var(name) for name in "xyabc")


def number(u: UOp):
    """The value of a constant, equal in every lane; None if `u` is not such a constant."""
    if u.op is Ops.VECTORIZE and all(s is u.src[0] for s in u.src):
        u = u.src[0]
    return u.arg if u.op is Ops.CONST else None


def negative(u: UOp):
    """The value of a negative constant whose negation exists; else None."""
    value = number(u)
    if value is None or not value < 0:
        return None
    return value if dtypes.is_float(u.dtype) or value > u.dtype.min else None


def opposite(u: UOp) -> UOp | None:
    """-u, if u is a negative constant, a negation, or a product with a negative constant."""
    if (value := negative(u)) is not None:
        return UOp.const(u.dtype, -value)
    if u.op is Ops.NEG:
        return u.src[0]
    if u.op is Ops.MUL and dtypes.is_int(u.dtype) and (value := negative(u.src[1])) is not None:
        return u.replace(src=(u.src[0], UOp.const(u.dtype, -value)))
    return None


def difference(u: UOp, x: UOp, y: UOp) -> UOp | None:
    """x + y*-4 = x - y*4,  x*-4 + y = y - x*4  and  x + -4 = x - 4."""
    if u.tag is not None:  # a step of an unrolled sum stays an ADD
        return None
    if (less := opposite(y)) is not None:
        return x.alu(Ops.SUB, less)
    if (less := opposite(x)) is not None:
        return y.alu(Ops.SUB, less)
    return None


def smaller(a: UOp, b: UOp) -> UOp | None:
    """max(x*-4, -250) = -min(x*4, 250), if no operand is the dtype's minimum."""
    if a.dtype.min in (a.vmin, b.vmin) or not all_subtracted(a, b):
        return None
    return _negated(a, 0).alu(Ops.MIN, _negated(b, 0)).alu(Ops.NEG)


def smallest(u: UOp, x: UOp, c: UOp) -> UOp | None:
    """max(-1 - x, -1 - y)*-2 + 5 = min(x, y)*2 + 7, where -1 - x exists for every x."""
    largest, factor = x.src if x.op is Ops.MUL else (x.src[0], x.const_like(-1))
    if largest.op is not Ops.MAX or (f := negative(factor)) is None or number(c) is None:
        return None
    a, b = largest.src
    if not all_subtracted(a, b):
        return None
    return from_terms(
        {_negated(a, 1).alu(Ops.MIN, _negated(b, 1)): -f, None: number(c) - f}, u.dtype
    )


def all_subtracted(*sums: UOp) -> bool:
    """Whether every term has a negative factor, as in x*-4 + 3; False if all are constants."""
    factors = [f for u in sums for t, f in terms(u).items() if t is not None]
    return bool(factors) and all(f < 0 for f in factors)


def _negated(u: UOp, less: int) -> UOp:
    """-u - less"""
    ts = scaled(terms(u), -1)
    return from_terms({**ts, None: ts.get(None, 0) - less}, u.dtype)


def smaller_float(x: UOp, y: UOp) -> UOp | None:
    """-max(-x, -y)"""
    value = number(y)
    if y.op is not Ops.NEG and value is None:
        return None
    return x.alu(Ops.MIN, y.src[0] if value is None else UOp.const(y.dtype, -value))


def smaller_bits(x: UOp, y: UOp, c: UOp) -> UOp | None:
    """~max(~x, ~y)"""
    ones = -1 if x.dtype.scalar() in SIGNED else x.dtype.max

    def opposite(u: UOp) -> UOp | None:
        if u.op is Ops.XOR and number(u.src[1]) == ones:
            return u.src[0]
        return None if (value := number(u)) is None else UOp.const(u.dtype, value ^ ones)

    a, b = opposite(x), opposite(y)
    return None if number(c) != ones or a is None or b is None else a.alu(Ops.MIN, b)


def _can_negate(x: UOp, c: UOp) -> bool:
    """Whether -x < c may become -c < x: neither x nor the constant c is the dtype's minimum."""
    lowest = x.dtype.min
    return dtypes.is_int(x.dtype) and number(c) not in (None, lowest) and x.vmin != lowest


def at_most(x: UOp, y: UOp, a: UOp, b: UOp) -> UOp | None:
    """x < y or x == y; for floats too, since both are false for NaN."""
    return x.alu(Ops.CMPLE, y) if {x, y} == {a, b} else None


def not_less(x: UOp, y: UOp, c: UOp) -> UOp | None:
    """not x < y, for integers."""
    return y.alu(Ops.CMPLE, x) if number(c) is True and dtypes.is_int(x.dtype) else None


def added_to(product: UOp, c: UOp) -> UOp | None:
    """A tensor core adds the product to an accumulator."""
    return product.replace(src=(*product.src, c)) if len(product.src) == 2 else None


# Idioms of a flat program, in which accumulating is an ADD.
in_program: dict[Ops, PatternMatcher] = {
    Ops.MULACC: PatternMatcher([
        (UPat(Ops.ADD, FLOATS, src=[UPat(Ops.MUL, src=(x, y)), c], name="u"),
         lambda u, x, y, c: u.replace(op=Ops.MULACC, src=(x, y, c))),
    ]),
    Ops.MMA: PatternMatcher([
        (UPat(Ops.ADD, src=[UPat(Ops.MMA, name="product"), c]), added_to),
    ]),
}  # fmt: skip


def without_sign(u: UOp, x: UOp, y: UOp, z: UOp, a: UOp, b: UOp, c: UOp) -> UOp | None:
    """0 if x == 0, -x if x < 0, else x: clears the sign bit of a float, in all lanes at once."""
    if {x, y, z} != {x} or any(number(zero) != 0 for zero in (a, b, c)) or x.dtype.count == 1:
        return None
    bits = {4: dtypes.int, 8: dtypes.long}[x.dtype.scalar().itemsize]
    vector = bits.vec(x.dtype.count)
    kept = UOp(Ops.BITCAST, vector, (x,)).alu(Ops.AND, UOp.const(vector, bits.max))
    return UOp(Ops.BITCAST, x.dtype, (kept,))


z = UPat.var("z")
magnitude = UPat(Ops.WHERE, src=(UPat(Ops.CMPLT, src=(y, b)), UPat(Ops.NEG, src=(z,)), z))

# Copies of a loop's body may run past its end: nothing is read or stored there.
# A language may reject a constant index outside of a panel even if the condition is false.
nowhere = UPat(Ops.INDEX, src=(UPat.var("memory"), UPat.const(dtypes.bool, False), UPat()))
in_every_language = PatternMatcher([
    (UPat(Ops.LOAD, src=(nowhere,), allow_any_len=True, name="u"),
     lambda u, memory: UOp.const(u.dtype, 0)),
    (UPat(Ops.STAGE, src=(UPat(Ops.STORE, src=(nowhere, UPat())),), allow_any_len=True),
     lambda memory: memory),
])  # fmt: skip

# op -> the rules that use it
with_op: dict[Ops, PatternMatcher] = {
    Ops.MIN: PatternMatcher([
        (UPat(Ops.NEG, FLOATS, src=(UPat(Ops.MAX, src=(UPat(Ops.NEG, src=(x,)), y)),)),
         smaller_float),
        (UPat(Ops.XOR, src=(UPat(Ops.MAX, dtypes.ints, src=(x, y)), c)), smaller_bits),
        (UPat(Ops.MAX, SIGNED, src=(a, b)), smaller),
        (UPat(Ops.ADD, SIGNED, src=(UPat({Ops.MUL, Ops.NEG}, name="x"), c), name="u"), smallest),
    ]),
    Ops.AND: PatternMatcher([
        (UPat(Ops.WHERE, {dtypes.float, dtypes.double}, name="u",
              src=(UPat(Ops.CMPEQ, src=(x, a)), c, magnitude)), without_sign),
    ]),
    Ops.SUB: PatternMatcher([(UPat(Ops.ADD, SIGNED | FLOATS, src=(x, y), name="u"), difference)]),
    Ops.NEG: PatternMatcher([
        (UPat(Ops.MUL, SIGNED, src=(UPat(Ops.NEG, src=(x,)), c)),
         lambda x, c: None if (value := negative(c)) is None else x * UOp.const(c.dtype, -value)),
        (UPat(Ops.MUL, SIGNED, src=(x, UPat.var("c"))),
         lambda x, c: x.alu(Ops.NEG) if number(c) == -1 else None),
        (UPat(Ops.NEG, SIGNED, src=(UPat(Ops.NEG, src=(x,)),)), lambda x: x),
        (UPat(Ops.MUL, SIGNED, src=(x, UPat.var("c"))),
         lambda x, c: x if number(c) == 1 else None),
        (UPat(Ops.CMPLT, src=(UPat(Ops.NEG, src=(x,)), c)),  # -x < c  is  -c < x
         lambda x, c: UOp.const(c.dtype, -number(c)) < x if _can_negate(x, c) else None),
    ]),
    Ops.CMPLE: PatternMatcher([
        (UPat(Ops.CMPLE, src=(c, UPat(Ops.NEG, src=(x,)))),  # c <= -x  is  x <= -c
         lambda x, c: (x.alu(Ops.CMPLE, UOp.const(c.dtype, -number(c)))
                       if _can_negate(x, c) else None)),
        (UPat(Ops.OR, src=[UPat(Ops.CMPLT, src=(x, y)), UPat(Ops.CMPEQ, src=(a, b))]), at_most),
        (UPat(Ops.CMPNE, src=(UPat(Ops.CMPLT, src=(x, y)), c)), not_less),
    ]),
}  # fmt: skip
