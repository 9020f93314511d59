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
from tinyframe.uop.movement import stored_state
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


def need(condition: bool, otherwise: str) -> None:
    if not condition:
        raise Refused(otherwise)


@dataclass(frozen=True)
class Rebuilt:
    """A graph with buffers of its own: `inputs` by number, `data` with what is in them."""

    root: UOp
    inputs: dict[int, UOp]
    data: dict[UOp, np.ndarray]


# ---- arguments, op by op -------------------------------------------------------------------------


def number(x: Any) -> int:
    is_usual = type(x) is int and abs(x) <= 1 << 31
    need(is_usual, f"an argument is no number of a usual size: {str(x)[:40]}")
    return x


def numbers(x: Any) -> tuple[int, ...]:
    need(isinstance(x, list) and len(x) <= MOST_DIMENSIONS, "an argument is no list of sizes")
    return tuple(map(number, x))


def pairs(x: Any) -> tuple[tuple[int, ...], ...]:
    need(isinstance(x, list) and len(x) <= MOST_DIMENSIONS, "an argument is no list of pairs")
    return tuple(map(numbers, x))


def flags(x: Any) -> tuple[bool, ...]:
    are_flags = isinstance(x, list) and all(type(f) is bool for f in x)
    need(are_flags, "an argument is no list of flags")
    return tuple(x)


def reduction(x: Any) -> tuple[Ops, tuple[int, ...]]:
    fits = isinstance(x, list) and len(x) == 2 and x[0] in ("ADD", "MUL", "MAX")
    need(fits, "a reduction by an op that does not reduce")
    return Ops[x[0]], numbers(x[1])


def scan(x: Any) -> tuple[Ops, int]:
    fits = isinstance(x, list) and len(x) == 2 and x[0] in ("ADD", "MUL", "MAX", "MULACC")
    need(fits, "a scan by an op that does not reduce")
    return Ops[x[0]], number(x[1])


def combination(x: Any) -> Ops | None:
    need(x in (None, "ADD", "MUL", "MAX"), "an assignment by an op that does not reduce")
    return None if x is None else Ops[x]


def nothing(x: Any) -> None:
    need(x is None, "an argument where there is none")


def as_lists(x: Any) -> Any:
    """Tuples as lists, an op as its name: what JSON has."""
    if isinstance(x, tuple):
        return [as_lists(e) for e in x]
    if isinstance(x, Ops):
        return x.name
    need(x is None or type(x) in (int, bool), f"a size that is not a number: {str(x)[:60]}")
    return x


ARGUMENTS: dict[Ops, Callable[[Any], Any]] = {
    **dict.fromkeys((Ops.RESHAPE, Ops.EXPAND, Ops.PERMUTE, Ops.WINDOW, Ops.UNWINDOW), numbers),
    **dict.fromkeys((Ops.PAD, Ops.SHRINK), pairs),
    **dict.fromkeys((*GroupOp.Elementwise, Ops.CONTIGUOUS, Ops.FUSE, Ops.DETACH), nothing),
    Ops.FLIP: flags,
    Ops.REDUCE_AXIS: reduction,
    Ops.SCAN_AXIS: scan,
    Ops.TAKE: number,
    Ops.ASSIGN: combination,
}


COPIES = (Ops.CONTIGUOUS, Ops.ASSIGN)  # what may be assigned to

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
            is_plain = type(u.arg) is not float or math.isfinite(u.arg)
            sources, argument = (), [u.arg if is_plain else str(u.arg), u.device]
        elif u.op is Ops.BUFFER and u in inputs:
            sources, argument = (), [u.arg, u.device, "input", inputs[u]]
        elif u.op is Ops.BUFFER:
            sources, argument = (), [u.arg, u.device, "data", len(arrays)]
            arrays.append(_contents(u))
        else:
            raise Refused(f"a graph with {u.op.name} in it")
        need(u.dtype in SENT_DTYPES, f"a graph with {u.dtype} in it")
        place[u] = len(table)
        table.append([u.op.name, SENT_DTYPES[u.dtype], [place[s] for s in sources], argument])
    return table


