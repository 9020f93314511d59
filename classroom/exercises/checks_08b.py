"""Part 8b, a device of one's own: the exercises, and what an answer has to do."""

from __future__ import annotations

import inspect
import itertools
import random
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from classroom.ask import call, describe, does_nothing, predicts
from classroom.conformed import Marks, conformance
from classroom.exercise import Exercise, Open, Wrong
from classroom.far import addition_pays_from
from classroom.own_device import OurRunner, ops_in, reading, registered
from classroom.python_text import PythonText
from tinyframe import Tensor, dtypes
from tinyframe.device import ONE, Allocator, Compiled, Compiler, Runner
from tinyframe.dtype import DType
from tinyframe.uop.node import Ops


def _kind(value: Any) -> str:
    """A class's name, or what an object is one of; no address, which would never be the same."""
    if inspect.isclass(value):
        return f"the class {value.__name__}"
    return f"an object of the class {type(value).__name__}"


# ---- a Runner ------------------------------------------------------------------------------------

PLUS = b"""def plus(data0, data1):
    data0 = frombuffer(data0, int32, 3)
    data1 = frombuffer(data1, int32, 3)
    for ridx0 in range(3):
        data0[ridx0] = data0[ridx0] + data1[ridx0]
"""
FIRST = b"""def first(data0, data1, var_n):
    data0 = frombuffer(data0, int32, 3)
    data1 = frombuffer(data1, int32, 3)
    for ridx0 in range(var_n):
        data0[ridx0] = data1[ridx0]
"""
SLEEPS, SLEPT = b"def sleeps(data0): __import__('time').sleep(0.02)\n", 0.02
A_LAUNCH: dict[str, Any] = {"global_size": ONE, "local_size": ONE}
# what Python says of a kernel that is called with something else -> what the learner is told
VALUES = "The kernel has to be given the values of its Variables too, one by one: they're `vals`."
REFUSED = {
    "'var_n'": VALUES,
    "interpreted as an integer": VALUES,
    "but 3 were given": "This kernel has no Variable, so nothing may follow its buffers. "
    "`vals` is empty here.",
    "'data1'": "The kernel takes its buffers one by one, and you gave it all of them as one.",
}


def runner(answer: Any) -> str:
    """answer: the class of a Runner for kernels that are written in Python."""
    if not inspect.isclass(answer) or not issubclass(answer, Runner):
        raise Wrong("This exercise asks for the class, SnakeRunner.", got=_kind(answer))
    if answer.__call__ is Runner.__call__ or does_nothing(answer.__call__):
        raise Open
    case = "`data0 = [1, 2, 3]`, `data1 = [10, 20, 30]`, and the kernel adds `data1` to `data0`"
    sums, added = _launched(answer, "plus", PLUS, case, wait=False)
    if added != [10, 20, 30]:
        text = "The kernel got its buffers in a different order: the sums are in `data1`."
        raise Wrong(text, case)
    if sums == [1, 2, 3]:
        raise Wrong("Nothing was computed: `data0` is as it was before.", case)
    if sums != [11, 22, 33]:
        raise Wrong("The kernel ran more than once.", case, [11, 22, 33], sums)
    many = random.randint(1, 2)
    case = "a kernel with a Variable, which copies only the first `n` numbers"
    copied, _ = _launched(answer, "first", FIRST, case, vals=(many,), wait=False)
    if copied != [*[10, 20][:many], *[1, 2, 3][many:]]:
        raise Wrong("The kernel didn't get the value of its Variable.", case)
    seconds = answer("sleeps", SLEEPS)(bytearray(4), **A_LAUNCH, wait=True)
    case = f"a kernel that takes {SLEPT} seconds, with `wait=True`"
    if isinstance(seconds, bool) or not isinstance(seconds, (float, int, np.number)):
        text = "With `wait=True`, a launch has to return how many seconds it took."
        raise Wrong(text, case, got=describe(seconds))
    if seconds < SLEPT / 2:
        text = (
            "You stopped the clock too early, or started it too late: the kernel takes longer. (Or "
            "it's a clock that stops while nobody computes, as `process_time` does.)"
        )
        raise Wrong(
            text if seconds >= 0 else "You subtracted the later time from the earlier.", case
        )
    if seconds > 500 * SLEPT:
        raise Wrong("That isn't in seconds.", case)
    return "Any kernel that this language can say, your Runner runs."


def _launched(
    answer: type[Runner], name: str, text: bytes, case: str, **given: Any
) -> tuple[list[int], ...]:
    """What is in two buffers after a launch."""
    bufs = [bytearray(np.array(values, np.int32)) for values in ([1, 2, 3], [10, 20, 30])]
    run = answer(name, text)
    try:
        run(*bufs, **A_LAUNCH, **given)
    except TypeError as error:
        for words, said in REFUSED.items():
            if words in str(error):
                raise Wrong(said, case) from None
        raise
    return tuple([np.frombuffer(buf, np.int32).tolist() for buf in bufs])


