"""TAKE reads at places that are data, and an ASSIGN to it writes there: loads and stores in a loop,
in which the values for one place come one after the other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels import filled, kernels_of, numbers, on_buffer, ops_in
from tests.reference import evaluate
from tests.with_blocks import DEVICES, with_blocks
from tinyframe import Context, Tensor, dtypes, thresholds
from tinyframe.uop.node import AxisType, Ops, UOp, extent

TABLE = numbers(11, 6)
NUMBERS = np.array([[3, 0, 10], [7, 7, 1]], np.int32)
OUTSIDE = np.array([-1, 4, 11, 2**31 - 1, -(2**31)], np.int32)
PLACES = np.array([[5, 0, 3, 2, 2, 9]], np.int64)
ZERO = np.zeros(6, np.float32)


def rows(t: Tensor, i: Tensor) -> Tensor:
    spread = i.reshape(-1, 1).expand(i.numel(), 6)
    return t._gather(0, spread).reshape(*i.shape, 6)


TAKEN = {  # Tensors of the table and of numbers, the numbers, and what that is
    "rows of a table": (rows, NUMBERS, TABLE[NUMBERS]),
    "none out of range": (rows, OUTSIDE, [ZERO, TABLE[4], ZERO, ZERO, ZERO]),
    "narrow numbers": (rows, OUTSIDE[:3].astype(np.int8), [ZERO, TABLE[4], ZERO]),
    "gather": (lambda t, i: t.gather(0, i), PLACES, np.take_along_axis(TABLE, PLACES, 0)),
    "rows by number": (lambda t, i: t[i], NUMBERS, TABLE[NUMBERS]),
    "what is computed": (lambda t, i: rows(t * 2 + 1, i), NUMBERS[1], TABLE[NUMBERS[1]] * 2 + 1),
    "of what is taken": (lambda t, i: rows(rows(t, i), i % 3), NUMBERS[0], TABLE[[3, 3, 0]]),
    "padded": (lambda t, i: rows(t.pad(((1, 0), None)), i), NUMBERS[0], [TABLE[2], ZERO, TABLE[9]]),
}  # fmt: skip


@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_is_a_kernel_without_a_reduce(name, device):
    graph, indices, expected = TAKEN[name]
    out = graph(filled(TABLE, device), filled(indices, device))
    (kernel,) = kernels_of(out)
    assert not ops_in(kernel, Ops.REDUCE)
    np.testing.assert_array_equal(out.numpy(), expected)


def written(x: Tensor, axis: int, index: Tensor, value: Tensor, op: Ops | None) -> Tensor:
    """The memory of a copy once values were written to these places."""

    def put(x: UOp, index: UOp, value: UOp) -> UOp:
        memory = x.contiguous()
        return memory.assign(value, memory.take(axis, index), op)

    return x._apply(put, index, value)


@st.composite
def scatters(draw):
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    axis, count = draw(st.integers(0, len(shape) - 1)), draw(st.sampled_from([1, 2, 7, 40]))
    dtype = draw(st.sampled_from([dtypes.int32, dtypes.float32, dtypes.uint8, dtypes.bool]))
    op = draw(st.sampled_from([None, Ops.ADD, Ops.MUL, Ops.MAX]))
    return tuple(shape), axis, count, dtype, op, draw(st.integers(0, 2**32 - 1))


@given(scatters(), st.sampled_from(["CPU", "PYTHON"]), st.booleans())
def test_values_are_written_in_their_order(case, device, computed):
    """As the reference does, value by value; places repeat, and some are out of range."""
    shape, axis, count, dtype, op, seed = case
    rng = np.random.default_rng(seed)
    wide = tuple(count if d == axis else n for d, n in enumerate(shape))
    x, value = (
        Tensor(rng.integers(0, 3, s), dtype=dtypes.int32, device=device).cast(dtype).realize()
        for s in (shape, wide)
    )
    index = Tensor(rng.integers(-2, shape[axis] + 2, wide).astype(np.int32), device=device)
    index = index.realize() * 1 - 0 if computed else index.realize()
    out = written(x, axis, index, value, op)
    expected = evaluate(out.uop)
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("op", [None, Ops.ADD, Ops.MAX])
def test_a_place_that_no_turn_changes_is_written_in_every_turn(op):
    x, value = filled(TABLE), filled(numbers(9, 6, seed=1))
    zero = Tensor.zeros(9, 6, dtype=dtypes.int32)
    out = written(x, 0, zero, value, op)
    first = {None: value.numpy()[-1], Ops.ADD: TABLE[0] + value.numpy().sum(0),
             Ops.MAX: np.maximum(TABLE[0], value.numpy().max(0))}[op]  # fmt: skip
    np.testing.assert_allclose(out.numpy(), [first, *TABLE[1:]], rtol=1e-5)


def test_only_the_axis_of_the_places_is_walked_in_order():
    x, index = filled(TABLE), filled(np.int32([1, 3, 1]))
    _, kernel = kernels_of(x.index_add(0, index, filled(numbers(3, 6))))
    kinds = [r.arg[1] for r in ops_in(kernel, Ops.RANGE)]
    assert kinds.count(AxisType.SERIAL) == 1 and len(kinds) == 2


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_result_is_the_same_whatever_the_threads(threads):
    rng = np.random.default_rng(0)
    index, value = rng.integers(0, 50, 4000).astype(np.int32), numbers(4000, 64, seed=2)
    expected = np.zeros((50, 64), np.float32)
    for at, row in zip(index, value, strict=True):
        expected[at] += row
    with Context(THREADS=threads):
        got = Tensor.zeros(50, 64).index_add(0, Tensor(index), Tensor(value)).numpy()
    np.testing.assert_array_equal(got, expected)


def test_what_is_written_may_be_read_from_the_same_memory():
    y = Tensor([1.0, 2.0, 3.0]).realize()
    y[[0, 0, 2]] = y[[2, 1, 0]]  # the last of two wins; all is read before it's written
    assert y.tolist() == [2, 2, 1]
    i = Tensor([2, 0, 1]).realize()
    i[i] = i + 10
    assert i.tolist() == [10, 11, 12]


def test_two_scatters_onto_equal_memory_are_apart():
    index = filled(np.int32([0, 1, 1]))
    zeros = Tensor.zeros(3)
    one = zeros.index_add(0, index, Tensor.ones(3))
    two = zeros.index_add(0, one.cast(dtypes.int32), Tensor.ones(3))
    assert (one + two * 10).tolist() == [11, 12, 10]


@pytest.fixture(params=["CPU", *DEVICES])
def device(request, monkeypatch) -> str:
    return request.param if request.param == "CPU" else with_blocks(request.param, monkeypatch)


# on a GPU, few columns are looked for by their places, or come to partial results; threads share
# the places of many
@pytest.mark.parametrize(("op", "columns", "count"), [
    (None, 1, 40), (Ops.ADD, 3, 40), (Ops.MUL, 70, 40), (Ops.MAX, 1, 40), (None, 70, 40),
    (None, 1, 2177), (Ops.ADD, 1, 2177), (Ops.MUL, 2, 1100), (Ops.ADD, 33, 65), (Ops.ADD, 5, 300)
])  # fmt: skip
def test_ordered_stores_with_few_and_many_columns(op, columns, count, device, monkeypatch):
    monkeypatch.setattr(thresholds, "LOOKED_AT", 1000)
    rng = np.random.default_rng(columns)
    index = rng.integers(-1, 9, (count, 1)).astype(np.int32)
    x, value = numbers(8, columns), rng.integers(-1, 2, (count, columns)).astype(np.float32)
    places = filled(index, device).expand(count, columns)
    out = written(filled(x, device), 0, places, filled(value, device), op)
    expected = evaluate(out.uop)
    np.testing.assert_array_equal(out.numpy(), expected)


def test_a_device_of_narrow_vectors_walks_and_scans_too(monkeypatch):
    device = with_blocks("BLOCKS", monkeypatch, vector_bytes=4)
    monkeypatch.setattr(thresholds, "LOOKED_AT", 1000)
    x, value = np.zeros((4096, 4), np.int64), np.ones((200, 4), np.int64)
    places = filled(np.arange(200, dtype=np.int32)[:, None] // 2, device).expand(200, 4)
    out = written(filled(x, device), 0, places, filled(value, device), Ops.ADD)
    np.testing.assert_array_equal(out.numpy(), evaluate(out.uop))
    sums = filled(value, device).cumsum(0)
    np.testing.assert_array_equal(sums.numpy(), value.cumsum(0))


def test_a_sort_in_parts_is_stable(device):
    keys = np.random.default_rng(1).integers(-9, 9, (2, 150)).astype(np.int8)
    order = filled(keys, device).argsort(1)
    np.testing.assert_array_equal(order.numpy(), np.argsort(keys, 1, kind="stable"))


VALUES = 1 << 20
MANY = {
    "sort": lambda x, i: x.sort()[0],
    "sum": lambda x, i: Tensor.zeros(1000, device=x.device).scatter_add(0, i, x),
    "last": lambda x, i: Tensor.zeros(1000, device=x.device).scatter(0, i, x),
    "rows": lambda x, i: Tensor.zeros(1 << 15, 512, device=x.device).index_add(
        0, i[:2048], x.reshape(2048, 512)),
}  # fmt: skip


@pytest.mark.parametrize("name", MANY)
def test_on_a_gpu_no_thread_walks_along_a_million_values_and_no_place_looks_at_all(name):
    x, i = (on_buffer(VALUES, dtype=d, device="NULL:CUDA") for d in (dtypes.float, dtypes.int32))
    for kernel in kernels_of(MANY[name](x, i)):
        loops = ops_in(kernel, Ops.RANGE)
        assert math.prod(extent(r) for r in loops if r.arg[1] is AxisType.SERIAL) <= 2048
        assert math.prod(map(extent, loops)) <= 64 * VALUES * 4  # rows are in vectors of four


def test_a_thread_that_walks_loads_its_own_values_alone_and_places_that_were_computed_once():
    words, index, value = (
        on_buffer(*shape, dtype=d, device="NULL:CUDA")
        for shape, d in [((32000, 64), dtypes.float), ((9000,), dtypes.int32),
                         ((9000, 64), dtypes.float)]
    )  # fmt: skip
    *_, places, walk = kernels_of(words[index].gradient(words, gradient=value)[0])
    assert math.prod(places.src[0].src[0].arg) == 9000
    (store,) = walk.src
    loads = {u.src[0].src[0].dtype.size: u.src[0].src[1] for u in ops_in(walk, Ops.LOAD)}
    assert loads[9000 * 64] is loads[32000 * 64] is store.src[0].src[1]
