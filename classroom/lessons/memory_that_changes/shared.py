"""What several exercises of this lesson need."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from classroom.exercise import Wrong, wrong_if
from tinyframe import Tensor
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.uop import Ops
from tinyframe.uop.node import AxisType, iterations


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
    wrong_if(all(one is other for one, other in zip(found, reversed(wanted), strict=True)),
             f"You returned {names} in the other order. That only changes who is called what: the "
             "values in memory have to move.", case)  # fmt: skip
    raise Wrong(f"This returns a new Tensor. Change {names} "
                f"{'itself' if len(asked) == 1 else 'themselves'}, with `assign` or by writing "
                "into a slice.", case)  # fmt: skip


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other))
