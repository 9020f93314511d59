"""Devices: their memory, and how source code becomes a program that runs there.

A backend is three small classes, combined in a `Compiled` and registered under a name:

    class MyAllocator(Allocator): ...   # memory: allocate, free, copy in, copy out
    class MyCompiler(Compiler): ...     # source code -> bytes
    class MyRunner(Runner): ...         # bytes -> a program that is called with buffers

    class MyDevice(Compiled):
        def __init__(self, device):
            super().__init__(device, MyAllocator(), CStyleLanguage(), MyCompiler(), MyRunner)

    Device._devices["MY"] = MyDevice
    Device["MY"]                        # opens it, once

A `Buffer` is `size` elements of a dtype on one device; its memory is allocated on first use. A
BUFFER node of a graph is only a name: `buffer_of` gives the Buffer behind it.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import itertools
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np

from tinyframe.disk_cache import cached
from tinyframe.dtype import DType, bf16_to_f32, dtypes, to_np_dtype
from tinyframe.peer_settings import INSTEAD
from tinyframe.settings import settings
from tinyframe.uop.node import Ops, UOp

# ---- counters of this process: kernels, operations, bytes, time, memory --------------------------
#
# `GlobalCounters` is the only place that counts; DEBUG=1 and DEBUG=2 print from it, and tests and
# graders read it:
#
#     GlobalCounters.reset()
#     (a + b).relu().sum().realize()
#     assert GlobalCounters.kernel_count == 1


class _Counters:
    """Totals since the start of the process or the last `reset()`."""

    kernel_count = 0  # kernels run
    global_ops = 0  # their arithmetic operations, estimated
    global_mem = 0  # bytes they read and wrote, estimated
    time_sum_s = 0.0  # seconds they took
    mem_used = 0  # bytes that live Buffers hold
    mem_peak = 0  # the highest mem_used since reset()

    def reset(self) -> None:
        """Sets all totals to 0 except memory in use, which becomes the new peak."""
        self.kernel_count = self.global_ops = self.global_mem = 0
        self.time_sum_s = 0.0
        self.mem_peak = self.mem_used

    def count_memory(self, nbytes: int) -> None:
        """A Buffer holds `nbytes` more, or fewer if it is negative."""
        self.mem_used += nbytes
        if self.mem_used > self.mem_peak:
            self.mem_peak = self.mem_used


GlobalCounters = _Counters()  # an instance, whose attributes change several times faster


T = TypeVar("T")
Size: TypeAlias = tuple[int, ...]  # of a grid in blocks, or of a block in threads, along three axes
ONE: Size = (1, 1, 1)
Memory: TypeAlias = Sequence[Sequence[Any]]  # for each launch, the opaque memory of its arguments

# ---- the three things a backend provides --------------------------------------------------------


class Allocator:
    """The memory of one device. A backend defines `_alloc`, `_free`, `copyin` and `copyout`.

    What `_alloc` returns is opaque: only the backend's own Runner and copies look inside. Freed
    memory is kept for the next request of the same size, since touching fresh pages often takes
    longer than the kernel itself.
    """

    keep_bytes = 512 << 20  # the most freed memory that is kept for reuse

    def _alloc(self, size: int, options: Any) -> Any:
        """Allocate `size` bytes. MemoryError if there are not that many."""
        raise NotImplementedError(f"{type(self).__name__} has to define _alloc(size, options)")

    def _free(self, opaque: Any, options: Any) -> None:
        """Free what `_alloc` returned. Nothing to do if a Python object owns the memory."""

    def copyin(self, dst: Any, src: memoryview) -> None:
        """Copy the bytes of `src` to the start of `dst`."""
        raise NotImplementedError(f"{type(self).__name__} has to define copyin(dst, src)")

    def copyout(self, dst: memoryview, src: Any) -> None:
        """Fill `dst` with the first bytes of `src`."""
        raise NotImplementedError(f"{type(self).__name__} has to define copyout(dst, src)")

    def as_array(self, opaque: Any) -> np.ndarray | None:
        """The memory itself as an array of uint8; None if Python cannot access it."""
        return None

    # freed memory by size and options, its total number of bytes, and the lock that guards both
    _kept: OrderedDict[tuple[int, Any], list[Any]]
    _kept_bytes = 0
    _kept_lock: Any

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        allocator = super().__new__(cls)  # a backend's __init__ need not call super()'s
        allocator._kept, allocator._kept_lock = OrderedDict(), threading.RLock()
        return allocator

    def alloc(self, size: int, options: Any = None) -> Any:
        """`size` bytes, reused or new. MemoryError says how much is in use."""
        with self._kept_lock:
            if stock := self._kept.get((size, options)):
                self._kept_bytes -= size
                return stock.pop()
        try:
            return self.with_room(lambda: self._alloc(size, options))
        except MemoryError as error:
            held = human_bytes(GlobalCounters.mem_used)
            raise MemoryError(
                f"cannot allocate {human_bytes(size)} of memory, with {held} held by live Buffers "
                f"({type(self).__name__}: {error}). Drop Tensors that are no longer needed "
                "(`del x`), or use smaller ones: a smaller batch, a narrower dtype"
            ) from error

    def with_room(self, attempt: Callable[[], T]) -> T:
        """The result of `attempt()`. After a MemoryError, frees all memory kept for reuse and tries
        once more."""
        try:
            return attempt()
        except MemoryError:
            self.free_kept()
        return attempt()

    def free(self, opaque: Any, size: int, options: Any = None) -> None:
        """Take back `opaque`, of `size` bytes: it is kept for reuse, or freed if enough is kept."""
        key, surplus = (size, options), []
        with self._kept_lock:
            self._kept.setdefault(key, []).append(opaque)
            self._kept.move_to_end(key)  # the least recently used size comes first
            self._kept_bytes += size
            while self._kept_bytes > self.keep_bytes:
                (old_size, old_options), oldest = next(iter(self._kept.items()))
                if oldest:
                    surplus.append((oldest.pop(0), old_options))
                    self._kept_bytes -= old_size
                else:
                    del self._kept[(old_size, old_options)]
        for old, old_options in surplus:
            self._free(old, old_options)

    def free_kept(self) -> int:
        """Free all memory that is kept for reuse; return how many bytes that was."""
        with self._kept_lock:
            surplus, self._kept = self._kept, OrderedDict()
            total, self._kept_bytes = self._kept_bytes, 0
        for (_, options), stock in surplus.items():
            for opaque in stock:
                self._free(opaque, options)
        return total


class DeviceUnavailable(RuntimeError):
    """A known device that cannot be used here; the message says why, and how to get it."""


class NoCompiler(RuntimeError):
    """There is no C compiler; the message says how to get one."""


class CompileError(RuntimeError):
    """A compiler rejected a source; the message has its output, the command and the source."""

    def __init__(self, words: str, source: str = "", command: str = "") -> None:
        self.words, self.source, self.command = words, source, command
        parts = [words.strip() or "the compiler failed without a message"]
        if command:
            parts.append(f"The command was:\n  {command}")
        if source:
            lines = source.splitlines()
            numbered = [f"{number:4d} | {line}" for number, line in enumerate(lines, 1)]
            parts.append("The source was:\n" + "\n".join(numbered))
        super().__init__("\n\n".join(parts))


class Compiler:
    """Compiles source code to the bytes that a Runner takes. This base class only encodes it."""

    def compile(self, src: str) -> bytes:
        """The compiled program. CompileError if there is an error in `src`."""
        return src.encode()

    def identity(self) -> str:
        """Everything the result depends on besides the source: compiler, flags, machine.

        It is part of the disk cache's key. If it is empty, as here, nothing is cached.
        """
        return ""

    def compile_cached(self, src: str) -> bytes:
        """`compile(src)`, through the disk cache. See disk_cache.py."""
        identity = self.identity()
        if not identity:
            return self.compile(src)
        return cached("programs", (identity, src), functools.partial(self.compile, src))


class Launcher:
    """The common base of Runner and Graph.

    ran: a list to which `launch` adds an item for each launch, or None. notes_itself: whether the
    backend launches with `launch`.
    """

    ran: list[Any] | None = None
    notes_itself = False

    def launch(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Calls a C function and notes the launch, in one step of Python: Ctrl-C comes before both
        or after both."""
        noted = [] if self.ran is None else self.ran
        noted.extend(itertools.starmap(function, (arguments,)))


