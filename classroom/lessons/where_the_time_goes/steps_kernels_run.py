"""Count the kernels of anything

Hint: What does `GlobalCounters.kernel_count` say before you call `run`, and what after it?
Hint: `GlobalCounters.reset()` sets it to 0. At which point do you want it to be 0?
Because: `kernel_count` goes on counting from wherever it is, so you have to reset it first (or
subtract what it was).
Right: From now on you can count the kernels of anything.
"""

from collections.abc import Callable

from classroom.ask import Wrong, fresh_sizes, fresh_tensor, once, same_number
from tinyframe import GlobalCounters


def check(answer) -> None:
    """answer(run): how many kernels run() runs."""
    cases: list[tuple[str, int, int]] = [
        ("`run` realizes one sum", 1, 7),
        ("`run` does nothing", 0, 7),
        ("`run` realizes three sums, one after another", 3, 0),
    ]
    for case, expected, before in cases:
        run = _realizes(expected)
        GlobalCounters.kernel_count = before
        case = f"{case}; `kernel_count` was {before} before that"
        got = once(answer, run, case)
        if before and got == before + expected:
            raise Wrong("You counted the kernels from before `run()`, too.", case, expected, got)
        same_number(got, expected, case, "kernels")


def _realizes(count: int) -> Callable[[], None]:
    numbers = fresh_tensor(*fresh_sizes(1))

    def run() -> None:
        for n in range(count):
            (numbers + n).sum().realize()

    return run

# %% shared
from tinyframe import GlobalCounters, Tensor, TinyJit

# %% wrong, each line
lambda run: 1  # says `run` does nothing

# %% wrong: says from before
def total_count(run):
    run()
    return GlobalCounters.kernel_count
total_count

# %% wrong: says ran it 2 times
def kernels_run(run):
    run()
    GlobalCounters.reset()
    run()
    return GlobalCounters.kernel_count

# %% wrong: Times is not defined before the next cell (I had said asked again)
def kernels_run(run):
    times = Times()
    with observing(times):
        run()
    return len(times.kernels)

# %% right: a difference
def kernels_run(run):
    before = GlobalCounters.kernel_count
    run()
    return GlobalCounters.kernel_count - before