# ---- an op that is missing -----------------------------------------------------------------------

# what Snake has a row for; x == y and x >= y, which are a word each, become two of them
ROWS = {Ops.ADD, Ops.MUL, Ops.FDIV, Ops.CMPLT, Ops.CMPNE, Ops.AND, Ops.OR, Ops.XOR, Ops.SHL,
        Ops.SHR, Ops.WHERE, Ops.CAST, Ops.BITCAST, Ops.CMPEQ, Ops.CMPLE}  # fmt: skip
INF, NAN = float("inf"), float("nan")
NUMBERS = [0.0, -0.0, 1.0, -1.5, 3.25, INF, -INF, NAN]


def larger(answer: Any) -> str:
    """answer(x, y): the larger of two Tensors, without MAX; NaN where either is."""
    fresh = np.random.default_rng().normal(size=11).tolist()
    for numbers, shown in (([1.0, -2.0, 5.0], True), (NUMBERS, True), ([*fresh, NAN], False)):
        pairs = list(itertools.product(numbers, repeat=2))
        x, y = (Tensor([*column], device="PYTHON").realize() for column in zip(*pairs, strict=True))
        got = call(answer, x, y)
        if not isinstance(got, Tensor):
            raise Wrong("The answer has to be a Tensor.", got=describe(got))
        _in_rows(got)
        if got.shape != x.shape:
            raise Wrong("The result has a different shape.", expected=x.shape, got=got.shape)
        wanted = np.maximum(x.numpy(), y.numpy())
        _same(pairs, got.numpy(), wanted, shown)
    return "You've written what tinyframe writes wherever a language has no MAX."


def _in_rows(got: Tensor) -> None:
    used = set(ops_in(got.uop))
    reduced = {u.arg[0] for u in got.uop.toposort() if u.op is Ops.REDUCE_AXIS}
    if Ops.MAX in used | reduced:
        raise Wrong("There's a maximum in your graph, and that's the op this machine doesn't have.")
    if foreign := sorted(op.name for op in used - ROWS):
        raise Wrong(f"Your graph has the op {foreign[0]}, and Snake has no row for that.")


def _same(pairs: Sequence[Any], got: np.ndarray, wanted: np.ndarray, shown: bool) -> None:
    wrong = np.flatnonzero(~np.isclose(got, wanted, rtol=0, atol=0, equal_nan=True))
    if not len(wrong):
        return
    x, y = pairs[wrong[0]]
    text = "Some pairs come out wrong."
    if np.isnan([x, y]).any():
        which = "the first" if np.isnan(x) and not np.isnan(y) else "the second"
        text = f"The result has to be NaN if either of the two is, and here {which} one is."
    elif got[wrong[0]] == min(x, y):
        text = "That's the smaller of the two."
    elif np.isinf([x, y]).any():
        text = "It's right for ordinary numbers, but not for infinities."
    case = f"`x = {x:g}`, `y = {y:g}`" if shown else "fresh numbers"
    raise Wrong(text, case, *((wanted[wrong[0]], got[wrong[0]]) if shown else ()))


# ---- five broken places --------------------------------------------------------------------------

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


# what of a backend, and the box of the table that tells whether it's mended
PLACES: tuple[tuple[str, str, DType | None], ...] = (
    ("something is lost on the way out of memory", "memory", None),
    ("a store that a condition should have stopped", "conditions of stores", None),
    ("a division of integers", "divide, rounding down", dtypes.int),
    ("a choice between two values", "choose", dtypes.float),
    ("a comparison of unsigned numbers", "less", dtypes.ushort),
)


def mended(answer: Any) -> str:
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
        raise Wrong(
            f"{number} of 5 are mended. Still broken: {'; '.join(place for place, _ in broken)}.",
            more=tuple(broken),
        )
    with _device(memory, language) as name:
        table = conformance(name)
    if table.wrong:
        row = table.wrong[0]
        text = "The five places are mended, but something else is wrong now."
        raise Wrong(text, row, more=(("it says", _sentence(str(table.story(row)))),))
    return f"All {len(table.rows)} rows are right, from the memory to the last condition."


def _broken(marks: Mapping[str, Marks]) -> list[tuple[str, str]]:
    """The places that are still broken, and the story of each."""
    found = [(place, _sentence(marks[row][dtype])) for place, row, dtype in PLACES]
    return [(place, story) for place, story in found if story]


