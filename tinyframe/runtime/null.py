"""The NULL device: compiles and counts kernels, but runs nothing.

    x = Tensor.empty(512, 512, device="NULL")
    (x @ x).relu().realize()
    GlobalCounters.kernel_count     # 1

It takes no memory, so a model of any size can be scheduled, and its kernels, operations and bytes
counted. `NULL` writes C for a processor with vectors of 4 floats, the same on every machine.
`NULL:METAL` writes source for a device that this machine lacks, with the renderer's default Target:
there is one for each row of LANGUAGES.

Reading any Tensor on it is a NoValuesError, even one that was made from a list and never changed,
since there is no memory that could hold the values.
"""

from __future__ import annotations

from typing import Any, NoReturn

from tinyframe.device import ONE, PLAIN_C, Allocator, Compiled, Compiler, Runner, Size, load

# what follows the colon -> the Renderer's class, imported on first use
LANGUAGES = {
    "CPU": PLAIN_C,
    "CL": "tinyframe.gpu.languages.opencl:OpenCLLanguage",
    "WEBGPU": "tinyframe.gpu.languages.wgsl:WGSLLanguage",
    "METAL": "tinyframe.gpu.languages.metal:MetalLanguage",
    "HIP": "tinyframe.gpu.languages.hip:HIPLanguage",
    "CUDA": "tinyframe.gpu.languages.cuda:CUDALanguage",
}


class NoValuesError(RuntimeError):
    """Values are read from a device that computes none."""


class NullAllocator(Allocator):
    """Allocates nothing, ignores what is copied in, and has nothing to copy out."""

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
    """Does nothing, in no time."""

    def __call__(
        self, *bufs: int, global_size: Size = ONE, local_size: Size = ONE, vals: Size = (),
        wait: bool = False,
    ) -> float | None:  # fmt: skip
        return 0.0 if wait else None


class NullDevice(Compiled):
    """`NULL`, `NULL:1` and so on for C, or `NULL:` and the name of a row of LANGUAGES."""

    variants = LANGUAGES.keys()
    times_kernels = False

    def __init__(self, device: str = "NULL") -> None:
        language = LANGUAGES.get(device.partition(":")[2], PLAIN_C)
        super().__init__(device, NullAllocator(device), load(language)(), Compiler(), NullRunner)
