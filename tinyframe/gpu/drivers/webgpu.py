"""The WEBGPU device: any graphics driver, through wgpu.

`WEBGPU` is the first adapter: discrete GPUs come first, then integrated ones, then drivers that run
on the processor; `WEBGPU:1` is the next one. Commands run in the order in which they are submitted.
Launches return at once; reading memory waits.

https://www.w3.org/TR/webgpu/ and https://wgpu-py.readthedocs.io/
"""

from __future__ import annotations

import functools
import os
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any, cast

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
from tinyframe.gpu.languages.wgsl import FEATURES, WGSLLanguage
from tinyframe.renderer import Target
from tinyframe.settings import variable

BRINGS_WGPU = "pip install 'tinyframe[webgpu]' brings it"
BRINGS_DRIVER = (
    "it needs a driver for Vulkan, Metal or Direct3D 12. On Debian and Ubuntu, sudo apt install "
    "mesa-vulkan-drivers provides one that runs on the processor"
)
KINDS = ("DiscreteGPU", "IntegratedGPU", "Unknown", "CPU")  # of adapters, the fastest first
TIMED = "timestamp-query"
# vendor -> the total number of loop iterations after which the driver silently ends a thread
# (LP_MAX_TGSI_LOOP_ITERATIONS in Mesa's gallivm)
MOST_STEPS = {"llvmpipe": 65535}


@functools.cache
def wgpu() -> Any:
    """The module wgpu. DeviceUnavailable if it is not installed or does not load."""
    try:
        import wgpu
    except Exception as error:  # a broken library may raise anything
        raise DeviceUnavailable(f"wgpu cannot be imported ({error}): {BRINGS_WGPU}") from error
    return wgpu


@functools.cache
def all_adapters() -> list[Any]:
    """All adapters, the fastest kind first. DeviceUnavailable if there are none."""
    with quiet_without_a_desktop():
        found = [a for a in wgpu().gpu.enumerate_adapters_sync()
                 if a.info["backend_type"] != "OpenGL"]  # fmt: skip
    if not found:
        raise DeviceUnavailable(f"there is no WebGPU adapter: {BRINGS_DRIVER}")
    kinds = {kind: n for n, kind in enumerate(KINDS)}
    return sorted(found, key=lambda a: kinds.get(a.info["adapter_type"], kinds["Unknown"]))


@contextmanager
def quiet_without_a_desktop() -> Iterator[None]:
    """Mesa asks a Wayland desktop which adapter it uses. If XDG_RUNTIME_DIR does not say where to
    find one, as in a container, libwayland prints an error each time. If it names an empty folder,
    libwayland finds no desktop, and stays silent."""
    if os.path.isabs(os.environ.get("XDG_RUNTIME_DIR", "")):
        yield
    else:
        with tempfile.TemporaryDirectory(prefix="tinyframe-") as empty:
            with variable("XDG_RUNTIME_DIR", empty):
                yield


# ---- memory -------------------------------------------------------------------------------------


