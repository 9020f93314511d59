"""Kernels that differ only in where they read and write, or in the number that they store, are
compiled once, for all of them.

The steps of an unrolled loop read x[0], x[1], x[2] … of one array:

    y0[i] = x[0, i] + h[i]        become        y[i] = x[number0, i] + h[i]
    y1[i] = x[1, i] + h[i]                      with number0 = 0, 1, 2 …
    y2[i] = x[2, i] + h[i]

Such a number is a Variable of the program. Each kernel is launched with its own value. So is what
`t[k] = 0.5` stores, and it may be that the kernels come one after the other: from the third one on
they share a program.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import NamedTuple

from tinyframe.dtype import DType, dtypes
from tinyframe.uop.node import Ops, UOp, rebuild

LEAST = 3  # kernels; fewer are compiled as they are, since a number in the source is easier to read
KEPT = 8  # kernels of a form, which show which of their numbers differ
MOST_FORMS = 2000


class Number(NamedTuple):
    """A number that is added to an index, is one, or is stored: its Variable, whose bounds are
    those within which an index stays in its axis, and its value in one kernel."""

    variable: UOp
    value: int


_seen: dict[UOp, dict[UOp, list[Number]]] = {}  # form -> kernels; the latest last


def alike(kernels: Iterable[UOp]) -> dict[UOp, tuple[UOp, dict[UOp, int]]]:
    """Maps kernels to the one that they share, and to the values of its numbers; no entry for a
    kernel that shares none."""
    forms: dict[UOp, list[UOp]] = {}
    for ast in kernels:
        form, numbers = _with_numbers(ast)
        if numbers:
            known = _seen[form] = _seen.pop(form, {})
            known[ast] = numbers
            forms.setdefault(form, []).append(ast)
    found: dict[UOp, tuple[UOp, dict[UOp, int]]] = {}
    for form, members in forms.items():
        known = _seen[form]
        if len(known) >= LEAST:
            found |= _shared(form, known, members)
        for old in [*known][:-KEPT]:
            del known[old]
    for form in [*_seen][:-MOST_FORMS]:
        del _seen[form]
    return found


def _shared(
    form: UOp, known: dict[UOp, list[Number]], members: list[UOp]
) -> dict[UOp, tuple[UOp, dict[UOp, int]]]:
    """The kernel in which those numbers that differ are Variables, and their values in each."""
    columns: dict[tuple[int, ...], list[UOp]] = {}  # the values of a number in each kernel
    for same in zip(*known.values(), strict=True):
        columns.setdefault(tuple([n.value for n in same]), []).append(same[0].variable)
    now: dict[UOp, UOp] = {}
    varying: dict[UOp, tuple[int, ...]] = {}
    for values, places in columns.items():
        low, high = max(p.vmin for p in places), min(p.vmax for p in places)
        shared = UOp.variable(f"number{len(varying)}", low, high)
        is_one = len(set(values)) == 1
        if not is_one:
            varying[shared] = values
        for p in places:
            now[p] = p.const_like(values[0]) if is_one else shared.cast(p.dtype)
    kernel, place = form.substitute(now), {ast: n for n, ast in enumerate(known)}
    return {
        ast: (kernel, {v: values[place[ast]] for v, values in varying.items()}) for ast in members
    }


def _with_numbers(ast: UOp) -> tuple[UOp, list[Number]]:
    """A kernel with a Variable in place of each number, in the order of the graph; as it is if it
    has Variables of its own."""
    numbers: list[Number] = []

    def variable(value: int, low: int, high: int, dtype: DType) -> UOp:
        made = UOp.variable(f"number{len(numbers)}", low, high, dtype)
        numbers.append(Number(made, value))
        return made

    def index(x: UOp, size: int) -> UOp:
        other, c = x.src if x.op is Ops.ADD else (None, x)
        low, high = (0, 0) if other is None else other.bounds
        if c.op is not Ops.CONST or not -low <= c.arg <= size - 1 - high or high - low == size - 1:
            return x
        number = variable(c.arg, -low, size - 1 - high, c.dtype)
        return number if other is None else other + number

    def stored(c: UOp) -> UOp:
        """A number that is stored; a float32 by its bits."""
        if c.op is not Ops.CONST or c.dtype not in STORED:
            return c
        bits = c.arg if c.dtype is dtypes.int else _INT.unpack(_FLOAT.pack(c.arg))[0]
        number = variable(bits, -(1 << 31), (1 << 31) - 1, dtypes.int)
        return number.bitcast(c.dtype)

    def change(_: UOp, u: UOp) -> UOp:
        if u.op is Ops.STORE:
            return u.replace(src=(u.src[0], stored(u.src[1]), *u.src[2:]))
        if u.op is not Ops.INDEX or u.src[1].op is not Ops.CONST or not isinstance(u.arg, tuple):
            return u
        sizes = zip(u.src[2:], u.arg, strict=True)
        return u.replace(src=(*u.src[:2], *[index(x, size) for x, size in sizes]))

    return (ast, []) if ast.variables() else (rebuild(ast, change), numbers)


STORED = (dtypes.int, dtypes.float)
_FLOAT, _INT = struct.Struct("f"), struct.Struct("i")
