"""What CUDA C++ has to be careful about: alignment, integers that wrap around, float16, NaN.

Whole kernels are in tests/expected_sources/cuda.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.gpu_kernels import GLOBAL, LOCAL, VECTOR
from tests.kernels import kernel_of, on_buffer
from tinyframe import Tensor, dtypes, ptx
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.dtype import DType
from tinyframe.gpu.languages.cuda import CUDALanguage

VECTORS = [Opt(VECTOR, 0, 4), Opt(LOCAL, 0, 16), Opt(GLOBAL, 0)]


def source(tensor: Tensor, opts: Sequence[Opt] = ()) -> str:
    return get_program(kernel_of(tensor), CUDALanguage(), opts).src


def test_a_vector_that_may_lie_askew_is_moved_element_by_element():
    rows = on_buffer(8, 7)[:, :4] + 1
    opts = [Opt(VECTOR, 1, 4), Opt(GLOBAL, 0)]
    text = source(rows.contiguous(), opts)
    assert text.count("= data1[") == 4  # a row begins at a multiple of 7
    assert "*reinterpret_cast<float4*>(data0" in text


@pytest.mark.parametrize(
    ("dtype", "words"),
    [
        (dtypes.int, "((unsigned int)val0) * ((unsigned int)val1)"),
        (dtypes.long, "((unsigned long long)val0) * ((unsigned long long)val1)"),
        (dtypes.uint, "= val0 * val1"),
        (dtypes.float, "= val0 * val1"),
    ],
    ids=str,
)
def test_signed_integers_wrap_around_as_unsigned_ones(dtype: DType, words: str):
    text = source(on_buffer(8, dtype=dtype) * on_buffer(8, dtype=dtype))
    assert words in text


def test_the_larger_of_two_numbers_is_NaN_if_either_is():
    text = source(on_buffer(8).maximum(on_buffer(8)))
    definition = "float max_float(float a, float b) { return b > a || b != b ? b : a; }"
    assert definition in text
    assert "static __device__ inline" in text


def test_float16_needs_the_toolkits_header_and_bfloat16_does_not():
    half = source(on_buffer(256, dtype=dtypes.half) + 1, VECTORS)
    assert half.startswith("#include <cuda_fp16.h>\n")
    assert "half4 val0 = *reinterpret_cast<const half4*>(data1 + " in half
    bfloat16 = source(on_buffer(256, dtype=dtypes.bfloat16) + 1, VECTORS)
    assert "#include" not in bfloat16
    assert "const unsigned short* __restrict__ data1" in bfloat16


def test_infinity_and_NaN_need_no_header():
    text = source(on_buffer(8).max())
    assert "float acc0 = -__int_as_float(0x7f800000);" in text
    x = on_buffer(8)
    assert "__int_as_float(0x7fc00000)" in source((x > 0).where(x, float("nan")))


@pytest.mark.parametrize("new", [dtypes.int, dtypes.uint], ids=str)
def test_the_same_bits(new: DType):
    name = {dtypes.int: "__float_as_int", dtypes.uint: "__float_as_uint"}[new]
    assert f"{name}(" in source(on_buffer(8).bitcast(new).contiguous())


def test_the_source_of_an_expression_is_shown_without_nvidias_compiler(capsys):
    assert ptx.main(["--source", "empty(8, 4) @ empty(4, 8)"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("// r_8_")
    assert shown.count("__global__") == 1
    assert ptx.main(["--source", "empty(8)"]) == 0
    assert capsys.readouterr().out == "No kernel: nothing is computed.\n"


@pytest.mark.parametrize("expression", ["empty(8", "empty(2) + empty(3)", "3"])
def test_an_expression_that_is_no_tensor(expression, capsys):
    with pytest.raises(SystemExit):
        ptx.main(["--source", expression])
    assert repr(expression) in capsys.readouterr().err
