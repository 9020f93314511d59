"""A device that runs the CPU's kernels as an ARM64 machine would: compiled for one, and emulated.

Everything but the processor is the CPU device's own: its renderer for an ARM target, its compiler
class with a compiler for ARM64 (which loads what it links), and its launch library. A process under
`qemu-aarch64` (arm64_device.c) loads the kernels and runs them, on memory that it shares with this
one.

By default kernels may use what a Raspberry Pi 5 has and every Apple processor too: NEON, with
arithmetic on float16. `TINYFRAME_CFLAGS` overrides that, as on the CPU, and `CC` may be any of
`compilers()`.
"""

from __future__ import annotations

import functools
import mmap
import os
import shlex
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from tinyframe.device import Compiled, Device, Runner
from tinyframe.runtime.clang import ClangCompiler, find_compiler
from tinyframe.runtime.cpu import LAUNCH_C, renderer_for
from tinyframe.runtime.host import HostAllocator, HostMemory
from tinyframe.settings import settings

COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
SOURCE = Path(__file__).with_suffix(".c")
# A Raspberry Pi 5, and a Pi 4, which converts float16 and computes in float32.
PI_5, PI_4 = "-mcpu=cortex-a76", "-mcpu=cortex-a72"
CLANGS = ("clang", "clang-14")  # Debian's


def is_available() -> bool:
    """Whether this machine has what it takes to compile for ARM64 and to run it."""
    return all(map(shutil.which, (COMPILER, EMULATOR)))


@functools.cache
def compilers() -> list[str]:
    """The commands here that compile for ARM64; none where nothing runs what they make."""
    if not is_available():
        return []
    clang = next(filter(shutil.which, CLANGS), None)
    return [COMPILER, *([f"{clang} --target=aarch64-linux-gnu"] if clang else [])]


class KernelCrashed(RuntimeError):
    """The emulated process has ended, and the device with it."""


class Machine:
    """The process that is emulated. It answers one line for each line that it is told."""

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory(prefix="tinyframe-") as folder:
            program = Path(folder) / "machine"
            sources = [str(SOURCE), str(LAUNCH_C)]
            # it has the mathematics in memory, as Python has, which kernels may call
            link = ["-pthread", "-ldl", "-Wl,--no-as-needed", "-lm", "-o", str(program)]
            subprocess.run([COMPILER, "-O2", *sources, *link], check=True)
            (library,) = subprocess.run(
                [COMPILER, "-print-file-name=libc.so.6"], capture_output=True, text=True, check=True
            ).stdout.splitlines()
            root = Path(library).resolve().parents[1]  # has lib/ in it
            self.process = subprocess.Popen(
                [EMULATOR, "-L", root, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                text=True)  # fmt: skip
            self.lock = threading.RLock()
            self.waiting: deque[tuple[Any, ...]] = deque()
            self.ask("unload", self.ask("load", "libm.so.6"))  # it has started: its file may go

    def ask(self, *words: Any) -> str:
        """The answer. OSError where a command fails, KernelCrashed where the process ends."""
        with self.lock:
            while self.waiting:
                self._say(*self.waiting.popleft())
            return self._say(*words)

    def later(self, *words: Any) -> None:
        """Says this before what is asked next. Memory is freed at any moment, even within `ask`."""
        self.waiting.append(words)

    def _say(self, *words: Any) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            print(*words, file=self.process.stdin, flush=True)
            answered = self.process.stdout.readline().strip()
        except BrokenPipeError:
            answered = ""
        if not answered:
            raise KernelCrashed(
                f"the ARM64 process ended with status {self.process.wait()} at `{words[0]}`; "
                "for another one, start Python anew"
            )
        if answered.startswith("error"):
            raise OSError(answered)
        return answered


_starting = threading.Lock()


def machine() -> Machine:
    """The one process, started when it is first needed, be it by several threads at once."""
    with _starting:
        return _machine()


_machine = functools.cache(Machine)


class Arm64Allocator(HostAllocator):
    """Memory of both processes: `array` is on it here, and `address` is where it is there."""

    def _alloc(self, size: int, options: Any = None) -> HostMemory:
        file = os.memfd_create("tinyframe")
        try:
            os.ftruncate(file, size)
            memory = HostMemory(np.frombuffer(mmap.mmap(file, size), np.uint8))
            there = machine().ask("map", f"/proc/{os.getpid()}/fd/{file}", size)
        except OSError as error:
            raise MemoryError(str(error)) from error
        finally:
            os.close(file)
        memory.address = int(there)
        return memory

    def _free(self, opaque: HostMemory, options: Any = None) -> None:
        machine().later("unmap", opaque.address, opaque.array.nbytes)


class Arm64Compiler(ClangCompiler):
    """Links a kernel as the CPU's compiler does on an ARM64 machine with Linux."""

    def try_to_load(self, library: Path) -> None:
        machine().ask("unload", machine().ask("load", library))


class Arm64Runner(Runner):
    def __init__(self, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        # each under a name of its own, or the loader would take it for the one before
        with tempfile.NamedTemporaryFile(prefix="tinyframe-", suffix=".so") as file:
            file.write(lib)
            file.flush()
            library = machine().ask("load", file.name)
        self.entry = machine().ask("find", library, f"{name}_entry")
        weakref.finalize(self, machine().later, "unload", library).atexit = False

    def __call__(
        self,
        *bufs: HostMemory,
        global_size: tuple[int, ...] = (1, 1, 1),
        local_size: tuple[int, ...] = (1, 1, 1),
        vals: tuple[int, ...] = (),
        wait: bool = False,
    ) -> float | None:
        places = [len(bufs), *[buf.address for buf in bufs], len(vals), *vals]
        took = machine().ask("run", self.entry, global_size[0], settings.THREADS, *places)
        return float(took) if wait else None


class Arm64Device(Compiled):
    def __init__(self, device: str = "ARM64") -> None:
        super().__init__(device, Arm64Allocator(), runner=Arm64Runner)

    @property
    def compiler(self) -> ClangCompiler:
        # A CC for this machine is not meant here.
        command = settings.CC if settings.CC in compilers() else COMPILER
        return _compiler(command, settings.TINYFRAME_CFLAGS)

    @property
    def renderer(self) -> Any:
        renderer = renderer_for(self.compiler, settings.THREADS)
        renderer.device = "ARM64"
        return renderer


@functools.cache
def _compiler(cc: str, flags: str) -> ClangCompiler:
    return Arm64Compiler(find_compiler(cc), (PI_5, *shlex.split(flags)))


def register() -> None:
    """Adds ARM64 to the devices where it can be had."""
    if is_available():
        Device._devices["ARM64"] = Arm64Device
