"""Stage 4: the node that exists once, the order of a graph, and what computes it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

DOUBLINGS = 60


def constant(mini, value: Any) -> Any:
    return mini.UOp(mini.Ops.CONST, (), value)


def doubled(mini, node: Any, times: int) -> Any:
    for _ in range(times):
        node = mini.UOp(mini.Ops.ADD, (node, node))
    return node


def sink_of(mini, *nodes: Any) -> Any:
    return mini.UOp(mini.Ops.SINK, nodes)


def buffer(mini, values: Any) -> Any:
    return mini.UOp(mini.Ops.BUFFER, (), mini.Buffer(values))


@contextmanager
def counted(table: dict[Any, Any], row: Any) -> Iterator[list[int]]:
    """Counts how often a row of a table is used: the list has a 1 for each time."""
    function, calls = table[row], []

    def count(*arguments: Any) -> Any:
        calls.append(1)
        return function(*arguments)

    with mock.patch.dict(table, {row: count}):
        yield calls
