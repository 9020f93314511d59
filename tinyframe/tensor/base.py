"""The common base of all Tensor methods: the graph behind a Tensor, and how results are made.

A Tensor is a thin object. It has a storage, which refers to the graph that computes its values; if
it is a view, the path from that graph to its elements; and the state of autograd. `uop` is the
graph as this Tensor sees it. A method returns a view of the same storage (`_view`: it only moves
elements) or a new value (`_apply`: everything else). The methods are grouped by kind, one file each
(creation, elementwise, movement, reduce, …), as base classes of `core.Tensor`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import operator
import threading
import weakref
from collections.abc import Callable, Generator, Iterator
from contextvars import ContextVar
from threading import get_ident
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tinyframe.device import Device, buffer_of
from tinyframe.dtype import DType, dtypes
from tinyframe.errors import DeviceError
from tinyframe.observe import of_tensors, tell_of_tensors
from tinyframe.peer_settings import no_attribute
from tinyframe.run.capture import capture_now, captures
from tinyframe.run.realize import running, settling
from tinyframe.settings import put, settings
from tinyframe.uop.movement import EVERY_ELEMENT, base_of
from tinyframe.uop.node import GroupOp, Ops, UOp, append_weak, plain, remove_weak, sint
from tinyframe.uop.show import sizes_text

# ---- storage: the value that a Tensor and its views share, and that an assignment changes --------
#
# A graph never changes; a storage refers to one:
#
#     x = Tensor([1, 2, 3])      a storage, and the graph of its values
#     v = x[1:]                  the same storage, seen through a SHRINK: a view
#     y = x + 1                  a storage of its own, whose graph contains the graph of x
#     v.assign(0)                x's storage refers to a new graph, with 0 at these positions
#
# So every view sees a change, and no expression built before it does: `y` still contains the old
# graph. That is the whole rule of memory in program order. Whether the change can be made in place
# is a separate question, decided when it is computed (`laziness.py`).
#
# A Reference points to a graph: it is a storage, or the history of a value (`history.py`). Each
# node knows its references, so that they can be updated when it has been computed.

T = TypeVar("T")

# The movement ops that lead from a storage's value to a view of it, each with its argument.
Path = tuple[tuple[Ops, Any], ...]


class Reference:
    """A reference to a graph, `uop`; its node lists its references (`references_to`)."""

    __slots__ = ("__weakref__", "uop")

    def __init__(self, uop: UOp) -> None:
        self.uop = uop
        _list_reference(uop, self)

    def point_to(self, uop: UOp) -> None:
        """Refers to this graph from now on. It is listed there first, so that it is listed at any
        moment, even if another thread calls os.fork()."""
        if uop is not (before := self.uop):
            _list_reference(uop, self)
            self.uop = uop
            remove_weak(before.__dict__["_references"], weakref.ref(self))


def _list_reference(uop: UOp, reference: Reference) -> None:
    append_weak(uop.__dict__.setdefault("_references", []), weakref.ref(reference))


def references_to(uop: UOp) -> list[Reference]:
    """The references to exactly this node."""
    if (refs := uop.__dict__.get("_references")) is None:
        return []
    found = [reference for ref in tuple(refs) if (reference := ref()) is not None]
    # if Ctrl-C stopped one on its way to another node, it is still listed here
    return [reference for reference in found if reference.uop is uop]


def storages_at(uop: UOp) -> set[Storage]:
    """The storages that refer to exactly this node, or did before they were assigned to."""
    if "_references" not in uop.__dict__ and "_earlier_storages" not in uop.__dict__:
        return set()
    earlier = [s for ref in uop.__dict__.get("_earlier_storages", ()) if (s := ref()) is not None]
    return {*earlier, *[r for r in references_to(uop) if isinstance(r, Storage)]}


class Storage(Reference):
    """The value of a Tensor and its views.

    may_need_grad: whether a gradient with respect to it may be requested. is_parameter: whether its
    Tensor has `requires_grad=True`; no gradient flows through an assignment to a parameter. born: a
    number that grows with each storage. thread: the one that created it.
    """

    __slots__ = ("born", "is_parameter", "may_need_grad", "thread")
    _count = itertools.count()

    def __init__(self, uop: UOp, may_need_grad: bool = True, is_parameter: bool = False) -> None:
        self.uop = uop
        self.may_need_grad, self.is_parameter = may_need_grad, is_parameter
        self.born, self.thread = next(Storage._count), get_ident()
        _list_reference(uop, self)

    @staticmethod
    def next_number() -> int:
        """Storages made from now on have at least this number."""
        return next(Storage._count)

    def assign(self, uop: UOp) -> None:
        """Refers to a new graph from now on."""
        capture = capture_now()
        if capture is not None and not capture.made(self):
            capture.note(self)
            capture.changed[self] = None
        self.take_value(uop)

    def take_value(self, uop: UOp) -> None:
        """Refers to a new value from now on. The old node keeps a reference to this storage."""
        note_change(self.point_to, self.uop)
        append_weak(self.uop.__dict__.setdefault("_earlier_storages", []), weakref.ref(self))
        self.point_to(uop)

    # ---- copies and files ------------------------------------------------------------------------

    def __copy__(self) -> Storage:
        return self  # copy.copy() of a Tensor shares its memory

    def __reduce__(self) -> tuple:
        """For files and copy.deepcopy(): the bytes of the values, and the path of the view that
        they are seen through; of a constant, which needs no memory, the graph."""
        from tinyframe.tensor.laziness import compute

        compute([self], "copying a Tensor")
        base, flags = base_of(self.uop), (self.may_need_grad, self.is_parameter)
        if base.op is not Ops.BUFFER:
            return _from_file, (self.uop, None, *flags)
        memory = base.device, base.arg, base.dtype, bytes(buffer_of(base).as_memoryview())
        return _from_file, (path_between(base, self.uop), memory, *flags)


def _from_file(graph: Any, memory: tuple | None, *flags: bool) -> Storage:
    """The inverse of __reduce__."""
    if memory is None:
        return Storage(graph, *flags)
    device, size, dtype, data = memory
    base = UOp.new_buffer(Device.named(device), size, dtype)
    buffer_of(base).copyin(data)
    return Storage(follow(graph, base), *flags)


# ---- changes that belong together ----------------------------------------------------------------

_thread = threading.local()


def all_or_nothing(work: Callable[[], T]) -> T:
    """The result of `work()`. If an error or Ctrl-C stops it, all that it has changed in this
    thread is undone: the values of storages, and what it noted with `note_change`."""
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


def down_to_memory(view: UOp) -> Iterator[UOp]:
    """A view, its source, and so on down to its `base_of`."""
    while view.op in GroupOp.Movement or view.op is Ops.DETACH:
        yield view
        view = view.src[0]
    yield view


def follow(path: Path, root: UOp) -> UOp:
    """The view that a path leads to."""
    for op, arg in path:
        root = UOp(op, root.dtype, (root,), arg)
    return root


def shows_all(path: Path) -> bool:
    """Whether a view shows every element of its storage exactly once."""
    return all(op in EVERY_ELEMENT for op, _ in path)


def is_one_to_one(path: Path) -> bool:
    """Whether a view can be written to: it shows each element at most once, and no padding."""
    return all(
        op in EVERY_ELEMENT or op is Ops.SHRINK or (op is Ops.WINDOW and _are_apart(*arg))
        for op, arg in path
    )


def _are_apart(axis: int, size: int, stride: int, dilation: int) -> bool:
    """Whether windows do not overlap, as in t[::2]."""
    return dilation * (size - 1) < stride


# ---- no_grad -------------------------------------------------------------------------------------
#
# Results that no gradient flows through:
#
#     with Tensor.no_grad():
#         w.assign(w - 0.1 * w.grad)      # w stays a parameter, and does not become a result
#
# Every method records its graph, which is needed to compute the result. Inside `no_grad()` operands
# that require a gradient, or may do so later, go through a DETACH, which stops gradients.

Function = TypeVar("Function", bound=Callable[..., Any])

# The number of nested no_grad() blocks that this thread (or asyncio task) is in.
_blocks: ContextVar[int] = ContextVar("tinyframe_no_grad", default=0)


def is_grad_enabled() -> bool:
    """Whether gradients flow through results that are made now."""
    return _blocks.get() == 0


class NoGrad(contextlib.ContextDecorator):
    """A block, or as a decorator a function, without gradients. It has no state of its own, so one
    can be entered twice, and by several threads."""

    def __enter__(self) -> None:
        _blocks.set(_blocks.get() + 1)

    def __exit__(self, *_: object) -> None:
        _blocks.set(_blocks.get() - 1)

    def __call__(self, func: Function) -> Function:
        if not inspect.isgeneratorfunction(func):
            return super().__call__(func)

        # A generator runs after the call has returned, in turns with its caller.
        @functools.wraps(func)
        def steps(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            generator, sent = func(*args, **kwargs), None
            while True:
                try:
                    with self:
                        item = generator.send(sent)
                except StopIteration as end:
                    return end.value
                sent = yield item

        return steps  # type: ignore[return-value]


# ---- Tensors -------------------------------------------------------------------------------------

_live: set[weakref.ref[TensorBase]] = set()


def live_tensors() -> list[Any]:
    """All live Tensors."""
    return [tensor for ref in tuple(_live) if (tensor := ref()) is not None]


if TYPE_CHECKING:
    # For a type checker, any method may exist: each file uses the methods of all the others.
    Methods = Any
else:
    Methods = object


def _check_devices(graphs: list[UOp]) -> None:
    names = dict.fromkeys([device for u in graphs if (device := u.device) is not None])
    if len(names) > 1:
        first, second, *_ = names
        raise DeviceError(
            f"one Tensor is on {first} and another on {second}: move one of them first, as in "
            f"x.to({first!r})"
        )


class Switch(type):
    """The class of Tensor classes: `Tensor.training` is the setting TRAINING."""

    @property
    def training(cls) -> bool:
        """Whether dropout is active, and BatchNorm updates its statistics."""
        return bool(settings.TRAINING)

    @training.setter
    def training(cls, mode: bool) -> None:
        put("TRAINING", bool(mode))


class TensorBase(Methods, metaclass=Switch):
    """The graph behind a Tensor, its shape, dtype and device, and how results are made."""

    _grad: Self | None
    _requires_grad: bool | None
    _storage: Storage
    _path: Path
    _seen: tuple[UOp, UOp] | None = None  # a value of the storage, and how this Tensor sees it
    _read: tuple[UOp, UOp] | None = None  # a view that was read, and the BUFFER of its elements

    def __getattr__(self, name: str) -> Any:
        raise no_attribute(self, name)

    @classmethod
    def _of(cls, uop: UOp, requires_grad: bool | None = None) -> Self:
        """A Tensor for a graph, without the checks of the constructor."""
        return cls._seeing(Storage(uop, requires_grad is not False), (), requires_grad)

    @classmethod
    def _seeing(cls, storage: Storage, path: Path, requires_grad: bool | None = None) -> Self:
        """A Tensor for a storage, or for the view of it at the end of a path."""
        tensor = object.__new__(cls)
        tensor._storage, tensor._path, tensor._requires_grad = storage, path, requires_grad
        tensor._grad = None
        tensor._register()
        return tensor

    @property
    def uop(self) -> UOp:
        """The graph that computes the values."""
        return self._rooted()[1] if self._path or captures else self._storage.uop

    @uop.setter
    def uop(self, uop: UOp) -> None:
        """Gives this Tensor, and all that share its storage, a different graph."""
        if self._path:  # a view with a graph of its own is no longer a view
            with running:
                storage = Storage(uop, self._storage.may_need_grad)
                self._storage, self._path, self._seen = storage, (), None
        else:
            self._storage.assign(uop)

    def _rooted(self) -> tuple[UOp, UOp]:
        """The storage's graph and this Tensor's. What another thread changes is in both of them or
        in neither."""
        if captures and (capture := capture_now()) is not None:
            capture.note(self._storage, self)
        root = self._storage.uop
        if not self._path:
            return root, root
        if (seen := self._seen) is None or seen[0] is not root:
            self._seen = seen = root, follow(self._path, root)
        return seen

    def _register(self) -> None:
        _live.add(weakref.ref(self, _live.discard))
        if of_tensors:
            tell_of_tensors.made(self._storage.uop)

    def _apply(self, function: Callable[..., UOp], *others: Any) -> Self:
        """The Tensor of `function`, applied to the graphs of this one and the others.

        It requires a gradient if one of its sources does. If none does, but it is still undecided
        (None) for one of them, it stays undecided: an optimizer may turn it on later. Inside
        `no_grad()` it is off.

        DeviceError if they are on different devices.
        """
        sources = (self, *others) if is_grad_enabled() else [t._cut_off() for t in (self, *others)]
        graphs = [tensor.uop for tensor in sources]
        if others:
            _check_devices(graphs)
        flags = [tensor._requires_grad for tensor in sources]
        result = function(*graphs)
        if not dtypes.is_float(result.dtype):  # nothing flows through ints and bools
            return self._of(result, False)
        return self._of(result, True if True in flags else None if None in flags else False)

    def _cut_off(self) -> Self:
        """The same values without a gradient; this Tensor itself if it can have none."""
        if self._requires_grad is False or not dtypes.is_float(self.dtype):
            return self
        return self._of(self.uop.detach(), False)

    def _view(self, function: Callable[[UOp], UOp]) -> Self:
        """A view: a Tensor on the same storage, with `function`, which may only move elements."""
        is_cut = not (
            is_grad_enabled() or self._requires_grad is False or not dtypes.is_float(self.dtype)
        )
        root, uop = self._rooted()
        seen = function(uop.detach() if is_cut else uop)
        view = self._seeing(
            self._storage, path_between(root, seen), False if is_cut else self._requires_grad
        )
        view._seen = root, seen
        if of_tensors:
            tell_of_tensors.made(seen)
        return view

    def _value(self) -> Self:
        """The same values as a new Tensor, with a storage of its own."""
        return self._apply(lambda x: x)

    @property
    def shape(self) -> tuple[sint, ...]:
        """Sizes, slowest axis first."""
        return self.uop.shape

    @property
    def _dims(self) -> str:
        """The shape as messages name it, Variables by name: (2, n=3)."""
        return sizes_text(self.shape)

    @property
    def dtype(self) -> DType:
        """The type of each element."""
        return self.uop.dtype

    @property
    def device(self) -> str:
        """The name of the device that the values are on, or will be computed on."""
        device = self.uop.device
        return Device.DEFAULT if device is None else device

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)


def as_int(value: Any, what: str = "a size is an int") -> int:
    """An int, also one of NumPy; TypeError for anything else. what: begins its message."""
    try:
        return operator.index(value)
    except TypeError:
        instead = ": a Tensor's value is .item()" if isinstance(value, TensorBase) else ""
        if isinstance(value, float) and value.is_integer():
            instead = f": write {int(value)}"
        kind = type(value).__name__
        raise TypeError(f"{what}, not {sizes_text(value)} of type {kind}{instead}") from None


def as_size(size: Any) -> sint:
    """A size: an int, or an expression of Variables; TypeError for anything else."""
    if isinstance(size, UOp) and dtypes.is_int(size.dtype) and not size.shape:
        return plain(size)
    return as_int(size)


def flat_arguments(arguments: tuple[Any, ...], named: Any = None) -> tuple[Any, ...]:
    """(2, 3) for each of `f(2, 3)`, `f((2, 3))` and `f([2, 3])`; named: for `f(shape=(2, 3))`."""
    if named is not None:
        arguments = (*arguments, named)
    if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)):
        return tuple(arguments[0])
    return arguments
