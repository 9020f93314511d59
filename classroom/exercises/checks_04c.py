"""Part 4c, memory that changes: what its predictions are about, and what an answer has to do."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from classroom.ask import call, fresh_sizes, fresh_tensor, same_values, small_tensor
from classroom.exercise import Wrong
from tinyframe import GlobalCounters, Tensor
from tinyframe.device import buffer_of
from tinyframe.run.realize import run_schedule
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.uop import Ops
from tinyframe.uop.node import AxisType, iterations

# ---- what the predictions are about, done for real ----------------------------------------------


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


def sines_once(answer: Any) -> str:
    """answer(u): three expressions, realized in turn, that compute each sine once between them."""
    for u in (small_tensor(1, 3), fresh_tensor(*fresh_sizes(1))):
        case = "`u = [[1, 2, 3]]`" if u.numel() == 3 else "a longer `u`"
        before = GlobalCounters.kernel_count
        plans = _tensors(call(answer, u), 3, "a list of three Tensors")
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


def _tensors(given: Any, count: int, what: str) -> list[Tensor]:
    """What an answer gave, as a list of so many Tensors."""
    several = isinstance(given, Iterable) and not isinstance(given, (Tensor, str))
    found = list(given) if several else []
    if len(found) != count or not all(isinstance(tensor, Tensor) for tensor in found):
        raise Wrong(f"The answer has to be {what}.")
    return found


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


def _themselves(got: Any, asked: dict[str, Tensor], case: str) -> None:
    """Wrong unless an answer is these very Tensors, in this order."""
    names = " and ".join(f"`{name}`" for name in asked)
    which = f"the Tensor {names}" if len(asked) == 1 else f"the two Tensors {names}"
    given = [got] if isinstance(got, Tensor) else got
    found = _tensors(given, len(asked), which)
    wanted = list(asked.values())
    if all(one is other for one, other in zip(found, wanted, strict=True)):
        return
    if all(one is other for one, other in zip(found, reversed(wanted), strict=True)):
        raise Wrong(
            f"You returned {names} in the other order. That only changes who is called what: the "
            "values in memory have to move.", case,
        )  # fmt: skip
    raise Wrong(
        f"This returns a new Tensor. Change {names} {'itself' if len(asked) == 1 else 'themselves'}"
        ", with `assign` or by writing into a slice.", case,
    )  # fmt: skip


def swap(answer: Any) -> str:
    """answer(x, y): x and y, which have exchanged their values."""
    n, m = fresh_sizes(2)
    for x, y in (
        (small_tensor(1, 3), (small_tensor(1, 3) * 10).realize()),
        (fresh_tensor(n, m), (fresh_tensor(n, m) + 5).realize()),
    ):
        shown = x.numel() == 3
        case = "`x = [[1, 2, 3]]`, `y = [[10, 20, 30]]`" if shown else "larger ones"
        was_x, was_y = x.numpy().copy(), y.numpy().copy()
        _themselves(call(answer, x, y), {"x": x, "y": y}, case)
        now_x, now_y = x.numpy(), y.numpy()
        for is_so, words in (
            (_equal(now_x, was_x) and _equal(now_y, was_y), "Nothing has changed."),
            (_equal(now_x, was_y) and _equal(now_y, was_y),
             "Both hold the old values of `y` now. When `y` was assigned, `x` didn't hold its own "
             "any more. Who still has them?"),
            (_equal(now_x, was_x) and _equal(now_y, was_x),
             "Both hold the old values of `x` now. When `x` was assigned, `y` didn't hold its own "
             "any more. Who still has them?"),
        ):  # fmt: skip
            if is_so:
                raise Wrong(words, case)
        same_values(x, was_y, f"{case}: `x` afterwards", shown)
        same_values(y, was_x, f"{case}: `y` afterwards", shown)
    return "An expression was your third hand: it kept the old values while you overwrote them."


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other))


def push(answer: Any) -> str:
    """answer(window, value): the window, one place further, in the memory that it has."""
    n = random.randint(7, 12)  # written one by one, each place takes a kernel of its own
    for window, values in (
        (Tensor([1.0, 2.0, 3.0, 4.0]).realize(), (5.0, 6.0)),
        (fresh_tensor(n), (7.0, -1.0, 8.5)),
    ):
        shown = window.numel() == 4
        case = "`window = [1, 2, 3, 4]`, then 5" if shown else "a longer window"
        memory = buffer_of(window.uop)
        for value in values:
            case = case.replace("then 5", "then 5 and 6") if value == 6.0 else case
            before = window.numpy().copy()
            _themselves(call(answer, window, value), {"window": window}, case)
            after, wanted = window.numpy(), np.append(before[1:], np.float32(value))
            for mistake, words in (
                (before, "Nothing has changed."),
                (np.append(value, before[:-1]),
                 "The window moved the other way. The oldest value, the first, should go."),
                (np.append(before[1:-1], (value, value)),
                 "The new value is there twice: it was written before the others moved up."),
                (np.append(before[:-1], value),
                 "The new value is there, but the others haven't moved."),
                (np.append(before[1:], before[-1]),
                 "The others have moved, but the new value isn't there."),
                (np.append(before[1:], before[0]),
                 "The oldest value came back in at the end, where the new one belongs."),
            ):  # fmt: skip
                if _equal(after, mistake) and not _equal(after, wanted):
                    raise Wrong(words, case)
            same_values(window, wanted, case, shown)
            if buffer_of(window.uop) is not memory:
                raise Wrong(
                    "The values are right, but the window is in different memory now.", case
                )
    return "Each number moved to where its neighbour was, and nobody was overwritten too early."


def swing(answer: Any) -> str:
    """answer(now, before): both a step later, of a string whose ends are held."""
    (n,) = fresh_sizes(1)
    for values in (np.array([0, 0, 1, 0, 0], np.float32), np.random.default_rng().random(n)):
        shown = len(values) == 5
        case = "`now` and `before` both [0, 0, 1, 0, 0]" if shown else "a longer string"
        here = there = values.astype(np.float32)
        now, before = Tensor(here).realize(), (Tensor(there) + 0).realize()
        for step in range(3):
            where = f"{case}, after {step + 1} step{'s' if step else ''}"
            bend = np.zeros_like(here)
            bend[1:-1] = here[:-2] - 2 * here[1:-1] + here[2:]
            later = 2 * here - there + 0.5 * bend
            _themselves(call(answer, now, before), {"now": now, "before": before}, where)
            got_now, got_before = now.numpy(), before.numpy()
            for is_so, words in (
                (_equal(got_before, later) and _equal(got_now, later),
                 "`now` and `before` have the same values afterwards: `before` was assigned when "
                 "`now` was a step further already."),
                (_equal(got_now, later) and _equal(got_before, there) and not _equal(there, here),
                 "`now` is right, but `before` hasn't changed."),
                (_equal(got_now, here) and _equal(got_before, there), "Nothing has changed."),
                (_equal(got_now, 2 * here - here + 0.5 * bend) and not _equal(later, got_now),
                 "`before` had been overwritten when `now` needed it."),
            ):  # fmt: skip
                if is_so:
                    raise Wrong(words, where)
            same_values(now, later, f"{where}: `now`", shown)
            same_values(before, here, f"{where}: `before`", shown)
            here, there = later.astype(np.float32), here
    return "Two Tensors, the same memory from the first step to the last, and it moves."
