"""What a captured call leaves: Tensors that it returns, `.grad`s, histories that end."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from sys import getrefcount
from typing import Any

from tinyframe.tensor.base import Path, Storage
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.history import Lost, put_history
from tinyframe.uop.node import GroupOp, UOp

NO_HISTORY = (
    " was replayed by TinyJit, without the Python that notes it. Call backward() inside the "
    "captured function, or leave TinyJit out; .detach() the result if no gradient is wanted"
)


class Cut:
    """Those that gradients would have flowed to through a value: older storages, and arguments by
    their numbers. A replay notes nothing of the way there (see `Lost`)."""

    def __init__(self, targets: Sequence[weakref.ref[Storage] | int], name: str) -> None:
        self.numbers = [target for target in targets if isinstance(target, int)]
        self.older = [target for target in targets if not isinstance(target, int)]
        self.why = name + NO_HISTORY
        self.given: Sequence[weakref.ref[Storage]] | None = None
        self.last: Lost | None = None

    def __bool__(self) -> bool:
        return bool(self.numbers or self.older)

    def lost(self, given: Sequence[weakref.ref[Storage]]) -> Lost | None:
        """The history of such a value in a call with these arguments."""
        if given is not self.given and self:
            targets = [*self.older, *[given[number] for number in self.numbers]]
            if self.last is None or targets != self.last.refs:
                self.last = Lost(targets, self.why)
            self.given = given
        return self.last


@dataclass(frozen=True, eq=False)
class ReturnedTensor:
    """A Tensor in a result: a view, `path`, of a storage. The storage is an argument's (its
    number), an older one, or (None) a new one, number `new`, whose value is the view `inside` of
    `base`, a BUFFER or a constant.
    """

    storage: int | Storage | None
    new: int
    base: UOp
    inside: Path
    path: Path
    requires_grad: bool | None
    cut: Cut
    grad: ReturnedTensor | None


@dataclass(eq=False)
class GradChange:
    """The effect of a call on the `.grad` of a Tensor, an argument (its number) or an older one.

    must_exist: whether it had one before (None: that makes no difference). after: the new one.
    has_own_memory: whether nothing else lies in that one's memory. reusable: the one that the last
    call left, with its memory.
    """

    owner: int | weakref.ref[Tensor]
    must_exist: bool | None
    is_unchanged: bool
    after: ReturnedTensor | None
    has_own_memory: bool = False
    reusable: ReusableGrad | None = None

    def owner_in(self, tensors: Sequence[Tensor]) -> Tensor | None:
        return tensors[self.owner] if isinstance(self.owner, int) else self.owner()


class ReusableGrad:
    """A `.grad` that a call has left. Where nobody else has a reference to it, the next call writes
    to its memory again, which takes less time than to make another."""

    def __init__(self, grad: Tensor, lost: Lost | None) -> None:
        self.grad, self.uop, self.lost = weakref.ref(grad), weakref.ref(grad._storage.uop), lost
        self.asks = _asks(grad)

    def is_unshared(self, owner: Tensor) -> bool:
        """Whether this is still the owner's `.grad`, and all from the Tensor down to the BUFFER has
        one reference."""
        if owner._grad is None or _most_references(owner) > _references_if_unshared():
            return False
        grad = owner._grad
        return (
            grad is self.grad()
            and grad._storage.uop is self.uop()
            and grad._grad is None
            and _asks(grad) == self.asks
        )

    def put_history(self, grad: Tensor, lost: Lost | None) -> None:
        """The same as in the last call, as a rule."""
        if lost is not self.lost:
            put_history(grad._storage.uop, lost)
            self.lost = lost


def _asks(grad: Tensor) -> tuple[Any, ...]:
    return grad._requires_grad, grad._storage.asks, grad._storage.is_parameter


def _most_references(owner: Tensor) -> int:
    """The most references that Python counts to a `.grad`, its storage or a node of its graph."""
    found: list[Any] = [owner._grad]  # without names of their own, which would count
    found.append(found[-1]._storage)
    found.append(found[-1].uop)
    while found[-1].op in GroupOp.Movement:
        found.append(found[-1].src[0])
    return max(map(getrefcount, found))


@functools.cache
def _references_if_unshared() -> int:
    """The same where nobody else has any of them, which depends on the version of Python."""
    owner = Tensor.empty(1, device="PYTHON")  # which every machine has
    owner._grad = Tensor.empty(1, device="PYTHON")
    return _most_references(owner)

