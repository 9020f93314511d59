"""IDX files, the format of MNIST: a header of dtype and sizes, then the elements.

    00 00 08 03    two zeros, the dtype (08: uint8), the number of axes
    00 00 27 10    10,000, and as many 4-byte sizes as there are axes, all big-endian
    00 00 00 1c    28
    00 00 00 1c    28
    …              the elements, in order

These are the images of MNIST's test set, 10,000 of 28 x 28 pixels.
"""

from __future__ import annotations

import gzip
import math
import os
import struct
import zlib
from pathlib import Path

import numpy as np

from tinyframe.nn.lazy_file import FileError

_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: str | os.PathLike) -> np.ndarray:
    """The array of an IDX file, plain or compressed with gzip. FileError if it is incomplete."""
    data = Path(path).read_bytes()
    try:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"{path} is no complete gzip file ({error}): it is cut off") from error
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _DTYPES:
        raise FileError(f"{path} is no IDX file: it begins with {data[:4].hex(' ')}")
    axes = data[3]
    start = 4 + 4 * axes
    if len(data) < start:
        raise FileError(f"{path} ends within its header of {start} bytes")
    shape = struct.unpack(f">{axes}I", data[4:start])
    dtype = np.dtype(_DTYPES[data[2]])
    needed = start + math.prod(shape) * dtype.itemsize
    if len(data) != needed:
        raise FileError(f"{path} has {len(data)} bytes, and an array of {shape} needs {needed}")
    array = np.frombuffer(data, dtype, offset=start).reshape(shape)
    return array.astype(dtype.newbyteorder("="))
