"""The CUDA device: an NVIDIA GPU, through its driver and NVRTC, or with CUDA_EMULATE an emulator.

`CUDA` is the first GPU, `CUDA:1` the next. All commands go to one stream and run in order, so a
kernel sees what earlier ones have written. Launches return at once; reading memory waits.

https://docs.nvidia.com/cuda/cuda-driver-api/, and for the Python binding
https://nvidia.github.io/cuda-python/cuda-bindings/latest/module/driver.html
"""

from __future__ import annotations

import ctypes
import functools
import re
import threading
import weakref
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from tinyframe.device import (
    ONE,
    Allocator,
    Compiled,
    Compiler,
    DeviceUnavailable,
    Graph,
    Memory,
    Runner,
    Size,
)
from tinyframe.gpu.drivers.nvrtc import ADVICE, NVRTC, architecture_for
from tinyframe.gpu.languages.cuda import CUDALanguage, tensor_cores
from tinyframe.renderer import Target
from tinyframe.settings import settings

NO_GPU = "CUDA_EMULATE=1 runs CUDA kernels on the processor"
STAGING_BYTES = 4 << 20  # of each half of the pinned memory
# after one of these errors the GPU is unusable in this process (Driver API, CUresult)
STICKY = ("ILLEGAL_ADDRESS", "MISALIGNED_ADDRESS", "ILLEGAL_INSTRUCTION", "INVALID_ADDRESS_SPACE",
          "INVALID_PC", "HARDWARE_STACK_ERROR", "LAUNCH_FAILED", "LAUNCH_TIMEOUT", "ASSERT",
          "ECC_UNCORRECTABLE", "NVLINK_UNCORRECTABLE", "CONTAINED", "TENSOR_MEMORY_LEAK",
          "CONTEXT_IS_DESTROYED")  # fmt: skip


class CUDAError(RuntimeError):
    """A call of NVIDIA's driver failed."""


# ---- the driver ----------------------------------------------------------------------------------


@functools.cache
def driver() -> Any:
    """The module cuda.bindings.driver, initialized. DeviceUnavailable if it or a GPU is missing."""
    try:
        from cuda.bindings import driver
    except Exception as error:  # a broken library may raise anything
        raise DeviceUnavailable(
            f"cuda.bindings cannot be imported ({error}): {ADVICE}. {NO_GPU}"
        ) from error
    try:
        (status,) = driver.cuInit(0)
    except Exception as error:  # a RuntimeError if there is no libcuda
        raise DeviceUnavailable(
            f"there is no NVIDIA driver ({error}). With an NVIDIA GPU, install its driver (on WSL, "
            f"the Windows driver). {NO_GPU}"
        ) from error
    if status != driver.CUresult.CUDA_SUCCESS:
        _, words = driver.cuGetErrorString(status)
        raise DeviceUnavailable(
            f"NVIDIA's driver does not start: {words.decode()} ({status.name}). {NO_GPU}"
        )
    return driver


def call(library: Any, name: str, *arguments: Any) -> Any:
    """Calls a function of the driver `library` and returns its result without the status.

    MemoryError if memory runs out, CUDAError with the driver's message for other errors.
    """
    status, *values = getattr(library, name)(*arguments)
    if status:  # CUDA_SUCCESS is 0
        if status == library.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise MemoryError("the GPU is out of memory")
        _, words = library.cuGetErrorString(status)
        raise CUDAError(f"{name}: {words.decode()} ({status.name})")
    return values[0] if values else None


