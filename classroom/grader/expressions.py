"""Tensor expressions as text and arrays: the same for the grader and for the submission.

    Expression("(a + b).relu().sum()", {"a": array, "b": array})

A project's checks write them; they are the grader's own text, so they may be evaluated. As an
argument, a submission gets a function of no arguments that builds the expression anew at each call.
With `parameters`, as in Expression("t * w", {"w": array}, "t"), it gets a function of those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tinyframe import Context, Tensor, dtypes
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop.node import Ops


@dataclass(frozen=True)
class Expression:
    text: str
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    parameters: str = ""

    def function(self) -> Callable[..., Tensor]:
        names: dict[str, Any] = {"Tensor": Tensor, "dtypes": dtypes}
        names |= {name: Tensor(array).realize() for name, array in self.arrays.items()}
        function: Callable[..., Tensor] = eval(f"lambda {self.parameters}: {self.text}", names)
        return function

    def kernels(self) -> int:
        """How many kernels realizing it takes."""
        return sum(item.ast.op is Ops.SINK for item in self.function()().schedule())

    def op(self) -> str:
        """The name of the op that its graph ends with, movement aside."""
        return self.function()().uop.base.op.name

    def source(self) -> str:
        """The C source of its last kernel with its loops as written, the same on every machine."""
        with Context(NOOPT=1):
            return get_program(self.function()().schedule()[-1].ast, CStyleLanguage()).src
