"""graph_rewrite: to a fixed point, in the promised order, without endless loops or recursion."""

from __future__ import annotations

import pytest

from tinyframe.algebra.symbolic import sym
from tinyframe.dtype import dtypes
from tinyframe.rewrite import PatternMatcher, RewriteLoopError, UPat, graph_rewrite, matcher
from tinyframe.uop.node import Ops, UOp

a, b, c = (UOp.variable(name, 0, 9) for name in "abc")
x, y, k = UPat.var("x"), UPat.var("y"), UPat.cvar("k")

P, Q = UPat.cvar("p"), UPat.cvar("q")
ANY_VAR = UPat(Ops.DEFINE_VAR, name="v")
fold = PatternMatcher([
    (x + 0, lambda x: x),
    (P + Q, lambda p, q: p.const_like(p.arg + q.arg)),
    (P * Q, lambda p, q: p.const_like(p.arg * q.arg)),
])  # fmt: skip


def test_rules_apply_until_none_matches():
    one = a.const_like(1)
    assert graph_rewrite(a + ((one + 2) * 3 + -9), fold) is a


def test_what_a_rule_returns_is_rewritten_again():
    down = PatternMatcher([(k, lambda k: k.const_like(k.arg - 1) if k.arg > 0 else None)])
    assert graph_rewrite(a + 5, down) is a + 0
    expand = PatternMatcher([(x * 3, lambda x: x + x * 2), (x * 2, lambda x: x + x)])
    assert graph_rewrite(a * 3, expand) is a + (a + a)


def test_sources_are_rewritten_first():
    order = []
    pm = PatternMatcher([(UPat(name="u"), lambda u: order.append(u))])
    u = (a + b) * c
    graph_rewrite(u, pm)
    assert order == [a, b, a + b, c, u]


def test_bottom_up_matches_a_node_before_its_sources():
    pm = PatternMatcher([(x * 0, lambda x: a.const_like(0)), (ANY_VAR, lambda v: 1 / 0)])
    assert graph_rewrite(a * 0, pm, bottom_up=True) is a.const_like(0)
    with pytest.raises(ZeroDivisionError):
        graph_rewrite(a * 0, pm)


def test_bottom_up_meets_what_its_sources_have_become():
    pm = PatternMatcher([(x + 0, lambda x: x), (x * UPat.cvar("z", arg=0), lambda x, z: z)])
    assert graph_rewrite(a + b * 0, pm, bottom_up=True) is a


def test_two_tables_in_one_walk():
    before = PatternMatcher([(x - y, lambda x, y: x if x is y else None), (x * 1, lambda x: x)])
    assert graph_rewrite((a * 1 + 0) * 1, fold, bpm=before) is a


def test_walk_visits_each_node_once():
    rules = [(k, lambda k: k.const_like(k.arg + 1)), (ANY_VAR, lambda v: v + v)]
    bump = PatternMatcher(rules)
    assert graph_rewrite(a + 5, bump, walk=True) is (a + a) + 6
    assert graph_rewrite(a + 5, bump, walk=True, bottom_up=True) is (a + a) + 6


def test_the_context_is_passed_to_rules():
    seen = []
    pm = PatternMatcher([(ANY_VAR, lambda v, ctx: ctx.append(v))])
    graph_rewrite(a + b * a, pm, ctx=seen)
    assert seen == [a, b]


def test_shared_nodes_are_rewritten_once():
    count = []
    pm = PatternMatcher([(UPat(Ops.MUL), lambda: count.append(1))])
    shared = a * b
    graph_rewrite((shared + shared) + (shared + 1), pm)
    assert len(count) == 1


def test_tags_are_kept_and_tell_nodes_apart():
    pm = PatternMatcher([(UPat(Ops.DEFINE_VAR, arg=("a", 0, 9)), lambda: b)])
    assert graph_rewrite((a + c).rtag("kept"), pm) is (b + c).rtag("kept")
    tagged = UPat(Ops.ADD, name="u"), lambda u: u.rtag("done") if u.tag is None else None
    once = PatternMatcher([tagged])
    assert graph_rewrite(a + b, once) is (a + b).rtag("done")


def test_an_unchanged_graph_is_the_same_object():
    u = (a + b) * c
    assert graph_rewrite(u, fold) is u


def test_results_kept_on_the_nodes_are_used_again():
    count = []
    pm = PatternMatcher([(x + 0, lambda x: count.append(1) or x)])
    shared = UOp.variable("kept", 0, 5) + 0
    assert graph_rewrite(shared * 2, pm, memo="_test") is shared.src[0] * 2
    assert graph_rewrite(shared * 3, pm, memo="_test") is shared.src[0] * 3
    assert len(count) == 1


@pytest.mark.parametrize("bottom_up", [False, True])
@pytest.mark.parametrize("rules", [
    [(x + 1, lambda x: x * 2), (x * 2, lambda x: x + 1)],
    [(ANY_VAR, lambda v: v + 1)],
    [(k, lambda k: k.const_like(k.arg + 1))],
    [(x * 2, lambda x: x + 1), (x + 1, lambda x: (x + 2) * 1), (x * 1, lambda x: x.src[0] * 2)],
])  # fmt: skip
def test_rules_that_never_end_are_an_error_that_names_them(rules, bottom_up):
    with pytest.raises(RewriteLoopError, match=r"test_rewrite\.py:\d+") as error:
        graph_rewrite(a + 1 + b, PatternMatcher(rules), bottom_up=bottom_up, name="endless")
    assert isinstance(error.value, RuntimeError)
    named = [line for line in str(error.value).splitlines() if "test_rewrite.py" in line]
    assert "endless" in str(error.value) and 1 <= len(named) <= len(rules)


def test_chains_of_10000_ops_are_rewritten():
    u = UOp.variable("f", 0, 1, dtypes.float)
    for n in range(10_000):
        u = u.sin() + 0.0 if n % 2 else u.sqrt() * 1.0
    for mode in ({}, {"bottom_up": True}):
        out = graph_rewrite(u, sym, **mode)
        assert len(out.toposort()) == 10_001


# ---- the trace ----------------------------------------------------------------------------------


def test_a_trace_records_every_step_and_nothing_outside_its_block():
    with matcher.record() as passes:
        out = graph_rewrite(a + (a.const_like(1) + -1), fold, name="fold it")
        with matcher.record() as inner:
            graph_rewrite(b + 0, fold)
    graph_rewrite(b + 0, fold)
    assert [p.name for p in passes] == ["fold it", "rewrite"] and len(inner) == 1
    first = passes[0]
    assert (first.before, first.after) == (a + (a.const_like(1) + -1), a) and out is a
    assert [(s.before, s.after) for s in first.steps] == [
        (a.const_like(1) + -1, a.const_like(0)),
        (a + 0, a),
    ]
    assert first.rules_fired()[fold.rules[0]] == 1
    assert not matcher._recording


def test_a_trace_is_closed_by_an_error():
    with pytest.raises(ZeroDivisionError), matcher.record():
        graph_rewrite(a, PatternMatcher([(UPat(), lambda: 1 / 0)]))
    assert not matcher._recording


def test_a_rule_prints_where_it_is_written():
    written = repr(fold.rules[0])
    assert written.startswith("test_rewrite.py:") and "(x + 0, lambda x: x)" in written
    # not "<string>": from Python 3.13 on that's what `python -c` says, and xdist's workers begin so
    made_up = eval(compile("lambda x: x", "<made up>", "eval"), {})
    assert "(x + 0)" in repr(PatternMatcher([(x + 0, made_up)]).rules[0])  # no source: its pattern
