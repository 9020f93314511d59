"""A trace to ask: its realizes and kernels, the graph at a stage or between two rewrites.

    trace = Trace.open("run.trace")
    trace.overview["kernels"][3]["name"]
    trace.graph("kernel/3", stage=0, step=12)     # a Picture's nodes, with what changes marked

What it gives is what the page and the terminal show, as plain data.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tinyframe.viz.explorer.rows import Row, Rows, Step, after_steps
from tinyframe.viz.explorer.store import OVERVIEW, Store, TraceError
from tinyframe.viz.nodes import Box

KERNELS = "kernels"  # a stage that is not the compiler's: the prepared graph, and what is fused
KEPT = 16  # members that were read last are kept ready


@dataclass
class Rewrite:
    """One graph_rewrite of a stage."""

    name: str
    walk: bool
    before: Row
    after: Row
    steps: list[Step]


@dataclass
class Stage:
    """One stage: after is a graph, or a list of instructions."""

    name: str
    before: Row | None
    after: Row | list[Row]
    rewrites: list[Rewrite]

    @property
    def roots(self) -> list[Row]:
        return self.after if isinstance(self.after, list) else [self.after]

    @property
    def step_count(self) -> int:
        return sum(len(r.steps) for r in self.rewrites)

    def step(self, number: int) -> tuple[Rewrite, int]:
        """The rewrite that the stage's rule number `number` belongs to, and which of its steps it
        is; IndexError where there are not so many."""
        if number < 0:
            raise IndexError(number)
        for rewrite in self.rewrites:
            if number < len(rewrite.steps):
                return rewrite, number
            number -= len(rewrite.steps)
        raise IndexError(number)


@dataclass
class Described:
    """A kernel, or a schedule: the graphs of its stages, and what else is known of it.

    boxes: of a schedule, the kernel that a node of the prepared graph is computed by.
    """

    rows: Rows
    stages: list[Stage]
    data: dict[str, Any]
    boxes: dict[Row, Box]


class Trace:
    """What a Store holds. about: gives its overview."""

    def __init__(self, store: Store, about: Callable[[], dict[str, Any]]) -> None:
        self.store, self._about = store, about
        self.described = functools.lru_cache(KEPT)(self._described)

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Trace:
        """A trace that was written before; see Store.read for what it raises."""
        store = Store.read(path)
        overview = store.json(OVERVIEW)
        return Trace(store, lambda: overview)

    @property
    def overview(self) -> dict[str, Any]:
        return self._about()

    def _described(self, name: str) -> Described:
        """`kernel/3` or `schedule/0`. KeyError where there is none; TraceError where it says what
        cannot be."""
        data = self.store.json(name)
        try:
            rows = Rows(data.pop("rows"))
            stages = [_stage(rows, stage) for stage in data.pop("stages")]
            boxes = _boxes(rows, data.get("kernels", []))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise TraceError(f"{name} in this trace says what cannot be: {error}") from error
        if boxes:
            place, prepared = next((n, s) for n, s in enumerate(stages) if s.name == "prepare")
            stages.insert(place + 1, Stage(KERNELS, None, prepared.after, []))
        return Described(rows, stages, data, boxes)

    def realize(self, number: int) -> dict[str, Any]:
        return self.store.json(f"realize/{number}")

    def binary(self, number: int) -> bytes | None:
        """A kernel's machine code, where a compiler made any."""
        try:
            return self.store.raw(f"binary/{number}")
        except KeyError:
            return None


def _stage(rows: Rows, data: dict[str, Any]) -> Stage:
    after = data["after"]
    before = data["before"]
    return Stage(
        data["name"],
        None if before is None else rows[before],
        [rows[n] for n in after] if isinstance(after, list) else rows[after],
        [
            Rewrite(p["name"], bool(p["walk"]), rows[p["before"]], rows[p["after"]],
                    [Step(rule, rows[b], rows[a]) for rule, b, a in p["steps"]])
            for p in data["passes"]
        ],
    )  # fmt: skip


def _boxes(rows: Rows, kernels: list[dict[str, Any]]) -> dict[Row, Box]:
    """What several kernels compute is drawn in the first one's box."""
    boxes: dict[Row, Box] = {}
    for number, kernel in enumerate(kernels, 1):
        box = Box("kernel", number, f"kernel {number}", str(kernel["words"]))
        for n in kernel["nodes"]:
            boxes.setdefault(rows[n], box)
    return boxes


# ---- what is drawn -------------------------------------------------------------------------------


@dataclass(frozen=True)
class View:
    """Graphs to draw. changed: the nodes that the next rewrite takes away, or that the last one
    made; none for a stage as a whole. boxes: around what each kernel computes."""

    roots: list[Row]
    changed: set[Row]
    boxes: dict[Row, Box] = field(default_factory=dict)


def view_of(described: Described, stage: int, step: int | None = None, after: bool = False) -> View:
    """The graph after a stage, or before (or after) its rewrite number `step`.

    IndexError where there is no such stage or rewrite.
    """
    if stage < 0:
        raise IndexError(stage)
    s = described.stages[stage]
    if step is None:
        before = set(s.before.toposort()) if s.before is not None else None
        changed = set() if before is None or isinstance(s.after, list) else (
            set(s.after.toposort()) - before
        )  # fmt: skip
        return View(s.roots, changed, described.boxes if s.name == KERNELS else {})
    rewrite, n = s.step(step)
    done = rewrite.steps[: n + after]
    root = after_steps(described.rows, rewrite.before, done, rewrite.walk)
    taken, made = rewrite.steps[n].before, rewrite.steps[n].after
    there = root.toposort()
    if after:
        changed = {r for r in made.toposort() if r in there} - set(taken.toposort())
        return View([root], changed | ({made} & there.keys()))
    return View([root], {taken} & there.keys())


def rules_fired(stage: Stage) -> list[tuple[int, int]]:
    """Each rule that was applied, and how often; the busiest first."""
    counts: dict[int, int] = {}
    for rewrite in stage.rewrites:
        for step in rewrite.steps:
            counts[step.rule] = counts.get(step.rule, 0) + 1
    return sorted(counts.items(), key=lambda pair: -pair[1])
