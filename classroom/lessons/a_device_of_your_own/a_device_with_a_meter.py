"""A device with a meter

Hint: Everything passes through one of the four parts. Which of them sees what you want to know
about: copies, texts, launches, or single operations?
Hint: To count in the Allocator or the Runner, keep a list or a number in the device and let the
part add to it. To count operations, let a row of the table write a call, `Ops.MUL: "times({},
{})".format`, and give `function_of` your own function: `function_of(lib, name, times=…)`.
Because: Ours counts multiplications, one by one, while they happen: a row of its language calls a
function of the device. No device of tinyframe can tell you that number.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.ask import Open, Wrong, describe, does_nothing, wrong_if
from classroom.conformed import conformance
from classroom.lessons.a_device_of_your_own.shared import PLACES, _broken, _kind
from classroom.own_device import reading, registered
from tinyframe import Tensor
from tinyframe.device import Compiled

SECONDS = 30.0


METERED = "METERED"


WORK: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "an addition": lambda x, y: x + y,
    "a multiplication": lambda x, y: x * y,
    "a matrix product": lambda x, y: x.reshape(1, 9) @ y.reshape(9, 1),
}


def check(answer) -> str:
    """answer: a device that computes, and whose meter() shows something about what it did."""
    if not callable(answer):
        raise Wrong("This exercise asks for the class of a device.", got=_kind(answer))
    if inspect.isclass(answer):
        own = vars(answer).get("__init__")
        if inspect.isfunction(own) and does_nothing(own):
            raise Open
    try:
        opened = answer(METERED)
    except TypeError as error:
        if "Compiled(device, " not in str(error) and "positional argument" not in str(error):
            raise
        raise Wrong(f"The device can't be opened. {error}") from None
    if not isinstance(opened, Compiled):
        raise Wrong("A device has to be a `Compiled`.", got=_kind(opened))
    meter: Any = getattr(opened, "meter", None)
    wrong_if(not callable(meter), "Your device has no method `meter()`.")
    if does_nothing(meter) and meter() in (None, ...):
        raise Open
    with registered(answer, METERED) as device:
        noticed = _noticed(device)
        broken = _broken(conformance(METERED, [row for _, row, _ in PLACES]).rows)
    if broken:
        text = "Your device has a meter, but doesn't compute correctly. 8.8 is about these places."
        raise Wrong(text, more=tuple(broken))
    if not noticed:
        raise Wrong("It computes right, but the meter shows the same before and after.",
                    f"{', '.join(['a copy', *WORK])}", got=describe(reading(device)))  # fmt: skip
    return f"It computes right, and its meter noticed {', '.join(noticed)}."


def _noticed(device: Any) -> list[str]:
    """What made the meter show something else."""
    noticed = []
    before = _shown(device)
    if _shown(device) != before:
        raise Wrong("Your meter runs on while the device does nothing.", "read twice in a row")
    numbers = [np.random.default_rng().integers(1, 9, 9).astype(np.float32) for _ in range(2)]
    x, y = (Tensor(values, device=METERED).realize() for values in numbers)
    for values, there in zip(numbers, (x, y), strict=True):
        if not np.array_equal(there.numpy(), values):
            raise Wrong("What's copied to your device doesn't come back the same.", "9 floats")
    if _shown(device) != before:
        noticed.append("a copy")
    for what, function in WORK.items():
        before = _shown(device)
        got = function(x, y).realize()
        changed = _shown(device) != before
        wanted = function(*(Tensor(values, device="CPU") for values in numbers)).numpy()
        if not np.allclose(got.numpy(), wanted, rtol=1e-5):
            raise Wrong("Your device has a meter, and computes something wrong.", what)
        noticed += [what] * changed
    return noticed


def _shown(device: Any) -> str:
    value = reading(device)
    wrong_if(value is None or value is ..., "`meter()` returns nothing. Did you forget `return`?")
    return repr(value)

# %% shared
from typing import Any, NamedTuple
from classroom.own_device import OurRunner
from classroom.python_text import PythonText, function_of
from tinyframe import Tensor, dtypes
from tinyframe.device import Allocator, Compiled, Compiler, Runner
from tinyframe.uop import Ops
from functools import partial
from array import array
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

class Unmetered(Compiled):
    def __init__(self, device):
        super().__init__(device, Drawers(), snake()(), Compiler(), OurRunner)

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

class Words(Allocator):
    def _alloc(self, size, options):
        return array("I", bytes((size + 3) // 4 * 4))

    def copyin(self, dst, src):
        memoryview(dst).cast("B")[: len(src)] = src

    def copyout(self, dst, src):
        words = len(dst) // 4
        dst[: words * 4] = memoryview(src).cast("B")[: words * 4]

# %% wrong, each line
3  # says class of a device
Unmetered  # says no method `meter()`
Words  # says has to be a `Compiled`

# %% wrong: says the same before and after
class Stuck(Unmetered):
    def meter(self):
        return 7
Stuck

# %% wrong: says runs on while the device does nothing
from time import perf_counter
class Clock(Unmetered):
    def meter(self):
        return perf_counter()
Clock

# %% wrong: says Did you forget `return`
class Silent(Unmetered):
    def __init__(self, device):
        super().__init__(device)
        self.count = 0

    def meter(self):
        self.count += 1
Silent

# %% wrong: says computes something wrong
class WrongByOne(Log):
    def run(self, runner, *bufs, **given):
        super().run(runner, *bufs, **given)
        memoryview(bufs[0]).cast("B")[3] ^= 1
WrongByOne

# %% wrong: says doesn't come back the same
class ForgetsCopies(Log):
    def __init__(self, device):
        super().__init__(device)
        self.allocator.copyin = lambda dst, src: None
ForgetsCopies

# %% wrong: says a division of integers
class Copies(Compiled):
    """Bytes that were copied in; the memory and the language are as broken as they were."""

    def __init__(self, device):
        class Counting(Words):
            copied = 0

            def copyin(self, dst, src):
                Counting.copied += len(src)
                super().copyin(dst, src)

        self.counting = Counting
        super().__init__(device, Counting(), Snake(), Compiler(), OurRunner)

    def meter(self):
        return f"{self.counting.copied} bytes"
Copies

# %% wrong: says can't be opened
class NoParts(Compiled):
    def __init__(self, device):
        super().__init__(device)

    def meter(self):
        return 0
NoParts

# %% right, each line
Log
