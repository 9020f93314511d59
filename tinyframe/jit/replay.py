"""Runs a schedule repeatedly: prepared once, then launched in one call.

Launching a kernel from Python costs a few microseconds, and a training step has dozens of small
ones. A Replay has prepared everything: it only sets the buffers and the Variables of this call, and
launches the device's Graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from tinyframe.device import Buffer, Device, GlobalCounters
from tinyframe.observe import is_watched
from tinyframe.run.realize import (
    Run,
    Setup,
    compile_all,
    run_schedule,
    runs_are_recorded,
    setup_of,
    total_line,
)
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.settings import settings
from tinyframe.uop.node import Ops, UOp


def merge_runs(runs: Iterable[Run]) -> Iterator[Run]:
    """Merges consecutive runs in which no Variable changes its value."""
    items: list[ScheduleItem] = []
    var_vals: dict[UOp, int] = {}
    for more, values in runs:
        if any(var_vals.get(var, value) != value for var, value in values.items()):
            yield items, var_vals
            items, var_vals = [], {}
        items, var_vals = items + more, var_vals | values
    yield items, var_vals


@dataclass
class Progress:
    """How far a replay has got. ran: empty until all has been launched. items: what is launched one
    by one. begun: those that may have written some of their results."""

    ran: list[Any] = field(default_factory=list)
    items: list[ScheduleItem] = field(default_factory=list)
    begun: list[ScheduleItem] = field(default_factory=list)

    @property
    def has_begun(self) -> bool:
        return bool(self.ran or self.begun) or any(item.has_run for item in self.items)


class Replay:
    """Repeats `run_schedule(items)` with different buffers and different values of Variables."""

    def __init__(self, items: Sequence[ScheduleItem]) -> None:
        self.items = items
        devices = {item.bufs[0].device for item in items}
        # a Graph belongs to one device, and copies nothing
        one_graph = len(devices) == 1 and all(item.ast.op is Ops.SINK for item in items)
        self.device = devices.pop() if one_graph else None
        self.setup: Setup | None = None
        self.prepared_for: tuple = ()
        self.needs_all_buffers = True  # the graph has not those of all earlier calls

    def __call__(
        self,
        replaced: Mapping[Buffer, Buffer],
        var_vals: Mapping[UOp, int],
        everything: Callable[[], Mapping[Buffer, Buffer]],
        progress: Progress,
    ) -> None:
        """Run all items on their buffers, or on those that replace them; those that have not run in
        this call yet.

        replaced: those that this call replaces. everything: also those that an earlier call has
        replaced, which the graph has already. RuntimeError if a Variable has no value.
        """
        if progress.ran:
            return None
        if progress.items or runs_are_recorded() or not self._is_ready(var_vals):
            self.needs_all_buffers = True  # the graph knows nothing of this call
            return self._launch_one_by_one(everything(), var_vals, progress)
        if self.needs_all_buffers:
            replaced = everything()
        self.needs_all_buffers = True  # until all are set: Ctrl-C may come between two
        for was, buffer in replaced.items():
            for place in self.places.get(was, ()):
                self.graph.set_buffer(place, buffer._buf)
        if self.symbolic:
            self._set_variables(var_vals)
        self.needs_all_buffers = False
        start = perf_counter()
        self.graph.ran = progress.ran
        self.graph()
        if not progress.ran:
            progress.ran.append(None)
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
            # to show or time single launches, they have to be single
            self.usable = Device[self.device].graph is not None and not (
                settings.DEBUG >= 2 or settings.VIZ
            )
            if self.usable and self.setup != (setup := setup_of(self.device)):
                self._prepare(setup, var_vals)
            self.debug, self.prepared_for = settings.DEBUG, now
        return self.usable

    def _launch_one_by_one(
        self, replaced: Mapping[Buffer, Buffer], var_vals: Mapping[UOp, int], progress: Progress
    ) -> None:
        progress.items = progress.items or [
            ScheduleItem(item.ast, tuple([replaced.get(buf, buf) for buf in item.bufs]))
            for item in self.items
        ]
        left = [item for item in progress.items if not item.has_run]
        run_schedule(left, var_vals, progress.begun)
        progress.ran.append(None)

    def _prepare(self, setup: Setup, var_vals: Mapping[UOp, int]) -> None:
        assert self.device is not None and setup.device.graph is not None
        self.kernels = compile_all([(item.ast, self.device) for item in self.items])
        bufs = [
            [item.bufs[slot] for slot in kernel.spec.globals]
            for item, kernel in zip(self.items, self.kernels, strict=True)
        ]
        self.needs_all_buffers = True
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
        self._set_variables(var_vals)
        self.symbolic = any(kernel.spec.vars for kernel in self.kernels)
        self.setup = setup

    def _set_variables(self, var_vals: Mapping[UOp, int]) -> None:
        """Sets the launch sizes and arguments that depend on Variables."""
        self.graph.set_values(
            [kernel.sizes(var_vals) for kernel in self.kernels],
            [value for kernel in self.kernels for value in kernel.values(var_vals)],
        )
