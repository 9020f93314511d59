"""The CPU device: a kernel is a function in a shared library (clang.py), called with ctypes.

A kernel `E_4` is called through its entry, which has one signature for all kernels:

    void E_4_entry(void **bufs, const long long *vals, int start, int stop)

where start and stop bound this thread's share of the parallel loop. launch.c, compiled on first
use, divides that loop among threads, and replays many launches in one call. Python's own thread
pool costs about 50 us a launch; this one costs a few, and keeps its threads alive.
"""

from __future__ import annotations

import ctypes
import functools
import shlex
import struct
import warnings
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from tinyframe.device import ONE, Compiled, CompileError, Graph, Memory, Runner, Size
from tinyframe.runtime.clang import ClangCompiler, find_compiler, load_library, target, unload
from tinyframe.runtime.host import HostAllocator, HostMemory
from tinyframe.settings import settings

LAUNCH_C = Path(__file__).with_name("launch.c")


class LaunchWarning(UserWarning):
    """Kernels run on one thread; the message says why."""


@functools.cache
def launch_library() -> ctypes.CDLL | None:
    """launch.c, compiled and loaded; None if that fails, after a warning."""
    try:
        compiler = ClangCompiler(find_compiler(settings.CC), ("-pthread",))
        library = load_library(compiler.compile_cached(LAUNCH_C.read_text()))
        library.tf_launch.restype = library.tf_replay.restype = None
        return library
    except (CompileError, OSError) as error:
        warnings.warn(
            f"kernels run on one thread, since the launch library could not be made: {error}",
            LaunchWarning,
            stacklevel=3,
        )
        return None


class ClangRunner(Runner):
    """A kernel in a loaded library. A call adds a microsecond or two to the kernel's own time."""

    notes_itself = True

    def __init__(self, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        # No argtypes: ctypes passes bytes as a pointer and an int as an int by default, and faster.
        # It releases the GIL during the call.
        library = load_library(lib)
        self.entry = getattr(library, f"{name}_entry")
        self.entry.restype = None
        weakref.finalize(self, unload, library._handle).atexit = False
        self._pack: Callable[..., bytes] | None = None

    def __call__(
        self, *bufs: HostMemory, global_size: Size = ONE, local_size: Size = ONE, vals: Size = (),
        wait: bool = False,
    ) -> float | None:  # fmt: skip
        if self._pack is None:
            self._pack = struct.Struct(f"{len(bufs)}P").pack
        addresses = self._pack(*[buf.address for buf in bufs])
        values = struct.pack(f"{len(vals)}q", *vals) if vals else None
        total = global_size[0]
        start = perf_counter() if wait else 0.0
        threads = settings.THREADS if total > 1 else 1
        if threads > 1 and (library := launch_library()) is not None:
            self.launch(library.tf_launch, self.entry, addresses, values, total, threads)
        else:
            self.launch(self.entry, addresses, values, 0, total)
        return perf_counter() - start if wait else None


class ClangGraph(Graph):
    """Launches that `tf_replay` in launch.c replays: a row for each, and the arrays behind it."""

    def __init__(self, runners: Sequence[Runner], bufs: Memory, vals: Sequence[int]) -> None:
        library = launch_library()
        assert library is not None  # else a device has no graph
        self.replay = library.tf_replay
        super().__init__(runners, bufs, vals)  # keeps the runners, and so their code
        self.addresses = np.array([buf.address for each in bufs for buf in each], np.uint64)
        self.vals = np.zeros(sum(vals), np.int64)
        self.rows = np.zeros((len(runners), 4), np.uint64)  # launch_t: entry, bufs, vals, total
        entries: list[Any] = [runner.entry for runner in runners]  # type: ignore[attr-defined]
        self.rows[:, 0] = [ctypes.cast(entry, ctypes.c_void_p).value or 0 for entry in entries]
        self.rows[:, 1] = _pointers(self.addresses, list(map(len, bufs)))
        self.rows[:, 2] = _pointers(self.vals, vals)
        self.all_rows = ctypes.c_void_p(self.rows.ctypes.data)
        self.count = len(runners)
        self.threads = settings.THREADS  # a change of it changes the CompileKey, hence the Graph
        self._set = self.addresses.data.__setitem__  # faster than an array's

    def set_buffer(self, place: int, opaque: Any) -> None:
        self._set(place, opaque.address)

    def set_values(self, sizes: Sequence[tuple[Size, Size]], vals: Sequence[int]) -> None:
        self.rows[:, 3] = [global_size[0] for global_size, _ in sizes]
        self.vals[:] = vals

    def __call__(self) -> None:
        self.launch(self.replay, self.all_rows, self.count, self.threads)


def _pointers(array: np.ndarray, counts: Sequence[int]) -> np.ndarray:
    """The addresses of consecutive parts of an array, `counts` elements each."""
    before = np.cumsum([0, *counts])[:-1]
    return (array.ctypes.data + before * array.itemsize).astype(np.uint64)


class ClangDevice(Compiled):
    """The processor that Python itself runs on.

    Compiler and renderer follow the current settings CC, TINYFRAME_CFLAGS and THREADS, so a Context
    may change them. Memory needs no compiler: a missing one is reported at the first kernel.
    """

    block_target = None  # known without a compiler, which the renderer would need

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
    """C for the processor that `compiler` targets, with kernels on up to `threads` threads."""
    from tinyframe.renderer.cstyle import CStyleLanguage

    renderer = CStyleLanguage(target(compiler))
    renderer.native_half = "__FLT16_MAX__" in compiler.macros
    renderer.native_casts = not compiler.macros.isdisjoint({"__x86_64__", "__i386__"})
    return renderer
