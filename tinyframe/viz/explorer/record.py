"""A Recorder observes tinyframe at work, and writes a trace of it piece by piece (`store.py`).

    recorder = Recorder(Store.temporary())
    with observing(recorder):
        (a @ b).realize()
    recorder.overview()

A trace has, for each realize(): the line that called it, the graph, the kernels with the lines of
the script that they compute, every stage and rewrite of their compilation, source, machine code,
and when and how long each ran. A kernel that runs again, or a graph with the same structure, is not
described again.
"""

from __future__ import annotations

import linecache
import os
import platform
import re
import sys
import threading
import traceback
from collections import ChainMap, Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

from tinyframe.codegen import plans_for
from tinyframe.codegen.optimize.plans import Workload, lacking
from tinyframe.codegen.program import ProgramSpec
from tinyframe.device import Device
from tinyframe.observe import Observer, Ran
from tinyframe.rewrite.matcher import Rewrite, Step
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.settings import settings
from tinyframe.uop.movement import base_of
from tinyframe.uop.node import GroupOp, Ops, UOp, sources_first, upper
from tinyframe.viz.explorer.rows import Table
from tinyframe.viz.explorer.store import FORMAT, VERSION, Store
from tinyframe.viz.nests import opt_text
from tinyframe.viz.nodes import grouped
from tinyframe.viz.roof import measured_roof
from tinyframe.viz.words import sentence

OURS = str(Path(__file__).parents[2]) + os.sep  # code that is not the user's
# A cell's file name in Jupyter's kernel and in IPython.
CELL = re.compile(r".*ipykernel_\d+[/\\]\d+\.py|<ipython-input-.*>")
KEPT = ("rewrite/matcher.py", 0)  # in place of a rule's line: a result cached by `memo`
MOST_REALIZES = 5000  # per trace; further ones are only counted


Line = tuple[str, int]  # of the user's script: its file and its number


def line_of_the_caller() -> Line | None:
    """The innermost line that belongs neither to tinyframe nor to Python itself."""
    frames = traceback.walk_stack(sys._getframe(1))
    lines = ((frame.f_code.co_filename, number) for frame, number in frames)
    return next((line for line in lines if not line[0].startswith((OURS, "<frozen"))), None)


