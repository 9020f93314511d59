"""Part 7a: what its last page claims."""

from __future__ import annotations

import math

import numpy as np
import pytest

from classroom.added import added, work
from classroom.lies import FLOATS, lie
from classroom.obvious import TEN, lie_of
from tests.course.claims import claim
from tinyframe import Context, Tensor, Variable
from tinyframe.rewrite import PatternMatcher, RewriteLoopError, UPat, graph_rewrite
from tinyframe.uop import Ops

x, y, c = UPat.var("x"), UPat.var("y"), UPat.cvar("c")
i, j = Variable("i", 0, 7), Variable("j", 0, 3)


@claim(
    "A rewrite rule is a pattern and what to put in its place, and a table of them is applied "
    "until nothing changes."
)
def a_table_leaves_a_graph_in_which_nothing_matches():
    table = PatternMatcher([(x + x, lambda x: x * 2), (x * 2, lambda x: x << 1)])
    after = graph_rewrite((i + i) + (i + i), table)
    assert after is (i << 1) << 1
    assert all(table.rewrite(u) is None for u in after.toposort())


@claim(
    "A rule for floats has to hold for infinities, NaN, both zeros, and rounding, so most of "
    "school algebra is out."
)
def seven_of_ten_obvious_rules_lie_about_floats():
    lies = [found for rule in TEN if (found := lie_of(rule, False)) is not None]
    assert len(lies) == 7 > len(TEN) / 2
    values = [value for found in lies for value in found.values.values()]
    assert any(map(math.isnan, values)) or any(map(math.isinf, values))
    assert any(value == 0 and math.copysign(1, value) < 0 for value in values)


@claim(
    "Bounds tell a compiler what's always so, and then divisions, remainders and comparisons "
    "disappear."
)
def what_bounds_decide_is_gone():
    assert ((i * 4 + j) // 4).simplify() is i and ((i * 4 + j) % 4).simplify() is j
    assert (i < 8).simplify().arg is True
    wide = Variable("wide", 0, 4)
    assert (wide % 4).simplify().op is Ops.MOD and (i < 7).simplify().op is Ops.CMPLT


@claim("Two rules may each be right, and never end together.")
def right_rules_that_never_end_together():
    (left, right), k = (UPat.var("left"), UPat.var("right")), UPat.cvar("k")
    spread = ((left + right) * k, lambda left, right, k: left * k + right * k)
    collect = (left * k + right * k, lambda left, right, k: (left + right) * k)
    root = (i + j) * 3
    for row in (spread, collect):
        for start in (root, i * 3 + j * 3):
            assert lie(start, graph_rewrite(start, PatternMatcher([row]))) is None
    with pytest.raises(RewriteLoopError, match="spread"):
        graph_rewrite(root, PatternMatcher([spread, collect]))


@claim("x * 0 is 0.")
def times_zero_is_not_zero_and_who_says_so_reads_nothing():
    readings = Tensor([1.0, math.inf, math.nan]).realize()
    rules = PatternMatcher([(x * 0, lambda x: x.const_like(0))])
    assert (readings * 0 == 0).tolist() == [True, False, False]
    assert work(readings * 0 == 0).total() == 2
    with added(rules):
        assert (readings * 0 == 0).tolist() == [True, True, True]
        assert work(readings * 0 == 0).total() == 0
    assert (readings * 0 == 0).tolist() == [True, False, False]
    with Context(RELAXED=1, NOOPT=0):
        assert (readings * 0 == 0).tolist() == [True, True, True]


@claim("NOOPT=1 switches all rules off.")
def folding_does_not_ask_for_noopt():
    a = Tensor(np.float32(FLOATS)).realize()
    for noopt in (0, 1):
        with Context(NOOPT=noopt):
            assert work(a * 1 + 0).total() == 0
            assert work(a * 0 + 1).total() == 2 and work(a - a).total() == 1


@claim("A shift is only a division for positive numbers.")
def a_shift_is_a_floor_division_below_zero_too():
    n = Variable("n", -100, 100)
    assert lie(n // 8, n >> 3) is None and lie(n % 8, n & 7) is None
    found = lie(n.alu(Ops.CDIV, n.const_like(8)), n >> 3)
    assert found is not None and all(value < 0 for value in found.values.values())


@claim("The order of the rows doesn't matter.")
def the_first_row_that_matches_wins():
    rows = [(x * 2, lambda x: x + x), (x * c, lambda x, c: x << 1 if c.arg == 2 else None)]
    assert graph_rewrite(i * 2, PatternMatcher(rows)) is i + i
    assert graph_rewrite(i * 2, PatternMatcher(rows[::-1])) is i << 1
