"""A language of C's family is a small table: OpenCL over the common writer, word by word."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.kernels import kernel_of, launch, on_buffer
from tinyframe import Tensor, dtypes
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps
from tinyframe.device import Buffer
from tinyframe.dtype import AddrSpace
from tinyframe.errors import DTypeError
from tinyframe.gpu.languages.opencl import OpenCLLanguage
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.renderer.program_text import call
from tinyframe.rewrite.spec import spec_program, verify
from tinyframe.uop.node import Ops, UOp

VECTOR = OptOps.VECTOR


class OpenCL(OpenCLLanguage):
    """With an instruction for multiply and add."""

    code_for_op = {**OpenCLLanguage.code_for_op, Ops.MULACC: call("fma", typed=False)}


def text_of(t: Tensor, *opts: Opt, language: CStyleLanguage | None = None) -> str:
    return get_program(kernel_of(t), language or OpenCL(), list(opts)).src


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def test_vectors_are_loaded_chosen_and_stored_in_its_words():
    x, y, z = (on_buffer(64) for _ in range(3))
    text = text_of((x < y).where(z, 3), Opt(VECTOR, 0, 4))
    assert lines_of(text) == [
        "__kernel void E_16_4(__global float* restrict data0,"
        " __global const float* restrict data1,"
        " __global const float* restrict data2, __global const float* restrict data3) {",
        "for (int ridx0 = 0; ridx0 < 16; ridx0++) {",
        "int alu0 = ridx0 * 4;",
        "float4 val0 = vload4(0, data1 + alu0);",
        "float4 val1 = vload4(0, data2 + alu0);",
        "float4 val2 = vload4(0, data3 + alu0);",
        "vstore4(select((float4)(3.0f), val2, val0 < val1), 0, data0 + alu0);",
        "}",
        "}",
    ]


def test_conversions_and_masks_are_written_in_its_words():
    flags, x = on_buffer(64, dtype=dtypes.bool), on_buffer(64)
    text = text_of(flags.where(x.cast(dtypes.int), 0).cast(dtypes.float), Opt(VECTOR, 0, 4))
    assert "char4 val0 = vload4(0, data1 + alu0);" in text
    fits = "(val1 > -2147483600.0f) & (val1 < 2147483600.0f)"  # these are +-2**31
    number = f"convert_int4(select((float4)(-2147483600.0f), val1, {fits}))"
    assert f"convert_float4(select((int4)(0), {number}, convert_int4(" in text
    bits = text_of(x.bitcast(dtypes.int) + 1, Opt(VECTOR, 0, 4))
    assert "vstore4(as_int4(as_uint4(val0) + 1u), 0, data0 + alu0);" in bits


def test_lanes_that_lie_apart_are_named_one_by_one():
    text = text_of(on_buffer(8, 64).T.contiguous(), Opt(VECTOR, 1, 4))
    assert "float4 val0 = (float4)(data1[" in text
    assert "l++" not in text
    row = text_of(on_buffer(8, 64).max(1), Opt(VECTOR, 1, 4))
    assert "max_float(max_float(acc0.s0, acc0.s2), max_float(acc0.s1, acc0.s3))" in row
    assert "select(a, b, (b > a) | (b != b))" in row


def test_a_load_that_may_be_out_of_range_is_guarded():
    text = text_of(on_buffer(5, 6).pad(((1, 0), (0, 2))).contiguous())
    (line,) = [line for line in lines_of(text) if line.startswith("float val0")]
    assert line.endswith(": 0;") and "? data1[" in line


# ---- blocks and threads --------------------------------------------------------------------------


def reversed_in_blocks() -> list[UOp]:
    """Each block of 4 threads copies 4 numbers to memory that they share, and back in reverse."""
    block, thread = (UOp(Ops.SPECIAL, dtypes.int, (), a) for a in (("gidx0", 8), ("lidx0", 4)))
    out, x = (UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(32), (), n) for n in range(2))
    panel = UOp(Ops.DEFINE_LOCAL, dtypes.float.ptr(4, AddrSpace.LOCAL), (), 0)
    three, four = UOp.const(dtypes.int, 3), UOp.const(dtypes.int, 4)
    first = block.alu(Ops.MUL, four)
    here = first.alu(Ops.ADD, thread)
    read, back = x.index(here), three.alu(Ops.SUB, thread)
    kept, other, place = panel.index(thread), panel.index(back), out.index(here)
    value, again = read.load(), other.load()
    program = [out, x, panel, three, four, UOp.const(dtypes.bool, True), block, thread, first, here]
    program += [read, value, kept, kept.store(value), UOp(Ops.BARRIER, dtypes.void), back, other]
    return [*program, again, place, place.store(again)]


def test_blocks_threads_shared_memory_and_barriers_are_rows():
    program = reversed_in_blocks()
    verify(program, spec_program)
    assert lines_of(OpenCL().render("reverse", program)) == [
        "__kernel void reverse(__global float* restrict data0,"
        " __global const float* restrict data1) {",
        "__local float panel0[4] __attribute__((aligned(64)));",
        "int gidx0 = get_group_id(0);",
        "int lidx0 = get_local_id(0);",
        "int alu0 = gidx0 * 4 + lidx0;",
        "float val0 = data1[alu0];",
        "panel0[lidx0] = val0;",
        "barrier(CLK_LOCAL_MEM_FENCE);",
        "float val1 = panel0[3 - lidx0];",
        "data0[alu0] = val1;",
        "}",
    ]


def test_c_says_what_it_lacks():
    program = reversed_in_blocks()
    with pytest.raises(NotImplementedError, match="cannot write gidx0: give .* a row 'g'"):
        CStyleLanguage().render("f", program)

    class Blocks(CStyleLanguage):
        code_for_workitem = {"g": str, "l": str}

    with pytest.raises(NotImplementedError, match="cannot write BARRIER: set `barrier`"):
        Blocks().render("f", program)


# ---- what a language lacks -----------------------------------------------------------------------


class Small(CStyleLanguage):
    """C of a device without float64 and 8-bit integers, whose vectors have 4 lanes."""

    device = "SMALL"
    unsupported = frozenset({dtypes.double, dtypes.char})
    default_target = dataclasses.replace(CStyleLanguage.default_target, most_lanes=4)


@pytest.mark.parametrize("opts", [[], [Opt(VECTOR, 0, 2)]])
@pytest.mark.parametrize("dtype, name", [(dtypes.double, "float64"), (dtypes.char, "int8")])
def test_a_dtype_that_it_lacks_is_an_error_with_what_to_do(dtype, name, opts):
    said = rf"SMALL has no {name}, and the kernel E_\S+ computes with it: cast to .*float32"
    with pytest.raises(DTypeError, match=said):
        text_of(on_buffer(64, dtype=dtype) * 3, *opts, language=Small())
    with pytest.raises(DTypeError, match=said):
        text_of((on_buffer(64).cast(dtype) * 3).cast(dtypes.short), *opts, language=Small())
    assert text_of(on_buffer(64, dtype=dtypes.short) * 3, *opts, language=Small())


def test_vectors_with_more_lanes_than_it_has_are_refused():
    x = on_buffer(64) + 1
    assert "float4 val0" in text_of(x, Opt(VECTOR, 0, 4), language=Small())
    with pytest.raises(KernelOptError, match="vectors of 8 lanes: this device has at most 4"):
        text_of(x, Opt(VECTOR, 0, 8), language=Small())


# ---- multiply and add ----------------------------------------------------------------------------


class Fused(CStyleLanguage):
    """C that asks for the instruction by name."""

    code_for_op = {**CStyleLanguage.code_for_op, Ops.MULACC: call("fma")}
    functions = {
        **CStyleLanguage.functions,
        "fma": lambda language, name, dtype: (
            f"static inline {dtype.name} fma_{dtype.name}({dtype.name} a, {dtype.name} b, "
            f"{dtype.name} c) {{ return __builtin_fma{'f' * (dtype is dtypes.float)}(a, b, c); }}"
        ),
    }


def test_a_language_that_has_it_multiplies_and_adds_in_one():
    x, y = on_buffer(8, 16), on_buffer(16, 8)
    text = text_of(x @ y, language=Fused())
    assert "acc0 = fma_float(val0, val1, acc0);" in text
    text = text_of(on_buffer(16) * 2 + on_buffer(16), language=Fused())
    assert "data0[ridx0] = fma_float(val0, 2.0f, val1);" in text
    assert "fma" not in text_of(x @ y, language=CStyleLanguage())


def test_unrolled_sums_and_sums_of_ints():
    x, y = on_buffer(8, 16), on_buffer(16, 8)
    text = text_of(x @ y, Opt(OptOps.UNROLL, 2, 4), language=Fused())
    assert text.count("= fma_float(") == 4
    ints = on_buffer(8, dtype=dtypes.int)
    assert "fma" not in text_of(ints * ints + ints, language=Fused())


def test_it_rounds_once():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 1000)).astype(np.float32)
    kernel = kernel_of(on_buffer(1000) * on_buffer(1000) + on_buffer(1000))
    program = get_program(kernel, Fused(), [])
    buffers = [Buffer("CPU", 1000, dtypes.float) for _ in range(4)]
    for buffer, array in zip(buffers[1:], (a, b, c), strict=True):
        buffer.copyin(array.tobytes())
    launch(program, buffers)
    exact = (a.astype(np.float64) * b + c).astype(np.float32)  # the product of two is exact there
    np.testing.assert_array_equal(buffers[0].numpy(), exact)
