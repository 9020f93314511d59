"""What several exercises of this lesson need."""

import functools
from collections.abc import Callable
from typing import Any

from classroom.sabotage import healthy
from tinyframe import Context, Tensor
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.codegen.program import ProgramSpec
from tinyframe.observe import Observer, observing
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.uop import UOp


def program(tensor: Tensor, opts: list[Opt] | None = None) -> ProgramSpec:
    """The one kernel of a Tensor as C, the same on every machine; nothing runs."""
    (item,) = tensor.schedule()
    with Context(NOOPT=1):
        return get_program(item.ast, CStyleLanguage(), opts)


def shop(device: str = "CPU") -> tuple[Tensor, Tensor]:
    """The quantities and the prices of the lesson."""
    quantities = [[2.0, 0.0, 1.0, 3.0], [0.0, 1.0, 5.0, 0.0], [1.0, 1.0, 1.0, 1.0]]
    prices = [0.5, 2.25, 1.0, 4.0]
    return Tensor(quantities, device=device).realize(), Tensor(prices, device=device).realize()


def bills(quantities: Tensor, prices: Tensor) -> Tensor:
    return (quantities * prices).sum(axis=-1)


def on_a_healthy_compiler(check: Callable[[Any], str]) -> Callable[[Any], str]:
    """A check during which the compiler is as it was before somebody broke in."""

    @functools.wraps(check)
    def checked(answer: Any) -> str:
        with healthy():
            return check(answer)

    return checked


class Stages(Observer):
    """The graph after each stage of compiling one kernel."""

    def __init__(self) -> None:
        self.graphs: dict[str, list[UOp]] = {}

    def stage(self, name: str, before: Any, after: UOp | list[UOp], passes: Any) -> None:
        self.graphs[name] = list(after) if isinstance(after, list) else list(after.toposort())


def stages_of(tensor: Tensor) -> dict[str, list[UOp]]:
    """{stage: the nodes of the graph after it} of a Tensor's one kernel; nothing runs."""
    watching = Stages()
    with observing(watching):
        program(tensor)
    return watching.graphs
