"""Machines that have less than this one, as compiler flags make them: right all the same."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
from random import Random

import numpy as np
import pytest

from tests.fuzz.programs import check, random_program
from tests.kernels import filled, kernel_of
from tinyframe import Context, Device, Tensor
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import OptOps

# every compiler there is here, zig's wheel included
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
COMPILERS += [f"{sys.executable} -m ziglang cc"] if importlib.util.find_spec("ziglang") else []
# flags, and the widest vector in bytes that they leave; nothing is left out where there is none
X86 = platform.machine().lower() in ("x86_64", "amd64")
MACHINES = [("-mno-avx512f", 32), ("-mno-avx", 16)] if X86 else [("", 64)]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(("flags", "widest"), MACHINES)
def test_lanes_follow_what_the_compiler_may_use(compiler, flags, widest):
    here = Device["CPU"].renderer.target.vector_bytes
    x = filled(np.ones((256, 256), np.float32))
    with Context(CC=compiler, TINYFRAME_CFLAGS=flags):
        target = Device["CPU"].renderer.target
        assert target.vector_bytes == min(here, widest)
        opts = get_program(kernel_of(x @ x), Device["CPU"].renderer).opts
        (lanes,) = [opt.arg for opt in opts if opt.op is OptOps.VECTOR]
        assert lanes == target.vector_bytes // 4


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", [flags for flags, _ in MACHINES])
def test_results_are_right_with_less(compiler, flags):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (70, 70)).astype(np.float32) for _ in range(2))
    image = rng.integers(-3, 4, (2, 8, 9, 9)).astype(np.float32)
    weight = rng.integers(-3, 4, (16, 8, 3, 3)).astype(np.float32)
    with Context(CC=compiler, TINYFRAME_CFLAGS=flags):
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
        for seed in range(6):
            check(random_program(Random(7000 + seed), in_place=False), "CPU")
