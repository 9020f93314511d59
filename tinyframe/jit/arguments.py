"""The arguments of a captured function: Tensors, Variables, other values.

Later calls have to match the captured one. `Signature` defines what a match is, and is the only
place that compares the two.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tinyframe.run.capture import JitError, Owner
from tinyframe.settings import settings
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.laziness import unalias
from tinyframe.uop.movement import base_of, memory_state
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text

_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic)
_PLACES = tuple(f"args[{n}]" for n in range(64))


class FlatArguments(NamedTuple):
    """The arguments of a call, flattened, and the path to each: `args[0]`, `batch['x']`. A list,
    tuple or dict becomes its type and size, followed by its items."""

    places: tuple[str, ...]
    values: tuple[Any, ...]
    tensors: tuple[Tensor, ...]  # among the values


def flatten_arguments(args: tuple, kwargs: Mapping[str, Any]) -> FlatArguments:
    if not kwargs and list(map(type, args)).count(Tensor) == len(args) < len(_PLACES):
        return FlatArguments(_PLACES[: len(args)], args, args)  # the common case
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
    return FlatArguments(tuple(places), tuple(values), tensors)


def tree_map(structure: Any, change: Callable[[Any], Any]) -> Any:
    """The same nested lists, tuples and dicts, with `change` applied to every leaf."""
    if isinstance(structure, (list, tuple)):
        parts = [tree_map(item, change) for item in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
    if isinstance(structure, dict):
        return {key: tree_map(item, change) for key, item in structure.items()}
    return change(structure)


class Signature:
    """The arguments of the captured call, which every later call has to match.

    name: the function's, for errors. places: the path to each argument. others: the arguments that
    are not Tensors, by their index in `places`. variables: the Variables the arguments depend on.
    """

    def __init__(self, name: str, given: FlatArguments) -> None:
        """Computes the Tensors; JitError for an argument that a replay could not replace."""
        self.name, self.places, self.training = name, given.places, Tensor.training
        self.variables = set(bound_in(given.values))
        self.inputs: list[Owner] = []
        self.others: dict[int, Any] = {}
        for number, (place, value) in enumerate(zip(given.places, given.values, strict=True)):
            if not isinstance(value, Tensor):
                if isinstance(value, (np.ndarray, bytearray)):
                    self.refuse(
                        f"{place} is a {type(value).__name__}, whose current contents would be "
                        "frozen; pass a Tensor"
                    )
                self.others[number] = _key_to_compare(value)
                continue
            self._realize(place, value)
            unalias(value._storage)
            owner = Owner(value._storage)
            if twin := next((i.place for i in self.inputs if i.buffer is owner.buffer), None):
                self.refuse(
                    f"{place} and {twin} are the same Tensor; a replay could not tell which of "
                    "them a kernel uses. Pass it once, or a clone()"
                )
            uop = value.uop
            owner.place, owner.view, owner.text = place, memory_layout(uop), _text(uop)
            owner.seen, owner.has_gradient = weakref.ref(uop), value.is_param
            self.inputs.append(owner)

    def _realize(self, place: str, tensor: Tensor) -> None:
        """Computes an argument that is still lazy; JitError for a constant, which has no memory."""
        if base_of(tensor.realize().uop).op is not Ops.BUFFER:
            self.refuse(
                f"{place} is a constant, which has no memory that a replay could read again; make "
                "it contiguous() first, or create it inside"
            )

    def match(self, given: FlatArguments) -> dict[UOp, UOp]:
        """Computes the Tensors of a later call, in the captured memory layout; returns the BIND of
        each Variable. JitError if the call does not match the captured one."""
        if given.places != self.places or len(given.tensors) != len(self.inputs):
            now = zip(given.places, given.values, strict=True)
            self.refuse_mismatch(
                f"it was captured with Tensors at {_listed(i.place for i in self.inputs)}, and is "
                f"called with {_listed(f'{p} ({type(v).__name__})' for p, v in now)}"
            )
        for number, key in self.others.items():
            if not _is_same(key, given.values[number]):
                self._refuse_other(given.places[number], given.values[number], key)
        if settings.TRAINING != self.training:
            self.refuse_mismatch(f"it was captured with Tensor.training {self.training}")
        for known, tensor in zip(self.inputs, given.tensors, strict=True):
            if known.seen() is not tensor.uop:
                self._check_input(known, tensor)
        if not self.variables:
            return {}
        bound = bound_in(given.values)
        if bound.keys() != self.variables:
            self._refuse_variables(bound)
        return bound

    def _check_input(self, known: Owner, tensor: Tensor) -> None:
        self._realize(known.place, tensor)
        uop = tensor.uop
        if memory_layout(uop) != known.view:
            if (now := _text(uop)) == known.text:
                self.refuse(
                    f"{known.place} was captured as another view of its memory; pass "
                    ".contiguous(), in each call"
                )
            if (variables := bound_in([tensor])).keys() - self.variables:
                self._refuse_variables(variables)
            self.refuse_mismatch(f"{known.place} was captured as {known.text}, not {now}")
        known.seen = weakref.ref(uop)

    def _refuse_other(self, place: str, value: Any, key: Any) -> NoReturn:
        if isinstance(value, UOp) or isinstance(key, UOp):
            self._refuse_variables(bound_in([value]))
        was = key[1] if isinstance(key, tuple) else "a different object"
        self.refuse_mismatch(
            f"{place} was captured as {was}, and is {value!r} now; only Tensors may change between "
            "calls. Pass a Tensor, or a bound Variable"
        )

    def _refuse_variables(self, bound: Mapping[UOp, UOp]) -> NoReturn:
        was, now = [
            _listed(sorted(f"{v.expr} ({v.vmin} to {v.vmax})" for v in variables))
            for variables in (self.variables, bound)
        ]
        self.refuse_mismatch(
            f"it was captured with the Variables {was}, and is called with {now}; their names, "
            "bounds and the expressions that use them have to be the same"
        )

    def refuse(self, why: str) -> NoReturn:
        raise JitError(f"{self.name}: {why}")

    def refuse_mismatch(self, why: str) -> NoReturn:
        """Raises JitError for a call that does not match the captured one."""
        self.refuse(f"{why}. Call .reset() to capture it again, or use a TinyJit for each case")


def _key_to_compare(value: Any) -> Any:
    """A key for recognizing an argument other than a Tensor in a later call (see `_is_same`)."""
    if isinstance(value, UOp):
        return unbound(value)
    if isinstance(value, _PLAIN):
        return type(value), repr(value)  # repr tells 0.0 from -0.0, and NaN equals itself
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
    """The BIND of each Variable that these arguments, or the shapes of Tensors, depend on."""
    from tinyframe.schedule import bindings

    graphs = [value.uop if isinstance(value, Tensor) else value for value in values]
    return bindings(u for graph in graphs if isinstance(graph, UOp) for u in graph.unknowns)


def memory_layout(uop: UOp) -> tuple | UOp:
    """The memory layout of a value: for a whole BUFFER, its shape and the buffer's size, dtype and
    device; else the graph of the view. Neither depends on which BUFFER it is, nor on the values of
    Variables."""
    base = memory_state(uop)
    if base.op is Ops.BUFFER:
        return uop.shape, base.arg, base.dtype, base.src[1]
    base = base_of(uop)
    if base.op is not Ops.BUFFER:
        return uop
    return unbound(uop.substitute({base: base.replace(src=(UOp(Ops.UNIQUE, arg=-1), base.src[1]))}))


def unbound(uop: UOp) -> UOp:
    return uop.substitute({u: u.src[0] for u in uop.unknowns if u.op is Ops.BIND})
