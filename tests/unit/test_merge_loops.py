"""Loops before they are scheduled: neighbours merge, divisions are taken out, reduces share."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import filled, kernel_of, on_buffer, ops_in, program_of, run_with
from tinyframe import Context, Device, Tensor
from tinyframe.codegen.optimize.loops import Opt, OptOps, apply_opts, axes
from tinyframe.codegen.optimize.merge_loops import (
    fuse_reduce_loops,
    merge_neighbours,
    shorten_reduces,
    split_at_divisions,
)
from tinyframe.uop.evaluate import evaluate
from tinyframe.uop.node import AxisType, Ops, UOp


def sizes(kernel: UOp) -> list[int]:
    return [r.vmax + 1 for r in axes(kernel)]


# ---- neighbours ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("graph", "loops"), [
    (lambda x: x + 1, [480]),
    (lambda x: x.permute(0, 2, 1) + 0, [4, 12, 10]),
    (lambda x: x.permute(2, 0, 1) + 0, [12, 40]),
    (lambda x: x.sum(), [480]),
    (lambda x: x.sum(axis=(1, 2)), [4, 120]),
    (lambda x: x.sum(axis=0), [120, 4]),
    (lambda x: x.sum(axis=1), [4, 12, 10]),
    (lambda x: x + on_buffer(12), [40, 12]),
    (lambda x: x + on_buffer(4, 1, 1), [4, 120]),
    (lambda x: x[:, 1:, :] + 0, [4, 108]),
    (lambda x: x[:, :, 1:] + 0, [40, 11]),
    (lambda x: x.flip(0) + 0, [4, 120]),
    (lambda x: x.softmax(), [40, 12, 12, 12]),
])  # fmt: skip
def test_loops_that_are_contiguous_everywhere_become_one(graph, loops):
    assert sizes(merge_neighbours(kernel_of(graph(on_buffer(4, 10, 12))))) == loops


def test_indices_of_merged_loops_are_one_dimension():
    kernel = merge_neighbours(kernel_of(on_buffer(4, 10, 12) + on_buffer(4, 1, 1)))
    assert sorted(u.arg for u in ops_in(kernel, Ops.INDEX)) == [(4, 1, 1), (4, 120), (4, 120)]


def test_nothing_is_tidied_without_optimization():
    with Context(NOOPT=1):
        assert program_of(on_buffer(28, 28) + 1).function == "E_28_28"
    assert program_of(on_buffer(28, 28) + 1, []).function == "E_784"


# ---- divisions -----------------------------------------------------------------------------------


def test_a_loop_that_is_taken_apart_becomes_two():
    kernel = merge_neighbours(kernel_of(on_buffer(12, 8).T.reshape(4, 24).contiguous()))
    assert sizes(kernel) == [96]
    kernel = split_at_divisions(kernel)
    assert sizes(kernel) == [8, 12]
    assert not ops_in(kernel, Ops.IDIV, Ops.MOD)


def test_a_loop_may_be_taken_apart_twice():
    shuffled = on_buffer(2, 2, 2, 3, 4).permute(0, 3, 1, 4, 2).reshape(96).contiguous()
    kernel = split_at_divisions(merge_neighbours(kernel_of(shuffled)))
    assert np.prod(sizes(kernel)) == 96
    assert not ops_in(kernel, Ops.IDIV, Ops.MOD)


def test_a_loop_is_taken_apart_for_a_value_as_well():
    kernel = kernel_of(Tensor.arange(24) // 12 * 100 + Tensor.arange(24) % 12)
    assert ops_in(kernel, Ops.IDIV, Ops.MOD)
    kernel = split_at_divisions(kernel)
    assert sizes(kernel) == [2, 12]
    assert not ops_in(kernel, Ops.IDIV, Ops.MOD)


def test_a_divisor_that_does_not_divide_the_size_stays():
    x = on_buffer(7)
    kernel = kernel_of(x.reshape(7, 1).expand(7, 5).reshape(35)[:33] + 0)
    assert split_at_divisions(kernel) is kernel
    assert ops_in(kernel, Ops.IDIV)


# ---- shared loops --------------------------------------------------------------------------------


def reduce_loops(kernel: UOp) -> int:
    return len({r for u in ops_in(kernel, Ops.REDUCE) for r in u.own_ranges})


def spread(x: Tensor) -> Tensor:
    return (x - x.mean(axis=1, keepdim=True)).square().mean(axis=1)


@pytest.mark.parametrize(("graph", "apart", "shared"), [
    (lambda x, y: x.sum(axis=1) + (x * y).sum(axis=1) * y.max(axis=1), 3, 1),
    (lambda x, y: x.softmax(), 2, 2),  # of a reduce's result
    (lambda x, y: spread(x) + x.sum(axis=1), 2, 2),
    (lambda x, y: x.sum(axis=1) + on_buffer(40, 20).sum(axis=1), 2, 2),  # of other sizes
])  # fmt: skip
def test_independent_reduces_share_a_loop(graph, apart, shared):
    kernel = kernel_of(graph(on_buffer(40, 30), on_buffer(40, 30)))
    assert (reduce_loops(kernel), reduce_loops(fuse_reduce_loops(kernel))) == (apart, shared)


def load(slot: int, row: UOp, column: UOp) -> UOp:
    place = UOp(Ops.DEFINE_GLOBAL, on_buffer(1).dtype.ptr(64), (), slot)
    return place.index(row, column, shape=(8, 8)).load()


def test_loops_that_would_need_each_other_are_not_shared():
    """a and d could share a loop, and so could b and c; but a needs c and d needs b."""
    row = UOp.range(8, 0)
    a, b, c, d = (UOp.range(n, 1 + i, AxisType.REDUCE) for i, n in enumerate((8, 8, 4, 4)))
    sum_b = load(1, row, b).reduce(Ops.ADD, b)
    sum_c = load(2, row, c).reduce(Ops.ADD, c)
    sum_a = (load(3, row, a) * sum_c).reduce(Ops.ADD, a)
    sum_d = (load(4, row, d) * sum_b).reduce(Ops.ADD, d)
    out = UOp(Ops.DEFINE_GLOBAL, on_buffer(1).dtype.ptr(8), (), 0)
    kernel = UOp.sink(out.index(row, shape=(8,)).store(sum_a + sum_d, row))
    shared = fuse_reduce_loops(kernel)
    assert reduce_loops(shared) == 3
    assert program_of(shared, []).src


# ---- loops that end early ------------------------------------------------------------------------

PART = {  # of 9 rows and 6 columns -> how many iterations the loop over columns has, of 54
    "columns up to the row": (lambda row, column: column < row + 1, 39),
    "columns in steps of two": (lambda row, column: column * 2 < row - 1, 16),
    "columns from the row on": (lambda row, column: row - 1 < column, None),
    "all but one": (lambda row, column: column < 13 - row, None),
    "not before the row": (lambda row, column: row >= column, 39),
    "sums that wrap around": (lambda row, column: column < row * 2**29 + 1, None),
}


@pytest.mark.parametrize("part", PART)
@pytest.mark.parametrize("reduce", ["sum", "max", "prod"])
def test_a_reduce_ends_where_there_is_nothing_left(part, reduce):
    x = np.random.default_rng(0).uniform(1, 2, (9, 6)).astype(np.float32)
    condition, iterations = PART[part]
    where = condition(*np.indices(x.shape, np.int32))
    nothing = {"sum": 0, "max": -np.inf, "prod": 1}[reduce]
    row, column = Tensor.arange(9).reshape(9, 1), Tensor.arange(6).reshape(1, 6)
    found = getattr(condition(row, column).where(filled(x), nothing), reduce)(1)
    kernel = kernel_of(found).simplify()
    (old,), (new,) = (ops_in(k, Ops.REDUCE) for k in (kernel, shorten_reduces(kernel)))
    assert (new.src[0].op is Ops.WHERE) is (iterations is None)
    if iterations is not None:
        (row,) = old.ranges
        length = new.own_ranges[0].src[0]
        assert sum(evaluate(length, {row: n}) for n in range(9)) == iterations
    expected = getattr(np.where(where, x, nothing), reduce)(1)
    for opts in ([], None):
        np.testing.assert_allclose(run_with(found, opts), expected, 1e-6)


def test_a_loop_ends_early_only_if_no_copy_and_no_other_reduce_would_end_elsewhere():
    row, column = Tensor.arange(8).reshape(8, 1), Tensor.arange(6).reshape(1, 6)
    kernel = kernel_of((column < row + 1).where(on_buffer(8, 6), 0).sum(1)).simplify()
    copies = apply_opts(kernel, [Opt(OptOps.UPCAST, 0, 2)], Device["CPU"].renderer.target)
    assert shorten_reduces(copies) is copies
    both = fuse_reduce_loops(kernel_of((column < row + 1).where(on_buffer(8, 6), 0).sum(1)
                                       + on_buffer(8, 6).sum(1)))  # fmt: skip
    assert len({u.own_ranges for u in ops_in(both, Ops.REDUCE)}) == 1
    assert shorten_reduces(both) is both
