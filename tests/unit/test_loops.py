"""Loop primitives: what each Opt does, which are refused and why; and no result changes."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from tests.kernels import (
    body_of,
    filled,
    kernel_of,
    numbers,
    on_buffer,
    ops_in,
    program_of,
    run_with,
    source_of,
)
from tinyframe import Tensor, dtypes
from tinyframe.codegen.optimize.loops import (
    KernelOptError,
    Opt,
    OptOps,
    all_ranges,
    apply_opt,
    apply_opts,
    axes,
    axis_type,
)
from tinyframe.dtype import AddrSpace
from tinyframe.uop.node import Ops, UOp

SPLIT, REORDER, UPCAST, VECTOR = OptOps.SPLIT, OptOps.REORDER, OptOps.UPCAST, OptOps.VECTOR
UNROLL, THREAD, STAGE = OptOps.UNROLL, OptOps.THREAD, OptOps.STAGE
BY_COLUMN = [Opt(REORDER, (1, 0, 2)), Opt(STAGE, 0, 2)]


def transposed(rows: int = 6, columns: int = 8) -> UOp:
    """A kernel of two loops: (columns, rows) of what is stored (rows, columns)."""
    return kernel_of(on_buffer(rows, columns).T.contiguous())


def product(m: int = 24, k: int = 32, n: int = 40) -> UOp:
    """A matmul: axes 0 and 1 are rows and columns, 2 is the reduce; arguments 1 and 2 are read."""
    return kernel_of(on_buffer(m, k) @ on_buffer(k, n))


def padded_convolution() -> Tensor:
    """3×3, padded by 1: PAD, WINDOW, a product and a sum."""
    return on_buffer(2, 3, 6, 6).conv2d(on_buffer(4, 3, 3, 3), padding=1)


def after(kernel: UOp, *opts: Opt) -> list[str]:
    """The axes of a kernel after some Opts, as "LOOP 3"."""
    return list(map(described, axes(apply_opts(kernel, opts))))


def described(r: UOp) -> str:
    return f"{axis_type(r).name} {r.vmax + 1}"


def for_lines(kernel: UOp, *opts: Opt) -> list[str]:
    """The heads of the loops of its C."""
    lines = body_of(source_of(kernel, opts)).splitlines()
    return [line.strip() for line in lines if "for (" in line]


# ---- what each one does --------------------------------------------------------------------------


def test_axes_are_the_loops_around_the_stores_and_then_those_of_reduces():
    assert after(product()) == ["LOOP 24", "LOOP 40", "REDUCE 32"]


def test_split_makes_two_loops_the_inner_inside_the_outer():
    assert after(transposed(), Opt(SPLIT, 0, 2)) == ["LOOP 4", "LOOP 2", "LOOP 6"]
    assert for_lines(transposed(), Opt(SPLIT, 0, 2)) == [
        "for (int ridx0 = 0; ridx0 < 4; ridx0++) {",
        "for (int ridx2 = 0; ridx2 < 2; ridx2++) {",
        "for (int ridx1 = 0; ridx1 < 6; ridx1++) {",
    ]


def test_reorder_nests_the_loops_anew():
    assert after(transposed(), Opt(REORDER, (1, 0))) == ["LOOP 6", "LOOP 8"]
    assert for_lines(transposed(), Opt(REORDER, (1, 0))) == [
        "for (int ridx1 = 0; ridx1 < 6; ridx1++) {",
        "for (int ridx0 = 0; ridx0 < 8; ridx0++) {",
    ]


def test_upcast_makes_copies_that_share_what_does_not_change():
    opts = [Opt(UPCAST, 0, 2)]
    assert after(product(), *opts) == ["LOOP 12", "LOOP 40", "REDUCE 32"]
    assert "UPCAST 2" in map(described, all_ranges(apply_opts(product(), opts)))
    inner = body_of(source_of(product(), opts)).split("ridx2++) {")[1]
    # two rows of the first argument, one value of the second for both
    assert len(re.findall(r"= data1\[", inner)) == 2
    assert len(re.findall(r"= data2\[", inner)) == 1
    assert len(re.findall(r"acc\d = acc\d \+", inner)) == 2


def test_vector_makes_lanes():
    x = on_buffer(32)
    assert after(kernel_of(x * 2), Opt(VECTOR, 0, 8)) == ["LOOP 4"]
    body = """\
  for (int ridx0 = 0; ridx0 < 4; ridx0++) {
    int alu0 = ridx0 * 8;
    float8 val0 = *(float8*)(data1 + alu0);
    *(float8*)(data0 + alu0) = val0 * 2.0f;
  }"""
    assert body_of(source_of(x * 2, [Opt(VECTOR, 0, 8)])) == body


def test_vector_gathers_and_scatters_what_is_not_side_by_side():
    gathered = body_of(source_of(transposed(), [Opt(VECTOR, 1, 2)]))
    assert "float2 val0 = gather_float2(data1 + " in gathered
    assert "*(float2*)(data0 + " in gathered
    scattered = body_of(source_of(transposed(), [Opt(VECTOR, 0, 2)]))
    assert "*(float2*)(data1 + " in scattered
    assert re.search(r"l < 2; l\+\+\) data0\[.*\] = val0\[l\];", scattered)


@pytest.mark.parametrize(("dtype", "lanes"), [
    ("float32", 16), ("int32", 4), ("uint32", 16), ("float64", 4), ("int16", 16), ("bool", 4)
])  # fmt: skip
def test_a_gather_reads_each_lane(dtype: str, lanes: int):
    """Forwards, backwards, and where a padding's condition fails."""
    x = np.arange(64 * 48).reshape(64, 48).astype(dtype)
    t, opts = filled(x), [Opt(VECTOR, 1, lanes)]
    np.testing.assert_array_equal(run_with(t.T.contiguous(), opts), x.T)
    np.testing.assert_array_equal(run_with(t.flip(0).T.contiguous(), opts), x[::-1].T)
    padded = t.pad(((0, 0), (3, 13))).T.contiguous()
    np.testing.assert_array_equal(run_with(padded, opts), np.pad(x, ((0, 0), (3, 13))).T)


