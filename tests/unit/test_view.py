"""ShapeTracker, and the index expressions it is read off: right for every chain of movement ops,
and without a division where there need not be one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings

from tests.kernels import program_of
from tests.unit.chains import chains, numpy_of
from tinyframe import Tensor
from tinyframe.dtype import dtypes
from tinyframe.uop.evaluate import evaluate
from tinyframe.uop.node import Ops, UOp


def buffer(*shape: int) -> UOp:
    return UOp.new_buffer("CPU", math.prod(shape), dtypes.int).reshape(shape)


def elements(u: UOp, most: int = 150):
    """(indices, flat place in memory or None where there is nothing) of elements of `u`."""
    st = u.st
    places = list(itertools.product(*map(range, u.shape)))
    for ix in places[:: max(1, len(places) // most)]:
        values = dict(zip(st.ranges, ix, strict=True))
        yield ix, evaluate(st.index, values) if evaluate(st.valid, values) else None


@given(chains())
@settings(max_examples=150)
def test_indices_strides_offset_and_mask_find_what_numpy_finds(u):
    memory, st = np.arange(1, u.base.arg + 1), u.st
    expected = numpy_of(u, memory)
    assert u.shape == expected.shape
    for ix, place in elements(u):
        assert (0 if place is None else memory[place]) == expected[ix]
        if st.mask is not None:
            inside = all(begin <= i < end for i, (begin, end) in zip(ix, st.mask, strict=True))
            assert inside == (place is not None)
        if place is not None and None not in st.strides:
            assert place == st.offset + sum(i * s for i, s in zip(ix, st.strides, strict=True))


@given(chains())
@settings(max_examples=100)
def test_contiguous_means_the_elements_in_their_order(u):
    in_order = [place for _, place in elements(u, most=10**6)] == list(range(math.prod(u.shape)))
    assert u.st.contiguous == in_order


x = buffer(3, 4)


@pytest.mark.parametrize(("u", "strides", "offset", "mask"), [
    (x, (4, 1), 0, None),
    (x.permute((1, 0)), (1, 4), 0, None),
    (x.flip((True, False)), (-4, 1), 8, None),
    (x.shrink(((1, 3), (2, 4))), (4, 1), 6, None),
    (x.reshape((3, 1, 4)).expand((3, 5, 4)), (4, 0, 1), 0, None),
    (x.pad(((1, 1), (0, 2))), (4, 1), -4, ((1, 4), (0, 4))),
    (x.pad(((1, 1), (0, 2))).permute((1, 0)), (1, 4), -4, ((0, 4), (1, 4))),
    (x.pad(((1, 0), (0, 0))).shrink(((1, 4), (0, 4))), (4, 1), 0, None),
    (x.permute((1, 0)).reshape((12,)), (None,), 0, None),
    (x.window(1, 2), (4, 1, 1), 0, None),
    (x.window(1, 2, 2, 1), (4, 2, 1), 0, None),
    (x.shrink(((0, 1), (0, 4))), (0, 1), 0, None),
    (x.pad(((0, 0), (1, 1))).reshape((18,)), (None,), -1, None),
])  # fmt: skip
def test_views(u, strides, offset, mask):
    assert (u.st.shape, u.st.strides, u.st.offset, u.st.mask) == (u.shape, strides, offset, mask)


def test_it_prints_and_compares_like_a_value_also_of_symbolic_sizes():
    n = UOp.variable("n", 1, 10)
    u = UOp.new_buffer("CPU", 40, dtypes.int).shrink(((0, n * 4),)).reshape((4, n))
    assert u.st.strides[1] == 1 and u.st.strides[0] is n
    for st, last in ((x.st, 4), (u.st, "n")):
        assert repr(st) == (
            f"ShapeTracker(views=(View(shape=({st.shape[0]}, {last}), strides=({last}, 1), "
            "offset=0, mask=None, contiguous=True),))"
        )
    assert x.st == buffer(3, 4).st and hash(x.st) == hash(buffer(3, 4).st)
    assert x.st != x.permute((1, 0)).st and x.st.size == 12
    assert (x + x.permute((0, 1))).st.contiguous  # an elementwise result: its own memory to be


# ---- no division where there need not be one ----------------------------------------------------


def divisions_in_program(u: UOp) -> list[UOp]:
    divisions = (Ops.IDIV, Ops.MOD, Ops.CDIV, Ops.CMOD)
    return [p for p in program_of(Tensor(u) + 1, []).uops if p.op in divisions]


image = buffer(4, 8, 14, 14)
padded = image.pad(((0, 0), (0, 0), (1, 1), (1, 1)))


@pytest.mark.parametrize("u", [
    x.reshape((12,)).reshape((3, 4)).permute((1, 0)),
    buffer(4, 6, 8).reshape((24, 8)).reshape((4, 6, 8)),
    buffer(4, 6, 8).reshape((4, 48)).reshape((2, 2, 48)).permute((2, 0, 1)),
    buffer(2, 16, 32).reshape((2, 16, 4, 8)).permute((0, 2, 1, 3)),  # the heads of attention
    image.window(2, 3).window(3, 3).permute((0, 2, 3, 1, 4, 5)),
    padded.window(2, 3).window(3, 3),
    padded.window(2, 3, 2).window(3, 3, 2).flip((False,) * 4 + (True, True)),
    image.reshape((4, 8, 7, 2, 7, 2)).permute((0, 1, 2, 4, 3, 5)),  # pooling
    image.flip((False, True, True, False)).shrink(((0, 4), (2, 6), (1, 13), (0, 14))),
    image.reshape((4, 8, 196)).permute((0, 2, 1)),
    image.reshape((4, 2, 4, 14, 14)).permute((1, 0, 2, 3, 4)).reshape((2, 4, 4, 14, 14)),
    buffer(5, 1, 7).expand((5, 3, 7)).permute((1, 0, 2)),
    buffer(6, 6).pad(((1, 1), (2, 2))).shrink(((0, 7), (1, 9))).flip((True, True)),
    buffer(30).pad(((2, 4),)).shrink(((2, 32),)).reshape((5, 6)),
    buffer(60).reshape((5, 12)).reshape((5, 3, 4)).reshape((15, 4)).reshape((5, 3, 2, 2)),
    buffer(64).reshape((4, 16)).flip((True, True)).reshape((64,)).reshape((8, 8)),
])  # fmt: skip
def test_ordinary_chains_leave_no_division(u):
    parts = {p.op for e in (u.st.index, u.st.valid) for p in e.toposort()}
    assert not parts & {Ops.IDIV, Ops.MOD}, u.st.index.render()
    assert not divisions_in_program(u)


@pytest.mark.parametrize("u", [
    buffer(12, 8).reshape((12, 8, 1)).expand((12, 8, 5)).reshape((12, 40)),
    buffer(12, 8).pad(((1, 1), (0, 0))).permute((1, 0)).reshape((56, 2)),
    buffer(2, 2, 2, 3, 4).permute((0, 3, 1, 4, 2)).reshape((12, 8)),  # pixels shuffled
    Tensor(buffer(12, 8)).cat(Tensor(buffer(12, 8)) * 2, dim=1).uop,
])  # fmt: skip
def test_a_program_splits_its_loops_where_an_index_is_divided(u):
    assert not divisions_in_program(u)


def test_a_transposed_window_asks_one_remainder():
    u = buffer(7, 3).unwindow(0, 2, 1, 15)
    assert sum(p.op is Ops.MOD for p in u.st.valid.toposort()) == 1
    assert buffer(7, 3).unwindow(0, 1, 1, 9).st.index.render() == "((ridx0*3)+(ridx1*-2))"
