"""Scans: a reduce that keeps its running value, from the graph to the program."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.kernels import (
    body_of,
    filled,
    kernel_of,
    kernels_of,
    numbers,
    on_buffer,
    ops_in,
    run_with,
    source_of,
)
from tests.reference import evaluate
from tests.unit.test_fuse import reasons_of
from tests.values import computed
from tinyframe import Context, Tensor, dtypes
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opts, axes
from tinyframe.rewrite.spec import SpecError, spec_kernel, spec_tensor, verify
from tinyframe.uop.node import AxisType, Ops, UOp, axis_type

A = numbers(40, 8)

# ---- one kernel -------------------------------------------------------------------------------


def test_a_scan_is_an_accumulator_that_begins_before_its_loop_and_is_used_inside():
    assert (
        body_of(source_of(on_buffer(3, 5).cumsum(1) * 2, []))
        == """\
  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
    int alu0 = ridx0 * 5;
    float acc0 = 0.0f;
    for (int ridx1 = 0; ridx1 < 5; ridx1++) {
      int alu1 = alu0 + ridx1;
      float val0 = data1[alu1];
      float alu2 = acc0 + val0;
      acc0 = alu2;
      data0[alu1] = alu2 * 2.0f;
    }
  }"""
    )


# as many kernels, and the values that NumPy gives
FUSED = {
    "all before and after it": (1, lambda x, np: (x * 2 + 1).cumsum(0) * 3 + x),
    "one after the other": (1, lambda x, np: x.cumsum(1).cumsum(1)),
    "with other axes around it": (1, lambda x, np: x.cumsum(0).T + x.T),
    "of a row minus its mean": (1, lambda x, np: (x - x.sum(1, keepdims=True)).cumsum(1)),
    "of what does not change": (1, lambda x, np: (x * 0 + 1).cumsum(0) + x),
    "of padding": (1, lambda x, np: np.pad(x, ((1, 2), (3, 0))).cumsum(1)),
    # here it has to be stored, or something else has
    "backwards": (2, lambda x, np: x.cumsum(1)[:, ::-1] + x),
    "along two axes": (2, lambda x, np: x.cumsum(0) + x.cumsum(1)),
    "of the other axis": (2, lambda x, np: x.cumsum(0).cumsum(1)),
    "reduced along its axis": (2, lambda x, np: x.cumsum(1).max(1)),
    "reduced along another": (2, lambda x, np: x.cumsum(1).max(0)),
    "padded": (2, lambda x, np: np.pad(x.cumsum(1), ((1, 2), (3, 0))) + 1),
    "used twice": (2, lambda x, np: x.cumsum(1)[:, 1:] + x.cumsum(1)[:, :-1]),
    "of sums": (2, lambda x, np: (x @ x.T).cumsum(1)),
    "beside a sum of each column": (2, lambda x, np: x.cumsum(1) + x.sum(0, keepdims=True)),
}


class _Tinyframe:
    pad = staticmethod(lambda x, widths: x.pad(widths))


@pytest.mark.parametrize("count, function", FUSED.values(), ids=FUSED)
def test_a_scan_shares_the_kernel_of_whatever_runs_along_its_loop(count, function):
    made = function(Tensor(A).realize(), _Tinyframe)
    assert len(kernels_of(made)) == count
    np.testing.assert_array_equal(made.numpy(), function(A, np))


def test_reasons_for_a_scan_to_be_stored():
    x = on_buffer(64, 64)

    def reason(made: Tensor) -> str | None:
        return dict(reasons_of(made)).get(Ops.SCAN_AXIS)

    assert reason(x.cumsum(1) + 1) is None
    assert reason(x.cumsum(1)) == "output"
    total = x.cumsum(1)
    assert reason(total + total.T) == "a scan used in 2 places"
    assert reason(x.cumsum(1).flip(1) + 1) == "a scan used in a different order"
    assert reason(x.cumsum(0) + x.cumsum(1)) == "two scans along different loops"
    assert reason(x.cumsum(1) + (x + 1).sum(0)) == "a scan with a reduce inside"
    assert (Ops.REDUCE_AXIS, "a reduce inside a scan") in reasons_of((x @ x.T).cumsum(1) + 1)


def test_a_running_maximum_and_where_it_was_are_one_kernel():
    x = Tensor(A).realize()
    _, indices = x.cummax(1)
    assert len(kernels_of(indices)) == 1
    assert len(ops_in(kernel_of(indices), Ops.SCAN)) == 2
    expected = [[max(range(j + 1), key=lambda k: (row[k], k)) for j in range(8)] for row in A]
    assert indices.tolist() == expected


def test_memory_is_scanned_in_place():
    for axis in (0, 1):
        x = filled(A.copy())
        x.assign(x.cumsum(axis))
        assert len(kernels_of(x)) == 1
        np.testing.assert_array_equal(x.numpy(), A.cumsum(axis))
    x = filled(A.copy())
    x[:, 1:].assign(x[:, :-1].cumsum(1))
    np.testing.assert_array_equal(x.numpy(), np.hstack([A[:, :1], A[:, :-1].cumsum(1)]))


# ---- its loop ---------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1])
def test_the_loop_of_a_scan_is_serial_and_innermost(axis):
    kernel = kernel_of(on_buffer(6, 8).cumsum(axis))
    assert [axis_type(r) for r in axes(kernel)] == [AxisType.LOOP, AxisType.SERIAL]
    (scan,) = ops_in(kernel, Ops.SCAN)
    assert scan.src[-1] is axes(kernel)[1] and axes(kernel)[1].vmax + 1 == (6, 8)[axis]


@pytest.mark.parametrize("op, arg", [
    (OptOps.SPLIT, 2), (OptOps.UPCAST, 2), (OptOps.UNROLL, 2),
    (OptOps.THREAD, None), (OptOps.LOCAL, 2), (OptOps.GLOBAL, None), (OptOps.GROUP, 2),
])  # fmt: skip
def test_no_other_opt_changes_the_loop_of_a_scan(op, arg):
    kernel = kernel_of(on_buffer(6, 8).cumsum(1))
    with pytest.raises(KernelOptError, match="axis 1 is a scan's: its iterations follow one"):
        apply_opts(kernel, [Opt(op, 1, arg)])


def test_no_reorder_puts_the_loop_of_a_scan_outside_of_others():
    kernel = kernel_of(on_buffer(3, 6, 8).cumsum(1))
    assert len(axes(apply_opts(kernel, [Opt(OptOps.REORDER, (1, 0, 2))]))) == 3
    for order in itertools.permutations(range(3)):
        if order[-1] != 2:
            with pytest.raises(KernelOptError, match="has to stay inside the other loops"):
                apply_opts(kernel, [Opt(OptOps.REORDER, order)])


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_lanes_of_a_scan_are_several_whole_vectors(lanes):
    with pytest.raises(KernelOptError, match="a scan's loop of 6 is not several whole vectors"):
        apply_opts(kernel_of(on_buffer(8, 6).cumsum(1)), [Opt(OptOps.VECTOR, 1, lanes)])


@pytest.mark.parametrize("index", [
    lambda: on_buffer(8, 8, dtype=dtypes.int), lambda: (Tensor.arange(8) // 2).expand(8, 8),
])  # fmt: skip
def test_ordered_stores_have_no_lanes(index):
    *_, kernel = kernels_of(Tensor.zeros(8, 8).scatter_add(1, index(), on_buffer(8, 8)))
    (axis,) = [n for n, r in enumerate(axes(kernel)) if axis_type(r) is AxisType.SERIAL]
    with pytest.raises(KernelOptError, match="what one iteration stores the next one may overwr"):
        apply_opts(kernel, [Opt(OptOps.VECTOR, axis, 4)])


SCANS = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum}


def scan(name: str, x: Tensor, axis: int) -> Tensor:
    found = getattr(x, name)(axis)
    return found[0] if name == "cummax" else found


@pytest.mark.parametrize(("name", "axis", "opts"), [
    ("cumsum", 0, [Opt(OptOps.VECTOR, 0, 4), Opt(OptOps.UPCAST, 0, 2)]),
    ("cumsum", 1, [Opt(OptOps.UPCAST, 0, 2)]),
    ("cumprod", 0, [Opt(OptOps.UPCAST, 0, 3)]),
    ("cumprod", 1, [Opt(OptOps.VECTOR, 0, 4)]),
    ("cummax", 0, [Opt(OptOps.THREAD, 0)]),
    ("cummax", 1, [Opt(OptOps.VECTOR, 0, 4), Opt(OptOps.UPCAST, 0, 2)]),
    ("cumsum", 1, [Opt(OptOps.SPLIT, 0, 4)]),
    ("cummax", 0, []),
    ("cumsum", 1, [Opt(OptOps.VECTOR, 1, 4)]),
    ("cummax", 1, [Opt(OptOps.VECTOR, 1, 2), Opt(OptOps.UPCAST, 0, 4)]),
    ("cumprod", 0, [Opt(OptOps.VECTOR, 1, 4), Opt(OptOps.THREAD, 0)]),
], ids=str)  # fmt: skip
def test_loops_of_a_scan_may_become_lanes_and_the_others_copies_and_threads(name, axis, opts):
    a = numbers(8, 8)
    found = run_with(scan(name, filled(a), axis) * 2, opts)
    np.testing.assert_array_equal(found, SCANS[name].accumulate(a, axis) * 2)


def test_rows_are_scanned_side_by_side():
    for axis in (0, 1):  # vectors of columns, and rows
        source = source_of(on_buffer(512, 512).cumsum(axis))
        assert "float acc7 = " in source.replace("float16", "float")


# ---- long scans -------------------------------------------------------------------------------


def test_a_long_running_sum_is_blocked_and_so_is_all_that_shares_its_loop():
    a = np.full((8, 20_011), 0.1, np.float32)
    x, exact = filled(a), a.astype(np.float64).cumsum(1)
    found = x.cumsum(1).numpy()
    assert (np.abs(found - exact) / exact).max() < 3 * 128 * 2.0**-24 / 4
    with Context(NOOPT=1):
        running = x.cumsum(1) + (x > 0).cumsum(1) + (x * x.arange(20_011) * 1.0).cummax(1)[0]
        assert len(kernels_of(running)) == 1
        found = running.numpy()
    largest = (a * np.arange(20_011, dtype=np.float32)).astype(np.float64)
    np.testing.assert_allclose(found, exact + np.arange(1, 20_012) + largest, rtol=1e-5)


def test_a_recurrence_beside_a_long_sum_has_one_accumulator():
    factor, term = filled(np.full((8, 3000), 0.5, np.float32)), filled(numbers(8, 3000))
    both = Tensor(factor.uop.scan_axis(Ops.MULACC, 1, term.uop)) + term.cumsum(1)
    assert len(kernels_of(both)) == 1
    np.testing.assert_allclose(both.numpy(), evaluate(both.uop), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(("name", "shape", "axis"), [
    ("cumsum", (3, 33_001), 1), ("cumprod", (33_001, 2), 0), ("cummax", (40_000,), 0),
    ("cumsum", (33_001, 2), 0),
])  # fmt: skip
def test_a_long_scan_of_few_rows_is_done_in_parts(name, shape, axis):
    a = numbers(*shape) if name != "cumprod" else np.sign(numbers(*shape) + 0.5)
    found = scan(name, filled(a) + 0, axis)
    assert len(kernels_of(found)) == 3
    np.testing.assert_array_equal(found.numpy(), SCANS[name].accumulate(a, axis))


def test_a_scan_has_the_same_results_with_any_number_of_threads():
    a = np.random.default_rng(0).normal(size=(3, 50_000)).astype(np.float32)
    results = []
    for threads in (1, 2, 3):
        with Context(THREADS=threads):
            results.append([(filled(a) * 1).cumsum(axis).numpy() for axis in (0, 1)])
    for others in results[1:]:
        for one, other in zip(results[0], others, strict=True):
            np.testing.assert_array_equal(one, other)


# ---- recurrences and gradients ----------------------------------------------------------------


@pytest.mark.parametrize("op", [Ops.ADD, Ops.MUL, Ops.MAX, Ops.MULACC])
def test_the_gradient_of_a_scan_is_that_of_its_steps(op):
    """Of each element by itself, written out; second gradients too."""
    axis = 0 if op in (Ops.ADD, Ops.MAX) else 1
    a, b, weight = numbers(4, 5) / 2, numbers(4, 5, seed=1) / 2, numbers(4, 5, seed=2)
    x, y = (Tensor(v, requires_grad=True) for v in (a, b))

    def written_out(x, y):
        parts = [x.shrink(_at(axis, n)) for n in range(x.shape[axis])]
        terms = [y.shrink(_at(axis, n)) for n in range(x.shape[axis])]
        out = [terms[0] if op is Ops.MULACC else parts[0]]
        for part, term in zip(parts[1:], terms[1:], strict=True):
            last = out[-1]
            step = {Ops.ADD: last + part, Ops.MUL: last * part, Ops.MULACC: last * part + term}
            # of equal ones the later has all of the gradient
            out.append(step[op] if op in step else (part < last).where(last, part))
        return out[0].cat(*out[1:], dim=axis)

    def scanned(x, y):
        more = (y.uop,) if op is Ops.MULACC else ()
        return x._apply(lambda u, *_: u.scan_axis(op, axis, *more), y)

    targets = (x, y) if op is Ops.MULACC else (x,)
    made = gradients(scanned, targets, weight, x, y)
    steps = gradients(written_out, targets, weight, x, y)
    for found, expected in zip(computed(*made), steps, strict=True):
        np.testing.assert_allclose(found, evaluate(expected.uop), rtol=1e-4, atol=1e-4)


def gradients(function, targets, weight, *inputs):
    """The first gradients, and those of the sum of their squares."""
    first = (function(*inputs) * Tensor(weight)).sum().gradient(*targets)
    squares = sum(((g * g).sum() for g in first), start=inputs[0].sum() * 0)
    return [*first, *squares.gradient(*targets)]


def _at(axis: int, n: int) -> tuple:
    return tuple((n, n + 1) if d == axis else None for d in range(2))


# ---- what is legal ----------------------------------------------------------------------------

x = UOp.new_buffer("CPU", 12, dtypes.float).reshape((3, 4))
numbered = UOp.new_buffer("CPU", 12, dtypes.int).reshape((3, 4))
i, serial = UOp.range(3, 0), UOp.range(4, 1, AxisType.SERIAL)


def scan_of(*src: UOp, arg: tuple) -> UOp:
    return UOp(Ops.SCAN_AXIS, src[0].dtype, src, arg)


@pytest.mark.parametrize("u", [
    scan_of(x, arg=(Ops.ADD, 2)),
    scan_of(x, arg=(Ops.ADD, -1)),
    scan_of(x, arg=(Ops.SUB, 0)),
    scan_of(x, arg=(Ops.MULACC, 0)),
    scan_of(x, x, arg=(Ops.ADD, 0)),
    scan_of(x, x.reshape((4, 3)), arg=(Ops.MULACC, 0)),
    scan_of(numbered, numbered, arg=(Ops.MULACC, 0)),
    UOp(Ops.SCAN, dtypes.float, (numbered, serial), Ops.ADD),
])  # fmt: skip
def test_malformed_scans_are_refused(u):
    with pytest.raises(SpecError):
        verify(u, spec_tensor)


@pytest.mark.parametrize("u", [
    UOp(Ops.SCAN, dtypes.int, (i, i), Ops.ADD),  # along a loop that need not be in order
    UOp(Ops.SCAN, dtypes.int, (serial, i.const_like(0)), Ops.ADD),
    UOp(Ops.SCAN, dtypes.float, (i, serial), Ops.ADD),
    UOp(Ops.SCAN, dtypes.int, (i, serial), Ops.SUB),
])  # fmt: skip
def test_malformed_scans_of_kernels_are_refused(u):
    with pytest.raises(SpecError):
        verify(u, spec_kernel)
