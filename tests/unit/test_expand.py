"""Expansion: copies share what does not change, lanes become vectors, indices become one number."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import filled, kernel_of, numbers, on_buffer, ops_in, program_of, run_with
from tinyframe import Tensor, dtypes
from tinyframe.codegen.expand import UNROLLED, expand_copies, expand_lanes, flatten_indices
from tinyframe.codegen.optimize.loops import Opt, OptOps, apply_opts
from tinyframe.uop.node import Ops, UOp

UPCAST, UNROLL, VECTOR, STAGE = OptOps.UPCAST, OptOps.UNROLL, OptOps.VECTOR, OptOps.STAGE


def expanded(t: Tensor, *opts: Opt) -> UOp:
    return expand_copies(expand_lanes(flatten_indices(apply_opts(kernel_of(t), opts))))


# ---- copies --------------------------------------------------------------------------------------


def test_a_register_tile_shares_its_loads_by_hash_consing():
    tile = expanded(on_buffer(8, 6) @ on_buffer(6, 8), Opt(UPCAST, 0, 4), Opt(UPCAST, 1, 2))
    assert len(tile.src) == 8  # stores
    assert len(ops_in(tile, Ops.REDUCE)) == 8
    assert len(ops_in(tile, Ops.LOAD)) == 4 + 2
    assert len(ops_in(tile, Ops.MUL)) >= 8


@pytest.mark.parametrize("wide", [0, 1])
def test_a_register_tile_goes_through_all_vectors_for_each_number(wide):
    """So a number that is multiplied with them needs a register for no longer."""
    x, y = on_buffer(8, 6), on_buffer(6, 64)
    product = x @ y if wide else y.T @ x.T
    opts = Opt(VECTOR, wide, 8), Opt(UPCAST, wide, 2), Opt(UPCAST, 1 - wide, 4)
    numbers_of_stores = [
        {u for u in ops_in(store.src[1], Ops.LOAD) if u.dtype.count == 1}
        for store in expanded(product, *opts).src
    ]
    assert numbers_of_stores[::2] == numbers_of_stores[1::2]


def test_copies_in_excess_of_a_short_axis_are_not_there():
    """Each would be a sum of products with 0 that is written nowhere."""

    def product():
        return filled(numbers(6, 4)) @ filled(numbers(4, 7, seed=1))

    opts = [Opt(UPCAST, 0, 8)]
    tile = expanded(product(), *opts)
    assert (len(tile.src), len(ops_in(tile, Ops.REDUCE))) == (6, 6)
    assert "if" not in program_of(product(), opts).src
    expected = numbers(6, 4) @ numbers(4, 7, seed=1)
    np.testing.assert_allclose(run_with(product(), opts), expected, rtol=1e-5, atol=1e-6)


def test_a_wholly_unrolled_reduce_is_no_reduce_any_more():
    kernel = expanded(on_buffer(4).sum(), Opt(UNROLL, 0, 0))
    assert not ops_in(kernel, Ops.REDUCE)
    assert not [u for u in kernel.toposort() if u.tag == UNROLLED]


def test_each_copy_reads_at_its_own_offset():
    x = numbers(25)
    t = filled(x)
    for opts in ([Opt(UPCAST, 0, 4)], [Opt(VECTOR, 0, 2), Opt(UPCAST, 0, 3)]):
        np.testing.assert_array_equal(run_with(t[1:] - t[:-1], opts), x[1:] - x[:-1])
    np.testing.assert_array_equal(run_with(t[1:].sum(), [Opt(UNROLL, 0, 4)]), x[1:].sum())


# ---- lanes ---------------------------------------------------------------------------------------


def test_what_does_not_vary_along_a_lane_stays_a_number():
    kernel = expanded(on_buffer(6, 16) * on_buffer(6, 1).exp2(), Opt(VECTOR, 1, 8))
    (power,) = ops_in(kernel, Ops.EXP2)
    (product,) = [u for u in ops_in(kernel, Ops.MUL) if u.dtype.scalar() is dtypes.float]
    assert power.dtype is dtypes.float
    assert product.dtype is dtypes.float.vec(8)


def test_an_index_used_as_a_value_becomes_a_vector_of_numbers():
    kernel = expanded(Tensor.arange(16) * 3 + on_buffer(16, dtype=dtypes.int), Opt(VECTOR, 0, 4))
    vectors = [u for u in ops_in(kernel, Ops.VECTORIZE) if [s.arg for s in u.src] == [0, 1, 2, 3]]
    assert len(vectors) == 1
    x = np.arange(16, dtype=np.int32)
    result = run_with(Tensor.arange(16) * 3 + filled(x), [Opt(VECTOR, 0, 4)])
    np.testing.assert_array_equal(result, x * 4)


@pytest.mark.parametrize("lanes", [2, 32, 64])  # others: test_loops.py
def test_few_and_many_lanes(lanes):
    x = numbers(3, 130)
    t = filled(x)
    np.testing.assert_array_equal(run_with(t * 2 + 1, [Opt(VECTOR, 0, lanes)]), x * 2 + 1)
    np.testing.assert_array_equal(run_with(t.sum(axis=1), [Opt(VECTOR, 1, lanes)]), x.sum(1))


@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
def test_gathered_by_an_index_that_is_itself_loaded(device):
    table, where = numbers(9), np.arange(40, dtype=np.int32) * 5 % 9
    t, i = filled(table, device), filled(where, device)
    chosen = (i.reshape(40, 1) == Tensor.arange(9, device=device)).where(t, 0).sum(axis=1)
    for opts in ([], [Opt(VECTOR, 0, 4)], [Opt(UPCAST, 0, 3)]):
        np.testing.assert_array_equal(run_with(chosen, opts, device), table[where])


# ---- indices -------------------------------------------------------------------------------------


def test_every_index_is_one_flat_number():
    kernel = flatten_indices(kernel_of(on_buffer(4, 5, 6).permute(2, 0, 1) + on_buffer(6, 1, 1)))
    indices = ops_in(kernel, Ops.INDEX)
    assert all(len(u.src) == 3 and u.arg is None for u in indices)
    assert {u.src[2].render() for u in indices} == {
        "(((ridx0*20)+(ridx1*5))+ridx2)",
        "((ridx0+(ridx1*30))+(ridx2*6))",
        "ridx0",
    }
