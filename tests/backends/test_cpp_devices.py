"""What METAL and HIP are given is right: their sources, run as C++ on this machine.

Collected where there is a C++ compiler (tests/conftest.py).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests import cpp_device
from tests.gpu_sources import CASES
from tests.kernels import filled, numbers, program_of, run_with
from tests.reference import evaluate
from tinyframe import Device, Tensor
from tinyframe.codegen.optimize.loops import Opt, OptOps

VECTOR, UPCAST, GLOBAL, LOCAL = OptOps.VECTOR, OptOps.UPCAST, OptOps.GLOBAL, OptOps.LOCAL
LANGUAGES = list(cpp_device.DEVICES)


@pytest.fixture(autouse=True)
def devices(monkeypatch) -> None:
    for name, device in cpp_device.DEVICES.items():
        monkeypatch.setitem(Device._devices, name, device)


def bools() -> Tensor:
    x, y = filled(numbers(40)), filled(numbers(40, seed=1))
    return ((x < y) & (y > 0)) ^ ((x < 2) | x.eq(y)).eq(y < 1) | ((x > 1) < (y > 1))


KERNELS: dict[str, tuple[Callable[[], Tensor], list[Opt]]] = {
    "in blocks": (lambda: filled(numbers(64, 20)) * 2 + 1, [Opt(GLOBAL, 0), Opt(LOCAL, 0, 8)]),
    "vectors in blocks": (
        lambda: filled(numbers(8, 64)).maximum(filled(numbers(8, 64, seed=1))),
        [Opt(VECTOR, 0, 4), Opt(GLOBAL, 0), Opt(LOCAL, 0, 8)],
    ),
    "transposed": (lambda: (filled(numbers(8, 64)).T + 0).contiguous(), [Opt(VECTOR, 1, 4)]),
    "written apart": (lambda: (filled(numbers(8, 64)).T + 0).contiguous(), [Opt(VECTOR, 0, 4)]),
    "reversed": (lambda: filled(numbers(37)).flip(0) * 2, [Opt(VECTOR, 0, 4)]),
    "padded": (lambda: filled(numbers(5, 6)).pad(((1, 2), (3, 1))) + 1, []),
    "padded, in vectors": (lambda: filled(numbers(6, 8)).pad(((1, 1), (4, 4))) + 1,
                           [Opt(VECTOR, 1, 4)]),
    "bools": (bools, []),
    "bools in vectors": (bools, [Opt(VECTOR, 0, 4)]),
    "a tile": (lambda: filled(numbers(12, 20)) @ filled(numbers(20, 16, seed=1)),
               [Opt(VECTOR, 1, 4), Opt(UPCAST, 0, 3)]),
    "a panel": (lambda: filled(numbers(12, 20)) @ filled(numbers(20, 16, seed=1)),
                [Opt(OptOps.STAGE, 0, 2), Opt(VECTOR, 1, 4)]),
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_kernels_with_opts(language, name):
    make, opts = KERNELS[name]
    tensor = make()
    np.testing.assert_array_equal(run_with(tensor, opts, language), evaluate(tensor.uop))


def test_threads_that_wait_are_refused():
    opts = [Opt(GLOBAL, 0), Opt(OptOps.GROUP, 1, 8)]
    with pytest.raises(NotImplementedError, match="one by one"):
        program_of(filled(numbers(4, 16)).sum(1), opts, "METAL")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sources_that_are_expected_compile(language, name):
    """Those with barriers too, which do not run here."""
    source = CASES[name].source(language)
    include = ["-include", str(cpp_device.WORDS / "hip.h")] if language == "HIP" else []
    if language != "HIP" or "_Float16" not in source or cpp_device.has_float16():
        command = [cpp_device.cxx(), *cpp_device.CXX_FLAGS, *include, "-fsyntax-only"]
        done = cpp_device.run(command, source)
        assert done.returncode == 0, done.stderr.decode()
