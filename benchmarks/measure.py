"""How things are timed: in turn, after a warm-up, as medians with their spread.

Two programs are compared by running them A B A B … in one process (or as processes in turn), so
that a machine that slows down slows down both. A turn is a pause, one run that is not counted, and
then the one that is: BLAS and OpenMP threads wait for more work by spinning (some 100 ms),
and would do it on the core of whoever runs next. What is printed is the median and, in brackets,
the first and third quartile; a ratio is the median of the ratios pair by pair.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

SETTLE = 0.2  # seconds until threads that wait for more work have gone to sleep


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


def interleaved(repeats: int = 15, **programs: Callable[[], object]) -> dict[str, Times]:
    """Times of each program, run in turn in this process."""
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(repeats):
        for name, run in programs.items():
            time.sleep(SETTLE)
            run()
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
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


def save(name: str, results: dict[str, Times], folder: Path | None) -> None:
    """The raw times as JSON, where a folder to keep them was given."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({key: asdict(t) for key, t in results.items()}, indent=1)
        (folder / f"{name}.json").write_text(text)


def python(code: str) -> list[str]:
    """A command that runs `code` in a new interpreter."""
    return [sys.executable, "-c", code]
