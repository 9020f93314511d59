"""What a project's file of tasks is written with.

    project = Project("Tensor basics", points=100)

    @project.check("describe", 4, "a scalar", hint="A scalar's shape is ().")
    def _(ask):
        x = ask.floats(3, 4)
        expect_equal(ask("describe", x), ((3, 4), "dtypes.float", 48), "describe(x)")

A check asks, and judges what comes back: it returns when the answer is right, and raises `Wrong`
(by `expect`) with a sentence about what was found when it is not. Any other exception counts as an
answer of the wrong form. `ask` has random numbers of its own, other ones for every submission.
The text between `### BEGIN HIDDEN` and `### END HIDDEN` stays with the instructor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from classroom.grader.channel import Message, encode
from classroom.grader.expressions import Expression

__all__ = ["Ask", "Expression", "Graph", "Project", "Wrong", "expect", "expect_close",
           "expect_equal"]  # fmt: skip


class Wrong(Exception):
    """An answer that is not right; the message says what was found."""


class Open(Exception):
    """There is no answer yet."""


class Raised(Exception):
    """The submission raised something."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.kind, self.message, self.line = body["type"], body["message"], body["line"]
        super().__init__(f"{self.kind}: {self.message}")


# ---- what is declared ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """One row: it belongs to a task, gives `points` or none, and shows something about it."""

    task: str
    points: int
    shows: str
    hint: str
    judge: Callable[[Ask], None]


class Project:
    """A title and checks; `points` is what all of them are worth, with the instructor's own."""

    def __init__(self, title: str, points: int = 100) -> None:
        self.title, self.points = title, points
        self.checks: list[Check] = []

    def check(self, task: str, points: int, shows: str, hint: str):
        def add(judge: Callable[[Ask], None]) -> None:
            self.checks.append(Check(task, points, shows, hint, judge))

        return add

    @property
    def elsewhere(self) -> int:
        """Points that are decided by checks that are not here."""
        return self.points - sum(check.points for check in self.checks)


# ---- what a check asks with ----------------------------------------------------------------------


class Answers(Protocol):
    """Who is asked; judge.py."""

    def submission(self, kind: str, body: Any, arrays: list[np.ndarray]) -> Message: ...
    def referee(self, kind: str, body: Any, arrays: list[np.ndarray]) -> Message: ...
    def value(self, message: Message) -> Any: ...


