"""A limit on the time that a block of Python takes, in the thread that runs it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# After the first signal come more, for an answer that catches everything and goes on.
AGAIN = 0.2


class OutOfTime(BaseException):
    """Time is up. No Exception, so that `except Exception` in an answer does not catch it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """OutOfTime inside the block after `seconds`; what a signal handler or timer was is put back.

    Ctrl-C and a notebook's stop button work as always. Signals reach Python's main thread only
    (notebooks run there), and a call into C is stopped when it returns; elsewhere no limit holds.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    running = True

    def stop(number: int, frame: object) -> None:
        if running:
            raise OutOfTime

    started = time.monotonic()
    handler = signal.signal(signal.SIGALRM, stop)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        running = False  # a signal from here on means nothing
        if left:  # somebody's own alarm, which has been waiting
            left = max(left - (time.monotonic() - started), 1e-3)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, left, interval)
