"""Index algebra: results equal what was simplified, as z3 proves, and are as simple as promised."""

from __future__ import annotations

import functools
import itertools
import subprocess
import sys
from operator import add

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.expressions import (
    assert_equal_everywhere,
    assignments,
    constant,
    expressions,
    integers,
    leaves,
    variable,
    variables,
)
from tinyframe.algebra.symbolic import (
    all_of,
    conjuncts,
    from_terms,
    index_rules,
    is_multiple,
    relaxed,
    simplify_given,
    sym,
    terms,
)
from tinyframe.dtype import dtypes
from tinyframe.rewrite import graph_rewrite
from tinyframe.uop.evaluate import evaluate
from tinyframe.uop.node import Ops, UOp

a, b, c = variable("a", 0, 8), variable("b", 0, 8), variable("c", 0, 3)
f = UOp.variable("f", 0, 1, dtypes.float)
p, q = a < 3, b < 5


# ---- equal, always ------------------------------------------------------------------------------


NARROW = st.sampled_from([dtypes.int8, dtypes.uint8, dtypes.uint32, dtypes.int16])


@given(expressions(depth=3))
@settings(max_examples=100)
def test_simplified_index_expressions_are_equal(e):
    assert_equal_everywhere(e, e.simplify())


@given(expressions(depth=4, wild=True))
@settings(max_examples=100)
def test_simplified_expressions_of_all_integer_ops_are_equal(e):
    assert_equal_everywhere(e, e.simplify())


@given(NARROW.flatmap(lambda dtype: expressions(depth=4, wild=True, dtype=dtype, width=60)))
@settings(max_examples=100)
def test_simplified_expressions_are_equal_where_integers_wrap_around(e):
    assert_equal_everywhere(e, e.simplify())


@pytest.mark.parametrize("dtype", dtypes.ints, ids=str)
def test_casts_of_casts_are_equal_wherever_they_wrap(dtype):
    x = variable("x", int(dtype.min), int(dtype.max), dtype)
    edges = {0, 1, -1, 127, 128, 200, 255, 256, 300, 2**15, 2**31, 2**32 + 5, x.vmin, x.vmax}
    for middle, last in itertools.product(dtypes.ints, repeat=2):
        chain = x.cast(middle).cast(last)
        for value in edges:
            if x.vmin <= value <= x.vmax:
                expected = evaluate(chain, {x: value})
                assert evaluate(chain.simplify(), {x: value}) == expected, (chain, value)


@given(expressions(depth=4, wild=True))
@settings(max_examples=60)
def test_simplifying_reaches_a_fixed_point(e):
    simple = e.simplify()
    assert simple.simplify() is simple
    assert graph_rewrite(simple, sym) is simple


@given(variables(), st.data())
@settings(max_examples=60)
def test_equal_sums_written_in_any_order_are_one_object(names, data):
    parts = data.draw(st.lists(integers(names, 2), min_size=2, max_size=6))
    shuffled = data.draw(st.permutations(parts))
    left, right = functools.reduce(add, parts), functools.reduce(add, shuffled)
    assert left.simplify() is right.simplify()


@given(variables(), st.data())
@settings(max_examples=100)
def test_equal_conjunctions_written_in_any_order_are_one_object(names, data):
    conditions = st.builds(lambda x, y: x < y, integers(names, 1), integers(names, 1))
    parts = data.draw(st.lists(conditions, min_size=2, max_size=5))
    shuffled = data.draw(st.permutations(parts))
    assert all_of(parts) is all_of(shuffled)


@given(variables(), st.data())
@settings(max_examples=60)
def test_what_is_simplified_given_a_condition_is_equal_where_it_holds(names, data):
    e = data.draw(integers(names, 3))
    limit = st.tuples(integers(names, 1), st.integers(-2, 12), st.booleans())
    limits = limit.map(lambda t: t[0] < t[1] if t[2] else t[0] >= t[1])
    condition = all_of(data.draw(st.lists(limits, min_size=1, max_size=3)))
    assert_equal_everywhere(e, simplify_given(e, condition), given=condition)


def test_the_order_of_terms_is_the_same_in_every_process():
    program = (
        "from tinyframe.uop.node import *; from tinyframe.dtype import dtypes;"
        "v = [UOp.variable(n, 0, 9) for n in 'edcba'];"
        "r = [UOp.range(9, k) for k in (3, 1, 2)];"
        "data = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(9), (), 0);"
        "e = sum([x * y for x in v for y in r], data.index(r[0]).load()) + v[0] // 3 + r[0] % 5;"
        "print(e.render(), (v[1] < 3).__and__(r[1] < 4).__and__(v[0] < 2).render())"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ".", "PATH": ""},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


