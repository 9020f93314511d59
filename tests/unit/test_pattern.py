"""UPat: what each part of a pattern asks for."""

from __future__ import annotations

import pytest

from tinyframe.dtype import dtypes
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.uop.node import GroupOp, Ops, UOp

a, b, c = (UOp.variable(name, 0, 9) for name in "abc")
f = UOp.variable("f", 0, 1, dtypes.float)
x, y = UPat.var("x"), UPat.var("y")


def matches(pattern: UPat, u: UOp) -> list[dict[str, UOp]]:
    return pattern.match(u, {})


@pytest.mark.parametrize(("pattern", "node", "expected"), [
    (UPat(), a + b, True),
    (UPat(Ops.ADD), a + b, True),
    (UPat(Ops.MUL), a + b, False),
    (UPat((Ops.MUL, Ops.ADD)), a + b, True),
    (UPat(GroupOp.Comparison), a < b, True),
    (UPat(dtype=dtypes.int), a, True),
    (UPat(dtype=dtypes.float), a, False),
    (UPat(dtype={dtypes.float, dtypes.half}), f, True),
    (UPat(dtype=dtypes.int), a.vectorize(4), True),
    (UPat(dtype=dtypes.int.vec(4)), a, False),
    (UPat(Ops.CONST, arg=3), a.const_like(3), True),
    (UPat(Ops.CONST, arg=3), a.const_like(4), False),
    (UPat(Ops.RANGE, arg=(0, 1)), a, False),
    (UPat(Ops.ADD, src=(UPat(Ops.CONST), UPat())), a + 1, False),
    (UPat(Ops.ADD, src=(UPat(), UPat(Ops.CONST))), a + 1, True),
    (UPat(Ops.ADD, src=[UPat(Ops.CONST), UPat()]), a + 1, True),
    (UPat(Ops.ADD, src=UPat(Ops.DEFINE_VAR)), a + b, True),
    (UPat(Ops.ADD, src=UPat(Ops.DEFINE_VAR)), a + 1, False),
    (UPat(Ops.SINK, src=(UPat(),)), UOp.sink(a, b), False),
    (UPat(Ops.SINK, src=(UPat(),), allow_any_len=True), UOp.sink(a, b), True),
    (UPat(Ops.SINK, src=(UPat(), UPat(), UPat()), allow_any_len=True), UOp.sink(a, b), False),
    (UPat(Ops.SINK, src=()), UOp.sink(a), False),
    (x + x, a + a, True),
    (x + x, a + b, False),
    (x * x + y, a * a + b, True),
    (UPat.cvar("c") + x, a + 1, True),  # in either order
    (UPat.cvar("c") < x, a.const_like(1) < a, True),
    (UPat.cvar("c") < x, a < 1, False),  # < is not commutative
    (UPat.any(x + 1, x * 2), a * 2, True),
    (UPat.any(x + 1, x * 2), a * 3, False),
    (UPat.any(UPat(Ops.ADD), UPat(Ops.MUL)).named("n"), a + b, True),
])  # fmt: skip
def test_matches(pattern, node, expected):
    assert bool(matches(pattern, node)) is expected


NAN = float("nan")
LIKE = [(0, 0), (0, 0.0), (1, 1.0), (True, True), (NAN, NAN), (-0.0, -0.0)]
UNLIKE = [(0, -0.0), (1, True), (True, 1), (1.0, 1), (False, 0)]


@pytest.mark.parametrize(("pairs", "expected"), [(LIKE, True), (UNLIKE, False)])
def test_a_constant_is_matched_by_value_and_kind(pairs, expected):
    for pattern, value in pairs:
        dtype = {bool: dtypes.bool, int: dtypes.int, float: dtypes.float}[type(value)]
        found = matches(UPat.const(None, pattern), UOp.const(dtype, value))
        assert bool(found) is expected, (pattern, value)


def test_names_bind_the_nodes_they_match():
    [bound] = matches(x * UPat.cvar("k") + y, b + a * 3)
    assert bound == {"x": a, "k": a.const_like(3), "y": b}


def test_every_order_is_tried():
    assert len(matches(UPat(Ops.ADD, src=[x, y]), a + b)) == 2
    assert len(matches(UPat(Ops.WHERE, src=[x, y, UPat.var("z")]), (a < b).where(a, b))) == 6
    [bound] = matches(UPat(Ops.ADD, src=[x * 2, UPat.var("x")]), a + a * 2)
    assert bound["x"] is a


OPERATORS = """
x - y; -x; 3 - x; x >= y; x <= y; ~(x < y); x > y; x // y; x % 3; x & y; x | y; x ^ y; x << 2
x >> 2; x.maximum(y); x.eq(y); (x < y).where(x, y); x.cast(dtypes.float); 2 * x; 1 + x
"""
OF_FLOATS = "x / y; x.sqrt(); x.exp2(); x.log2(); x.sin(); x.reciprocal(); x**2"


@pytest.mark.parametrize(("written", "nodes"), [
    *[(text, {"x": a, "y": b}) for text in OPERATORS.strip().replace("\n", ";").split(";")],
    *[(text, {"x": f, "y": f.sin()}) for text in OF_FLOATS.split(";")],
])  # fmt: skip
def test_arithmetic_on_patterns_matches_the_same_arithmetic_on_nodes(written, nodes):
    pattern, node = (
        eval(written.strip(), {"dtypes": dtypes}, of) for of in ({"x": x, "y": y}, nodes)
    )
    assert matches(pattern, node)


# ---- tables -------------------------------------------------------------------------------------


def test_rewrite_gives_the_first_match_or_none():
    pm = PatternMatcher(
        [
            (x + 0, lambda x: x),
            (UPat.cvar("p") + UPat.cvar("q"), lambda p, q: p.const_like(p.arg + q.arg)),
            (UPat(Ops.ADD, name="u"), lambda u: None),  # no match after all
            (UPat(Ops.ADD), lambda: b),
        ]
    )
    assert pm.rewrite(a + 0) is a
    assert pm.rewrite(a.const_like(2) + 3) is a.const_like(5)
    assert pm.rewrite(a + c) is b
    assert pm.rewrite(a * c) is None
    assert len(pm) == len(list(pm)) == 4


def test_functions_get_the_names_they_ask_for_the_context_and_their_defaults():
    seen = []
    pm = PatternMatcher(
        [
            (x + y, lambda x, ctx: seen.append((x, ctx)) or None),
            (UPat.any(x * 2, x * UPat.cvar("k")), lambda x, k=None: seen.append((x, k)) or None),
            (x * y, lambda **everything: seen.append(sorted(everything)) or None),
        ]
    )
    assert pm.rewrite(a + b, ctx="context") is None and pm.rewrite(a * 2) is None
    assert seen[0] == (a, "context")
    assert (a, None) in seen and (a, a.const_like(2)) in seen and ["ctx", "x", "y"] in seen


def test_tables_are_joined_in_order_and_rules_switched_off():
    first = PatternMatcher([(x + y, lambda x, y: x)])
    second = PatternMatcher([(x + y, lambda x, y: y)])
    both = first + second
    assert both.rewrite(a + b) is a and (second + first).rewrite(a + b) is b
    assert both.without(both.rules[0]).rewrite(a + b) is b
    assert len(first) == len(second) == 1


def test_anything_that_can_be_called_with_its_names_is_a_rule():
    class Rule:
        def __call__(self, x):
            return c

    with pytest.raises(TypeError):  # names are given by keyword
        PatternMatcher([(x + 1, lambda x, /, *, y=None: c)]).rewrite(a + 1)
    assert PatternMatcher([(x + 1, Rule())]).rewrite(a + 1) is c
