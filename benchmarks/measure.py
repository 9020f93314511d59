"""How things are timed: in turn, as medians with their spread.

Programs are compared by running them A B A B …, so that a machine that slows down slows all of them
down. A turn is a warm-up, which is not counted, and then as many calls as take `LEAST` seconds; it
counts as their mean. What is printed is the median of the turns and, in brackets, the first and
third quartile; a ratio is the median of the ratios pair by pair. That two programs differ is said
only where a rank test of the pairs (Wilcoxon's) says so at 5 %.

Where the programs belong to different libraries, each has a process of its own: workers.py.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

LEAST = 0.03  # seconds of calls in a turn: long beside the clock, and beside what interrupts
WARM_UP = 0.005  # seconds until threads are awake, and what was in the caches is there again
SLOW, SLOW_TURNS = 0.5, 7  # seconds; programs that take longer get no more turns than that
SURE = 0.05  # how often a rank test may see a difference where there is none


class LeftOut(Exception):
    """Why a program does not take part, or no longer: a mark for the table, and a sentence."""

    def __init__(self, mark: str, why: str) -> None:
        super().__init__(mark, why)
        self.mark, self.why = mark, why

    def __str__(self) -> str:
        return self.why


class Turns(Protocol):
    """What can be timed, here or in another process."""

    def turn(self) -> float: ...


@dataclass(frozen=True)
class Times:
    """Seconds of each repeat, in the order in which they ran."""

    name: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def quartiles(self) -> tuple[float, float]:
        low, _, high = statistics.quantiles(self.seconds, n=4)
        return low, high

    def text(self, unit: float = 1e-3, label: str = "ms") -> str:
        low, high = self.quartiles
        return f"{self.median / unit:8.2f} [{low / unit:.2f} … {high / unit:.2f}] {label}"


class Program:
    """A function that is timed. wait: waits until all that its calls have started is done."""

    def __init__(
        self, run: Callable[[], object], wait: Callable[[], object] = lambda: None
    ) -> None:
        self.run, self.wait, self.last = run, wait, 0.0

    def turn(self) -> float:
        """Seconds of one call. What takes long needs no warm-up."""
        if self.last < SLOW:
            self.last = self._mean(WARM_UP)
        self.last = self._mean(LEAST)
        return self.last

    def _mean(self, least: float) -> float:
        """Seconds of one call, as the mean of so many that they take `least` together."""
        calls, more = 0, 1
        start = time.perf_counter()
        while True:
            for _ in range(more):
                self.run()
            self.wait()
            calls += more
            took = time.perf_counter() - start
            if took >= least:
                return took / calls
            # as many as are missing, but never more than there were: the first ones are slow
            more = min(calls, math.ceil(calls * (least - took) / took))


def interleaved(
    programs: Mapping[str, Turns],
    repeats: int = 15,
    lost: Callable[[str, LeftOut], object] | None = None,
) -> dict[str, Times]:
    """Times of each program, run in turn. One that raises LeftOut gets no more turns and no times:
    `lost` is told, or the exception goes on where there is none."""
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for n in range(repeats):
        for name in list(seconds):
            if n >= SLOW_TURNS and seconds[name][-1] > SLOW:
                continue
            try:
                seconds[name].append(programs[name].turn())
            except LeftOut as why:
                if lost is None:
                    raise
                lost(name, why)
                del seconds[name]
    return {name: Times(name, tuple(s)) for name, s in seconds.items()}


def processes(
    commands: dict[str, Sequence[str]],
    repeats: int = 11,
    env: dict[str, str] | None = None,
    before: Callable[[str], None] = lambda name: None,
) -> dict[str, Times]:
    """Wall-clock times of whole processes, run in turn; `before(name)` prepares each run."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for n in range(repeats + 1):  # the first round is the warm-up
        for name, command in commands.items():
            before(name)
            start = time.perf_counter()
            subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL)
            if n:
                seconds[name].append(time.perf_counter() - start)
    return {name: Times(name, tuple(s)) for name, s in seconds.items()}


def ratio(a: Times, b: Times) -> float:
    """How many times as long a takes as b: the median over the pairs."""
    return statistics.median(x / y for x, y in zip(a.seconds, b.seconds, strict=True))


@dataclass(frozen=True)
class Comparison:
    """How many times as quick one program is as another, over pairs of turns."""

    ratio: float
    low: float  # quartiles
    high: float
    chance: float  # that pairs alike would differ from `than` as these do; NaN where it is unknown
    than: float = 1.0

    @property
    def verdict(self) -> str:
        """quicker or slower than `than` times the other one, or "even": not told apart."""
        if not self.chance < SURE:
            return "even" if self.chance == self.chance else "untested"
        return "quicker" if self.ratio > self.than else "slower"

    def text(self) -> str:
        same = " =" if self.than == 1 and self.verdict == "even" else ""
        return f"{self.ratio:.2f} [{self.low:.2f}…{self.high:.2f}]{same}"


def compare(theirs: Sequence[float], ours: Sequence[float], than: float = 1.0) -> Comparison:
    """Ours beside theirs, turn by turn; where one had fewer turns, the first ones."""
    pairs = list(zip(theirs, ours, strict=False))
    ratios = [x / y for x, y in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return Comparison(middle, low, high, _chance([math.log(r / than) for r in ratios]), than)


def _chance(differences: Sequence[float]) -> float:
    try:
        from scipy.stats import wilcoxon
    except ImportError:
        return math.nan
    return float(wilcoxon(differences).pvalue) if any(differences) else 1.0


def save(name: str, results: dict[str, Times], folder: Path | None) -> None:
    """The raw times as JSON, where a folder to keep them was given."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({key: asdict(t) for key, t in results.items()}, indent=1)
        (folder / f"{name}.json").write_text(text)


def python(code: str) -> list[str]:
    """A command that runs `code` in a new interpreter."""
    return [sys.executable, "-c", code]
