"""The CL device: any OpenCL driver, through pyopencl.

`CL` is the first device, GPUs before processors; `CL:1` is the next one. A queue runs commands in
order, so a kernel sees what earlier ones have written. Launches return at once; reading memory
waits.

https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from tinyframe.device import (
    ONE,
    Allocator,
    Compiled,
    CompileError,
    Compiler,
    DeviceUnavailable,
    Graph,
    Memory,
    Runner,
    Size,
)
from tinyframe.disk_cache import place_for
from tinyframe.gpu.languages.opencl import OpenCLLanguage
from tinyframe.settings import variable

LEAST_CACHE, MOST_CACHE = 256 << 10, 1 << 20  # bytes; usual sizes of a core's L2 cache
POCL = "Portable Computing Language"
# The end of PoCL's version is the processor that its LLVM compiles for. It takes newer processors
# of AMD for the newest one it knows, without AVX-512; but the libraries it links use AVX-512 if the
# processor has it. The two pass vectors of 64 bytes differently: kernels crash, or values are
# wrong.
NO_AVX512 = re.compile(r"-znver[123]\b")
UNKNOWN = re.compile(r"x86_64-.*-generic\b")  # it passes this on to its clang, which refuses it
ADVICE = (
    "pip install 'tinyframe[opencl]' brings pyopencl, and on Linux for x86-64 a driver for the "
    "processor; elsewhere your system has to have one (Debian, Ubuntu: apt install pocl-opencl-icd)"
)


@functools.cache
def cl() -> Any:
    """The module pyopencl. DeviceUnavailable if it is not installed or does not load."""
    try:
        # pyopencl has a cache of its own besides ours, and fails if it cannot write there
        with variable("PYOPENCL_NO_CACHE", "1"):
            import pyopencl
            import pyopencl.characterize
    except Exception as error:  # a broken library may raise anything
        raise DeviceUnavailable(f"pyopencl cannot be imported ({error}): {ADVICE}") from error
    return pyopencl


@functools.cache
def all_devices() -> list[Any]:
    """All devices of all platforms, GPUs first. DeviceUnavailable if there are none."""
    try:
        platforms = cl().get_platforms()
    except cl().Error as error:  # raised if there is no driver at all
        raise DeviceUnavailable(f"there is no OpenCL driver ({error}): {ADVICE}") from error
    found, failed = [], []
    # PoCL looks for a cache in this call, and has no device if it cannot write there
    with variable("POCL_CACHE_DIR", os.fspath(_pocl_cache())):
        for platform in platforms:
            try:
                found += platform.get_devices()
            except cl().Error as error:  # a driver that fails must not affect the others
                failed.append(f" ({error})")
    if not found:
        names = ", ".join(platform.name for platform in platforms)
        raise DeviceUnavailable(
            f"the OpenCL driver ({names}) has no device{''.join(failed)}: {ADVICE}"
        )
    return sorted(found, key=lambda device: not device.type & cl().device_type.GPU)


def _pocl_cache() -> Path:
    """The folder set by the user, or else one in our cache."""
    named = Path(os.environ.get("POCL_CACHE_DIR") or os.devnull)
    with suppress(OSError):
        named.mkdir(parents=True, exist_ok=True)
    return named if named.is_dir() and os.access(named, os.W_OK) else place_for("pocl")


class CLError(RuntimeError):
    """A call of the driver failed."""


# After these errors the context is unusable. If the driver killed a kernel (for an invalid access,
# or because it ran too long), it reports that only to whoever waits, and with other errors as well.
LOST = ("INVALID_COMMAND_QUEUE", "INVALID_CONTEXT", "DEVICE_NOT_AVAILABLE")
LOST_WHILE_WAITING = (*LOST, "OUT_OF_RESOURCES", "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST")
OUT_OF_MEMORY = ("MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_HOST_MEMORY")


@contextmanager
def explained(doing: str, lost: Sequence[str] = LOST_WHILE_WAITING) -> Iterator[None]:
    """MemoryError if memory runs out, CLError with the driver's message for other errors."""
    try:
        yield
    except cl().Error as error:
        code = cl().status_code.to_string(error.code)
        if code in OUT_OF_MEMORY:
            raise MemoryError(f"{doing}: {error}") from error
        after = (
            ". The device is lost, and so are the contents of its memory: restart Python (in a "
            "notebook, the kernel) to use it again"
        )
        raise CLError(f"{doing}: {error}{after if code in lost else ''}") from error


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
            raise MemoryError(f"{error}; a Buffer may have {most} bytes at most") from error

    def _free(self, opaque: Any, options: Any) -> None:
        opaque.release()

    def copyin(self, dst: Any, src: memoryview) -> None:
        self.with_room(lambda: self._copy("copying to the device", dst, src))

    def copyout(self, dst: memoryview, src: Any) -> None:
        self.with_room(lambda: self._copy("copying from the device", dst, src))

    def _copy(self, doing: str, dst: Any, src: Any) -> None:
        with explained(doing):
            cl().enqueue_copy(self.queue, dst, src, is_blocking=True)


