"""Safe to replay?

Hint: The first two calls run Python in any case. Which inputs can show a difference?
Hint: `fast = TinyJit(function)`, then compare `fast(x)` with `function(x)` for every `x`. What
happens to a `JitError` along the way?
Because: Only a replay can go wrong, so all inputs are tried in order, the third and later ones
above all. Refusing with a JitError is the polite way of not being safe.
Right: Now you'll know when TinyJit would quietly change what a function gives.
"""

import itertools
from collections.abc import Callable

import numpy as np

from classroom.ask import Wrong, call, describe
from tinyframe import Tensor


def check(answer) -> None:
    """answer(function, inputs): whether TinyJit(function) gives what function gives for each."""
    for case, make, expected in replays():
        function, inputs = make()
        got = call(answer, function, inputs)
        if not isinstance(got, (bool, np.bool_)):
            raise Wrong("The answer has to be True or False.", case, got=describe(got))
        if got != expected:
            said = (
                "The answer has to be True: TinyJit gives what Python gives, for each input."
                if expected else
                "The answer has to be False: TinyJit refuses, or doesn't give what Python gives."
            )  # fmt: skip
            raise Wrong(said, case, expected, bool(got))


Replay = tuple[Callable[[Tensor], Tensor], list[Tensor]]


def replays() -> list[tuple[str, Callable[[], Replay], bool]]:
    """(case, what makes a function and its inputs, whether TinyJit leaves the results alone).

    Whole numbers go in and come out, so that an answer may compare to the bit: the last digits of
    anything else are up to the C compiler, which rounds differently in one kernel than in another.
    """

    def whole(size: int) -> Tensor:
        values = np.random.default_rng().integers(1, 10, size)
        return Tensor(values.astype(np.float32)).realize()

    def rows(*sizes: int) -> list[Tensor]:
        return [whole(size) for size in (sizes or (3,) * 5)]

    def one_is_special(place: int) -> Callable[[], Replay]:
        def make() -> Replay:
            inputs = rows()
            return (lambda x: x * 2 if x is inputs[place] else x * 3), inputs

        return make

    def counts_its_calls() -> Replay:
        calls = itertools.count(1)
        return (lambda x: x * next(calls)), rows()

    def takes_turns() -> Replay:
        turns = itertools.cycle([2.0, 3.0])
        return (lambda x: x + next(turns)), rows()

    def weighted() -> Replay:
        weight = whole(3)
        return (lambda x: (x * weight).sum()), rows()

    special = "`x * 2` if `x` is the {} input, otherwise `x * 3`"
    return [
        ("`function` gives `x * 2`, for five inputs", lambda: (lambda x: x * 2, rows()), True),
        ("`function` gives `x` times the number of calls so far", counts_its_calls, False),
        ("`function` gives `x - x.max()`", lambda: (lambda x: x - x.max(), rows()), True),
        ("`function` asks whether `x.sum().item() > 3`, and TinyJit refuses that",
         lambda: ((lambda x: x * 2 if x.sum().item() > 3 else x), rows()), False),
        (special.format("fourth"), one_is_special(3), False),
        (special.format("first"), one_is_special(0), True),  # that call isn't replayed
        ("`(x * weight).sum()`", weighted, True),
        (special.format("last"), one_is_special(4), False),
        ("`x * 2`, for inputs of 3, 3 and 4 numbers, and TinyJit refuses the third",
         lambda: (lambda x: x * 2, rows(3, 3, 4)), False),
        ("`x / x.shape[0]`, for inputs of 4 numbers",
         lambda: (lambda x: x / x.shape[0], rows(4, 4, 4, 4)), True),
        ("`x + 2` and `x + 3`, in turns", takes_turns, False),
        ("`(x * 2).realize()`", lambda: (lambda x: (x * 2).realize(), rows()), True),
        (special.format("third"), one_is_special(2), False),
        ("`x.reshape(1, 3)`", lambda: (lambda x: x.reshape(1, 3), rows()), True),
        ("`Tensor(x.numpy() * 2)`, and TinyJit refuses that",
         lambda: (lambda x: Tensor(x.numpy() * 2), rows()), False),
        ("`x * x + x`, for seven inputs",
         lambda: (lambda x: x * x + x, rows(*(5,) * 7)), True),
    ]  # fmt: skip

# %% shared
import numpy as np
from tinyframe import GlobalCounters, Tensor, TinyJit
from tinyframe.jit.jit import JitError
def same(function, fast, x):
    return np.array_equal(fast(x).numpy(), function(x).numpy())

def always_tried(function, inputs):
    fast = TinyJit(function)
    return all(same(function, fast, x) for x in inputs)

# %% wrong, each line
lambda function, inputs: True  # says has to be False
always_tried  # says raised JitError
lambda function, inputs: [function(x) for x in inputs]  # says True or False

# %% right: compared as Tensors; item gives a bool
def safe(function, inputs):
    fast = TinyJit(function)
    try:
        return all((fast(x) == function(x)).all().item() for x in inputs)
    except JitError:
        return False
