"""The common base of all Tensor methods: the graph behind a Tensor, and how results are made.

A Tensor is a thin object. It has a storage (`storage.py`), which refers to the graph that computes
its values; if it is a view, the path from that graph to its elements; and the state of autograd.
`uop` is the graph as this Tensor sees it. A method returns a view of the same storage (`_view`: it
only moves elements) or a new value (`_apply`: everything else). The methods are grouped by kind,
one file each (creation, elementwise, movement, reduce, …), as base classes of `core.Tensor`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
import weakref
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tinyframe.device import Device
from tinyframe.dtype import DType, dtypes
from tinyframe.errors import DeviceError
from tinyframe.observe import of_tensors, tell_of_tensors
from tinyframe.peer_settings import no_attribute
from tinyframe.run.capture import capture_now, captures
from tinyframe.run.realize import running
from tinyframe.settings import put, settings
from tinyframe.tensor.storage import Path, Storage, follow, path_between
from tinyframe.uop.node import UOp, plain, sint
from tinyframe.uop.show import sizes_text

# ---- no_grad -------------------------------------------------------------------------------------
#
# Results that no gradient flows through:
#
#     with Tensor.no_grad():
#         w.assign(w - 0.1 * w.grad)      # w stays a parameter, and does not become a result
#
# Every method records its graph, which is needed to compute the result. Inside `no_grad()` operands
# that require a gradient, or may still come to, go through a DETACH, which stops gradients.

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
    """Every Tensor alive."""
    return [tensor for ref in tuple(_live) if (tensor := ref()) is not None]


if TYPE_CHECKING:
    # A type checker takes the methods of the other files to be there: each file uses all of them.
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
    _read: tuple[UOp, UOp] | None = None  # a view that was read, and the BUFFER with just that

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
        if captures and (capture := capture_now()) is not None:
            capture.note(self._storage, self)
        root = self._storage.uop
        if not self._path:
            return root
        if self._seen is None or self._seen[0] is not root:
            self._seen = root, follow(self._path, root)
        return self._seen[1]

    @uop.setter
    def uop(self, uop: UOp) -> None:
        """Gives this Tensor, and all that share its storage, a different graph."""
        if self._path:  # a view with a graph of its own is no longer a view
            with running:
                self._storage, self._path, self._seen = Storage(uop, self._storage.asks), (), None
        else:
            self._storage.assign(uop)

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
        asks = [tensor._requires_grad for tensor in sources]
        result = function(*graphs)
        if not dtypes.is_float(result.dtype):  # nothing flows through ints and bools
            return self._of(result, False)
        return self._of(result, True if True in asks else None if None in asks else False)

    def _cut_off(self) -> Self:
        """The same values without a gradient; this Tensor itself if it can have none."""
        if self._requires_grad is False or not dtypes.is_float(self.dtype):
            return self
        return self._of(self.uop.detach(), False)

    def _view(self, function: Callable[[UOp], UOp]) -> Self:
        """A view: a Tensor on the same storage, with `function`, which only moves elements."""
        is_cut = not (
            is_grad_enabled() or self._requires_grad is False or not dtypes.is_float(self.dtype)
        )
        seen = function(self.uop.detach() if is_cut else self.uop)
        root = self._storage.uop
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
