"""UOps: one object per distinct node, immutable, let go of when unused, of any depth."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.values import computed
from tinyframe import Tensor
from tinyframe.dtype import dtypes
from tinyframe.uop.node import Ops, UOp, holds, resolve


def var(name: str, low: int = 0, high: int = 9) -> UOp:
    return UOp.variable(name, low, high)


a, b = var("a"), var("b")


# ---- one object per distinct node ---------------------------------------------------------------


def test_equal_nodes_are_one_object():
    assert var("a") is a and (a + b) * 2 is (a + b) * 2 and a + b is not b + a


@pytest.mark.parametrize(
    "made", [lambda v: UOp(Ops.CONST, arg=v), lambda v: UOp(Ops.NOOP, arg=(v, (v,))), a.rtag]
)
def test_values_that_python_holds_equal_are_told_apart(made):
    values = [1, 1.0, True, 0, 0.0, -0.0, False, "1", (1,), (True,), None]
    assert len(set(map(made, values))) == len(values)
    assert made(float("nan")) is made(float("nan"))


def test_dtype_arg_and_tag_tell_nodes_apart():
    assert UOp.const(dtypes.int, 1) is not UOp.const(dtypes.long, 1)
    assert a.rtag("x") is not a and a.rtag("x").rtag(None) is a


def test_a_constant_takes_the_kind_of_its_dtype():
    assert type(UOp.const(dtypes.float, 1).arg) is float
    assert type(UOp.const(dtypes.int, True).arg) is int
    assert type(UOp.const(dtypes.bool, 1).arg) is bool
    lanes = UOp.const(dtypes.float.vec(2), (1, 2))
    assert lanes.op is Ops.VECTORIZE and [s.arg for s in lanes.src] == [1.0, 2.0]


@pytest.mark.parametrize(
    "copied", [lambda u: pickle.loads(pickle.dumps(u)), copy.copy, copy.deepcopy]
)
def test_copies_are_the_same_object_however_deep_it_is(copied):
    deep = a
    for n in range(20_000):
        deep = UOp(Ops.ADD, dtypes.int, (deep, UOp.const(dtypes.int, n) if n % 2 else a))
    for u in ((a * 2 + b).rtag("kept"), deep):
        assert copied(u) is u


# ---- immutable ----------------------------------------------------------------------------------


def test_fields_cannot_be_set():
    with pytest.raises(AttributeError, match="immutable"):
        a.op = Ops.ADD
    with pytest.raises(AttributeError, match="immutable"):
        a.anything = 1


def test_replace_gives_a_changed_copy_and_keeps_the_rest():
    u = (a + b).rtag("t")
    v = u.replace(op=Ops.MUL)
    assert (v.op, v.src, v.dtype, v.arg, v.tag) == (Ops.MUL, u.src, u.dtype, u.arg, "t")
    assert u.replace() is u
    with pytest.raises(TypeError, match="nope"):
        u.replace(nope=1)


# ---- let go -------------------------------------------------------------------------------------


def test_the_table_lets_go_of_nodes_that_nobody_holds():
    x = UOp.variable("let_go", 0, 1)
    gc.collect()
    before = len(UOp._table)
    made = x + 12345
    made.simplify(), made.toposort(), made.bounds, repr(made), (made // 3 % 2 < 1).simplify()
    gone = weakref.ref(made)
    del made
    gc.collect()
    assert gone() is None
    assert len(UOp._table) <= before


def test_a_chain_of_20000_nodes_is_built_walked_bounded_replaced_and_let_go():
    gc.collect()
    before = len(UOp._table)
    u = a
    for k in range(20_000):
        u = u + k % 3
    order = list(u.toposort())
    assert order[-1] is u and len(order) == 20_000 + 4
    assert u.bounds == (sum(k % 3 for k in range(20_000)), 9 + sum(k % 3 for k in range(20_000)))
    assert u.ranges == frozenset() and u.shape == ()
    replaced = u.substitute({a: b})
    assert replaced is not u and replaced.variables() == [b]
    del u, order, replaced
    gc.collect()
    assert len(UOp._table) - before < 10


# ---- walking ------------------------------------------------------------------------------------


def test_toposort_has_sources_first_and_each_node_once():
    u = (a + b) * (a + b) + a
    order = list(u.toposort())
    assert len(order) == len(set(order)) == 5
    for n, x in enumerate(order):
        assert all(s in order[:n] for s in x.src)


def test_toposort_stops_at_the_gate():
    u = (a + 1) * b
    assert a not in u.toposort(gate=lambda x: x is not a + 1)


def test_substitute_replaces_and_leaves_replacements_alone():
    u = (a + b) * a
    assert u.substitute({a: a + 1}) is (a + 1 + b) * (a + 1)
    assert u.substitute({a: b, b: a}) is (b + a) * b
    assert (a.rtag("t") + b).substitute({b: a}) is a.rtag("t") + a


# ---- what is known of a value -------------------------------------------------------------------


def test_ranges_are_those_a_value_changes_with():
    i, j = UOp.range(4, 0), UOp.range(5, 1)
    memory = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(20), (), 0)
    load = memory.index(i, j, shape=(4, 5)).load()
    assert load.ranges == {i, j}
    assert load.reduce(Ops.ADD, j).ranges == {i}
    assert memory.index(i, j, shape=(4, 5)).store(load, i, j).sink().ranges == frozenset()
    assert UOp.range(i + 1, 2).ranges == {i, UOp.range(i + 1, 2)}


def test_variables_are_bound_and_unbound():
    bound = var("n", 1, 5).bind(3)
    assert bound.val == 3 and bound.unbind() == (var("n", 1, 5), 3) and bound.expr == "n"
    with pytest.raises(AssertionError, match=r"\[1, 5\]"):
        var("n", 1, 5).bind(6)
    with pytest.raises(AssertionError):
        (a + 1).bind(2)
    with pytest.raises(ValueError, match="above"):
        UOp.variable("m", 3, 2)


# ---- writing expressions ------------------------------------------------------------------------


@pytest.mark.parametrize(("written", "built"), [
    (a - b, a + b * -1),
    (-a, a * -1),
    (3 - a, UOp.const(dtypes.int, 3) + a * -1),
    (a >= b, (a < b).ne(True)),
    (a > b, b < a),
    (a <= b, (b < a).ne(True)),
    (a.minimum(b), -((-a - 1).maximum(-b - 1)) - 1),
    (~(a < b), (a < b).ne(True)),
    (a // 2, a.alu(Ops.IDIV, UOp.const(dtypes.int, 2))),
    (2**a, UOp.const(dtypes.int, 2).alu(Ops.POW, a)),
    (~a, a ^ -1),
    (1 + a, UOp.const(dtypes.int, 1) + a),
    (5 // a, UOp.const(dtypes.int, 5) // a),
])  # fmt: skip
def test_operators_build_nodes(written, built):
    assert written is built


def test_truth_is_only_given_where_it_is_certain():
    assert bool(a < 10) is True and bool(a < 0) is False
    with pytest.raises(ValueError, match="resolve"):
        bool(a < 5)
    assert resolve(a < 5) is True and resolve(a < 5, default=False) is False
    assert resolve(a < 0) is False and resolve(False) is False
    assert resolve(a + b - a < 10) is True


def test_a_value_that_is_certain_is_an_int():
    assert int(a - a + 3) == 3 and [10, 20][a - a + 1] == 20
    with pytest.raises(TypeError, match="a"):
        int(a)


# ---- sizes that are expressions of Variables -----------------------------------------------------


def test_variables_in_sizes_are_known_of_all_that_is_made_of_them():
    n, m = UOp.variable("n", 1, 8), UOp.variable("m", 0, 3).bind(2)
    x = UOp.new_buffer("CPU", 8, dtypes.float).shrink(((m, n + 3),)).exp2()
    assert x.unknowns == {n, m}
    assert [v.expr for v in x.variables()] == ["m", "n"] and ((b + a) * b).variables() == [a, b]
    assert UOp.const(dtypes.int, 3).unknowns == frozenset()


def test_substitute_reaches_into_sizes():
    n = UOp.variable("n", 1, 8)
    x = UOp.new_buffer("CPU", 16, dtypes.float).shrink(((0, n * 2),)).reshape((n, 2)).exp2()
    bound = x.substitute({n: n.bind(3)})
    assert bound.shape == (n.bind(3), 2)
    assert bound.substitute({n.bind(3): n}) is x
    assert x.substitute({n: n.const_like(3)}).shape == (3, 2)


def test_equal_sizes_are_one_object_however_they_were_written():
    n, buffer = UOp.variable("n", 1, 4), UOp.new_buffer("CPU", 16, dtypes.float)
    assert buffer.shrink(((0, n + n + 2),)) is buffer.shrink(((0, 2 * (n + 1)),))
    assert buffer.shrink(((n, n + 4),)).shape == (4,)


def test_what_holds_for_all_values_and_what_for_those_that_are_bound():
    n = UOp.variable("n", 1, 8)
    assert resolve(n.bind(3) < 9) and not resolve(n.bind(3) < 4, default=False)
    assert holds(n.bind(3) < 4) and not holds(n.bind(3) < 3)
    assert holds(n < 4)  # not bound: it may


# ---- what a node has of a Tensor's methods -------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8, np.bool_], ids=str)
@pytest.mark.parametrize("axis", [None, (0, -1)], ids=str)
def test_the_largest_and_the_smallest_along_axes(axis, dtype):
    values = np.random.default_rng(0).integers(0, 256, (2, 3, 4)).astype(np.uint8)
    values[0, 0] = [0, 127, 128, 255]  # the ends of both dtypes of a byte
    array = values.view(dtype) if dtype in (np.int8, np.uint8) else (values % 3).astype(dtype)
    x = Tensor(array).realize()
    calls = list(itertools.product(("max", "min"), (False, True)))
    made = [Tensor(getattr(x.uop, name)(axis, keepdim=keep)) for name, keep in calls]
    for found, (name, keep) in zip(computed(*made), calls, strict=True):
        np.testing.assert_array_equal(found, getattr(array, name)(axis, keepdims=keep))


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_nodes_are_stacked_along_a_new_axis(dim):
    arrays = [np.arange(6).reshape(2, 3) - n for n in range(3)]
    stacked = Tensor(UOp.stack(*[Tensor(x).realize().uop for x in arrays], dim=dim))
    np.testing.assert_array_equal(stacked.numpy(), np.stack(arrays, dim))


def test_an_index_is_valid_where_a_condition_holds():
    i = UOp.variable("i", 0, 9)
    assert i.valid(True) is i
    guarded = i.valid(i < 5)
    assert guarded.substitute({i: UOp.const(dtypes.int, 3)}).simplify().arg == 3
    assert guarded.substitute({i: UOp.const(dtypes.int, 7)}).simplify() is UOp.invalid()


@pytest.mark.parametrize("name", ["", "two words", "3x", "n=3", "größe"])
def test_a_name_that_no_variable_can_have_is_refused(name):
    with pytest.raises(ValueError, match="cannot name a Variable"):
        UOp.variable(name, 0, 1)


def test_a_graph_on_memory_is_not_pickled_without_its_values():
    memory = UOp.new_buffer("CPU", 4, dtypes.float)
    with pytest.raises(TypeError, match="Pickle the Tensor"):
        pickle.dumps(memory + memory)


def at_once(work: Callable[[int], list[UOp]], count: int = 6) -> list[list[UOp]]:
    """What many threads make that begin together and take turns all the time."""
    start, before = threading.Barrier(count), sys.getswitchinterval()

    def waited(number: int) -> list[UOp]:
        start.wait()
        return work(number)

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(waited, range(count)))
    finally:
        sys.setswitchinterval(before)


def test_nodes_made_by_many_threads_at_once_are_one():
    made = at_once(lambda _: [UOp.variable("n", 0, n + 1) + n for n in range(3000)])
    for same in zip(*made, strict=True):
        assert all(u is same[0] for u in same)


def test_a_node_knows_its_users_for_as_long_as_they_live():
    memory = UOp.new_buffer("CPU", 4, dtypes.float)
    doubled, view = memory + memory, memory.reshape((2, 2))
    assert set(memory.users()) == {doubled, view}
    for n in range(100):
        memory * memory.const_like(float(n))
    del doubled
    gc.collect()
    assert memory.users() == [view]
    assert UOp.const(dtypes.int, 3).users() == []


def test_no_user_is_lost_between_threads():
    buffers = [UOp.new_buffer("CPU", 4, dtypes.float) for _ in range(400)]

    def work(number: int) -> list[UOp]:
        kept = []
        for memory in buffers:
            kept.append(memory * memory.const_like(float(number)))
            for other in range(5):  # these go at once, and are taken out of the list meanwhile
                memory * memory.const_like(100.0 + 10 * number + other)
        return kept

    for memory, *users in zip(buffers, *at_once(work), strict=True):
        assert set(users) <= set(memory.users())
