"""Other machines than this one: right all the same. Less is left of this one by compiler flags, and
ARM64 is emulated where that can be done."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests import arm64_device
from tests.fuzz.programs import check, random_program
from tests.kernels import filled, kernel_of, schedule_of
from tinyframe import Context, Device, Tensor
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import OptOps
from tinyframe.device import Buffer
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.runtime.host import HostMemory

# every compiler there is here, zig's wheel included
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
COMPILERS += [f"{sys.executable} -m ziglang cc"] if importlib.util.find_spec("ziglang") else []
# flags, and the widest vector in bytes that they leave
X86 = platform.machine().lower() in ("x86_64", "amd64")
FLAGS = {"": 64, **({"-mno-avx512f": 32, "-mno-avx": 16} if X86 else {})}


def machine(device: str, compiler: str, flags: str, widest: int):
    settings = {"DEVICE": device, "CC": compiler, "TINYFRAME_CFLAGS": flags}
    return pytest.param(settings, widest, id=f"{device} {Path(compiler).name} {flags}")


MACHINES = [machine("CPU", compiler, *row) for compiler in COMPILERS for row in FLAGS.items()]
MACHINES += [
    machine("ARM64", compiler, flags, 16)
    for compiler in arm64_device.compilers()
    for flags in (arm64_device.PI_5, arm64_device.PI_4)
]
on_every_machine = pytest.mark.parametrize(("settings", "widest"), MACHINES)


@on_every_machine
def test_lanes_follow_what_the_compiler_may_use(settings, widest):
    here = Device["CPU"].renderer.target.vector_bytes
    with Context(**settings):
        x = filled(np.ones((256, 256), np.float32))
        renderer = Device[settings["DEVICE"]].renderer
        target = renderer.target
        assert target.vector_bytes == min(here, widest)
        opts = get_program(kernel_of(x @ x), renderer).opts
        (lanes,) = [opt.arg for opt in opts if opt.op is OptOps.VECTOR]
        assert lanes == target.vector_bytes // 4


@on_every_machine
def test_results_are_right(settings, widest):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (70, 70)).astype(np.float32) for _ in range(2))
    image = rng.integers(-3, 4, (2, 8, 9, 9)).astype(np.float32)
    weight = rng.integers(-3, 4, (16, 8, 3, 3)).astype(np.float32)
    with Context(**settings):
        x, y = filled(a), filled(b)
        np.testing.assert_array_equal((x @ y).numpy(), a @ b)
        np.testing.assert_array_equal((x.T @ y).numpy(), a.T @ b)
        np.testing.assert_array_equal((x @ y.T).numpy(), a @ b.T)
        by_hand = np.array([
            [[np.sum(np.pad(i, ((0, 0), (1, 1), (1, 1)))[:, y : y + 3, x : x + 3] * w)
              for x in range(9)] for y in range(9)] for i in image for w in weight
        ]).reshape(2, 16, 9, 9)  # fmt: skip
        convolved = filled(image).conv2d(filled(weight), padding=1)
        np.testing.assert_array_equal(convolved.numpy(), by_hand)
        x = Tensor(rng.uniform(-4, 4, (8, 33)).astype(np.float32)).realize()
        e = np.exp(x.numpy())
        np.testing.assert_allclose(
            x.softmax().numpy(), e / e.sum(1, keepdims=True), rtol=2e-6, atol=1e-9
        )
        for seed in range(3):
            check(random_program(Random(7000 + seed), in_place=False), settings["DEVICE"])


@on_every_machine
@pytest.mark.parametrize(
    ("shape", "dtype"), [((64, 64), np.int32), ((33, 77), np.float64), ((2053,), np.float32)]
)
def test_what_no_cache_could_keep_is_written_past_them(settings, widest, shape, dtype):
    """Rows that are no whole lines of memory, tails that are moved back, memory not on a line."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, shape).astype(dtype) for _ in range(2))
    with Context(**settings):
        device = Device[settings["DEVICE"]]
        target = replace(device.renderer.target, l2=1 << 10, l3=1 << 10)
        (item,) = schedule_of(filled(a) + filled(b))
        spec = get_program(item.ast, CStyleLanguage(target))
        assert "stream_" in spec.src
        assert "stream_" not in get_program(item.ast, device.renderer).src
        runner = device.runner(spec.function, device.compiler.compile(spec.src))
        inputs = [buf._buf for buf in item.bufs[1:]]
        for offset in (0, 1):
            buffer = Buffer(settings["DEVICE"], a.size + 1, item.bufs[0].dtype)
            memory = buffer.copyin(np.full(a.size + 1, 77, dtype).tobytes()).numpy()
            out = HostMemory(memory[offset : offset + a.size])
            out.address = buffer._buf.address + offset * a.itemsize
            runner(out, *inputs, global_size=spec.global_size)
            np.testing.assert_array_equal(memory[offset:][: a.size].reshape(shape), a + b)
            assert memory[0 if offset else -1] == 77


def test_what_a_kernel_reads_too_stays_in_the_caches():
    x = filled(np.ones((64, 64), np.float32))
    target = replace(Device["CPU"].renderer.target, l2=1 << 10, l3=1 << 10)
    (item,) = schedule_of(x.assign(x + 1))
    assert "stream_" not in get_program(item.ast, CStyleLanguage(target)).src


@on_every_machine
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_choice_between_what_is_compared_keeps_nan_and_signed_zero(settings, widest, dtype):
    """`x < y ? y : x` and its kin may be one instruction, which takes its second operand where one
    is NaN, and where both are zeros."""
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 5e-324, 1e-45], dtype)
    a, b = (np.ascontiguousarray(m).ravel() for m in np.meshgrid(special, special))
    with Context(**settings):
        x, y = filled(a), filled(b)
        for got, wanted in [
            ((x < y).where(y, x), np.where(a < b, b, a)),
            ((x < y).where(x, y), np.where(a < b, a, b)),
            ((x > y).where(y, x), np.where(a > b, b, a)),
            ((x > y).where(x, y), np.where(a > b, a, b)),
        ]:
            got = got.numpy()
            np.testing.assert_array_equal(got, wanted)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


@on_every_machine
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lanes", [4, 16])
def test_the_larger_and_the_smaller_of_two_vectors_are_nan_if_either_is(
    settings, widest, dtype, lanes
):
    special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 5e-324], dtype)
    rows = np.stack(np.meshgrid(special, special)).reshape(2, -1, lanes)
    with Context(**settings):
        for a, b in rows.transpose(1, 0, 2):
            x, y = filled(a), filled(b)
            np.testing.assert_array_equal(x.maximum(y).numpy(), np.maximum(a, b))
            np.testing.assert_array_equal(x.minimum(y).numpy(), np.minimum(a, b))