class Runner(Launcher):
    """A loaded program, to be called with the opaque memory of its buffers."""

    def __init__(self, name: str, lib: bytes) -> None:
        self.name, self.lib = name, lib

    def __call__(
        self, *bufs: Any, global_size: Size = ONE, local_size: Size = ONE, vals: Size = (),
        wait: bool = False,
    ) -> float | None:  # fmt: skip
        """Run it. With `wait`, wait until it is done and return the seconds it took.

        bufs: what the device's Allocator returned, in the order of the kernel's arguments.
        global_size: the number of blocks along each axis of the grid; on a CPU the first is the
            length of the loop that is divided among cores.
        local_size: the number of threads along each axis of a block.
        vals: the values of the kernel's Variables, in order; omitted if it has none.
        """
        raise NotImplementedError(f"{type(self).__name__} has to define __call__")


class Graph(Launcher):
    """Launches that are repeated together: prepared once, then started in one call.

    A backend that supports this names its subclass in `Compiled.graph`.
    """

    def __init__(self, runners: Sequence[Runner], bufs: Memory, vals: Sequence[int]) -> None:
        """Launch n runs `runners[n]` on the opaque memory `bufs[n]`, with `vals[n]` Variables."""
        self.runners = list(runners)
        counts = [(len(memory), count) for memory, count in zip(bufs, vals, strict=True)]
        # all buffers and all Variables in order, each as (launch, number of the argument)
        self.places = [(launch, n) for launch, (m, _) in enumerate(counts) for n in range(m)]
        self.variables = [(launch, m + n) for launch, (m, count) in enumerate(counts)
                          for n in range(count)]  # fmt: skip

    def set_buffer(self, place: int, opaque: Any) -> None:
        """Change the memory of an argument, numbered across all launches."""
        raise NotImplementedError(f"{type(self).__name__} has to define set_buffer")

    def set_values(self, sizes: Sequence[tuple[Size, Size]], vals: Sequence[int]) -> None:
        """Set the global and local size of each launch, and all Variables in order."""
        raise NotImplementedError(f"{type(self).__name__} has to define set_values")

    def __call__(self) -> None:
        """Run all launches in order."""
        raise NotImplementedError(f"{type(self).__name__} has to define __call__")


