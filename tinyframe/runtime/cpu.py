"""The CPU device: a kernel is a function in a shared library (clang.py), called with ctypes.

A kernel `E_4` is called through its entry, which has one signature for all kernels:

    void E_4_entry(void **bufs, const long long *vals, int start, int stop)

where start and stop bound the loop that is divided among threads; see launch.py.
"""

from __future__ import annotations

import functools
import shlex
import struct
import weakref
from collections.abc import Callable
from time import perf_counter
from typing import Any

from tinyframe.device import Compiled, Graph, Runner
from tinyframe.runtime.clang import ClangCompiler, find_compiler, load_library, target, unload
from tinyframe.runtime.graph import ClangGraph
from tinyframe.runtime.host import HostAllocator, HostMemory
from tinyframe.runtime.launch import launch_library, launcher
from tinyframe.settings import settings


class ClangRunner(Runner):
    """A kernel in a loaded library. A call costs a microsecond or two beside the kernel itself."""

    def __init__(self, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        # No argtypes: ctypes passes bytes as a pointer and an int as an int by itself, and quicker.
        # It releases the GIL during the call.
        library = load_library(lib)
        self.entry = getattr(library, f"{name}_entry")
        self.entry.restype = None
        weakref.finalize(self, unload, library._handle).atexit = False
        self._pack: Callable[..., bytes] | None = None
        self._launch: Callable[..., None] | None = None

    def __call__(
        self,
        *bufs: HostMemory,
        global_size: tuple[int, ...] = (1, 1, 1),
        local_size: tuple[int, ...] = (1, 1, 1),
        vals: tuple[int, ...] = (),
        wait: bool = False,
    ) -> float | None:
        if self._pack is None:
            self._pack = struct.Struct(f"{len(bufs)}P").pack
        addresses = self._pack(*[buf.address for buf in bufs])
        values = struct.pack(f"{len(vals)}q", *vals) if vals else None
        total = global_size[0]
        start = perf_counter() if wait else 0.0
        if total > 1 and (threads := settings.THREADS) > 1:
            if self._launch is None:
                self._launch = launcher()
            self._launch(self.entry, addresses, values, total, threads)
        else:
            self.entry(addresses, values, 0, total)
        return perf_counter() - start if wait else None


class ClangDevice(Compiled):
    """The processor that Python itself runs on.

    Compiler and renderer follow the settings CC, TINYFRAME_CFLAGS and THREADS as they are now, so a
    Context may change them. Memory needs no compiler: one that is missing is missed at the first
    kernel.
    """

    def __init__(self, device: str = "CPU") -> None:
        super().__init__(device, HostAllocator(), runner=ClangRunner)

    @property
    def graph(self) -> type[Graph] | None:
        return None if launch_library() is None else ClangGraph

    @property
    def compiler(self) -> ClangCompiler:
        return _compiler(settings.CC, settings.TINYFRAME_CFLAGS)

    @property
    def renderer(self) -> Any:
        return renderer_for(self.compiler, settings.THREADS)


@functools.cache
def _compiler(cc: str, cflags: str) -> ClangCompiler:
    return ClangCompiler(find_compiler(cc), tuple(shlex.split(cflags)))


@functools.cache
def renderer_for(compiler: ClangCompiler, threads: int) -> Any:
    """C for the processor that `compiler` makes code for, with kernels on so many threads."""
    from tinyframe.renderer.cstyle import CStyleLanguage

    renderer = CStyleLanguage(target(compiler))
    renderer.native_half = "__FLT16_MAX__" in compiler.macros
    renderer.native_casts = not compiler.macros.isdisjoint({"__x86_64__", "__i386__"})
    return renderer
