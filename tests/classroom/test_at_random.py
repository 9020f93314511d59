"""Expressions at random: the same for everybody, and a wrong rule is found by them."""

import random

import pytest

from classroom.at_random import drawn, lie_at_random, rules_tried
from classroom.lies import differ
from tinyframe.algebra import symbolic
from tinyframe.dtype import dtypes
from tinyframe.rewrite import PatternMatcher, UPat, graph_rewrite
from tinyframe.uop import Ops
from tinyframe.uop.evaluate import evaluate

x, c = UPat.var("x"), UPat.cvar("c")
WRONG = {
    "a remainder that is dropped": (x % c, lambda x, c: x),
    "a quotient that rounds towards zero": (x // c, lambda x, c: x.alu(Ops.CDIV, c)),
    "a cast that is dropped": (UPat(Ops.CAST, src=(x,), name="u"), lambda u, x: x),
    "a difference the other way round": (x + c, lambda x, c: x - c),
}


def test_tinyframes_rules_change_no_value_and_the_same_is_drawn_each_time():
    first = rules_tried(60)
    assert first.wrong is None and first.nodes_after < first.nodes
    assert str(rules_tried(60)) == str(first) != str(rules_tried(60, seed=8))


@pytest.mark.parametrize("row", WRONG.values(), ids=[*WRONG])
def test_a_wrong_rule_is_found_and_its_lie_is_one(row, monkeypatch):
    rules = PatternMatcher([row])
    dice = random.Random(1)
    for _ in range(200):
        before = drawn(dice, dtypes.int, 4)
        after = graph_rewrite(before, rules)
        if found := lie_at_random(dice, before, after):
            break
    assert found is not None
    before, after, lie = found
    assert differ(evaluate(before, lie.values), evaluate(after, lie.values))


def test_it_says_where_a_value_changed(monkeypatch):
    worse = PatternMatcher([WRONG["a remainder that is dropped"]]) + symbolic.sym
    monkeypatch.setattr("tinyframe.uop.node.UOp.simplify", lambda u: graph_rewrite(u, worse))
    told = repr(rules_tried(60))
    assert "has become" in told and "and where " in told and "changed its value" not in told
