"""Launches kernels over slots repeatedly: prepared once, then launched in one call.

Launching a kernel from Python costs a few microseconds, and a training step has dozens of small
kernels. A Replay prepares everything once: a call only updates the memory of the slots and the
Variables that have changed, and launches the device's Graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from time import perf_counter
from typing import Any

from tinyframe.device import Device, GlobalCounters
from tinyframe.observe import is_watched
from tinyframe.run.realize import (
    CompileKey,
    compile_all,
    compile_key_of,
    recordings,
    run_schedule,
    total_line,
)
from tinyframe.schedule import Kernels
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.settings import settings
from tinyframe.uop.node import Ops, UOp

Values = Sequence[Mapping[UOp, int]]


class Progress:
    """How far a replay has got. ran: empty until everything has been launched. items: the kernels,
    if launched one by one. begun: those that may have written some of their results."""

    def __init__(self) -> None:
        self.ran: list[Any] = []
        self.items: list[ScheduleItem] = []
        self.begun: list[ScheduleItem] = []


class Replay:
    """Kernels over slots, and the memory of each slot.

    memory: set for all slots during a call. counts: the number of kernels in each schedule that the
    captured call ran; each schedule has its own values of Variables. in_step: whether the Graph has
    the memory of the last call.
    """

    def __init__(self, scheduled: Kernels, memory: list[Any], counts: Sequence[int]) -> None:
        self.scheduled, self.memory, self.counts = scheduled, memory, counts
        devices = {use[0].device for use in scheduled.uses}
        # a Graph belongs to one device, and cannot copy between devices
        one_graph = len(devices) == 1 and all(ast.op is Ops.SINK for ast in scheduled.asts)
        self.device = devices.pop() if one_graph else None
        self.compile_key: CompileKey | None = None
        self.prepared_for: tuple = ()
        self.in_step = False

    def __call__(self, changed: Iterable[int], values: Values, progress: Progress) -> None:
        """Launch all kernels that have not run in this call yet. changed: the slots whose memory
        differs from the last call's.

        RuntimeError if a Variable has no value.
        """
        if progress.ran:
            return
        if progress.items or recordings() or not self._is_ready(values):
            self.in_step = False  # the graph knows nothing of this call
            self._launch_one_by_one(values, progress)
            return
        memory, places, set_buffer = self.memory, self.places, self.graph.set_buffer
        if not self.in_step:
            changed = range(len(memory))
        self.in_step = False  # until everything is done: Ctrl-C may interrupt
        for slot in changed:
            for place in places[slot]:
                set_buffer(place, memory[slot]._buf)
        if self.symbolic:
            self._set_variables(values)
        start = perf_counter()
        self.graph.ran = progress.ran
        self.graph()
        if not progress.ran:
            progress.ran.append(None)
        seconds = perf_counter() - start
        self.in_step = True
        GlobalCounters.kernel_count += len(self.kernels)
        GlobalCounters.global_ops += self.operations
        GlobalCounters.global_mem += self.nbytes
        GlobalCounters.time_sum_s += seconds
        if self.debug:
            print(total_line(len(self.kernels), seconds))

    def _launch_one_by_one(self, values: Values, progress: Progress) -> None:
        progress.items = progress.items or self.scheduled.items(self.memory.__getitem__)
        items = iter(progress.items)
        for var_vals, run in groupby(zip(values, self.counts, strict=True), itemgetter(0)):
            now = islice(items, sum(count for _, count in run))
            run_schedule([item for item in now if not item.has_run], var_vals, progress.begun)
        progress.ran.append(None)

    def _is_ready(self, values: Values) -> bool:
        """Whether all kernels can be launched in one call, given current settings and devices."""
        if self.device is None or is_watched():
            return False
        now = Device[self.device], settings.fingerprint()
        if now != self.prepared_for:
            # DEBUG=2 and VIZ show each launch, so each has to be separate
            self.usable = Device[self.device].graph is not None and not (
                settings.DEBUG >= 2 or settings.VIZ
            )
            if self.usable and self.compile_key != (compile_key := compile_key_of(self.device)):
                self._prepare(compile_key, values)
            self.debug, self.prepared_for = settings.DEBUG, now
        return self.usable

    def _prepare(self, compile_key: CompileKey, values: Values) -> None:
        assert self.device is not None and compile_key.device.graph is not None
        self.in_step = False
        self.kernels = compile_all([(ast, self.device) for ast in self.scheduled.asts])
        slots = [
            [numbers[n] for n in kernel.spec.globals]
            for numbers, kernel in zip(
                self.scheduled.arguments_keeping(), self.kernels, strict=True
            )
        ]
        self.places: list[list[int]] = [[] for _ in self.memory]
        for place, slot in enumerate(slot for each in slots for slot in each):
            self.places[slot].append(place)
        self.graph = compile_key.device.graph(
            [kernel.runner for kernel in self.kernels],
            [[self.memory[slot]._buf for slot in each] for each in slots],
            [len(kernel.spec.vars) for kernel in self.kernels],
        )
        self.operations = sum(kernel.spec.ops_estimate for kernel in self.kernels)
        self.nbytes = sum(kernel.spec.mem_estimate for kernel in self.kernels)
        self._set_variables(values)
        self.symbolic = any(len(k.spec.vars) > len(k.numbers) for k in self.kernels)
        self.compile_key = compile_key

    def _set_variables(self, values: Values) -> None:
        """Sets the launch sizes and arguments that depend on Variables."""
        each = [v for count, v in zip(self.counts, values, strict=True) for _ in range(count)]
        launches = list(zip(self.kernels, each, strict=True))
        self.graph.set_values(
            [kernel.sizes(var_vals) for kernel, var_vals in launches],
            [value for kernel, var_vals in launches for value in kernel.values(var_vals)],
        )
