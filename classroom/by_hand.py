"""Which nodes of a graph were built by writing `UOp(…)`, and not by an operator or a method.

with building() as built:
    node = learners_function(a, b)
others(node, built, a, b)  # the nodes that something in tinyframe built
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tinyframe
from tinyframe.uop import UOp

FRAMEWORK = str(Path(tinyframe.__file__).parent)


@contextmanager
def building() -> Iterator[set[UOp]]:
    """The set of the nodes that are built meanwhile by a call of UOp outside of tinyframe. The
    caller's file tells them from those that an operator builds, since that calls UOp too."""
    built: set[UOp] = set()
    construct = UOp.__new__

    def noting(cls: type[UOp], *args: Any, **kwargs: Any) -> UOp:
        node = construct(cls, *args, **kwargs)
        if not sys._getframe(1).f_code.co_filename.startswith(FRAMEWORK):
            built.add(node)
        return node

    UOp.__new__ = noting  # type: ignore[method-assign]
    try:
        yield built
    finally:
        UOp.__new__ = construct  # type: ignore[method-assign]


def others(graph: UOp, built: set[UOp], *inputs: UOp) -> list[UOp]:
    """The nodes of a graph that are neither built by hand nor part of its inputs."""
    given = {node for u in inputs for node in u.toposort()}
    return [node for node in graph.toposort() if node not in built and node not in given]
