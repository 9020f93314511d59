"""What an answer does: the ops in its graph, counted by kind, and the functions that it calls.

count((a[:, None] * b))     Counter({"movement": 4, "elementwise": 1})
"""

from __future__ import annotations

import dis
import inspect
from collections import Counter
from collections.abc import Callable
from types import FunctionType
from typing import Any

from classroom.ask import codes
from tinyframe import Tensor
from tinyframe.uop import GroupOp, Ops, UOp

KINDS = {
    **dict.fromkeys(GroupOp.Elementwise, "elementwise"),
    **dict.fromkeys(GroupOp.Movement, "movement"),
    **dict.fromkeys((Ops.REDUCE_AXIS, Ops.SCAN_AXIS), "reduction"),
    Ops.IOTA: "arange",
    Ops.TAKE: "gather",
    Ops.ASSIGN: "scatter",
}
# The constant that changes nothing: x * 1 and x + 0, which arange records, are no work.
NEUTRAL = {Ops.MUL: 1, Ops.ADD: 0}

# Instructions of Python that look a name up.
VARIABLES = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")
ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")


def count(tensor: Tensor, *inputs: Tensor) -> Counter[str]:
    """How many nodes of each kind a Tensor's graph has, beyond those of its inputs.

    A constant stretched to a shape is not counted, nor is multiplying by 1 or adding 0.
    """
    given = {u for x in inputs for u in x.uop.toposort()}
    nodes = [u for u in tensor.uop.toposort() if u not in given]
    return Counter(KINDS[u.op] for u in nodes if u.op in KINDS and not _is_free(u))


def _is_free(u: UOp) -> bool:
    if u.op in NEUTRAL:
        return any(constant_of(s) == NEUTRAL[u.op] for s in u.src)
    return constant_of(u) is not None


def constant_of(u: UOp) -> Any:
    """The number that a node is everywhere, if it is a constant in some shape; else None."""
    while u.op in (Ops.RESHAPE, Ops.EXPAND):
        u = u.src[0]
    return u.arg if u.op is Ops.CONST else None


def described(ops: Counter[str]) -> str:
    """`5 ops: 4 movement, 1 elementwise`."""
    total = ops.total()
    kinds = ", ".join(f"{ops[kind]} {kind}" for kind in dict.fromkeys(KINDS.values()) if ops[kind])
    return f"{total} op{'' if total == 1 else 's'}: {kinds}" if kinds else "no ops"


def names(function: Callable[..., Any]) -> set[str]:
    """The functions, methods and attributes that a function uses, and those of the learner's own
    functions that it calls. A variable of its own, or one that holds a number, is none of these."""
    found: set[str] = set()
    pending, seen = [function], {function}
    while pending:
        f = pending.pop()
        reachable = {**f.__globals__, **inspect.getclosurevars(f).nonlocals}
        parts = list(codes(f.__code__))
        own = {name for code in parts for name in code.co_cellvars}  # seen by an inner function
        for line in (line for code in parts for line in dis.get_instructions(code)):
            is_variable = line.opname in VARIABLES and line.argval not in own
            value = reachable.get(line.argval) if is_variable else None
            if isinstance(value, FunctionType) and is_learners(value):
                pending += {value} - seen
                seen.add(value)
            elif line.opname in ATTRIBUTES or is_variable and not isinstance(value, (int, float)):
                found.add(line.argval)
    return found


def is_learners(value: Any) -> bool:
    """Whether it is a function that was written in a notebook, and not in a library."""
    return isinstance(value, FunctionType) and not (value.__module__ or "").startswith("tinyframe.")
