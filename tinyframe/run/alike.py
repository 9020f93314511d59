"""Kernels that differ only in where they read and write are compiled once, for all of them.

The steps of an unrolled loop read x[0], x[1], x[2] … of one array:

    y0[i] = x[0, i] + h[i]        become        y[i] = x[offset0, i] + h[i]
    y1[i] = x[1, i] + h[i]                      with offset0 = 0, 1, 2 …
    y2[i] = x[2, i] + h[i]

An offset is a Variable of the program. Each kernel is launched with its own value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tinyframe.uop.node import Ops, UOp, rebuild

LEAST = 4  # kernels; fewer are compiled as they are, since a number in the source is easier to read


class Offset(NamedTuple):
    """A number that is added to an index, or is one: its Variable, whose bounds are those within
    which the index stays in its axis, and its value in one kernel."""

    variable: UOp
    value: int


def alike(kernels: Iterable[UOp]) -> dict[UOp, tuple[UOp, dict[UOp, int]]]:
    """Maps kernels to the one that they share, and to the values of its offsets; no entry for a
    kernel that shares none."""
    forms: dict[UOp, dict[UOp, list[Offset]]] = {}
    for ast in kernels:
        form, offsets = _with_offsets(ast)
        forms.setdefault(form, {})[ast] = offsets
    found = {}
    for form, members in forms.items():
        if len(members) < LEAST:
            continue
        columns: dict[tuple[int, ...], list[UOp]] = {}  # the values of an offset in each kernel
        for same in zip(*members.values(), strict=True):
            columns.setdefault(tuple([o.value for o in same]), []).append(same[0].variable)
        known: dict[UOp, UOp] = {}
        varying: dict[UOp, tuple[int, ...]] = {}
        for values, places in columns.items():
            low, high = max(p.vmin for p in places), min(p.vmax for p in places)
            shared = UOp.variable(f"offset{len(varying)}", low, high)
            if len(set(values)) > 1:
                varying[shared] = values
            for p in places:
                is_one = len(set(values)) == 1
                known[p] = p.const_like(values[0]) if is_one else shared.cast(p.dtype)
        kernel = form.substitute(known)
        for n, ast in enumerate(members):
            found[ast] = kernel, {v: values[n] for v, values in varying.items()}
    return found


def _with_offsets(ast: UOp) -> tuple[UOp, list[Offset]]:
    """A kernel with a Variable in place of each offset, numbered in the order of the graph; as it
    is if it has Variables of its own."""
    offsets: list[Offset] = []

    def index(x: UOp, size: int) -> UOp:
        other, c = x.src if x.op is Ops.ADD else (None, x)
        low, high = (0, 0) if other is None else other.bounds
        if c.op is not Ops.CONST or not -low <= c.arg <= size - 1 - high or high - low == size - 1:
            return x
        variable = UOp.variable(f"offset{len(offsets)}", -low, size - 1 - high, c.dtype)
        offsets.append(Offset(variable, c.arg))
        return variable if other is None else other + variable

    def change(_: UOp, u: UOp) -> UOp:
        if u.op is not Ops.INDEX or u.src[1].op is not Ops.CONST or not isinstance(u.arg, tuple):
            return u
        sizes = zip(u.src[2:], u.arg, strict=True)
        return u.replace(src=(*u.src[:2], *[index(x, size) for x, size in sizes]))

    return (ast, []) if ast.variables() else (rebuild(ast, change), offsets)