def _two_classes(answer: Any) -> tuple[Any, Any]:
    text = "This exercise asks for the two classes: `(MendedWords, MendedSnake)`."
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Wrong(text, got=_kind(answer))
    found: dict[type, Any] = {}
    for part in answer:
        for kind in (Allocator, PythonText):
            if inspect.isclass(part) and issubclass(part, kind):
                found[kind] = part
    if len(found) != 2:
        raise Wrong(text, got=", ".join(map(_kind, answer)))
    return found[Allocator], found[PythonText]


def _sentence(story: str) -> str:
    """What a story says first; "" of none."""
    if not story:
        return ""
    head, said = story.splitlines()[:2]
    return f"{head.partition(', on ')[0]}: {said.strip()}"


# ---- what a launch costs -------------------------------------------------------------------------

SIZES = [4**k for k in range(13)]
NOISE, WITHIN = 0.1, 0.15  # a machine's, and what an answer may be off by
SMALL = (
    "Your line is fine where the sizes are large, and misses the small ones: 10% of a millisecond "
    "is more than a whole launch."
)
SEED, ROUNDS = 0, 10  # a noise in which a line that's plain fails; how many others are tried


def fit(answer: Any) -> str:
    """answer(sizes, seconds): the seconds of a launch, and of each element."""
    sizes = [1000, 2000, 4000]
    _judge_line(answer, sizes, 5e-6, 1e-9, [1.0] * 3, 1e-3, "three sizes, no noise")
    case = f"sizes from 1 to {SIZES[-1]:,}, up to 10% of noise"
    noise = 1 + NOISE * np.random.default_rng(SEED).random(len(SIZES))
    _judge_line(answer, SIZES, 4e-6, 3e-10, noise, WITHIN, case)
    for fresh in map(np.random.default_rng, range(1, ROUNDS + 1)):
        noise, launch = 1 + NOISE * fresh.random(len(SIZES)), 2e-6 + 3e-6 * fresh.random()
        _judge_line(answer, SIZES, launch, 2.5e-10, noise, WITHIN, "fresh noise", shown=False)
    return "One number for getting started, one for each element: that's most of a device's speed."


