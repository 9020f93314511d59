"""A limit on the time that a block of Python takes, in the thread that runs it."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType

# After the first signal come more, for an answer that catches everything and goes on.
AGAIN = 0.2


class OutOfTime(BaseException):
    """Time is up. No Exception, so that `except Exception` in an answer does not catch it."""


class time_limit:  # used as a function is
    """OutOfTime inside the block after `seconds`; what a signal handler or timer was is put back.

    Ctrl-C and a notebook's stop button work as always. Signals reach Python's main thread only
    (notebooks run there), and a call into C is stopped when it returns; elsewhere no limit holds.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.running = self.set = False

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        self.running = self.set = True
        self.started = time.monotonic()
        self.handler = signal.signal(signal.SIGALRM, self._stop)
        self.left, self.interval = signal.setitimer(signal.ITIMER_REAL, self.seconds, AGAIN)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        # One that comes while things are put back must not leave them half done: the alarm would
        # ring for ever.
        if self.running and (frame is None or frame.f_code not in OURS):
            raise OutOfTime

    def __exit__(self, *error: object) -> None:
        if not self.set:
            return
        self.running = False  # a signal from here on means nothing
        if self.left:  # somebody's own alarm, which has been waiting
            self.left = max(self.left - (time.monotonic() - self.started), 1e-3)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.handler)
        signal.setitimer(signal.ITIMER_REAL, self.left, self.interval)


OURS = {f.__code__ for f in (time_limit.__enter__, time_limit.__exit__, time_limit._stop)}
