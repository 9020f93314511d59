"""Part 8b's device whose kernels are Python: as the notebook gives it, and mended."""

from __future__ import annotations

from array import array
from typing import Any

from classroom.python_text import PythonText
from tinyframe import dtypes
from tinyframe.device import Allocator
from tinyframe.uop import Ops


class Words(Allocator):
    def _alloc(self, size, options):
        return array("I", bytes((size + 3) // 4 * 4))

    def copyin(self, dst, src):
        memoryview(dst).cast("B")[: len(src)] = src

    def copyout(self, dst, src):
        words = len(dst) // 4
        dst[: words * 4] = memoryview(src).cast("B")[: words * 4]


class MendedWords(Words):
    def copyout(self, dst, src):
        dst[:] = memoryview(src).cast("B")[: len(dst)]


class Drawers(Allocator):
    """The same, mended by throwing it away."""

    def _alloc(self, size, options):
        return bytearray(size)

    def copyin(self, dst, src):
        dst[: len(src)] = src

    def copyout(self, dst, src):
        dst[:] = src[: len(dst)]


class Snake(PythonText):
    type_names = {
        dtypes.bool: "bool_", dtypes.char: "int8", dtypes.uchar: "uint8", dtypes.short: "int16",
        dtypes.ushort: "int16", dtypes.int: "int32", dtypes.uint: "uint32", dtypes.long: "int64",
        dtypes.ulong: "uint64", dtypes.float: "float32", dtypes.double: "float64",
    }  # fmt: skip
    code_for_op = {
        Ops.ADD: "({} + {})".format, Ops.MUL: "({} * {})".format, Ops.FDIV: "({} / {})".format,
        Ops.CDIV: "quotient({}, {})".format, Ops.CMOD: "({} % {})".format,
        Ops.CMPLT: "({} < {})".format, Ops.CMPNE: "({} != {})".format,
        Ops.AND: "({} & {})".format, Ops.OR: "({} | {})".format, Ops.XOR: "({} ^ {})".format,
        Ops.SHL: "({} << {})".format, Ops.SHR: "({} >> {})".format,
        Ops.WHERE: "({} and {} or {})".format,
    }  # fmt: skip

    def write(self, place, value, condition):
        return f"{place} = {value}"


RIGHT_ROWS = {
    Ops.CMOD: "({0} - quotient({0}, {1}) * {1})".format,
    Ops.WHERE: "({1} if {0} else {2})".format,
}


def snake(without=()):
    """Snake with all of its places mended."""
    table = {**Snake.code_for_op, **RIGHT_ROWS}
    members: dict[str, Any] = {
        "type_names": {**Snake.type_names, dtypes.ushort: "uint16"},
        "code_for_op": {op: row for op, row in table.items() if op not in without},
        "write": lambda self, place, value, condition: f"if {condition}: {place} = {value}",
    }
    return type("Mended", (Snake,), members)