class Ask:
    """`ask("name", arguments…)` calls the submission's function and gives what it returns.

    Arguments: numbers, texts, lists and dicts of them, arrays (which arrive as Tensors in memory),
    Expressions (which arrive as functions). In what comes back Tensors are NumPy arrays, dtypes and
    ops are texts such as "dtypes.float" and "Ops.ADD".
    """

    def __init__(self, answers: Answers, seed: int) -> None:
        self._answers = answers
        self.rng = np.random.default_rng(seed)

    def __call__(self, name: str, *arguments: Any) -> Any:
        return self._value(self._send("value", name, arguments))

    def graph(self, name: str, *arguments: Any) -> Graph:
        """What a function returns before it is computed. Arrays among the arguments are inputs 0, 1
        and so on of the graph."""
        message = self._send("graph", name, arguments)
        if message.kind == "graph":
            inputs = [a for a in arguments if isinstance(a, np.ndarray)]
            return Graph(self._answers, message.body, inputs, message.arrays)
        raise Wrong(f"{name}() gives {described(self._value(message))}, not a Tensor")

    def floats(self, *shape: int, low: float = -1.0, high: float = 1.0) -> np.ndarray:
        """float32 with few enough digits that sums and products of some of them are exact."""
        return (np.round(self.rng.uniform(low, high, shape) * 64) / 64).astype(np.float32)

    def integer(self, low: int, high: int) -> int:
        """From low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def _send(self, kind: str, name: str, arguments: tuple[Any, ...]) -> Message:
        arrays: list[np.ndarray] = []
        body = {"function": name, "arguments": [_argument(a, arrays) for a in arguments]}
        message = self._answers.submission(kind, body, arrays)
        if message.kind == "missing":
            raise Wrong(f"there is no function {name}() in the file")
        if message.kind == "refused":
            raise Wrong(f"{name}() gives {message.body}")
        return message

    def _value(self, message: Message) -> Any:
        value = self._answers.value(message)
        if value is None or value is ...:
            raise Open
        return value


def _argument(value: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(value, Expression):
        start = len(arrays)
        arrays += value.arrays.values()
        named = {name: start + n for n, name in enumerate(value.arrays)}
        return {"expression": [value.text, named, value.parameters]}
    if isinstance(value, (list, tuple)):
        return [_argument(v, arrays) for v in value]
    if isinstance(value, dict):
        return {"dict": [[k, _argument(v, arrays)] for k, v in value.items()]}
    return encode(value, arrays)


class Graph:
    """A graph that a submission returned, rebuilt, scheduled and run by the referee."""

    def __init__(
        self, answers: Answers, table: Any, inputs: list[np.ndarray], arrays: list[np.ndarray]
    ) -> None:
        self._answers, self._table = answers, table
        self._inputs, self._arrays = inputs, arrays
        facts = self._ask("facts", inputs).body
        self.kernels: int = facts["kernels"]  # how many it is scheduled to
        self.reads: list[int] = facts["reads"]  # each kernel's most reads of one buffer
        self.ops: dict[str, int] = facts["ops"]  # how often each op is in it
        self.shape = tuple(facts["shape"])
        self.inputs: list[int] = facts["inputs"]  # the inputs that it reads

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        """Its values: of the inputs that it was built from, or of others of the same shapes."""
        return self._ask("run", list(inputs) or self._inputs).arrays[0]

    def _ask(self, kind: str, inputs: list[np.ndarray]) -> Message:
        body = {"table": self._table, "inputs": len(inputs)}
        flat = [a.reshape(-1) for a in inputs]
        answer = self._answers.referee(kind, body, flat + self._arrays)
        if answer.kind == "refused":
            raise Wrong(answer.body)
        return answer


# ---- what a check judges with --------------------------------------------------------------------


def expect(condition: Any, otherwise: str) -> None:
    """Wrong(otherwise), unless the condition is exactly true."""
    if condition is not True and not (isinstance(condition, np.bool_) and condition):
        raise Wrong(otherwise)


def expect_equal(got: Any, wanted: Any, what: str) -> None:
    """Of the same type and value; a tuple and a list are told apart, and so are 1, 1.0 and True."""
    expect(_same(got, wanted), f"{what} is {described(got)}, not {described(wanted)}")


def _same(got: Any, wanted: Any) -> bool:
    if type(got) is not type(wanted):
        return False
    if isinstance(wanted, (list, tuple)):
        return len(got) == len(wanted) and all(map(_same, got, wanted))
    if isinstance(wanted, dict):
        return got.keys() == wanted.keys() and all(_same(got[k], wanted[k]) for k in wanted)
    if isinstance(wanted, np.ndarray):
        return got.dtype == wanted.dtype and np.array_equal(got, wanted)
    return bool(got == wanted)


def expect_close(got: Any, wanted: np.ndarray | float, what: str, rtol: float = 1e-4) -> None:
    """Of the same shape, and all values alike; NaN is like nothing."""
    wanted = np.asarray(wanted, np.float64)
    if isinstance(got, (int, float)) and not isinstance(got, bool):
        got = np.asarray(got, np.float64)
    expect(isinstance(got, np.ndarray), f"{what} is {described(got)}, not numbers")
    expect(got.shape == wanted.shape, f"{what} has shape {got.shape}, not {wanted.shape}")
    scale = float(np.max(np.abs(wanted), initial=1.0))
    with np.errstate(all="ignore"):  # an infinity less another one is NaN
        apart = np.abs(got.astype(np.float64) - wanted)
    wrong = ~(apart <= rtol * scale)  # where a NaN is, no comparison is true
    if wrong.any():
        place = tuple(map(int, np.argwhere(wrong)[0]))
        at = f"[{', '.join(map(str, place))}]" if place else ""
        raise Wrong(f"{what}{at} is {got[place]:.6g}, not {wanted[place]:.6g}")


def described(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, np.ndarray):
        return f"a Tensor of shape {value.shape} and dtype {value.dtype}"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
