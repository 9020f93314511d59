"""ARM64, emulated: what a compiler for it makes of kernels, and that they compute what is right.

Here is what depends on the processor: vectors, half types, threads, long sums. All other programs
of the suite run on it too: `DEVICE=ARM64 python3 start.py test tests/ops`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tests.arm64_device import COMPILER, PI_4, PI_5, KernelCrashed, Machine, compilers
from tests.kernels import filled, kernel_of, numbers, run_with, source_of
from tests.ops.test_long_sums import LIMITS, equal, error
from tests.values import computed
from tinyframe import Context, Device, Tensor, dtypes
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.device import CompileError
from tinyframe.dtype import to_np_dtype
from tinyframe.runtime.clang import ClangCompiler, find_compiler

SETTINGS = [
    pytest.param({"CC": compiler, "TINYFRAME_CFLAGS": flags}, id=f"{compiler} {flags}")
    for compiler in compilers()
    for flags in (PI_5, PI_4)
]

# in vectors, and as numbers
each_setting = pytest.mark.parametrize(
    ("settings", "noopt"),
    [pytest.param(*param.values, n % 2, id=param.id) for n, param in enumerate(SETTINGS)],
)


@pytest.fixture(autouse=True)
def on_arm64():
    with Context(DEVICE="ARM64"):
        yield


# ---- the compiler and its code -------------------------------------------------------------------


@pytest.mark.parametrize("command", compilers())
def test_a_cross_compiler_is_not_asked_for_this_machine(command):
    compiler = ClangCompiler(find_compiler(command))
    assert not any("native" in flag for flag in compiler.flags)
    assert {"__aarch64__", "__ARM_NEON", "__linux__", "__FLT16_MAX__"} <= compiler.macros


def test_a_compiler_for_this_machine_is_not_taken_for_arm():
    with Context(CC="gcc"):
        assert Path(Device["ARM64"].compiler.command[0]).name == COMPILER
    with Context(CC=compilers()[-1]):
        assert Device["ARM64"].compiler.command == find_compiler(compilers()[-1])


def test_the_target_is_an_arm_machine():
    renderer = Device["ARM64"].renderer
    assert renderer.target.vector_bytes == 16
    assert renderer.target.vector_registers == 32
    assert renderer.native_half


def assembly(t: Tensor) -> str:
    """A kernel's instructions, with their operands."""
    return Device["ARM64"].compiler.assembly(source_of(t, device="ARM64"))


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_matmul_multiplies_and_adds_four_numbers_at_once(settings):
    x = filled(np.ones((64, 64), np.float32))
    with Context(**settings):
        assert len(re.findall(r"\tfmla\tv\d+\.4s", assembly(x @ x))) >= 16


@pytest.mark.parametrize("settings", SETTINGS)
def test_halves_are_converted_by_instructions(settings):
    """Without a call of a library function, which would take a hundred times as long."""
    x, y = filled(np.ones(64, np.float16)), filled(np.ones(64, np.float32))
    with Context(**settings):
        text = assembly((x.cast(dtypes.float32) + y).cast(dtypes.half))
        assert re.search(r"\tfcvt(\ts\d+, h|l2?\tv\d+\.4s, v\d+\.4h)", text)
        assert re.search(r"\tfcvt(\th\d+, s|n2?\tv\d+\.4h, v\d+\.4s)", text)
        assert not re.search(r"\tbl\t", text)


# ---- half types ----------------------------------------------------------------------------------

PATTERNS = np.arange(1 << 16, dtype=np.uint16)
# float32 around every half and bfloat16: each, halfway to the next, and a little to either side
_near = [0, 1, 0x0FFF, 0x1000, 0x1001, 0x2000, 0x3000, 0x7FFF, 0x8000, 0x8001, 0xFFFF]
_bits = (PATTERNS.astype(np.uint32) << 16)[:, None] + np.array(_near, np.uint32)
FLOATS = np.unique(_bits).view(np.float32)


def same(got: np.ndarray, expected: np.ndarray) -> None:
    """Equal, with the signs of zeros; any NaN is equal to any other."""
    np.testing.assert_array_equal(got, expected)
    is_number = expected == expected
    np.testing.assert_array_equal(np.signbit(got)[is_number], np.signbit(expected)[is_number])


@each_setting
@pytest.mark.parametrize(
    ("dtype", "reference"), [(dtypes.half, np.float16), (dtypes.bfloat16, ml_dtypes.bfloat16)]
)
def test_every_half_is_converted_as_numpy_does(settings, noopt, dtype, reference):
    with Context(NOOPT=noopt, **settings), np.errstate(all="ignore"):
        bits = filled(PATTERNS).bitcast(dtype)
        same(bits.cast(dtypes.float32).numpy(), PATTERNS.view(reference).astype(np.float32))
        narrow = filled(FLOATS).cast(dtype).contiguous().bitcast(dtypes.ushort)
        same(narrow.numpy().view(reference).astype(np.float32),
             FLOATS.astype(reference).astype(np.float32))  # fmt: skip


