"""The CUDA device: an NVIDIA GPU, through its driver and NVRTC, or with CUDA_EMULATE an emulator.

`CUDA` is the first GPU, `CUDA:1` the next. All commands go to one stream and run in order, so a
kernel sees what earlier ones have written. Launches return at once; reading memory waits.

https://docs.nvidia.com/cuda/cuda-driver-api/, and for the Python binding
https://nvidia.github.io/cuda-python/cuda-bindings/latest/module/driver.html
"""

from __future__ import annotations

import ctypes
import functools
import threading
import weakref
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
    results = library.CUresult
    if status == results.CUDA_ERROR_OUT_OF_MEMORY:
        raise MemoryError("the GPU is out of memory")
    if status != results.CUDA_SUCCESS:
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
        # modules, graphs and launches take memory too: CUDADevice puts Allocator.with_room here
        self.with_room: Callable[[Callable[[], Any]], Any] = lambda attempt: attempt()
        self.stream = self("cuStreamCreate", self.driver.CUstream_flags.CU_STREAM_NON_BLOCKING)

    def __call__(self, name: str, *arguments: Any) -> Any:
        """Calls the driver in this context, which is set per thread."""
        try:
            call(self.driver, "cuCtxSetCurrent", self.context)
            return self.with_room(lambda: call(self.driver, name, *arguments))
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
        self.values = np.array(values, np.int64)
        self.pointers = self.values.ctypes.data + 8 * np.arange(len(values), dtype=np.int64)
        self.address: int = self.pointers.ctypes.data


class CUDARunner(Runner):
    """A kernel of a loaded module."""

    def __init__(self, context: Context, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        self.context = context
        module = context("cuModuleLoadData", bytes(lib))
        self.function = context("cuModuleGetFunction", module, name.encode())
        weakref.finalize(self, _release, context, ("cuModuleUnload", module)).atexit = False

    def __call__(
        self, *bufs: int, global_size: Size = ONE, local_size: Size = ONE, vals: Size = (),
        wait: bool = False,
    ) -> float | None:  # fmt: skip
        context, arguments = self.context, Arguments([*bufs, *vals])
        events = [context("cuEventCreate", 0) for _ in range(2 * wait)]
        launch = (self.function, *global_size, *local_size, 0, context.stream, arguments.address, 0)
        try:
            if wait:
                context("cuEventRecord", events[0], context.stream)
            context.recent.append(self.name)
            context("cuLaunchKernel", *launch)
            if not wait:
                return None
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
    """A sequence of launches as a CUDA graph (Programming Guide, "CUDA Graphs").

    Arguments and sizes may change from call to call: then the parameters of the launch's node are
    updated before the graph is started. The driver rejects nodes without blocks, so a node is
    disabled while a Variable makes its grid empty.
    """

    def __init__(self, runners: Sequence[Runner], bufs: Memory, vals: Sequence[int]) -> None:
        super().__init__(runners, bufs, vals)
        self.context: Context = runners[0].context  # type: ignore[attr-defined]
        given = zip(bufs, vals, strict=True)
        self.arguments = [Arguments([*each, *[0] * count]) for each, count in given]
        self.sizes: Sequence[tuple[Size, Size]] = ()
        self.changed: set[int] = set()
        self.off: set[int] = set()  # the launches whose nodes are disabled
        self.graph: Any = None

    def set_buffer(self, place: int, opaque: int) -> None:
        launch, number = self.places[place]
        self.arguments[launch].values[number] = opaque
        self.changed.add(launch)

    def set_values(self, sizes: Sequence[tuple[Size, Size]], vals: Sequence[int]) -> None:
        self.sizes = sizes
        for (launch, number), value in zip(self.variables, vals, strict=True):
            self.arguments[launch].values[number] = value
        self.changed.update(range(len(self.runners)))

    def __call__(self) -> None:
        if self.graph is None:
            self._build()
        for launch in sorted(self.changed):
            self._update(launch)
        self.changed.clear()
        self.context.recent.extend(
            runner.name for launch, runner in enumerate(self.runners) if launch not in self.off
        )
        self.context("cuGraphLaunch", self.started, self.context.stream)

    def _update(self, launch: int) -> None:
        node, has_blocks = self.nodes[launch], self._has_blocks(launch)
        if has_blocks:
            self.context("cuGraphExecKernelNodeSetParams", self.started, node,
                         self._parameters(launch))  # fmt: skip
        if has_blocks == (launch in self.off):
            self.context("cuGraphNodeSetEnabled", self.started, node, int(has_blocks))
            self.off ^= {launch}

    def _has_blocks(self, launch: int) -> bool:
        return 0 not in self.sizes[launch][0]

    def _build(self) -> None:
        self.graph = self.context("cuGraphCreate", 0)
        self.nodes: list[Any] = []
        for launch in range(len(self.runners)):
            before = self.nodes[-1:]
            self.nodes.append(self.context("cuGraphAddKernelNode", self.graph, before, len(before),
                                           self._parameters(launch)))  # fmt: skip
        self.started = self.context("cuGraphInstantiate", self.graph, 0)
        self.changed = {n for n in range(len(self.runners)) if not self._has_blocks(n)}
        calls = ("cuGraphExecDestroy", self.started), ("cuGraphDestroy", self.graph)
        weakref.finalize(self, _release, self.context, *calls).atexit = False

    def _parameters(self, launch: int) -> Any:
        parameters = self.context.driver.CUDA_KERNEL_NODE_PARAMS()
        parameters.func = self.runners[launch].function  # type: ignore[attr-defined]
        grid, block = self.sizes[launch]
        grid = grid if self._has_blocks(launch) else (1, 1, 1)  # for a disabled node
        parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ = grid
        parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ = block
        parameters.sharedMemBytes = parameters.extra = 0
        parameters.kernelParams = self.arguments[launch].address
        return parameters


# ---- the device ----------------------------------------------------------------------------------


class CUDADevice(Compiled):
    """An NVIDIA GPU. DeviceUnavailable if there is none with this number."""

    survives_fork = False

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
        self.context.with_room = self.allocator.with_room

    @property
    def compiler(self) -> Compiler:
        if settings.CUDA_EMULATE:
            raise RuntimeError(
                f"{self.device} was opened without CUDA_EMULATE, and is the GPU until Python ends: "
                "set CUDA_EMULATE before the first Tensor is created"
            )
        return super().compiler

    @property
    def graph(self) -> type[Graph]:
        return CUDAGraph

    def synchronize(self) -> None:
        self.context.wait()


def target_of(context: Context) -> Target:
    """The Target of a GPU."""
    return replace(
        CUDALanguage.default_target,
        l2=context.attribute("L2_CACHE_SIZE"),
        block_threads=context.attribute("MAX_THREADS_PER_BLOCK"),
        shared_bytes=context.attribute("MAX_SHARED_MEMORY_PER_BLOCK"),
        grid=tuple(context.attribute(f"MAX_GRID_DIM_{axis}") for axis in "XYZ"),
        warp=context.attribute("WARP_SIZE"),
        tensor_cores=tensor_cores(context.attribute("COMPUTE_CAPABILITY_MAJOR")),
    )


def open_device(name: str) -> Compiled:
    """Opens the GPU, or with CUDA_EMULATE the emulator."""
    if not settings.CUDA_EMULATE:
        return CUDADevice(name)
    from tinyframe.gpu.drivers.cuda_emulator import EmulatorDevice

    return EmulatorDevice(name)