def test_lanes_of_a_reduce_are_combined_after_its_loop():
    body = body_of(source_of(on_buffer(64).sum(), [Opt(VECTOR, 0, 4)]))
    loop, rest = body.split("}", 1)
    assert "float4 acc0" in loop
    assert "data0[0] = (acc0[0] + acc0[2]) + (acc0[1] + acc0[3]);" in rest


def test_unroll_makes_straight_line_code_that_accumulates_at_once():
    body = body_of(source_of(on_buffer(64).sum(), [Opt(UNROLL, 0, 4)]))
    assert re.findall(r"acc0 = acc0 \+ (\w+);", body) == ["val0", "val1", "val2", "val3"]
    assert "ridx0 < 16" in body


def test_thread_divides_the_outermost_loop():
    program = program_of(product(), [Opt(THREAD, 0)])
    assert program.global_size[0] == 24
    assert "for (int ridx0 = start; ridx0 < stop; ridx0++) {" in program.src
    assert "const int start, const int stop)" in program.src


def test_stage_copies_what_is_read_inside_in_reading_order():
    kernel = apply_opts(product(), BY_COLUMN)
    (stage,) = ops_in(kernel, Ops.STAGE)
    assert stage.arg is AddrSpace.LOCAL
    assert [r.vmax + 1 for r in stage.own_ranges] == [32]  # a column
    body = body_of(source_of(product(), BY_COLUMN))
    copy, use = body.split("for (int ridx0 = 0; ridx0 < 24")
    assert "float panel0[32]" in copy
    assert re.search(r"panel0\[ridx\d\] = val0;", copy)
    assert "= panel0[ridx2];" in use
    assert "data2" not in use


def test_stage_of_lanes_copies_lanes():
    opts = [Opt(VECTOR, 1, 8), Opt(REORDER, (1, 0, 2)), Opt(STAGE, 0, 2)]
    body = body_of(source_of(product(), opts))
    assert "float panel0[256]" in body
    assert re.search(r"\*\(float8\*\)\(panel0 \+ .*\) = val0;", body)
    assert re.search(r"= \*\(float8\*\)\(panel0 \+ .*\);", body)


def test_the_box_of_a_convolution_adds_its_window_to_the_axis():
    kernel = kernel_of(padded_convolution())
    loops = [r.vmax + 1 for r in axes(kernel)]
    assert loops[:4] == [2, 4, 6, 6]
    (stage,) = ops_in(apply_opts(kernel, [Opt(STAGE, 0, 1)]), Ops.STAGE)
    assert sorted(r.vmax + 1 for r in stage.own_ranges) == [3, 8, 8]  # not 6×3


