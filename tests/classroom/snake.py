"""Part 8b's device whose kernels are Python: as the notebook gives it, and mended."""

from __future__ import annotations

from array import array
from functools import partial
from typing import Any

from classroom.own_device import OurRunner
from classroom.python_text import PythonText, function_of
from tinyframe import dtypes
from tinyframe.device import Allocator, Compiled, Compiler, Runner
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


def snake(types=(("ushort", "uint16"),), rows=None, guard=True, without=(), base=Snake):
    """Snake with some places mended."""
    names = {**base.type_names, **{getattr(dtypes, name): word for name, word in types}}
    table = {**base.code_for_op, **(RIGHT_ROWS if rows is None else rows)}
    members: dict[str, Any] = {
        "type_names": names,
        "code_for_op": {op: row for op, row in table.items() if op not in without},
    }
    if guard:
        members["write"] = lambda self, place, value, condition: (
            f"if {condition}: {place} = {value}"
        )
    return type("Mended", (base,), members)


class Mine(Runner):
    def __init__(self, name, lib):
        super().__init__(name, lib)
        self.function = function_of(lib, name)


class Unwritten(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        """Run the kernel. With wait=True, the seconds that it took."""
        ...


class Log(Compiled):
    """Which kernels ran, in which order."""

    def __init__(self, device):
        self.names = []
        super().__init__(device, Drawers(), snake()(), Compiler(), self.load)

    def load(self, name, lib):
        return partial(self.run, OurRunner(name, lib))

    def run(self, runner, *bufs, **given):
        self.names.append(runner.name)
        return runner(*bufs, **given)

    def meter(self):
        return self.names
