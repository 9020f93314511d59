"""What fuzzing found, each under the name of the promise it broke."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.fuzz.batch import interpret
from tests.fuzz.programs import Program, buffer, check, of_graph, random_program
from tests.fuzz.schedules import real_kernels, with_arguments
from tinyframe import Context
from tinyframe.codegen.linearize import check_no_recompute
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.dtype import dtypes
from tinyframe.uop.node import AxisType, Ops, UOp


def counted(size: int, dtype=np.float32) -> tuple[UOp, np.ndarray]:
    array = np.arange(size).astype(dtype)
    return buffer(array), array


def assert_right_everywhere(roots: list[UOp], inputs: dict[UOp, np.ndarray]) -> None:
    program: Program = of_graph(roots, inputs)
    for noopt in (0, 1):
        for device in ("PYTHON", "CPU"):
            with Context(NOOPT=noopt):
                check(program, device)


def test_unwindow_needs_a_whole_quotient_where_it_is_constant():
    x, a = counted(14)
    assert_right_everywhere([x.reshape((2, 7, 1)).unwindow(0, 2, 1, 2)], {x: a})


def test_a_sum_of_copies_of_a_stored_sum_counts_each_copy():
    x, a = counted(8)
    inner = x.reduce_axis(Ops.ADD, (0,))
    assert_right_everywhere([inner.expand((2,)).reduce_axis(Ops.ADD, (0,)), inner], {x: a})


def test_a_padded_not_is_false_outside():
    x, y = buffer(np.array([0, 1, 1, 0], bool)), buffer(np.arange(9, dtype=np.uint8))
    gate = x.alu(Ops.NEG).pad(((3, 2),))
    inputs = {x: np.array([0, 1, 1, 0], bool), y: np.arange(9, dtype=np.uint8)}
    assert_right_everywhere([gate.alu(Ops.WHERE, y, y.alu(Ops.ADD, y))], inputs)


def test_reduces_of_booleans_are_logical():
    x = buffer(np.array([0, 1, 1, 1], bool))
    total = x.reduce_axis(Ops.ADD, (0,))
    assert_right_everywhere([total.cast(dtypes.float32)], {x: np.array([0, 1, 1, 1], bool)})


def test_an_element_is_read_before_it_is_overwritten():
    x, a = counted(3, np.int64)
    minus = x.alu(Ops.NEG)
    assert_right_everywhere([minus, x.assign(x.alu(Ops.ADD, minus))], {x: a})


def test_two_changes_of_one_memory_are_two_kernels():
    x, a = counted(14)
    first = x.assign(x)
    both = first.alu(Ops.ADD, x)
    assert_right_everywhere([first.assign(both), both], {x: a})


def test_a_value_assigned_twice_waits_for_nothing_of_its_own():
    x, a = counted(8, np.int64)
    y, b = counted(8, np.int32)
    value = y.cast(dtypes.int64)
    assert_right_everywhere([x.assign(value).assign(value), value], {x: a, y: b})


@pytest.mark.parametrize("view", ["flip", "shrink", "permute"])
def test_what_is_assigned_through_a_view_is_read_through_it(view):
    x, a = counted(6)
    whole = x.reshape((2, 3))
    target = {
        "flip": lambda: whole.flip((True, True)),
        "shrink": lambda: whole.shrink(((0, 2), (1, 3))),
        "permute": lambda: whole.permute((1, 0)),
    }[view]()
    y = buffer(np.arange(20, 20 + target.size, dtype=np.float32))
    first = target.assign(y.reshape(target.shape))
    inputs = {x: a, y: np.arange(20, 20 + target.size, dtype=np.float32)}
    assert_right_everywhere([first.reduce_axis(Ops.ADD, (0,))], inputs)
    assert_right_everywhere([first.assign(first.alu(Ops.ADD, first))], inputs)


def test_a_constant_is_computed_on_its_own_device():
    one = UOp(Ops.CONST, dtypes.float32, (UOp(Ops.DEVICE, arg="PYTHON"),), 1.0)
    ones = one.reshape((1, 1)).expand((8, 2))
    assert_right_everywhere([ones.reduce_axis(Ops.ADD, (0,)).expand((4, 2))], {})


def test_stage_guards_every_index_that_depends_on_one_loop():
    x, a = counted(18)
    places = x.reshape((6, 1, 3)).unwindow(0, 3, 3, 25).reshape((1, 25, 1, 3))
    part = places.shrink(((0, 1), (0, 1), (0, 1), (0, 3))).expand((1, 1, 3, 3))
    roots = [part.pad(((0, 0), (0, 0), (0, 0), (1, 2)))]
    opts = [Opt(OptOps.UPCAST, 1, 8), Opt(OptOps.STAGE, -1, 1), Opt(OptOps.UPCAST, 0, 32)]
    for ast, arguments in with_arguments(roots):
        wanted = interpret(ast, arguments, [])
        for got, want in zip(interpret(ast, arguments, opts), wanted, strict=True):
            np.testing.assert_array_equal(got, want)


def test_a_copy_of_a_reduce_that_reads_nothing_has_a_loop_of_its_own():
    x, a = counted(8, np.float64)
    padded = x.reshape((1, 1, 2, 4)).expand((4, 1, 2, 4)).pad(((0, 0), (0, 0), (0, 0), (0, 3)))
    places = padded.expand((4, 2, 2, 7)).unwindow(0, 1, 3, 22)
    assert_right_everywhere([places.reduce_axis(Ops.ADD, (1, 2))], {x: a})


def test_a_reduce_inside_a_loop_that_it_does_not_depend_on_is_found():
    size = dtypes.float32.ptr(12)
    out, x = (UOp(Ops.DEFINE_GLOBAL, size, (), n) for n in range(2))
    row, column = UOp.range(3, 0), UOp.range(4, 1)
    k = UOp.range(3, 2, AxisType.REDUCE)
    total = x.index(k, column, shape=(3, 4)).load().reduce(Ops.ADD, k)
    place = out.index(row, column, shape=(3, 4))
    good, bad = (UOp.sink(place.store(total, *order)) for order in ((column, row), (row, column)))
    check_no_recompute(good)
    with pytest.raises(RuntimeError, match="run again in 1 loop"):
        check_no_recompute(bad)


@pytest.mark.parametrize("stride", [2, 3])
@pytest.mark.parametrize("dilation", [1, 2, 4])
@pytest.mark.parametrize("turned", [False, True])
def test_numerators_below_zero_divide_downwards(stride, dilation, turned):
    """(i - k*dilation) // stride is negative for the first i: C's `/` would give 0 for -1."""
    x, a = counted(12)
    source = x.reshape((4, 3)).flip((turned, False))
    places = source.unwindow(0, stride, dilation, 3 * stride + 2 * dilation + 1)
    assert_right_everywhere([places, places.reduce_axis(Ops.ADD, (1,))], {x: a})
    assert_right_everywhere([source.pad(((2, 1), (0, 1))).unwindow(0, stride, dilation, 9)], {x: a})


