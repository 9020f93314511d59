"""What every kind of Tensor method builds on: the graph behind a Tensor, and how results are made.

A Tensor is a thin object: a storage (`storage.py`), which means the graph that says how its values
come about; for a view the path from there to what it shows; and what autograd needs. `uop` is the
graph as this Tensor sees it. A method gives a view of this storage (`_view`: what only moves
elements) or a new value (`_apply`: everything else). The methods are grouped by kind, one file each
(creation, elementwise, movement, reduce, …), as classes on top of `TensorBase`; `core.Tensor` puts
them together.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
import weakref
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from tinyframe.device import Device
from tinyframe.dtype import DType, dtypes
from tinyframe.errors import DeviceError
from tinyframe.observe import of_tensors, tell_of_tensors
from tinyframe.run.capture import capture_now, captures
from tinyframe.run.realize import running
from tinyframe.tensor.storage import Path, Storage, follow, path_between
from tinyframe.uop.node import UOp, plain, sint

# ---- no_grad -------------------------------------------------------------------------------------
#
# Results that no gradient will flow through:
#
#     with Tensor.no_grad():
#         w.assign(w - 0.1 * w.grad)      # w stays what it was: a parameter, not a result
#
# Every method records how its result came about, since that is what will be computed. Inside
# `no_grad()` it cuts the way back: what requires a gradient, or may yet, is taken through a DETACH.

Function = TypeVar("Function", bound=Callable[..., Any])

# In how many blocks of no_grad() this thread (or asyncio task) is.
_blocks: ContextVar[int] = ContextVar("tinyframe_no_grad", default=0)


def is_grad_enabled() -> bool:
    """Whether gradients will flow through what is made now."""
    return _blocks.get() == 0


class NoGrad(contextlib.ContextDecorator):
    """A block, or as a decorator a function, without gradients. It has no state of its own: one may
    be entered twice, and by several threads."""

    def __enter__(self) -> None:
        _blocks.set(_blocks.get() + 1)

    def __exit__(self, *_: object) -> None:
        _blocks.set(_blocks.get() - 1)

    def __call__(self, func: Function) -> Function:
        if not inspect.isgeneratorfunction(func):
            return super().__call__(func)

        # A generator runs after its call has returned, and in between runs whoever asks it.
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
    # To a type checker the methods of the other kinds are there: what one file defines, all use.
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


class TensorBase(Methods):
    """The graph behind a Tensor, its shape, dtype and device, and how results are made."""

    _grad: Self | None
    _requires_grad: bool | None
    _storage: Storage
    _path: Path
    _seen: tuple[UOp, UOp] | None = None  # a value of the storage, and how this Tensor sees it
    _read: tuple[UOp, UOp] | None = None  # a view that was read, and the BUFFER with just that

    training: ClassVar[bool] = False

    @classmethod
    def _of(cls, uop: UOp, requires_grad: bool | None = None) -> Self:
        """A Tensor for a graph, without the questions that the constructor asks."""
        return cls._seeing(Storage(uop, requires_grad is not False), (), requires_grad)

    @classmethod
    def _seeing(cls, storage: Storage, path: Path, requires_grad: bool | None = None) -> Self:
        """A Tensor that shows a storage, or what a path leads to there."""
        tensor = object.__new__(cls)
        tensor._storage, tensor._path, tensor._requires_grad = storage, path, requires_grad
        tensor._grad = None
        tensor._register()
        return tensor

    @property
    def uop(self) -> UOp:
        """The graph that says how the values come about."""
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
        """Makes this Tensor, and what shares its storage, mean another graph."""
        if self._path:  # a view that means something else is no view any more
            with running:
                self._storage, self._path, self._seen = Storage(uop, self._storage.asks), (), None
        else:
            self._storage.assign(uop)

    def _register(self) -> None:
        _live.add(weakref.ref(self, _live.discard))
        if of_tensors:
            tell_of_tensors.made(self._storage.uop)

    def _apply(self, function: Callable[..., UOp], *others: Any) -> Self:
        """The Tensor of `function` of the graphs of this one and others.

        It requires a gradient where one of its sources does; where none does, whether it will is
        open (None) if it is for one of the sources, since an optimizer may still ask for it. Inside
        `no_grad()` it does not.

        DeviceError where they are on several devices.
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
        """This Tensor, or where a gradient might be asked for the same values without one."""
        if self._requires_grad is False or not dtypes.is_float(self.dtype):
            return self
        return self._of(self.uop.detach(), False)

    def _view(self, function: Callable[[UOp], UOp]) -> Self:
        """A view: the Tensor that sees the same storage through movement."""
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
        """The same values as a new Tensor, which shares nothing that is changed with this one."""
        return self._apply(lambda x: x)

    @property
    def shape(self) -> tuple[sint, ...]:
        """Sizes, slowest axis first."""
        return self.uop.shape

    @property
    def dtype(self) -> DType:
        """The type of each element."""
        return self.uop.dtype

    @property
    def device(self) -> str:
        """The name of the device that the values are, or will be, on."""
        device = self.uop.device
        return Device.DEFAULT if device is None else device

    @property
    def ndim(self) -> int:
        """How many axes."""
        return len(self.shape)


def as_size(size: Any) -> sint:
    """A size that somebody gave: an int, or an expression of Variables; TypeError for the rest."""
    if isinstance(size, UOp) and dtypes.is_int(size.dtype) and not size.shape:
        return plain(size)
    return operator.index(size)


def flat_arguments(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """`f(2, 3)`, `f((2, 3))` and `f([2, 3])` are one call: (2, 3)."""
    if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)):
        return tuple(arguments[0])
    return arguments
