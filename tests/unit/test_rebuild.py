"""rebuild: what a node becomes depends on what its sources became, and only on that."""

from __future__ import annotations

from tinyframe.uop.node import Ops, UOp, rebuild


def variable(name: str) -> UOp:
    return UOp.variable(name, 0, 9)


def test_a_change_sees_a_node_as_it_was_and_on_its_new_sources():
    x, seen, calls = variable("x"), {}, []

    def note(old: UOp, new: UOp) -> UOp:
        seen[old] = new
        calls.append(old)
        return new + 1 if old.op is Ops.DEFINE_VAR else new

    assert rebuild((x * 2) * (x * 2), note) is ((x + 1) * 2) * ((x + 1) * 2)
    assert seen[x] is x
    assert seen[x * 2] is (x + 1) * 2
    assert len(calls) == len(seen), "once, however often it is used"


def test_what_is_known_is_not_looked_into_and_what_is_found_is_added():
    x, y = variable("x"), variable("y")
    inner = x * 2
    done = {inner: y}

    def no_x(old: UOp, new: UOp) -> UOp:
        assert old is not x
        return new

    assert rebuild(inner + 3, no_x, done) is y + 3
    assert done[inner + 3] is y + 3
    put_y = lambda old, new: y if old is x else new  # noqa: E731
    changed = rebuild(inner + x, put_y, below=lambda u: u is not inner)
    assert changed is inner + y, "a node that is refused stays, with all below it"


def test_a_graph_may_be_deeper_than_pythons_stack():
    x = deep = variable("x")
    for _ in range(5000):
        deep = deep.alu(Ops.XOR, x)
    y = variable("y")
    out = rebuild(deep, lambda old, new: y if old is x else new)
    assert out.variables() == [y]
