"""What a captured function is given and gives back, taken apart: Tensors, Variables, other values.

A later call has to be like the captured one. `Arguments` says what that means, and is the one place
where a call is compared with it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tinyframe.device import Buffer, buffer_of
from tinyframe.engine.capture import JitError
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.laziness import separate
from tinyframe.tensor.storage import Storage
from tinyframe.uop.movement import base_of, memory_state
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text


@dataclass(frozen=True)
class Signature:
    """What an argument was when it was captured, and so what a later one has to be like."""

    place: str  # such as `args[0]` or `batch['x']`
    view: tuple | UOp  # how it lies in memory
    text: str = field(compare=False)

    @staticmethod
    def of(place: str, uop: UOp) -> Signature:
        text = f"{sizes_text(unbound(uop).shape)} {uop.dtype} on {uop.device}"
        return Signature(place, lies(uop), text)


@dataclass
class Input:
    """A Tensor that the captured call was given: its BUFFER and memory then, and its graph after.

    seen: the graph that it had in the last call; what is given again is known already.
    is_written: whether the kernels change its memory.
    """

    signature: Signature
    base: UOp
    captured: Buffer
    seen: weakref.ref[UOp]
    is_written: bool = False
    after: UOp | None = None

    def fits(self, uop: UOp) -> bool:
        """Whether an argument lies in memory as the captured one did."""
        if lies(uop) != self.signature.view:
            return False
        self.seen = weakref.ref(uop)
        return True


class Given(NamedTuple):
    """The arguments of a call, taken apart."""

    layout: list[Any]  # how they are nested, and of what types they are
    tensors: list[Tensor]
    values: list[Any]  # all others but Variables


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


@dataclass
class Arguments:
    """What the captured call of a function was given, and what a later call has to be given too.

    variables: those that it depends on. sizes: arguments that are Variables, or computed from them.
    """

    name: str  # of the function, for errors
    layout: list[Any]
    inputs: list[Input]
    values: list[Frozen]
    variables: set[UOp]
    sizes: list[tuple[str, UOp]]
    training: bool

    @staticmethod
    def of(name: str, args: Any, kwargs: Any) -> Arguments:
        """JitError for what a replay could not look up anew."""
        variables, sizes = set(bound_in(args, kwargs)), sizes_given(args, kwargs)
        layout, values = taken_apart(args, kwargs).layout, _frozen(name, args, kwargs)
        arguments = Arguments(name, layout, [], values, variables, sizes, Tensor.training)
        for place, tensor in tensors_by_place(args, kwargs):
            arguments.realize(place, tensor)
            separate(tensor._storage)
            base = base_of(uop := tensor.uop)
            if twin := next((i.signature.place for i in arguments.inputs if i.base is base), None):
                raise JitError(
                    f"{name}: {place} and {twin} are the same Tensor; a replay could not "
                    "tell which of them a kernel means. Pass it once, or a clone()"
                )
            signature = Signature.of(place, uop)
            arguments.inputs.append(Input(signature, base, buffer_of(base), weakref.ref(uop)))
        return arguments

    def realize(self, place: str, tensor: Tensor) -> None:
        """Computes an argument that is still lazy; JitError for one that needs no memory."""
        if base_of(tensor.realize().uop).op is not Ops.BUFFER:
            raise JitError(
                f"{self.name}: {place} is a constant, which has no memory that a replay "
                "could read again; make it contiguous() first, or create it inside"
            )

    def matched(self, args: Any, kwargs: Any) -> Matched:
        """JitError where a call is not like the captured one."""
        given = taken_apart(args, kwargs)
        self._check_values(given.values)
        is_alike = given.layout == self.layout
        if not is_alike:
            self._check_places([place for place, _ in tensors_by_place(args, kwargs)])
        replaced: dict[Buffer, Buffer] = {}
        for argument, tensor in zip(self.inputs, given.tensors, strict=True):
            uop = tensor.uop
            if argument.seen() is not uop and not argument.fits(uop):
                uop = self._look_closely(argument, tensor)
            replaced[argument.captured] = buffer_of(base_of(uop))
        if len(set(replaced.values())) < len(replaced):
            self._refuse_twin(list(replaced.values()))
        bound = {}
        if self.variables or self.sizes or not is_alike:
            bound = bound_in(args, kwargs)
            self._check_variables(bound, sizes_given(args, kwargs))
        if len(given.values) != len(self.values):
            self.refuse(
                f"it was captured with {len(self.values)} arguments that are not Tensors, and "
                f"is called with {len(given.values)}"
            )
        return Matched(given.tensors, replaced, bound)

    def _check_values(self, values: list[Any]) -> None:
        """JitError where an argument that is no Tensor is not what was captured."""
        if values and len(values) == len(self.values):
            for was, value in zip(self.values, values, strict=True):
                if not was.is_same(value):
                    self.refuse(
                        f"{was.place} was captured as {was.text()}, and is {value!r} now; only "
                        "Tensors may change between calls. Pass a Tensor, or a bound Variable"
                    )
        if Tensor.training is not self.training:
            self.refuse(
                f"it was captured with Tensor.training {self.training}, and is called with "
                f"{not self.training}"
            )

    def _check_places(self, places: list[str]) -> None:
        wanted = [argument.signature.place for argument in self.inputs]
        if places != wanted:
            self.refuse(
                f"it was captured with Tensors at {_listed(wanted)}, and is called with Tensors at "
                f"{_listed(places)}"
            )

    def _refuse_twin(self, buffers: list[Buffer]) -> NoReturn:
        twin = next(i for n, i in enumerate(self.inputs) if buffers[n] in buffers[:n])
        self.refuse(f"{twin.signature.place} is the same Tensor as another argument")

    def _look_closely(self, argument: Input, tensor: Tensor) -> UOp:
        """The graph of a Tensor once it is in memory; JitError where it does not lie there as the
        captured one did."""
        was = argument.signature
        self.realize(was.place, tensor)
        if not argument.fits(tensor.uop):
            now = Signature.of(was.place, tensor.uop)
            difference = f"{was.text}, not {now.text}"
            if now.text == was.text:
                difference = "another view of its memory"
            self.refuse(f"{was.place} was captured as {difference}")
        return tensor.uop

    def _check_variables(self, bound: dict[UOp, UOp], sizes: list[tuple[str, UOp]]) -> None:
        if sizes != self.sizes or bound.keys() != self.variables:
            self.refuse(
                f"it was captured with the Variables {_names(self.variables)}, and is called "
                f"with {_names(bound)}; name, bounds and what is computed from them have to be the "
                "same"
            )

    def refuse(self, why: str) -> NoReturn:
        """Raises JitError for a call that is not like the captured one."""
        raise JitError(
            f"{self.name}: {why}. Call .reset() to capture it again, or use a TinyJit for each case"
        )


class Matched(NamedTuple):
    """A later call that is like the captured one."""

    tensors: list[Tensor]
    replaced: dict[Buffer, Buffer]  # the memory of its Tensors for that of the captured call's
    bound: dict[UOp, UOp]  # the BIND of each Variable


def _frozen(name: str, args: Any, kwargs: Any) -> list[Frozen]:
    """The arguments that are no Tensors; JitError for those whose contents may change."""
    frozen = []
    for place, value in walk(args, kwargs):
        if isinstance(value, (Tensor, UOp)):
            continue
        if isinstance(value, (np.ndarray, bytearray)):
            raise JitError(
                f"{name}: {place} is a {type(value).__name__}, which would be frozen "
                "at what it holds in this call; pass a Tensor"
            )
        frozen.append(Frozen.of(place, value))
    return frozen


def _names(variables: Iterable[UOp]) -> str:
    return _listed(sorted(f"{v.expr} ({v.vmin} to {v.vmax})" for v in variables))


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "nothing"


# ---- taken apart ---------------------------------------------------------------------------------


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


def tensors_by_place(args: tuple, kwargs: Mapping[str, Any]) -> list[tuple[str, Tensor]]:
    return [(place, value) for place, value in walk(args, kwargs) if isinstance(value, Tensor)]


def taken_apart(args: tuple, kwargs: Mapping[str, Any]) -> Given:
    kinds = list(map(type, args))
    if not kwargs and kinds.count(Tensor) == len(args):  # the usual call
        return Given(kinds, list(args), [])
    layout: list[Any] = [tuple(sorted(kwargs))]
    tensors: list[Tensor] = []
    values: list[Any] = []

    def add(given: Iterable[Any]) -> None:
        for value in given:
            kind = type(value)
            layout.append(kind)
            if isinstance(value, Tensor):
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

    given = [value.uop if isinstance(value, Tensor) else value for _, value in walk(args, kwargs)]
    return bindings(u for value in given if isinstance(value, UOp) for u in value.unknowns)


def sizes_given(args: tuple, kwargs: Mapping[str, Any]) -> list[tuple[str, UOp]]:
    """The arguments that are Variables, or computed from them, by place."""
    return [(place, unbound(u)) for place, u in walk(args, kwargs) if isinstance(u, UOp)]


def map_structure(structure: Any, change: Callable[[Any], Any], leaf: type = Tensor) -> Any:
    """The same structure of lists, tuples and dicts with every Tensor, or other `leaf`, changed."""
    if structure is None:
        return None
    if isinstance(structure, leaf):
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
    return [tensor._storage for _, tensor in tensors_by_place((result,), {})]


def lies(uop: UOp) -> tuple | UOp:
    """How a value lies in memory: whole, in some shape, which is all that a kernel knows of it; or
    in what view."""
    base = memory_state(uop)
    if base.op is Ops.BUFFER:
        return uop.shape, base.arg, base.dtype, base.src[1]
    return anonymous(uop)


def unbound(uop: UOp) -> UOp:
    return uop.substitute({u: u.src[0] for u in uop.unknowns if u.op is Ops.BIND})


def anonymous(uop: UOp) -> UOp:
    """The graph on a buffer, without saying which buffer, or what Variables are bound to."""
    base = base_of(uop)
    if base.op is not Ops.BUFFER:
        return uop
    return unbound(uop.substitute({base: base.replace(src=(UOp(Ops.UNIQUE, arg=-1), base.src[1]))}))
