"""WGSL as text: how each thing that is different there is written. tests/backends/test_webgpu.py
runs it."""

from __future__ import annotations

import dataclasses
import re

import pytest

from tests.kernels import kernel_of, on_buffer
from tinyframe import Tensor, Variable, dtypes
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opts
from tinyframe.dtype import to_np_dtype
from tinyframe.errors import DTypeError, LimitError
from tinyframe.gpu.languages.wgsl import FEATURES, WGSLLanguage
from tinyframe.renderer import Target

LEAST = WGSLLanguage.default_target
ALL = frozenset(FEATURES)


def text_of(t: Tensor, *opts: Opt, features: frozenset[str] = ALL, target: Target = LEAST) -> str:
    return get_program(kernel_of(t), WGSLLanguage(target, features), list(opts)).src


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


def test_a_kernel_is_a_module_of_its_buffers_and_one_function():
    assert lines_of(text_of(on_buffer(4) + on_buffer(4))) == [
        "@group(0) @binding(0) var<storage, read_write> data0: array<f32>;",
        "@group(0) @binding(1) var<storage, read> data1: array<f32>;",
        "@group(0) @binding(2) var<storage, read> data2: array<f32>;",
        "@compute @workgroup_size(1, 1, 1)",
        "fn E_4(@builtin(workgroup_id) block: vec3<u32>,"
        " @builtin(local_invocation_id) thread: vec3<u32>) {",
        "for (var ridx0: i32 = 0; ridx0 < 4; ridx0++) {",
        "let val0: f32 = data1[ridx0];",
        "let val1: f32 = data2[ridx0];",
        "data0[ridx0] = val0 + val1;",
        "}",
        "}",
    ]


def test_blocks_threads_shared_memory_and_barriers():
    product = on_buffer(8, 12) @ on_buffer(12, 8)
    opts = [Opt(OptOps.GLOBAL, 0), Opt(OptOps.LOCAL, 0, 4), Opt(OptOps.GROUP, 3, 3),
            Opt(OptOps.STAGE, 0, 1)]  # fmt: skip
    text = text_of(product, *opts)
    lines = lines_of(text)
    assert "@compute @workgroup_size(3, 4, 1)" in lines
    assert "let gidx0: i32 = i32(block.x);" in lines
    assert "let lidx0: i32 = i32(thread.x);" in lines
    assert "let lidx1: i32 = i32(thread.y);" in lines
    assert "var acc0: f32 = 0.0f;" in lines
    assert lines.count("workgroupBarrier();") == 2
    panels = [n for n, line in enumerate(lines) if line.startswith("var<workgroup> panel")]
    assert len(panels) == 2
    assert max(panels) < next(n for n, line in enumerate(lines) if line.startswith("@compute"))


@pytest.mark.parametrize(
    ("dtype", "kind", "lanes"),
    [(dtypes.bool, "bool", 4), (dtypes.char, "i32", 4), (dtypes.uchar, "u32", 4),
     (dtypes.short, "i32", 2), (dtypes.ushort, "u32", 2)],
    ids=str,
)  # fmt: skip
def test_what_is_narrower_than_a_word_shares_one(dtype, kind, lanes):
    x = on_buffer(8, dtype=dtype)
    text = text_of(x.flip(0).contiguous())
    assert "var<storage, read_write> data0: array<atomic<u32>>;" in text
    assert "var<storage, read> data1: array<u32>;" in text
    assert f"fn read_data1(i: i32) -> {kind} {{" in text
    assert f"fn write_data0(i: i32, x: {kind}) {{" in text
    assert f"atomicAnd(&data0[i / {lanes}]" in text
    assert f"let val0: {kind} = read_data1(7 - ridx0);" in text
    assert "write_data0(ridx0, val0);" in text
    assert "read_data0" not in text
    in_place = on_buffer(8, dtype=dtype)
    text = text_of(in_place.assign(in_place + in_place))
    assert "atomicLoad(&data0[" in text


def test_a_choice_a_guard_and_a_condition_around_a_store():
    x = on_buffer(5, 6)
    padded = text_of(x.pad(((1, 0), (0, 2))).contiguous())
    assert re.search(r"let val0: f32 = select\(0\.0f, data1\[.*\], .*\);", padded)
    x = on_buffer(37)
    text = text_of(x.assign(x * 3), Opt(OptOps.SPLIT, 0, 8))
    assert re.search(r"if \(.*\) \{ data0\[.*\] = .*; \}", text)
    assert "?" not in padded + text


