"""Messages on a pipe: a JSON header, then raw arrays. Nothing is unpickled or evaluated.

    4 bytes     length of the header, big endian
    header      {"nonce": "…", "kind": "…", "body": …, "arrays": [["float32", [2, 3]], …]}
    arrays      their bytes, one after the other, row-major

What comes from a submission may be anything. It is read up to a limit and a deadline, and whatever
is not exactly of this form is `Malformed`. The body holds None, bools, ints below 2**63, finite
floats and strings as they are, and everything else as an object with one key:

    {"array": 0}   {"tuple": [...]}   {"dict": [[key, value], ...]}   {"float": "nan"}
    {"open": 0}    {"numpy": 0}    {"other": "generator"}
"""

from __future__ import annotations

import json
import math
import os
import select
import struct
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any, NoReturn

import numpy as np

MOST_HEADER = 1 << 20  # bytes
MOST_ARRAYS = 16 << 20  # bytes, of all arrays of one message
MOST_DIMENSIONS = 8
DEEPEST = 12  # levels of lists in lists
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)


class Malformed(Exception):
    """Bytes that are no message, or a message with something in it that is not allowed."""


class Late(Exception):
    """The other side did not read or answer in time."""


class Closed(Exception):
    """The other side is gone."""


@dataclass(frozen=True)
class Other:
    """A value that is not sent, of which only the type's name is."""

    kind: str

    def __repr__(self) -> str:
        return f"an object of type {self.kind}"


@dataclass(frozen=True, eq=False)
class NumpyArray:
    """An array that is no Tensor. As an argument it arrives as a NumPy array; as an answer it is
    told apart from the Tensor that most tasks ask for."""

    values: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __repr__(self) -> str:
        return f"a NumPy array of shape {self.shape}"


@dataclass(frozen=True)
class Message:
    nonce: str
    kind: str
    body: Any
    arrays: list[np.ndarray]


# ---- values --------------------------------------------------------------------------------------


def encode(value: Any, arrays: list[np.ndarray], depth: int = 0) -> Any:
    """`value` as JSON can hold it; arrays are appended to `arrays`. By exact type: a subclass could
    do anything when it is asked something."""
    kind = type(value)
    if depth > DEEPEST:
        return {"other": f"{kind.__name__}, more than {DEEPEST} levels deep"}
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return value if -(2**63) <= value < 2**63 else {"other": "int of more than 64 bits"}
    if kind is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if value is ...:
        return {"open": 0}
    if kind is list:
        return [encode(x, arrays, depth + 1) for x in value]
    if kind is tuple:
        return {"tuple": [encode(x, arrays, depth + 1) for x in value]}
    if kind is dict:
        pairs = [[encode(x, arrays, depth + 1) for x in pair] for pair in value.items()]
        return {"dict": pairs}
    if kind is NumpyArray:
        if value.values.dtype.name not in DTYPES:
            return {"other": "ndarray"}
        arrays.append(value.values)
        return {"numpy": len(arrays) - 1}
    if kind is np.ndarray and value.dtype.name in DTYPES:
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if issubclass(kind, np.generic) and kind.__module__ == "numpy" and kind.__name__ != "void":
        return encode(value.item(), arrays, depth + 1)
    return {"other": kind.__name__[:60]}


def decode(body: Any, arrays: list[np.ndarray], depth: int = 0) -> Any:
    """The value that `encode` was given. Malformed for anything that it does not write."""
    need(depth <= 2 * DEEPEST, "lists in lists, too deep")
    if body is None or isinstance(body, (bool, str)):
        return body
    if isinstance(body, int):
        return body if -(2**63) <= body < 2**63 else fail("an int of more than 64 bits")
    if isinstance(body, float):
        return body if math.isfinite(body) else fail("a float that JSON does not have")
    if isinstance(body, list):
        return [decode(x, arrays, depth + 1) for x in body]
    need(isinstance(body, dict) and len(body) == 1, "an object that is no value")
    ((tag, what),) = body.items()
    if tag == "open":
        return ...
    if tag == "float" and what in ("nan", "inf", "-inf"):
        return float(what)
    if tag == "other" and isinstance(what, str):
        return Other(what[:80])
    if tag in ("array", "numpy") and type(what) is int and 0 <= what < len(arrays):
        return arrays[what] if tag == "array" else NumpyArray(arrays[what])
    if tag == "tuple" and isinstance(what, list):
        return tuple(decode(x, arrays, depth + 1) for x in what)
    if tag == "dict" and isinstance(what, list):
        return dict(_pair(x, arrays, depth) for x in what)
    fail("an object that is no value")


def _pair(pair: Any, arrays: list[np.ndarray], depth: int) -> tuple[Any, Any]:
    need(isinstance(pair, list) and len(pair) == 2, "a dict that is none")
    key, value = (decode(x, arrays, depth + 1) for x in pair)
    return (key if isinstance(key, (str, int, bool, float)) else repr(key)[:80]), value


