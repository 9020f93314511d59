"""CUDA kernels without a GPU (CUDA_EMULATE=1): the same source, compiled for the processor as C++.

`cuda_emulator.h` provides what C++ lacks: threadIdx and blockIdx, `__shared__`, `__syncthreads()`,
float4, half. The threads of a block run one after the other up to each barrier, and their order
is reversed at every barrier: if one is missing, a thread runs too early or too late, and the result
is wrong.

The compiler's instrumentation (-fsanitize=thread) reports every memory access. An access outside
its buffer or array is an OutOfBounds, raised before it happens. With CUDA_EMULATE=2, two threads
that access one element without a barrier in between are a DataRace if one of them writes.
"""

from __future__ import annotations

import ctypes
import functools
import math
import mmap
import re
import tempfile
import threading
import weakref
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from tinyframe.device import ONE, Compiled, CompileError, Compiler, Runner, Size
from tinyframe.disk_cache import cached
from tinyframe.gpu.languages.cuda import HALF_HEADER, CUDALanguage
from tinyframe.runtime.clang import ClangCompiler, find_compiler, load_library, unload
from tinyframe.runtime.host import HostAllocator, HostMemory
from tinyframe.settings import settings

HEADER = Path(__file__).with_name("cuda_emulator.h")
EMULATOR = HEADER.with_suffix(".c")
STACK_BYTES = 256 << 10  # per thread, as in cuda_emulator.c
LEAST_GAP, MOST_GAP = 4 << 10, 1 << 20  # bytes

FLAGS = ("-fPIC", "-w", "-fno-stack-protector", "-U_FORTIFY_SOURCE")
EMULATOR_FLAGS = ("-x", "c", "-O2", "-fvisibility=hidden", *FLAGS)
# contract=fast: a*b+c is one instruction, as on a GPU. Not -O2, which takes twice as long to
# compile. No vectorization, which zig does even at -O1: accesses of more than 16 bytes are not
# reported.
KERNEL_FLAGS = (
    *("-x", "c++", "-std=c++17", "-O1", "-fsanitize=thread", *FLAGS),
    *("-ffp-contract=fast", "-fno-math-errno", "-fno-strict-aliasing", "-fno-exceptions"),
    *("-fno-rtti", "-fno-asynchronous-unwind-tables"),
    *("-fno-tree-vectorize", "-fno-tree-slp-vectorize"),
)
KERNEL = re.compile(
    r'extern "C" __global__ void __launch_bounds__\((?P<bound>\d+)\) (?P<name>\w+)'
    r"\((?P<parameters>[^)]*)\)"
)
SHARED_PART = re.compile(r"(\w[\w ]*)\* (panel\d+) = reinterpret_cast<[^;]*;  // (\d+)")
SHARED_ARRAY = re.compile(r"(__shared__ [^;\[]*?\b(\w+))\[(\d+)\];")


class KernelFault(RuntimeError):
    """An error of a CUDA kernel, found by the emulator."""


class OutOfBounds(KernelFault, IndexError):
    """A kernel accessed memory outside its buffers and arrays."""


class DataRace(KernelFault):
    """Two threads accessed one element with no barrier in between, and one of them wrote."""


class NotWaitedFor(KernelFault):
    """A thread read what an asynchronous copy writes before that was waited for."""


class BarrierDivergence(KernelFault):
    """The threads of a block do not all reach the same barrier."""


# ---- compiling -----------------------------------------------------------------------------------


