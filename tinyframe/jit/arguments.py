"""What a captured function is given: Tensors, Variables, other values.

A later call has to be like the captured one. `Arguments` says what that means, and is the one place
where a call is compared with it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tinyframe.device import Buffer, buffer_of
from tinyframe.run.capture import JitError
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.laziness import separate
from tinyframe.uop.movement import base_of, memory_state
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text

_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic)
_PLACES = tuple(f"args[{n}]" for n in range(64))


class Given(NamedTuple):
    """All that is in the arguments of a call, and its places: `args[0]`, `batch['x']`. Of a list,
    tuple or dict first the type and the size, then what is inside."""

    places: tuple[str, ...]
    values: tuple[Any, ...]
    tensors: tuple[Tensor, ...]  # those among them


def given_in(args: tuple, kwargs: Mapping[str, Any]) -> Given:
    if not kwargs and list(map(type, args)).count(Tensor) == len(args) < len(_PLACES):
        return Given(_PLACES[: len(args)], args, args)  # the usual call
    places: list[str] = []
    values: list[Any] = []

    def add(place: str, value: Any) -> None:
        is_container = isinstance(value, (list, tuple, dict))
        inside = (
            value.items() if isinstance(value, dict) else enumerate(value) if is_container else ()
        )
        places.append(place)
        values.append(f"{type(value).__name__} of {len(value)}" if is_container else value)
        for key, item in inside:
            add(f"{place}[{key!r}]", item)

    for n, value in enumerate(args):
        add(f"args[{n}]", value)
    for name, value in sorted(kwargs.items()):
        add(name, value)
    tensors = tuple([value for value in values if isinstance(value, Tensor)])
    return Given(tuple(places), tuple(values), tensors)


def map_structure(structure: Any, change: Callable[[Any], Any]) -> Any:
    """The same lists, tuples and dicts with everything else in them changed."""
    if isinstance(structure, (list, tuple)):
        parts = [map_structure(item, change) for item in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
    if isinstance(structure, dict):
        return {key: map_structure(item, change) for key, item in structure.items()}
    return change(structure)


@dataclass
class Input:
    """A Tensor that the captured call was given.

    view: how it lay in memory, which is all that a kernel knows of it. buffer: that memory. seen:
    the graph of the last one; what is given again is known already. requires_grad: whether the
    call may give it a gradient. is_written: whether it changes it.
    """

    place: str
    view: tuple | UOp
    text: str
    buffer: Buffer
    seen: weakref.ref[UOp]
    requires_grad: bool
    is_written: bool = False


@dataclass
class Arguments:
    """What the captured call of a function was given, and what a later call has to be given too.

    places: of everything. others: what is no Tensor, by its number there. variables: those that all
    of it depends on.
    """

    name: str  # of the function, for errors
    places: tuple[str, ...]
    inputs: list[Input]
    others: dict[int, Any]
    variables: set[UOp]
    training: bool

    @staticmethod
    def of(name: str, given: Given) -> Arguments:
        """Computes the Tensors; JitError for what a replay could not look up anew."""
        arguments = Arguments(
            name, given.places, [], {}, set(bound_in(given.values)), Tensor.training
        )
        for number, (place, value) in enumerate(zip(given.places, given.values, strict=True)):
            if not isinstance(value, Tensor):
                if isinstance(value, (np.ndarray, bytearray)):
                    arguments.refuse(
                        f"{place} is a {type(value).__name__}, which would be frozen at what it "
                        "holds in this call; pass a Tensor"
                    )
                arguments.others[number] = _key_of(value)
                continue
            arguments._realize(place, value)
            separate(value._storage)
            uop = value.uop
            buffer = buffer_of(base_of(uop))
            if twin := next((i.place for i in arguments.inputs if i.buffer is buffer), None):
                arguments.refuse(
                    f"{place} and {twin} are the same Tensor; a replay could not tell which of "
                    "them a kernel means. Pass it once, or a clone()"
                )
            seen, asks = weakref.ref(uop), value.is_param
            arguments.inputs.append(Input(place, lies(uop), _text(uop), buffer, seen, asks))
        return arguments

    def _realize(self, place: str, tensor: Tensor) -> None:
        """Computes an argument that is still lazy; JitError for one that needs no memory."""
        if base_of(tensor.realize().uop).op is not Ops.BUFFER:
            self.refuse(
                f"{place} is a constant, which has no memory that a replay could read again; make "
                "it contiguous() first, or create it inside"
            )

    def match(self, given: Given) -> dict[UOp, UOp]:
        """Brings the Tensors of a later call into memory as the captured ones were; gives the BIND
        of each Variable. JitError where it is not like the captured one."""
        if given.places != self.places or len(given.tensors) != len(self.inputs):
            now = zip(given.places, given.values, strict=True)
            self.refuse_like(
                f"it was captured with Tensors at {_listed(i.place for i in self.inputs)}, and is "
                f"called with {_listed(f'{p} ({type(v).__name__})' for p, v in now)}"
            )
        for number, key in self.others.items():
            if not _is_same(key, given.values[number]):
                self._refuse_other(given.places[number], given.values[number], key)
        if Tensor.training is not self.training:
            self.refuse_like(f"it was captured with Tensor.training {self.training}")
        for known, tensor in zip(self.inputs, given.tensors, strict=True):
            if known.seen() is not tensor.uop:
                self._look_closely(known, tensor)
        bound = bound_in(given.values) if self.variables else {}
        if bound.keys() != self.variables:
            self._refuse_variables(bound)
        return bound

    def _look_closely(self, known: Input, tensor: Tensor) -> None:
        self._realize(known.place, tensor)
        uop = tensor.uop
        if lies(uop) != known.view:
            if (now := _text(uop)) == known.text:
                self.refuse(
                    f"{known.place} was captured as another view of its memory; pass "
                    ".contiguous(), in each call"
                )
            if (variables := bound_in([tensor])).keys() - self.variables:
                self._refuse_variables(variables)
            self.refuse_like(f"{known.place} was captured as {known.text}, not {now}")
        known.seen = weakref.ref(uop)

    def _refuse_other(self, place: str, value: Any, key: Any) -> NoReturn:
        if isinstance(value, UOp) or isinstance(key, UOp):
            self._refuse_variables(bound_in([value]))
        was = key[1] if isinstance(key, tuple) else "another object"
        self.refuse_like(
            f"{place} was captured as {was}, and is {value!r} now; only Tensors may change between "
            "calls. Pass a Tensor, or a bound Variable"
        )

    def _refuse_variables(self, bound: Mapping[UOp, UOp]) -> NoReturn:
        was, now = [
            _listed(sorted(f"{v.expr} ({v.vmin} to {v.vmax})" for v in variables))
            for variables in (self.variables, bound)
        ]
        self.refuse_like(
            f"it was captured with the Variables {was}, and is called with {now}; name, bounds and "
            "what is computed from them have to be the same"
        )

    def refuse(self, why: str) -> NoReturn:
        raise JitError(f"{self.name}: {why}")

    def refuse_like(self, why: str) -> NoReturn:
        """Raises JitError for a call that is not like the captured one."""
        self.refuse(f"{why}. Call .reset() to capture it again, or use a TinyJit for each case")


def _key_of(value: Any) -> Any:
    """What tells whether an argument that is no Tensor is the same in a later call."""
    if isinstance(value, UOp):
        return unbound(value)
    if isinstance(value, _PLAIN):
        return type(value), repr(value)  # which tells 0.0 from -0.0, and knows NaN again
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


def _is_same(key: Any, value: Any) -> bool:
    if isinstance(value, UOp):
        return key is unbound(value)
    if isinstance(key, tuple):
        return key == (type(value), repr(value))
    return not isinstance(key, UOp) and key() is value


def _text(uop: UOp) -> str:
    return f"{sizes_text(unbound(uop).shape)} {uop.dtype} on {uop.device}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "nothing"


def bound_in(values: Iterable[Any]) -> dict[UOp, UOp]:
    """The BIND of each Variable that arguments depend on, the shapes of Tensors included."""
    from tinyframe.schedule import bindings

    graphs = [value.uop if isinstance(value, Tensor) else value for value in values]
    return bindings(u for graph in graphs if isinstance(graph, UOp) for u in graph.unknowns)


def lies(uop: UOp) -> tuple | UOp:
    """How a value lies in memory: whole, in some shape, which is all that a kernel knows of it; or
    in what view. Neither says which memory, or what Variables are bound to."""
    base = memory_state(uop)
    if base.op is Ops.BUFFER:
        return uop.shape, base.arg, base.dtype, base.src[1]
    base = base_of(uop)
    if base.op is not Ops.BUFFER:
        return uop
    return unbound(uop.substitute({base: base.replace(src=(UOp(Ops.UNIQUE, arg=-1), base.src[1]))}))


def unbound(uop: UOp) -> UOp:
    return uop.substitute({u: u.src[0] for u in uop.unknowns if u.op is Ops.BIND})
