"""Memory of this process, for devices whose kernels run in it: CPU and PYTHON."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from tinyframe.device import Allocator, human_bytes

ALIGNMENT = 64  # a cache line, and the widest vector register

# smaller requests are not checked against the available memory
_LARGE = 256 << 20


class HostMemory:
    """Bytes in this process: `array` (uint8) and their `address`."""

    __slots__ = ("array", "address")

    def __init__(self, array: np.ndarray) -> None:
        """The bytes of any contiguous array, shared with it."""
        if not array.flags.c_contiguous:
            raise ValueError("only a contiguous array can be a device's memory; copy it first")
        self.array = array.reshape(-1).view(np.uint8)
        self.address: int = self.array.__array_interface__["data"][0]


class HostAllocator(Allocator):
    """Memory from NumPy, which requests huge pages where they help; aligned to 64 bytes."""

    def _alloc(self, size: int, options: Any = None) -> HostMemory:
        # Linux grants memory that it does not have, and kills the process that touches it.
        if size >= _LARGE and (free := _available_bytes()) is not None and size > free:
            raise MemoryError(f"only {human_bytes(free)} are available")
        raw = np.empty(size + ALIGNMENT, np.uint8)
        start = -raw.__array_interface__["data"][0] % ALIGNMENT
        return HostMemory(raw[start : start + size])

    def copyin(self, dst: HostMemory, src: memoryview) -> None:
        dst.array[: src.nbytes] = np.frombuffer(src, np.uint8)

    def copyout(self, dst: memoryview, src: HostMemory) -> None:
        np.frombuffer(dst, np.uint8)[:] = src.array[: dst.nbytes]

    def as_array(self, opaque: HostMemory) -> np.ndarray:
        return opaque.array


def _available_bytes() -> int | None:
    """The memory available without swapping; None if unknown."""
    if sys.platform == "linux":
        try:
            with open("/proc/meminfo", encoding="ascii") as table:
                for line in table:
                    if line.startswith("MemAvailable:"):
                        return int(line.split()[1]) * 1024
        except OSError:
            pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None
