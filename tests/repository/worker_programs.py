"""What the tests of benchmarks/workers.py let a worker do; importing it has to be cheap."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

import numpy as np

from benchmarks.measure import LeftOut
from benchmarks.workers import Ready, Worker


def nothing(results: Any = None) -> Ready:
    return Ready(lambda: None, lambda: results, {"process": os.getpid()})


def counting(path: str) -> Ready:
    """A thread of it counts for as long as the process runs, as one that looks for work does."""
    counter = np.memmap(path, np.int64, "r+")

    def count() -> None:
        while True:
            counter[0] += 1

    threading.Thread(target=count, daemon=True).start()
    return nothing()


def crash_in_turns() -> Ready:
    return Ready(lambda: os.kill(os.getpid(), signal.SIGSEGV))


def crash() -> Ready:
    os._exit(3)


def fail() -> Ready:
    raise ValueError("no such shape\nand a second line")


def decline() -> Ready:
    raise LeftOut("absent", "not installed")


def hang() -> None:
    print("hanging", file=sys.stderr, flush=True)
    while True:
        signal.pause()


def told() -> dict[str, str | None]:
    """How many threads libraries are told to use."""
    return {name: os.environ.get(name) for name in ("THREADS", "OMP_NUM_THREADS", "DEV")}


def hold_two_workers() -> None:
    """A program with a worker that is stopped and one that hangs."""
    from benchmarks.__main__ import terminated

    signal.signal(signal.SIGTERM, terminated)
    with Worker("stopped", 1) as stopped, Worker("hanging", 1) as hanging:
        stopped.prepare(nothing)
        hanging.call(hang)
