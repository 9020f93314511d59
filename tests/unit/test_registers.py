"""A REDUCE as register operations: what the graph says of when and where each of them is done."""

from __future__ import annotations

import math

import pytest

from tests.kernels import kernel_of, on_buffer, ops_in
from tinyframe import dtypes
from tinyframe.codegen import full_rewrite_to_sink
from tinyframe.codegen.linearize import loop_tree, with_registers
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop.node import Ops, UOp


def nodes_of(tensor, *opts: Opt) -> tuple[UOp, list[UOp]]:
    sink = full_rewrite_to_sink(kernel_of(tensor), CStyleLanguage(), list(opts))
    return sink, with_registers(sink, loop_tree(sink))


def test_every_node_stands_after_its_sources_and_no_reduce_is_left():
    sink, nodes = nodes_of(on_buffer(40, 9).softmax())
    assert len(ops_in(sink, Ops.REDUCE)) == sum(u.op is Ops.DEFINE_REG for u in nodes) == 2
    place = {u: n for n, u in enumerate(nodes)}
    assert len(place) == len(nodes)
    assert all(place[s] < n for u, n in place.items() for s in u.src)
    assert Ops.REDUCE not in {u.op for u in nodes}


def test_a_register_is_begun_added_to_and_read_in_this_order():
    sink, nodes = nodes_of(on_buffer(8, 9).sum(axis=1))
    (reduce,) = ops_in(sink, Ops.REDUCE)
    row, k = reduce.ranges, set(reduce.own_ranges)
    (register,) = [u for u in nodes if u.op is Ops.DEFINE_REG]
    steps = [u for u in nodes if u.op in (Ops.LOAD, Ops.STORE) and u.src[0].src[0] is register]
    begin, before, after, result = steps
    assert [u.op for u in steps] == [Ops.STORE, Ops.LOAD, Ops.STORE, Ops.LOAD]
    assert begin.src[1].arg == 0.0
    assert begin.ranges == row  # before the loop
    assert before.src[1] is begin
    assert before.ranges == row | k  # in it, anew in each turn
    assert after.src[1].src[0] is before
    assert set(after.own_ranges) == k
    assert result.src[1] is after
    assert result.ranges == row  # after it
    (store,) = [u for u in nodes if u.op is Ops.STORE and u.src[0].src[0].op is Ops.DEFINE_GLOBAL]
    assert store.src[1] is result


@pytest.mark.parametrize(
    ("reduce", "identity"),
    [("sum", 0.0), ("max", -math.inf), ("prod", 1.0)],
)
def test_a_register_begins_with_what_a_reduce_of_nothing_gives(reduce, identity):
    _, nodes = nodes_of(getattr(on_buffer(8), reduce)())
    (begin,) = [u for u in nodes if u.op is Ops.STORE and u.src[1].op is Ops.CONST]
    assert begin.src[1].arg == identity


def test_unrolled_values_are_added_one_after_the_other():
    _, nodes = nodes_of(on_buffer(64).sum(), Opt(OptOps.UNROLL, 0, 4))
    stores = [u for u in nodes if u.op is Ops.STORE and u.src[0].src[0].op is Ops.DEFINE_REG]
    assert len(stores) == 5
    for earlier, later in zip(stores, stores[1:], strict=False):
        before = later.src[1].src[0]
        assert before.src[:2] == (later.src[0], earlier)
    # only the last addition closes the loop
    assert [len(u.own_ranges) for u in stores] == [0, 0, 0, 0, 1]


def test_lanes_begin_alike():
    _, nodes = nodes_of(on_buffer(64).sum(), Opt(OptOps.VECTOR, 0, 8))
    (register,) = [u for u in nodes if u.op is Ops.DEFINE_REG]
    assert register.dtype.base is dtypes.float.vec(8)
    begin = next(u for u in nodes if u.op is Ops.STORE)
    assert [s.arg for s in begin.src[1].src] == [0.0] * 8
