"""Measures rows, and gives what report.py makes tables of.

Each library has a process of its own, and while one of them measures the others stand still
(workers.py). A row is measured between two looks at loops that say whether the machine was quiet,
and again where it was not (quiet.py).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import growth, quiet, roofline
from benchmarks.libraries import ABSENT, NOT_HERE, differences, machine, ready
from benchmarks.measure import LEAST, WARM_UP, LeftOut, interleaved
from benchmarks.quiet import Quiet
from benchmarks.rows import TABLES
from benchmarks.work import FEW, Work
from benchmarks.workers import PATIENCE, Worker
from tinyframe.settings import settings

TOLERANCE = 1e-2  # of the largest number; training steps drift apart
METHOD = (
    "Float32 unless a row says otherwise. Each library runs in a process of its own, which is "
    "stopped while another one measures. They take turns (A B A B …). A turn is a warm-up of "
    "{warm_up:.0f} ms and {least:.0f} ms of calls, and counts as their mean. Each number is the "
    "median of {turns} turns, with its quartiles; = marks two that a paired Wilcoxon test can't "
    "tell apart at 5 %. The results were compared before the times. A time includes everything "
    "that a call does, the Python too, except compiling (TinyJit, from the third call on). PyTorch "
    "is eager, with default arguments. Before and after each row, fixed loops check whether the "
    "machine is quiet. If they took more than {busy:g} times as usual, the row was measured "
    "again, {attempts} times at most, and it is marked if it never was quiet. THREADS={threads}."
)
# What a row takes, in seconds, for the forecast (2 cores, AVX-512 at 2.8 GHz): a library compiles
# and computes its result, then has its turns.
PREPARING, TURN, STARTING = 3.0, 0.06, 8.0
Results = dict[str, Any]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Choice:
    """What is to be measured.

    rows: for each table, the rows. libraries: beside tinyframe. turns: of each program. beam: how
    wide tinygrad searches; 0 is not at all. kernels: for the time of scheduling, how many. keep: a
    folder for the kernels' sources.
    """

    rows: Mapping[str, Sequence[Work]]
    libraries: Sequence[str] = ("numpy", "torch", "tinygrad")
    turns: int = 15
    beam: int = 0
    kernels: Sequence[int] = ()
    keep: Path | None = None

    def others(self, table: str) -> list[str]:
        return [name for name in TABLES[table].others if name in self.libraries]

    def forecast(self) -> float:
        """About how many seconds it takes on a quiet machine."""
        rows = sum(
            (1 + len(self.others(table))) * len(rows) * (PREPARING + self.turns * TURN)
            for table, rows in self.rows.items()
        )
        return rows + STARTING * len(self.rows) + sum(self.kernels) * 3e-3


def crew(table: str, threads: int, choice: Choice) -> dict[str, Worker]:
    """A worker for each library, tinyframe's first; `beside` runs a second row of tinyframe's."""
    found = {name: Worker(name, threads) for name in ("tinyframe", *choice.others(table), "beside")}
    if "tinygrad" in found:
        found["tinygrad"] = Worker(
            "tinygrad",
            threads,
            {"DEV": "CPU", "BEAM": str(choice.beam)},
            PATIENCE * (5 if choice.beam else 1),
        )
    return found


class Row:
    """One row being measured: who takes part, and why the others do not."""

    def __init__(self, table: str, work: Work, workers: Mapping[str, Worker]) -> None:
        self.table, self.work, self.workers = table, work, workers
        self.programs: dict[str, Worker] = {}
        self.marks: dict[str, str] = {}
        self.notes: list[str] = []
        self.kernels: list[dict[str, Any]] = []

    def prepare(self) -> None:
        """Everybody gets the row ready, and results are compared with tinyframe's."""
        shape, expected = None, None
        for name, worker in self.workers.items():
            is_beside = name == "beside"
            row = self.work.beside if is_beside else self.work.name
            if row is None:
                continue
            try:
                library = "tinyframe" if is_beside else name
                facts = worker.prepare(ready, library, self.table, row, shape)
                if name == "tinyframe":
                    shape, self.kernels = facts["shapes"][0], facts["kernels"]
                    expected = worker.results()
                elif not is_beside:
                    check(worker.results(), expected)
                self.programs[name] = worker
            except LeftOut as why:
                self.lost(name, why)
                if name == "tinyframe":
                    return

    def lost(self, name: str, why: LeftOut) -> None:
        self.programs.pop(name, None)
        if why.mark != NOT_HERE:
            self.marks[name] = why.mark
            where = "" if why.mark == ABSENT else f" in {self.work.name}"
            self.notes.append(f"{name}{where}: {why}")

    def measure(self, quiet: Quiet, turns: int) -> tuple[dict[str, Any], float]:
        """Seconds of each turn by library, and the pace of the loops around."""
        if "tinyframe" not in self.programs:
            return {}, 0.0
        by_memory = self.work.flops <= FEW * self.work.bytes
        bound = ("fma", "read") if by_memory else ("fma",)
        times, pace = quiet.around(lambda: interleaved(self.programs, turns, self.lost), bound)
        return {name: t.seconds for name, t in times.items()}, pace


