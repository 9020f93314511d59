"""METAL and HIP without a GPU: their sources as C++, with a header that defines the words they use.

A launch is a loop over all threads of all blocks, one after the other. So what threads share, and
where they wait for each other, does not work here; programs that have barriers are refused.

A header (tests/words/) is written after the language's specification, not after the renderer. So a
word that the language lacks does not compile, and one that means something else gives a wrong
result. Where clang can make code for AMD's GPUs, it also compiles what HIP has, barriers and all.
"""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tinyframe.device import Compiled, Compiler, Runner
from tinyframe.dtype import dtypes
from tinyframe.gpu.languages.hip import HIPLanguage
from tinyframe.gpu.languages.metal import MetalLanguage
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.renderer.program_text import variables
from tinyframe.runtime.clang import ClangCompiler, load_library
from tinyframe.runtime.host import HostAllocator, HostMemory
from tinyframe.uop.node import Ops, UOp

WORDS = Path(__file__).parent / "words"
CXX_FLAGS = ("-x", "c++", "-std=c++14", "-O0", "-w", "-fno-math-errno", "-fno-strict-aliasing",
             f"-I{WORDS}")  # fmt: skip
AMD_FLAGS = ("-x", "hip", "--cuda-device-only", "--offload-arch=gfx90a", "-nogpuinc", "-nogpulib",
             "-w", "-S", "-o", "-", "-include", str(WORDS / "hip.h"))  # fmt: skip

LAUNCH = """
extern "C" void entry(void **bufs, const long long *vals, const int *grid, const int *block) {
  unsigned b[3], t[3];
  for (b[2] = 0; b[2] < grid[2]; b[2]++) for (b[1] = 0; b[1] < grid[1]; b[1]++)
  for (b[0] = 0; b[0] < grid[0]; b[0]++)
  for (t[2] = 0; t[2] < block[2]; t[2]++) for (t[1] = 0; t[1] < block[1]; t[1]++)
  for (t[0] = 0; t[0] < block[0]; t[0]++) {
    CALL
  }
}
"""


def run(command: Sequence[str], source: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*command, "-"], input=source.encode(), capture_output=True, check=False)


@functools.cache
def cxx() -> str | None:
    """A C++ compiler whose vectors can be chosen from, if there is one."""
    vector = "typedef int v __attribute__((vector_size(8)));"
    chosen = f"{vector} v f(v a, v b) {{ return a < b ? a : b; }}"
    for name in ("clang++", "g++", "c++"):
        if shutil.which(name) and not run([name, *CXX_FLAGS, "-fsyntax-only"], chosen).returncode:
            return name
    return None


@functools.cache
def has_float16() -> bool:
    """Whether that compiler has _Float16 in C++, and vectors of it."""
    source = "typedef _Float16 v __attribute__((vector_size(8))); v f(v a) { return a + a; }"
    return not run([str(cxx()), *CXX_FLAGS, "-fsyntax-only"], source).returncode


@functools.cache
def amd_compiler() -> str | None:
    """A clang that makes code for AMD's GPUs, if there is one."""
    for name in ("clang++", "clang"):
        if shutil.which(name) and not run([name, *AMD_FLAGS], "").returncode:
            return name
    return None


class CppCompiler(Compiler):
    def compile(self, src: str) -> bytes:
        return _compiler().compile(src)


class _Cpp(ClangCompiler):
    """C++ in place of C, by the same way to a library."""

    def __init__(self, command: str) -> None:
        super().__init__((command,))

    def _flags_for(self, src: str) -> tuple[str, ...]:
        return ("-fPIC",)

    def run(self, arguments: list[str], src: str, command: tuple[str, ...] = ()) -> bytes:
        if command or "-x" not in arguments:  # the linker, or where it is
            return super().run(arguments, src, command)
        language = arguments.index("-x")
        given = [*arguments[:language], *CXX_FLAGS, *arguments[language + 2 :]]
        return super().run(given, src)


@functools.cache
def _compiler() -> _Cpp:
    return _Cpp(str(cxx()))


class CppRunner(Runner):
    """Calls the kernel for each thread of each block."""

    def __init__(self, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        self.library = load_library(lib)

    def __call__(
        self,
        *bufs: HostMemory,
        global_size: tuple[int, ...] = (1, 1, 1),
        local_size: tuple[int, ...] = (1, 1, 1),
        vals: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        addresses = (ctypes.c_void_p * len(bufs))(*[buf.address for buf in bufs])
        values = (ctypes.c_longlong * len(vals))(*vals)
        sizes = [(ctypes.c_int * 3)(*size) for size in (global_size, local_size)]
        self.library.entry(addresses, values, *sizes)
        return 0.0 if wait else None


def launch_of(language: CStyleLanguage, call: str, uops: list[UOp], places: list[str]) -> str:
    """The C++ that launches a kernel: `call` is what stands before its arguments."""
    if any(u.op is Ops.BARRIER for u in uops):
        raise NotImplementedError("threads that wait for each other cannot run one by one")
    buffers = sorted((u for u in uops if u.op is Ops.DEFINE_GLOBAL), key=lambda u: u.arg)
    given = [f"({language.type_name(u.dtype.base)}*)bufs[{n}]" for n, u in enumerate(buffers)]
    given += [f"vals[{n}]" for n in range(len(variables(uops)))]
    return LAUNCH.replace("CALL", f"{call}({', '.join([*given, *places])});")


class MetalOnCpu(MetalLanguage):
    def render(self, name: str, uops: list[UOp]) -> str:
        letters = {u.arg[0][0] for u in uops if u.op is Ops.SPECIAL}
        places = {"g": "uint3(b[0], b[1], b[2])", "l": "uint3(t[0], t[1], t[2])"}
        used = [text for letter, text in places.items() if letter in letters]
        return super().render(name, uops) + launch_of(self, name, uops, used)


class HIPOnCpu(HIPLanguage):
    def render(self, name: str, uops: list[UOp]) -> str:
        text = f'#include "hip.h"\n{super().render(name, uops)}'
        place = "blockIdx = {b[0], b[1], b[2]}; threadIdx = {t[0], t[1], t[2]}; "
        return text + launch_of(self, f"{place}tinyframe::{name}", uops, [])


class MetalDevice(Compiled):
    def __init__(self, device: str = "METAL") -> None:
        super().__init__(device, HostAllocator(), MetalOnCpu(), CppCompiler(), CppRunner)


class HIPDevice(Compiled):
    def __init__(self, device: str = "HIP") -> None:
        super().__init__(device, HostAllocator(), HIPOnCpu(), CppCompiler(), CppRunner)


DEVICES: dict[str, Any] = {"METAL": MetalDevice, "HIP": HIPDevice}
# what a header or its compiler has no type for
WITHOUT = {
    "METAL": [dtypes.double],
    "HIP": [] if cxx() and has_float16() else [dtypes.half],
}
# the files of tests that need one of these compilers
NEEDED_BY = {"test_cpp_devices.py": cxx, "test_amd_compiler.py": amd_compiler}