class _Described:
    """The record of one kernel, or of one schedule: its graphs and stages."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.table = Table(lambda u: recorder.line_number(recorder.line_of(u)))
        self.stages: list[dict[str, Any]] = []

    def add_stage(
        self, name: str, before: UOp | None, after: UOp | list[UOp], passes: Sequence[Rewrite]
    ) -> None:
        number, rule_number = self.table.number, self.recorder.rule_number
        begin = None if before is None else number(before)
        end = [number(u) for u in after] if isinstance(after, list) else number(after)
        told = [
            {"name": p.name, "walk": p.walk, "before": number(p.before),
             "after": number(p.before if p.after is None else p.after),
             "steps": [[rule_number(s), number(s.before), number(s.after)] for s in p.steps]}
            for p in passes if p.steps
        ]  # fmt: skip
        self.stages.append({"name": name, "before": begin, "after": end, "passes": told})

    def data(self) -> dict[str, Any]:
        return {"rows": self.table.rows, "stages": self.stages}


class Recorder(Observer):
    """Writes a trace to a Store."""

    def __init__(self, store: Store, script: Sequence[str] | None = None) -> None:
        self.store = store
        self.script = list(sys.argv if script is None else script)
        self.started = perf_counter()
        self.realizes: list[dict[str, Any]] = []
        self.kernels: list[dict[str, Any]] = []
        self.schedules = 0
        self.live = True  # whether the script is still running
        self.lost = 0  # realizes beyond MOST_REALIZES, which were not recorded
        self.rules: dict[tuple[str, int], int] = {}
        self.lines: dict[Line, int] = {}
        self._seen: set[Any] = set()
        self._schedule_of: dict[Any, int] = {}  # a graph's structure -> its recorded schedule
        self._structure: Any = None
        self._kernel_of: dict[UOp, int] = {}
        self._lines_of: dict[UOp, list[int]] = {}  # a kernel's ast -> the lines that it computes
        self._compiling: dict[ProgramSpec, int] = {}
        self._loop_nests: dict[UOp, dict[str, Any]] = {}  # -> the stage that made it
        # The lines of nodes that the compiler made: in the current loop nest, and in the tensor
        # graph; and in each earlier loop nest.
        self._made = ChainMap[UOp, Line]()
        self._lines_in: dict[UOp, Mapping[UOp, Line]] = {}
        self._compilers = defaultdict[int, int](count(1).__next__)  # their threads -> numbers
        self._schedule: _Described | None = None
        self._found: list[tuple[UOp, Sequence[UOp], Sequence[UOp]]] = []
        self._pending: tuple[Sequence[ScheduleItem], int] | None = None
        self._kernel: _Described | None = None
        self._tidied: UOp | None = None  # the kernel before any Opt
        self._realize: dict[str, Any] | None = None

    # ---- numbers for lines and rules -------------------------------------------------------------

    def line_number(self, line: Line | None) -> int | None:
        return None if line is None else self.lines.setdefault(line, len(self.lines))

    def rule_number(self, step: Step) -> int:
        key = KEPT if step.rule is None else step.rule.location
        return self.rules.setdefault(key, len(self.rules))

    def _since(self, time: float) -> float:
        """Seconds since the trace began."""
        return round(time - self.started, 7)

    # ---- events ----------------------------------------------------------------------------------

    def wants(self, work: Any) -> bool:
        if self._schedule is not None:
            self._structure = work
        if work in self._seen:
            return False
        self._seen.add(work)
        return True

    def made(self, graph: UOp) -> None:
        if "_line" in graph.__dict__:
            return
        line = line_of_the_caller()
        stack = [graph]
        while stack:
            u = stack.pop()
            # A CONST is the same node on all lines that contain the number.
            if "_line" not in u.__dict__ and u.op not in (Ops.CONST, Ops.DEVICE):
                u.__dict__["_line"] = line
                stack += u.src

    def line_of(self, u: UOp) -> Line | None:
        """The line that a node comes from: recorded on it, or known from the node it replaces."""
        return u.__dict__.get("_line") or self._made.get(u)

    def became(self, became: list[tuple[UOp, UOp]]) -> None:
        for old, new in became:
            if new is not old and (line := self.line_of(old)) is not None:
                self._written_on(new, line)

    def _written_on(self, root: UOp, line: Line) -> None:
        """Records the line of a node, and of the nodes below it that were made with it. Indices get
        no line: the loops and their arithmetic belong to the whole kernel."""
        stack = [root]
        while stack:
            u = stack.pop()
            if u.op in FROM_LINES and self.line_of(u) is None:
                if self._schedule is None and self._kernel is None:
                    u.__dict__["_line"] = line  # the user's graph in a different form
                else:
                    self._made[u] = line
                stack += u.src[:2] if u.op is Ops.STORE else u.src

    def lowering(self) -> None:
        self._made = ChainMap({}, self._made.maps[-1])

    def lowered(self, ast: UOp) -> None:
        self._lines_in[ast] = self._made.maps[0]
        self.lowering()
        if self._schedule is not None and self._schedule.stages:
            self._loop_nests[ast] = self._schedule.stages[-1]

    def scheduling(self, sink: UOp) -> None:
        self._schedule, self._found = _Described(self), []
        self._kernel = None  # drops a kernel that failed to compile
        self._made, self._loop_nests = ChainMap(), {}

    def kernel(self, ast: UOp, values: Sequence[UOp], arguments: Sequence[UOp]) -> None:
        self._found.append((ast, values, arguments))

    def stage(self, name: str, *graphs: Any) -> None:
        if described := self._kernel or self._schedule:
            described.add_stage(name, *graphs)
        if self._kernel and name == "optimize":
            self._tidied, *_ = graphs

    def scheduled(self, sink: UOp, becomes: dict[UOp, UOp], items: Sequence[ScheduleItem]) -> None:
        described, self._schedule = self._schedule, None
        if described is not None and described.stages:
            number, self.schedules = self.schedules, self.schedules + 1
            self._schedule_of[self._structure] = number
            kernels = [self._found_kernel(described, *found) for found in self._found]
            order = self._in_order(items)
            for place, (item, n) in enumerate(zip(items, order, strict=True), 1):
                self._lines_of.setdefault(item.ast, kernels[n]["lines"])
                if (stage := self._loop_nests.pop(item.ast, None)) is not None:
                    stage["name"] = f"lower kernel {place} to ranges"
            data = {**described.data(), "kernels": [kernels[n] for n in order]}
            self.store.write(f"schedule/{number}", data)
        if self._structure in self._schedule_of:
            self._pending = items, self._schedule_of[self._structure]

    def _in_order(self, items: Sequence[ScheduleItem]) -> list[int]:
        """For each item, the number of its kernel among those found."""
        places = grouped((ast, n) for n, (ast, _, _) in reversed([*enumerate(self._found)]))
        return [places[item.ast].pop() for item in items]

    def _found_kernel(
        self, described: _Described, ast: UOp, values: Sequence[UOp], reads: Sequence[UOp]
    ) -> dict[str, Any]:
        """The nodes of the prepared graph that a kernel computes, and their lines in the script."""
        ends = (Ops.BUFFER, Ops.KERNEL)
        given = set(reads) - set(values)
        fused = sources_first(values, lambda u: () if u.op in ends else u.src, given)
        numbers = described.table.numbers
        lines: Counter[int] = Counter()  # those with most work first
        for u in fused:
            number = self.line_number(self.line_of(u))
            if number is not None and base_of(u).op is not Ops.CONST:  # not even if broadcast
                lines[number] += 1 if u.op in GroupOp.Movement else 4  # movement moves nothing
        nodes = [numbers[u] for u in fused if u in numbers]
        known = [number for number, _ in lines.most_common()]
        return {"nodes": nodes, "lines": known, "words": sentence(ast)}

    def compiling(self, ast: UOp, device: str) -> None:
        self._kernel = _Described(self)
        self._made = ChainMap(dict(self._lines_in.get(ast, {})), self._made.maps[-1])

    def programmed(self, spec: ProgramSpec, begin: float, end: float) -> None:
        described, self._kernel = self._kernel, None
        if described is None:
            return
        number = len(self.kernels)
        self._compiling[spec] = self._kernel_of[spec.ast] = number
        self.kernels.append({
            "name": spec.name, "function": spec.function, "device": spec.device,
            "ops": int(upper(spec.ops_estimate)), "bytes": int(upper(spec.mem_estimate)),
            "compile": [["Python", self._since(begin), self._since(end)]],
            "plan": None if spec.plan is None else spec.plan.name,
            "runs": 0, "seconds": 0.0, "best": None, "lines": self._lines_of.get(spec.ast, []),
            "rewrites": sum(len(p["steps"]) for s in described.stages for p in s["passes"]),
        })  # fmt: skip
        self.store.write(f"kernel/{number}", {
            **described.data(), "source": spec.src, "opts": [opt_text(opt) for opt in spec.opts],
            "plan": None if spec.plan is None else [spec.plan.name, spec.plan.why],
            "before it": self._lacking(spec),
        })  # fmt: skip

    def _lacking(self, spec: ProgramSpec) -> list[list[str]]:
        """The plans before the kernel's own, and which of their needs it does not meet."""
        target = spec.renderer.target
        plans = plans_for(target)
        if spec.plan is None or spec.plan not in plans or self._tidied is None:
            return []
        found = lacking(Workload(self._tidied, target), plans[: plans.index(spec.plan)])
        return [[", ".join(names), said] for said, names in found.items()]

    def compiled(self, spec: ProgramSpec, binary: bytes, begin: float, end: float) -> None:
        if (number := self._compiling.pop(spec, None)) is None:
            return
        lane = f"compiler {self._compilers[threading.get_ident()]}"
        self.kernels[number]["compile"].append([lane, self._since(begin), self._since(end)])
        self.store.write(f"binary/{number}", binary)

    def running(self, items: Sequence[ScheduleItem]) -> None:
        pending, self._pending = self._pending, None
        schedule = pending[1] if pending is not None and pending[0] is items else None
        line = self.line_number(line_of_the_caller())
        self._realize = {"line": line, "schedule": schedule, "ran": []}

    def ran(self, work: Ran) -> None:
        if self._realize is None:
            return
        bufs, name, kernel = work.item.bufs, "copy", None
        if work.spec is not None:
            name, kernel = work.spec.name, self._kernel_of.get(work.spec.ast)
        if kernel is not None:
            of = self.kernels[kernel]
            of["runs"] += 1
            of["seconds"] += work.seconds
            of["best"] = min(of["best"] or work.seconds, work.seconds)
        self._realize["ran"].append({
            "kernel": kernel, "name": name, "device": bufs[0].device,
            "begin": self._since(work.begin), "end": self._since(work.end),
            "seconds": work.seconds, "in_use": work.in_use, "bytes": sum(b.nbytes for b in bufs),
        })  # fmt: skip

    def finished(self) -> None:
        realize, self._realize = self._realize, None
        if realize is None:
            return
        if len(self.realizes) >= MOST_REALIZES:
            self.lost += 1
            return
        self.store.write(f"realize/{len(self.realizes)}", realize)
        ran, now = realize["ran"], self._since(perf_counter())
        self.realizes.append({
            **realize, "ran": [[r["kernel"], r["seconds"]] for r in ran],
            "begin": ran[0]["begin"] if ran else now, "end": ran[-1]["end"] if ran else now,
            "busy": sum(r["seconds"] for r in ran),
        })  # fmt: skip

    # ---- the overview ----------------------------------------------------------------------------

    def overview(self) -> dict[str, Any]:
        """The content of the trace, without the graphs."""
        roof = measured_roof()._asdict()
        # A kernel may beat the measurement, if other processes disturbed that.
        reached = [kernel["ops"] / kernel["best"] for kernel in self.kernels if kernel["best"]]
        roof["flops"] = max([roof["flops"], *reached])
        return {
            "format": FORMAT, "version": VERSION, "live": self.live,
            "script": self.script, "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
            "device": Device.DEFAULT, "threads": settings.THREADS, "roof": roof,
            "realizes": list(self.realizes), "lost": self.lost,
            "kernels": list(self.kernels), "schedules": self.schedules,
            "rules": [[*shown_rule(*key)] for key in self.rules],
            "lines": [[shown_file(file), number, linecache.getline(file, number).strip()]
                      for file, number in self.lines],
        }  # fmt: skip


def shown_file(file: str) -> str:
    """A file under the name that a reader knows: a notebook's cell is `cell`."""
    return CELL.sub("cell", file)


def shown_rule(file: str, number: int) -> tuple[str, int, str]:
    """The file of the rule at this line, relative to the folder that contains tinyframe, its line,
    and the text."""
    if (file, number) == KEPT:
        return "", 0, "(known from an earlier rewrite by the same rules)"
    text = linecache.getline(file, number).strip().rstrip(",")
    return file.removeprefix(OURS).replace(os.sep, "/"), number, text


# Ops that come from the user's lines, as opposed to loops and index arithmetic.
FROM_LINES = {
    *GroupOp.Elementwise, *GroupOp.Movement, Ops.LOAD, Ops.STORE, Ops.REDUCE, Ops.SCAN, Ops.STAGE,
    Ops.REDUCE_AXIS, Ops.SCAN_AXIS, Ops.TAKE, Ops.FETCH, Ops.CONTIGUOUS, Ops.COPY, Ops.ASSIGN,
    Ops.VECTORIZE, Ops.GEP,
}  # fmt: skip
