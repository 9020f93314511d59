"""Part 4b, from a graph to kernels: what its prediction is about, and what an answer has to do."""

from __future__ import annotations

import random
from typing import Any

from classroom.ask import (
    call,
    count,
    fresh_sizes,
    fresh_tensor,
    kernels,
    runs_as,
    same_number,
    same_values,
    wants,
    whole_number,
    written_without,
)
from classroom.exercise import Wrong
from tinyframe import GlobalCounters, Tensor
from tinyframe.uop import Ops

# What overrules the scheduler by hand: an expression that is to come apart by itself has none.
BY_HAND = (Ops.CONTIGUOUS, Ops.COPY, Ops.ASSIGN, Ops.FUSE)


# ---- what the predictions are about, done for real ----------------------------------------------


def kernels_of_five() -> tuple[int, ...]:
    a, b = (Tensor.zeros(64, 64).contiguous().realize() for _ in range(2))
    expressions = [
        (a + b).relu().sum(),
        a / a.sum(axis=1, keepdim=True),
        a / a.sum(),
        (a @ b).relu(),
        (a @ b) @ b,
    ]
    return tuple(kernels(e) for e in expressions)


# ---- answers ------------------------------------------------------------------------------------


def bytes_touched(answer: Any) -> str:
    """answer(items): the bytes of all buffers that a schedule's items name, item by item."""
    n, m = fresh_sizes(2)
    cases = {
        "`(a + b).sum()`, for `a` and `b` of 5 floats": (
            lambda: (fresh_tensor(5) + fresh_tensor(5)).sum()
        ),
        "`a.double() * 2`, for `a` of 5 floats": lambda: fresh_tensor(5).double() * 2,
        "`a / a.sum()`, for `a` of 5 floats": lambda: (a := fresh_tensor(5)) / a.sum(),
        "": lambda: fresh_tensor(n, m).half().sum(axis=1),
    }
    for case, make in cases.items():
        items = make().schedule()
        expected = sum(buf.size * buf.dtype.itemsize for item in items for buf in item.bufs)
        got = whole_number(call(answer, items), case)
        for mistake, words in (
            (
                sum({buf: buf.nbytes for item in items for buf in item.bufs}.values()),
                "You counted each buffer once. A buffer that's in two items counts twice.",
            ),
            (
                4 * sum(buf.size for item in items for buf in item.bufs),
                "You took 4 bytes for every element, and a double has 8.",
            ),
        ):
            if case and got == mistake != expected:
                raise Wrong(words, case, expected, got)
        if case:
            same_number(got, expected, case, "bytes")
        elif got != expected:
            raise Wrong("The three small schedules are right, and a larger one is wrong.")
    return "A schedule names all the memory it will use before a single byte is read."


def fewest_rows(answer: Any) -> str:
    """The number of rows from which on a division by row sums is a single kernel."""
    if isinstance(answer, str) and answer.strip().isdecimal():
        answer = int(answer)
    answer = whole_number(answer)
    if not 2 <= answer <= 4096:
        raise Wrong("The number of rows is somewhere between 2 and 4,096.", got=answer)
    case = f"rows of shape ({answer}, 64)"
    if (found := _kernels_of_shares(answer)) != 1:
        raise Wrong("That isn't enough rows.", case, "1 kernel", count(found, "kernel"))
    if _kernels_of_shares(answer - 1) == 1:
        raise Wrong("That gives one kernel, but one row fewer does too.", case)
    return "You've measured a limit of the cost rule, without reading its code."


def _kernels_of_shares(rows: int) -> int:
    a = Tensor.zeros(rows, 64).contiguous().realize()
    return kernels(a / a.sum(axis=1, keepdim=True))


def one_less(answer: Any) -> str:
    """answer(a): the values of a.sum(0) / a.sum(0).sum(), in two kernels."""
    a = fresh_tensor(*fresh_sizes(2))
    case = "`a.sum(axis=0) / a.sum(axis=0).sum()`"
    got = call(answer, a)
    wants(got, Tensor, "a Tensor", case)
    _left_to_the_rule(got, case)
    runs_as(got, 2, case)
    sums = a.numpy().sum(0)
    same_values(got, sums / sums.sum(), case, shown=False)
    return "The compiler fuses the formula you wrote. Finding a better formula was up to you."


def any_number(answer: Any) -> str:
    """answer(a, n): an expression of a square a that becomes n kernels by itself."""
    products = {"@", "matmul", "dot", "einsum", "linear", "conv2d"}
    written_without(answer, products, "and products are ruled out here")
    (size,) = fresh_sizes(1)
    for n in (1, 2, 3, random.randint(4, 7)):
        case = f"n = {n}" if n <= 3 else "a larger n"
        a, before = fresh_tensor(size, size), GlobalCounters.kernel_count
        tensor = call(answer, a, n)
        wants(tensor, Tensor, "a Tensor", case)
        if GlobalCounters.kernel_count > before:
            raise Wrong(
                "A kernel has run already. Return an expression, and leave it at that.", case
            )
        if a.uop.base not in tensor.uop.toposort():
            raise Wrong("`a` isn't in your expression.", case)
        _left_to_the_rule(tensor, case)
        runs_as(tensor, n, case)
    return "You can now say how many kernels an expression becomes, and write one to order."


def _left_to_the_rule(tensor: Tensor, case: str) -> None:
    """Wrong where the scheduler was overruled, or random numbers bring kernels of their own."""
    ops = {u.op for u in tensor.uop.toposort()}
    if Ops.THREEFRY in ops:
        raise Wrong("Random numbers bring kernels of their own. Make do without them.", case)
    if forced := sorted(op.name for op in ops.intersection(BY_HAND)):
        raise Wrong(f"There's a {forced[0]} in your graph. Leave the cuts to the scheduler.", case)
