"""A Runner

Hint: `self.function` is the kernel. What are its arguments, and in which order? Look at a `def`
line of a kernel in the text.
Hint: `self.function(*bufs, *vals)` runs it. `perf_counter()` before and after gives you the
seconds.
Because: A kernel's arguments are its buffers and then the values of its Variables. The clock has
to run while the kernel does, and nothing else.
Right: Any kernel that this language can say, your Runner runs.
"""

import inspect
import random
from typing import Any

import numpy as np

from classroom.ask import Open, Wrong, describe, does_nothing, wrong_if
from classroom.lessons.a_device_of_your_own.shared import _kind
from tinyframe.device import ONE, Runner

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


def check(answer) -> None:
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
    wrong_if(sums == [1, 2, 3], "Nothing was computed: `data0` is as it was before.", case)
    wrong_if(sums != [11, 22, 33], "The kernel ran more than once.", case, [11, 22, 33], sums)
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
        raise Wrong(text if seconds >= 0 else "You subtracted the later time from the earlier.",
                    case)  # fmt: skip
    wrong_if(seconds > 500 * SLEPT, "That isn't in seconds.", case)


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

# %% shared
from classroom.own_device import OurRunner
from classroom.python_text import PythonText, function_of
from tinyframe.device import Allocator, Compiled, Compiler, Runner
from time import perf_counter
class Mine(Runner):
    def __init__(self, name, lib):
        super().__init__(name, lib)
        self.function = function_of(lib, name)

# %% wrong, each line
lambda *bufs: None  # says asks for the class

# %% wrong: says values of its Variables
class Deaf(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs)
Deaf

# %% wrong: says different order
class Backwards(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs[::-1], *vals)
Backwards

# %% wrong: says how many seconds it took
class Timeless(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs, *vals)
Timeless

# %% wrong: says ran more than once
class Twice(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs, *vals)
        start = perf_counter()
        self.function(*bufs, *vals)
        return perf_counter() - start if wait else None
Twice

# %% wrong: says isn't in seconds
class Milliseconds(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        start = perf_counter()
        self.function(*bufs, *vals)
        return (perf_counter() - start) * 1000
Milliseconds

# %% wrong: says the later time from the earlier
class Negative(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        start = perf_counter()
        self.function(*bufs, *vals)
        return start - perf_counter()
Negative

# %% wrong: says Nothing was computed
class OnlyIfAsked(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        if wait:
            start = perf_counter()
            self.function(*bufs, *vals)
            return perf_counter() - start
OnlyIfAsked

# %% wrong: a clock that stands still while the kernel sleeps
from time import process_time
class SnakeRunner(Runner):
    def __init__(self, name, lib):
        super().__init__(name, lib)
        self.function = function_of(lib, name)
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        before = process_time()
        self.function(*bufs, *vals)
        if wait:
            return process_time() - before

# %% wrong: says the value of its Variable
class Numbered(Mine):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        self.function(*bufs, *range(len(vals)))
Numbered

# %% right, each line
OurRunner
