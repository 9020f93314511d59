"""`layer`: a function of Tensors as a layer, and Sequential, layers in a row.

Most layers have no parameters: they are a method of Tensor and the arguments for it. Such a layer
is written as a function. Its parameters before the `/` are passed in each call; those after it are
passed to the constructor, and kept as attributes.

    @layer
    def Scale(x: Tensor, /, factor: float = 2.0) -> Tensor:
        return x * factor

    Scale()                    Scale()
    Scale(3.0)                 Scale(factor=3.0)
    Scale(3.0)(Tensor([1.0]))  [3.0]

A layer that is a method and nothing else is one line: `ReLU = layer(Tensor.relu, "ReLU", 1)`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from tinyframe.peer_settings import no_attribute
from tinyframe.tensor.core import Tensor

REQUIRED = inspect.Parameter.empty  # in place of a default


def signature_of(settings: Mapping[str, Any], *first: str) -> inspect.Signature:
    """The signature f(*first, *settings), where each setting has its default or REQUIRED."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    given = [*((name, REQUIRED) for name in first), *settings.items()]
    return inspect.Signature([inspect.Parameter(n, kind, default=d) for n, d in given])


def bound(name: str, signature: inspect.Signature, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """The arguments of a call by name, defaults included; TypeError where they do not fit."""
    try:
        given = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}{signature}: {error}") from None
    given.apply_defaults()
    return given.arguments


class TakesTensors:
    """The base class of all layers: the first argument of a call has to be a Tensor."""

    def __init_subclass__(cls) -> None:
        if call := vars(cls).get("__call__"):

            @functools.wraps(call)
            def checked(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
                if not isinstance(x, Tensor):
                    raise TypeError(
                        f"{type(self).__name__} takes a Tensor, not {type(x).__name__}: "
                        "Tensor(x) makes one of numbers, lists and arrays"
                    )
                return call(self, x, *args, **kwargs)

            cls.__call__ = checked  # type: ignore[method-assign]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(self, name)


class Layer(TakesTensors):
    """The base class of the layers that `layer` makes."""

    function: ClassVar[Callable[..., Any]]
    parameters: ClassVar[inspect.Signature]  # those after the `/`

    def __init__(self, *args: Any, **kwargs: Any):
        for name, value in bound(type(self).__name__, self.parameters, *args, **kwargs).items():
            if isinstance(value, Tensor) and value.requires_grad is None:
                value = value.detach()  # a setting, not a parameter for an optimizer
            setattr(self, name, value)

    def __call__(self, *inputs: Any) -> Any:
        return self.function(*inputs, **vars(self))

    def __repr__(self) -> str:
        """The arguments that differ from their defaults."""
        shown = []
        for name, parameter in self.parameters.parameters.items():
            value = getattr(self, name)
            if isinstance(value, Tensor):
                shown.append(f"{name}=<{value._dims}>")
            elif value != parameter.default:
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


def layer(
    function: Callable[..., Any], name: str | None = None, inputs: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> type[Layer]:  # fmt: skip
    """The class of layers that call a function, with its name and docstring.

    name: for a layer that is just a method of Tensor, as in `layer(Tensor.elu, "ELU", 1)`. inputs:
    how many of its arguments are passed in each call. settings: its other arguments and their
    defaults, if they differ from those of the method.
    """
    if settings is None:
        signature = inspect.signature(function)
        given = list(signature.parameters.values())[inputs:]
        kept = [p for p in given if p.kind is not p.POSITIONAL_ONLY]
        parameters = signature.replace(parameters=kept, return_annotation=REQUIRED)
    else:
        parameters = signature_of(settings)
    method = "" if name is None else f"`Tensor.{function.__name__}` as a layer: "
    return type(
        name or function.__name__,
        (Layer,),
        {
            "__doc__": method + (inspect.getdoc(function) or ""),
            "__module__": function.__module__ if name is None else "tinyframe.nn",
            "__signature__": parameters,
            "function": staticmethod(function),
            "parameters": parameters,
        },
    )


class Sequential:
    """Layers in sequence: each is called with the result of the previous one.

        Sequential(Linear(784, 128), ReLU(), Linear(128, 10))

    Any callable is a layer. Parameters are named by number, as in PyTorch: "0.weight"; or by the
    keys of a dict, if one is given. `model[0]` is a layer, `model[:2]` a Sequential.
    """

    def __init__(self, *layers: Any):
        if len(layers) == 1 and isinstance(layers[0], Mapping):
            named = dict(layers[0])
        else:
            named = {str(number): one for number, one in enumerate(layers)}
        for name, one in named.items():
            if not callable(one):
                raise TypeError(
                    f"Sequential takes layers, one by one or as a dict: {name} is {one!r} of type "
                    f"{type(one).__name__}, which cannot be called"
                )
            setattr(self, name, one)

    def __call__(self, x: Any) -> Any:
        return Tensor.sequential(x, list(self))

    def __iter__(self) -> Iterator[Any]:
        return iter(list(vars(self).values()))

    def __len__(self) -> int:
        return len(vars(self))

    def __getitem__(self, number: int | slice) -> Any:
        found = list(self)[number]
        return Sequential(*found) if isinstance(number, slice) else found

    def append(self, layer: Any) -> Sequential:
        """Adds a layer at the end; returns this Sequential."""
        setattr(self, str(len(self)), layer)
        return self

    def __repr__(self) -> str:
        lines = [f"  {name}: {one!r}".replace("\n", "\n  ") for name, one in vars(self).items()]
        return "\n".join(["Sequential(", *lines, ")"]) if lines else "Sequential()"
