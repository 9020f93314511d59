"""Linearization: every statement in the outermost loop it can be in, and after what it needs."""

from __future__ import annotations

import re

import pytest

from tests.kernels import body_of, kernel_of, kernels_of, on_buffer, program_of, source_of
from tinyframe import dtypes
from tinyframe.codegen.linearize import check_no_recompute, enclosing_loops, linearize, loop_tree
from tinyframe.uop.node import AxisType, Ops, UOp


def depth_of(body: str, pattern: str) -> int:
    """How many loops are around the one line that matches."""
    depth, found = 0, []
    for line in body.splitlines():
        if re.search(pattern, line):
            found.append(depth)
        depth += line.count("{") - line.count("}") if "for (" in line or line.strip() == "}" else 0
    (depth,) = found
    return depth


# ---- where statements stand ----------------------------------------------------------------------


def test_a_statement_is_in_the_deepest_loop_that_it_depends_on():
    x, rows, columns = on_buffer(8, 9), on_buffer(8, 1), on_buffer(1, 9)
    body = body_of(source_of(x * rows.exp2() + columns, []))
    assert depth_of(body, r"= data2\[ridx0\]") == 1
    assert depth_of(body, r"= data1\[") == 2
    assert depth_of(body, r"= data3\[ridx1\]") == 2
    assert "data2" not in body.split("ridx1++")[1]  # the costly row value is not computed anew


def test_what_depends_on_no_loop_is_before_all_of_them():
    body = body_of(source_of(on_buffer(8) * on_buffer(1).exp2(), []))
    assert depth_of(body, r"= data2\[0\]") == 0
    assert body.index("data2[0]") < body.index("for (")


def test_in_place_an_element_is_read_before_it_is_overwritten():
    i = UOp.range(8, 0)
    x, y = (UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(8), (), n).index(i, shape=(8,)) for n in (0, 1))
    swap = UOp.sink(x.store(y.load(), i), y.store(x.load(), i))
    ops = [u.op for u in program_of(swap, []).uops if u.op in (Ops.LOAD, Ops.STORE)]
    assert ops == [Ops.LOAD, Ops.LOAD, Ops.STORE, Ops.STORE]


def test_the_size_of_a_loop_is_computed_before_it():
    half = UOp.variable("n", 0, 14).bind(4) // 2
    program = program_of(on_buffer(4, 8)[:, : half + 1].exp().sum(1), [])
    place = {u: number for number, u in enumerate(program.uops)}
    sizes = [u.src[0] for u in program.uops if u.op is Ops.RANGE and u.src[0].op is not Ops.CONST]
    assert [size.op for size in sizes] == [Ops.ADD]
    assert place[sizes[0]] < min(number for u, number in place.items() if u.op is Ops.RANGE)


def test_softmax_finds_its_maximum_and_its_sum_once_for_each_row():
    body = body_of(source_of(on_buffer(40, 9).softmax(), []))
    loops = re.findall(r"( *)for \(int (ridx\d) = 0; ridx\d < (\d+);", body)
    assert [(len(space) // 2, size) for space, _, size in loops] == [
        (1, "40"),
        (2, "9"),
        (2, "9"),
        (2, "9"),
    ]
    assert depth_of(body, r"float acc0 = ") == 1
    assert depth_of(body, r"float acc1 = ") == 1
    assert depth_of(body, r"data0\[.*\] = ") == 2


def test_reductions_over_the_same_range_share_a_loop():
    x = on_buffer(8, 9)
    body = body_of(source_of(x.sum(axis=1) * x.max(axis=1), []))
    assert body.count("for (") == 2
    assert depth_of(body, r"acc0 = acc0 \+") == depth_of(body, r"acc1 = max_float\(acc1") == 2
    assert body.count("= data1[") == 1


def test_several_stores_share_the_loops_they_have_in_common():
    x = on_buffer(40, 9)
    mean = x.mean(axis=1, keepdim=True)
    (kernel,) = kernels_of(mean, x - mean)
    body = body_of(source_of(kernel, []))
    assert [depth_of(body, rf"data{n}\[.*\] = ") for n in (0, 1)] in ([1, 2], [2, 1])
    assert body.count("for (int ridx0") == 1


# ---- the tree of loops ---------------------------------------------------------------------------


def test_the_loop_of_a_reduce_hangs_under_the_deepest_loop_of_its_result():
    kernel = kernel_of(on_buffer(40, 9).softmax())
    tree = loop_tree(kernel)
    row, column = kernel.src[0].own_ranges
    reduces = {r for r in tree if r.arg[1] is AxisType.REDUCE}
    assert tree[row] == (row,)
    assert tree[column] == (row, column)
    assert {tree[r][:-1] for r in reduces} == {(row,)}
    assert all(enclosing_loops(u, tree) == (row,) for u in kernel.toposort() if u.op is Ops.REDUCE)


def index(slot: int, size: int, *ranges: UOp) -> UOp:
    shape = tuple(r.vmax + 1 for r in ranges)
    return UOp(Ops.DEFINE_GLOBAL, on_buffer(1).dtype.ptr(size), (), slot).index(
        *ranges, shape=shape
    )


def test_a_reduce_that_would_run_more_often_than_it_has_results_is_an_error():
    row, column, k = UOp.range(4, 0), UOp.range(5, 1), UOp.range(6, 2, AxisType.REDUCE)
    total = index(1, 30, column, k).load().reduce(Ops.ADD, k)
    kernel = UOp.sink(index(0, 20, row, column).store(total, row, column))
    with pytest.raises(RuntimeError, match="a reduce would run again in 1 loop"):
        check_no_recompute(kernel)


def test_loops_that_need_each_others_results_are_an_error():
    row, k = UOp.range(4, 0), UOp.range(6, 1, AxisType.REDUCE)
    x = index(1, 24, row, k).load()
    total = (x - x.reduce(Ops.MAX, k)).reduce(Ops.ADD, k)
    with pytest.raises(RuntimeError, match="two loops need each other's results"):
        linearize(UOp.sink(index(0, 4, row).store(total, row)))
