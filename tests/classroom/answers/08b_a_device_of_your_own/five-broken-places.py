# %% shared
from classroom.python_text import PythonText, function_of
from tinyframe import Tensor, dtypes
from tinyframe.uop import Ops
from array import array
from tinyframe.device import Allocator, Compiled, Compiler, Runner
from typing import Any, NamedTuple
class Snake(PythonText):
    type_names = {
        dtypes.bool: "bool_", dtypes.char: "int8", dtypes.uchar: "uint8", dtypes.short: "int16",
        dtypes.ushort: "int16", dtypes.int: "int32", dtypes.uint: "uint32", dtypes.long: "int64",
        dtypes.ulong: "uint64", dtypes.float: "float32", dtypes.double: "float64",
    }
    code_for_op = {
        Ops.ADD: "({} + {})".format, Ops.MUL: "({} * {})".format, Ops.FDIV: "({} / {})".format,
        Ops.CDIV: "quotient({}, {})".format, Ops.CMOD: "({} % {})".format,
        Ops.CMPLT: "({} < {})".format, Ops.CMPNE: "({} != {})".format,
        Ops.AND: "({} & {})".format, Ops.OR: "({} | {})".format, Ops.XOR: "({} ^ {})".format,
        Ops.SHL: "({} << {})".format, Ops.SHR: "({} >> {})".format,
        Ops.WHERE: "({} and {} or {})".format,
    }

    def write(self, place, value, condition):
        return f"{place} = {value}"

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

# %% wrong, each line
Snake  # says asks for the two classes
(MendedWords(), Snake())  # says asks for the two classes
(Words, snake())  # says 4 of 5 are mended. Still broken: something is lost

# %% wrong: says something else is wrong now
SHIFTS_BACK = snake(rows={**RIGHT_ROWS, Ops.SHL: "({} >> {})".format})
(MendedWords, SHIFTS_BACK)

# %% wrong: it reads a place that isn't there
class MendedWords(Words):
    def copyout(self, dst, src):
        dst[:] = src.tobytes()[: len(dst)]
class MendedSnake(Snake):
    type_names = Snake.type_names | {dtypes.ushort: "uint16"}
    code_for_op = Snake.code_for_op | {
        Ops.CMOD: "({0} - {1} * quotient({0}, {1}))".format,
        Ops.WHERE: "({1} if {0} else {2})".format,
    }
    def write(self, place, value, condition):
        return f"{place} = {value} if {condition} else {place}"

# %% right, each line
[MendedWords, snake()]

# %% right: the old trick for `and or`: a list is never false
class MendedWords(Words):
    def copyout(self, dst, src):
        dst[:] = src.tobytes()[: len(dst)]
class MendedSnake(Snake):
    type_names = Snake.type_names | {dtypes.ushort: "uint16"}
    code_for_op = Snake.code_for_op | {
        Ops.CMOD: "({0} - {1} * quotient({0}, {1}))".format,
        Ops.WHERE: "({0} and [{1}] or [{2}])[0]".format,
    }
    def write(self, place, value, condition):
        return f"if ({condition}): {super().write(place, value, condition)}"