@each_setting
def test_arithmetic_on_halves_is_rounded_once(settings, noopt):
    """Each operation alone: what is exact in float32 is rounded to a half, as NumPy does."""
    rng = np.random.default_rng(0)
    a, b = rng.permutation(PATTERNS).view(np.float16), rng.permutation(PATTERNS).view(np.float16)
    with Context(NOOPT=noopt, **settings), np.errstate(all="ignore"):
        x, y = filled(a), filled(b)
        for got, expected in [(x + y, a + b), (x - y, a - b), (x * y, a * b), (x / y, a / b)]:
            same(got.numpy(), expected)
        np.testing.assert_array_equal((x < y).numpy(), a < b)
        same(x.maximum(y).numpy(), np.maximum(a, b))


# ---- masks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("dtype", [dtypes.bool, dtypes.char, dtypes.uchar, dtypes.short])
def test_a_choice_by_narrow_numbers_takes_whole_lanes(settings, dtype):
    """Where bytes are compared, clang gives chars, which are unsigned on Linux for ARM."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 2, 64).astype(to_np_dtype(dtype)) for _ in range(2))
    with Context(**settings):
        x, y, seven = filled(a), filled(b), filled(np.full(64, -7.5, np.float32))
        found, wanted = [], []
        for wide in (dtypes.float32, dtypes.float64, dtypes.half, dtypes.long):
            ours, theirs = seven.cast(wide), np.full(64, -7.5).astype(to_np_dtype(wide))
            for got, expected in [(x != 0, a != 0), (x.ne(y), a != b), (x < y, a < b)]:
                found.append(got.where(ours, 1).contiguous())
                wanted.append(np.where(expected, theirs, 1))
        for got, expected in zip(computed(*found), wanted, strict=True):
            np.testing.assert_array_equal(got, expected)


# ---- threads -------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", SETTINGS)
def test_each_thread_has_a_panel_of_its_own(settings):
    """The columns of a matmul wait in one, in memory of a thread's own where it is large."""
    a, b = numbers(60, 600), numbers(600, 64, seed=1)
    opts = [Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.UPCAST, 0, 2), Opt(OptOps.REORDER, (1, 0, 2)),
            Opt(OptOps.STAGE, 0, 2), Opt(OptOps.THREAD, 0)]  # fmt: skip
    with Context(THREADS=2, **settings):
        x, y = filled(a), filled(b)
        source = source_of(kernel_of(x @ y), opts, "ARM64")
        assert "_of_thread()" in source
        assert "const int start, const int stop" in source
        for _ in range(3):
            np.testing.assert_array_equal(run_with(x @ y, opts, "ARM64"), a @ b)


# ---- programs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", LIMITS, ids=str)
def test_a_long_sum_and_a_norm_are_as_good_as_those_in_blocks(dtype):
    x = equal(999_983, dtype)
    a = x.cast(dtypes.float64).numpy()
    assert error(x.sum(), a.sum()) <= LIMITS[dtype]
    assert error(x.norm(), float(np.sqrt(np.square(a).sum()))) <= LIMITS[dtype]


@pytest.mark.parametrize("dtype", dtypes.all, ids=str)
def test_lanes_that_lie_apart_are_gathered_and_masked(dtype, step=-3):
    """Every third element of a column, from its end, with a border of zeros."""
    a = np.random.default_rng(0).integers(0, 2, (48, 16))
    wanted = np.pad(a[::step].T, ((1, 2), (0, 0)))
    x = filled(a.astype(to_np_dtype(dtype) or np.float32)).cast(dtype).realize()
    got = x[::step].T.pad(((1, 2), (0, 0))).contiguous()
    opts = [Opt(OptOps.VECTOR, 1, 4)]
    assert "gather_" in source_of(kernel_of(got), opts, "ARM64")
    np.testing.assert_array_equal(run_with(got, opts, "ARM64"), wanted)


def test_the_first_kernels_compiled_side_by_side_start_one_machine():
    code = """if True:
        from concurrent.futures import ThreadPoolExecutor
        from tests.arm64_device import machine
        with ThreadPoolExecutor(4) as pool:
            print(len(set(pool.map(lambda _: machine(), range(4)))))
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr


# ---- what goes wrong -----------------------------------------------------------------------------


def test_a_command_that_fails_leaves_the_machine_usable():
    machine = Machine()
    for words, why in [(("load", "/none.so"), "none.so"), (("map", "/none", 8), "no memory"),
                       (("fly",), "no command fly")]:  # fmt: skip
        with pytest.raises(OSError, match=why):
            machine.ask(*words)
    assert int(machine.ask("load", "libm.so.6"))


def test_a_kernel_that_crashes_is_an_error_and_not_the_end():
    code = f"""if True:
        import resource
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        from tests.arm64_device import {KernelCrashed.__name__}, Machine
        machine = Machine()
        for _ in range(2):
            try:
                machine.ask("run", 0, 1, 1, 0, 0)
            except KernelCrashed as error:
                print(error)
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.count("the ARM64 process ended with status -11 at `run`") == 2, done.stderr


def test_a_refused_source_names_the_compiler():
    with pytest.raises(CompileError, match=COMPILER):
        Device["ARM64"].compiler.compile("not C")