def fail(what: str) -> NoReturn:
    raise Malformed(what)


def need(condition: bool, otherwise: str) -> None:
    if not condition:
        fail(otherwise)


# ---- messages ------------------------------------------------------------------------------------


def pack(nonce: str, kind: str, body: Any, arrays: list[np.ndarray]) -> bytes:
    """A message as bytes; Malformed where it is over the limits."""
    header = {"nonce": nonce, "kind": kind, "body": body}
    header["arrays"] = [[a.dtype.name, list(a.shape)] for a in arrays]
    text = json.dumps(header, allow_nan=False).encode()
    data = b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)
    most = f"more than {MOST_HEADER >> 20} MB of values or {MOST_ARRAYS >> 20} MB of arrays"
    need(len(text) <= MOST_HEADER and len(data) <= MOST_ARRAYS, most)
    return struct.pack(">I", len(text)) + text + data


def unpack_header(text: bytes) -> tuple[str, str, Any, list[tuple[str, tuple[int, ...]]]]:
    """(nonce, kind, body, dtype and shape of each array)."""
    try:
        header = json.loads(text, parse_constant=fail)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"no JSON ({type(error).__name__})") from None
    keys = {"nonce", "kind", "body", "arrays"}
    need(isinstance(header, dict) and header.keys() == keys, "no header")
    nonce, kind, listed = header["nonce"], header["kind"], header["arrays"]
    types = [type(part) for part in (nonce, kind, listed)]
    need(types == [str, str, list], "no header")
    return nonce, kind, header["body"], [_array_form(entry) for entry in listed]


def _array_form(entry: Any) -> tuple[str, tuple[int, ...]]:
    is_sent = isinstance(entry, list) and len(entry) == 2 and entry[0] in DTYPES
    need(is_sent, "an array of a dtype that is not sent")
    dtype, shape = entry
    need(isinstance(shape, list) and len(shape) <= MOST_DIMENSIONS, "an array without a shape")
    can_be = all(type(size) is int and 0 <= size <= MOST_ARRAYS for size in shape)
    need(can_be, "an array of a shape that cannot be")
    count = math.prod(max(size, 1) for size in shape)  # empty ones have a size 0 too
    need(count <= MOST_ARRAYS, "arrays that are too large")
    return dtype, tuple(shape)


# ---- pipes ---------------------------------------------------------------------------------------


class Channel:
    """Two ends of pipes: messages are read from one and written to the other, by a deadline.

    check: called every `step` seconds, however much there is to be read or written; it may raise.
    """

    def __init__(
        self, read: int, write: int, check: Callable[[], None] = lambda: None, step: float = 60.0
    ) -> None:
        self.read_end, self.write_end = read, write
        self.check, self.step, self.checked = check, step, monotonic()
        os.set_blocking(write, False)

    def send(self, nonce: str, kind: str, body: Any, arrays: list[np.ndarray], until: float):
        """Raises Late, Closed, or Malformed where the message is too large."""
        data = memoryview(pack(nonce, kind, body, arrays))
        while data:
            self._wait(self.write_end, select.POLLOUT, until)
            try:
                data = data[os.write(self.write_end, data[: 1 << 16]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise Closed from None

    def receive(self, until: float) -> Message:
        """The next message. Raises Late, Closed, Malformed."""
        (length,) = struct.unpack(">I", self._exactly(4, until))
        need(length <= MOST_HEADER, "a header that is too long")
        nonce, kind, body, forms = unpack_header(self._exactly(length, until))
        sizes = [np.dtype(dtype).itemsize * math.prod(shape) for dtype, shape in forms]
        need(sum(sizes) <= MOST_ARRAYS, "arrays that are too large")
        arrays = []
        for (dtype, shape), size in zip(forms, sizes, strict=True):
            data = self._exactly(size, until)
            if dtype == "bool":  # a byte other than 0 and 1 would be a third kind of bool
                data = (np.frombuffer(data, np.uint8) != 0).tobytes()
            arrays.append(np.frombuffer(data, dtype).reshape(shape))
        return Message(nonce, kind, body, arrays)

    def _exactly(self, count: int, until: float) -> bytes:
        parts = []
        while count:
            self._wait(self.read_end, select.POLLIN, until)
            part = os.read(self.read_end, min(count, 1 << 16))
            if not part:
                raise Closed
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _wait(self, end: int, what: int, until: float) -> None:
        """Until this end is ready. Not by select, for which numbers from 1024 on are too much. The
        clock is looked at first: who sends a byte now and then must not keep it from being seen."""
        ends = select.poll()
        ends.register(end, what)
        while True:
            now = monotonic()
            if now >= until:
                raise Late
            if now >= self.checked + self.step:
                self.checked = now
                self.check()
            if ends.poll(1000 * max(0.0, min(until - now, self.step))):
                return

    def close(self) -> None:
        os.close(self.read_end)
        os.close(self.write_end)
