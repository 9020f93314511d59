"""Runs a schedule again and again: prepared once, then launched in one call.

Launching a kernel from Python costs some microseconds, and a training step has dozens of small
ones. A Replay has looked everything up: what is left is to put in the buffers and the Variables of
this call, and to start the device's Graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import perf_counter

from tinyframe.counters import GlobalCounters
from tinyframe.device import Buffer, Device
from tinyframe.observe import is_watched
from tinyframe.run.kernel import total_line
from tinyframe.run.realize import (
    Run,
    Setup,
    compile_all,
    run_schedule,
    runs_are_recorded,
    setup_of,
)
from tinyframe.schedule.item import ScheduleItem
from tinyframe.settings import settings
from tinyframe.uop.node import Ops, UOp


def joined(runs: Iterable[Run]) -> Iterator[Run]:
    """Runs that follow each other as one, up to where a Variable changes its value."""
    items: list[ScheduleItem] = []
    var_vals: dict[UOp, int] = {}
    for more, values in runs:
        if any(var_vals.get(var, value) != value for var, value in values.items()):
            yield items, var_vals
            items, var_vals = [], {}
        items, var_vals = items + more, var_vals | values
    yield items, var_vals


class Replay:
    """Repeats `run_schedule(items)`, with other buffers and other values of the Variables."""

    def __init__(self, items: Sequence[ScheduleItem]) -> None:
        self.items = items
        devices = {item.bufs[0].device for item in items}
        # a Graph belongs to one device, and copies nothing
        one_graph = len(devices) == 1 and all(item.ast.op is Ops.SINK for item in items)
        self.device = devices.pop() if one_graph else None
        self.setup: Setup | None = None
        self.prepared_for: tuple = ()
        self.is_new = True  # its graph knows only the buffers of the capture

    def __call__(
        self,
        replaced: Mapping[Buffer, Buffer],
        var_vals: Mapping[UOp, int],
        standing: Mapping[Buffer, Buffer],
    ) -> None:
        """Run all items on their buffers, or on those put in their place.

        replaced: what is put in by this call. standing: what was put in by one of the calls before
        and is still there. RuntimeError where a Variable has no value.
        """
        if runs_are_recorded() or not self._is_ready(var_vals):
            return self._one_by_one({**standing, **replaced}, var_vals)
        if self.is_new:
            replaced = {**standing, **replaced}
        self.is_new = True  # until all of them are put in: Ctrl-C may come between two
        for was, buffer in replaced.items():
            for place in self.places.get(was, ()):
                self.graph.set_buffer(place, buffer._buf)
        if self.symbolic:
            self._use(var_vals)
        self.is_new = False
        start = perf_counter()
        self.graph()
        seconds = perf_counter() - start
        GlobalCounters.kernel_count += len(self.kernels)
        GlobalCounters.global_ops += self.operations
        GlobalCounters.global_mem += self.nbytes
        GlobalCounters.time_sum_s += seconds
        if self.debug:
            print(total_line(len(self.kernels), seconds))
        return None

    def _is_ready(self, var_vals: Mapping[UOp, int]) -> bool:
        """Whether all can be launched in one call, as settings and devices are now."""
        if self.device is None or is_watched():
            return False
        now = Device[self.device], settings.fingerprint()
        if now != self.prepared_for:
            # whoever wants to see or to time single launches gets them
            self.usable = Device[self.device].graph is not None and not (
                settings.DEBUG >= 2 or settings.VIZ
            )
            if self.usable and self.setup != (setup := setup_of(self.device)):
                self._prepare(setup, var_vals)
            self.debug, self.prepared_for = settings.DEBUG, now
        return self.usable

    def _one_by_one(self, replaced: Mapping[Buffer, Buffer], var_vals: Mapping[UOp, int]) -> None:
        items = [
            ScheduleItem(item.ast, tuple([replaced.get(buf, buf) for buf in item.bufs]))
            for item in self.items
        ]
        run_schedule(items, var_vals)

    def _prepare(self, setup: Setup, var_vals: Mapping[UOp, int]) -> None:
        assert self.device is not None and setup.device.graph is not None
        self.kernels = compile_all([(item.ast, self.device) for item in self.items])
        bufs = [
            [item.bufs[slot] for slot in kernel.spec.globals]
            for item, kernel in zip(self.items, self.kernels, strict=True)
        ]
        self.is_new = True
        self.places: dict[Buffer, list[int]] = {}
        for place, buf in enumerate(buf for each in bufs for buf in each):
            self.places.setdefault(buf, []).append(place)
        self.graph = setup.device.graph(
            [kernel.runner for kernel in self.kernels],
            [[buf._buf for buf in each] for each in bufs],
            [len(kernel.spec.vars) for kernel in self.kernels],
        )
        self.operations = sum(kernel.spec.ops_estimate for kernel in self.kernels)
        self.nbytes = sum(kernel.spec.mem_estimate for kernel in self.kernels)
        self._use(var_vals)
        self.symbolic = any(kernel.spec.vars for kernel in self.kernels)
        self.setup = setup

    def _use(self, var_vals: Mapping[UOp, int]) -> None:
        """Whatever depends on Variables."""
        self.graph.set_values(
            [kernel.sizes(var_vals) for kernel in self.kernels],
            [value for kernel in self.kernels for value in kernel.values(var_vals)],
        )
