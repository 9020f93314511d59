"""What METAL, HIP and CUDA are given, word for word, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gpu_sources import CASES, ENDINGS, expected_path
from tests.kernels import on_buffer, program_of
from tinyframe import Device, Tensor, dtypes
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps
from tinyframe.errors import DTypeError
from tinyframe.uop.node import Ops

GPUS = list(ENDINGS)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("language", GPUS)
def test_the_source_is_the_one_that_was_read_and_found_right(language, name):
    assert CASES[name].source(language) == expected_path(language, name).read_text()


def test_there_is_no_expected_source_that_nothing_is_compared_with():
    wanted = {expected_path(language, name) for language in GPUS for name in CASES}
    folder = expected_path("METAL", "half").parents[1]
    assert set(folder.glob("*/*")) == wanted


# ---- float64 -------------------------------------------------------------------------------------


def test_metal_has_no_float64_and_says_so_when_the_kernel_is_made():
    said = "METAL has no float64, and the kernel E_3 computes with it: cast to a dtype that it has"
    x = Tensor([1.0, 2.0, 3.0], dtype=dtypes.double, device="NULL:METAL")
    with pytest.raises(DTypeError, match=said):
        (x + 1).realize()
    with pytest.raises(DTypeError, match=said):  # nothing of it was kept
        (x + 1).realize()


def test_hip_has_float64():
    x = on_buffer(64, dtype=dtypes.double, device="NULL:HIP")
    source = program_of(x.sqrt() * 0.1, [Opt(OptOps.VECTOR, 0, 4)], "NULL:HIP").src
    assert "double4 sqrt_double4(double4 a)" in source
    assert "* 0.1;" in source


@pytest.mark.parametrize("function", ["sin", "cos", "exp", "log", "sqrt", "tanh", "erf", "gelu"])
@pytest.mark.parametrize("dtype", [dtypes.float, dtypes.half, dtypes.bfloat16], ids=repr)
def test_no_function_of_float32_or_less_needs_float64_on_metal(function, dtype):
    x = on_buffer(64, dtype=dtype, device="NULL:METAL")
    for opts in ([], [Opt(OptOps.VECTOR, 0, 4)]):
        assert "double" not in program_of(getattr(x, function)(), opts, "NULL:METAL").src


# ---- what a language has no words for ------------------------------------------------------------


def test_metal_has_vectors_of_four_lanes_at_most():
    x = on_buffer(64, device="NULL:METAL")
    with pytest.raises(KernelOptError, match="vectors of 8 lanes: this device has at most 4"):
        program_of(x + 1, [Opt(OptOps.VECTOR, 0, 8)], "NULL:METAL")


def test_a_remainder_in_metal_is_not_that_of_negative_numbers():
    x, y = (on_buffer(64, dtype=dtypes.int, device="NULL:METAL") for _ in range(2))
    assert "%" not in program_of(x % y, [], "NULL:METAL").src
    assert Ops.CMOD not in Device["NULL:METAL"].renderer.code_for_op


@pytest.mark.parametrize("language", GPUS)
def test_the_cores_of_a_cpu_are_refused(language):
    device = f"NULL:{language}"
    with pytest.raises(KernelOptError, match="no cores to divide a loop among: use GLOBAL"):
        program_of(on_buffer(64, device=device) + 1, [Opt(OptOps.THREAD, 0)], device)


@pytest.mark.parametrize("language", GPUS)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 3.4028234663852886e38, -0.0])
def test_constants_that_numbers_have_no_digits_for(language, value):
    renderer = Device[f"NULL:{language}"].renderer
    names = {
        "METAL": ("INFINITY", "NAN"),
        "HIP": ("__builtin_inff()", '__builtin_nanf("")'),
        "CUDA": ("__int_as_float(0x7f800000)", "__int_as_float(0x7fc00000)"),
    }[language]
    text = renderer.constant(value, dtypes.float)
    if np.isnan(value):
        assert text == names[1]
    elif np.isinf(value):
        assert text == "-" * (value < 0) + names[0]
    else:
        assert np.float32(text.removesuffix("f")).tobytes() == np.float32(value).tobytes()
