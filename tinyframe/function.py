"""tinygrad's `function`, which marks a part of a graph. Here a call records its graph as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def function(f: Callable[..., Any] | None = None, **_: Any) -> Any:
    """The function itself; also `@function(precompile=True)`, and other options."""
    return f if f is not None else lambda g: g
