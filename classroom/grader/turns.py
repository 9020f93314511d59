"""Graders side by side: they work together, but what was late is asked again by one of them alone.

Two lock files of this user hold the graders of a machine together. Whoever asks holds `room`,
shared with others; whoever has to be alone holds it exclusively. Everyone comes in through `door`,
one after the other, so that one who waits to be alone gets its turn.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import time
from collections.abc import Iterator

# Not the temporary folder of today: graders with different settings share the machine all the same.
PLACE = "/tmp/tinyframe-grade-{user}.{name}"
FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
PATIENCE = 300.0  # seconds; a grader that somebody stopped must not stop all others


@contextlib.contextmanager
def _in_room(how: int) -> Iterator[None]:
    with contextlib.ExitStack() as held:
        with contextlib.ExitStack() as entering:
            _lock("door", fcntl.LOCK_EX, entering)
            _lock("room", how, held)
        yield


# While `together` lasts, other graders may work too, but none `alone`; while that lasts, no other
# grader of this user asks anything.
together = functools.partial(_in_room, fcntl.LOCK_SH)
alone = functools.partial(_in_room, fcntl.LOCK_EX)


_numbers = contextlib.ExitStack()  # this process's, as long as it lives


def number(count: int) -> int:
    """A number below `count` that no other grader of this user on this machine has."""
    for found in range(count):
        try:
            file = os.open(PLACE.format(user=os.getuid(), name=f"number-{found}"), FLAGS, 0o600)
        except OSError:
            continue
        try:
            if os.fstat(file).st_uid == os.getuid():
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _numbers.callback(os.close, file)
                return found
        except OSError:  # somebody else has it
            pass
        os.close(file)
    return os.getpid() % count


def _lock(name: str, how: int, until: contextlib.ExitStack) -> None:
    """Where there can be no such file, or it is another's, everybody comes in."""
    try:
        file = os.open(PLACE.format(user=os.getuid(), name=name), FLAGS, 0o600)
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
