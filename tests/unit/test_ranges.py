"""Lowering: movement ops leave index arithmetic only, and nothing out of range is ever read."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import filled, kernel_of, kernels_of, numbers, on_buffer, ops_in, run_with
from tests.reference import evaluate
from tinyframe import Tensor
from tinyframe.schedule.ranges import order_ranges, renumber
from tinyframe.uop.node import AxisType, Ops, UOp

# ---- movement ------------------------------------------------------------------------------------


def index_of(t: Tensor) -> list[str]:
    """The index expressions at which a kernel reads its only argument."""
    (load,) = ops_in(kernel_of(t), Ops.LOAD)
    return [i.render() for i in load.src[0].src[2:]]


@pytest.mark.parametrize(("moved", "indices"), [
    (lambda x: x.T, ["ridx1", "ridx0"]),
    (lambda x: x[2:5, 1:], ["(ridx0+2)", "(ridx1+1)"]),
    (lambda x: x.flip(0), ["((ridx0*-1)+5)", "ridx1"]),
    (lambda x: x.T.reshape(2, 4, 6), ["ridx2", "((ridx0*4)+ridx1)"]),
    (lambda x: x[3:4].expand(6, 8) + 0, ["3", "ridx1"]),
    (lambda x: x[::2, ::3], ["(ridx0*2)", "(ridx1*3)"]),
    (lambda x: Tensor(x.uop.window(1, 3)), ["ridx0", "(ridx1+ridx2)"]),
    (lambda x: Tensor(x.uop.window(1, 3, 2, 2)), ["ridx0", "((ridx1*2)+(ridx2*2))"]),
])  # fmt: skip
def test_movement_only_changes_the_index(moved, indices):
    assert index_of(moved(on_buffer(6, 8)).contiguous()) == indices


def test_one_dimension_is_one_expression_until_the_very_end():
    (kernel,) = kernels_of(on_buffer(6, 8) @ on_buffer(8, 5))
    assert [u.arg for u in ops_in(kernel, Ops.INDEX)] == [(6, 5, 1), (6, 1, 8), (1, 8, 5)]


def test_floor_division_where_the_numerator_may_be_negative():
    x = numbers(5, 3)
    t = filled(x)
    spread = Tensor(t.uop.unwindow(0, 2, 1, 11))  # element i reads window (i - k) // 2
    expected = evaluate(spread.uop)
    np.testing.assert_array_equal(run_with(spread.contiguous(), []), expected)
    np.testing.assert_array_equal(run_with(spread.sum(axis=1), []), expected.sum(1))


# ---- validity ------------------------------------------------------------------------------------


def valid_loads(kernel: UOp) -> list[bool]:
    """For each LOAD of a kernel: does it carry a condition?"""
    return [load.src[0].src[1].op is not Ops.CONST for load in ops_in(kernel, Ops.LOAD)]


def test_the_condition_of_a_padding_is_on_the_load():
    kernel = kernel_of(on_buffer(6, 8).pad(((1, 1), (0, 0))).contiguous())
    assert valid_loads(kernel) == [True]
    assert not ops_in(kernel, Ops.WHERE)  # what is not loaded is 0


def test_the_condition_of_a_padding_is_on_every_load_beneath():
    x, y = on_buffer(6, 8), on_buffer(6, 8)
    kernel = kernel_of((x + y).pad(((1, 1), (0, 0))).contiguous())
    assert valid_loads(kernel) == [True, True]
    assert not ops_in(kernel, Ops.WHERE)  # 0 + 0
    kernel = kernel_of((x.exp() + y).pad(((1, 1), (0, 0))).contiguous())
    assert valid_loads(kernel) == [True, True]
    assert len(ops_in(kernel, Ops.WHERE)) == 1  # exp(0) is not 0


def test_padding_is_zero_also_beside_what_is_not_finite():
    x, y = np.float32([[1], [-2], [3], [4]]), np.full((1, 3), np.inf, np.float32)
    padded = (filled(x) * filled(y)).pad(((1, 1), (0, 0)))
    expected = np.pad(x * y, ((1, 1), (0, 0)))
    np.testing.assert_array_equal(run_with(padded.contiguous(), []), expected)
    np.testing.assert_array_equal(run_with(padded.max(axis=1), []), expected.max(1))


def test_a_padded_reduce_is_not_computed_for_the_padding():
    padded = on_buffer(6, 8).sum(axis=1).pad(((2, 2),)).contiguous()
    assert [len(ops_in(k, Ops.REDUCE)) for k in kernels_of(padded)] == [1, 0]


# ---- reduces -------------------------------------------------------------------------------------


def test_reduces_of_one_kind_one_inside_the_other_are_one():
    (reduce,) = ops_in(kernel_of(on_buffer(6, 8).sum(axis=0).sum()), Ops.REDUCE)
    assert sorted(r.vmax + 1 for r in reduce.own_ranges) == [6, 8]
    assert len(ops_in(kernel_of(on_buffer(6, 8).max(axis=0).sum()), Ops.REDUCE)) == 2


def test_an_inner_reduce_that_is_used_alone_too_stays_its_own():
    rows = on_buffer(6, 8).sum(axis=1)
    kernels = kernels_of(rows, rows.sum())
    assert [len(ops_in(k, Ops.REDUCE)) for k in kernels] in ([1, 1], [2])


def test_the_maximum_over_windows_is_one_reduce():
    x = on_buffer(2, 8, 8)
    pooled = Tensor(x.uop.window(1, 2, 2).window(2, 2, 2)).max(axis=(3, 4))
    (reduce,) = ops_in(kernel_of(pooled), Ops.REDUCE)
    assert [r.vmax + 1 for r in reduce.own_ranges] == [2, 2]


# ---- canonical form ------------------------------------------------------------------------------


def test_ranges_are_numbered_in_the_order_in_which_they_are_met():
    (kernel,) = kernels_of(on_buffer(6, 8) @ on_buffer(8, 5))
    assert sorted(u.arg for u in ops_in(kernel, Ops.RANGE)) == [
        (0, AxisType.LOOP),
        (1, AxisType.LOOP),
        (2, AxisType.REDUCE),
    ]
    assert renumber(kernel) is kernel


def test_loops_that_a_reduce_depends_on_go_outermost():
    rows, columns = UOp.range(4, 0), UOp.range(5, 1)
    reduce_range = UOp.range(6, 2, AxisType.REDUCE)
    x, y = (UOp(Ops.DEFINE_GLOBAL, on_buffer(1).dtype.ptr(24), (), slot) for slot in (1, 2))
    out = UOp(Ops.DEFINE_GLOBAL, on_buffer(1).dtype.ptr(20), (), 0)
    total = x.index(columns, reduce_range, shape=(5, 6)).load().reduce(Ops.ADD, reduce_range)
    value = total + y.index(rows, columns, shape=(4, 5)).load()
    kernel = UOp.sink(out.index(rows, columns, shape=(4, 5)).store(value, rows, columns))
    assert order_ranges(kernel).src[0].own_ranges == (columns, rows)