# ---- as simple as promised ----------------------------------------------------------------------


@pytest.mark.parametrize(("expression", "text"), [
    # sums
    (a - a, "0"),
    (a * 2 + a * 3, "(a*5)"),
    (3 + a, "(a+3)"),
    (5 * a, "(a*5)"),
    (b + a, "(a+b)"),
    ((a + 3) * 5, "((a*5)+15)"),
    (a - b, "(a+(b*-1))"),
    (-a * -1, "a"),
    (a.alu(Ops.SUB, b) + b, "a"),
    (a * b - b * a, "0"),
    (a * 0, "0"),
    (a * 1, "a"),
    # division
    (a // 1, "a"),
    (a % 1, "0"),
    (a // 0, "0"),
    (a % 0, "0"),
    (a // 9, "0"),
    (a % 9, "a"),
    ((a - 9) // 9, "-1"),
    ((a * 4 + c) // 4, "a"),
    ((a * 4 + c) % 4, "c"),
    ((a * 4 + c) // 12, "(a//3)"),
    ((a * 4 + c) % 12, "(((a%3)*4)+c)"),
    (a // 2 // 3, "(a//6)"),
    ((a // 2 + 1) // 3, "((a+2)//6)"),
    ((a + 31) // 30, "1"),
    ((variable("i", 0, 99) + 31) // 30, "(((i+1)//30)+1)"),
    ((a * 6 + b * 4) // 2, "((a*3)+(b*2))"),
    ((a * 6 + b * 4) % 8, "((((a*3)+(b*2))%4)*2)"),
    ((a % 6) % 3, "(a%3)"),
    ((a % 6) // 3, "((a//3)%2)"),
    ((a + b % 4) % 2, "((a+b)%2)"),
    ((c * 3 + 3) % 4, "((c*-1)+3)"),
    (a // 4 * 4 + a % 4, "a"),
    (a % 4 + b + a // 4 * 4, "(a+b)"),
    ((a // 4) * 8 + (a % 4) * 2, "(a*2)"),
    (a // 2 % 2 * 2 + a % 2, "(a%4)"),
    ((a * 5) // 4, "(a+(a//4))"),
    ((7 - c) // 4, "1"),
    ((11 - a) // 4, "(((a*-1)+11)//4)"),
    (a // -2, "((((a*-1)+8)//2)+-4)"),
    # order
    (a < 9, "True"),
    (a < 0, "False"),
    (a + 3 < 7, "(a<4)"),
    (a * 4 < 7, "(a<2)"),
    (a * 4 + c < 12, "(a<3)"),
    (a * -2 < 0, "((a<1)!=True)"),
    (-a < -b, "(b<a)"),
    (a >= 4, "((a<4)!=True)"),
    (a // 3 < 2, "(a<6)"),
    ((a - 5) // 2 < 0, "(a<5)"),
    (a + b < b + 3, "(a<3)"),
    (a < a, "False"),
    # equality
    (a.eq(9), "False"),
    (a.ne(9), "True"),
    ((a + 3).eq(5), "(a==2)"),
    ((a * 2).eq(3), "False"),
    ((a * 2 + 4).ne(b * 2), "(a!=(b+-2))"),
    ((a * 4 + b * 2).eq(6), "(((a*2)+b)==3)"),
    (((a * 2 + c) % 2).eq(0), "((c%2)==0)"),
    (a.eq(a), "True"),
    # maximum and minimum
    (a.maximum(a), "a"),
    (a.maximum(20), "20"),
    (a.maximum(-1), "a"),
    (a.minimum(8), "a"),
    (a.minimum(-1), "-1"),
    ((a + 4).maximum(a), "(a+4)"),
    # booleans
    (p & p, "(a<3)"),
    (p & q & p, "((a<3)&(b<5))"),
    ((a < 3) & (a < 5), "(a<3)"),
    ((a < 3) | (a < 5), "(a<5)"),
    ((a < 3) & (a >= 3), "False"),
    ((a < 3) | (a >= 2), "True"),
    ((a >= 1) & (a >= 3), "((a<3)!=True)"),
    (p & ~p, "False"),
    (p | ~p, "True"),
    (~~p, "(a<3)"),
    (p ^ p, "False"),
    (p & True, "(a<3)"),
    (p | True, "True"),
    (~(a.eq(b)), "(a!=b)"),
    (p.eq(True), "(a<3)"),
    (p.eq(False), "((a<3)!=True)"),
    # selection
    (p.where(a, a), "a"),
    (p.where(p.where(a, b), c), "(a if (a<3) else c)"),
    ((~p).where(a, b), "(b if (a<3) else a)"),
    (q.where(p.where(a, c), c), "(a if ((a<3)&(b<5)) else c)"),
    ((a < 9).where(a, b), "a"),
    (p.where(q, UOp.const(dtypes.bool, False)), "((a<3)&(b<5))"),
    (p.where(q, UOp.const(dtypes.bool, True)), "(((a<3)!=True)|(b<5))"),
    # bits and casts
    (a & 15, "a"),
    (a & 5, "(a&5)"),
    (a ^ 0, "a"),
    (a.cast(dtypes.long).cast(dtypes.int), "a"),
    (a.cast(dtypes.int8).cast(dtypes.int), "a"),
    (p.cast(dtypes.int).ne(0), "(a<3)"),
    (a.alu(Ops.CDIV, constant(3)), "(a//3)"),
    # a range or Variable of one value
    (UOp.range(1, 0) + a, "a"),
    (variable("one", 4, 4) + a, "(a+4)"),
])  # fmt: skip
def test_simplifies_to(expression, text):
    assert_equal_everywhere(expression, expression.simplify())
    assert expression.render() == text


def test_a_range_of_symbolic_size_divides_by_its_size():
    n = variable("n", 1, 10)
    i, j = UOp.range(8, 0), UOp.range(n + 2, 1)
    flat = i * (n + 2) + j
    assert (j // (n + 2)).render() == "0"
    assert (j % (n + 2)).simplify() is j
    assert ((i * n + UOp.range(n, 2)) // n).simplify() is i
    assert flat.simplify() is (j + (n + 2) * i).simplify()


def test_what_might_wrap_around_is_left_alone():
    x = UOp.variable("x", -128, 127, dtypes.int8)
    for e in ((x * 2) // 2, (x + 1) // 2, (x + 1 < 1), x.alu(Ops.NEG) < 0, (x + x) % 2):
        assert_equal_everywhere(e, e.simplify())
    assert (x + 1 < 1).render() == "((x+1)<1)"
    assert (x * 2 - x).simplify() is x  # sums may be rearranged: they hold modulo 2**8 too


def test_loops_of_size_one_are_dropped():
    i, j = UOp.range(1, 0), UOp.range(4, 1)
    memory = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4), (), 0)
    value = memory.index(i, j, shape=(1, 4)).load().reduce(Ops.ADD, i, j)
    kernel = memory.index(i, shape=(1,)).store(value, i).sink()
    simple = graph_rewrite(kernel, sym)
    (store,) = simple.src
    assert store.own_ranges == () and store.src[1].own_ranges == (j,)
    alone = graph_rewrite(memory.index(i, shape=(1,)).load().reduce(Ops.ADD, i), sym)
    assert alone.op is Ops.LOAD


def test_a_bound_variable_is_not_its_value():
    """A kernel made for one value of a Variable serves all of them."""
    n = variable("n", 1, 10).bind(3)
    assert (n + 1 < 5).simplify().op is not Ops.CONST


def test_a_table_of_its_own_is_not_taken_for_sym():
    """Results that simplify() keeps on the nodes must not come from fewer rules."""
    x = (UOp.variable("z", 0, 1, dtypes.float) * 1.0).cast(dtypes.int) + 1
    assert graph_rewrite(x + a, index_rules) is not (x + a).simplify()
    assert graph_rewrite(x + 0 + a, index_rules).simplify() is (x + a).simplify()


# ---- terms and from_terms, conditions -----------------------------------------------------------


def test_terms_and_total_take_a_sum_apart_and_put_it_together():
    e = (a + 3) * 4 + b - 1
    assert terms(e) == {a: 4, b: 1, None: 11}
    assert from_terms(terms(e)) is e.simplify()
    assert from_terms({}) is constant(0)


@given(variables(), st.data())
@settings(max_examples=50)
def test_total_of_terms_is_the_sum(names, data):
    e = data.draw(integers(names, 3))
    for values in list(assignments(leaves(e), most=50))[:20]:
        assert evaluate(from_terms(terms(e), e.dtype), values) == evaluate(e, values)


def test_conjuncts_and_all_of():
    assert conjuncts(UOp.const(dtypes.bool, True)) == []
    assert conjuncts((p & q) & (c < 2)) == [p, q, c < 2]
    assert all_of([]).arg is True
    assert all_of([p, q]) is (q & p).simplify()


@pytest.mark.parametrize(("expression", "condition", "text"), [
    (a % 4, a < 4, "a"),
    ((a + c - 1) // 4, (a + c >= 1) & (a + c < 5), "0"),
    ((a + c - 1) % 8, (a + c >= 1) & (a + c < 9), "((a+c)+-1)"),
    ((a * 2 + c * 2 - 2) // 8, (a + c >= 1) & (a + c < 5), "0"),
    ((a < 4).where(a, b), a < 3, "a"),
    (a // 4 + b % 4, (a < 4) & (b >= 4) & (b < 8), "(b+-4)"),
    (p.where(a, b) % 9, p, "a"),
    (a % 4, b < 4, "(a%4)"),
])  # fmt: skip
def test_simplify_given(expression, condition, text):
    simple = simplify_given(expression, condition)
    assert_equal_everywhere(expression, simple, given=condition)
    assert simple.render() == text


def test_what_is_read_for_an_index_keeps_its_own_index_and_condition():
    table = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(9), (), 0)
    found = table.index(a % 4, valid=a < 4, shape=(9,)).load()
    assert simplify_given((a < 4).where(found, b) + a % 4, a < 4) is (found + a).simplify()


# ---- floats -------------------------------------------------------------------------------------

g = f * 1.5  # some float that is no constant


@pytest.mark.parametrize(("expression", "expected"), [
    (g + 0, g),
    (0.0 + g, g),
    (g + -0.0, g),
    (g.alu(Ops.SUB, g.const_like(0)), g),
    (g * 1, g),
    (1.0 * g, g),
    (g / 1, g),
    (g * -1 * -1, g),
    (g.alu(Ops.NEG).alu(Ops.NEG), g),
    (g / 4, g * 0.25),
    (g / -0.5, g * -2),
    (g.maximum(g), g),
    (g.maximum(float("-inf")), g),
    (g**2, g * g),
    (g**1, g),
    (g**0, g.const_like(1)),
    (g**-1, g.reciprocal()),
    (2.0 * g, g * 2),
    (g.trunc().trunc(), g.trunc()),
    (g.cast(dtypes.double).cast(dtypes.float), g),
    (p.where(g, g), g),
    (UOp.const(dtypes.float, 2) + 3, UOp.const(dtypes.float, 5)),
    (UOp.const(dtypes.half, 1) / 3, UOp.const(dtypes.half, 0.333251953125)),
    (g < g, UOp.const(dtypes.bool, False)),
])  # fmt: skip
def test_exact_rules_on_floats(expression, expected):
    assert expression.simplify() is expected.simplify()


@pytest.mark.parametrize("expression", [
    g * 0,
    g - g,
    g / g,
    g / 3,
    UOp.variable("d", 0, 1, dtypes.double) / 3,
    g.exp2().log2(),
    f * 2 * 3,
    f + 1 + 2,
    g.ne(g),
    g.eq(g),
    g.maximum(float("inf")),
    g.cast(dtypes.half).cast(dtypes.float),
    g.cast(dtypes.int).cast(dtypes.float),
    g.reciprocal().reciprocal(),
    g.maximum(0.0),
    g * float("nan"),
    g.sqrt() * g.sqrt(),
    g**0.5,
])  # fmt: skip
def test_what_is_not_exact_for_every_float_stays(expression):
    assert expression.simplify() is expression


h = f.sin()


@pytest.mark.parametrize(("expression", "expected"), [
    (h * 0, h.const_like(0)),
    (h - h, h.const_like(0)),
    (h / h, h.const_like(1)),
    (h.exp2().log2(), h),
    (h * 2 * 3, h * 6),
    (h + 1 + 2, h + 3),
    (h.sqrt() * h.sqrt(), h),
    (h / 5, h * 0.2),
    (h.reciprocal().reciprocal(), h),
    (h * 3.5 / h, h.const_like(3.5)),
    (h / f * f, h),
    ((h * 1.4426950408889634).exp2().log2() * 0.6931471805599453, h),  # log(exp(h))
])  # fmt: skip
def test_relaxed_rules(expression, expected):
    assert graph_rewrite(expression, sym + relaxed) is graph_rewrite(expected, sym + relaxed)


# ---- what reshaping leaves ----------------------------------------------------------------------


def test_a_block_of_a_grid_that_may_be_empty_is_not_the_only_one():
    """As a loop of at most one turn is not: it may have none."""
    size = UOp.variable("n", 0, 1)
    assert UOp(Ops.SPECIAL, dtypes.int, (), ("gidx0", 1)).simplify().op is Ops.CONST
    assert UOp(Ops.SPECIAL, dtypes.int, (), ("gidx0", size)).simplify().op is Ops.SPECIAL


def test_what_has_wrapped_around_is_still_a_multiple_of_a_power_of_two():
    i = UOp.variable("i", 0, 2**31 - 1)
    wrapped = (i.bitcast(dtypes.uint32) * 12).bitcast(dtypes.int32) + 8
    assert is_multiple(wrapped, 4) and not is_multiple(wrapped, 3) and not is_multiple(wrapped, 8)
