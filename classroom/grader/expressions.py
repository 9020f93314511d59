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

from tinyframe import Tensor, dtypes


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
        return sum(item.ast.op.name == "SINK" for item in self.function()().schedule())
