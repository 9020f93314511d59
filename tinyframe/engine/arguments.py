"""What a captured function is given and gives back, taken apart: Tensors, Variables, other values.

A later call has to be like the captured one. What that means is said here: a Tensor's Signature,
the values that have to be the same (Frozen), and the Usual call, which is told at a glance.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tinyframe.device import Buffer, buffer_of
from tinyframe.engine.capture import JitError
from tinyframe.uop.movement import base_of, memory_state
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text

if TYPE_CHECKING:
    from tinyframe.tensor.base import TensorBase
    from tinyframe.tensor.storage import Storage


@dataclass(frozen=True)
class Signature:
    """What an argument was when it was captured, and so what a later one has to be like."""

    place: str  # such as `args[0]` or `batch['x']`
    view: UOp  # the graph on its buffer, the buffer itself made anonymous

    def __str__(self) -> str:
        return f"{sizes_text(self.view.shape)} {self.view.dtype} on {self.view.device}"


class Given(NamedTuple):
    """The arguments of a call, taken apart."""

    layout: list[Any]  # how they are nested, and of what types they are
    tensors: list[TensorBase]
    values: list[Any]  # all others but Variables


@dataclass(frozen=True)
class Usual:
    """The usual call, told from others at a glance: Tensors that lie in memory as they are, and no
    Variables. Whatever differs from it is looked at closely."""

    layout: list[Any]
    memories: list[tuple | None]
    captured: list[Buffer]
    seen: list[weakref.ref[UOp]]  # the last call's graphs: what is given again is known already

    @staticmethod
    def of(given: Given) -> Usual | None:
        graphs = [tensor.uop for tensor in given.tensors]
        memories = [memory_as_it_lies(uop) for uop in graphs]
        if None in memories or UOp in given.layout or any(uop.unknowns for uop in graphs):
            return None
        captured = [buffer_of(uop.base) for uop in graphs]
        return Usual(given.layout, memories, captured, [weakref.ref(uop) for uop in graphs])

    def replaced(self, given: Given) -> dict[Buffer, Buffer] | None:
        """What takes the place of the captured buffers; None where this call needs a closer
        look."""
        if given.layout != self.layout:
            return None
        replaced = {}
        for n, tensor in enumerate(given.tensors):
            uop = tensor.uop
            if self.seen[n]() is not uop:
                if memory_as_it_lies(uop) != self.memories[n]:
                    return None
                self.seen[n] = weakref.ref(uop)
            replaced[self.captured[n]] = buffer_of(memory_state(uop))
        return replaced if len(set(replaced.values())) == len(given.tensors) else None


@dataclass(frozen=True)
class Frozen:
    """An argument that is no Tensor: a value, or an object that has to be the same one."""

    place: str
    value: Any
    is_object: bool

    @staticmethod
    def of(place: str, value: Any) -> Frozen:
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
            return Frozen(place, value, False)
        try:
            return Frozen(place, weakref.ref(value), True)
        except TypeError:
            return Frozen(place, lambda: value, True)

    def is_same(self, value: Any) -> bool:
        if self.is_object:
            return self.value() is value
        if type(value) is not type(self.value):
            return False
        return value == self.value or (value != value and self.value != self.value)

    def text(self) -> str:
        return "another object" if self.is_object else repr(self.value)


def walk(args: tuple, kwargs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Everything in the arguments that is no container, with a name for its place."""
    pending = [(f"args[{n}]", value) for n, value in enumerate(args)] + sorted(kwargs.items())
    while pending:
        place, value = pending.pop(0)
        if isinstance(value, (list, tuple)):
            pending[:0] = [(f"{place}[{n}]", x) for n, x in enumerate(value)]
        elif isinstance(value, dict):
            pending[:0] = [(f"{place}[{key!r}]", x) for key, x in value.items()]
        else:
            yield place, value


def taken_apart(args: tuple, kwargs: Mapping[str, Any]) -> Given:
    kinds = list(map(type, args))
    if not kwargs and kinds.count(tensor_class()) == len(args):  # the usual call
        return Given(kinds, list(args), [])
    layout: list[Any] = [tuple(sorted(kwargs))]
    tensors: list[TensorBase] = []
    values: list[Any] = []

    def add(given: Iterable[Any]) -> None:
        for value in given:
            kind = type(value)
            layout.append(kind)
            if is_tensor(value):
                tensors.append(value)
            elif isinstance(value, dict):
                layout.append(tuple(value))
                add(value.values())
            elif isinstance(value, (list, tuple)):
                layout.append(len(value))
                add(value)
            elif not isinstance(value, UOp):
                values.append(value)

    add(args)
    add(value for _, value in sorted(kwargs.items()))
    return Given(layout, tensors, values)


def bound_in(args: tuple, kwargs: Mapping[str, Any]) -> dict[UOp, UOp]:
    """The BIND of each Variable that the arguments depend on, the shapes of Tensors included."""
    from tinyframe.schedule import bindings

    given = [value.uop if is_tensor(value) else value for _, value in walk(args, kwargs)]
    return bindings(u for value in given if isinstance(value, UOp) for u in value.unknowns)


def sizes_given(args: tuple, kwargs: Mapping[str, Any]) -> list[Signature]:
    """The arguments that are Variables, or computed from them."""
    given = walk(args, kwargs)
    return [Signature(place, unbound(value)) for place, value in given if isinstance(value, UOp)]


def map_structure(structure: Any, change: Callable[[Any], Any], leaf: type | None = None) -> Any:
    """The same structure of lists, tuples and dicts with every Tensor (or `leaf`) changed."""
    if structure is None:
        return None
    if isinstance(structure, leaf) if leaf is not None else is_tensor(structure):
        return change(structure)
    if isinstance(structure, (list, tuple)):
        parts = [map_structure(x, change, leaf) for x in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
    if isinstance(structure, dict):
        return {key: map_structure(x, change, leaf) for key, x in structure.items()}
    raise JitError(
        f"a captured function can return Tensors, and lists, tuples and dicts of them, but not "
        f"{type(structure).__name__}: that would stay the same in every replay"
    )


def storages_in(result: Any) -> list[Storage]:
    """Those of all Tensors in a result."""
    if isinstance(result, (list, tuple)):
        return [storage for part in result for storage in storages_in(part)]
    if isinstance(result, dict):
        return storages_in(list(result.values()))
    return [result._storage] if is_tensor(result) else []


def is_tensor(value: Any) -> bool:
    return isinstance(value, tensor_class())


@functools.cache
def tensor_class() -> type[TensorBase]:
    from tinyframe.tensor.core import Tensor

    return Tensor


def memory_as_it_lies(uop: UOp) -> tuple | None:
    """Whole memory in some shape: all that a kernel knows of it. None for any other view."""
    base = memory_state(uop)
    return (uop.shape, base.arg, base.dtype, base.src[1]) if base.op is Ops.BUFFER else None


def lies(uop: UOp) -> tuple | UOp:
    """How a value lies in memory: whole, or in what view."""
    return memory_as_it_lies(uop) or anonymous(uop)


def unbound(uop: UOp) -> UOp:
    return uop.substitute({u: u.src[0] for u in uop.unknowns if u.op is Ops.BIND})


def anonymous(uop: UOp) -> UOp:
    """The graph on a buffer, without saying which buffer, or what Variables are bound to."""
    base = base_of(uop)
    if base.op is not Ops.BUFFER:
        return uop
    return unbound(uop.substitute({base: base.replace(src=(UOp(Ops.UNIQUE, arg=-1), base.src[1]))}))


def signature_of(place: str, uop: UOp) -> Signature:
    return Signature(place, anonymous(uop))
