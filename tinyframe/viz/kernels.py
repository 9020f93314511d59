"""The kernels that computing something would run, which is what most pictures show.

    kernels_of(x, "schedule")          # ScheduleItems, in running order

Nothing runs, and no Tensor changes: `x` is as lazy afterwards as before.
"""

from __future__ import annotations

from typing import Any

from tinyframe.codegen.program import estimate_ops
from tinyframe.device import Device
from tinyframe.renderer import Renderer
from tinyframe.schedule.kernels import Kernel, ScheduleItem
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.laziness import Scheduled, unrealized
from tinyframe.uop.node import Ops, UOp
from tinyframe.viz.nodes import plural

NOTHING = "Nothing has to run: these values are in memory already, or are constants."


def kernels_of(x: Any, caller: str) -> list[ScheduleItem]:
    """The items that realizing a Tensor, or a list of them, would run. ScheduleItems are returned.

    caller: the function that was called, for the TypeError if x is anything else.
    """
    things = list(x) if isinstance(x, (list, tuple)) else [x]
    if all(isinstance(thing, Tensor) for thing in things):
        return Scheduled(roots).items if (roots := unrealized(*things)) else []
    if all(isinstance(thing, ScheduleItem) for thing in things):
        return things
    given = " and ".join(sorted({type(thing).__name__ for thing in things}))
    known = "a Tensor, a ScheduleItem, or a list of one of these"
    raise TypeError(f"{caller}() draws {known}, not {given}")


def one_kernel(x: Any, number: int | None, caller: str) -> tuple[ScheduleItem, str]:
    """The kernel with this number, from 1 on, or the one with the most arithmetic; and its place,
    as `, kernel 2 of 3`. Also takes a kernel's SINK. ValueError if there is no such kernel."""
    if isinstance(x, (Kernel, UOp)):
        ast = x.ast if isinstance(x, Kernel) else x
        if ast.op is not Ops.SINK or any(s.op is not Ops.STORE for s in ast.src):
            known = "a Tensor or a kernel, a SINK of STOREs"
            raise TypeError(f"{caller}() draws {known}, not {ast.op}")
        items = [ScheduleItem(ast, ())]
    else:
        items = [item for item in kernels_of(x, caller) if item.ast.op is Ops.SINK]
    if not items:
        raise ValueError(f"{caller}() has no kernel to draw. {NOTHING}")
    if number is None:
        number = 1 + max(range(len(items)), key=lambda n: estimate_ops(items[n].ast))
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"number must be that of a kernel, 1 or more, not {number!r}")
    if not 1 <= number <= len(items):
        are = "is" if len(items) == 1 else "are"
        raise ValueError(f"kernel number {number}: there {are} {plural(len(items), 'kernel')}")
    return items[number - 1], f", kernel {number} of {len(items)}" if len(items) > 1 else ""


def renderer_of(item: ScheduleItem) -> Renderer:
    """The renderer of a kernel's device."""
    return Device[item.bufs[0].device if item.bufs else Device.DEFAULT].renderer