def test_the_condition_of_a_padding_is_paid_in_the_copy_only():
    convolution = padded_convolution()
    assert body_of(source_of(convolution, [])).count("?") == 1
    body = body_of(source_of(convolution, [Opt(STAGE, 0, 1)]))
    copy, use = body.split("for (int ridx1 = 0; ridx1 < 4; ridx1++) {")
    assert copy.count("?") == 1
    assert "?" not in use
    assert "if" not in use


def copied_by(kernel: UOp, *opts: Opt) -> UOp:
    """What the one STAGE of a kernel writes to its panel."""
    (stage,) = ops_in(apply_opts(kernel, opts), Ops.STAGE)
    return stage.src[0]


@pytest.mark.parametrize(("change", "op"), [
    (lambda y: y + 1, Ops.ADD),
    (lambda y: (y > 0).where(y * 2, -y), Ops.WHERE),
    (lambda y: y.half().float(), Ops.CAST),
    (lambda y: (y + 9).reciprocal() + y, Ops.ADD),
])  # fmt: skip
def test_stage_copies_what_is_computed_from_an_element_alone(change, op):
    kernel = kernel_of((on_buffer(24, 32) @ change(on_buffer(32, 40))).fuse())
    assert copied_by(kernel, *BY_COLUMN).op is op


def test_a_panel_of_halves_that_are_multiplied_as_floats_holds_floats():
    kernel = kernel_of(on_buffer(24, 32, dtype=dtypes.half) @ on_buffer(32, 40, dtype=dtypes.half))
    assert copied_by(kernel, *BY_COLUMN).dtype is dtypes.float


def test_one_number_of_another_argument_is_part_of_what_is_computed_from_an_element():
    x, y = on_buffer(24, 32), on_buffer(32, 40)
    assert copied_by(kernel_of(x @ (y * on_buffer(1, 1))), *BY_COLUMN).op is Ops.MUL
    assert copied_by(kernel_of(x @ (y * on_buffer(32, 1))), *BY_COLUMN).op is Ops.LOAD


def test_an_element_of_which_two_values_are_used_is_copied_as_it_is():
    x, y = on_buffer(24, 32, 1), on_buffer(1, 32, 40)
    kernel = kernel_of((x * (y + 1) + y).sum(1))
    assert copied_by(kernel, *BY_COLUMN).op is Ops.LOAD


def test_what_is_computed_from_a_padding_that_readers_find_is_not_copied():
    """A reader whose condition fails finds 0, so 1 is added after that: the panel has no place for
    the border, which is along an axis that the argument does not have."""
    x, y = numbers(3), numbers(6, 3, 4, seed=1)

    def product(x: Tensor, y: Tensor) -> Tensor:
        rows = x.reshape(1, 3).expand(4, 3).pad(((1, 1), (0, 0))) + 1
        return (rows.reshape(6, 3, 1) * y).sum(1)

    kernel = kernel_of(product(on_buffer(3), on_buffer(6, 3, 4)))
    opts = [Opt(STAGE, -1, 1)]
    assert copied_by(kernel, *opts).op is Ops.LOAD
    rows = np.pad(np.broadcast_to(x, (4, 3)), ((1, 1), (0, 0))) + 1
    expected = (rows[:, :, None] * y).sum(1)
    np.testing.assert_allclose(run_with(product(filled(x), filled(y)), opts), expected, rtol=1e-5)


# ---- what is refused, and why --------------------------------------------------------------------


TURNED = [Opt(REORDER, (1, 0, 2))]
INSIDE = "an argument is copied inside this loop: apply STAGE after this Opt"
IN_LANES = "a value would have lanes along two axes"
AS_LANES = "vectors have 2, 4, 8, 16, 32 or 64 lanes, not "
EACH_ONCE = "the order must name each of the axes 0...2 once"


