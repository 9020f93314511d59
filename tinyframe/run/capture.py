"""What a TinyJit is capturing in this thread: a note of all that a replay has to find again.

A capture belongs to one thread. Others go on computing and reading as always.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tinyframe.device import Buffer, buffer_of
from tinyframe.uop.movement import base_of
from tinyframe.uop.node import Ops, UOp


class JitError(RuntimeError):
    """A call that a captured function cannot answer; the message says what differs and what to
    do."""


BOTH = (
    "a Tensor is passed to a captured function that also uses it without being given it; a replay "
    "could not tell which of the two is meant. Pass a clone()"
)


KNOWN = (Ops.BUFFER, Ops.CONST, Ops.IOTA)  # values that need no kernel


class Found(NamedTuple):
    """What a captured call found in a storage that was there before: its graph, and its memory;
    None for a constant, or what was not computed yet."""

    storage: weakref.ref
    uop: UOp
    buffer: Buffer | None

    @staticmethod
    def of(storage: Any) -> Found:
        base = base_of(storage.uop)
        buffer = buffer_of(base) if base.op is Ops.BUFFER else None
        return Found(weakref.ref(storage), storage.uop, buffer)


@dataclass(eq=False)
class Capture:
    """A call that is being captured.

    started: storages that the call makes have this number or a higher one. given: the Tensors that
    stand for the arguments; inputs: the numbers of their storages; outside: all other Tensors of
    these. waiting: the numbers of storages that were not computed yet. found: what it found in each
    older storage, by number. changed: those of them that were assigned to. grads: the `.grad` of
    each older Tensor when the call first read it; UNREAD where it was set first. nodes: the BUFFERs
    of what was computed. random: memory that numbers for random() are read from, and what fills it
    with the next ones.
    """

    started: int
    given: list[Any]
    inputs: dict[int, int]
    outside: set[int]
    waiting: set[int]
    found: dict[int, Found]
    changed: dict[Any, None] = field(default_factory=dict)
    grads: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    nodes: dict[UOp, None] = field(default_factory=dict)
    random: list[tuple[Buffer, Callable[[Buffer], None]]] = field(default_factory=list)
    thread: int = field(default_factory=threading.get_ident)

    @staticmethod
    def of(given: list[Any], live: Iterable[Any], started: int) -> Capture:
        """live: all Tensors that there are. started: the number of the next storage."""
        live = list(live)
        inputs = {tensor._storage.born: n for n, tensor in enumerate(given)}
        found = {tensor._storage.born: Found.of(tensor._storage) for tensor in given}
        same = {id(tensor) for tensor in live if tensor._storage.born in inputs}
        storages = {tensor._storage.born: tensor._storage for tensor in live}
        waiting = {n for n, storage in storages.items() if base_of(storage.uop).op not in KNOWN}
        return Capture(started, given, inputs, same - set(map(id, given)), waiting, found)

    def made(self, storage: Any) -> bool:
        """Whether the call made a storage: it is no older, and was not made by another thread."""
        return storage.born >= self.started and storage.thread == self.thread

    def note(self, storage: Any, tensor: Any = None) -> None:
        """Called before a storage is read or changed. JitError where that is an argument's, and the
        Tensor is not the function's parameter: a replay could not tell them apart."""
        if storage.born in self.inputs:
            if id(tensor) in self.outside:
                raise JitError(BOTH)
        elif storage.born not in self.found and not self.made(storage):
            self.found[storage.born] = Found.of(storage)

    def note_grad(self, tensor: Any, grad: Any) -> None:
        """Called before `.grad` of a Tensor is read, or (UNREAD) set; JitError as in note()."""
        if id(tensor) in self.outside:
            raise JitError(BOTH)
        if not self.made(tensor._storage):
            self.grads.setdefault(id(tensor), (tensor, grad))

    def check_histories(self, values: Iterable[UOp]) -> None:
        """Called with the realized values through whose histories gradients flow. JitError for one
        that was computed before the call."""
        if any(base_of(value) not in self.nodes for value in values):
            raise JitError(
                "a gradient inside a TinyJit flows through a Tensor that was computed before the "
                "call, and a replay could not follow how. Compute it inside, or detach() it"
            )


UNREAD = object()
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
