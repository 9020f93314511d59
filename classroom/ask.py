"""What checks are made of: calling the learner's function, and comparing what comes back.

A check begins with a small fixed case, which a wrong answer is shown, and goes on with fresh
inputs, so that no answer can be learned by heart; of those nothing is named. Their sizes come from
`fresh_sizes`: primes that no lesson uses, since kernels' names count how often a size was seen.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.exercise import Open, Wrong
from tinyframe import Tensor
from tinyframe.schedule import create_schedule
from tinyframe.tensor.laziness import unrealized
from tinyframe.uop import Ops, UOp

PRIMES = (37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
LONGEST = 160  # characters of an answer that are shown


def fresh_sizes(count: int) -> list[int]:
    """Different sizes, others each time."""
    return random.sample(PRIMES, count)


def fresh_tensor(*shape: int) -> Tensor:
    """Realized floats between 0.5 and 1.5, others each time."""
    values = np.random.default_rng().random(shape, dtype=np.float32) + 0.5
    return Tensor(values).realize()


def small_tensor(rows: int, columns: int) -> Tensor:
    """[[1, 2, …], …], realized: the case that a wrong answer is shown."""
    return Tensor(
        np.arange(1, rows * columns + 1, dtype=np.float32).reshape(rows, columns)
    ).realize()


def call(function: Any, *inputs: Any, case: str = "") -> Any:
    """What the learner's function gives; Open where it gives nothing yet."""
    if not callable(function):
        raise Wrong(
            "This exercise asks for a function: its name, without brackets behind it.",
            got=describe(function),
        )
    result = function(*inputs)
    if result is None or result is ...:
        written = "" if _does_nothing(function) else "It returns nothing. Is there a `return`?"
        raise Open(written)
    return result


def _does_nothing(function: Callable[..., Any]) -> bool:
    """Whether the body of a function is `...`, `pass` or a docstring."""
    code = getattr(function, "__code__", None)
    return code is not None and not code.co_names and set(code.co_consts) <= {
        None, ..., function.__doc__
    }  # fmt: skip


def wants(value: Any, kind: type, what: str, case: str = "") -> None:
    """Wrong unless a value is of a kind; `what` says it in words: "a Tensor"."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        raise Wrong(f"The answer has to be {what}.", case, expected=what, got=describe(value))


def describe(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, Tensor):
        dtype = str(value.dtype).removeprefix("dtypes.")
        return f"a Tensor of shape {value.shape} and {dtype}"
    if isinstance(value, UOp):
        return f"a UOp {value.op.name} of shape {value.shape}"
    text = " ".join(repr(value).split())
    text = text if len(text) <= LONGEST else text[:LONGEST] + " …"
    return text if isinstance(value, (list, tuple)) else f"{text} ({type(value).__name__})"


def kernels(*tensors: Tensor) -> int:
    """How many kernels realize() would run for these. Nothing is run, and no Tensor changes."""
    if not (roots := unrealized(*tensors)):
        return 0
    items, _, _ = create_schedule(UOp.sink(*roots))
    return sum(item.ast.op is Ops.SINK for item in items)


def runs_as(tensor: Tensor, wanted: int, case: str = "") -> None:
    """Wrong unless a Tensor becomes `wanted` kernels."""
    found = kernels(tensor)
    if found != wanted:
        raise Wrong(
            "The number of kernels is another.", case, count(wanted, "kernel"),
            count(found, "kernel"),
        )  # fmt: skip


def same_values(got: Tensor, expected: np.ndarray, case: str, shown: bool = True) -> None:
    """Wrong unless shape and values agree, within what float32 rounds.

    Where inputs are fresh, `shown` is False: then no value is named.
    """
    if tuple(got.shape) != expected.shape:
        shapes = (str(expected.shape), str(got.shape)) if shown else ("", "")
        raise Wrong("The shape is another.", case, *shapes)
    values = got.numpy()
    if not np.allclose(values, expected, rtol=1e-4, atol=1e-5):
        both = (str(expected.tolist()), describe(values.tolist())) if shown else ("", "")
        raise Wrong("The values differ.", case, *both)


def predicts(compute: Callable[[], Any]) -> Callable[[Any], str]:
    """The check of a prediction: `compute` really does what is predicted, and gives the value.

    It must be of the value's type; only whether it is right is said.
    """
    names = {int: "a whole number", bool: "True or False", str: "a text", tuple: "a tuple"}

    def check(guess: Any) -> str:
        value = compute()
        kind = type(value)
        if type(guess) is not kind:
            raise Open(f"A prediction is {names[kind]} here, not {describe(guess)}.")
        if guess != value:
            raise Wrong("")
        return ""

    return check


def count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def moves(answer: Any, expected: Callable[[np.ndarray], np.ndarray], name: str) -> None:
    """Wrong unless answer(matrix) has these values, and takes no kernel; `name` is the matrix's."""
    inputs = {f"`{name} = [[1, 2, 3], [4, 5, 6]]`": small_tensor(2, 3)}
    inputs["another shape"] = fresh_tensor(*fresh_sizes(2))
    for case, matrix in inputs.items():
        got = call(answer, matrix)
        wants(got, Tensor, "a Tensor", case)
        if found := kernels(got):
            raise Wrong("It would run a kernel.", case, "no kernel", count(found, "kernel"))
        same_values(got, expected(matrix.numpy()), case, shown=matrix.numel() == 6)