@pytest.mark.parametrize(("opts", "reason"), [
    ([Opt(SPLIT, 3, 4)], "axis 3; the kernel has 3: 0: LOOP 24, 1: LOOP 40, 2: REDUCE 32"),
    ([Opt(SPLIT, -1, 4)], "there is no axis -1"),
    ([Opt(UPCAST, (0, 1), 4)], "there is no axis (0, 1)"),
    ([Opt(SPLIT, 0, 24)], "cannot split 24 iterations into groups of 24"),
    ([Opt(SPLIT, 0, 1)], "cannot split 24 iterations into groups of 1"),
    ([Opt(SPLIT, 0, -4)], "the size must be a whole number, not -4"),
    ([Opt(UPCAST, 0)], "the size must be a whole number, not None"),
    ([Opt(VECTOR, 0, "4")], "the size must be a whole number, not '4'"),
    ([Opt(THREAD, 0), Opt(SPLIT, 0, 4)], "axis 0 is a THREAD axis already: SPLIT it before"),
    ([Opt(UPCAST, 2, 4)], "axis 2 is a reduce's: UNROLL it, or give it VECTOR lanes"),
    ([Opt(THREAD, 0), Opt(UPCAST, 0, 4)], "axis 0 is a THREAD axis already"),
    ([Opt(UPCAST, 0, 0), Opt(UPCAST, 0, 0)], "960 copies; at most 256 are allowed"),
    ([Opt(UNROLL, 0, 4)], "axis 0 is not a reduce's: UPCAST it"),
    ([Opt(UPCAST, 0, 24), Opt(UNROLL, 1, 0)], "768 copies; at most 256 are allowed"),
    ([Opt(VECTOR, 1, 3)], AS_LANES + "3"),
    ([Opt(VECTOR, 1, 1)], AS_LANES + "1"),
    ([Opt(VECTOR, 1, 128)], AS_LANES + "128"),
    ([Opt(VECTOR, 1, 8), Opt(VECTOR, 0, 8)], IN_LANES),
    ([Opt(VECTOR, 2, 8), Opt(VECTOR, 0, 8)], IN_LANES),
    ([Opt(THREAD, 0), Opt(VECTOR, 0, 8)], "axis 0 is a THREAD axis already"),
    ([Opt(THREAD, 2)], "is a REDUCE axis: only a loop around all stores can be divided"),
    ([Opt(THREAD, 1)], "axis 1 is not the outermost loop of every store (REORDER it there)"),
    ([Opt(THREAD, 0), Opt(THREAD, 0)], "axis 0 is a THREAD axis"),
    ([Opt(THREAD, 0), *TURNED, Opt(THREAD, 0)], "the kernel has a THREAD axis already"),
    ([Opt(REORDER, (1, 0))], EACH_ONCE),
    ([Opt(REORDER, (1, 1, 2))], EACH_ONCE),
    ([Opt(REORDER, 1)], EACH_ONCE),
    ([Opt(STAGE, 2, 2)], "the index of argument 2 does not vary inside axis 2"),
    ([Opt(SPLIT, 2, 4), Opt(STAGE, 2, 2), Opt(UNROLL, 2, 2)], "apply STAGE after this Opt"),
    ([Opt(STAGE, 0, 9)], "argument 9 is not read"),
    ([Opt(STAGE, 0, 0)], "argument 0 is not read"),
    ([Opt(STAGE, 0, 2), Opt(STAGE, 0, 2)], "argument 2 is copied already"),
    ([Opt(STAGE, 1, 1), Opt(UPCAST, 0, 4)], INSIDE),
    ([Opt(STAGE, 1, 2), Opt(VECTOR, 1, 4)], INSIDE),
])  # fmt: skip
def test_an_illegal_opt_says_why(opts, reason):
    with pytest.raises(KernelOptError, match=re.escape(reason)) as error:
        apply_opts(product(), opts)
    assert str(error.value).startswith(f"{opts[-1]}: ")


UNCOPIED = [
    (lambda x: on_buffer(48, 48) + (x + x.T), 2, "argument 2 is read in 2 different ways"),
    (lambda x: on_buffer(48, 48) + on_buffer(48, 1), 2, "does not vary inside axis 0"),
    (lambda x: x[on_buffer(5, dtype=dtypes.int)].contiguous(), 2, "2 is indexed with values read"),
    (lambda x: x.assign(x + on_buffer(48, 48).T), 0, "argument 0 is written by the kernel"),
]


@pytest.mark.parametrize(("graph", "argument", "reason"), UNCOPIED)
def test_stage_says_what_it_cannot_copy(graph, argument, reason):
    with pytest.raises(KernelOptError, match=reason):
        apply_opt(kernel_of(graph(on_buffer(48, 48))), Opt(STAGE, 0, argument))


