"""Weights saved by PyTorch, read without PyTorch and without executing code in the file.

`torch.save` writes a zip archive: `data.pkl`, a pickle of the object in which every Tensor is a
call (`_rebuild_tensor_v2` of a storage's number, a shape and strides), and `data/0`, `data/1`, …,
the bytes of each storage. A pickle can call any function of any module, and modify any object that
it can reach. Here it can call only the few that `find_class` knows, and reaches no shared object: a
dtype, for example, is represented by its name.
"""

from __future__ import annotations

import math
import os
import pickle
import struct
import zipfile
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np

from tinyframe.dtype import DType, dtypes
from tinyframe.nn.lazy_file import FileError, OpenFile, lazy_tensor
from tinyframe.tensor.core import Tensor

_LOCAL_HEADER = 30  # before a zip entry's name; the last four are the lengths of name and extra


class _Storage(NamedTuple):
    """The position in the file of the elements of one or more Tensors."""

    start: int
    size: int  # elements
    dtype: DType


def torch_load(path: str | os.PathLike, device: str | None = None) -> Any:
    """The object in a file of `torch.save`: a state dict, or dicts and lists of Tensors.

    The bytes of a Tensor are read when it is first used. FileError if the file is not such an
    archive or is cut off, or if it holds anything but Tensors, numbers, strings and containers of
    these: a whole model can only be read with its own code.
    """
    file = OpenFile(path)
    try:
        with zipfile.ZipFile(path) as archive:
            found = [n for n in archive.namelist() if n.rpartition("/")[2] == "data.pkl"]
            if len(found) != 1:
                raise FileError(f"{file.name} is a zip archive, but not one that torch.save made")
            folder = found[0].removesuffix("data.pkl")
            order = f"{folder}byteorder"
            if order in archive.namelist() and archive.read(order) != b"little":
                raise FileError(f"{file.name} has big-endian numbers; only little-endian is read")
            with archive.open(found[0]) as stream:
                return _Unpickler(stream, archive, folder, file, device).load()
    except zipfile.BadZipFile as error:
        with open(path, "rb") as start:
            is_zip = start.read(2) == b"PK"
        reason = (
            "it is cut off" if is_zip
            else "PyTorch before 1.6 wrote others; load and save it again with a newer one"
        )  # fmt: skip
        raise FileError(f"{file.name} is no complete zip archive ({error}): {reason}") from error
    except (FileError, OSError):
        raise
    except Exception as error:  # a broken pickle raises nearly anything
        raise FileError(f"{file.name}: its pickle cannot be read ({error!r})") from error