def check(results: Any, expected: Any) -> None:
    """LeftOut where results differ by more than TOLERANCE."""
    error = differences(results, expected)
    if not error <= TOLERANCE:  # NaN too
        raise LeftOut("differs", f"its result is off by {error:.1e} of the largest number")


def measure(table: str, work: Work, workers: Mapping[str, Worker], quiet: Quiet, turns: int,
            keep: Path | None = None) -> Results:  # fmt: skip
    """One row of the results."""
    row = Row(table, work, workers)
    row.prepare()
    seconds, pace = row.measure(quiet, turns)
    if keep:
        write_kernels(row.kernels, keep / re.sub(r"\W+", "_", f"{table} {work.name}"))
    beside = [w.flops for w in TABLES[table].rows() if w.name == work.beside]
    return {
        "name": work.name, "must": work.must, "flops": work.flops, "bytes": work.bytes,
        "beside flops": beside[0] if beside else 0.0, "kernels": len(row.kernels),
        "kernel ops": sum(kernel["ops"] for kernel in row.kernels),
        "kernel bytes": sum(kernel["bytes"] for kernel in row.kernels),
        "opts": [kernel["opts"] for kernel in row.kernels], "notes": row.notes,
        "marks": row.marks, "pace": pace, "seconds": seconds,
    }  # fmt: skip


def write_kernels(kernels: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Each kernel as loops, Opts and source."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, kernel in enumerate(kernels):
        opts = "".join(f"// {opt}\n" for opt in kernel["opts"])
        (folder / f"{number}_{kernel['name']}.c").write_text(opts + kernel["source"])
        (folder / f"{number}_{kernel['name']}.txt").write_text(kernel["loops"])


def run_table(table: str, choice: Choice, tell: Tell, results: Results) -> None:
    """Adds a table's peaks and its rows to the results."""
    threads = TABLES[table].cores or settings.THREADS
    with contextlib.ExitStack() as stack:
        workers = crew(table, threads, choice)
        loops = {name: Worker(name, threads) for name in ("fma", "read")}
        for worker in (*workers.values(), *loops.values()):
            stack.enter_context(worker)
        for name, worker in loops.items():
            worker.prepare(roofline.one_loop, name, threads)
        found = Quiet(loops)
        found.learn()
        peaks = loops["fma"].call(roofline.peaks, threads, min(7, choice.turns))
        results["peaks"][table] = asdict(peaks) | {"threads": threads}
        rows = results["tables"][table] = []
        for work in choice.rows[table]:
            tell(f"{table}: {work.name}")
            rows.append(measure(table, work, workers, found, choice.turns, choice.keep))
            results["left out"] += rows[-1]["notes"]


def run(choice: Choice, tell: Tell = lambda what: None) -> Results:
    """Measures it all; `tell` hears what comes next, once for each row."""
    described = machine()
    if choice.beam:
        described["tinygrad"] += f" with BEAM={choice.beam}"
    method = METHOD.format(warm_up=WARM_UP * 1e3, least=LEAST * 1e3, turns=choice.turns,
                           busy=quiet.BUSY, attempts=quiet.ATTEMPTS,
                           threads=settings.THREADS)  # fmt: skip
    left_out = [f"{name}: not installed" for name in ("scipy", "matplotlib")
                if described[name] == "not installed"]  # fmt: skip
    results: Results = {"method": method, "machine": described, "left out": left_out,
                        "peaks": {}, "tables": {}, "scheduling": {}}  # fmt: skip
    for table in choice.rows:
        run_table(table, choice, tell, results)
    for count in choice.kernels:
        tell(f"scheduling {count:,} kernels")
        times = growth.scheduling(count, min(3, choice.turns) if count > 1000 else choice.turns)
        results["scheduling"][str(count)] = times.seconds
    results["left out"] = list(dict.fromkeys(results["left out"]))
    return results