def test_a_reduce_is_not_put_into_a_loop_that_it_does_not_depend_on():
    kernel = kernel_of(on_buffer(64, 48).softmax())
    assert after(kernel)[:2] == ["LOOP 64", "LOOP 48"]
    with pytest.raises(KernelOptError, match="a reduce would run 48 times for each of its results"):
        apply_opt(kernel, Opt(REORDER, (1, 0, *range(2, len(axes(kernel))))))


def test_a_size_that_is_a_variable_is_not_divided():
    n = UOp.variable("n", 1, 9).bind(3)
    kernel = kernel_of(on_buffer(9)[:n] + 1)
    for op in (SPLIT, UPCAST, VECTOR):
        with pytest.raises(KernelOptError, match="size is a Variable: only threads can divide it"):
            apply_opt(kernel, Opt(op, 0, 2))
    assert axis_type(axes(apply_opt(kernel, Opt(THREAD, 0)))[0]).name == "THREAD"


def test_what_a_variable_says_how_much_of_is_read_is_not_copied():
    k = UOp.variable("k", 1, 32).bind(8)
    kernel = kernel_of(on_buffer(24, 32)[:, :k] @ on_buffer(32, 40)[:k])
    with pytest.raises(KernelOptError, match="is a Variable"):
        apply_opt(kernel, Opt(STAGE, 1, 2))
    with pytest.raises(KernelOptError, match="size is a Variable: only threads can divide it"):
        apply_opt(kernel, Opt(UNROLL, 2, 4))


# ---- sizes that do not divide --------------------------------------------------------------------


def test_the_last_tile_is_moved_back_so_that_nothing_is_guarded():
    body = body_of(source_of(on_buffer(37) * 2, [Opt(VECTOR, 0, 16)]))
    assert "ridx0 < 3" in body
    assert "min_int(ridx0 * 16, 21)" in body
    assert "?" not in body
    assert "if" not in body


def test_what_a_reduce_has_counted_already_is_its_identity():
    body = body_of(source_of(on_buffer(37).max(), [Opt(UNROLL, 0, 4)]))
    assert body.count("? -__builtin_inff() : val") == 4
    assert "? data" not in body  # read in range, without a condition


def test_a_size_below_the_tile_is_guarded():
    program = program_of(on_buffer(5) * 2, [Opt(VECTOR, 0, 8)])
    body = body_of(program.src)
    assert "for" not in body
    assert "data1[4]" in body
    assert not re.search(r"[^?] data1\[5\]", body)


def test_a_kernel_that_reads_what_it_writes_is_guarded_and_not_moved_back():
    x = on_buffer(37)
    body = body_of(source_of(x.assign(x * 2), [Opt(VECTOR, 0, 16)]))
    assert "max_int" not in body
    assert body.count("if (") == 11  # 16 - 37 % 16
    t = filled(numbers(37))
    np.testing.assert_array_equal(run_with(t.assign(t * 2), [Opt(VECTOR, 0, 16)]), numbers(37) * 2)


SIZES = [2, 3, 7, 8, 9, 15, 16, 17, 33]
OF_EVERY_SIZE = {  # what is computed, how near it has to be, and the Opts that are for it
    "elementwise": (lambda x: x * 2 + 1, 0, (SPLIT, VECTOR, UPCAST)),
    "in place": (lambda x: x.assign(x * 3) if isinstance(x, Tensor) else x * 3, 0,
                 (SPLIT, VECTOR, UPCAST)),
    "sum": (lambda x: x.sum(), 1e-6, (SPLIT, VECTOR, UNROLL)),
    "max": (lambda x: x.max(), 1e-6, (SPLIT, VECTOR, UNROLL)),
    "product": (lambda x: (x / 8 + 1).prod(), 1e-6, (SPLIT, VECTOR, UNROLL)),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_EVERY_SIZE)
def test_kernels_of_every_size(name):
    compute, rtol, ops = OF_EVERY_SIZE[name]
    for size, op in itertools.product(SIZES, ops):
        opt, x = Opt(op, 0, 8 if op is VECTOR else 4), numbers(size)
        if op is not SPLIT or size > opt.arg:
            found = run_with(compute(filled(x, "PYTHON")), [opt], "PYTHON")
            np.testing.assert_allclose(found, compute(x), rtol, err_msg=f"{size}, {opt}")