class Context:
    """A GPU, its primary context, and our stream in it.

    recent: the last kernels launched since the last wait, by name: an error in one of them is
    reported by a later call.
    """

    def __init__(self, number: int) -> None:
        self.driver = driver()
        self.gpu = call(self.driver, "cuDeviceGet", number)
        self.context = call(self.driver, "cuDevicePrimaryCtxRetain", self.gpu)
        self.recent: deque[str] = deque(maxlen=8)
        # modules, graphs and launches take memory too: CUDADevice puts Allocator.free_kept here
        self.free_kept: Callable[[], int] = int
        self.stream = self("cuStreamCreate", self.driver.CUstream_flags.CU_STREAM_NON_BLOCKING)

    def __call__(self, name: str, *arguments: Any) -> Any:
        """Calls the driver in this context, which is set per thread.

        It is set each time: other libraries in this process may set theirs (PyTorch, another GPU),
        and memory would be allocated there.
        """
        try:
            call(self.driver, "cuCtxSetCurrent", self.context)
            try:
                return call(self.driver, name, *arguments)
            except MemoryError:
                self.free_kept()
            return call(self.driver, name, *arguments)
        except CUDAError as error:
            if not any(f"CUDA_ERROR_{kind})" in str(error) for kind in STICKY):
                raise
            kernels = f" One of these caused it: {', '.join(self.recent)}." if self.recent else ""
            raise CUDAError(
                f"{error}.{kernels} This GPU can no longer be used in this process: restart "
                "Python. CUDA_LAUNCH_BLOCKING=1 tells which kernel it was, CUDA_EMULATE=1 which "
                "access"
            ) from error

    def attribute(self, name: str) -> int:
        which = getattr(self.driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return call(self.driver, "cuDeviceGetAttribute", which, self.gpu)

    def wait(self) -> None:
        """Waits until everything that was started is done."""
        self("cuStreamSynchronize", self.stream)
        self.recent.clear()


# ---- memory --------------------------------------------------------------------------------------


class CUDAAllocator(Allocator):
    """Memory of a GPU: its address, as an int.

    Copies go through two halves of pinned memory, which the GPU accesses itself: one half is filled
    while the other is in transit.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.lock = threading.Lock()

    def _alloc(self, size: int, options: Any = None) -> int:
        return int(self.context("cuMemAlloc", size))

    def _free(self, opaque: int, options: Any) -> None:
        with suppress(CUDAError):
            self.context("cuMemFree", opaque)

    @functools.cached_property
    def halves(self) -> list[tuple[int, np.ndarray, Any]]:
        """The address, the bytes and an event of each half; it is free once the event has
        occurred."""
        address = int(self.context("cuMemHostAlloc", 2 * STAGING_BYTES, 0))
        memory = ctypes.cast(address, ctypes.POINTER(ctypes.c_ubyte))
        array = np.ctypeslib.as_array(memory, (2 * STAGING_BYTES,))
        flags = self.context.driver.CUevent_flags.CU_EVENT_DISABLE_TIMING
        return [
            (address + n, array[n : n + STAGING_BYTES], self.context("cuEventCreate", flags))
            for n in (0, STAGING_BYTES)
        ]

    def copyin(self, dst: int, src: memoryview) -> None:
        source, context = np.frombuffer(src, np.uint8), self.context
        with self.lock:
            for n, begin in enumerate(range(0, source.nbytes, STAGING_BYTES)):
                piece = source[begin : begin + STAGING_BYTES]
                address, array, is_free = self.halves[n % 2]
                context("cuEventSynchronize", is_free)
                array[: piece.nbytes] = piece
                context("cuMemcpyHtoDAsync", dst + begin, address, piece.nbytes, context.stream)
                context("cuEventRecord", is_free, context.stream)

    def copyout(self, dst: memoryview, src: int) -> None:
        target, context = np.frombuffer(dst, np.uint8), self.context
        begins = range(0, target.nbytes, STAGING_BYTES)
        with self.lock:
            for n in range(len(begins) + 1):  # one piece is in transit, the other copied
                if n < len(begins):
                    address, _, is_there = self.halves[n % 2]
                    size = min(STAGING_BYTES, target.nbytes - begins[n])
                    context("cuMemcpyDtoHAsync", address, src + begins[n], size, context.stream)
                    context("cuEventRecord", is_there, context.stream)
                if n:
                    _, array, is_there = self.halves[(n - 1) % 2]
                    context("cuEventSynchronize", is_there)
                    piece = target[begins[n - 1] :][:STAGING_BYTES]
                    piece[:] = array[: piece.nbytes]


# ---- kernels -------------------------------------------------------------------------------------


class Arguments:
    """A kernel's arguments in the driver's form: 8 bytes each, and an array of pointers to them.

    address: of the array of pointers.
    """

    def __init__(self, values: Sequence[int]) -> None:
        self.values = array("q", values)
        begin, count = self.values.buffer_info()
        self.pointers = array("q", range(begin, begin + 8 * count, 8))
        self.address, _ = self.pointers.buffer_info()


class CUDARunner(Runner):
    """A kernel of a loaded module."""

    def __init__(self, context: Context, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        self.context = context
        module = context("cuModuleLoadData", bytes(lib))
        self.function = context("cuModuleGetFunction", module, name.encode())
        found = re.search(rb"shared_bytes_(\d+)", lib)  # see CUDALanguage.render
        self.shared_bytes = int(found[1]) if found else 0
        if found:
            kinds, name = context.driver.CUfunction_attribute, "MAX_DYNAMIC_SHARED_SIZE_BYTES"
            which = getattr(kinds, f"CU_FUNC_ATTRIBUTE_{name}")
            context("cuFuncSetAttribute", self.function, which, self.shared_bytes)
        weakref.finalize(self, _release, context, ("cuModuleUnload", module)).atexit = False

    def start(self, arguments: Arguments, grid: Size, block: Size) -> None:
        """Launches it, which copies the arguments."""
        context, address = self.context, arguments.address
        context.recent.append(self.name)
        context("cuLaunchKernel", self.function, *grid, *block, self.shared_bytes,
                context.stream, address, 0)  # fmt: skip

    def __call__(
        self, *bufs: int, global_size: Size = ONE, local_size: Size = ONE, vals: Size = (),
        wait: bool = False,
    ) -> float | None:  # fmt: skip
        context, arguments = self.context, Arguments((*bufs, *vals))
        if not wait:
            self.start(arguments, global_size, local_size)
            return None
        events = [context("cuEventCreate", 0) for _ in range(2)]
        try:
            context("cuEventRecord", events[0], context.stream)
            self.start(arguments, global_size, local_size)
            context("cuEventRecord", events[1], context.stream)
            context("cuEventSynchronize", events[1])
            return context("cuEventElapsedTime", *events) * 1e-3
        finally:
            for event in events:
                with suppress(CUDAError):
                    context("cuEventDestroy", event)


def _release(context: Context, *calls: tuple[str, Any]) -> None:
    """Makes these calls, each of which frees a thing, once nothing uses it."""
    with suppress(CUDAError):  # the next call reports the error again
        context.wait()  # a launch may still be pending
        for name, thing in calls:
            context(name, thing)


class CUDAGraph(Graph):
    """A sequence of launches as a CUDA graph (Programming Guide, "CUDA Graphs"); one that is alone
    is launched as it is.

    Arguments and sizes may change from call to call: then the launch's node is updated before the
    graph is started. The driver rejects nodes without blocks, so a node is disabled while a
    Variable makes its grid empty.

    changed: the launches whose nodes have to be updated. A launch is added to it, and to `off`,
    before what it notes is done, since Ctrl-C may come in between.
    """

    runners: list[CUDARunner]  # type: ignore[assignment]

    def __init__(self, runners: Sequence[Runner], bufs: Memory, vals: Sequence[int]) -> None:
        super().__init__(runners, bufs, vals)
        self.context = self.runners[0].context
        self.arguments = [Arguments([*m, *[0] * n]) for m, n in zip(bufs, vals, strict=True)]
        # each argument's launch, and its place there: those of all buffers, then the Variables
        self.cells = [
            (launch, self.arguments[launch].values, number)
            for launch, number in [*self.places, *self.variables]
        ]
        self.parameters = []
        for runner, arguments in zip(self.runners, self.arguments, strict=True):
            self.parameters.append(given := self.context.driver.CUDA_KERNEL_NODE_PARAMS())
            given.func, given.kernelParams = runner.function, arguments.address
            given.sharedMemBytes, given.extra = runner.shared_bytes, 0
        self.sizes: Sequence[tuple[Size, Size]] = [((), ())] * len(runners)
        self.changed: set[int] = set()
        self.off: set[int] = set()  # the launches whose nodes may be disabled
        self.started: Any = None

    def set_buffer(self, place: int, opaque: int) -> None:
        launch, values, number = self.cells[place]
        if values[number] != opaque:
            self.changed.add(launch)
            values[number] = opaque

    def set_values(self, sizes: Sequence[tuple[Size, Size]], vals: Sequence[int]) -> None:
        for place, value in enumerate(vals, len(self.places)):
            self.set_buffer(place, value)
        for launch, (grid, block) in enumerate(sizes):
            if (grid, block) != self.sizes[launch]:
                self.changed.add(launch)
                given = self.parameters[launch]
                # a disabled node is given a block
                given.gridDimX, given.gridDimY, given.gridDimZ = ONE if 0 in grid else grid
                given.blockDimX, given.blockDimY, given.blockDimZ = block
        self.sizes, self.empty = sizes, {n for n, (grid, _) in enumerate(sizes) if 0 in grid}
        self.names = [r.name for n, r in enumerate(self.runners) if n not in self.empty]

    def __call__(self) -> None:
        if len(self.runners) == 1:
            if not self.empty:
                self.runners[0].start(self.arguments[0], *self.sizes[0])
            return
        if self.started is None:
            self._build()
        for launch in sorted(self.changed):
            self._update(launch)
        self.changed.clear()
        self.context.recent.extend(self.names)
        self.context("cuGraphLaunch", self.started, self.context.stream)

    def _update(self, launch: int) -> None:
        context, started, node = self.context, self.started, self.nodes[launch]
        if launch in self.empty:
            self.off.add(launch)
            context("cuGraphNodeSetEnabled", started, node, 0)
            return
        context("cuGraphExecKernelNodeSetParams", started, node, self.parameters[launch])
        if launch in self.off:
            context("cuGraphNodeSetEnabled", started, node, 1)
            self.off.remove(launch)

    def _build(self) -> None:
        graph = self.context("cuGraphCreate", 0)
        self.nodes: list[Any] = []
        for parameters in self.parameters:
            before = self.nodes[-1:]
            self.nodes.append(self.context("cuGraphAddKernelNode", graph, before, len(before),
                                           parameters))  # fmt: skip
        started = self.context("cuGraphInstantiate", graph, 0)
        calls = ("cuGraphExecDestroy", started), ("cuGraphDestroy", graph)
        weakref.finalize(self, _release, self.context, *calls).atexit = False
        self.changed = set(self.empty)
        self.started = started


# ---- the device ----------------------------------------------------------------------------------


class CUDADevice(Compiled):
    """An NVIDIA GPU. DeviceUnavailable if there is none with this number."""

    survives_fork = False
    graph = CUDAGraph

    def __init__(self, device: str = "CUDA") -> None:
        number = int(device.partition(":")[2] or 0)
        count = call(driver(), "cuDeviceGetCount")
        if number >= count:
            raise DeviceUnavailable(f"there is no GPU number {number}, only {count}. {NO_GPU}")
        try:
            self.context = Context(number)
        except (CUDAError, MemoryError) as error:  # other programs may have taken it
            raise DeviceUnavailable(f"GPU number {number} cannot be opened: {error}. "
                                    f"{NO_GPU}") from error  # fmt: skip
        major, minor = (
            self.context.attribute(f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR")
        )
        super().__init__(
            device,
            CUDAAllocator(self.context),
            CUDALanguage(target_of(self.context)),
            NVRTC(architecture_for(major, minor)),
            functools.partial(CUDARunner, self.context),
        )
        self.context.free_kept = self.allocator.free_kept

    @property
    def compiler(self) -> Compiler:
        if settings.CUDA_EMULATE:
            raise RuntimeError(
                f"{self.device} was opened without CUDA_EMULATE, and is the GPU until Python ends: "
                "set CUDA_EMULATE before the first Tensor is created"
            )
        return super().compiler

    def synchronize(self) -> None:
        self.context.wait()


def target_of(context: Context) -> Target:
    """The Target of a GPU."""
    major = context.attribute("COMPUTE_CAPABILITY_MAJOR")
    return replace(
        CUDALanguage.default_target,
        l2=context.attribute("L2_CACHE_SIZE"),
        block_threads=context.attribute("MAX_THREADS_PER_BLOCK"),
        shared_bytes=context.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        grid=tuple(context.attribute(f"MAX_GRID_DIM_{axis}") for axis in "XYZ"),
        warp=context.attribute("WARP_SIZE"),
        tensor_cores=tensor_cores(major),
        async_copies=major >= 8,
    )


def open_device(name: str) -> Compiled:
    """Opens the GPU, or with CUDA_EMULATE the emulator."""
    if not settings.CUDA_EMULATE:
        return CUDADevice(name)
    from tinyframe.gpu.drivers.cuda_emulator import EmulatorDevice

    return EmulatorDevice(name)