PLAIN_C = "tinyframe.renderer.cstyle:CStyleLanguage"  # imported on first use, like a device


class Compiled:
    """A device: an Allocator, a renderer, a Compiler and the class of its Runners.

    renderer: writes a program's source; None means plain C. compiler: None only encodes the source.
    runner: called with (name, lib), gives the Runner of the kernel `name`; `runtime` is an alias.
    TypeError if a part is missing or of a different type.
    """

    # what may follow the colon in its name instead of a number, such as METAL in NULL:METAL
    variants: Collection[str] = ()
    # Whether the child of an os.fork() can still use it. A driver with threads of its own, or one
    # that is tied to its process, stays behind in the parent.
    survives_fork = True
    # Whether the time of a run tells how good a kernel's loops are, so that BEAM can search: False
    # if kernels are interpreted or emulated, or do not run at all.
    times_kernels = True

    def __init__(
        self,
        device: str = "",
        allocator: Allocator | None = None,
        renderer: Any = None,
        compiler: Compiler | None = None,
        runner: Any = None,
        *,
        runtime: Any = None,
    ) -> None:
        runner = runner or runtime
        fits = {
            "name": (device, isinstance(device, str)),
            "allocator": (allocator, isinstance(allocator, Allocator)),
            "renderer": (renderer, not isinstance(renderer, (type, Allocator, Compiler))),
            "compiler": (compiler, compiler is None or isinstance(compiler, Compiler)),
            "runner": (runner, callable(runner) and not isinstance(runner, Runner)),
        }
        wrong = [f"its {part} can't be {given!r}" for part, (given, ok) in fits.items() if not ok]
        if wrong:
            raise TypeError(
                f"{type(self).__name__}: {', '.join(wrong)}. A device is made of its name, three "
                "objects and the class of its Runners, in this order: Compiled(device, "
                "MyAllocator(), CStyleLanguage(), MyCompiler(), MyRunner)"
            )
        assert allocator is not None and runner is not None  # checked above
        self.device = device
        self.allocator = allocator
        self.runner = self.runtime = runner
        self._compiler, self._renderer = compiler or Compiler(), renderer

    @property
    def compiler(self) -> Compiler:
        """Compiles this device's source code."""
        return self._compiler

    @property
    def renderer(self) -> Any:
        """Writes programs as this device's source code."""
        if self._renderer is None:
            self._renderer = load(PLAIN_C)()
        return self._renderer

    @property
    def block_target(self) -> Any:
        """The Target of a device that runs blocks of threads, which affects fusion; None for any
        other device."""
        target = self.renderer.target
        return target if target.block_threads else None

    @property
    def graph(self) -> type[Graph] | None:
        """The class that repeats many launches in one call; None if the device has none."""
        return None

    def synchronize(self) -> None:
        """Wait until everything that was started on this device is done."""