class EmulatorCompiler(Compiler):
    """Compiles CUDA C++ to a library with the function `emulate` of cuda_emulator.c."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self.cc = ClangCompiler(command)

    @property
    def flags(self) -> tuple[str, ...]:
        return KERNEL_FLAGS

    def compile(self, src: str) -> bytes:
        with tempfile.TemporaryDirectory(prefix="tinyframe-") as name:
            folder = Path(name)
            kernel, library = folder / "kernel.o", folder / "kernel.so"
            (runs := folder / "emulator.o").write_bytes(self._emulator(folder))
            flags = [*self.flags, *self.cc.machine_flags, "-include", str(HEADER)]
            try:
                self.cc.run([*flags, "-c", "-", "-o", str(kernel)], emulated(src))
            except CompileError as error:
                if "cc1plus" not in error.words:
                    raise
                raise CompileError(
                    "CUDA_EMULATE needs a C++ compiler, and none comes with this C compiler: "
                    f'{error.words}. Install one (Debian, Ubuntu: "apt install g++"), or `pip '
                    'install ziglang` and set CC="python -m ziglang cc"'
                ) from None
            # linked without -fsanitize: emulator.o has the functions that the compiler's code calls
            self.cc.run(["-shared", str(kernel), str(runs), "-o", str(library), "-lm"], "")
            return library.read_bytes()

    def _emulator(self, folder: Path) -> bytes:
        def compile() -> bytes:
            made, source = folder / "made.o", EMULATOR.read_text()
            self.cc.run([*EMULATOR_FLAGS, "-c", "-", "-o", str(made)], source)
            return made.read_bytes()

        return cached("objects", (self.identity(),), compile)

    def identity(self) -> str:
        texts = [path.read_text() for path in (HEADER, EMULATOR)]
        return "\n".join([self.cc.identity(), *self.flags, *EMULATOR_FLAGS, *texts])


def emulated(src: str) -> str:
    """A CUDA source adapted for the emulator: shared arrays are registered where they are declared,
    with as much padding after them, and a function that starts the kernel is added."""
    found = KERNEL.search(src)
    if found is None:
        raise CompileError("there is no kernel: extern \"C\" __global__ void "
                           "__launch_bounds__(threads) name(...)", src)  # fmt: skip
    text = src.replace(HALF_HEADER, "")  # in place, so that lines keep their numbers
    text = re.sub(r"extern __shared__[^;]*;", "", text)
    text = SHARED_PART.sub(r"static __align__(16) \1 \2[2 * \3]; SHARED(\2, \3)", text)
    text = SHARED_ARRAY.sub(r"\1[2 * \3]; SHARED(\2, \3)", text)
    names = [parameter.split()[-1] for parameter in found["parameters"].split(",")]
    listed = ", ".join(f'"{name}"' for name in names)
    return f"{text}\nEMULATE({found['name']}, {found['bound']}, {listed})\n"


# ---- memory --------------------------------------------------------------------------------------


class GuardedAllocator(HostAllocator):
    """Memory with gaps of the same size before and after it (from LEAST_GAP to MOST_GAP), so that a
    wrong index rarely lands in a different buffer."""

    def _alloc(self, size: int, options: Any = None) -> HostMemory:
        gap = min(max(size, LEAST_GAP), MOST_GAP)
        gap += -gap % 64
        return HostMemory(super()._alloc(size + 2 * gap).array[gap : gap + size])


# ---- running -------------------------------------------------------------------------------------


class Report(ctypes.Structure):
    """`struct Fault` of cuda_emulator.c."""

    _fields_ = [
        *[(name, ctypes.c_int)
          for name in ("kind", "is_write", "other_is_write", "line", "other_line")],
        *[(name, ctypes.c_uint) for name in ("thread", "block", "other_thread", "other_block")],
        *[(name, ctypes.c_longlong) for name in ("index", "size")],
        ("name", ctypes.c_char * 64),
    ]  # fmt: skip


# `kind` of a report -> the error and its message
FAULTS = {
    1: (OutOfBounds, "{thread} {verb} {name}[{index}], which has {size} elements"),
    2: (DataRace, "{thread} {verb} {name}[{index}], which {other_thread} {other_verb}, with no "
        "barrier in between"),
    3: (BarrierDivergence, "{thread} {stop}, and thread {other_place} {other_stop}"),
    4: (KernelFault, "{thread} accesses a vector at {name}[{index}], which is not aligned to its "
        "{line} bytes"),
    6: (NotWaitedFor, "{thread} reads {name}[{index}], and the copy to it was not waited for"),
    5: (KernelFault, "a block of {threads} threads, but the kernel is compiled for {index} at most "
        "(__launch_bounds__)"),
}  # fmt: skip


def fault(kernel: str, grid: Size, block: Size, report: Report) -> KernelFault:
    """The error that a report describes. grid, block: the sizes of the launch."""

    def place(number: int, sizes: Size) -> Size:
        x, y, _ = sizes
        return number % x, number // x % y, number // x // y

    given = {name: getattr(report, name) for name, *_ in Report._fields_}
    words = given | {"name": report.name.decode(), "threads": math.prod(block)}
    for who in ("", "other_"):
        line, in_grid = given[f"{who}line"], place(given[f"{who}block"], grid)
        words[f"{who}place"] = in_block = place(given[f"{who}thread"], block)
        words[f"{who}thread"] = f"thread {in_block} of block {in_grid}"
        words[f"{who}verb"] = "writes" if given[f"{who}is_write"] else "reads"
        waits = f"waits at the barrier in line {line}"
        words[f"{who}stop"] = waits if line else "has ended"
    error, text = FAULTS[report.kind]
    return error(f"kernel {kernel}: {text.format(**words)}")


class EmulatorRunner(Runner):
    """A kernel in a loaded library. Kernels run one at a time."""

    def __init__(self, device: EmulatorDevice, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        self.device, library = device, load_library(lib)
        self.library, self.emulate = library, library.emulate
        self.emulate.restype = None
        weakref.finalize(self, unload, library._handle).atexit = False

    def __call__(
        self, *bufs: HostMemory, global_size: Size = ONE, local_size: Size = ONE, vals: Size = (),
        wait: bool = False,
    ) -> float | None:  # fmt: skip
        start = perf_counter()
        values = np.array([*[buf.address for buf in bufs], *vals], np.int64)
        given = values.ctypes.data + 8 * np.arange(len(values), dtype=np.int64)
        sizes = np.array([*[buf.array.nbytes for buf in bufs], *[0] * len(vals)], np.int64)
        grid, local = (np.array(size, np.uint32) for size in (global_size, local_size))
        arrays = [ctypes.c_void_p(a.ctypes.data) for a in (given, sizes, grid, local)]
        report = Report()
        with self.device.lock:
            stacks = ctypes.c_void_p(self.device.stacks(math.prod(local_size)))
            looks_for_races = int(settings.CUDA_EMULATE > 1)
            self.emulate(len(values), *arrays, looks_for_races, stacks, ctypes.byref(report))
        if report.kind:
            raise fault(self.name, global_size, local_size, report)
        return perf_counter() - start if wait else None


class EmulatorDevice(Compiled):
    """CUDA on the processor: slow, but strict about what a kernel may do."""

    times_kernels = False

    def __init__(self, device: str = "CUDA") -> None:
        runner = functools.partial(EmulatorRunner, self)
        super().__init__(device, GuardedAllocator(), CUDALanguage(), runner=runner)
        self.lock = threading.Lock()
        self._stacks = np.empty(0, np.uint8)

    @property
    def compiler(self) -> EmulatorCompiler:
        if not settings.CUDA_EMULATE:
            raise RuntimeError(
                f"{self.device} was opened with CUDA_EMULATE set, and is the emulator until Python "
                "ends. Keep it set, or restart Python to use a GPU"
            )
        return _compiler(settings.CC)

    def stacks(self, threads: int) -> int:
        """The address of stacks for this many threads."""
        needed = threads * STACK_BYTES + 64
        if self._stacks.nbytes < needed:
            # only pages that are used take memory; those of a NumPy array would be 2 MB each
            self._stacks = np.frombuffer(mmap.mmap(-1, needed), np.uint8)
        address = self._stacks.ctypes.data
        return address + -address % 64


@functools.cache
def _compiler(cc: str) -> EmulatorCompiler:
    return EmulatorCompiler(find_compiler(cc, needed_by="CUDA_EMULATE"))
