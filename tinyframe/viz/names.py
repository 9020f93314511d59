"""The learner's names: which Python variables hold which node."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any

from tinyframe.run.capture import capture_now
from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import UOp

Names = dict[UOp, tuple[str, ...]]

# Names that somebody chose: neither private (as a notebook's `_` and `_1` are), nor made up by a
# tool from signs that no name can have, nor a notebook's record of its inputs and outputs.
CHOSEN = re.compile(r"(?!_|(In|Out)$)\w+")


def given(names: Mapping[str, Any]) -> Names:
    """Of names that somebody wrote down. TypeError for what is no Tensor or UOp."""
    for name, value in names.items():
        if not isinstance(value, (Tensor, UOp)):
            raise TypeError(
                f"{name}={value!r}: a name is for a Tensor or a UOp, not for a "
                f"{type(value).__name__}"
            )
    return _by_node(names.items())


def of_variables(frame: FrameType | None) -> Names:
    """Of the variables of a running function, then of its module; not of private ones, nor of what
    a notebook remembers."""
    if frame is None:
        return {}
    local = frame.f_locals
    names = of_scopes(local, frame.f_globals)
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED and isinstance(local, dict):
        local.clear()  # a copy that Python keeps with the frame: values would live until it ends
    return names


def of_scopes(*scopes: Mapping[str, Any]) -> Names:
    """Of the variables in these, of which the first that has a name counts."""
    if capture_now() is not None:  # which would be told of each value that is looked at
        return {}
    seen: dict[str, Any] = {}
    for scope in scopes:
        for name, value in list(scope.items()):
            seen.setdefault(name, value)
    return _by_node((name, value) for name, value in seen.items() if CHOSEN.fullmatch(name))


def _by_node(pairs: Iterable[tuple[str, Any]]) -> Names:
    found: Names = {}
    for name, value in pairs:
        if isinstance(value, (Tensor, UOp)):
            node = value.uop if isinstance(value, Tensor) else value
            found[node] = (*found.get(node, ()), name)
    return found
