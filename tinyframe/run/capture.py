"""The call that a TinyJit is capturing in this thread, with everything a replay depends on.

A capture belongs to one thread. Other threads compute and read as usual.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tinyframe.device import Buffer, buffer_of
from tinyframe.uop.movement import base_of
from tinyframe.uop.node import Ops, UOp


class JitError(RuntimeError):
    """A call that cannot be captured or replayed; the message says why, and what to do."""


ALIASED_ARGUMENT = (
    "a Tensor is passed to a captured function that also uses it by another route, such as a "
    "global variable; a replay could not tell the two apart. Pass a clone()"
)


NEEDS_NO_KERNEL = (Ops.BUFFER, Ops.CONST, Ops.IOTA)  # values that exist without a kernel


class Owner:
    """A storage older than the captured call that the call uses: an argument's, or a state.

    storage(): the storage, None once it is gone. uop, buffer: its graph and its memory when the
    call first used it; no memory for a constant, or for a value that was not computed yet. The rest
    is for replays. view: its memory layout, which is all that a kernel depends on. seen: its graph
    in the last call; if it is unchanged, it need not be checked again. slot: its number among the
    kernels' slots. cut: where gradients would flow through the value that the call leaves in it.
    has_gradient: for an argument, whether the call may give it a `.grad`; for a state, whether
    gradients flowed through it to a parameter. place, text: its name and a description, for errors.
    """

    view: Any = None
    seen: Any = None
    slot = -1
    is_written = False
    cut: Any = None
    has_gradient = False
    place = text = ""

    def __init__(self, storage: Any) -> None:
        base = base_of(storage.uop)
        self.storage: Callable[[], Any] = weakref.ref(storage)
        self.uop = storage.uop
        self.buffer = buffer_of(base) if base.op is Ops.BUFFER else None


class Capture:
    """A call that is being captured.

    started: the call's own storages are numbered from here. arguments: the Tensors passed to the
    function; inputs: the number of each one's storage -> its index; aliases: the ids of all other
    Tensors on these storages. unrealized: the numbers of storages that were not computed yet.
    initial: the value of each older storage that the call used, by number. changed: those that were
    assigned to. grads: the `.grad` of each older Tensor when the call first read it; UNREAD if it
    was set first. nodes: the BUFFERs of computed values. made_memory: memory that was allocated for
    the call's kernels. random: the state of random numbers, and the function that refills it.
    frame: the stack frame of the TinyJit's call.
    """

    frame: FrameType | None = None

    def __init__(
        self, arguments: list[Any], owners: list[Owner], live: list[Any], started: int
    ) -> None:
        """owners: the Owner of each argument's storage. live: all Tensors that exist. started: the
        number of the next storage."""
        self.arguments, self.started, self.thread = arguments, started, threading.get_ident()
        self.inputs = {tensor._storage.born: n for n, tensor in enumerate(arguments)}
        self.initial = dict(zip(self.inputs, owners, strict=True))
        aliases = {id(tensor) for tensor in live if tensor._storage.born in self.inputs}
        self.aliases = aliases - set(map(id, arguments))
        bases = {tensor._storage.born: base_of(tensor._storage.uop) for tensor in live}
        self.unrealized = {n for n, base in bases.items() if base.op not in NEEDS_NO_KERNEL}
        self.changed: dict[Any, None] = {}
        self.grads: dict[int, tuple[Any, Any]] = {}
        self.nodes: dict[UOp, None] = {}
        self.made_memory: set[Buffer] = set()
        self.random: list[tuple[Buffer, Callable[[Buffer], None]]] = []

    def made(self, storage: Any) -> bool:
        """Whether the call made a storage: it is not older, and not made by another thread."""
        return storage.born >= self.started and storage.thread == self.thread

    def note(self, storage: Any, tensor: Any = None) -> None:
        """Called before a storage is read or changed. JitError if it is an argument's storage, used
        through a different Tensor: a replay could not tell the two apart."""
        if storage.born in self.inputs:
            if id(tensor) in self.aliases:
                raise JitError(ALIASED_ARGUMENT)
        elif storage.born not in self.initial and not self.made(storage):
            self.initial[storage.born] = Owner(storage)

    def note_grad(self, tensor: Any, grad: Any) -> None:
        """Called before `.grad` of a Tensor is read, or (UNREAD) set; JitError as in note()."""
        if id(tensor) in self.aliases:
            raise JitError(ALIASED_ARGUMENT)
        if not self.made(tensor._storage):
            self.grads.setdefault(id(tensor), (tensor, grad))

    def note_memory(self, items: Iterable[Any]) -> None:
        """Called with a schedule before it is run."""
        self.made_memory.update([b for i in items for b in i.bufs if not b.is_allocated()])

    def check_histories(self, values: Iterable[UOp]) -> None:
        """Called with the realized values whose histories gradients flow through. JitError for one
        that was computed before the call."""
        if any(base_of(value) not in self.nodes for value in values):
            raise JitError(
                "a gradient inside a TinyJit flows through a Tensor that was computed before the "
                "call, and a replay does not know how. Compute it inside, or detach() it"
            )


UNREAD = object()
_thread = threading.local()
captures: set[Capture] = set()  # in all threads; usually empty, which is faster to check


def capture_now() -> Capture | None:
    """The capture in progress in this thread."""
    capture: Capture | None = getattr(_thread, "capture", None)
    if capture is not None and not is_running(capture.frame):
        captures.discard(capture)
        _thread.capture = capture = None
    return capture


def is_running(frame: FrameType | None) -> bool:
    """Whether this thread is still inside the call with this frame. State that is only valid during
    a call checks this, because Ctrl-C may skip the `finally` that would clean it up."""
    now: FrameType | None = sys._getframe()
    while now is not None and now is not frame:
        now = now.f_back
    return now is not None


@contextmanager
def capturing(capture: Capture) -> Iterator[None]:
    """Inside the block, this thread records to this capture; it has no other one before."""
    capture.frame = sys._getframe(2)  # the frame of the block
    captures.add(capture)
    _thread.capture = capture
    try:
        yield
    finally:
        _thread.capture = None
        captures.discard(capture)
        capture.frame = None  # the frame references the capture


def needs_value(what: str) -> None:
    """Raises JitError while a function is captured: a Python value would be frozen into it."""
    if capture_now() is not None:
        raise JitError(
            f"{what} inside a TinyJit: the value of this call would be frozen. "
            "Return the Tensor and read it outside"
        )


def refill_at_replay(buffer: Buffer, refill: Callable[[Buffer], None]) -> None:
    """Notes memory that every replay has to refill before its kernels read it: the state of random
    numbers."""
    if (capture := capture_now()) is not None:
        capture.random.append((buffer, refill))