# ---- the registry -------------------------------------------------------------------------------

ALIASES = {"CLANG": "CPU", "OPENCL": "CL", "GPU": "CL", "NV": "CUDA"}

# settings that select the default device if they are 1
_DEVICE_FLAGS = ("CPU", "CLANG", "CL", "OPENCL", "GPU", "CUDA", "NV", "WEBGPU", "PYTHON", "NULL")


class _DeviceRegistry:
    """All devices by name. `Device["CPU"]` opens one, once; case does not matter.

    `Device._devices` maps a name to its class, or to "module:class", which is imported on first
    use; any function that returns a `Compiled` will do.
    """

    def __init__(self) -> None:
        self._devices: dict[str, Callable[[str], Compiled] | str] = {
            "CPU": "tinyframe.runtime.cpu:ClangDevice",
            "CL": "tinyframe.gpu.drivers.opencl:CLDevice",
            "CUDA": "tinyframe.gpu.drivers.cuda:open_device",
            "WEBGPU": "tinyframe.gpu.drivers.webgpu:WebGPUDevice",
            "PYTHON": "tinyframe.runtime.python:PythonDevice",
            "NULL": "tinyframe.runtime.null:NullDevice",
        }
        self._opened: dict[str, tuple[Callable[[str], Compiled] | str, Compiled]] = {}
        self._lock = threading.RLock()
        self._assigned: tuple[str, str | None] | None = None
        self._left_behind: dict[str, Compiled] = {}  # opened before a fork, unusable after it
        os.register_at_fork(after_in_child=self._after_fork)

    def __getitem__(self, name: str | None) -> Compiled:
        """The device of this name (None: the default device), which is opened on first use.

        ValueError if there is no such device, DeviceUnavailable if it cannot be opened.
        """
        # a class registered again, as by running a notebook cell twice, replaces the old one
        if name in self._opened and self._opened[name][0] is self._devices.get(name):
            return self._opened[name][1]
        name = self.canonicalize(name)
        kind = name.partition(":")[0]
        if kind not in self._devices:  # registered under a name with a colon
            raise ValueError(
                f"device {name!r} cannot be opened: register it as Device._devices[{kind!r}]; "
                "the part after the colon is passed to it in its name"
            )
        registered = self._devices[kind]
        if not (isinstance(registered, str) or callable(registered)):
            raise TypeError(
                f"Device._devices[{kind!r}] is {registered!r}: put the class itself there. It is "
                f"called with the name {name!r} when the device is first used"
            )
        with self._lock:
            if name in self._opened and self._opened[name][0] is registered:
                return self._opened[name][1]
            if any(left.partition(":")[0] == kind for left in self._left_behind):
                raise DeviceUnavailable(
                    f"device {name} cannot be used here: {kind} was opened before os.fork(), and "
                    "its driver does not work in the child process. Start processes that use it "
                    'with multiprocessing.get_context("spawn"), or use it in the child only'
                )
            try:
                device = load(registered)(name)
            except DeviceUnavailable as error:
                raise DeviceUnavailable(f"device {name} cannot be used here: {error}") from None
            self._opened[name] = registered, device
            return device

    def named(self, name: str | None) -> str:
        """The canonical name of a device, which is opened; None is the default device.

        ValueError if there is no such device, DeviceUnavailable if it cannot be opened.
        """
        name = self.canonicalize(name)
        self[name]
        return name

    def why_not(self, name: str) -> str | None:
        """Why a registered device cannot be opened; None if it can."""
        try:
            self[name]
        except DeviceUnavailable as error:
            return str(error)
        except Exception as error:  # a broken device must not affect the others
            return f"device {name} cannot be used here: {type(error).__name__}: {error}"
        return None

    def _after_fork(self) -> None:
        self._lock = threading.RLock()  # a thread of the parent may have held it
        for name, (_, device) in list(self._opened.items()):
            device.allocator._kept_lock = threading.RLock()
            if not device.survives_fork:
                del self._opened[name]
                # kept alive, since freeing anything might make its driver wait forever
                self._left_behind[name] = device
                device.allocator.keep_bytes = sys.maxsize
        if self._left_behind:
            _skip_exit_handlers()

    def empty_cache(self) -> int:
        """Free the memory that devices keep for reuse; return how many bytes that was."""
        return sum(device.allocator.free_kept() for _, device in list(self._opened.values()))

    def canonicalize(self, name: str | None) -> str:
        """The canonical name of a device: "cpu:0" and "clang" are "CPU", "gpu:1" is "CL:1",
        "null:metal" is "NULL:METAL".

        None is the default device. ValueError if there is no such device.
        """
        if name is None:
            return self.DEFAULT
        if name in self._devices:
            return name
        if not isinstance(name, str):
            raise TypeError(f'a device is named by a str such as "CPU", not {name!r}')
        kind, colon, index = name.strip().upper().partition(":")
        if kind not in self._devices:
            kind = next((k for k in self._devices if k.upper() == kind), ALIASES.get(kind, kind))
        if kind not in self._devices:
            raise ValueError(self._unknown(name))
        if colon and not index.isdecimal():
            return f"{kind}:{self._variant(name, kind, index)}"
        return f"{kind}:{int(index)}" if colon and int(index) else kind

    def _variant(self, name: str, kind: str, index: str) -> str:
        variants = load(self._devices[kind]).variants
        if (found := ALIASES.get(index, index)) in variants:
            return found
        also = f", or one of {', '.join(variants)}" if variants else ""
        raise ValueError(f'device {name!r}: put a number after the colon, as in "{kind}:1"{also}')

    def _unknown(self, name: str) -> str:
        exist = list(self._devices)
        missing = {device: why for device in exist if (why := self.why_not(device)) is not None}
        also = [alias for alias, kind in ALIASES.items() if kind in self._devices]
        kind = name.strip().upper().partition(":")[0]
        close = difflib.get_close_matches(kind, exist + also, n=1, cutoff=0.5)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        hint = f" ({INSTEAD[kind]})" if kind in INSTEAD else hint
        there = ", ".join(device for device in exist if device not in missing)
        said = f"unknown device {name!r}{hint}; there are: {there}"
        return "\n  ".join([said, *missing.values()])

    @property
    def DEFAULT(self) -> str:
        """The device of a Tensor that is created without one.

        Whatever was set last counts: an assignment `Device.DEFAULT = "PYTHON"`, or the settings
        (DEVICE=PYTHON or PYTHON=1, in the environment or a `Context`) if they have changed since.
        If nothing was set, it is CPU.
        """
        said = self._from_settings()
        if self._assigned is not None and self._assigned[1] == said:
            return self._assigned[0]
        return said or "CPU"

    @DEFAULT.setter
    def DEFAULT(self, name: str) -> None:
        self._assigned = (self.named(name), self._from_settings())

    def _from_settings(self) -> str | None:
        if settings.DEVICE:
            return self.canonicalize(settings.DEVICE)
        flags = [flag for flag in _DEVICE_FLAGS if getattr(settings, flag)]
        if not flags:
            return None
        named = {self.canonicalize(flag) for flag in flags}
        if len(named) > 1:
            raise ValueError(
                f"{' and '.join(f'{flag}=1' for flag in flags)} name different default devices; "
                "keep one of them, or set DEVICE, which takes precedence"
            )
        return named.pop()


