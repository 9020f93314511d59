"""What every kind of Tensor method builds on: the graph behind a Tensor, and how results are made.

A Tensor is a thin object: `uop`, the graph that says how its values come about, and what autograd
needs. Its methods are grouped by kind, one file each (creation, elementwise, movement, reduce, …),
as classes on top of `TensorBase`; `core.Tensor` puts them together.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tinyframe.dtype import DType, dtypes
from tinyframe.tensor.recording import is_recording
from tinyframe.uop.node import UOp, plain, sint

_live: dict[int, weakref.ref[TensorBase]] = {}  # by id, which is in use for as long as they live


def live_tensors() -> list[Any]:
    """Every Tensor alive: when a graph is realized, each one that contains it is updated."""
    return [tensor for ref in list(_live.values()) if (tensor := ref()) is not None]


if TYPE_CHECKING:
    # To a type checker the methods of the other kinds are there: what one file defines, all use.
    Methods = Any
else:
    Methods = object


class TensorBase(Methods):
    """The graph behind a Tensor, its shape, dtype and device, and how results are made."""

    uop: UOp
    grad: Self | None
    _requires_grad: bool | None

    training: ClassVar[bool] = False

    @classmethod
    def _of(cls, uop: UOp, requires_grad: bool | None = None) -> Self:
        """A Tensor for a graph, without the questions that the constructor asks."""
        tensor = object.__new__(cls)
        tensor.uop, tensor.grad, tensor._requires_grad = uop, None, requires_grad
        tensor._register()
        return tensor

    def _register(self) -> None:
        _live[id(self)] = weakref.ref(self)

    def __del__(self, forget: Callable[..., Any] = _live.pop) -> None:
        forget(id(self), None)

    def _apply(self, function: Callable[..., UOp], *others: Any) -> Self:
        """The Tensor of `function` of the graphs of this one and others.

        It requires a gradient where one of its sources does; where none does, whether it will is
        open (None) if it is for one of the sources, since an optimizer may still ask for it. Inside
        `no_grad()` it does not.
        """
        sources = (self, *others) if is_recording() else [t._cut_off() for t in (self, *others)]
        asks = [tensor._requires_grad for tensor in sources]
        result = function(*[tensor.uop for tensor in sources])
        if not dtypes.is_float(result.dtype):  # nothing flows through ints and bools
            return self._of(result, False)
        return self._of(result, True if True in asks else None if None in asks else False)

    def _cut_off(self) -> Self:
        """This Tensor, or where a gradient might be asked for the same values without one."""
        if self._requires_grad is False or not dtypes.is_float(self.dtype):
            return self
        return self._of(self.uop.detach(), False)

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
        from tinyframe.device import Device

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
