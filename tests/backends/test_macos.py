"""What macOS does differently, as far as a clang without a Mac can tell: what its driver makes of
the flags, and that kernels become machine code for Apple's processors. Nothing is linked or run.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.arm64_device import CLANGS
from tests.kernels import kernels_of
from tests.ops.test_devices import PROGRAMS
from tinyframe.codegen import get_program
from tinyframe.runtime.clang import ClangCompiler, target
from tinyframe.runtime.cpu import renderer_for

CLANG = next(filter(shutil.which, CLANGS), CLANGS[0])


# the first that had Apple's own processor, and the last that had another
COMPILERS = [
    ClangCompiler((CLANG, "--target=arm64-apple-macos12"), ("-mcpu=apple-m1",)),
    ClangCompiler((CLANG, "--target=x86_64-apple-macos12"), ("-march=haswell",)),
]


@pytest.mark.parametrize("compiler", COMPILERS, ids=["Apple", "Intel"])
def test_the_target_is_known_by_its_macros(compiler):
    is_arm = "__aarch64__" in compiler.macros
    assert {"__APPLE__", "__aarch64__" if is_arm else "__AVX2__"} <= compiler.macros
    assert "__linux__" not in compiler.macros
    expected = (16, 32) if is_arm else (32, 16)
    assert (target(compiler).vector_bytes, target(compiler).vector_registers) == expected


@pytest.mark.parametrize("compiler", COMPILERS, ids=["Apple", "Intel"])
def test_a_library_is_a_dylib_that_is_linked_with_the_system(compiler):
    more = ("-shared", "-pthread", "-x", "c", "-", "-lm", "-o", "kernel.so", "-###")
    done = subprocess.run(
        [*compiler.command, *compiler.flags, *more], input="", capture_output=True, text=True
    )
    assert done.returncode == 0
    link = re.findall(r'"([^"]*)"', done.stderr.splitlines()[-1])
    assert {"-dylib", "-lSystem"} <= set(link)


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_become_objects(name):
    compiler = COMPILERS[0]
    renderer = renderer_for(compiler, 2)
    for kernel in kernels_of(PROGRAMS[name]()):
        program = get_program(kernel, renderer)
        object_file = compiler.run([*compiler.flags, "-x", "c", "-", "-c", "-o", "-"], program.src)
        assert object_file[:4] == b"\xcf\xfa\xed\xfe"  # Mach-O of 64 bits
        assert f"_{program.function}_entry\0".encode() in object_file
