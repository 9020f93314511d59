"""The slowest kernel

Hint: What is in `times.kernels` after the `with` block?
Hint: `max` takes a `key`: a function that gives the seconds of a (name, seconds) pair.
Because: An observer is told the name and the seconds of each kernel as it finishes. All that's
left is to find the pair with the largest second number.
Right: Now you can ask a slow program the first question: which kernel takes the time?
"""

import itertools
from typing import Any

from classroom.ask import Wrong, call, wrong_if
from classroom.lessons.where_the_time_goes.shared import Times
from tinyframe import Tensor
from tinyframe.observe import observing


def check(answer) -> None:
    """answer(run): the name of the kernel of run() that took longest."""
    # so much that a kernel which the system interrupts for a moment is not the slower one
    few, many = Tensor.ones(5).contiguous().realize(), Tensor.ones(320, 320).contiguous().realize()
    more = Tensor.ones(2000, 500).contiguous().realize()
    kernels = {
        "short": lambda: (few + 1).realize(),
        "long": lambda: (many @ many).realize(),
        "wide": lambda: more.sin().sqrt().realize(),  # the last in time, not by its name
        "shortest": lambda: (few * 2).sum().realize(),
    }
    orders = ["long short", "short long shortest", "shortest wide short", "shortest short long"]
    # all others too, so that nobody is right by chance
    orders += map(" ".join, itertools.permutations(kernels))
    for order in map(str.split, orders):
        times = Times()
        with observing(times):
            got = call(answer, lambda order=order: [kernels[name]() for name in order])
        _is_the_slowest(got, times.kernels, f"`run()` launches kernels that are {', '.join(order)}")


def _is_the_slowest(got: Any, ran: list[tuple[str, float]], case: str) -> None:
    wrong_if(not ran, "`run` was never called. It has to be called inside `with observing(…)`, "
             "while your observer watches.", case)  # fmt: skip
    names = [name for name, _ in ran]
    if got not in names:
        asked = "The answer has to be the name of a kernel that ran."
        # of an answer that is no name only the type is shown: a time would be new each time
        shown = repr(got) if isinstance(got, str) else f"a {type(got).__name__}"
        raise Wrong(asked, case, " or ".join(dict.fromkeys(names)), shown)
    slowest = max(ran, key=lambda kernel: kernel[1])[0]
    if got != slowest and got == max(names):
        raise Wrong("`max` compared the names: tell it to look at the seconds.", case)
    if got != slowest:
        place = {names[0]: "the first", names[-1]: "the last"}.get(got, "one in the middle")
        raise Wrong(f"You gave {place}; a different kernel took longer.", case, slowest, got)

# %% shared
from tinyframe.observe import Observer, observing
class Times(Observer):
    def __init__(self):
        self.kernels = []

    def ran(self, work):
        self.kernels.append((work.spec.name, work.seconds))

def watched(run):
    times = Times()
    with observing(times):
        run()
    return times.kernels

# %% wrong, each line
lambda run: watched(run)[0][0]  # says You gave the first
lambda run: max(watched(run), key=lambda pair: pair[1])  # says the name of a kernel
lambda run: max(watched(run))[0]  # says compared the names

# %% wrong: says was never called
def never_watched(run):
    return "r_160_160_160"
never_watched

# %% right: a with … as, as one would expect
def slowest(run):
    with observing(Times()) as times:
        run()
    times.kernels.sort(key=lambda k: k[1])
    return times.kernels[-1][0]
