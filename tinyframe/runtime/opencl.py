"""The CL device: any OpenCL driver, through pyopencl.

`CL` is the first device of the first platform, a GPU before a processor; `CL:1` is the next one. A
queue runs commands in order, so a kernel sees what those before it have written; a launch returns
at once, and reading memory waits.

https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html
"""

from __future__ import annotations

import functools
import threading
from dataclasses import replace
from typing import Any

import numpy as np

from tinyframe.device import (
    Allocator,
    Compiled,
    CompileError,
    Compiler,
    DeviceUnavailable,
    Runner,
)
from tinyframe.renderer import Target
from tinyframe.renderer.opencl import LANES, OpenCLLanguage

LEAST_CACHE, MOST_CACHE = 256 << 10, 1 << 20  # bytes; the usual sizes of a core's own second cache
ADVICE = "pip install 'tinyframe[opencl]' brings pyopencl, and on Linux a driver for the processor"


@functools.cache
def cl() -> Any:
    """The module pyopencl. DeviceUnavailable where it is not installed or does not load."""
    try:
        import pyopencl
    except ImportError as error:
        raise DeviceUnavailable(f"pyopencl cannot be imported ({error}): {ADVICE}") from error
    return pyopencl


@functools.cache
def all_devices() -> list[Any]:
    """Each device of each platform, GPUs first. DeviceUnavailable where there is none."""
    kinds = cl().device_type
    try:
        found = [device for p in cl().get_platforms() for device in p.get_devices()]
    except cl().Error as error:  # without any driver, this is what asking for platforms gives
        raise DeviceUnavailable(f"there is no OpenCL driver ({error}): {ADVICE}") from error
    if not found:
        raise DeviceUnavailable(f"there is an OpenCL driver, but no device: {ADVICE}")
    return sorted(found, key=lambda device: not device.type & kinds.GPU)


# ---- memory -------------------------------------------------------------------------------------


class CLAllocator(Allocator):
    """Buffers of one context."""

    def __init__(self, context: Any, queue: Any) -> None:
        self.context, self.queue = context, queue

    def _alloc(self, size: int, options: Any = None) -> Any:
        try:
            return cl().Buffer(self.context, cl().mem_flags.READ_WRITE, size)
        except (cl().MemoryError, cl().LogicError) as error:
            most = self.queue.device.max_mem_alloc_size
            if size <= most and not isinstance(error, cl().MemoryError):
                raise
            raise MemoryError(f"{error}; one Buffer may have {most} bytes") from error

    def _free(self, opaque: Any, options: Any) -> None:
        opaque.release()

    def copyin(self, dst: Any, src: memoryview) -> None:
        cl().enqueue_copy(self.queue, dst, src, is_blocking=True)

    def copyout(self, dst: memoryview, src: Any) -> None:
        cl().enqueue_copy(self.queue, dst, src, is_blocking=True)


# ---- programs -----------------------------------------------------------------------------------


class CLCompiler(Compiler):
    """OpenCL C to what the driver makes of it."""

    def __init__(self, context: Any, device: Any) -> None:
        self.context, self.device = context, device
        rounds = cl().device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
        is_exact = device.single_fp_config & rounds
        exact = ["-cl-fp32-correctly-rounded-divide-sqrt"] if is_exact else []
        self.options = ["-cl-std=CL1.2", *exact]

    def compile(self, src: str) -> bytes:
        try:
            program = cl().Program(self.context, src).build(self.options)
            return program.get_info(cl().program_info.BINARIES)[0]
        except cl().RuntimeError as error:
            raise CompileError(str(error), src) from error

    def identity(self) -> str:
        d = self.device
        driver = d.platform.name, d.platform.version, d.name, d.driver_version
        return "\n".join([*driver, *self.options])


class CLRunner(Runner):
    """A kernel of a program."""

    def __init__(self, device: CLDevice, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        self.device = device
        program = cl().Program(device.context, [device.cl_device], [lib])
        self.kernel = cl().Kernel(program.build(device.options), name)

    def __call__(
        self,
        *bufs: Any,
        global_size: tuple[int, ...] = (1, 1, 1),
        local_size: tuple[int, ...] = (1, 1, 1),
        vals: tuple[int, ...] = (),
        wait: bool = False,
    ) -> float | None:
        total = [blocks * threads for blocks, threads in zip(global_size, local_size, strict=True)]
        with self.device.lock:  # arguments belong to the kernel, not to a launch
            self.kernel.set_args(*bufs, *map(np.int64, vals))
            event = cl().enqueue_nd_range_kernel(self.device.queue, self.kernel, total, local_size)
        if not wait:
            return None
        event.wait()
        return (event.profile.end - event.profile.start) * 1e-9


# ---- the device ---------------------------------------------------------------------------------


class CLDevice(Compiled):
    """A device that an OpenCL driver offers. DeviceUnavailable where there is no such."""

    def __init__(self, device: str = "CL") -> None:
        number = int(device.partition(":")[2] or 0)
        if number >= len(found := all_devices()):
            names = ", ".join(f"CL:{n} is {d.name}" for n, d in enumerate(found))
            raise DeviceUnavailable(f"there is no OpenCL device of number {number}: {names}")
        self.cl_device = found[number]
        self.context = cl().Context([self.cl_device])
        profiled = cl().command_queue_properties.PROFILING_ENABLE
        self.queue = cl().CommandQueue(self.context, self.cl_device, profiled)
        self.lock = threading.RLock()
        compiler = CLCompiler(self.context, self.cl_device)
        self.options = compiler.options
        super().__init__(
            device,
            CLAllocator(self.context, self.queue),
            language(self.cl_device),
            compiler,
            functools.partial(CLRunner, self),
        )

    def synchronize(self) -> None:
        self.queue.finish()


def language(device: Any, has_blocks: bool | None = None) -> OpenCLLanguage:
    """How programs for an OpenCL device are written, and what its schedules have to know.

    has_blocks: whether its work-items run in blocks, as a GPU's do; None asks the device.
    """
    names = device.extensions.split()
    if has_blocks is None:
        has_blocks = bool(device.type & cl().device_type.GPU)
    # A processor says how large the last of its caches is; what a core has for itself is less.
    cache = min(device.global_mem_cache_size or LEAST_CACHE, MOST_CACHE)
    target = Target(
        vector_bytes=16, vector_registers=64, threads=1, l1=32 << 10, l2=cache, warp=32,
        most_lanes=LANES[-1], shared_bytes=device.local_mem_size,
        block_threads=device.max_work_group_size, grid=(2**31 - 1,) * 3,
    )  # fmt: skip
    if not has_blocks:
        lanes = max(device.native_vector_width_float, 4)
        target = replace(
            target, vector_bytes=4 * lanes, vector_registers=32 if lanes == 16 else 16,
            threads=device.max_compute_units, block_threads=0, grid=(), warp=0,
        )  # fmt: skip
    return OpenCLLanguage(target, "cl_khr_fp16" in names, "cl_khr_fp64" in names)
