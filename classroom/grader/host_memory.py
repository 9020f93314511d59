"""The PYTHON device where a submission brings its own: memory that only tinyframe fills and reads.

It stands in the place of tinyframe/runtime/host.py and python.py there (shut.py). A Tensor that is
made of a list begins in this memory and is copied to its device; one that names no device stays
here. There is nothing here that a device could be made of: it refuses whoever is not tinyframe
itself, and any Allocator, Compiler or Runner that is just doing its work.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from tinyframe.device import Allocator, Compiled, Compiler, Runner

LIBRARY = str(Path(__file__).parents[1])  # tinyframe
PASSED = (__file__, str(Path(LIBRARY, "device.py")))
SAID = (
    "{} belongs to a device that comes with tinyframe, and isn't there where this is graded. In "
    "this project the allocator, the compiler, the runner and the device have to be your own"
)


class HostMemory:
    """Bytes in this process."""

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray) -> None:
        self.array = array.reshape(-1).view(np.uint8)


class HostMemoryOnly(Allocator):
    def _alloc(self, size: int, options: Any) -> HostMemory:
        asked_by_tinyframe()
        return HostMemory(np.zeros(size, np.uint8))

    def copyin(self, dst: HostMemory, src: memoryview) -> None:
        asked_by_tinyframe()
        dst.array[: src.nbytes] = np.frombuffer(src, np.uint8)

    def copyout(self, dst: memoryview, src: HostMemory) -> None:
        asked_by_tinyframe()
        dst[:] = src.array[: dst.nbytes].data

    def as_array(self, opaque: HostMemory) -> np.ndarray:
        asked_by_tinyframe()
        return opaque.array


def asked_by_tinyframe() -> None:
    """Raises where this was asked for by something else, or on behalf of a part of a device."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename in PASSED and frame.f_back is not None:
        frame = frame.f_back
    if not frame.f_code.co_filename.startswith(LIBRARY):
        refuse()
    above: Any = frame
    while above is not None:
        code = above.f_code
        given = [above.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
        is_a_part = any(isinstance(each, (Allocator, Compiler, Runner)) for each in given)
        if is_a_part and code.co_filename not in PASSED:
            refuse()
        above = above.f_back


def compute_elsewhere(*given: Any) -> NoReturn:
    raise ImportError(
        "nothing but your own device computes where this is graded: a Tensor that names no device "
        "is on PYTHON there, and can only be copied, with .to('MY')"
    )


def refuse(*given: Any, **named: Any) -> NoReturn:
    raise ImportError(SAID.format("PYTHON's memory"))


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(SAID.format(f"{__name__}.{name}"))


class PythonDevice(Compiled):
    """It keeps what a Tensor is made of, and computes nothing."""

    def __init__(self, device: str = "PYTHON") -> None:
        super().__init__(device, HostMemoryOnly(), runner=compute_elsewhere)