def _skip_exit_handlers() -> None:
    """Skips the exit handlers of drivers: they wait for the driver's threads, which the child of a
    fork does not have (Mesa's handler crashes)."""
    import ctypes

    library = ctypes.CDLL(None)
    if hasattr(library, "on_exit"):  # glibc's; the last one registered runs first
        library.on_exit(library._exit, None)


def load(registered: Any) -> Any:
    """`registered` itself; if it is a str "module:name", the object of that name, imported now."""
    if not isinstance(registered, str):
        return registered
    module, _, name = registered.partition(":")
    return getattr(importlib.import_module(module), name)


Device = _DeviceRegistry()


# ---- buffers ------------------------------------------------------------------------------------


class Buffer:
    """`size` elements of `dtype` on `device`. Memory is allocated on first use, and freed together
    with this object.

    opaque: memory owned by somebody else, in the form the device's Allocator uses; it is not freed.
    initial_value: bytes to copy in.
    """

    def __init__(
        self,
        device: str,
        size: int,
        dtype: DType,
        opaque: Any = None,
        initial_value: bytes | None = None,
    ) -> None:
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise ValueError(f"a Buffer's size is a number of elements, 0 or more, not {size!r}")
        self.device, self.size, self.dtype = Device.canonicalize(device), size, dtype
        self.nbytes = size * dtype.itemsize
        self._opaque = opaque
        self._allocator: Allocator | None = None  # set if the memory is ours to free
        if initial_value is not None:
            self.copyin(memoryview(initial_value))

    def __repr__(self) -> str:
        state = "" if self.is_allocated() else ", not allocated"
        return f"<Buffer {self.device} {self.size} {self.dtype}{state}>"

    @property
    def allocator(self) -> Allocator:
        return self._allocator or Device[self.device].allocator

    def is_allocated(self) -> bool:
        return self._opaque is not None

    def allocate(self) -> Buffer:
        """Allocate the memory now. RuntimeError if it is allocated already, MemoryError as in
        alloc()."""
        if self._opaque is not None:
            raise RuntimeError(f"{self} is allocated already")
        return self.ensure_allocated()

    def ensure_allocated(self) -> Buffer:
        """Allocate the memory unless it is allocated already."""
        if self._opaque is None:
            allocator = Device[self.device].allocator
            # an empty Buffer gets a byte, so that every kernel argument points somewhere
            self._opaque = allocator.alloc(self.nbytes or 1)
            self._allocator = allocator
            GlobalCounters.count_memory(self.nbytes)
        return self

    def deallocate(self) -> None:
        """Free the memory; its contents are lost."""
        opaque, self._opaque = self._opaque, None
        allocator, self._allocator = self._allocator, None
        if allocator is not None:
            GlobalCounters.count_memory(-self.nbytes)
            allocator.free(opaque, self.nbytes or 1)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # at exit the memory is freed anyway, and what deallocate() needs may be gone
        if getattr(self, "_allocator", None) is not None and not is_finalizing():
            self.deallocate()

    @property
    def _buf(self) -> Any:
        """The opaque memory that a Runner takes."""
        return self._opaque if self._opaque is not None else self.ensure_allocated()._opaque

    def copyin(self, src: memoryview | bytes | bytearray) -> Buffer:
        """Copy in `src`, which has exactly `nbytes` bytes. ValueError if the lengths differ."""
        data = self._checked(src, "copied into")
        if self.nbytes:
            self.allocator.copyin(self._buf, data)
        return self

    def copyout(self, dst: memoryview | bytearray) -> memoryview | bytearray:
        """Copy all bytes to `dst`, and return it. ValueError if the lengths differ."""
        data = self._checked(dst, "the target of a copy from")
        if self.nbytes:
            Device[self.device].synchronize()
            self.allocator.copyout(data, self._buf)
        return dst

    def _checked(self, data: memoryview | bytes | bytearray, what: str) -> memoryview:
        view = memoryview(data)
        if view.nbytes != self.nbytes:
            raise ValueError(
                f"{view.nbytes} bytes cannot be {what} {self}, which has {self.nbytes} bytes"
            )
        # a memoryview cannot be cast if a dimension is 0
        return memoryview(b"") if view.nbytes == 0 else view.cast("B")

    def as_memoryview(self) -> memoryview:
        """The bytes: the memory itself if Python can access it (CPU, PYTHON), else a copy."""
        return self._bytes().data

    as_buffer = as_memoryview

    def numpy(self) -> np.ndarray:
        """The elements as a 1-d array: the memory itself if Python can access it, else a copy.

        NumPy has no bfloat16, which is always copied to float32.
        """
        array = self._bytes()
        if self.dtype.scalar() is dtypes.bfloat16:
            return bf16_to_f32(array.view(np.uint16))
        np_dtype = to_np_dtype(self.dtype)
        assert np_dtype is not None  # only bfloat16's is
        return array.view(np_dtype)

    def _bytes(self) -> np.ndarray:
        array = self.allocator.as_array(self._buf)
        if array is None:
            return np.frombuffer(self.copyout(bytearray(self.nbytes)), np.uint8)
        Device[self.device].synchronize()
        # the array must keep this Buffer alive, or its memory would be reused
        return np.asarray(_ArrayOf(self, array[: self.nbytes]))


