"""UOps as text: the forms that the course's texts print."""

from __future__ import annotations

import pytest

from tinyframe.dtype import dtypes
from tinyframe.rewrite import UPat
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import listing, pretty, render, render_pattern, sizes_text, summary

a, b = UOp.variable("a", 0, 9), UOp.variable("b", 0, 9)


# ---- whole graphs -------------------------------------------------------------------------------


def test_a_graph_prints_as_nested_uops_and_a_node_used_twice_by_name():
    buffer = UOp(Ops.BUFFER, dtypes.int, (UOp(Ops.UNIQUE, arg=7), UOp(Ops.DEVICE, arg="PYTHON")), 4)
    twice = buffer.copy_to_device("CPU").rtag("mark")
    text = """\
UOp(Ops.MUL, dtypes.int, arg=None, src=(
  x0:=UOp(Ops.COPY, dtypes.int, arg=None, tag='mark', src=(
    UOp(Ops.BUFFER, dtypes.int, arg=4, src=(
      UOp(Ops.UNIQUE, dtypes.void, arg=7, src=()),
      UOp(Ops.DEVICE, dtypes.void, arg='PYTHON', src=()),)),
    UOp(Ops.DEVICE, dtypes.void, arg='CPU', src=()),)),
  x0,))"""
    assert repr(twice * twice) == text


def test_what_is_printed_can_be_run():
    u = (a + 1) * (a + 1) + a // 3
    assert eval(repr(u), {"UOp": UOp, "Ops": Ops, "dtypes": dtypes}) is u


def test_a_chain_of_10000_ops_is_printed():
    u = UOp.variable("f", 0, 1, dtypes.float)
    for _ in range(10_000):
        u = u.sin()
    text = pretty(u)
    assert text.count("Ops.SIN") == 10_000 and len(text) < 3_000_000


# ---- index expressions --------------------------------------------------------------------------

i, X = UOp.range(8, 0), UPat.var("x")
DATA1 = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(8), (), 1)


@pytest.mark.parametrize(("expression", "text"), [
    (a + 3, "(a+3)"),
    (a * 5, "(a*5)"),
    (a < b, "(a<b)"),
    (a >= b, "((a<b)!=True)"),
    (a - b, "(a+(b*-1))"),
    (-a, "(a*-1)"),
    (a // 2 % 3, "((a//2)%3)"),
    (a.maximum(b), "max(a, b)"),
    ((a < b).where(a, 0), "(a if (a<b) else 0)"),
    (i * 4 + a, "((ridx0*4)+a)"),
    (UOp.special("gidx0", 4) + 1, "(gidx0+1)"),
    (a.bind(3) + 1, "(a+1)"),
    (a.mulacc(b, 1), "(a*b+1)"),
    (a & 3, "(a&3)"),
    (a.eq(b), "(a==b)"),
    (a << 2, "(a<<2)"),
    (a.cast(dtypes.long), "long(a)"),
    (a.alu(Ops.NEG), "(-a)"),
    (UOp.const(dtypes.float, 1.5), "1.5"),
    (a.cast(dtypes.float).exp2(), "exp2(float(a))"),
    (DATA1.index(i, shape=(8,)).load() + 1, "(data1[ridx0]+1)"),
])  # fmt: skip
def test_expressions_render(expression, text):
    assert expression.render(simplify=False) == render(expression) == text


def test_render_simplifies_unless_told_not_to():
    assert (a + b - a).render() == "b"
    assert (a + b - a).render(simplify=False) == "((a+b)+(a*-1))"


def test_a_long_expression_is_cut_not_endless():
    u = a
    for _ in range(200):
        u = u * b + u  # shared: written out it would double each time
    assert len(render(u)) < 20_000


# ---- patterns, programs -------------------------------------------------------------------------


@pytest.mark.parametrize(("pattern", "text"), [
    (X + 0, "(x + 0)"),
    (X + UPat.cvar("c"), "(x + CONST:c)"),
    (UPat(Ops.MAX, src=(X, X), name="m"), "MAX(x, x):m"),
    (UPat.any(X + 1, X * 2), "(x + 1) or (x * 2)"),
    (UPat(), "_"),
    (UPat((Ops.IDIV, Ops.MOD), name="u"), "IDIV|MOD:u"),
    (UPat(Ops.SINK, src=UPat(Ops.STORE)), "SINK(STORE...)"),
    (UPat.var("c").where(UPat.var("x"), UPat()), "WHERE(c, x, _)"),
    (UPat(Ops.RANGE, src=(UPat.var("n"),), allow_any_len=True), "RANGE(n, ...)"),
])  # fmt: skip
def test_patterns_render_on_one_line(pattern, text):
    assert render_pattern(pattern) == repr(pattern) == text


def test_a_program_is_listed_one_instruction_a_line():
    data = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(8), (), 0)
    place = UOp(Ops.INDEX, data.dtype, (data, UOp.const(dtypes.bool, True), i))
    load = place.load()
    double = load + load
    store = place.store(double)
    program = [data, i, place, load, double, store, UOp(Ops.ENDRANGE, dtypes.void, (i,))]
    text = """\
   0 DEFINE_GLOBAL  float.ptr(8)         []                       0
   1 RANGE          int                  [8]                      (0, AxisType.LOOP)
   2 INDEX          float.ptr(8)         [%0, True, %1]
   3 LOAD           float                [%2]
   4 ADD            float                [%3, %3]
   5 STORE          void                 [%2, %4]
   6 ENDRANGE       void                 [%1]"""
    assert listing(program) == text


def test_a_summary_has_a_line_for_each_node_but_constants():
    lines = summary((a + 1) * (b + 1)).splitlines()
    assert len(lines) == 5
    assert lines[-1].split()[:3] == ["4", "MUL", "int"]


def test_symbolic_sizes_are_shown_with_what_they_are_bound_to():
    n = UOp.variable("n", 1, 8)
    assert sizes_text((2, n.bind(3), n)) == "(2, n=3, n)"
    assert sizes_text((n.bind(3) + 1,)) == "((n=3+1),)"
    assert sizes_text((2, 3)) == "(2, 3)" and sizes_text(()) == "()"