class _Unpickler(pickle.Unpickler):
    """Builds Tensors, and refuses all names that are not in its table."""

    def __init__(
        self, stream: Any, archive: zipfile.ZipFile, folder: str, file: OpenFile, device: str | None
    ):
        super().__init__(stream, encoding="utf-8")
        self.archive, self.folder, self.file, self.device = archive, folder, file, device
        # Bound methods, not functions: a pickle could set attributes of functions permanently.
        self.known: dict[tuple[str, str], Any] = {
            ("torch._utils", "_rebuild_tensor_v2"): self._tensor,
            ("torch._utils", "_rebuild_tensor_v3"): self._typed_tensor,
            ("torch._utils", "_rebuild_parameter"): self._parameter,
            ("torch._utils", "_rebuild_parameter_with_state"): self._parameter,
            ("torch", "device"): self._device_name,
            **_NAMES,
        }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in self.known:
            return self.known[module, name]
        raise FileError(
            f"{self.file.name} wants to call {module}.{name}, which could do anything and is "
            "refused: only Tensors are loaded. Where it holds a whole model, load it with PyTorch "
            "and save model.state_dict()"
        )

    def persistent_load(self, reference: Any) -> _Storage:
        kind, name, key, _location, size = reference
        if kind != "storage":
            raise FileError(f"{self.file.name} refers to {kind!r}, which is not a storage")
        dtype = self._dtype(name)
        entry_name = f"{self.folder}data/{key}"
        try:
            entry = self.archive.getinfo(entry_name)
        except KeyError as error:
            raise FileError(
                f"{self.file.name} lacks {entry_name}, which its pickle names"
            ) from error
        if entry.compress_type != zipfile.ZIP_STORED:
            raise FileError(
                f"{self.file.name}: {entry_name} is compressed, which torch.save never does"
            )
        if entry.file_size < size * dtype.itemsize:
            raise FileError(
                f"{self.file.name}: storage {key} has {entry.file_size} bytes, and {size} elements "
                f"of {dtype} need {size * dtype.itemsize}"
            )
        # the bytes follow the entry's own header, its name and some padding
        header = self.file.read(entry.header_offset, _LOCAL_HEADER)
        if header[:4] != b"PK\x03\x04":
            raise FileError(f"{self.file.name}: no zip header where {entry.filename} begins")
        start = entry.header_offset + _LOCAL_HEADER + sum(struct.unpack("<HH", header[26:30]))
        return _Storage(start, size, dtype)

    def _dtype(self, name: Any) -> DType:
        if name not in _DTYPES:
            raise FileError(f"{self.file.name} has elements of {name}, which tinyframe lacks")
        return _DTYPES[name]

    def _typed_tensor(
        self, storage: _Storage, offset: int, shape: Any, stride: Any, _grad: Any, _hooks: Any,
        name: Any, *_more: Any,
    ) -> Tensor:  # fmt: skip
        """`_rebuild_tensor_v3`, for dtypes without a storage class: their storage is of bytes."""
        dtype = self._dtype(name)
        size = storage.size * storage.dtype.itemsize // dtype.itemsize
        return self._tensor(_Storage(storage.start, size, dtype), offset, shape, stride)

    def _tensor(
        self, storage: _Storage, offset: int, shape: Any, stride: Any, *_more: Any
    ) -> Tensor:
        """`_rebuild_tensor_v2`: elements of a storage, from `offset` on, at these strides."""
        sizes, steps = tuple(shape), tuple(stride)
        if any(type(n) is not int or n < 0 for n in (offset, *sizes, *steps)):
            raise FileError(f"{self.file.name}: a Tensor of shape {sizes} with strides {steps}")
        if 0 in sizes:
            return Tensor.empty(sizes, dtype=storage.dtype, device=self.device)
        # Along an axis with stride 0 the same elements repeat.
        stored = tuple(n if step else 1 for n, step in zip(sizes, steps, strict=True))
        last = offset + sum((n - 1) * step for n, step in zip(stored, steps, strict=True))
        if last >= storage.size or math.prod(stored) > storage.size:
            raise FileError(
                f"{self.file.name}: a Tensor of shape {sizes} with strides {steps} at {offset} "
                f"does not lie within its storage of {storage.size} elements"
            )
        file, start = self.file, storage.start + offset * storage.dtype.itemsize
        sizes_after = [math.prod(stored[axis + 1 :]) for axis in range(len(stored))]
        if any(
            n > 1 and step != after
            for n, step, after in zip(stored, steps, sizes_after, strict=True)
        ):
            file, start = self._in_order(storage, offset, stored, steps), 0
        tensor = lazy_tensor(file, start, stored, storage.dtype, self.device)
        return tensor if stored == sizes else tensor.expand(sizes)

    def _in_order(
        self, storage: _Storage, offset: int, sizes: tuple[int, ...], steps: tuple[int, ...]
    ) -> OpenFile:
        """Elements at any strides, read now and copied to consecutive memory by NumPy."""
        itemsize = storage.dtype.itemsize
        unit = np.dtype(f"V{itemsize}")
        raw = np.frombuffer(self.file.read(storage.start, storage.size * itemsize), unit)
        strides = tuple(step * itemsize for step in steps)
        view = np.lib.stride_tricks.as_strided(raw[offset:], sizes, strides, writeable=False)
        return OpenFile.of_bytes(np.ascontiguousarray(view).tobytes(), self.file.name)

    def _parameter(self, data: Tensor, *_more: Any) -> Tensor:
        """A Parameter is a Tensor; an optimizer decides whether it is trained."""
        return data

    def _device_name(self, kind: str, index: int | None = None) -> str:
        """`torch.device`: its name."""
        return kind if index is None else f"{kind}:{index}"


_STORAGES = {
    "Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16",
    "Long": "int64", "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8",
    "Bool": "bool",
}  # fmt: skip

_DTYPES: dict[str, DType] = {
    name: getattr(dtypes, name) for name in (*_STORAGES.values(), "uint64", "uint32", "uint16")
}

# (module, name) in a pickle: its meaning here
_NAMES: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch", "Size"): tuple,
    ("torch.storage", "UntypedStorage"): "uint8",
    **{("torch", f"{kind}Storage"): name for kind, name in _STORAGES.items()},
    **{("torch", name): name for name in _DTYPES},
}
