"""Generated expressions, and z3's opinion of what they mean. Shared by the tests of uop/."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable

import z3
from hypothesis import strategies as st

from tinyframe.dtype import DType, dtypes
from tinyframe.uop.evaluate import evaluate
from tinyframe.uop.node import Ops, UOp

INT = dtypes.int


def constant(value: int, dtype: DType = INT) -> UOp:
    return UOp.const(dtype, value)


def variable(name: str, low: int, high: int, dtype: DType = INT) -> UOp:
    return UOp.variable(name, low, high, dtype)


# ---- strategies ---------------------------------------------------------------------------------


@st.composite
def variables(draw, dtype: DType = INT, count: int = 3, width: int = 12) -> list[UOp]:
    """Variables a, b, c …, mostly from 0 on as loop variables are."""
    out = []
    for name in "abcdef"[:count]:
        low = draw(st.one_of(st.just(0), st.just(0), st.integers(-9, 9)))
        low = max(low, int(dtype.min))
        high = min(low + draw(st.integers(0, width)), int(dtype.max))
        out.append(variable(name, low, high, dtype))
    return out


SMALL, WIDTHS = st.integers(-7, 30), st.integers(0, 4)
DIVISORS = st.sampled_from([1, 2, 3, 4, 5, 6, 8, 12, 16, -2, -3])
ARITHMETIC = ["+", "+", "-", "*c", "//c", "%c", "divmod", "max", "min", "where"]
WILD = ["*", "//", "%", "bits", "shift", "neg", "cast"]
BITS = [Ops.AND, Ops.OR, Ops.XOR, Ops.SUB, Ops.CDIV, Ops.CMOD]
NARROW = [dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.long]


OF_TWO: dict[str, Callable] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv,
    "%": operator.mod, "max": UOp.maximum, "min": UOp.minimum,
}  # fmt: skip
WITH_CONSTANT: dict[str, Callable] = {
    "*c": operator.mul, "//c": operator.floordiv, "%c": operator.mod,
    "divmod": lambda x, c: x // c * c + x % c,
}  # fmt: skip
COMPARED: dict[str, Callable] = {
    "<": operator.lt, ">=": operator.ge, "==": UOp.eq, "!=": UOp.ne}  # fmt: skip
JOINED: dict[str, Callable] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}


@st.composite
def integers(draw, names: list[UOp], depth: int, wild: bool = False) -> UOp:
    """Index expressions; with `wild` also what indices seldom hold: products, bits, divisors that
    vary, casts to narrower dtypes and back."""
    dtype = names[0].dtype

    def const(values: st.SearchStrategy[int]) -> UOp:
        value = draw(values)
        return constant(abs(value) if dtype.min == 0 else value, dtype)

    def pick(kinds: list):
        return draw(st.sampled_from(kinds))

    def leaf() -> UOp:
        return const(SMALL) if pick([0, 0, 0, 1]) else pick(names)

    def make(depth: int) -> UOp:
        if depth <= 0 or pick([0, 0, 0, 0, 1]):
            return leaf()
        x = make(depth - 1)
        kind = pick(ARITHMETIC + WILD if wild else ARITHMETIC)
        if kind in OF_TWO:
            return OF_TWO[kind](x, make(depth - 1))
        if kind in WITH_CONSTANT:
            return WITH_CONSTANT[kind](x, const(DIVISORS))
        match kind:
            case "where":
                return draw(booleans(names, depth - 1, wild)).where(x, make(depth - 1))
            case "bits":
                return x.alu(pick(BITS), make(depth - 1))
            case "shift":
                return x.alu(pick([Ops.SHL, Ops.SHR]), const(WIDTHS))
            case "neg":
                return x.alu(Ops.NEG)
            case _:
                return x.cast(pick(NARROW)).cast(dtype)

    return make(depth)


@st.composite
def booleans(draw, names: list[UOp], depth: int, wild: bool = False) -> UOp:
    def make(depth: int) -> UOp:
        more = [*JOINED, "not", "where"] if depth > 0 else []
        kind = draw(st.sampled_from([*COMPARED, *more]))
        if kind in COMPARED:
            x, y = (draw(integers(names, depth - 1, wild)) for _ in range(2))
            return COMPARED[kind](x, y)
        x = make(depth - 1)
        if kind in JOINED:
            return JOINED[kind](x, make(depth - 1))
        if kind == "not":
            return x.logical_not()
        return x.where(make(depth - 1), make(depth - 1))

    return make(depth)


@st.composite
def expressions(
    draw, depth: int = 3, wild: bool = False, dtype: DType = INT, width: int = 12
) -> UOp:
    """An integer or boolean expression over a few variables."""
    names = draw(variables(dtype, width=width))
    kind = draw(st.sampled_from([integers, integers, booleans]))
    return draw(kind(names, depth, wild))


# ---- z3 -----------------------------------------------------------------------------------------


def _floor_div(a, b):
    return z3.If(b == 0, 0, z3.If(b > 0, a / b, -a / -b))  # z3's own rounds down for b > 0


def _modulo(a, b):
    return z3.If(b == 0, 0, a - b * _floor_div(a, b))


MEANING: dict[Ops, Callable] = {
    Ops.ADD: lambda a, b: a + b,
    Ops.SUB: lambda a, b: a - b,
    Ops.MUL: lambda a, b: a * b,
    Ops.NEG: lambda a: -a,
    Ops.IDIV: _floor_div,
    Ops.MOD: _modulo,
    Ops.MAX: lambda a, b: z3.If(a > b, a, b),
    Ops.MIN: lambda a, b: z3.If(a < b, a, b),
    Ops.CMPLE: lambda a, b: a <= b,
    Ops.CMPLT: lambda a, b: a < b,
    Ops.CMPNE: lambda a, b: a != b,
    Ops.CMPEQ: lambda a, b: a == b,
    Ops.WHERE: z3.If,
    Ops.CAST: lambda a: a,
    Ops.AND: z3.And,  # of booleans
    Ops.OR: z3.Or,
    Ops.XOR: z3.Xor,
}


def cannot_wrap(u: UOp) -> bool:
    """No sub-expression can leave its dtype's range, so that z3's integers mean the same."""
    return all(
        x.bounds != (x.dtype.min, x.dtype.max) for x in u.toposort() if dtypes.is_int(x.dtype)
    )


def speaks_z3(u: UOp) -> bool:
    if u.op in (Ops.AND, Ops.OR, Ops.XOR):
        return u.dtype is dtypes.bool
    if u.op is Ops.CAST:  # from int to int, of what both hold
        return dtypes.is_int(u.dtype) and u.bounds == u.src[0].bounds
    return u.op in MEANING or u.op in (Ops.CONST, Ops.DEFINE_VAR, Ops.RANGE)


def to_z3(roots: list[UOp]) -> tuple[list, list]:
    """The expressions in z3's (unbounded) integers, and what is known of their variables."""
    done: dict[UOp, z3.ExprRef] = {}
    known: list = []
    for root in roots:
        for u in root.toposort():
            if u in done:
                continue
            if u.op is Ops.CONST:
                done[u] = z3.BoolVal(u.arg) if u.dtype is dtypes.bool else z3.IntVal(u.arg)
            elif u.op in (Ops.DEFINE_VAR, Ops.RANGE):
                low, high = u.bounds
                done[u] = z3.Int(u.render())
                known += [low <= done[u], done[u] <= high]
            else:
                done[u] = MEANING[u.op](*[done[s] for s in u.src])
    return [done[r] for r in roots], known


