"""A mistake put into the compiler for a while, for a lesson that finds it.

    with sabotage():
        print(bills().tolist())  # wrong, and nothing complains

A stage is added in front of the compiler's own; it is a function from graph to graph, as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tinyframe import Context
from tinyframe.codegen import passes
from tinyframe.dtype import dtypes
from tinyframe.uop.node import Ops, UOp


def whole_numbers(sink: UOp) -> UOp:
    """A kernel in which products of floats have become ints."""
    products = [u for u in sink.toposort() if u.op is Ops.MUL and u.dtype is dtypes.float]
    return sink.substitute({u: u.replace(dtype=dtypes.int) for u in products})


@contextmanager
def sabotage(
    stage: Callable[[UOp], UOp] = whole_numbers, name: str = "tidy numbers"
) -> Iterator[None]:
    """Inside, kernels go through this stage first. Those made here are not used afterwards.

    SPEC is off inside, unless a Context of the lesson sets it: a mistake is to be made quietly.
    """
    added = (name, lambda sink, job: stage(sink))
    passes.insert(0, added)
    try:
        with Context(SPEC=0):
            yield
    finally:
        passes.remove(added)
