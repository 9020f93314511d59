"""Graphs as tables, so that they can be sent: a row for each node, sources first.

    >>> x = Tensor([1.0, 2.0]).realize()
    >>> to_table((x + 1).uop, {x.uop.base: 0})
    [["BUFFER", "float", [], [2, "CPU", "input", 0]],
     ["CONST", "float", [], [1.0, "CPU"]],
     ["RESHAPE", "float", [1], [1]], ["EXPAND", "float", [2], [2]], ["ADD", "float", [0, 3], null]]

A table from a submission may say anything. `from_table` builds it row by row; each row is held
against the spec (tinyframe/rewrite/spec.py) and against limits before the next one is looked at,
and `Refused` says what was wrong with it. What is built has new buffers of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyframe.device import buffer_of
from tinyframe.dtype import DTYPES_DICT, DType, dtypes, to_np_dtype
from tinyframe.rewrite.spec import spec_tensor
from tinyframe.uop.node import GroupOp, Ops, UOp

MOST_NODES = 1000
MOST_ELEMENTS = 1 << 18  # of any node: a graph is also run, in an interpreter
MOST_DIMENSIONS = 8
NAMES = (
    *("bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"),
    *("half", "bfloat16", "float", "double"),
)
SENT_DTYPES = {DTYPES_DICT[name]: name for name in NAMES}


class Refused(ValueError):
    """A graph that is not looked at further, and why."""


@dataclass(frozen=True)
class Rebuilt:
    """A graph with buffers of its own: `inputs` by number, `data` with what is in them."""

    root: UOp
    inputs: dict[int, UOp]
    data: dict[UOp, np.ndarray]


# ---- arguments, op by op -------------------------------------------------------------------------


def number(x: Any) -> int:
    if type(x) is not int or abs(x) > 1 << 31:
        raise Refused(f"an argument is no number of a usual size: {str(x)[:40]}")
    return x


def numbers(x: Any) -> tuple[int, ...]:
    if not isinstance(x, list) or len(x) > MOST_DIMENSIONS:
        raise Refused("an argument is no list of sizes")
    return tuple(map(number, x))


def pairs(x: Any) -> tuple[tuple[int, ...], ...]:
    if not isinstance(x, list) or len(x) > MOST_DIMENSIONS:
        raise Refused("an argument is no list of pairs")
    return tuple(map(numbers, x))


def flags(x: Any) -> tuple[bool, ...]:
    if not isinstance(x, list) or not all(type(f) is bool for f in x):
        raise Refused("an argument is no list of flags")
    return tuple(x)


def reduction(x: Any) -> tuple[Ops, tuple[int, ...]]:
    if not (isinstance(x, list) and len(x) == 2 and x[0] in ("ADD", "MUL", "MAX")):
        raise Refused("a reduction by an op that does not reduce")
    return Ops[x[0]], numbers(x[1])


def nothing(x: Any) -> None:
    if x is not None:
        raise Refused("an argument where there is none")


def as_lists(x: Any) -> Any:
    """Tuples as lists, an op as its name: what JSON has."""
    if isinstance(x, tuple):
        return [as_lists(e) for e in x]
    if isinstance(x, Ops):
        return x.name
    if x is not None and type(x) not in (int, bool):
        raise Refused(f"a size that is not a number: {str(x)[:60]}")
    return x


ARGUMENTS: dict[Ops, Callable[[Any], Any]] = {
    **dict.fromkeys((Ops.RESHAPE, Ops.EXPAND, Ops.PERMUTE, Ops.WINDOW, Ops.UNWINDOW), numbers),
    **dict.fromkeys((Ops.PAD, Ops.SHRINK), pairs),
    **dict.fromkeys((*GroupOp.Elementwise, Ops.CONTIGUOUS, Ops.FUSE, Ops.DETACH), nothing),
    Ops.FLIP: flags,
    Ops.REDUCE_AXIS: reduction,
}


# ---- out -----------------------------------------------------------------------------------------


def to_table(root: UOp, inputs: Mapping[UOp, int], arrays: list[np.ndarray]) -> list[list[Any]]:
    """The graph below `root`; contents of buffers that are no inputs are appended to `arrays`."""
    place: dict[UOp, int] = {}
    table: list[list[Any]] = []
    for u in root.toposort():
        if u.op in (Ops.UNIQUE, Ops.DEVICE):
            continue
        if u.op in ARGUMENTS:
            sources, argument = u.src, as_lists(u.arg)
        elif u.op is Ops.COPY:
            sources, argument = u.src[:1], u.device
        elif u.op in (Ops.CONST, Ops.IOTA):
            sources, argument = (), [_plain_constant(u.arg), u.device]
        elif u.op is Ops.BUFFER and u in inputs:
            sources, argument = (), [u.arg, u.device, "input", inputs[u]]
        elif u.op is Ops.BUFFER:
            sources, argument = (), [u.arg, u.device, "data", len(arrays)]
            arrays.append(_contents(u))
        else:
            raise Refused(f"a graph with {u.op.name} in it")
        if u.dtype not in SENT_DTYPES:
            raise Refused(f"a graph with {u.dtype} in it")
        place[u] = len(table)
        table.append([u.op.name, SENT_DTYPES[u.dtype], [place[s] for s in sources], argument])
    return table


def _plain_constant(value: Any) -> Any:
    if type(value) is float and not math.isfinite(value):
        return str(value)
    return value


def _contents(u: UOp) -> np.ndarray:
    if u.arg > MOST_ELEMENTS:
        raise Refused(f"a graph that reads a buffer of {u.arg:,} elements")
    buffer = buffer_of(u)
    if not buffer.is_allocated():
        return np.zeros(u.arg, to_np_dtype(u.dtype) or np.float32)
    return np.array(buffer.numpy())


# ---- in ------------------------------------------------------------------------------------------

# The host's memory, where Tensor([1, 2]) begins, is the PYTHON device; kernels run in the
# interpreter, which is that device too. So the host's is another one of its kind here.
DEVICES = {"CPU": "PYTHON", "PYTHON": "PYTHON:1"}


def from_table(table: Any, arrays: list[np.ndarray]) -> Rebuilt:
    """The graph of this table. Refused where it breaks the spec or a limit."""
    if not isinstance(table, list) or not 0 < len(table) <= MOST_NODES:
        raise Refused(f"a graph has 1 to {MOST_NODES} nodes")
    nodes: list[UOp] = []
    rebuilt = Rebuilt(UOp(Ops.NOOP), {}, {})
    for row in table:
        try:
            nodes.append(_node(row, nodes, arrays, rebuilt))
            shape = nodes[-1].shape
            legal = spec_tensor.rewrite(nodes[-1]) is True
        except Refused:
            raise
        except Exception as error:  # a row may break a rule of the spec in any way there is
            raise Refused(f"a row that means nothing ({type(error).__name__})") from None
        if not legal:
            raise Refused(f"{nodes[-1].op.name} in a way that the spec does not allow")
        if min(shape, default=0) < 0:
            raise Refused(f"{nodes[-1].op.name} of shape {shape}: a size below 0")
        if len(shape) > MOST_DIMENSIONS or math.prod(shape) > MOST_ELEMENTS:
            raise Refused(f"{nodes[-1].op.name} of shape {shape}: too large to be judged")
    return Rebuilt(nodes[-1], rebuilt.inputs, rebuilt.data)


def _node(row: Any, nodes: list[UOp], arrays: list[np.ndarray], rebuilt: Rebuilt) -> UOp:
    if not (isinstance(row, list) and len(row) == 4):
        raise Refused("a row is op, dtype, sources and argument")
    name, dtype_name, places, argument = row
    if name not in Ops.__members__ or dtype_name not in NAMES or not isinstance(places, list):
        raise Refused("a row with an op or dtype that does not exist")
    if not all(type(p) is int and 0 <= p < len(nodes) for p in places):
        raise Refused("a row whose sources are not above it")
    op, dtype = Ops[name], DTYPES_DICT[dtype_name]
    sources = tuple(nodes[p] for p in places)
    if op in ARGUMENTS:
        return UOp(op, dtype, sources, ARGUMENTS[op](argument))
    if op is Ops.COPY and len(sources) == 1:
        return UOp(op, dtype, (*sources, _device(argument)))
    if sources or not isinstance(argument, list):
        raise Refused(f"{name} in a way that the spec does not allow")
    if op in (Ops.CONST, Ops.IOTA) and len(argument) == 2:
        place = () if argument[1] is None else (_device(argument[1]),)
        return UOp(op, dtype, place, _constant(argument[0], dtype))
    if op is Ops.BUFFER and len(argument) == 4:
        return _buffer(argument, dtype, arrays, rebuilt)
    raise Refused(f"{name} in a graph that is sent")


def _constant(value: Any, dtype: DType) -> Any:
    if value in ("inf", "-inf", "nan"):
        return float(value)
    if type(value) not in (int, bool, float) or (type(value) is int and abs(value) >= 1 << 64):
        raise Refused("a constant that is no number")
    return value


def _device(name: Any) -> UOp:
    if name not in DEVICES:
        raise Refused("a device that is not here")
    return UOp(Ops.DEVICE, arg=DEVICES[name])


def _buffer(argument: list, dtype: DType, arrays: list[np.ndarray], rebuilt: Rebuilt) -> UOp:
    size, device, kind, which = argument
    if number(size) > MOST_ELEMENTS or size < 0 or kind not in ("input", "data"):
        raise Refused("a buffer that cannot be")
    buffer = UOp.new_buffer(_device(device).arg, size, dtype)
    if kind == "input":
        if number(which) in rebuilt.inputs:
            raise Refused("an input that is there twice")
        rebuilt.inputs[which] = buffer
        return buffer
    if not 0 <= number(which) < len(arrays) or arrays[which].size != size:
        raise Refused("a buffer without its contents")
    rebuilt.data[buffer] = arrays[which]
    return buffer


def same_dtype(array: np.ndarray, dtype: DType) -> bool:
    wanted = np.float32 if dtype is dtypes.bfloat16 else to_np_dtype(dtype)
    return array.dtype == wanted