def test_the_values_of_variables_are_in_one_buffer():
    n, m = Variable("n", 1, 30).bind(7), Variable("m", 1, 4).bind(2)
    text = text_of(on_buffer(4, 30)[:m, :n] + 1)
    assert "struct Launch { zero: u32, var_m: i32, var_n: i32 }" in text
    assert "@group(0) @binding(2) var<uniform> launch: Launch;" in text
    assert "let var_n: i32 = launch.var_n;" in text
    assert "launch" not in text_of(on_buffer(30) + 1)


def test_nothing_that_is_not_finite_is_a_constant():
    text = text_of((on_buffer(4) < float("inf")).where(float("nan"), -float("inf")))
    assert "var bits = 0x7f800000u; return bitcast<f32>(bits);" in text
    assert "select(-inf_float(), nan_float(), val0 < inf_float())" in text
    by_zero = text_of(on_buffer(4) / 0)
    assert "val0 * inf_float()" in by_zero


def test_no_expression_of_constants_is_left_to_overflow():
    x, y = on_buffer(4, dtype=dtypes.uint), on_buffer(4, dtype=dtypes.int)
    assert not re.search(r"-\d+u", text_of(x - 1) + text_of(x * 5 - x) + text_of(-x))
    assert "acc0: i32 = -2147483647-1;" in text_of(y.max())
    remainder = text_of(on_buffer(4) % on_buffer(4))  # shifts and adds constants of 64 bits
    constant = r"-?\d+(?:l?[iuf])?"
    assert not re.search(rf"[(=] ?{constant} [-+*] {constant}[;) ]", remainder)


def test_the_count_of_a_shift_is_unsigned_whatever_is_shifted():
    x = on_buffer(4, dtype=dtypes.int)
    assert "<< 3u" in text_of(x << 3)
    assert re.search(r"<< u32\(", text_of(x << on_buffer(4, dtype=dtypes.int)))
    long = on_buffer(4, dtype=dtypes.long)
    assert ">> 3u" in text_of(long >> 3)


def test_a_nan_differs_from_itself():
    x = on_buffer(4)
    assert "!(val0 == val0)" in text_of(x.isnan())
    assert "!=" not in text_of(x.ne(on_buffer(4)))
    assert "b > a || !(b == b)" in text_of(x.maximum(on_buffer(4)))


def test_bools_are_compared_without_an_order():
    a, b = (on_buffer(4, dtype=dtypes.bool) for _ in range(2))
    for t in (a < b, a <= b, a ^ b, a.maximum(b), a * b):
        body = text_of(t).partition("@compute")[2]
        (line,) = [line for line in lines_of(body) if line.startswith("write_data0")]
        assert not re.search(r"[<>^*]", line)


def test_narrow_integers_are_cut_off_after_each_step():
    x = on_buffer(4, dtype=dtypes.char)
    assert "extractBits(i32(val0 * 77), 0u, 8u)" in text_of(x * 77)
    y = on_buffer(4, dtype=dtypes.ushort)
    assert "extractBits(u32(val0 * val0), 0u, 16u)" in text_of(y * y)


# ---- what a compiler may rearrange ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["exp", "exp2", "sin", "cos", "tanh", "log", "erf", "asinh"])
def test_a_function_that_needs_a_rounding_writes_it(name):
    """(x + 25165824) - 25165824 is x rounded to a whole number, and not x."""
    text = text_of(getattr(on_buffer(4), name)())
    body = text.partition("@compute")[2]
    named = dict(re.findall(r"let (alu\d+): f(?:32|64) = (.*);", body))
    assert named
    for value in named.values():
        found = re.fullmatch(r"(alu\d+) - ([\d.]+l?f)", value)
        if found and re.search(rf"\+ {re.escape(found[2])}$", named.get(found[1], "")):
            pytest.fail(f"{found[1]} = {named[found[1]]} may be cancelled by {value}")


