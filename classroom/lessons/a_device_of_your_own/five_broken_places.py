"""Five broken places

Hint: Take the first row that's wrong and read its story. Is it about copies, about one dtype, or
about one op? Mend that, run the table again, and go on with the next row.
Hint: What happens to the last bytes of a Buffer whose size isn't a multiple of 4? Which words
does a ushort get? What is `c and a or b` if `a` is 0? Does `%` in Python round as `quotient`
does? And who looks at `condition`?
Because: Memory comes in bytes, not only in words. A ushort has no sign. `c and a or b` gives `b`
where `a` is 0. Python's `%` goes with a quotient that's rounded down, and the row beside it
rounds towards 0, so either of the two has to give. And a store with a condition is an `if`.
"""

import inspect
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from classroom.conformed import conformance
from classroom.exercise import Open, Wrong, wrong_if
from classroom.lessons.a_device_of_your_own.shared import PLACES, _broken, _kind, _sentence
from classroom.own_device import OurRunner, registered
from classroom.python_text import PythonText
from tinyframe.device import Allocator, Compiled, Compiler

SECONDS = 60.0


EXAMINED = "EXAMINED"


class _Memory(Allocator):
    """Memory as it should be, for a language that is examined by itself."""

    def _alloc(self, size: int, options: Any) -> array[int]:
        return array("B", bytes(size))

    def copyin(self, dst: Any, src: memoryview) -> None:
        memoryview(dst)[: len(src)] = src

    def copyout(self, dst: memoryview, src: Any) -> None:
        dst[:] = memoryview(src)[: len(dst)]


@contextmanager
def _device(memory: Any, language: Any) -> Iterator[str]:
    def opener(name: str) -> Compiled:
        return Compiled(name, memory(), language(), Compiler(), OurRunner)

    with registered(opener, EXAMINED):
        yield EXAMINED


def check(answer) -> str:
    """answer: the mended memory and the mended language, both classes."""
    memory, language = _two_classes(answer)
    with _device(memory, PythonText) as name:
        marks = dict(conformance(name, ["memory"]).rows)
    with _device(_Memory, language) as name:
        marks |= conformance(name, [row for _, row, _ in PLACES[1:]]).rows
    broken = _broken(marks)
    if len(broken) == len(PLACES):
        raise Open("All five places are still broken. Begin with the first row that's wrong.")
    if broken:
        number = len(PLACES) - len(broken)
        raise Wrong(f"{number} of 5 are mended. Still broken: "
                    f"{'; '.join(place for place, _ in broken)}.", more=tuple(broken))  # fmt: skip
    with _device(memory, language) as name:
        table = conformance(name)
    if table.wrong:
        row = table.wrong[0]
        text = "The five places are mended, but something else is wrong now."
        raise Wrong(text, row, more=(("it says", _sentence(str(table.story(row)))),))
    return f"All {len(table.rows)} rows are right, from the memory to the last condition."


def _two_classes(answer) -> tuple[Any, Any]:
    text = "This exercise asks for the two classes: `(MendedWords, MendedSnake)`."
    wrong_if(not isinstance(answer, (tuple, list)) or len(answer) != 2, text, got=_kind(answer))
    found: dict[type, Any] = {}
    for part in answer:
        for kind in (Allocator, PythonText):
            if inspect.isclass(part) and issubclass(part, kind):
                found[kind] = part
    if len(found) != 2:
        raise Wrong(text, got=", ".join(map(_kind, answer)))
    return found[Allocator], found[PythonText]

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
