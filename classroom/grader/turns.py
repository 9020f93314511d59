"""Graders side by side: they work together, but what was late is asked again by one of them alone.

Two lock files of this user hold the graders of a machine together. Whoever asks holds `room`,
shared with others; whoever has to be alone holds it exclusively. Everyone comes in through `door`,
one after the other, so that one who waits to be alone gets its turn.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator

# Not the temporary folder of today: graders with different settings share the machine all the same.
PLACE = "/tmp/tinyframe-grade-{user}.{name}"
PATIENCE = 300.0  # seconds; a grader that somebody stopped must not stop all others


@contextlib.contextmanager
def together() -> Iterator[None]:
    """While this lasts, other graders may work too, but none alone."""
    with _in_room(fcntl.LOCK_SH):
        yield


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """While this lasts, no other grader of this user asks anything."""
    with _in_room(fcntl.LOCK_EX):
        yield


@contextlib.contextmanager
def _in_room(how: int) -> Iterator[None]:
    with contextlib.ExitStack() as held:
        with contextlib.ExitStack() as entering:
            _lock("door", fcntl.LOCK_EX, entering)
            _lock("room", how, held)
        yield


def _lock(name: str, how: int, until: contextlib.ExitStack) -> None:
    """Where there can be no such file, or it is another's, everybody comes in."""
    path, flags = PLACE.format(user=os.getuid(), name=name), os.O_RDWR | os.O_CREAT
    try:
        file = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return
    until.callback(os.close, file)
    if os.fstat(file).st_uid != os.getuid():
        return
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            return fcntl.flock(file, how | fcntl.LOCK_NB)
        except OSError:
            time.sleep(0.02)