# ---- programs -----------------------------------------------------------------------------------


class CLCompiler(Compiler):
    """Compiles OpenCL C with the driver, to a binary or to the source itself.

    Some drivers cache what they compile by its source; for these the source is the program. With a
    binary, the first run of a kernel took PoCL four times as long.
    """

    def __init__(self, context: Any, device: Any) -> None:
        self.context, self.device = context, device
        rounds = cl().device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
        is_exact = device.single_fp_config & rounds
        exact = ["-cl-fp32-correctly-rounded-divide-sqrt"] if is_exact else []
        self.options = ["-cl-std=CL1.2", *exact]
        self.driver_has_cache = cl().characterize.has_src_build_cache(device)

    def compile(self, src: str) -> bytes:
        try:
            program = cl().Program(self.context, src).build(self.options)
            if self.driver_has_cache:
                return src.encode()
            return program.get_info(cl().program_info.BINARIES)[0]
        except cl().RuntimeError as error:
            raise CompileError(str(error), src) from error

    def load(self, lib: bytes) -> Any:
        """The program, from the result of `compile`."""
        given = [lib.decode()] if self.driver_has_cache else [[self.device], [lib]]
        return cl().Program(self.context, *given).build(self.options)

    def identity(self) -> str:
        d = self.device
        driver = d.platform.name, d.platform.version, d.name, d.driver_version
        kept = "text" if self.driver_has_cache else "binary"
        return "\n".join([*driver, *self.options, kept])


