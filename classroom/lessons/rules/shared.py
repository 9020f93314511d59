"""What several exercises of this lesson need."""

import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from classroom.added import work
from classroom.ask import Wrong, call
from classroom.lies import lie, shown, written
from tinyframe import Context, Tensor
from tinyframe.rewrite import PatternMatcher, Rule, UPat, graph_rewrite
from tinyframe.rewrite.matcher import Step, record
from tinyframe.uop import UOp

v, c, d = UPat.var("v"), UPat.cvar("c"), UPat.cvar("d")


ADDING_UP = PatternMatcher(
    [
        (v + v, lambda v: v * 2),
        (v * c + v, lambda v, c: v * (c.arg + 1)),
        (v * c * d, lambda v, c, d: v * (c.arg * d.arg)),
    ]
)


def rewrites_of_two_sums() -> tuple[int, int]:
    """How often a rule of ADDING_UP fires for eight i, one after another and in pairs."""
    i = UOp.variable("i", 0, 9)
    pair = i + i
    return tuple(  # type: ignore[return-value]
        len(steps_of(total, ADDING_UP)) for total in (sum([i] * 7, i), pair + pair + (pair + pair))
    )


def steps_of(root: UOp, table: PatternMatcher) -> list[Step]:
    """What a table does to a graph, step by step."""
    with record() as passes:
        graph_rewrite(root, table)
    return passes[0].steps


def work_of_four() -> tuple[int, ...]:
    x = Tensor(np.arange(4, dtype=np.float32)).realize()
    counts = [work(x * 1 + 0).total()]
    with Context(NOOPT=0):
        counts += [work(y).total() for y in (x * 1 + 0, x * 0 + 1, x - x)]
    return tuple(counts)


def given(answer, *inputs: Any) -> Any:
    """What the learner's function gives; or the answer itself, if somebody passed that."""
    if isinstance(answer, (tuple, list, PatternMatcher, Rule)) or hasattr(answer, "__next__"):
        return answer
    if callable(answer) and not inputs and needs_inputs(answer):
        return answer  # a part of the answer, so that it can be told so
    return call(answer, *inputs)


def needs_inputs(function: Callable[..., Any]) -> bool:
    with suppress(TypeError, ValueError):
        parameters = inspect.signature(function).parameters.values()
        return any(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
    return False


def refuse_lie(before: UOp, after: UOp) -> None:
    """Wrong if what a table made of an expression has a different value somewhere."""
    if (found := lie(before, after)) is not None:
        where = f", for {found.where()}" if found.values else ""
        raise Wrong(f"That's a lie{where}.", f"`{written(before)}` became `{written(after)}`",
                    expected=shown(found.honest), got=shown(found.other))  # fmt: skip
