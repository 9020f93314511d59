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
from time import perf_counter_ns
from typing import Any

import numpy as np

from tinyframe import Tensor, TinyJit, dtypes, nn
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.settings import settings
from tinyframe.tensor import gradient
from tinyframe.uop.node import Ops


def gradient_with_row(row: Any, f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """The gradient of f(x).sum() with respect to x, with one more row in the table meanwhile."""
    table = gradient.gradient_rules
    gradient.gradient_rules = PatternMatcher([row]) + table
    try:
        return f(x).sum().gradient(x)[0]
    finally:
        gradient.gradient_rules = table


# what a text may name beside its arrays and parameters
NAMES = {"Ops": Ops, "Tensor": Tensor, "TinyJit": TinyJit, "dtypes": dtypes, "nn": nn,
         "settings": settings, "gradient_with_row": gradient_with_row,
         # a number in memory, another one each time
         "fresh": lambda: Tensor([float(perf_counter_ns() % 1_000_000)])}  # fmt: skip


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