class CLRunner(Runner):
    """A kernel of a program."""

    def __init__(self, device: CLDevice, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        self.device = device
        with explained(f"loading the kernel {name}", LOST):
            self.program = cast(CLCompiler, device.compiler).load(lib)
            self.kernel = self.new_kernel()

    def new_kernel(self) -> Any:
        """A new kernel object, which holds its own arguments."""
        return cl().Kernel(self.program, self.name)

    def __call__(
        self, *bufs: Any, global_size: Size = ONE, local_size: Size = ONE, vals: Size = (),
        wait: bool = False,
    ) -> float | None:  # fmt: skip
        total = work_items(global_size, local_size)
        with self.device.lock:  # arguments belong to the kernel, not to the launch
            self.kernel.set_args(*bufs, *map(np.int64, vals))
            event = self.device.launch(self.kernel, self.name, total, local_size)
        if not wait:
            return None
        with explained(f"the kernel {self.name}"):
            event.wait()
        return (event.profile.end - event.profile.start) * 1e-9


def work_items(global_size: Size, local_size: Size) -> Size:
    """The number of work-items along each axis; OpenCL takes this instead of the number of
    groups."""
    return tuple([n * k for n, k in zip(global_size, local_size, strict=True)])


class CLGraph(Graph):
    """Kernel objects with their arguments set: a call enqueues all of them and flushes the
    queue."""

    def __init__(self, runners: Sequence[Runner], bufs: Memory, vals: Sequence[int]) -> None:
        super().__init__(runners, bufs, vals)
        self.kernels = [runner.new_kernel() for runner in runners]  # type: ignore[attr-defined]
        self.device: CLDevice = runners[0].device  # type: ignore[attr-defined]
        self.held = [buf for each in bufs for buf in each]
        for place, buf in enumerate(self.held):
            self.set_buffer(place, buf)
        self.launches: list[tuple[Any, str, Size, Size]] = []

    def set_buffer(self, place: int, opaque: Any) -> None:
        launch, number = self.places[place]
        self.kernels[launch].set_arg(number, opaque)
        self.held[place] = opaque

    def set_values(self, sizes: Sequence[tuple[Size, Size]], vals: Sequence[int]) -> None:
        # leave out launches without blocks, because a Variable is 0
        given = zip(self.kernels, self.runners, sizes, strict=True)
        self.launches = [(kernel, runner.name, work_items(*size), size[1])
                         for kernel, runner, size in given if 0 not in size[0]]  # fmt: skip
        for (launch, number), value in zip(self.variables, vals, strict=True):
            self.kernels[launch].set_arg(number, np.int64(value))

    def __call__(self) -> None:
        with self.device.lock:
            for launch in self.launches:
                self.device.launch(*launch)
            self.device.queue.flush()


# ---- the device ---------------------------------------------------------------------------------


class CLDevice(Compiled):
    """A device of an OpenCL driver. DeviceUnavailable if there is none with this number."""

    survives_fork = False
    graph = CLGraph

    def __init__(self, device: str = "CL") -> None:
        number = int(device.partition(":")[2] or 0)
        if number >= len(found := all_devices()):
            names = ", ".join(f"CL:{n} is {d.name}" for n, d in enumerate(found))
            raise DeviceUnavailable(f"there is no OpenCL device number {number}: {names}")
        self.cl_device = found[number]
        if self.cl_device.platform.name == POCL and shutil.which("ld") is None:
            # PoCL would end the process at the first kernel
            raise DeviceUnavailable(
                "PoCL needs the linker `ld`, which is not on the PATH. On Debian and Ubuntu: "
                "sudo apt install binutils; on a Mac: xcode-select --install"
            )
        if UNKNOWN.search(self.cl_device.version):
            raise DeviceUnavailable(
                f"PoCL {self.cl_device.driver_version} is older than this processor, and compiles "
                "nothing for it. A newer one (conda install pocl, or your system's) may"
            )
        profiled = cl().command_queue_properties.PROFILING_ENABLE
        try:
            self.context = cl().Context([self.cl_device])
            self.queue = cl().CommandQueue(self.context, self.cl_device, profiled)
        except cl().Error as error:
            name = self.cl_device.name
            raise DeviceUnavailable(f"{name} cannot be opened: {error}") from error
        self.lock = threading.RLock()
        super().__init__(
            device,
            CLAllocator(self.context, self.queue),
            language(self.cl_device),
            CLCompiler(self.context, self.cl_device),
            functools.partial(CLRunner, self),
        )

    def launch(self, kernel: Any, name: str, total: Size, local: Size) -> Any:
        """Enqueues a kernel whose arguments are set; returns its event."""

        def attempt() -> Any:
            with explained(f"launching the kernel {name}", LOST):
                return cl().enqueue_nd_range_kernel(self.queue, kernel, total, local)

        return self.allocator.with_room(attempt)

    def synchronize(self) -> None:
        with explained("waiting for the device"):
            self.queue.finish()


def language(device: Any, has_blocks: bool | None = None) -> OpenCLLanguage:
    """The language of an OpenCL device, with its Target.

    has_blocks: whether work-items run in blocks, as on a GPU; None asks the device.
    """
    names = device.extensions.split()
    if has_blocks is None:
        has_blocks = bool(device.type & cl().device_type.GPU)
    # a processor reports its last-level cache; the L2 of a core is smaller
    cache = min(device.global_mem_cache_size or LEAST_CACHE, MOST_CACHE)
    target = replace(
        OpenCLLanguage.default_target, l2=cache, shared_bytes=device.local_mem_size,
        block_threads=device.max_work_group_size,
    )  # fmt: skip
    if not has_blocks:
        lanes = max(device.native_vector_width_float, 4)
        most = target.most_lanes
        if lanes > 8 and NO_AVX512.search(device.version):
            lanes = most = 4  # for any type, so at most 32 bytes
        target = replace(
            target, vector_bytes=4 * lanes, vector_registers=32 if lanes == 16 else 16,
            most_lanes=most, threads=device.max_compute_units, block_threads=0, grid=(), warp=0,
        )  # fmt: skip
    return OpenCLLanguage(target, "cl_khr_fp16" in names, "cl_khr_fp64" in names)
