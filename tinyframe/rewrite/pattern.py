"""UPat: a pattern that a UOp may match.

    UPat(Ops.ADD, src=(UPat.var("x"), UPat.cvar("c")))     or, the same but in either order:
    UPat.var("x") + UPat.cvar("c")

What is left out matches anything. A name binds the node it matches; a name used twice must meet
the same object twice, so `UPat.var("x") + UPat.var("x")` matches only `y + y`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from tinyframe.dtype import DType, dtypes
from tinyframe.uop.node import Comparisons, GroupOp, Ops, UOp, arg_key
from tinyframe.uop.show import render_pattern

Bindings = dict[str, UOp]


class UPat(Comparisons):
    """Matches a UOp by op, dtype, sources and arg.

    op: one op or several. dtype: one, or a set (vectors match by their scalar too). src: a tuple
    (in order), a list (any order), or one pattern for every source. `allow_any_len`: further
    sources may follow those of `src`.
    """

    __slots__ = ("alternatives", "any_len", "arg", "dtypes", "name", "ops", "orders", "required",
                 "sources", "src")  # fmt: skip

    def __init__(
        self,
        op: Ops | Iterable[Ops] | None = None,
        dtype: DType | Iterable[DType] | None = None,
        src: tuple[UPat, ...] | list[UPat] | UPat | None = None,
        arg: Any = None,
        name: str | None = None,
        allow_any_len: bool = False,
    ):
        self.ops: frozenset[Ops] | None = _set_of(Ops, op)
        self.dtypes: frozenset[DType] | None = _set_of(DType, dtype)
        self.arg, self.name, self.src = arg, name, src
        self.any_len = allow_any_len
        self.alternatives: tuple[UPat, ...] = ()
        self.sources = () if src is None else (src,) if isinstance(src, UPat) else tuple(src)
        # the orders in which the sources may stand; None: the one pattern is for every source
        self.orders: list[tuple[UPat, ...]] | None = None
        if isinstance(src, (tuple, list)):
            in_any_order = itertools.permutations(src) if isinstance(src, list) else [self.sources]
            self.orders = list(dict.fromkeys(in_any_order))
        # ops that must be among the sources: a quick test before the thorough one
        single = [p.ops for p in self.sources if p.ops is not None and len(p.ops) == 1]
        self.required: frozenset[Ops] = frozenset().union(*single)

    # ---- making patterns ----------------------------------------------------------------------

    @staticmethod
    def var(name: str | None = None, dtype: DType | Iterable[DType] | None = None) -> UPat:
        """Anything, of `dtype` if given."""
        return UPat(dtype=dtype, name=name)

    @staticmethod
    def cvar(
        name: str | None = None, dtype: DType | Iterable[DType] | None = None, arg: Any = None
    ) -> UPat:
        """A constant."""
        return UPat(Ops.CONST, dtype=dtype, arg=arg, name=name)

    @staticmethod
    def const(dtype: DType | Iterable[DType] | None, value: Any) -> UPat:
        """That constant."""
        return UPat(Ops.CONST, dtype=dtype, arg=value)

    @staticmethod
    def any(*patterns: UPat) -> UPat:
        """Whatever matches one of the patterns."""
        pattern = UPat()
        pattern.alternatives = patterns
        pattern.ops = frozenset().union(*[p.ops or GroupOp.All for p in patterns])
        return pattern

    def named(self, name: str) -> UPat:
        other = UPat(self.ops, self.dtypes, self.src, self.arg, name, self.any_len)
        other.alternatives = self.alternatives
        return other

    def alu(self, op: Ops, *others: UPat) -> UPat:
        sources = (self, *others)
        return UPat(op, src=list(sources) if op in GroupOp.Commutative else sources)

    def _binary(self, op: Ops, other: Any, reverse: bool = False) -> UPat:
        other = other if isinstance(other, UPat) else UPat.const(None, other)
        return other.alu(op, self) if reverse else self.alu(op, other)

    # fmt: off
    def __sub__(self, other): return self + (other * -1 if isinstance(other, UPat) else -other)
    def __rsub__(self, other): return other + self * -1
    def __neg__(self): return self * -1
    def __invert__(self): return self.ne(True)
    def where(self, yes, no): return self.alu(Ops.WHERE, yes, no)
    def cast(self, dtype: DType | None = None): return UPat(Ops.CAST, dtype, (self,))
    def sqrt(self): return self.alu(Ops.SQRT)
    def exp2(self): return self.alu(Ops.EXP2)
    def log2(self): return self.alu(Ops.LOG2)
    def sin(self): return self.alu(Ops.SIN)
    def reciprocal(self): return self.alu(Ops.RECIP)
    # fmt: on

    # ---- matching -----------------------------------------------------------------------------

    def allows(self, op: Ops, dtype: DType) -> bool:
        """Whether a node with this op and dtype can match at all."""
        return (self.ops is None or op in self.ops) and (
            self.dtypes is None or dtype in self.dtypes or dtype.scalar() in self.dtypes
        )

    def match(self, u: UOp, bindings: Bindings) -> list[Bindings]:
        """Every way in which `u` matches, as what each name is then bound to."""
        return self.match_rest(u, bindings) if self.allows(u.op, u.dtype) else _NO_MATCH

    def match_rest(self, u: UOp, bindings: Bindings) -> list[Bindings]:
        """match(), where it is known already that the op and the dtype are right."""
        if self.arg is not None and not _same_arg(self.arg, u):
            return _NO_MATCH
        if self.name is not None:
            if (bound := bindings.get(self.name)) is None:
                bindings = {**bindings, self.name: u}
            elif bound is not u:
                return _NO_MATCH
        if self.alternatives:
            return [b for p in self.alternatives for b in p.match(u, bindings)]
        if self.src is None:
            return [bindings]
        if self.orders is None:  # one pattern for every source
            return _match_all(self.sources * len(u.src), u.src, bindings)
        more = len(u.src) - len(self.sources)
        if more < 0 or (more > 0 and not self.any_len):
            return _NO_MATCH
        if len(self.orders) == 1:
            return _match_all(self.orders[0], u.src, bindings)
        return [b for order in self.orders for b in _match_all(order, u.src, bindings)]

    def __repr__(self) -> str:
        return render_pattern(self)


def _set_of(kind: type, given: Any) -> frozenset | None:
    """One of a kind, or several, as a set; None stays None."""
    return None if given is None else frozenset([given] if isinstance(given, kind) else given)


_NO_MATCH: list[Bindings] = []


def _match_all(
    patterns: tuple[UPat, ...], sources: tuple[UOp, ...], bindings: Bindings
) -> list[Bindings]:
    found = [bindings]
    for pattern, source in zip(patterns, sources, strict=False):
        if not pattern.allows(source.op, source.dtype):
            return _NO_MATCH
        if len(found) == 1:
            found = pattern.match_rest(source, found[0])
        else:
            found = [b for given in found for b in pattern.match_rest(source, given)]
        if not found:
            break
    return found


def _same_arg(wanted: Any, u: UOp) -> bool:
    if u.op is Ops.CONST and type(wanted) is not type(u.arg):
        if isinstance(u.arg, bool) or not isinstance(wanted, (int, float)):
            return False
        wanted = float(wanted) if dtypes.is_float(u.dtype) else wanted
    return arg_key(wanted) == arg_key(u.arg)
