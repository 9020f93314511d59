"""What a TinyJit is capturing in this thread: a note of all that a replay has to know of.

A capture belongs to one thread. Others go on computing and reading as always.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tinyframe.device import Buffer, buffer_of
from tinyframe.uop.movement import base_of
from tinyframe.uop.node import Ops, UOp


class JitError(RuntimeError):
    """A call that a captured function cannot answer; the message says what differs and what to
    do."""


class Constants:
    """The storages, by number, that were constants when a call was captured. Kernels hold their
    values as numbers, so that nobody can tell whether they were used: once one of them is assigned
    to, the call has to be captured anew."""

    _all: weakref.WeakSet[Constants] = weakref.WeakSet()

    def __init__(self) -> None:
        self.numbers: set[int] = set()
        self.have_changed = False
        Constants._all.add(self)


def constant_changes(number: int) -> None:
    """Called before a storage that is a constant is assigned to."""
    for constants in tuple(Constants._all):
        if number in constants.numbers:
            constants.have_changed = True


@dataclass(eq=False)
class Capture:
    """A call that is being captured.

    started: older storages have a lower number. owners: for memory that was
    there before, the storages that lie in it, and their graphs. theirs: that, and the memory of
    arguments. changed: those made before that were assigned to. random: memory that numbers for
    random() are read from, and what fills it with the next ones. is_mixed: something was computed
    outside that a graph of the call contains too, so that its record lacks that.
    """

    started: int
    owners: dict[Buffer, list[tuple[weakref.ref, UOp]]] = field(default_factory=dict)
    theirs: set[Buffer] = field(default_factory=set)
    changed: dict[Any, None] = field(default_factory=dict)
    random: list[tuple[Buffer, Callable[[Buffer], None]]] = field(default_factory=list)
    is_mixed: bool = False
    constants: Constants = field(default_factory=Constants)
    thread: int = field(default_factory=threading.get_ident)

    def made(self, storage: Any) -> bool:
        """Whether the call made a storage: it is no older, and was not made by another thread."""
        return storage.born >= self.started and storage.thread == self.thread

    def note_owner(self, storage: Any) -> None:
        """A storage that was there before the call: what memory it lies in, or that it is a
        constant."""
        base = base_of(storage.uop)
        if base.op in (Ops.CONST, Ops.IOTA):
            self.constants.numbers.add(storage.born)
        if base.op is Ops.BUFFER:
            owner = weakref.ref(storage), storage.uop
            self.owners.setdefault(buffer_of(base), []).append(owner)
            self.theirs.add(buffer_of(base))


_thread = threading.local()
captures: list[Capture | None] = []  # of all threads: most of the time there is none


def capture_now() -> Capture | None:
    """The capture that this thread is in."""
    return getattr(_thread, "capture", None)


@contextmanager
def capturing(capture: Capture | None) -> Iterator[None]:
    """Inside, this thread captures (None: does not)."""
    before, _thread.capture = capture_now(), capture
    captures.append(capture)
    try:
        yield
    finally:
        captures.remove(capture)
        _thread.capture = before


def needs_value(what: str) -> None:
    """Raises JitError while a function is captured: a Python value would be frozen into it."""
    if capture_now() is not None:
        raise JitError(
            f"{what} inside a TinyJit: the value would be frozen at what it is in this call. "
            "Return the Tensor and read it outside"
        )


def refill_at_replay(buffer: Buffer, refill: Callable[[Buffer], None]) -> None:
    """Memory that a captured call reads and every replay has to fill anew (the state of random
    numbers)."""
    if (capture := capture_now()) is not None:
        capture.random.append((buffer, refill))
