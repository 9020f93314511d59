"""Arrays exchanged with other libraries, without importing them.

DLPack is a struct that array libraries agree on: an address, a shape, strides and a dtype, and a
function to call when the memory is no longer needed. It is passed around in a PyCapsule.

    Tensor(torch.ones(3))          the constructor takes objects with __dlpack__ or __array__
    torch.from_dlpack(t)           calls t.__dlpack__()

Both directions copy. A later `assign` may write to the memory behind a Tensor, that memory is
reused once the Tensor is gone, and other libraries may write to theirs. So no memory ever has two
owners.

NumPy reads and writes capsules, but has no bfloat16. For the transfer such a capsule is relabelled
as uint16: `relabel` changes its two bytes of dtype.
"""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np

from tinyframe.dtype import DType, dtypes

CPU = (1, 0)  # DLPack's type and number of the device "host memory"
# (code, bits) of dtypes; the code is 1 for unsigned ints, 2 for floats, 4 for bfloats
UINT16, BFLOAT16 = (1, 16), (4, 16)


class _Array(ctypes.Structure):
    """The first fields of DLTensor, with which the struct in a "dltensor" capsule begins."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
    ]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def relabel(capsule: Any, old: tuple[int, int], new: tuple[int, int]) -> bool:
    """Replaces the dtype `old` of a capsule by `new`, of the same size; whether it was `old`."""
    array = _Array.from_address(_pointer_of(capsule, b"dltensor"))
    if (array.code, array.bits) != old:
        return False
    array.code, array.bits = new
    return True


def exported(array: np.ndarray, dtype: DType) -> Any:
    """A capsule that keeps `array` alive; for bfloat16 the array is of uint16."""
    capsule = array.__dlpack__()
    if dtype is dtypes.bfloat16:
        relabel(capsule, UINT16, BFLOAT16)
    return capsule


def imported(data: Any) -> tuple[np.ndarray, DType | None] | None:
    """Another library's array as a NumPy array, and its dtype if NumPy lacks it; None if it is not
    an array. Tries DLPack, then `__array__`, then the buffer protocol."""
    if hasattr(data, "__dlpack__"):
        capsule = data.__dlpack__()
        is_bfloat16 = relabel(capsule, BFLOAT16, UINT16)
        # np.from_dlpack takes an object with these methods; newer arguments are ignored
        held: Any = SimpleNamespace(
            __dlpack__=lambda **options: capsule, __dlpack_device__=data.__dlpack_device__
        )
        return np.from_dlpack(held), dtypes.bfloat16 if is_bfloat16 else None
    if hasattr(data, "__array__"):
        return np.asarray(data), None
    try:
        return np.asarray(memoryview(data)), None
    except TypeError:
        return None
