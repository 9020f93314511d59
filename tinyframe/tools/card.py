"""The NVIDIA GPU that CUDA is: its name, what its clocks allow, and what our kernels reach of that.

NVIDIA H200 (sm_90, 139.8 GiB): copies at 4,250 GB/s, 87% of what its clocks allow; float32
products at 45.0 TFLOP/s, 67%
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tinyframe import Device, Tensor, TinyJit
from tinyframe.gpu.drivers.cuda import Context

# compute capability -> float32 multiply-adds of a multiprocessor in a cycle; 128 of others since
# 5.0 (CUDA C++ Programming Guide, "Arithmetic Instructions")
MULTIPLY_ADDS = {(6, 0): 64, (7, 0): 64, (7, 2): 64, (7, 5): 64, (8, 0): 64}
SIDE, BYTES = 4096, 1 << 30  # of the product that is measured, and of the copy, at most


@dataclass(frozen=True)
class Card:
    """memory: bytes. flops, bandwidth: float32 operations and bytes per second, by its clocks; 0
    where the driver doesn't tell."""

    name: str
    capability: tuple[int, int]
    memory: int
    flops: float
    bandwidth: float

    def __str__(self) -> str:
        version = "".join(map(str, self.capability))
        return f"{self.name} (sm_{version}, {self.memory / 2**30:.1f} GiB)"


def card(context: Context) -> Card:
    """What the driver tells about a GPU."""
    names = ("COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR", "MULTIPROCESSOR_COUNT",
             "CLOCK_RATE", "MEMORY_CLOCK_RATE", "GLOBAL_MEMORY_BUS_WIDTH")  # fmt: skip
    major, minor, processors, clock, memory_clock, bits = map(context.attribute, names)
    flops = 2e3 * clock * processors * MULTIPLY_ADDS.get((major, minor), 128)  # clocks are in kHz
    name = context("cuDeviceGetName", 256, context.gpu).split(b"\0")[0].decode()
    memory = int(context("cuDeviceTotalMem", context.gpu))
    # memory moves data twice in a cycle
    return Card(name, (major, minor), memory, flops, 2e3 * memory_clock * bits / 8)


def rate(step: Callable[[], object], wait: Callable[[], object], work: float) -> float:
    """How much work is done in a second, over launches that take 0.2 s or more together."""
    for _ in range(3):  # a TinyJit captures in the second call
        step()

    def clock() -> float:
        wait()
        return time.perf_counter()

    count, took = timeit.Timer(step, timer=clock).autorange()
    return work * count / took


def reached(device: str, nbytes: int = BYTES, side: int = SIDE) -> tuple[float, float]:
    """The bytes per second of a copy (x + 1) of so many bytes, and the operations per second of a
    float32 product of square matrices: what our kernels reach."""

    def measured(function: Callable[..., Tensor], work: float, *shapes: tuple[int, ...]) -> float:
        inputs = [Tensor.ones(*shape, device=device).contiguous().realize() for shape in shapes]
        step: Any = TinyJit(lambda *xs: function(*xs).realize())
        return rate(lambda: step(*inputs), Device[device].synchronize, work)

    copied = measured(lambda x: x + 1, 2.0 * nbytes, (nbytes // 4,))
    return copied, measured(lambda a, b: a @ b, 2.0 * side**3, *[(side, side)] * 2)


def described(card: Card, copied: float, multiplied: float) -> str:
    """All of it in words."""

    def share(found: float, most: float) -> str:
        return f", {found / most:.0%} of what its clocks allow" if most else ""

    copies = f"{copied * 1e-9:,.0f} GB/s{share(copied, card.bandwidth)}"
    products = f"{multiplied * 1e-12:.1f} TFLOP/s{share(multiplied, card.flops)}"
    return f"{card}: copies at {copies}; float32 products at {products}"
