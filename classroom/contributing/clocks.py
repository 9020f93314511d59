"""Machines on which it is hard to time anything, and a benchmark with four mistakes in it.

    office = Machine("a download comes and goes")
    office.old(); office.new()         two programs: calling one only moves the machine's clock
    office.clock()                     seconds, as `perf_counter` would give them

    trace(office)                      how long 60 calls of each take, drawn
    listing()                          the benchmark, with a number before each line

The time is made up, so that a way to measure can be judged: what is true is known, and the same
every time. Each machine is a row of MACHINES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, log
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from classroom.contributing.scratch import Text
from tinyframe.viz.drawing import MUTED, Drawing
from tinyframe.viz.picture import DrawnPicture

MOST_CALLS = 200_000  # of one machine's programs: what needs more is told so
US, MS = 1e-6, 1e-3


class Tired(Exception):
    """The programs were called more often than anybody would wait for."""


class Habits(NamedTuple):
    """What a machine does to whoever measures.

    said: what happens there. compile: seconds that the first call of each program takes longer.
    cold: how many calls after that take twice as long. step: of the clock, in seconds.
    interruptions: in a second, on average, each for `pause` seconds. busy: from so many seconds on,
    everything takes twice as long, until three times as many, then it doesn't, and so on.
    """

    said: str
    compile: tuple[float, float] = (0.0, 0.0)
    cold: int = 0
    step: float = 0.1 * US
    interruptions: float = 0.0
    pause: float = 0.0
    busy: float = inf
    seconds: tuple[float, float] = (3 * MS, 2 * MS)  # of a call: old, new


MACHINES: Mapping[str, Habits] = {
    "a quiet machine": Habits("nothing happens"),
    "a fresh start": Habits("a program's first call compiles it, and the next ten find the caches "
                            "cold", compile=(0.4, 0.9), cold=10),
    "a download comes and goes": Habits("everything takes twice as long for a while, and then it "
                                        "doesn't", busy=0.1, compile=(0.02, 0.02)),
    "an interrupted machine": Habits("twice in a second something else gets the processor for a "
                                     "moment", interruptions=2, pause=0.03,
                                     seconds=(3 * MS, 4 * MS)),
    "a coarse clock": Habits("the clock ticks once in a millisecond, and a call takes far less",
                             step=MS, seconds=(30 * US, 25 * US)),
    "a Monday": Habits("all of that at once", compile=(0.3, 0.1), cold=5, step=MS,
                       interruptions=1, pause=0.03, busy=0.05, seconds=(45 * US, 30 * US)),
}  # fmt: skip


class Machine:
    """A machine of MACHINES: two programs and a clock."""

    def __init__(self, name: str, seed: int = 11) -> None:
        self.name, self.habits = name, MACHINES[name]
        self.now, self.calls = 0.0, [0, 0]
        self._random = Random(seed)
        self._next = self._pause()

    @property
    def truth(self) -> float:
        """How many times as fast the new program is as the old one."""
        old, new = self.habits.seconds
        return old / new

    def old(self) -> None:
        self._run(0)

    def new(self) -> None:
        self._run(1)

    def clock(self) -> float:
        """Seconds since the machine was started, as its clock shows them."""
        step = self.habits.step
        return int(self.now / step) * step

    def _run(self, which: int) -> None:
        if sum(self.calls) >= MOST_CALLS:
            raise Tired
        habits, before = self.habits, self.calls[which]
        seconds = habits.seconds[which] * self._random.uniform(0.98, 1.02)
        seconds *= 2 if 0 < before <= habits.cold else 1
        phase = log(max(self.now, US) / habits.busy, 3) if habits.busy < inf else -1
        seconds *= 2 if phase > 0 and int(phase) % 2 == 0 else 1
        seconds += habits.compile[which] if before == 0 else 0
        self.now, self.calls[which] = self.now + seconds, before + 1
        while self.now > self._next:
            self.now += habits.pause
            self._next += habits.pause + self._pause()

    def _pause(self) -> float:
        """Seconds until the next interruption."""
        rate = self.habits.interruptions
        return self._random.expovariate(rate) if rate else inf


Compare = Callable[[Callable[[], None], Callable[[], None], Callable[[], float]], Any]


def measured(compare: Any, name: str) -> Any:
    """What a way to measure says of a machine."""
    machine = Machine(name)
    return compare(machine.old, machine.new, machine.clock)


# ---- ours, until there is the learner's ----------------------------------------------------------


def in_turn(old: Any, new: Any, clock: Any) -> float:
    """How many times as fast `new` is, from many short turns of both."""
    size = 1
    pairs: list[list[float]] = []
    for run in (old, new) * 11:
        run()
    while _lasting(old, size, clock) < 0.02:
        size *= 2
    while len(pairs) < 21:
        pairs.append([_lasting(run, size, clock) for run in (old, new)])
    return sorted(before / after for before, after in pairs)[10]


def _lasting(run: Any, size: int, clock: Any) -> float:
    since = clock()
    for _ in range(size):
        run()
    return clock() - since


# ---- drawn ---------------------------------------------------------------------------------------

CALLS, WIDTH, HEIGHT = 60, 560.0, 90.0
OLD, NEW = "#2f86d6", "#d9480f"


def trace(name: str) -> DrawnPicture:
    """How long the first calls of both programs take on a machine, in turn: a dot for each."""
    machine = Machine(name)
    dots: list[tuple[int, float]] = []
    for n in range(2 * CALLS):
        begin = machine.now
        (machine.old, machine.new)[n % 2]()
        dots.append((n % 2, machine.now - begin))
    usual = machine.habits.seconds[0]
    high = 4 * usual
    sheet = Drawing()
    sheet.words(0, 10, f"{name}: {machine.habits.said}", 10, colour=MUTED)
    for n, (which, seconds) in enumerate(dots):
        x = n * WIDTH / len(dots)
        y = 20 + HEIGHT * (1 - min(seconds, high) / high)
        off = seconds > high  # no room for it: at the upper edge
        sheet.box(x, y, 4, 10 if off else 4, (OLD, NEW)[which], (OLD, NEW)[which], radius=1)
    slower_first = sorted((0, 1), key=lambda which: -machine.habits.seconds[which])  # as its dots
    for n, which in enumerate(slower_first):
        y = 20 + HEIGHT * 0.75 + 13 * n
        sheet.words(WIDTH + 8, y, ("old", "new")[which], 10, colour=(OLD, NEW)[which])
    slow = sum(seconds > high for _, seconds in dots)
    said = f"{name}: {machine.habits.said}"
    return DrawnPicture(
        said, f"{said}\n  of the first {2 * CALLS} calls, {slow} don't fit into the picture", sheet
    )


def verdicts(compare: Compare) -> None:
    """What a way to measure says of each machine, beside the truth."""
    print(f"{'':26}{'says':>8}{'truth':>8}")
    for name in MACHINES:
        try:
            said = f"{float(measured(compare, name)):.2f}"
        except Tired:
            said = "never"
        except ZeroDivisionError:
            said = "x / 0"
        print(f"{name:26}{said:>8}{Machine(name).truth:>8.2f}")


# ---- a benchmark with four mistakes --------------------------------------------------------------

BENCHMARK = Path(__file__).with_name("benchmark.txt").read_text(encoding="utf-8")


class Mistake(NamedTuple):
    """line: how it begins. asks: the question that leads to it. what: what is wrong with it."""

    line: str
    asks: str
    what: str


MISTAKES = (
    Mistake("building = ", "who else is using the machine meanwhile?",
            "something else is building on all cores while you measure"),
    Mistake("return x.sinc()", "does each of the two functions do its work?",
            "nothing is realized: this only writes down a graph"),
    Mistake("before = ", "what does a first call do that no other call does?",
            "there's one turn, and it's the first: what it measures is the C compiler"),
    Mistake("print(", "which of the measurements get compared?",
            "the worst of one side is divided by the best of the other"),
)  # fmt: skip
INNOCENT = {
    "x = ": "The numbers are made before anything is timed, and realized, as they should be.",
    "return ((x": "It's realized, and it's the formula that sinc competes with.",
    "begin = ": "`perf_counter` is the right clock: it never goes backwards.",
    "taken.append": "The time of one call is what it should note.",
    "after = ": "A hundred turns is fine. It's the other side that has too few.",
    "for _": "Turns are good.",
    "run()": "That is what's to be timed.",
    "taken = ": "An empty list never hurt a benchmark.",
    "return taken": "It returns every time that it measured. That's better than one number.",
}


def lines() -> dict[int, str]:
    """The lines of the benchmark that say anything, by their numbers."""
    numbered = enumerate(BENCHMARK.splitlines(), 1)
    return {number: line for number, line in numbered if line.strip()}


def listing() -> Text:
    """The benchmark, with a number before each line."""
    rows = BENCHMARK.splitlines()
    return Text(f"{number:2}  {line}".rstrip() for number, line in enumerate(rows, 1))


def mistakes() -> dict[int, Mistake]:
    """The lines with a mistake, by their numbers."""
    found = {n: m for n, line in lines().items() for m in MISTAKES
             if line.strip().startswith(m.line)}  # fmt: skip
    return found


def innocence(number: int) -> str:
    """Why a line is no mistake."""
    line = lines().get(number, "").strip()
    known = (words for start, words in INNOCENT.items() if line.startswith(start))
    return next(known, "There's nothing wrong with it." if line else "There's nothing on it.")
