"""What CUDA C++ has to be careful about: alignment, integers that wrap around, bits.

Whole kernels are in tests/expected_sources/cuda, and numbers that have no digits in
test_gpu_sources.py.
"""

from __future__ import annotations

import pytest

from tests.gpu_kernels import GLOBAL, VECTOR
from tests.kernels import kernel_of, on_buffer
from tinyframe import dtypes, ptx
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.dtype import DType
from tinyframe.gpu.languages.cuda import CUDALanguage


def test_a_vector_that_may_lie_askew_is_moved_element_by_element():
    rows = on_buffer(8, 7)[:, :4] + 1
    opts = [Opt(VECTOR, 1, 4), Opt(GLOBAL, 0)]
    text = get_program(kernel_of(rows.contiguous()), CUDALanguage(), opts).src
    assert text.count("= data1[") == 4  # a row begins at a multiple of 7
    assert "*reinterpret_cast<float4*>(data0" in text


@pytest.mark.parametrize(
    ("dtype", "words"),
    [
        (dtypes.int, "((unsigned int)val0) * ((unsigned int)val1)"),
        (dtypes.long, "((unsigned long long)val0) * ((unsigned long long)val1)"),
        (dtypes.uint, "= val0 * val1"),
    ],
    ids=str,
)
def test_signed_integers_wrap_around_as_unsigned_ones(dtype: DType, words: str):
    product = on_buffer(8, dtype=dtype) * on_buffer(8, dtype=dtype)
    assert words in get_program(kernel_of(product), CUDALanguage(), []).src


@pytest.mark.parametrize("name", ["int", "uint"])
def test_the_same_bits(name: str):
    bits = on_buffer(8).bitcast(name).contiguous()
    assert f"__float_as_{name}(" in get_program(kernel_of(bits), CUDALanguage(), []).src


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
