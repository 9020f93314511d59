"""What is a view, for each method of Tensor: as the README lists it, and as in PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from tests.course.refresh import public_methods
from tests.elementwise import ALIASES, BINARY, UNARY
from tests.views import CALLS, NEITHER, listed
from tinyframe import Tensor

METHODS = {method.name for method in public_methods()}
VIEWS, ITSELF = listed("views"), listed("itself")

# Where PyTorch's result may be the same memory, and a Tensor's is not: the README says so.
OWN_MEMORY = {"contiguous", "dropout", "bitcast"}


def calls_of(name: str) -> list[tuple[str, ...]]:
    if name in CALLS:
        return CALLS[name]
    of = "n" if name.startswith("bitwise") else "x"
    rest = f"({of})" if name in BINARY or ALIASES.get(name) in BINARY else "()"
    if hasattr(torch.Tensor, name):
        return [(f"{of}.{name}{rest}",)]
    is_function = hasattr(torch.nn.functional, name)
    return [(f"{of}.{name}{rest}", f"F.{name}({of})" if is_function else "-")]


def inputs(make: Any) -> dict[str, Any]:
    random = np.random.default_rng(0)
    shapes = {"x": (3, 4), "x3": (2, 3, 4), "v": (4,), "one": (1, 1), "c": (2, 4, 6, 4),
              "sq": (3, 3), "none": (0, 4)}  # fmt: skip
    arrays = {name: random.uniform(0.1, 0.9, shape) for name, shape in shapes.items()}
    named = {name: array.astype(np.float32) for name, array in arrays.items()}
    named["n"], named["b"] = np.arange(1, 13, dtype=np.int32).reshape(3, 4), arrays["x"] > 0.5
    named |= {"rows": np.arange(3), "i": np.array([[0, 1, 2, 0]] * 3), "s": named["v"][0]}
    made = {name: make(array) for name, array in named.items()}
    x, n = made["x"], made["n"]
    made |= {"x64": x.double(), "x16": x.half(), "xb": x.bfloat16()}
    return made | {"n64": n.long(), "n16": n.short()}


def results(given: Any, kind: type) -> Iterator[Any]:
    if isinstance(given, kind):
        yield given
    elif isinstance(given, (tuple, list)):
        for part in given:
            yield from results(part, kind)


def address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def answer(call: str, names: dict[str, Any]) -> tuple[bool, bool]:
    """Whether each result shares the memory of an input, and whether it is the input itself."""
    kind = torch.Tensor if isinstance(names["x"], torch.Tensor) else Tensor
    before = list(names.values())
    more = {"Tensor": Tensor, "torch": torch, "F": torch.nn.functional, "L": torch.linalg, "np": np}
    found = list(results(eval(call, {**names, **more}), kind))
    assert found
    if kind is Tensor:
        shared = [any(r._storage is t._storage for t in before) for r in found]
    else:
        shared = [r.numel() > 0 and any(address(r) == address(t) for t in before) for r in found]
    assert len(set(shared)) == 1, "some of its results, and not all"
    return shared[0], any(r is t for r in found for t in before)


def test_every_method_has_a_row():
    simple = (UNARY.keys() | BINARY.keys() | ALIASES.keys()) & METHODS
    assert METHODS == NEITHER | CALLS.keys() | simple
    assert not NEITHER & (CALLS.keys() | VIEWS | ITSELF)
    assert METHODS >= VIEWS | ITSELF and not VIEWS & ITSELF


@pytest.mark.parametrize("name", sorted(METHODS - NEITHER))
def test_what_is_a_view_is_listed_and_is_one_in_pytorch(name):
    for call, *by_torch in calls_of(name):
        shares, is_itself = answer(call, inputs(Tensor))
        if name in ITSELF:
            assert is_itself, call
        else:
            assert shares == (name in VIEWS), call
        (theirs,) = by_torch or (call,)
        if theirs != "-" and name not in OWN_MEMORY:
            assert answer(theirs, inputs(torch.tensor))[0] == shares, call
