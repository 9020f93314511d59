"""HIP's sources are compiled for an AMD GPU, by the compiler that HIP is built on.

Collected where there is a clang that makes code for AMD's GPUs (tests/conftest.py). Nothing runs.
"""

from __future__ import annotations

import re

import pytest

from tests import cpp_device
from tests.every_op import EVERY_DTYPE, every_op, one_kernel
from tests.gpu_sources import CASES
from tests.kernels import on_buffer, program_of
from tinyframe import Device
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps

VECTOR = OptOps.VECTOR


def assembly(source: str, *flags: str) -> str:
    """What an MI200 is given. The compiler's words where it refuses."""
    done = cpp_device.run([cpp_device.amd_compiler(), *cpp_device.AMD_FLAGS, *flags], source)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("opts", [[], [Opt(VECTOR, 0, 4)]], ids=["numbers", "vectors"])
@pytest.mark.parametrize("dtype", EVERY_DTYPE, ids=repr)
def test_every_op_compiles(dtype, opts):
    kernel, _ = one_kernel(every_op(dtype))
    program = get_program(kernel, Device["NULL:HIP"].renderer, opts)
    assert f".amdhsa_kernel {program.function}\n" in assembly(program.src, "-O1")


@pytest.mark.parametrize("name", CASES)
def test_the_sources_that_are_expected_compile(name):
    assert ".amdhsa_kernel " in assembly(CASES[name].source("HIP"), "-O2")


def test_a_panel_is_in_memory_that_the_threads_share_and_a_barrier_is_one():
    x = on_buffer(9, 256, device="NULL:HIP")
    opts = [Opt(OptOps.GLOBAL, 0), Opt(OptOps.GROUP, 1, 128)]  # more threads than run in step
    text = assembly(program_of(x.sum(1), opts, "NULL:HIP").src, "-O2")
    assert ".amdhsa_group_segment_fixed_size 1024" in text  # two panels of 128 floats
    assert "s_barrier" in text
    assert re.search(r"\.max_flat_workgroup_size: +128\n", text)


def test_four_floats_are_one_load():
    assert "global_load_dwordx4" in assembly(CASES["elementwise"].source("HIP"), "-O2")