def _words(size: int) -> int:
    """A number of bytes, rounded up to whole words, the unit in which WebGPU copies and binds."""
    return -(-size // 4) * 4


class WebGPUAllocator(Allocator):
    """Storage buffers of one device."""

    def __init__(self, device: WebGPUDevice) -> None:
        self.device = device
        # The garbage collector may release a wgpu buffer before the Buffer around it returns it
        # here for reuse; this set keeps it alive.
        self.taken: set[Any] = set()

    def _alloc(self, size: int, options: Any = None) -> Any:
        most = self.device.most_bytes
        if size > most:
            raise MemoryError(f"a Buffer may have {most} bytes at most on this adapter")
        u = wgpu().BufferUsage
        usage = u.STORAGE | u.COPY_SRC | u.COPY_DST
        try:
            with self.device.loss_explained():
                memory = self.device.gpu.create_buffer(size=_words(size), usage=usage)
        except wgpu().GPUOutOfMemoryError as error:
            raise MemoryError(str(error)) from error
        self.taken.add(memory)
        return memory

    def _free(self, opaque: Any, options: Any) -> None:
        self.taken.remove(opaque)
        opaque.destroy()

    def copyin(self, dst: Any, src: memoryview) -> None:
        whole = src.nbytes // 4 * 4
        queue = self.device.gpu.queue
        with self.device.loss_explained():
            if whole:
                queue.write_buffer(dst, 0, src[:whole])
            if rest := bytes(src[whole:]):
                queue.write_buffer(dst, whole, rest.ljust(4, b"\0"))

    def copyout(self, dst: memoryview, src: Any) -> None:
        with self.device.loss_explained():
            data = self.device.gpu.queue.read_buffer(src, 0, _words(dst.nbytes))
        dst[:] = data[: dst.nbytes]


# ---- programs -----------------------------------------------------------------------------------


class WGSLCompiler(Compiler):
    """Checks the source. Drivers compile it when it is loaded, and cache that themselves."""

    def __init__(self, device: WebGPUDevice, adapter: Mapping[str, Any]) -> None:
        self.device = device
        self.driver = [wgpu().__version__, *map(str, adapter.values())]

    def compile(self, src: str) -> bytes:
        self.module(src)
        return src.encode()

    def identity(self) -> str:
        return "\n".join(self.driver)

    def module(self, src: str) -> Any:
        """The driver's shader module. CompileError if there is an error in the source."""
        try:
            with self.device.loss_explained():
                return self.device.gpu.create_shader_module(code=src)
        except wgpu().GPUError as error:
            raise CompileError(str(error), src) from error


class WebGPURunner(Runner):
    """A kernel as a pipeline."""

    def __init__(self, device: WebGPUDevice, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        self.device, source = device, lib.decode()
        compiler = cast(WGSLCompiler, device.compiler)
        stage = {"module": compiler.module(source), "entry_point": name}
        try:
            with device.loss_explained():
                self.pipeline = device.gpu.create_compute_pipeline(layout="auto", compute=stage)
        except wgpu().GPUError as error:  # such as too many buffers, or too much shared memory
            raise CompileError(str(error).strip(), source) from error
        self.has_uniforms = "var<uniform>" in source
        self.layout = self.pipeline.get_bind_group_layout(0)

    def __call__(
        self, *bufs: Any, global_size: Size = ONE, local_size: Size = ONE, vals: Size = (),
        wait: bool = False,
    ) -> float | None:  # fmt: skip
        device = self.device
        with device.loss_explained():
            group = self.bound([*bufs, *self.uniforms(vals)])
            timer = _Timer(device.gpu) if wait and device.is_timed else None
            encoder = device.gpu.create_command_encoder()
            run = encoder.begin_compute_pass(timestamp_writes=timer and timer.writes)
            self.dispatch(run, group, global_size)
            run.end()
            if timer:
                timer.resolve(encoder)
            begin = perf_counter()
            device.gpu.queue.submit([encoder.finish()])
            if not wait:
                return None
            device.synchronize()
            return timer.seconds() if timer else perf_counter() - begin

    def bound(self, buffers: Sequence[Any]) -> Any:
        """A bind group with these buffers as arguments."""
        entries = [{"binding": n, "resource": {"buffer": b}} for n, b in enumerate(buffers)]
        return self.device.gpu.create_bind_group(layout=self.layout, entries=entries)

    def dispatch(self, run: Any, group: Any, global_size: Size) -> None:
        """Records a launch in a compute pass."""
        run.set_pipeline(self.pipeline)
        run.set_bind_group(0, group)
        run.dispatch_workgroups(*global_size)

    def uniforms(self, vals: Sequence[int]) -> list[Any]:
        """The buffer of uniforms, in a list, or an empty list if the program uses none."""
        if not self.has_uniforms:
            return []
        u = wgpu().BufferUsage
        usage = u.UNIFORM | u.COPY_DST
        return [self.device.gpu.create_buffer_with_data(data=packed(vals), usage=usage)]


def packed(vals: Sequence[int]) -> bytes:
    """The uniforms of a program: 0, and the values of its Variables."""
    return struct.pack(f"{1 + len(vals)}i", 0, *vals)


class WebGPUGraph(Graph):
    """Launches in one command buffer. A command buffer can only be submitted once, so each call
    records it again; a bind group is reused while its memory stays the same.
    """

    def __init__(self, runners: Sequence[Runner], bufs: Memory, vals: Sequence[int]) -> None:
        super().__init__(runners, bufs, vals)
        self.kernels: list[WebGPURunner] = list(runners)  # type: ignore[arg-type]
        self.device = self.kernels[0].device
        self.counts = vals
        zeros = [(0,) * count for count in vals]
        self.bufs = [list(each) for each in bufs]
        self.uniforms = [r.uniforms(zero) for r, zero in zip(self.kernels, zeros, strict=True)]
        self.held = [packed(zero) for zero in zeros]  # their contents
        self.groups: list[Any] = [None] * len(self.kernels)
        self.sizes: list[Size] = []

    def set_buffer(self, place: int, opaque: Any) -> None:
        launch, number = self.places[place]
        if self.bufs[launch][number] is not opaque:
            self.bufs[launch][number], self.groups[launch] = opaque, None

    def set_values(self, sizes: Sequence[tuple[Size, Size]], vals: Sequence[int]) -> None:
        self.sizes = [global_size for global_size, _ in sizes]
        begin = 0
        for launch, count in enumerate(self.counts):
            data = packed(vals[begin : begin + count])
            begin += count
            if data != self.held[launch]:
                for buffer in self.uniforms[launch]:
                    self.device.gpu.queue.write_buffer(buffer, 0, data)
                self.held[launch] = data

    def __call__(self) -> None:
        gpu = self.device.gpu
        with self.device.loss_explained():
            encoder = gpu.create_command_encoder()
            run = encoder.begin_compute_pass()
            for launch, (runner, size) in enumerate(zip(self.kernels, self.sizes, strict=True)):
                if 0 in size:  # a Variable is 0
                    continue
                if self.groups[launch] is None:
                    self.groups[launch] = runner.bound([*self.bufs[launch], *self.uniforms[launch]])
                runner.dispatch(run, self.groups[launch], size)
            run.end()
            gpu.queue.submit([encoder.finish()])


class _Timer:
    """The times when a pass began and ended, by the device's clock."""

    def __init__(self, gpu: Any) -> None:
        u = wgpu().BufferUsage
        self.gpu = gpu
        self.marks = gpu.create_query_set(type="timestamp", count=2)
        self.ticks = gpu.create_buffer(size=16, usage=u.QUERY_RESOLVE | u.COPY_SRC)
        self.writes = {
            "query_set": self.marks,
            "beginning_of_pass_write_index": 0,
            "end_of_pass_write_index": 1,
        }

    def resolve(self, encoder: Any) -> None:
        encoder.resolve_query_set(self.marks, 0, 2, self.ticks, 0)

    def seconds(self) -> float:
        begin, end = struct.unpack("QQ", self.gpu.queue.read_buffer(self.ticks))
        from wgpu.backends.wgpu_native import lib  # not in wgpu's Python API yet

        tick = lib.wgpuQueueGetTimestampPeriod(self.gpu.queue._internal) * 1e-9
        return max(end - begin, 0) * tick


# ---- the device ---------------------------------------------------------------------------------


class WebGPUDevice(Compiled):
    """An adapter of wgpu. DeviceUnavailable if there is none with this number."""

    survives_fork = False
    graph = WebGPUGraph

    def __init__(self, device: str = "WEBGPU") -> None:
        number = int(device.partition(":")[2] or 0)
        if number >= len(found := all_adapters()):
            names = ", ".join(f"WEBGPU:{n} is {a.info['device']}" for n, a in enumerate(found))
            raise DeviceUnavailable(f"there is no WebGPU adapter number {number}: {names}")
        adapter = found[number]
        features = adapter.features & {*FEATURES, TIMED}
        try:
            self.gpu = adapter.request_device_sync(
                required_features=list(features), required_limits=dict(adapter.limits)
            )
        except RuntimeError as error:
            name = adapter.info["device"]
            raise DeviceUnavailable(f"{name} cannot be opened: {error}") from error
        self.is_timed = TIMED in features
        self.mark = self.gpu.create_buffer(size=4, usage=wgpu().BufferUsage.COPY_SRC)
        limits = self.gpu.limits
        self.most_bytes = min(limits["max-buffer-size"], limits["max-storage-buffer-binding-size"])
        super().__init__(
            device,
            WebGPUAllocator(self),
            WGSLLanguage(target(limits, adapter.info["vendor"]), frozenset(features)),
            WGSLCompiler(self, adapter.info),
            functools.partial(WebGPURunner, self),
        )

    def synchronize(self) -> None:
        with self.loss_explained():
            self.gpu.queue.read_buffer(self.mark)  # waits for everything submitted before

    @contextmanager
    def loss_explained(self) -> Iterator[None]:
        """Inside the block, explains the error if the driver has lost the device: a
        RuntimeError."""
        try:
            yield
        except (wgpu().GPUError, RuntimeError) as error:
            if "device is lost" not in str(error).lower():
                raise
            raise RuntimeError(
                f"{self.device} is lost, and so are the contents of its memory: the driver gave up "
                "on the adapter, for example because a kernel ran too long. Restart Python (in a "
                f"notebook, the kernel) to use it again. The driver's message: {str(error).strip()}"
            ) from error


def target(limits: Mapping[str, int], vendor: str) -> Target:
    """The Target of an adapter with these limits."""
    return replace(
        WGSLLanguage.default_target,
        block_threads=limits["max-compute-invocations-per-workgroup"],
        shared_bytes=limits["max-compute-workgroup-storage-size"],
        grid=(limits["max-compute-workgroups-per-dimension"],) * 3,
        most_buffers=limits["max-storage-buffers-per-shader-stage"],
        most_steps=MOST_STEPS.get(vendor, 0),
    )