@pytest.mark.parametrize("op", [Ops.IDIV, Ops.MOD])
@pytest.mark.parametrize("divisor", [-4, -3, 0, 2, 3, 7])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_data_below_zero_divides_downwards(op, divisor, dtype):
    array = np.arange(-9, 9).astype(dtype)
    x, d = buffer(array), buffer(np.full(18, divisor, dtype))
    constant = UOp(Ops.CONST, x.dtype, (UOp(Ops.DEVICE, arg="PYTHON"),), divisor)
    assert_right_everywhere([x.alu(op, d)], {x: array, d: np.full(18, divisor, dtype)})
    assert_right_everywhere([x.alu(op, constant.reshape((1,)).expand((18,)))], {x: array})


def test_memory_is_overwritten_whole_before_a_part_of_it_is():
    x, a = counted(27)
    whole = x.assign(x.const_like(1))
    part = whole.shrink(((23, 27),))
    assert_right_everywhere([part.assign(part.const_like(-1))], {x: a})


@pytest.mark.parametrize("device", ["PYTHON", "CPU"])
def test_changes_that_wait_for_each_other_may_be_made_safe_in_several_ways(device):
    """One is moved to new memory, and after that another one's value is found to be unsafe."""
    check(random_program(Random(770566)), device)


def test_a_copy_stays_inside_of_its_argument_where_a_reader_keeps_the_condition():
    """The interpreter checks every LOAD."""
    _, (ast, arguments) = real_kernels("max-pool backward")
    expected = interpret(ast, arguments, [])
    for got, wanted in zip(
        interpret(ast, arguments, [Opt(OptOps.STAGE, 2, 1)]), expected, strict=True
    ):
        np.testing.assert_array_equal(got, wanted)