def _judge_line(
    answer: Any,
    sizes: list[int],
    launch: float,
    each: float,
    spread: Any,
    within: float,
    case: str,
    shown: bool = True,
) -> None:
    """Wrong unless answer(sizes, seconds) is this line; of noisy times, unless it's near."""
    seconds = [float((launch + each * n) * more) for n, more in zip(sizes, spread, strict=True)]
    got = call(answer, list(sizes), list(seconds))
    try:
        one, other = (float(value) for value in got)
    except (TypeError, ValueError):
        text = "The answer has to be two numbers: the seconds of a launch, and of each element."
        raise Wrong(text, case, got=describe(got)) from None
    fits = [abs(a - b) <= within * b for a, b in ((one, launch), (other, each))]
    if all(fits):
        return
    rows = (f"{launch:.3g}, {each:.3g}", f"{one:.3g}, {other:.3g}") if shown else ()
    if one < 0 or other < 0:
        text = "Neither a launch nor an element can take less than no time."
        raise Wrong(f"{text} {SMALL}" if fits[1] else text, case, *rows)
    if abs(one - each) <= within * each and abs(other - launch) <= within * launch:
        raise Wrong("The two are swapped: the launch comes first.", case, *rows)
    for factor, unit in ((1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds")):
        for value, wanted in ((one, launch), (other, each)):
            if abs(value - factor * wanted) <= within * factor * wanted:
                raise Wrong(f"One of them is in {unit}. Both should be in seconds.", case, *rows)
    if not fits[0]:
        text = "What a launch costs is wrong."
        if one > max(seconds):
            text = "A launch has to be shorter than the run that it's a part of."
        if len(sizes) > 3:
            text = SMALL if fits[1] else "Neither of the two is right once there's noise."
        elif abs(one - seconds[0]) <= 1e-3 * seconds[0]:
            text = "The first time has a thousand additions in it too. A launch takes less."
        raise Wrong(text, case, *rows)
    text = "What each element costs is wrong."
    if len(sizes) == 3 and any(
        abs(other - taken / n) <= 1e-3 * other for n, taken in zip(sizes, seconds, strict=True)
    ):
        text = "In that time for each element there's a share of the launch."
    raise Wrong(text, case, *rows)


# ---- a device with a meter -----------------------------------------------------------------------

METERED = "METERED"
WORK: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "an addition": lambda x, y: x + y,
    "a multiplication": lambda x, y: x * y,
    "a matrix product": lambda x, y: x.reshape(1, 9) @ y.reshape(9, 1),
}


def metered(answer: Any) -> str:
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
    meter = getattr(opened, "meter", None)
    if not callable(meter):
        raise Wrong("Your device has no method `meter()`.")
    if does_nothing(meter) and meter() in (None, ...):
        raise Open
    with registered(answer, METERED) as device:
        noticed = _noticed(device)
        broken = _broken(conformance(METERED, [row for _, row, _ in PLACES]).rows)
    if broken:
        text = "Your device has a meter, but doesn't compute correctly. 8.8 is about these places."
        raise Wrong(text, more=tuple(broken))
    if not noticed:
        raise Wrong(
            "It computes right, but the meter shows the same before and after.",
            f"{', '.join(['a copy', *WORK])}",
            got=describe(reading(device)),
        )
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
    if value is None or value is ...:
        raise Wrong("`meter()` returns nothing. Did you forget `return`?")
    return repr(value)


EXERCISES: tuple[Exercise, ...] = (
    Exercise(
        "8.6",
        "a-runner",
        "A Runner",
        runner,
        hints=(
            "`self.function` is the kernel. What are its arguments, and in which order? Look at a "
            "`def` line of a kernel in the text.",
            "`self.function(*bufs, *vals)` runs it. `perf_counter()` before and after gives you "
            "the seconds.",
        ),
        because="A kernel's arguments are its buffers and then the values of its Variables. The "
        "clock has to run while the kernel does, and nothing else.",
    ),
    Exercise(
        "8.7",
        "without-max",
        "A maximum without MAX",
        larger,
        hints=(
            "Which of the two do you want where `x < y`, and which elsewhere? Then go through the "
            "pairs with a NaN: every comparison with NaN is false, so what do you get?",
            "`(x < y).where(y, x)` is nearly it: it fails where `y` is NaN. A NaN is the only "
            "number that differs from itself, so `y != y` finds it, and `|` joins two conditions.",
        ),
        because="Where `x < y` is false because `y` is NaN, `x` would be chosen. So `y` is also "
        "chosen if it isn't equal to itself. Where `x` is NaN, the comparison is false, and `x` is "
        "chosen, as it should be.",
    ),
    Exercise(
        "8.8",
        "five-broken-places",
        "Five broken places",
        mended,
        hints=(
            "Take the first row that's wrong and read its story. Is it about copies, about one "
            "dtype, or about one op? Mend that, run the table again, and go on with the next row.",
            "What happens to the last bytes of a Buffer whose size isn't a multiple of 4? Which "
            "words does a ushort get? What is `c and a or b` if `a` is 0? Does `%` in Python round "
            "as `quotient` does? And who looks at `condition`?",
        ),
        because="Memory comes in bytes, not only in words. A ushort has no sign. `c and a or b` "
        "gives `b` where `a` is 0. Python's `%` goes with a quotient that's rounded down, and the "
        "row beside it rounds towards 0, so either of the two has to give. And a store with a "
        "condition is an `if`.",
        seconds=60.0,
    ),
    Exercise(
        "8.9",
        "addition-far-away",
        "An addition far away",
        predicts(addition_pays_from, "always", "thousands", "millions", "never"),
        hints=(
            "How many bytes go through the cable for one element, there and back?",
            "12 bytes at 10 bytes a nanosecond. How long does an addition take here?",
        ),
        because="Each element needs 12 bytes on the cable, 8 on the way there and 4 on the way "
        "back, and at 10 bytes a nanosecond that's 1.2 ns. Here, the whole addition takes 1 ns. "
        "However fast FAR adds, the numbers arrive too late.",
        shown_by="the next cell",
    ),
    Exercise(
        "8.10",
        "cost-of-a-launch",
        "What a launch costs",
        fit,
        hints=(
            "Which of the times tell you about the launch, and which about the elements? Noise is "
            "a part of a time, so of a long one it's a lot.",
            "From the last two sizes: the difference in seconds, divided by the difference in "
            "elements. Then take its share out of the first time. Or `np.polyfit` with weights "
            "`w=1 / np.array(seconds)`, so that each point counts by its percents.",
        ),
        because="In percents, each time is as good as any other. So the large sizes say what an "
        "element costs, since a launch is lost in them, and the small ones what a launch does.",
    ),
    Exercise(
        "8.11",
        "a-device-with-a-meter",
        "A device with a meter",
        metered,
        hints=(
            "Everything passes through one of the four parts. Which of them sees what you want to "
            "know about: copies, texts, launches, or single operations?",
            "To count in the Allocator or the Runner, keep a list or a number in the device and "
            "let the part add to it. To count operations, let a row of the table write a call, "
            '`Ops.MUL: "times({}, {})".format`, and give `function_of` your own function: '
            "`function_of(lib, name, times=…)`.",
        ),
        because="Ours counts multiplications, one by one, while they happen: a row of its language "
        "calls a function of the device. No device of tinyframe can tell you that number.",
        seconds=30.0,
    ),
)
