"""Five small changes that nobody asked for, on their way in with a real one.

Each is a line of tinyframe that somebody found nicer another way. A test holds that each line is
there exactly once. `effects` tells, for each of them, the expressions whose kernels it changes.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple
from unittest import mock

from classroom.contributing.recorded import compared, kernels


class Hunk(NamedTuple):
    """A line of a function, before and after. function: "Class.method", or a module's function."""

    module: str
    function: str
    old: str
    new: str

    @property
    def path(self) -> str:
        return self.module.replace(".", "/") + ".py"


HUNKS = {
    "A": Hunk(
        "tinyframe.tensor.elementwise", "Elementwise.square",
        "return self * self", "return self**2",
    ),
    "B": Hunk(
        "tinyframe.tensor.elementwise", "Elementwise.exp",
        "return (self * (1 / math.log(2))).exp2()", "return (self / math.log(2)).exp2()",
    ),
    "C": Hunk(
        "tinyframe.tensor.elementwise", "Elementwise.lerp",
        "return begin + (end - begin) * weight", "return begin * (1 - weight) + end * weight",
    ),
    "D": Hunk(
        "tinyframe.tensor.more.special", "_half_exp",
        "return ((x - 1) * (1 / math.log(2))).exp2() * (math.e / 2)",
        "return ((x - 1) * math.log2(math.e)).exp2() * (math.e / 2)",
    ),
    "E": Hunk(
        "tinyframe.tensor.more.special", "_polynomial",
        "result = x * result + c", "result = c + result * x",
    ),
}  # fmt: skip


def effects() -> dict[str, list[str]]:
    """Of each hunk, by its letter, the expressions whose kernels it changes: tried one by one, with
    the tinyframe that is imported."""
    before, found = kernels(), {}
    for letter, hunk in HUNKS.items():
        with applied(hunk):
            states = compared(before, kernels())
        found[letter] = [name for name, state in states.items() if state == "changed"]
    return found


@contextmanager
def applied(hunk: Hunk) -> Iterator[None]:
    """Inside, the function has its new line."""
    module = import_module(hunk.module)
    owner_name, _, name = hunk.function.rpartition(".")
    owner = getattr(module, owner_name) if owner_name else module
    text = textwrap.dedent(inspect.getsource(getattr(owner, name)))  # decorators included
    scope: dict[str, Any] = dict(vars(module))
    exec(text.replace(hunk.old, hunk.new), scope)
    with mock.patch.object(owner, name, scope[name]):
        yield