class _ArrayOf:
    """An array's memory for NumPy, owned by a Buffer."""

    def __init__(self, owner: Buffer, array: np.ndarray) -> None:
        self.owner, self.__array_interface__ = owner, array.__array_interface__


class OverwrittenError(RuntimeError):
    """The values of a BUFFER node are needed, but have been overwritten in its memory."""


def buffer_of(uop: UOp) -> Buffer:
    """The Buffer of a BUFFER node, created by the first call, without memory. It lives as long as
    the node, which stores it together with its other cached properties.

    If a schedule that writes the values exists but has not run, it runs now. OverwrittenError if
    the memory holds a later value.
    """
    found = uop.__dict__.get("_buffer")
    if isinstance(found, Buffer):
        return found
    if found is None:
        return set_buffer(uop, None)
    if found is _OVERWRITTEN:
        raise OverwrittenError(
            f"these {uop.arg} values of {uop.dtype} are gone: their memory was changed in place "
            "(by assign(), a slice assignment or an optimizer's step) after this graph was made"
        )
    found.compute()
    return set_buffer(uop, found.buffer)


def set_buffer(uop: UOp, buffer: Buffer | None) -> Buffer:
    """Assigns a Buffer to a BUFFER node; None: a new one."""
    if uop.op is not Ops.BUFFER:
        raise ValueError(f"only a BUFFER has memory, not {uop.op}")
    if buffer is None:
        buffer = Buffer(uop.src[1].arg, uop.arg, uop.dtype)
    uop.__dict__["_buffer"] = buffer
    return buffer


