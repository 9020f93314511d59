"""Tensor expressions as text and arrays: the same for the grader and for the submission.

    Expression("(a + b).relu().sum()", {"a": array, "b": array})

A project's checks write them; they are the grader's own text, so they may be evaluated. As an
argument, a submission gets a function of no arguments that builds the expression anew at each call.
With `parameters`, as in Expression("t * w", {"w": array}, "t"), it gets a function of those; with
parameters=None, what the text gives: a Tensor before it is computed, or the graph of a kernel. A
check may also have one called there itself: ask(Expression("model(x)", {}, "model, x"), model, x).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tinyframe import Context, Tensor, TinyJit, dtypes, nn
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.settings import settings
from tinyframe.uop.node import Ops

# what a text may name beside its arrays and parameters
NAMES = {"Ops": Ops, "Tensor": Tensor, "TinyJit": TinyJit, "dtypes": dtypes, "nn": nn,
         "settings": settings}  # fmt: skip


@dataclass(frozen=True)
class Expression:
    text: str
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    parameters: str | None = ""

    def argument(self) -> Any:
        """What a submission gets for it."""
        return self.function() if self.parameters is not None else self.function()()

    def function(self) -> Callable[..., Tensor]:
        names: dict[str, Any] = dict(NAMES)
        names |= {name: Tensor(array).realize() for name, array in self.arrays.items()}
        head = f"lambda {self.parameters or ''}:"
        function: Callable[..., Tensor] = eval(f"{head} {self.text}", names)
        return function

    def kernels(self) -> int:
        """How many kernels realizing it takes."""
        return _kernels(self.function()())

    def op(self) -> str:
        """The name of the op that its graph ends with, movement aside."""
        return self.function()().uop.base.op.name

    def estimates(self) -> list[tuple[str, int, int]]:
        """(source, bytes, operations) of each kernel that realizing it takes."""
        kernels = [item.ast for item in self.function()().schedule() if item.ast.op is Ops.SINK]
        specs = [get_program(ast, CStyleLanguage()) for ast in kernels]
        return [(spec.src, spec.mem_estimate, spec.ops_estimate) for spec in specs]

    def source(self) -> str:
        """The C source of its last kernel with its loops as written, the same on every machine."""
        return self._written_by(CStyleLanguage())

    def lines(self) -> dict[str, list[int]]:
        """On which lines of source(), from 1, each op of floats is. The writer says so: it marks
        ADD, MUL and RELU where it writes them."""
        found: dict[str, list[int]] = {op: [] for op in LINE_OPS}
        for number, marked in enumerate(self._written_by(_Marking()).splitlines(), 1):
            line = marked.strip()
            name, _, value = line.partition(" = ")
            is_sum = name.startswith("acc") and value.startswith(f"{name} + ")
            there = {op: marked.count(f"/*{op}*/") for op in ("ADD", "MUL", "RELU")}
            there["ADD"] -= is_sum  # the outermost one adds to the sum
            there |= {"SUM": is_sum, "LOAD": "= data" in line, "STORE": line.startswith("data")}
            for op in LINE_OPS:
                if there[op]:
                    found[op].append(number)
        return found

    def _written_by(self, language: CStyleLanguage) -> str:
        with Context(NOOPT=1):
            return get_program(self.function()().schedule()[-1].ast, language).src


LINE_OPS = ("LOAD", "STORE", "ADD", "MUL", "RELU", "SUM")


def _marked(op: str, write: Callable[..., str]) -> Callable[..., str]:
    def marking(*operands) -> str:
        text = write(*operands)
        return f"{text[:-1]}/*{op}*/)" if dtypes.is_float(operands[-1]) else text

    return marking


class _Marking(CStyleLanguage):
    """The same C, with a comment at the end of each operation on floats."""

    code_for_op = {
        **CStyleLanguage.code_for_op,
        **{
            op: _marked(name, CStyleLanguage.code_for_op[op])
            for op, name in ((Ops.ADD, "ADD"), (Ops.MUL, "MUL"), (Ops.WHERE, "RELU"))
        },
    }


def _kernels(tensor: Tensor) -> int:
    return sum(item.ast.op is Ops.SINK for item in tensor.schedule())


def kernels_of_steps(start: Expression, steps: list[Expression]) -> tuple[int, int]:
    """How many kernels these steps take together, and with a realize() after each. Nothing runs:
    what a step leaves in memory is another buffer of its shape to the next one."""
    whole = start.function()()
    for step in steps:
        whole = step.function()(whole)
    together = _kernels(whole)
    apart, tensor = 0, start.function()()
    for step in steps:
        tensor = step.function()(tensor)
        if count := _kernels(tensor):
            apart += count
            tensor = Tensor(np.zeros(tensor.shape, np.float32)).realize()
    return together, apart
