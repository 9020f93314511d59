"""What a lesson on devices needs beside its cells: a Runner until the learner's own works, ops put
in terms of the rows that a language has, and a table of what a device's meter noticed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import Any

import numpy as np

from classroom.python_text import PythonText, function_of
from classroom.tables import Table
from classroom.yours import passes
from tinyframe import Tensor
from tinyframe.codegen.decompose import decompositions
from tinyframe.device import ONE, Compiled, Device, Runner, Size
from tinyframe.rewrite.matcher import graph_rewrite
from tinyframe.uop.node import GroupOp, Ops, UOp
from tinyframe.viz import compare

Opener = Callable[[str], Compiled]


class OurRunner(Runner):
    """Runs a kernel that is written in Python."""

    def __init__(self, name: str, lib: bytes) -> None:
        super().__init__(name, lib)
        self.function = function_of(lib, name)

    def __call__(
        self, *bufs: Any, global_size: Size = ONE, local_size: Size = ONE, vals: Size = (),
        wait: bool = False,
    ) -> float | None:  # fmt: skip
        start = perf_counter()
        self.function(*bufs, *vals)
        return perf_counter() - start if wait else None


def working(runner: Any) -> Any:
    """The learner's Runner if it passes its check, else ours; where it's ours, it says so."""
    if passes("a-runner", runner):
        return runner
    print("Your Runner isn't there yet, so ours runs the kernels.")
    return OurRunner


@contextmanager
def registered(opener: Opener, name: str) -> Iterator[Compiled]:
    """The device that this opens, under a name that is free again afterwards."""
    Device._devices[name] = opener
    try:
        yield Device[name]
    finally:
        Device._devices.pop(name, None)
        Device._opened.pop(name, None)


# ---- decompositions ------------------------------------------------------------------------------


def in_rows_of(language: type[PythonText], result: Tensor) -> UOp:
    """A Tensor's graph with each op that a language has no row for replaced by ops that it has."""
    rules = decompositions(
        frozenset(language.code_for_op), language.native_half, language.native_casts
    )
    return graph_rewrite(result.uop, rules)


def ops_in(graph: UOp) -> list[Ops]:
    """The op of each elementwise node of a graph."""
    return [u.op for u in graph.toposort() if u.op in GroupOp.Elementwise]


def replacements(language: type[PythonText], results: Mapping[str, Tensor]) -> Table:
    """For some expressions, each of one op: the op, whether it has a row, and what it becomes."""
    body = []
    for words, result in results.items():
        op, after = ops_in(result.uop)[-1], ops_in(in_rows_of(language, result))
        kinds = sorted({op.name for op in after})
        there = len(after) == 1 and after[0] is op
        body.append((words, op.name, "has a row" if there else f"{len(after)} nodes",
                     "" if there else " ".join(kinds)))  # fmt: skip
    return Table(("", "op", "on SNAKE", "made of"), body)


# ---- meters --------------------------------------------------------------------------------------


def reading(device: Any) -> Any:
    """What a device's meter shows now; of a list that grows, a copy."""
    return copy.copy(device.meter())


def readings(opener: Any, expressions: Mapping[str, Callable[[Tensor, Tensor], Tensor]]) -> Any:
    """What the meter of the learner's device shows before and after some expressions of two
    8 × 8 matrices; says so where the device doesn't pass its check yet."""
    if not passes("a-device-with-a-meter", opener):
        print("Your device will be read here as soon as it passes its check.")
        return None
    body = []
    with registered(opener, "METERED") as device:
        ones = np.ones((8, 8), np.float32)  # copied there, so that nothing has been launched yet
        a, b = (Tensor(ones, device="METERED").realize() for _ in range(2))
        for words, function in expressions.items():
            before = reading(device)
            function(a, b).realize()
            body.append((words, _grown(before, reading(device))))
    return Table(("of two 8 × 8 matrices", "on your meter"), body)


def _grown(before: Any, after: Any) -> str:
    if isinstance(after, list) and after[: len(before)] == before:
        after = after[len(before) :]
    with suppress(TypeError, ValueError):
        return f"+{after - before:,}"
    return " ".join(str(after).split())[:80]


def beside(larger: Any, language: type[PythonText]) -> Any:
    """The learner's maximum of two Tensors beside what tinyframe makes of MAX; says so where it
    doesn't pass its check yet."""
    if not passes("without-max", larger):
        print(
            "Your maximum will be drawn here, beside tinyframe's, as soon as it passes its check."
        )
        return None
    x, y = Tensor([1.0, 2.0]).realize(), Tensor([3.0, 0.0]).realize()
    theirs = in_rows_of(language, x.maximum(y))
    return compare(larger(x, y), theirs, titles=("yours", "tinyframe's"), x=x, y=y)