class _Awaited(NamedTuple):
    """Stands for the Buffer of a BUFFER node until its values have been computed."""

    buffer: Buffer
    compute: Callable[[], None]


def compute_at_need(uop: UOp, compute: Callable[[], None]) -> None:
    """Makes the next `buffer_of` this BUFFER node call `compute()` first."""
    uop.__dict__["_buffer"] = _Awaited(buffer_of(uop), compute)


def is_awaited(uop: UOp) -> bool:
    """Whether the values of a BUFFER node have yet to be computed (`compute_at_need`)."""
    return isinstance(uop.__dict__.get("_buffer"), _Awaited)


_OVERWRITTEN: Any = object()


def memory_behind(uop: UOp) -> Buffer:
    """The Buffer of a BUFFER node, whether or not its values have been computed."""
    found = uop.__dict__.get("_buffer")
    return found.buffer if isinstance(found, _Awaited) else buffer_of(uop)


def successor(uop: UOp) -> UOp:
    """A new BUFFER node on the memory of another."""
    new = UOp.new_buffer(uop.device, uop.arg, uop.dtype)
    set_buffer(new, buffer_of(uop))
    return new


def lose(uop: UOp) -> None:
    """Notes that the values a BUFFER node stands for have been overwritten."""
    uop.__dict__["_buffer"] = _OVERWRITTEN


def is_overwritten(uop: UOp) -> bool:
    """Whether the values a BUFFER node stands for have been overwritten."""
    return uop.__dict__.get("_buffer") is _OVERWRITTEN


def human_bytes(count: int) -> str:
    """A number of bytes in a suitable unit, such as "1.50 GB" (10**9 bytes)."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"
