"""Graphs of mini that a submission built: sent as a table, held against rules, run here, in NumPy.

    maze = sent(ask, array)                         # a mini Tensor in the submission's process
    graph = graph_of(ask, [maze], "distances", maze, 5)
    graph.run(other_array)                          # of other numbers, computed by the judge

A submission may send whatever table it likes: what counts is what comes out for fresh inputs. So
nothing that it changes in its own copy of mini decides anything here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.grader.channel import NumpyArray
from classroom.grader.tasks import Ask, Called, Expression, Kept, Wrong, described, expect

MOST_NODES = 6000
MOST_ELEMENTS = 1 << 16  # of one node
MOST_WORK = 1 << 23  # elements of all nodes together
MOVEMENT = frozenset({"RESHAPE", "PERMUTE", "EXPAND", "SHRINK", "FLIP", "PAD"})

# In the submission's process, where these texts are run, mini is the reference.
TENSOR = "__import__('mini.part4', fromlist=['Tensor']).Tensor"
_MAKE = Expression(f"{TENSOR}(values)", {}, "values")
# A row for each node, sources first: [op, the numbers of its sources, its arg]. The arg of a BUFFER
# is the number of the input that it is, or its values.
_TABLE = Expression(
    "(lambda nodes: (lambda own, at: [[u.op.name, [at[source] for source in u.src], "
    "own[u] if u in own else u.arg.data if u.op.name == 'BUFFER' else "
    "(u.arg[0].name, u.arg[1]) if u.op.name == 'REDUCE_AXIS' else u.arg] for u in nodes])"
    "({t.uop: n for n, t in enumerate(inputs)}, {u: n for n, u in enumerate(nodes)}))"
    "(result.uop.toposort())",
    {},
    "result, inputs",
)
# Tensors of mini as NumPy arrays, in dicts, lists and tuples too.
_PLAIN = Expression(
    "(lambda plain: plain(plain, result))(lambda plain, x: "
    "x.numpy() if hasattr(x, 'uop') else "
    "{key: plain(plain, x[key]) for key in x} if isinstance(x, dict) else "
    "[plain(plain, each) for each in x] if isinstance(x, (list, tuple)) else x)",
    {},
    "result",
)
_IS_TENSOR = Expression(f"isinstance(result, {TENSOR})", {}, "result")


def sent(ask: Ask, values: np.ndarray) -> Kept:
    """These values as a Tensor of mini, in the submission's process."""
    return ask.keep(_MAKE, NumpyArray(values))


def plain(ask: Ask, result: Kept) -> Any:
    """What a submission returned, with NumPy arrays in place of Tensors of mini."""
    return ask(_PLAIN, result)


def graph_of(ask: Ask, inputs: list[Kept], name: Called, *arguments: Any) -> Graph:
    """What a function returns before it is computed: a Tensor of mini that reads all inputs."""
    result = ask.keep(name, *arguments)
    if not ask(_IS_TENSOR, result):
        got = described(plain(ask, result))
        raise Wrong(f"the result of {name}() is {got}, but should be a Tensor of mini")
    graph = Graph(ask(_TABLE, result, inputs))
    reads = f"its graph reads {len(graph.inputs) or 'none'} of the {len(inputs)} Tensors given"
    left = f"{reads}. Is one left out, or did you compute something already?"
    expect(graph.inputs == set(range(len(inputs))), left)
    return graph


class Graph:
    """A table that came from a submission; `ops` counts its nodes."""

    def __init__(self, table: Any) -> None:
        need(isinstance(table, list) and 0 < len(table), "it is no table")
        need(len(table) <= MOST_NODES, f"it has more than {MOST_NODES} nodes")
        for number, row in enumerate(table):
            need(isinstance(row, list) and len(row) == 3, "a row of it is none")
            op, places, _ = row
            known = type(op) is str and (op in _RUN or op == "BUFFER")
            need(known, f"it has a node {described(op)}")
            need(isinstance(places, list) and len(places) == _SOURCES.get(op, 1), f"{op} in it")
            need(all(type(p) is int and 0 <= p < number for p in places), f"{op} has no sources")
        self.table = table
        self.ops = Counter(op for op, _, _ in table)
        self.inputs = {arg for op, _, arg in table if op == "BUFFER" and type(arg) is int}

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        """The values of its last node, of inputs of the shapes that it was built for."""
        values: list[np.ndarray] = []
        work = 0
        for op, places, arg in self.table:
            sources = [values[place] for place in places]
            try:
                found = _buffer(arg, inputs) if op == "BUFFER" else _RUN[op](arg, *sources)
            except Wrong:
                raise
            except Exception as error:
                raise Wrong(f"its graph does not run ({op}: {type(error).__name__})") from None
            work += found.size
            need(work <= MOST_WORK, "it computes too much")
            values.append(found)
        return np.array(values[-1], np.float32)


