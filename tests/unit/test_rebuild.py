"""rebuild: what a node becomes depends on what its sources became, and only on that."""

from __future__ import annotations

from tinyframe.uop.node import Ops, UOp, rebuild


def variable(name: str) -> UOp:
    return UOp.variable(name, 0, 9)


def same(old: UOp, new: UOp) -> UOp:
    return new


def test_a_graph_in_which_nothing_changes_is_the_same_object():
    x = variable("x")
    assert rebuild(x * 2 + 1, same) is x * 2 + 1


def test_a_change_reaches_all_that_is_made_of_it():
    x, y = variable("x"), variable("y")
    assert rebuild((x * 2 + y) * x, lambda old, new: y if old is x else new) is (y * 2 + y) * y


def test_a_change_sees_a_node_as_it_was_and_on_its_new_sources():
    x, seen = variable("x"), {}

    def note(old: UOp, new: UOp) -> UOp:
        seen[old] = new
        return new + 1 if old.op is Ops.DEFINE_VAR else new

    assert rebuild(x * 2, note) is (x + 1) * 2
    assert seen[x] is x
    assert seen[x * 2] is (x + 1) * 2


def test_each_node_is_changed_once_however_often_it_is_used():
    x, calls = variable("x"), []
    rebuild((x + 1) * (x + 1) + x, lambda old, new: calls.append(old) or new)
    assert len(calls) == len(set(calls))


def test_what_is_known_is_not_looked_into_and_what_is_found_is_added():
    x, y = variable("x"), variable("y")
    inner = x * 2
    done = {inner: y}

    def no_x(old: UOp, new: UOp) -> UOp:
        assert old is not x
        return new

    assert rebuild(inner + 3, no_x, done) is y + 3
    assert done[inner + 3] is y + 3


def test_a_node_that_is_refused_stays_with_all_below_it():
    x, y = variable("x"), variable("y")
    apart = x * 2

    def change(old: UOp, new: UOp) -> UOp:
        return y if old is x else new

    assert rebuild(apart + x, change, below=lambda u: u is not apart) is apart + y


def test_a_graph_may_be_deeper_than_pythons_stack():
    x = deep = variable("x")
    for _ in range(5000):
        deep = deep.alu(Ops.XOR, x)
    y = variable("y")
    out = rebuild(deep, lambda old, new: y if old is x else new)
    assert out.variables() == [y]
