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
import zipfile
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np

from tinyframe.device import Device
from tinyframe.dtype import DType, dtypes
from tinyframe.nn.lazy_file import FileError
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.creation import host_buffer


class _Storage(NamedTuple):
    """The elements of one or more Tensors, as so many bytes each."""

    elements: np.ndarray
    dtype: DType


def torch_load(path: str | os.PathLike, device: str | None = None) -> Any:
    """The object in a file of `torch.save`: a state dict, or dicts and lists of Tensors.

    All of it is read at once. FileError if the file is not such an archive or is cut off, or if it
    holds anything but Tensors, numbers, strings and containers of these: a whole model can only be
    read with its own code.
    """
    path = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as archive:
            found = [n for n in archive.namelist() if n.rpartition("/")[2] == "data.pkl"]
            if len(found) != 1:
                raise FileError(f"{path} is a zip archive, but not one that torch.save made")
            folder = found[0].removesuffix("data.pkl")
            order = f"{folder}byteorder"
            if order in archive.namelist() and archive.read(order) != b"little":
                raise FileError(f"{path} has big-endian numbers; only little-endian is read")
            with archive.open(found[0]) as stream:
                return _Unpickler(stream, archive, folder, path, device).load()
    except zipfile.BadZipFile as error:
        with open(path, "rb") as start:
            is_zip = start.read(2) == b"PK"
        reason = (
            "it is cut off" if is_zip
            else "PyTorch before 1.6 wrote others; load and save it again with a newer one"
        )  # fmt: skip
        raise FileError(f"{path} is no complete zip archive ({error}): {reason}") from error
    except (FileError, OSError):
        raise
    except Exception as error:  # a broken pickle raises nearly anything
        raise FileError(f"{path}: its pickle cannot be read ({error!r})") from error


class _Unpickler(pickle.Unpickler):
    """Builds Tensors, and refuses all names that are not in its table."""

    def __init__(
        self, stream: Any, archive: zipfile.ZipFile, folder: str, path: str, device: str | None
    ):
        super().__init__(stream, encoding="utf-8")
        self.archive, self.folder, self.path, self.device = archive, folder, path, device
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
            f"{self.path} wants to call {module}.{name}, which could do anything and is "
            "refused: only Tensors are loaded. Where it holds a whole model, load it with PyTorch "
            "and save model.state_dict()"
        )

    def persistent_load(self, reference: Any) -> _Storage:
        kind, name, key, _location, size = reference
        if kind != "storage":
            raise FileError(f"{self.path} refers to {kind!r}, which is not a storage")
        dtype = self._dtype(name)
        entry_name = f"{self.folder}data/{key}"
        try:
            data = self.archive.read(entry_name)
        except KeyError as error:
            raise FileError(f"{self.path} lacks {entry_name}, which its pickle names") from error
        if len(data) < size * dtype.itemsize:
            raise FileError(
                f"{self.path}: storage {key} has {len(data)} bytes, and {size} elements of {dtype} "
                f"need {size * dtype.itemsize}"
            )
        return _Storage(np.frombuffer(data, f"V{dtype.itemsize}", size), dtype)

    def _dtype(self, name: Any) -> DType:
        if name not in _DTYPES:
            raise FileError(f"{self.path} has elements of {name}, which tinyframe lacks")
        return _DTYPES[name]

    def _typed_tensor(
        self, storage: _Storage, offset: int, shape: Any, stride: Any, _grad: Any, _hooks: Any,
        name: Any, *_more: Any,
    ) -> Tensor:  # fmt: skip
        """`_rebuild_tensor_v3`, for dtypes without a storage class: their storage is of bytes."""
        dtype = self._dtype(name)
        data, size = storage.elements.tobytes(), storage.elements.nbytes // dtype.itemsize
        elements = np.frombuffer(data, f"V{dtype.itemsize}", size)
        return self._tensor(_Storage(elements, dtype), offset, shape, stride)

    def _tensor(
        self, storage: _Storage, offset: int, shape: Any, stride: Any, *_more: Any
    ) -> Tensor:
        """`_rebuild_tensor_v2`: elements of a storage, from `offset` on, at these strides."""
        sizes, steps = tuple(shape), tuple(stride)
        if any(type(n) is not int or n < 0 for n in (offset, *sizes, *steps)):
            raise FileError(f"{self.path}: a Tensor of shape {sizes} with strides {steps}")
        if 0 in sizes:
            return Tensor.empty(sizes, dtype=storage.dtype, device=self.device)
        # Along an axis with stride 0 the same elements repeat.
        stored = tuple(n if step else 1 for n, step in zip(sizes, steps, strict=True))
        last = offset + sum((n - 1) * step for n, step in zip(stored, steps, strict=True))
        if last >= len(storage.elements) or math.prod(stored) > len(storage.elements):
            raise FileError(
                f"{self.path}: a Tensor of shape {sizes} with strides {steps} at {offset} "
                f"does not lie within its storage of {len(storage.elements)} elements"
            )
        strides = tuple(step * storage.dtype.itemsize for step in steps)
        found = np.lib.stride_tricks.as_strided(
            storage.elements[offset:], stored, strides, writeable=False
        )
        uop = host_buffer(found, storage.dtype, stored, Device.named(self.device))
        return Tensor._of(uop).expand(sizes)

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
