"""Part 4b, kernels and memory: what its predictions are about, and what an answer has to do."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.ask import (
    call,
    count,
    fresh_sizes,
    fresh_tensor,
    kernels,
    runs_as,
    same_number,
    same_values,
    small_tensor,
    wants,
    written_without,
)
from classroom.exercise import Wrong
from tinyframe import GlobalCounters, Tensor
from tinyframe.run.realize import run_schedule
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.uop import Ops
from tinyframe.uop.node import AxisType, iterations

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


def first_numbers_between_changes() -> tuple[int, ...]:
    x = Tensor([1, 2, 3]).realize()
    first = x * 10
    x.assign(x + 1)
    second = x * 10
    tail = x[1:]
    x.assign(x + 1)
    x.realize()
    return tuple(t.tolist()[0] for t in (first, second, tail))


WAITING: list[Callable[[Tensor], Tensor | None]] = [
    lambda x: None,
    lambda x: x[:10],
    lambda x: x.sum(),
    lambda x: x + 1,
]


def kernels_while_something_waits() -> tuple[int, ...]:
    counts = []
    for make in WAITING:
        x = fresh_tensor(*fresh_sizes(1))
        _waiting = make(x)
        before = GlobalCounters.kernel_count
        x.assign(x * 2).realize()
        counts.append(GlobalCounters.kernel_count - before)
    return tuple(counts)


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
        got = call(answer, items)
        wants(got, int, "a whole number", case)
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
    wants(answer, int, "a whole number")
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


def sines_once(answer: Any) -> str:
    """answer(u): three plans, realized in turn, that compute each sine once between them."""
    for u in (small_tensor(1, 3), fresh_tensor(*fresh_sizes(1))):
        case = "`u = [[1, 2, 3]]`" if u.numel() == 3 else "a longer `u`"
        before = GlobalCounters.kernel_count
        plans = call(answer, u)
        _three_tensors(plans)
        if GlobalCounters.kernel_count > before:
            words = "A kernel has run already. Return expressions, and don't realize anything."
            raise Wrong(words, case)
        waves, total = np.exp(np.sin(u.numpy())), 0
        for factor, plan in zip((2, 3, 4), plans, strict=True):
            items = plan.schedule()
            total += times_computed(items, Ops.SIN)
            run_schedule(items)
            expected = (waves * factor).sum()
            same_values(plan, expected, f"{case}, times {factor}", shown=u.numel() == 3)
        if total != u.numel():
            each = total / u.numel()
            raise Wrong(
                f"The values are right, but each sine is computed {each:g} times.", case,
                "each sine once", f"each sine {each:g} times",
            )  # fmt: skip
    return "The first call computes each sine. The other two read what you stored."


def _three_tensors(plans: Any) -> None:
    given = list(plans) if isinstance(plans, (list, tuple)) else []
    if len(given) != 3 or not all(isinstance(plan, Tensor) for plan in given):
        raise Wrong("The answer has to be a list of three Tensors.")


def times_computed(items: list[ScheduleItem], op: Ops) -> int:
    """How often these kernels compute an op. A node inside a reduction's loop is inside all the
    loops around that too, whether it changes with them or not."""
    found = 0
    for item in items:
        order = item.ast.toposort()
        around = {u for u in order if u.op is Ops.RANGE and u.arg[1] is AxisType.LOOP}
        for u in order:
            if u.op is op:
                reduces = any(loop.arg[1] is AxisType.REDUCE for loop in u.ranges)
                found += iterations({*u.ranges, *around} if reduces else u.ranges)
    return found


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
    written_without(answer, {"@", "matmul", "dot"}, "and products are ruled out here")
    (size,) = fresh_sizes(1)
    for n in (1, 2, 3, random.randint(4, 7)):
        case = f"n = {n}" if n <= 3 else "a larger n"
        tensor = call(answer, fresh_tensor(size, size), n)
        wants(tensor, Tensor, "a Tensor", case)
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