def z3_refutes(claim, known: list, effort: int = 100_000) -> bool | None:
    """Whether `claim` can be false; None where z3 gives up, after a fixed amount of work."""
    solver = z3.Solver()
    solver.set("rlimit", effort)
    solver.add(*known, z3.Not(claim))
    answer = solver.check()
    return None if answer == z3.unknown else answer == z3.sat


def leaves(*roots: UOp) -> list[UOp]:
    found = dict.fromkeys(u for root in roots for u in root.toposort())
    return [u for u in found if u.op in (Ops.DEFINE_VAR, Ops.RANGE)]


def assignments(names: list[UOp], most: int = 3000):
    """Every combination of values; where there are too many, the ends and middles of each."""
    values = [range(u.vmin, u.vmax + 1) for u in names]
    if math.prod(map(len, values)) > most:
        values = [
            sorted({v[0], v[1 % len(v)], v[len(v) // 2], v[-2 % len(v)], v[-1]}) for v in values
        ]
    for chosen in itertools.product(*values):
        yield dict(zip(names, chosen, strict=True))


def assert_equal_everywhere(a: UOp, b: UOp, given: UOp | None = None) -> None:
    """a and b agree for all values of their variables (where `given` holds): z3 proves it,
    and by trying."""
    for values in assignments(leaves(a, b) if given is None else leaves(a, b, given), most=400):
        if given is None or evaluate(given, values):
            x, y = evaluate(a, values), evaluate(b, values)
            assert x == y and type(x) is type(y), (
                f"{a.render(simplify=False)} is {x} but {b.render(simplify=False)} is {y} "
                f"at { {u.render(): v for u, v in values.items()} }"
            )
    roots = [a, b] if given is None else [a, b, given]
    if all(map(cannot_wrap, roots)) and all(speaks_z3(u) for r in roots for u in r.toposort()):
        (x, y, *rest), known = to_z3(roots)
        assert z3_refutes(x == y, known + rest) is not True, (
            f"z3: {a.render(simplify=False)} is not always {b.render(simplify=False)}"
        )
