"""The NULL device: kernels are compiled and counted, and nothing runs.

    x = Tensor.empty(512, 512, device="NULL")
    (x @ x).relu().realize()
    GlobalCounters.kernel_count     # 1

It takes no memory, so a model of any size can be scheduled, and its kernels, operations and bytes
be counted. `NULL` writes C for a processor with vectors of 4 floats, the same on every machine.
`NULL:METAL` writes what a device would be given that is not there: one row of LANGUAGES each, with
the Target that its renderer has by default.

Nothing can be read from it: NoValuesError. That goes for all Tensors there, also for one that was
made from a list and never changed, since memory that is not there keeps nothing.
"""

from __future__ import annotations

from typing import Any, NoReturn

from tinyframe.device import ONE, PLAIN_C, Allocator, Compiled, Compiler, Runner, Size, load

# what stands after the colon -> the Renderer's class, imported when first asked for
LANGUAGES = {
    "CPU": PLAIN_C,
    "CL": "tinyframe.gpu.languages.opencl:OpenCLLanguage",
    "WEBGPU": "tinyframe.gpu.languages.wgsl:WGSLLanguage",
    "METAL": "tinyframe.gpu.languages.metal:MetalLanguage",
    "HIP": "tinyframe.gpu.languages.hip:HIPLanguage",
    "CUDA": "tinyframe.gpu.languages.cuda:CUDALanguage",
}


class NoValuesError(RuntimeError):
    """Values are asked for on a device that computes none."""


class NullAllocator(Allocator):
    """Takes no memory, forgets what is copied in, and has nothing to copy out."""

    keep_bytes = 0

    def __init__(self, device: str) -> None:
        self.device = device

    def _alloc(self, size: int, options: Any = None) -> int:
        return size

    def copyin(self, dst: int, src: memoryview) -> None:
        pass

    def copyout(self, dst: memoryview, src: int) -> NoReturn:
        raise NoValuesError(
            f"the NULL device has no values: {self.device} compiles kernels and counts them, but "
            "runs none. To get numbers, make the Tensors on a device that computes, such as "
            'device="CPU"'
        )


class NullRunner(Runner):
    """Takes no time, and does nothing."""

    def __call__(
        self, *bufs: int, global_size: Size = ONE, local_size: Size = ONE, vals: Size = (),
        wait: bool = False,
    ) -> float | None:  # fmt: skip
        return 0.0 if wait else None


class NullDevice(Compiled):
    """`NULL`, `NULL:1` and so on in C, or `NULL:` and a row of LANGUAGES."""

    variants = LANGUAGES.keys()
    times_kernels = False

    def __init__(self, device: str = "NULL") -> None:
        language = LANGUAGES.get(device.partition(":")[2], PLAIN_C)
        renderer = load(language)()
        super().__init__(device, NullAllocator(device), renderer, Compiler(), NullRunner)
