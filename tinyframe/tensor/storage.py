"""Storage: the value that a Tensor and its views share, and that an assignment changes.

A graph never changes; a storage refers to one:

    x = Tensor([1, 2, 3])      a storage, and the graph of its values
    v = x[1:]                  the same storage, seen through a SHRINK: a view
    y = x + 1                  a storage of its own, whose graph contains the graph of x
    v.assign(0)                x's storage refers to a new graph, with 0 at these positions

So every view sees a change, and no expression built before it does: `y` still contains the old
graph. That is the whole rule of memory in program order. Whether the change can be made in place is
a separate question, decided when it is computed (`laziness.py`).

A Holder refers to a graph: it is a storage, or the history of a value (`history.py`). Each node
knows its holders, so that they can be updated when it has been computed.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from threading import get_ident
from typing import Any, TypeVar

from tinyframe.device import Device, buffer_of
from tinyframe.run.capture import capture_now
from tinyframe.run.realize import settling
from tinyframe.uop.movement import EVERY_ELEMENT, base_of
from tinyframe.uop.node import Ops, UOp, append_weak, remove_weak

T = TypeVar("T")

# Movement from a storage's value to what a view shows of it: each step's op and argument.
Path = tuple[tuple[Ops, Any], ...]


class Holder:
    """A reference to a graph, `uop`; its node lists its holders (`holders_of`)."""

    __slots__ = ("__weakref__", "uop")

    def __init__(self, uop: UOp) -> None:
        self.uop = uop
        _list_holder(uop, self)

    def point_to(self, uop: UOp) -> None:
        """Refers to this graph from now on. It is listed there first, so that it is listed at any
        moment, even if another thread calls os.fork()."""
        if uop is not (before := self.uop):
            _list_holder(uop, self)
            self.uop = uop
            remove_weak(before.__dict__["_holders"], weakref.ref(self))


def _list_holder(uop: UOp, holder: Holder) -> None:
    append_weak(uop.__dict__.setdefault("_holders", []), weakref.ref(holder))


def holders_of(uop: UOp) -> list[Holder]:
    """The holders of exactly this node."""
    if (refs := uop.__dict__.get("_holders")) is None:
        return []
    found = [holder for ref in tuple(refs) if (holder := ref()) is not None]
    # one that Ctrl-C stopped on its way to another node is still listed here
    return [holder for holder in found if holder.uop is uop]


def storages_at(uop: UOp) -> set[Storage]:
    """The storages that refer to exactly this node, or did before they were assigned to."""
    if "_holders" not in uop.__dict__ and "_former" not in uop.__dict__:
        return set()
    former = [storage for ref in uop.__dict__.get("_former", ()) if (storage := ref()) is not None]
    return {*former, *[holder for holder in holders_of(uop) if isinstance(holder, Storage)]}


class Storage(Holder):
    """The value of a Tensor and its views.

    asks: whether a gradient with respect to it may be requested. is_parameter: whether its Tensor
    has `requires_grad=True`; no gradient flows through an assignment to a parameter. born: a number
    that grows with each storage. thread: the one that created it.
    """

    __slots__ = ("asks", "born", "is_parameter", "thread")
    _count = itertools.count()

    def __init__(self, uop: UOp, asks: bool = True, is_parameter: bool = False) -> None:
        self.uop = uop
        self.asks, self.is_parameter = asks, is_parameter
        self.born, self.thread = next(Storage._count), get_ident()
        _list_holder(uop, self)

    @staticmethod
    def now() -> int:
        """Storages made from now on have at least this number."""
        return next(Storage._count)

    def assign(self, uop: UOp) -> None:
        """Refers to a new graph from now on."""
        capture = capture_now()
        if capture is not None and not capture.made(self):
            capture.note(self)
            capture.changed[self] = None
        self.move_on(uop)

    def move_on(self, uop: UOp) -> None:
        """Refers to a new value from now on. The old node keeps a reference to this storage."""
        note_change(self.point_to, self.uop)
        append_weak(self.uop.__dict__.setdefault("_former", []), weakref.ref(self))
        self.point_to(uop)

    # ---- copies and files ------------------------------------------------------------------------

    def __copy__(self) -> Storage:
        return self  # copy.copy() of a Tensor shares its memory

    def __deepcopy__(self, memo: dict) -> Storage:
        """The same value in memory of its own."""
        uop, base = self.in_memory()
        if base is not None:
            fresh = UOp.new_buffer(base.device, base.arg, base.dtype)
            buffer_of(fresh).copyin(buffer_of(base).as_memoryview())
            uop = uop.substitute({base: fresh})
        return Storage(uop, self.asks, self.is_parameter)

    def __reduce__(self) -> tuple:
        uop, base = self.in_memory()
        if base is None:
            return _from_file, (uop, None, self.asks, self.is_parameter)
        memory = base.device, base.arg, base.dtype, bytes(buffer_of(base).as_memoryview())
        return _from_file, (path_between(base, uop), memory, self.asks, self.is_parameter)

    def in_memory(self) -> tuple[UOp, UOp | None]:
        """The computed graph, and the BUFFER with the values; None for a constant, which needs
        none."""
        from tinyframe.tensor.laziness import compute

        compute([self], "copying a Tensor")
        base = base_of(self.uop)
        return self.uop, base if base.op is Ops.BUFFER else None


def _from_file(graph: Any, memory: tuple | None, asks: bool, is_parameter: bool) -> Storage:
    """The inverse of __reduce__: from the graph of a constant, or the contents of memory and the
    path of a view."""
    if memory is None:
        return Storage(graph, asks, is_parameter)
    device, size, dtype, data = memory
    base = UOp.new_buffer(Device.named(device), size, dtype)
    buffer_of(base).copyin(data)
    return Storage(follow(graph, base), asks, is_parameter)


# ---- changes that belong together ----------------------------------------------------------------

_thread = threading.local()


def all_or_nothing(work: Callable[[], T]) -> T:
    """What `work()` gives. If an error or Ctrl-C stops it, all that it has changed in this thread
    is undone: the values of storages, and what it notes with `note_change`."""
    outer: list | None = getattr(_thread, "changes", None)
    changes: list[tuple] = []

    def undo() -> None:
        _thread.changes = outer
        for change in reversed(changes):
            change[0](*change[1:])

    def noted() -> T:
        _thread.changes = changes
        result = work()
        if outer is not None:
            outer.extend(changes)
        _thread.changes = outer
        return result

    return settling(noted, undo)


def note_change(undo: Callable[..., Any], *arguments: Any) -> None:
    """Says how to undo a change that is about to be made."""
    if (changes := getattr(_thread, "changes", None)) is not None:
        changes.append((undo, *arguments))


# ---- views ---------------------------------------------------------------------------------------


def path_between(root: UOp, view: UOp) -> Path:
    """The steps from a value to a view of it."""
    steps = []
    while view is not root:
        steps.append((view.op, view.arg))
        view = view.src[0]
    return tuple(reversed(steps))


def follow(path: Path, root: UOp) -> UOp:
    """The view that a path leads to."""
    for op, arg in path:
        root = UOp(op, root.dtype, (root,), arg)
    return root


def shows_all(path: Path) -> bool:
    """Whether a view shows every element of its storage exactly once."""
    return all(op in EVERY_ELEMENT for op, _ in path)


def is_one_to_one(path: Path) -> bool:
    """Whether a view shows each element at most once, and no padding: it can be written to."""
    return all(
        op in EVERY_ELEMENT or op is Ops.SHRINK or (op is Ops.WINDOW and _are_apart(*arg))
        for op, arg in path
    )


def _are_apart(axis: int, size: int, stride: int, dilation: int) -> bool:
    """Whether windows do not overlap, as in t[::2]."""
    return dilation * (size - 1) < stride
