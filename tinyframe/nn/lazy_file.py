"""Tensors whose values are read from a file when they are needed.

Such a Tensor is a host BUFFER with a Buffer that knows a position in a file, and a COPY to the
device. Opening a file of many gigabytes takes no memory, and loading one Tensor reads only its
bytes, directly into the memory of the device if Python can access that.
"""

from __future__ import annotations

import math
import os
import stat

from tinyframe.device import Buffer, Device, set_buffer
from tinyframe.dtype import DType
from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import UOp


class FileError(ValueError, RuntimeError):
    """A file is malformed or cut off."""


class OpenFile:
    """A file that is open for as long as this object lives.

    It stays the same file even if another one takes its name.
    """

    def __init__(self, path: str | os.PathLike):
        self.name = os.fspath(path)
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        status = os.fstat(self._descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(f"{self.name} is a folder, not a file")
        self.size = status.st_size

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)

    def read(self, start: int, size: int) -> bytes:
        """`size` bytes from `start` on. FileError if the file ends before."""
        target = bytearray(size)
        self.read_into(memoryview(target), start)
        return bytes(target)

    def read_into(self, target: memoryview, start: int) -> None:
        """Fills `target` with the bytes from `start` on. FileError if the file ends before."""
        done = 0
        while done < len(target):  # one read gives at most 2 GB
            got = os.preadv(self._descriptor, [target[done:]], start + done)
            if got == 0:
                raise FileError(
                    f"{self.name} ends at byte {start + done}, where {start + len(target)} are "
                    "needed: it is cut off, or was shortened while it was open"
                )
            done += got


class FileBuffer(Buffer):
    """A host Buffer whose bytes stay in a file until they are first needed."""

    def __init__(self, file: OpenFile, start: int, size: int, dtype: DType):
        super().__init__("PYTHON", size, dtype)
        self._file, self._start = file, start

    def ensure_allocated(self) -> Buffer:
        if not self.is_allocated():
            data = self._file.read(self._start, self.nbytes)
            super().ensure_allocated()
            self.copyin(data)
        return self

    def copyout(self, dst: memoryview | bytearray) -> memoryview | bytearray:
        if self.is_allocated() or self.nbytes == 0:
            return super().copyout(dst)
        target = self._checked(dst, "a place for the bytes of")
        self._file.read_into(target, self._start)
        return dst


def lazy_tensor(
    file: OpenFile, start: int, shape: tuple[int, ...], dtype: DType, device: str | None
) -> Tensor:
    """A Tensor of consecutive values in a file, from byte `start` on."""
    name = Device.canonicalize(device)
    size = math.prod(shape)
    uop = UOp.new_buffer("PYTHON", size, dtype)
    set_buffer(uop, FileBuffer(file, start, size, dtype))
    placed = uop if name == "PYTHON" else uop.copy_to_device(name)
    return Tensor._of(placed.reshape(shape))
