"""A mistake in the compiler, for a lesson that finds it. (This file is the story's last page.)

    break_in()                   # from now on
    print(bills().tolist())      # wrong, and nothing complains

A stage is added in front of the compiler's own; it is a function from graph to graph, as they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tinyframe import Context
from tinyframe.codegen import passes
from tinyframe.dtype import dtypes
from tinyframe.uop.node import Ops, UOp


def tidy_numbers(sink: UOp, job: Any = None) -> UOp:
    """Whole numbers multiply faster, don't they?"""
    products = [u for u in sink.toposort() if u.op is Ops.MUL and u.dtype is dtypes.float]
    return sink.substitute({u: u.replace(dtype=dtypes.int) for u in products})


CULPRIT = "tidy numbers"
PLANTED = (CULPRIT, tidy_numbers)


def break_in() -> None:
    """From now on, kernels go through a stage of somebody's first, and SPEC is off until a Context
    sets it: whoever breaks in sees to it that nobody notices."""
    os.environ["SPEC"] = "0"
    if PLANTED not in passes:
        passes.insert(0, PLANTED)


@contextmanager
def healthy() -> Iterator[None]:
    """Inside, the compiler is as it was before anybody broke in."""
    before = list(passes)
    passes[:] = [stage for stage in passes if stage is not PLANTED]
    try:
        yield
    finally:
        passes[:] = before


@contextmanager
def sabotage(stage: Callable[[UOp], UOp] = tidy_numbers, name: str = CULPRIT) -> Iterator[None]:
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


def install(stages: Any) -> None:
    """Make these the stages of the compiler: those of the compiler as it was, or none at all."""
    with healthy():
        whole = list(passes)
    if isinstance(stages, Iterable) and list(stages) == whole:
        passes[:] = whole
        print(f"Installed: a compiler of {len(whole)} stages.")
    else:
        print("Nothing was installed. Is the exercise above still open, or not right yet?")