def _contents(u: UOp) -> np.ndarray:
    need(u.arg <= MOST_ELEMENTS, f"a graph that reads a buffer of {u.arg:,} elements")
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
    fits = isinstance(table, list) and 0 < len(table) <= MOST_NODES
    need(fits, f"a graph has 1 to {MOST_NODES} nodes")
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
        name = nodes[-1].op.name
        need(legal, f"{name} in a way that the spec does not allow")
        need(min(shape, default=0) >= 0, f"{name} of shape {shape}: a size below 0")
        fits = len(shape) <= MOST_DIMENSIONS and math.prod(shape) <= MOST_ELEMENTS
        need(fits, f"{name} of shape {shape}: too large to be judged")
    return Rebuilt(nodes[-1], rebuilt.inputs, rebuilt.data)


def _node(row: Any, nodes: list[UOp], arrays: list[np.ndarray], rebuilt: Rebuilt) -> UOp:
    need(isinstance(row, list) and len(row) == 4, "a row is op, dtype, sources and argument")
    name, dtype_name, places, argument = row
    known = name in Ops.__members__ and dtype_name in NAMES and isinstance(places, list)
    need(known, "a row with an op or dtype that does not exist")
    above = all(type(p) is int and 0 <= p < len(nodes) for p in places)
    need(above, "a row whose sources are not above it")
    op, dtype = Ops[name], DTYPES_DICT[dtype_name]
    sources = tuple(nodes[p] for p in places)
    if op in ARGUMENTS:
        to_a_copy = op is not Ops.ASSIGN or stored_state(UOp(op, dtype, sources)).op in COPIES
        need(to_a_copy, "an assignment to what is given")
        return UOp(op, dtype, sources, ARGUMENTS[op](argument))
    if op is Ops.COPY and len(sources) == 1:
        return UOp(op, dtype, (*sources, _device(argument)))
    allowed = not sources and isinstance(argument, list)
    need(allowed, f"{name} in a way that the spec does not allow")
    if op in (Ops.CONST, Ops.IOTA) and len(argument) == 2:
        place = () if argument[1] is None else (_device(argument[1]),)
        return UOp(op, dtype, place, _constant(argument[0], dtype))
    if op is Ops.BUFFER and len(argument) == 4:
        return _buffer(argument, dtype, arrays, rebuilt)
    raise Refused(f"{name} in a graph that is sent")


def _constant(value: Any, dtype: DType) -> Any:
    if value in ("inf", "-inf", "nan"):
        return float(value)
    is_number = type(value) in (bool, float) or (type(value) is int and abs(value) < 1 << 64)
    need(is_number, "a constant that is no number")
    return value


def _device(name: Any) -> UOp:
    need(name in DEVICES, "a device that is not here")
    return UOp(Ops.DEVICE, arg=DEVICES[name])


def _buffer(argument: list, dtype: DType, arrays: list[np.ndarray], rebuilt: Rebuilt) -> UOp:
    size, device, kind, which = argument
    can_be = 0 <= number(size) <= MOST_ELEMENTS and kind in ("input", "data")
    need(can_be, "a buffer that cannot be")
    buffer = UOp.new_buffer(_device(device).arg, size, dtype)
    if kind == "input":
        need(number(which) not in rebuilt.inputs, "an input that is there twice")
        rebuilt.inputs[which] = buffer
        return buffer
    has_contents = 0 <= number(which) < len(arrays) and arrays[which].size == size
    need(has_contents, "a buffer without its contents")
    rebuilt.data[buffer] = arrays[which]
    return buffer


def same_dtype(array: np.ndarray, dtype: DType) -> bool:
    wanted = np.float32 if dtype is dtypes.bfloat16 else to_np_dtype(dtype)
    return array.dtype == wanted
