"""The spec: legal graphs of each level pass, and every kind of mistake is named."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.unit.expressions import expressions
from tinyframe import Context, Tensor
from tinyframe.codegen import passes
from tinyframe.dtype import AddrSpace, dtypes
from tinyframe.rewrite.spec import SpecError, spec_kernel, spec_program, spec_tensor, verify
from tinyframe.uop.node import AxisType, Ops, UOp

a = UOp.variable("a", 0, 9)
n = UOp.variable("n", 1, 4)
f = UOp.const(dtypes.float, 1.5)
true = UOp.const(dtypes.bool, True)
zero = UOp.const(dtypes.int, 0)
x = UOp.new_buffer("CPU", 12, dtypes.float).reshape((3, 4))
i, j = UOp.range(3, 0), UOp.range(4, 1, AxisType.REDUCE)
data0 = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(3), (), 0)
data1 = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(12), (), 1)
load = data1.index(i, j, shape=(3, 4)).load()
place = data0.index(i, shape=(3,))
k = UOp.range(5, 3)


def read(index: UOp, valid: UOp | None = None, size: int | UOp = 3, lanes: int = 0) -> UOp:
    """A value of data0 at an index; with `lanes` at a flat one, that many side by side."""
    if not lanes:
        return data0.index(index, valid=valid, shape=(size,)).load()
    return UOp(Ops.LOAD, dtypes.float.vec(lanes), (data0.index(index, valid=valid),))


def number(valid: UOp | None = None) -> UOp:
    """An index that is read from memory, at k."""
    numbers = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(4), (), 2)
    return numbers.index(k, shape=(4,), valid=valid).load()


guard = (number(k < 4) < 3) & (number(k < 4) >= 0)

# a panel that each thread would fill for itself, and nobody closes the thread's range
thread = UOp.range(4, 2, AxisType.LOCAL)
row_of_thread = data1.index(thread, j, shape=(4, 3)).load().stage(AddrSpace.LOCAL, j)
shared = data0.index(row_of_thread.index(zero, shape=(3,)).load().cast(dtypes.int), shape=(3,))


# ---- what is legal ------------------------------------------------------------------------------


@given(expressions(depth=3, wild=True))
def test_expressions_are_legal_at_every_level(e):
    """All that the tests compile is looked at too, since they run with SPEC=1."""
    for spec in (spec_tensor, spec_kernel, spec_program):
        verify(e, spec)


def program() -> list[UOp]:
    source, target = (UOp(Ops.INDEX, d.dtype, (d, true, i)) for d in (data1, data0))
    value = source.load()
    double = value + value
    return [data0, data1, true, i.src[0], i, source, target, value, double, target.store(double),
            UOp(Ops.ENDRANGE, dtypes.void, (i,))]  # fmt: skip


def test_what_is_legal_at_one_level_is_looked_at_again_at_another():
    legal = x.detach()
    wrong = UOp(Ops.ADD, dtypes.float, (legal, legal.cast(dtypes.int)))
    for _ in range(2):  # what is known to be legal is left out the second time, and nothing else
        verify(legal, spec_tensor)
        with pytest.raises(SpecError, match="kernel level"):
            verify(legal, spec_kernel)
        with pytest.raises(SpecError, match=r"Ops.ADD[^;]*tensor level"):
            verify(wrong, spec_tensor)


@pytest.mark.parametrize(
    "u",
    [
        read(k, k < 3),
        read(k - 1, (k >= 1) & (k < 4)),
        read(k // 2),
        read(k * 3 + i - 4, (k * 3 + i < 7) & (k * 3 + i >= 4)),
        read(i + k * 2, (k < 1) & (i + k * 2 < 8)),  # more is known of the sum than its limit says
        read(UOp.range(n, 4), size=n),
        read(k - 1, (k >= 1) & (k - 1 < n), size=n),
        read(number(k < 4), guard),
        read(number(k < 4).cast(dtypes.long) * 2 - 1, guard & (k < 2) & (number(k < 4).eq(1))),
        read(zero, lanes=3),
        read(number(k < 4), guard, lanes=1),
        read(k + 7, true.ne(true)),
    ],
)  # fmt: skip
def test_an_index_is_inside_where_its_condition_holds(u):
    verify(u, spec_kernel)


# ---- what is not --------------------------------------------------------------------------------


@pytest.mark.parametrize("u", [
    read(k),
    read(k, k < 4),
    read(k - 1, k < 4),
    read(k, i < 3),
    read(k, n.ne(2), size=n),
    read(number(k < 4)),
    read(number(k < 4), number(k < 4) < 3),
    read(number(), guard & (k < 4)),  # it is read whether that holds or not
    read(number(k < 4), (number() < 3) & (number() >= 0)),
    read(zero, lanes=4),
    read(zero - 1, lanes=2),
    place.replace(src=(data0, true, k)).store(f, k),
])  # fmt: skip
def test_an_index_that_may_be_outside_is_refused(u):
    with pytest.raises(SpecError, match=r"Ops\.(LOAD|STORE) .*kernel level, breaks its rule"):
        verify(u, spec_kernel)


def node(op: Ops, dtype, *src: UOp, arg=None) -> UOp:
    return UOp(op, dtype, src, arg)


@pytest.mark.parametrize("u", [
    node(Ops.ADD, dtypes.int, a, f),
    node(Ops.ADD, dtypes.float, a, a),
    node(Ops.ADD, dtypes.int, a),
    node(Ops.CMPLT, dtypes.int, a, a),
    node(Ops.CMPLT, dtypes.bool, a, f),
    node(Ops.WHERE, dtypes.int, a, a, a),
    node(Ops.WHERE, dtypes.int, true, a, f),
    node(Ops.IDIV, dtypes.float, f, f),
    node(Ops.SQRT, dtypes.int, a),
    node(Ops.FDIV, dtypes.int, a, a),
    node(Ops.AND, dtypes.float, f, f),
    node(Ops.SHL, dtypes.float, f, f),
    node(Ops.THREEFRY, dtypes.int, a, a),
    node(Ops.BITCAST, dtypes.half, a),
    node(Ops.CAST, dtypes.int.vec(2), a),
    node(Ops.CONST, dtypes.int, arg=1.0),
    node(Ops.CONST, dtypes.int, arg=True),
    node(Ops.CONST, dtypes.float, arg=1),
    node(Ops.DEFINE_VAR, dtypes.int, arg=("a", 3, 2)),
    node(Ops.DEFINE_VAR, dtypes.float, arg=("a", 1, 2)),
])  # fmt: skip
def test_malformed_values_are_refused_at_every_level(u):
    for spec in (spec_tensor, spec_kernel, spec_program):
        with pytest.raises(SpecError, match=str(u.op)):
            verify(u, spec)


@pytest.mark.parametrize("u", [
    node(Ops.ADD, dtypes.float, x, x.reshape((4, 3))),
    node(Ops.ADD, dtypes.float, x, f),
    node(Ops.RESHAPE, dtypes.float, x, arg=(5, 2)),
    node(Ops.RESHAPE, dtypes.float, x, arg=(-4, -3)),
    node(Ops.RESHAPE, dtypes.int, x, arg=(12,)),
    node(Ops.PERMUTE, dtypes.float, x, arg=(0, 0)),
    node(Ops.EXPAND, dtypes.float, x, arg=(3, 8)),
    node(Ops.EXPAND, dtypes.float, x, arg=(3,)),
    node(Ops.PAD, dtypes.float, x, arg=((0, -1), (0, 0))),
    node(Ops.SHRINK, dtypes.float, x, arg=((0, 4), (0, 4))),
    node(Ops.SHRINK, dtypes.float, x, arg=((2, 1), (0, 4))),
    node(Ops.FLIP, dtypes.float, x, arg=(0, 1)),
    node(Ops.WINDOW, dtypes.float, x, arg=(1, 3, 1, 2)),
    node(Ops.UNWINDOW, dtypes.float, x, arg=(1, 1, 1, 4)),
    node(Ops.REDUCE_AXIS, dtypes.float, x, arg=(Ops.SUB, (0,))),
    node(Ops.REDUCE_AXIS, dtypes.float, x, arg=(Ops.ADD, (2,))),
    node(Ops.REDUCE_AXIS, dtypes.float, x, arg=(Ops.ADD, (1, 0))),
    node(Ops.BUFFER, dtypes.float, arg=4),
    node(Ops.ASSIGN, dtypes.float, x, x.reshape((12,))),
    node(Ops.BIND, dtypes.int, n, n.const_like(9)),
    node(Ops.COPY, dtypes.float, x),
    load,
    i,
    x.gep(0).replace(op=Ops.GEP),
])  # fmt: skip
def test_malformed_tensor_graphs_are_refused(u):
    with pytest.raises(SpecError, match="tensor level"):
        verify(u, spec_tensor)


@pytest.mark.parametrize("u", [
    place.store(load.reduce(Ops.ADD, j)).sink(),  # nobody runs the loop over i
    place.store(load, i).sink(),  # nor that over j
    place.store(load.reduce(Ops.SUB, j), i).sink(),
    place.store(f, i, i).sink(),
    place.store(a, i).sink(),
    place.store(f, zero).sink(),
    UOp.sink(f),
    data0.index(i, i, shape=(3,)),
    data0.index(f, shape=(3,)),
    data0.index(i, shape=(3,), valid=a),
    node(Ops.LOAD, dtypes.float, data0),
    node(Ops.LOAD, dtypes.int, place),
    x,
    node(Ops.RANGE, dtypes.int, zero, arg=(0, "loop")),
    UOp.special("tid", 4),
    node(Ops.SPECIAL, dtypes.long, arg=("gidx0", 4)),
    node(Ops.BARRIER, dtypes.void, arg=0),
    shared.store(f, thread),
    node(Ops.DEFINE_GLOBAL, dtypes.float, arg=0),
    node(Ops.VECTORIZE, dtypes.int.vec(3), a, a),
    node(Ops.GEP, dtypes.int, a.vectorize(2), arg=2),
    node(Ops.ENDRANGE, dtypes.void, i),
])  # fmt: skip
def test_malformed_kernels_are_refused(u):
    with pytest.raises(SpecError, match="kernel level"):
        verify(u, spec_kernel)


four = UOp.const(dtypes.int, 4)
inner = UOp.range(4, 7)
inner_end = node(Ops.ENDRANGE, dtypes.void, inner)


@pytest.mark.parametrize(("change", "message"), [
    (lambda p: p[:-1], "never closed"),
    (lambda p: [*p, p[-1]], "twice"),
    (lambda p: [*p[:-1], four, inner, p[-1], inner_end], "innermost"),
    (lambda p: [u for u in p if u is not p[1]], "before its source"),
    (lambda p: [*p[:7], p[8], p[7], *p[9:]], "before its source"),
    (lambda p: [*p[:-2], p[-1], p[-2]], "outside the loop"),
    (lambda p: [*p, load.reduce(Ops.ADD, j)], "is not legal"),
    (lambda p: [*p, place], "breaks its rule"),
    (lambda p: [*p, four, thread], "breaks its rule"),
    (lambda p: [*p, node(Ops.BARRIER, dtypes.void, i)], "breaks its rule"),
])  # fmt: skip
def test_malformed_programs_are_refused(change, message):
    with pytest.raises(SpecError, match=message):
        verify(change(program()), spec_program)


def test_the_error_names_the_node_its_level_and_its_sources():
    wrong = node(Ops.ADD, dtypes.int, a, f)
    with pytest.raises(SpecError) as error:
        verify(wrong * 2, spec_kernel)
    text = str(error.value)
    assert "Ops.ADD dtypes.int" in text and "kernel level" in text
    assert "source 1: Ops.CONST dtypes.float 1.5" in text
    assert isinstance(error.value, AssertionError)


def products_as_ints(sink, job):
    """A pass with a mistake in it: a product of floats becomes an int."""
    floats = [u for u in sink.toposort() if u.op is Ops.MUL and u.dtype is dtypes.float]
    return sink.substitute({u: u.replace(dtype=dtypes.int) for u in floats})


def bill():
    prices = Tensor([0.5, 2.25]).realize()
    return (Tensor([[2.0, 4.0]]).realize() * prices).sum()


def test_a_mistaken_pass_is_named_by_spec_and_goes_unseen_without():
    """And no kernel outlives the pass that made it."""
    assert bill().item() == 10.0
    passes.insert(0, ("products as ints", products_as_ints))
    named = "after the stage 'products as ints': Ops"
    try:
        with Context(SPEC=1), pytest.raises(SpecError, match=named):
            bill().item()
        with Context(SPEC=0):
            assert bill().item() == 8.0  # 2 * 0 + 4 * 2
    finally:
        del passes[0]
    assert bill().item() == 10.0