def need(condition: bool, otherwise: str) -> None:
    expect(condition, f"its graph cannot be judged: {otherwise}")


def _buffer(arg: Any, inputs: tuple[np.ndarray, ...]) -> np.ndarray:
    if type(arg) is int:
        return np.asarray(inputs[arg], np.float32)
    need(isinstance(arg, NumpyArray) and arg.values.size <= MOST_ELEMENTS, "memory in it")
    return np.asarray(arg.values, np.float32)


def _elementwise(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """Of sources of one shape; a constant, of shape (), fits all."""

    def run(arg: Any, *sources: np.ndarray) -> np.ndarray:
        need(len({x.shape for x in sources} - {()}) < 2, "shapes that do not agree")
        with np.errstate(all="ignore"):
            return np.asarray(function(*sources), np.float32)

    return run


def _sized(function: Callable[[np.ndarray, Any], np.ndarray]) -> Callable[..., np.ndarray]:
    """A movement to the shape that its arg names, which is looked at first."""

    def run(arg: Any, x: np.ndarray) -> np.ndarray:
        need(all(type(size) is int and size >= 0 for size in arg), "a shape that is none")
        need(math.prod(arg) <= MOST_ELEMENTS and len(arg) < 16, "a shape that is too large")
        return function(x, tuple(arg))

    return run


def _pad(arg: Any, x: np.ndarray) -> np.ndarray:
    pairs = [(before, after) for before, after in arg]
    known = len(pairs) == x.ndim and all(type(n) is int and n >= 0 for pair in pairs for n in pair)
    need(known, "a PAD without widths")
    after = math.prod(size + sum(pair) for size, pair in zip(x.shape, pairs, strict=True))
    need(after <= MOST_ELEMENTS, "a shape that is too large")
    return np.pad(x, pairs)


def _shrink(arg: Any, x: np.ndarray) -> np.ndarray:
    need(len(arg) == x.ndim, "a SHRINK without bounds")
    return x[tuple(slice(start, stop) for start, stop in arg)]


def _reduce(arg: Any, x: np.ndarray) -> np.ndarray:
    op, axes = arg
    function: Any = {"ADD": np.sum, "MAX": np.max}[op]
    return np.asarray(function(x, axis=tuple(axes), keepdims=True))


_RUN: dict[str, Callable[..., np.ndarray]] = {
    "CONST": lambda arg: np.asarray(np.float32(arg)),
    "ADD": _elementwise(np.add), "MUL": _elementwise(np.multiply), "MAX": _elementwise(np.maximum),
    "CMPLT": _elementwise(np.less), "RECIP": _elementwise(np.reciprocal),
    "WHERE": _elementwise(lambda condition, x, y: np.where(condition != 0, x, y)),
    "SQRT": _elementwise(np.sqrt), "EXP2": _elementwise(np.exp2), "LOG2": _elementwise(np.log2),
    "RESHAPE": _sized(np.reshape), "EXPAND": _sized(np.broadcast_to),
    "PERMUTE": lambda arg, x: x.transpose(arg), "FLIP": lambda arg, x: np.flip(x, tuple(arg)),
    "SHRINK": _shrink, "PAD": _pad, "DETACH": lambda arg, x: x, "REDUCE_AXIS": _reduce,
}  # fmt: skip
_SOURCES = {"BUFFER": 0, "CONST": 0, "ADD": 2, "MUL": 2, "MAX": 2, "CMPLT": 2, "WHERE": 3}
