"""64-bit integers in words: the same numbers, and no 64-bit integer is left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.numpy_graph import compute, leaf
from tinyframe.codegen.decompose import decompositions
from tinyframe.dtype import dtypes, to_np_dtype
from tinyframe.gpu.languages.emulate_int64 import emulate_int64
from tinyframe.gpu.languages.wgsl import WGSLLanguage
from tinyframe.rewrite.matcher import graph_rewrite
from tinyframe.uop.node import Ops, UOp

LONGS = [dtypes.long, dtypes.ulong]
LEAVES = {name: leaf(name, dtype) for name, dtype in (
    ("u", dtypes.uint), ("v", dtypes.uint), ("i", dtypes.int), ("s", dtypes.short),
    ("b", dtypes.bool))}  # fmt: skip
BINARY = [Ops.ADD, Ops.SUB, Ops.MUL, Ops.AND, Ops.OR, Ops.XOR]
COMPARISONS = [Ops.CMPLT, Ops.CMPLE, Ops.CMPEQ, Ops.CMPNE]


def edges(dtype) -> np.ndarray:
    """Numbers at the ends of the range and in its middle, in a random order."""
    low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
    values = [0, 1, 2, 3, low, low + 1, high, high - 1, high // 2, high // 2 + 1, 0x7FFF]
    return np.random.default_rng(len(repr(dtype))).choice(
        np.array([v for v in values if low <= v <= high], to_np_dtype(dtype)), 200
    )


VALUES = {u: edges(u.dtype) for u in LEAVES.values()}


@st.composite
def long_integers(draw, dtype, depth: int) -> UOp:
    """A 64-bit integer made of narrower ones."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        if draw(st.booleans()):
            return LEAVES[draw(st.sampled_from(sorted(LEAVES)))].cast(dtype)
        return UOp.const(dtype, draw(st.integers(int(dtype.min), int(dtype.max))))
    kind = draw(st.sampled_from(["binary", "shift", "negative", "where", "other sign"]))
    x = draw(long_integers(dtype, depth - 1))
    if kind == "shift":
        op = Ops.SHL if dtype is dtypes.long else draw(st.sampled_from([Ops.SHL, Ops.SHR]))
        return x.alu(op, UOp.const(dtype, draw(st.integers(0, 63))))
    if kind == "negative":
        return x.alu(Ops.NEG)
    if kind == "other sign":
        return x.cast(dtypes.ulong if dtype is dtypes.long else dtypes.long).cast(dtype)
    y = draw(long_integers(dtype, depth - 1))
    if kind == "where":
        return draw(comparisons(depth - 1)).where(x, y)
    return x.alu(draw(st.sampled_from(BINARY)), y)


@st.composite
def comparisons(draw, depth: int) -> UOp:
    dtype = draw(st.sampled_from(LONGS))
    x, y = (draw(long_integers(dtype, depth)) for _ in range(2))
    return x.alu(draw(st.sampled_from(COMPARISONS)), y)


def narrowed() -> st.SearchStrategy:
    """Something that has no 64 bits any more."""
    longs = st.sampled_from(LONGS).flatmap(lambda dtype: long_integers(dtype, 4))
    targets = st.sampled_from([dtypes.uint, dtypes.int, dtypes.uchar, dtypes.bool])
    upper = longs.map(lambda x: x.cast(dtypes.ulong).alu(Ops.SHR, UOp.const(dtypes.ulong, 32)))
    casts = st.tuples(longs | upper, targets).map(lambda pair: pair[0].cast(pair[1]))
    return casts | comparisons(3)


def assert_same_without_long(u: UOp) -> None:
    in_two = emulate_int64(UOp.sink(u)).src[0]
    left = {x.dtype for x in in_two.toposort()} & set(LONGS)
    assert left == set(), "64-bit integers are left"
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(compute(in_two, VALUES), compute(u, VALUES))


@given(narrowed())
def test_what_begins_and_ends_in_32_bits_is_the_same_number(u):
    assert_same_without_long(u)


@pytest.mark.parametrize("op", [*BINARY, *COMPARISONS])
@pytest.mark.parametrize("dtype", LONGS, ids=str)
def test_each_op_on_numbers_of_two_full_words(op, dtype):
    high, low = LEAVES["u"].cast(dtype), LEAVES["v"].cast(dtype)
    x = high.alu(Ops.SHL, UOp.const(dtype, 32)).alu(Ops.OR, low)
    y = low.alu(Ops.SHL, UOp.const(dtype, 32)).alu(Ops.ADD, LEAVES["i"].cast(dtype))
    result = x.alu(op, y)
    if op not in COMPARISONS:
        words = result.cast(dtypes.ulong)
        assert_same_without_long((words >> 32).cast(dtypes.uint))
    assert_same_without_long(result.cast(dtypes.uint))


def test_random_numbers_need_no_64_bits():
    number = LEAVES["u"].cast(dtypes.ulong)
    counter = (number + LEAVES["v"].cast(dtypes.ulong)) | (number << 32)
    bits = counter.alu(Ops.THREEFRY, number | (LEAVES["v"].cast(dtypes.ulong) << 32))
    rules = decompositions(frozenset(WGSLLanguage.code_for_op))
    for word in (bits, bits >> 32):
        assert_same_without_long(graph_rewrite(word.cast(dtypes.uint), rules))


def test_what_is_stored_in_64_bits_stays():
    memory = UOp(Ops.DEFINE_GLOBAL, dtypes.ulong.ptr(4), (), 0)
    place = memory.index(UOp.const(dtypes.int, 0))
    sink = UOp.sink(place.store(LEAVES["u"].cast(dtypes.ulong) + 1))
    assert emulate_int64(sink) is sink
