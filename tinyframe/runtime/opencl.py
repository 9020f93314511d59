"""The CL device: any OpenCL driver, through pyopencl.

`CL` is the first device of the first platform, a GPU before a processor; `CL:1` is the next one. A
queue runs commands in order, so a kernel sees what those before it have written; a launch returns
at once, and reading memory waits.

https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html
"""

from __future__ import annotations

import functools
import threading
import weakref
from typing import Any

import numpy as np

from tinyframe.device import (
    Allocator,
    Compiled,
    CompileError,
    Compiler,
    Device,
    DeviceUnavailable,
    Runner,
)
from tinyframe.renderer import Target
from tinyframe.renderer.opencl import LANES, OpenCLLanguage

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
        self.options = ["-cl-std=CL1.2"] + ["-cl-fp32-correctly-rounded-divide-sqrt"] * bool(is_exact)

    def compile(self, src: str) -> bytes:
        try:
            program = cl().Program(self.context, src).build(self.options)
            return program.get_info(cl().program_info.BINARIES)[0]
        except cl().RuntimeError as error:
            raise CompileError(str(error), src) from error

    def identity(self) -> str:
        d = self.device
        return "\n".join([d.platform.name, d.platform.version, d.name, d.driver_version, *self.options])


class CLRunner(Runner):
    """A kernel of a program."""

    def __init__(self, device: CLDevice, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        self.device = device
        program = cl().Program(device.context, [device.cl_device], [lib]).build(device.compiler.options)
        self.kernel = cl().Kernel(program, name)

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
            event = cl().enqueue_nd_range_kernel(
                self.device.queue, self.kernel, total, local_size
            )
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
        super().__init__(
            device,
            CLAllocator(self.context, self.queue),
            language(self.cl_device),
            CLCompiler(self.context, self.cl_device),
            functools.partial(CLRunner, self),
        )

    def synchronize(self) -> None:
        self.queue.finish()


def language(device: Any) -> OpenCLLanguage:
    """How programs for an OpenCL device are written, and what its schedules have to know."""
    names = device.extensions.split()
    is_gpu = bool(device.type & cl().device_type.GPU)
    most = LANES[-1]
    # Of a processor, that is the last of its caches; the panels of one core are smaller.
    cache = device.global_mem_cache_size or 256 << 10
    common = dict(l1=32 << 10, l2=min(cache, 1 << 20), most_lanes=most, shared_bytes=device.local_mem_size)
    if is_gpu:
        target = Target(vector_bytes=16, vector_registers=64, threads=1,
                        block_threads=device.max_work_group_size, grid=(2**31 - 1,) * 3, warp=32,
                        **common)  # fmt: skip
    else:
        width = max(device.native_vector_width_float, 4)
        target = Target(vector_bytes=4 * width, vector_registers=32 if width == 16 else 16,
                        threads=device.max_compute_units, **common)  # fmt: skip
    return OpenCLLanguage(target, "cl_khr_fp16" in names, "cl_khr_fp64" in names)