def test_what_is_rounded_goes_through_a_number_from_the_launch():
    text = text_of(on_buffer(4).exp())
    assert "return bitcast<f32>(bitcast<u32>(x) ^ u32(launch.zero));" in text
    assert "struct Launch { zero: u32 }" in text
    x = on_buffer(4)
    assert "round_float(val0 + 3.0f) - 2.0f" in text_of(x + 3 - 2)
    y = on_buffer(4)
    assert "round_float(val0 + val1) - val1" in text_of((x + y) - y)
    assert "round" not in text_of(x * 2 + y)


# ---- features ------------------------------------------------------------------------------------


def test_float16_is_a_type_or_the_bits_of_one():
    x = on_buffer(8, dtype=dtypes.half)
    text = text_of(x * 2)
    assert text.startswith("enable f16;\n")
    assert "array<f16>" in text
    text = text_of(x * 2, features=frozenset())
    assert "f16" not in text
    assert "var<storage, read> data1: array<u32>;" in text


@pytest.mark.parametrize("dtype", [dtypes.long, dtypes.ulong, dtypes.double], ids=str)
def test_what_no_feature_brings_is_refused_with_its_name(dtype):
    x = on_buffer(8, dtype=dtype)
    kind = {dtypes.long: "i64", dtypes.ulong: "u64", dtypes.double: "f64"}[dtype]
    assert f"array<{kind}>" in text_of(x + 1)
    name = str(to_np_dtype(dtype))
    with pytest.raises(DTypeError, match=f"WEBGPU has no {name}, and the kernel E_8 .* cast to"):
        text_of(x + 1, features=frozenset())


def test_random_numbers_and_sines_need_no_feature():
    Tensor.manual_seed(1)
    for t in (Tensor.rand(9), Tensor.randint(9, high=1000), Tensor.randn(9)):
        source = text_of(t, features=frozenset())
        assert not re.search(r"\b[iuf]64\b", source)
    assert "sin(val0)" in text_of(on_buffer(3).sin(), features=frozenset())


# ---- limits --------------------------------------------------------------------------------------


def test_more_buffers_than_a_kernel_may_have_are_refused():
    limited = dataclasses.replace(LEAST, most_buffers=8)
    parts = [on_buffer(4) for _ in range(8)]
    assert "@binding(7)" in text_of(sum(parts[1:-1], parts[0]), target=limited)
    with pytest.raises(LimitError, match=r"E_4 reads and writes 9 buffers, and WEBGPU takes 8"):
        text_of(sum(parts[1:], parts[0]), target=limited)


def test_longer_threads_than_a_device_lets_run_are_refused():
    limited = dataclasses.replace(LEAST, most_steps=100)
    x = on_buffer(9, 10)
    assert text_of(x.sum(1), target=limited)  # 9 + 9 * 10 steps
    with pytest.raises(LimitError, match="goes through 110 steps of its loops.*after 100"):
        text_of(on_buffer(10, 10).sum(1), target=limited)
    assert text_of(on_buffer(10, 10).sum(1), Opt(OptOps.GLOBAL, 0), target=limited)


def test_the_steps_of_a_sum_in_blocks_are_those_that_it_takes():
    limited = dataclasses.replace(LEAST, most_steps=2003 + 16)  # the last of 16 blocks is shorter
    with pytest.raises(LimitError, match="goes through 2032 steps"):  # counted as the others are
        text_of(on_buffer(2003).sum(), target=limited)
    assert text_of(on_buffer(2003).sum(), target=dataclasses.replace(LEAST, most_steps=2032))


def test_a_panel_of_narrow_numbers_takes_a_word_for_each():
    x, y = (on_buffer(*shape, dtype=dtypes.uchar) for shape in ((64, 128, 1), (128, 64)))
    product = kernel_of(x.maximum(y).max(1))
    opts = [Opt(OptOps.STAGE, -1, 1)]
    with pytest.raises(KernelOptError, match="panels of 32768 bytes; .* share 16384"):
        apply_opts(product, opts, LEAST)
    apply_opts(product, opts, dataclasses.replace(LEAST, least_bytes=1))


def test_a_panel_whose_lanes_are_stored_one_by_one():
    product = on_buffer(50, 50) @ on_buffer(50, 64)  # rows of 50 don't begin at multiples of 16
    text = get_program(kernel_of(product), WGSLLanguage(LEAST, ALL)).src  # by its plan
    assert text.count("var<workgroup>") == 2
    assert "vec4<f32>" not in text.partition("fn ")[0]
