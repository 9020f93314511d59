"""Part 8b: what somebody might answer, and what they are told."""

from __future__ import annotations

from array import array
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from classroom.own_device import OurRunner
from classroom.python_text import PythonText, function_of
from tinyframe import Tensor, dtypes
from tinyframe.device import Allocator, Compiled, Compiler, Runner
from tinyframe.uop import Ops

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = {"8.6", "8.8", "8.11"}

# for each prediction what is right, and what somebody might think
GUESSES: dict[str, Any] = {"8.9": ("never", "always", "thousands", "millions")}


# ---- 8.6 -----------------------------------------------------------------------------------------


class Mine(Runner):
    def __init__(self, name, lib):
        super().__init__(name, lib)
        self.function = function_of(lib, name)


class Unwritten(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        """Run the kernel. With wait=True, the seconds that it took."""
        ...


class Deaf(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs)


class OneTuple(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(bufs)


class OneTupleOfValues(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs, vals)


class ValuesAsTuple(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs, *([vals] if vals else []))


class Backwards(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs[::-1], *vals)


class Timeless(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs, *vals)


class Twice(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs, *vals)
        start = perf_counter()
        self.function(*bufs, *vals)
        return perf_counter() - start if wait else None


class TooEarly(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        start = perf_counter()
        took = perf_counter() - start
        self.function(*bufs, *vals)
        return took


class Milliseconds(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        start = perf_counter()
        self.function(*bufs, *vals)
        return (perf_counter() - start) * 1000


class Negative(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        start = perf_counter()
        self.function(*bufs, *vals)
        return start - perf_counter()


class OnlyIfAsked(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        if wait:
            start = perf_counter()
            self.function(*bufs, *vals)
            return perf_counter() - start


class AlwaysSays(Mine):
    def __call__(self, *bufs, vals=(), **others):
        start = perf_counter()
        self.function(*(bufs + tuple(vals)))
        return np.float64(perf_counter() - start)


# ---- 8.7 -----------------------------------------------------------------------------------------


def by_arithmetic(x, y):
    low = (x < y).cast(dtypes.float)
    return y * low + x * (low * -1.0 + 1.0)


def the_other_way(x, y):
    return ((y < x) | (x != x)).where(x, y)


def in_two_steps(x, y):
    chosen = (x < y).where(y, x)
    return (y != y).where(y, chosen)


# ---- 8.8 -----------------------------------------------------------------------------------------


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


class TooMuch(Words):
    def copyout(self, dst, src):
        words = (len(dst) + 3) // 4
        dst[: words * 4] = memoryview(src).cast("B")[: words * 4]


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


ONLY_ROUNDS = snake(
    rows={**RIGHT_ROWS, Ops.CDIV: "({} // {})".format, Ops.CMOD: "({} % {})".format}
)
SHIFTS_BACK = snake(rows={**RIGHT_ROWS, Ops.SHL: "({} >> {})".format})
PARTLY = {**RIGHT_ROWS, Ops.WHERE: "({} and {} or {})".format}


WITH_NUMPY = snake(
    rows={Ops.CMOD: "fmod({}, {})".format, Ops.WHERE: "where({}, {}, {})".format}, guard=False
)


class TwoLines(WITH_NUMPY):
    def write(self, place, value, condition):
        return f"if {condition}:\n    {place} = {value}"


# ---- 8.10 ----------------------------------------------------------------------------------------


class Line(NamedTuple):
    launch: float
    each: float


def plain_line(sizes, seconds):
    each, launch = np.polyfit(sizes, seconds, 1)
    return launch, each


def weighted(sizes, seconds):
    each, launch = np.polyfit(sizes, seconds, 1, w=1 / np.array(seconds))
    return np.array([launch, each])


def ends(sizes, seconds):
    each = (seconds[-1] - seconds[0]) / (sizes[-1] - sizes[0])
    return Line(seconds[0] - each * sizes[0], each)


def first_time(sizes, seconds):
    return seconds[0], (seconds[-1] - seconds[-2]) / (sizes[-1] - sizes[-2])


def share_of_the_launch(sizes, seconds):
    launch, _ = ends(sizes, seconds)
    return launch, seconds[-1] / sizes[-1]


# ---- 8.11 ----------------------------------------------------------------------------------------


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


class Unmetered(Compiled):
    def __init__(self, device):
        super().__init__(device, Drawers(), snake()(), Compiler(), OurRunner)


class Stuck(Unmetered):
    def meter(self):
        return 7


class Clock(Unmetered):
    def meter(self):
        return perf_counter()


class Silent(Unmetered):
    def __init__(self, device):
        super().__init__(device)
        self.count = 0

    def meter(self):
        self.count += 1


class WrongByOne(Log):
    def run(self, runner, *bufs, **given):
        super().run(runner, *bufs, **given)
        memoryview(bufs[0]).cast("B")[3] ^= 1


class ForgetsCopies(Log):
    def __init__(self, device):
        super().__init__(device)
        self.allocator.copyin = lambda dst, src: None


class NoParts(Compiled):
    def __init__(self, device):
        super().__init__(device)

    def meter(self):
        return 0


# number of an exercise, a wrong answer, a word of what is said about it
WRONG: list[Any] = [
    ("8.6", OurRunner(name="k", lib=b"def k(): pass"), "asks for the class"),
    ("8.6", lambda *bufs: None, "asks for the class"),
    ("8.6", Deaf, "values of its Variables"),
    ("8.6", OneTuple, "all of them as one"),
    ("8.6", OneTupleOfValues, "nothing may follow its buffers"),
    ("8.6", ValuesAsTuple, "one by one: they're `vals`"),
    ("8.6", Backwards, "different order"),
    ("8.6", Timeless, "how many seconds it took"),
    ("8.6", Twice, "ran more than once"),
    ("8.6", TooEarly, "clock too early"),
    ("8.6", Milliseconds, "isn't in seconds"),
    ("8.6", Negative, "the later time from the earlier"),
    ("8.6", OnlyIfAsked, "Nothing was computed"),
    ("8.7", lambda x, y: x.maximum(y), "There's a maximum in your graph"),
    ("8.7", lambda x, y: Tensor.stack(x, y).max(0), "There's a maximum in your graph"),
    ("8.7", lambda x, y: (x < y).where(y, x), "here the second one is"),
    ("8.7", lambda x, y: ((x < y) | (x != x) | (y != y)).where(y, x), "here the first one is"),
    ("8.7", lambda x, y: (x < y).where(x, y), "smaller of the two"),
    ("8.7", by_arithmetic, "not for infinities"),
    ("8.7", lambda x, y: (x < y).where(y, x).sum(), "different shape"),
    ("8.7", lambda x, y: ((x + y) + ((x + y * -1) * (x + y * -1)).sqrt()) * 0.5, "op SQRT"),
    ("8.8", Snake, "asks for the two classes"),
    ("8.8", (MendedWords(), Snake()), "asks for the two classes"),
    ("8.8", (MendedWords, MendedWords), "asks for the two classes"),
    ("8.8", (MendedWords, Snake), "1 of 5 are mended"),
    ("8.8", (Words, snake()), "4 of 5 are mended. Still broken: something is lost"),
    ("8.8", (TooMuch, snake()), "Still broken: something is lost"),
    (
        "8.8",
        (MendedWords, snake(types=())),
        "4 of 5 are mended. Still broken: a comparison of unsigned numbers",
    ),
    (
        "8.8",
        (MendedWords, snake(types=(("ushort", "uint32"),))),
        "4 of 5 are mended. Still broken: a comparison of unsigned numbers",
    ),
    ("8.8", (MendedWords, snake(rows=PARTLY)), "a choice between two values"),
    ("8.8", (MendedWords, snake(guard=False)), "a condition should have stopped"),
    ("8.8", (MendedWords, snake(without=[Ops.WHERE])), "a choice between two values"),
    ("8.8", (MendedWords, SHIFTS_BACK), "something else is wrong now"),
    ("8.10", lambda sizes, seconds: ends(sizes, seconds)[::-1], "swapped"),
    ("8.10", first_time, "a thousand additions in it too"),
    ("8.10", share_of_the_launch, "a share of the launch"),
    ("8.10", plain_line, "misses the small ones"),
    ("8.10", lambda sizes, seconds: [1e6 * v for v in ends(sizes, seconds)], "in microseconds"),
    ("8.10", lambda sizes, seconds: ends(sizes, seconds)[1], "two numbers"),
    ("8.11", 3, "class of a device"),
    ("8.11", Unmetered, "no method `meter()`"),
    ("8.11", Stuck, "the same before and after"),
    ("8.11", Clock, "runs on while the device does nothing"),
    ("8.11", Silent, "Did you forget `return`"),
    ("8.11", WrongByOne, "computes something wrong"),
    ("8.11", ForgetsCopies, "doesn't come back the same"),
    ("8.11", Copies, "a division of integers"),
    ("8.11", NoParts, "can't be opened"),
    ("8.11", Words, "has to be a `Compiled`"),
    ("8.11", Log("METERED"), "class of a device"),
]

# number of an exercise, a right answer that is not the worked one
RIGHT: list[Any] = [
    ("8.6", AlwaysSays),
    ("8.6", OurRunner),
    ("8.7", the_other_way),
    ("8.7", in_two_steps),
    ("8.7", lambda x, y: (x < y).where(y, (y != y).where(y, x))),
    ("8.7", lambda x, y: ((x < y).logical_not() & (y == y)).where(x, y)),
    ("8.7", lambda x, y: ((x >= y) | (x != x)).where(x, y)),
    ("8.8", [MendedWords, snake()]),
    ("8.8", (snake(), MendedWords)),
    ("8.8", (Drawers, snake(without=[Ops.CMOD], rows={Ops.WHERE: RIGHT_ROWS[Ops.WHERE]}))),
    ("8.8", (MendedWords, ONLY_ROUNDS)),
    ("8.8", (MendedWords, TwoLines)),
    ("8.10", weighted),
    ("8.10", ends),
    ("8.10", lambda sizes, seconds: list(ends(sizes, seconds))),
    ("8.11", Log),
]
