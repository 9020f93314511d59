"""Access to a trace: its realizes and kernels, and the graph at a stage or between two rewrites.

    trace = Trace.open("run.trace")
    trace.overview["kernels"][3]["name"]
    view_of(trace.described("kernel/3"), stage=0, step=12)     # nodes, with what changes marked

The results are what the page and the terminal show, as plain data.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tinyframe.viz.explorer.rows import Row, Rows, Step, after_steps, below
from tinyframe.viz.explorer.store import OVERVIEW, Store, TraceError
from tinyframe.viz.nodes import Box

KERNELS = "kernels"  # a stage that the compiler doesn't have: the prepared graph, with kernels
KEPT = 16  # members last read, which stay in memory
NEW, TAKEN = "new", "matched"  # marks of nodes
MOST_NEW = 35  # nodes: if nearly all of a stage is new, marks say nothing


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
    """One stage. after: a graph, or a list of instructions."""

    name: str
    before: Row | None
    after: Row | list[Row]
    rewrites: list[Rewrite]

    @property
    def roots(self) -> list[Row]:
        return self.after if isinstance(self.after, list) else [self.after]

    @functools.cached_property
    def steps(self) -> list[tuple[Rewrite, int, Step]]:
        """Every application of a rule, with its rewrite, and its number among that one's steps."""
        return [(one, n, step) for one in self.rewrites for n, step in enumerate(one.steps)]


@dataclass
class Described:
    """A kernel, or a schedule: the graphs of its stages, and other data.

    boxes: for a schedule, node of the prepared graph -> the box of the kernel that computes it.
    """

    rows: Rows
    stages: list[Stage]
    data: dict[str, Any]
    boxes: dict[Row, Box]


class Trace:
    """The content of a Store. about: returns its overview."""

    def __init__(self, store: Store, about: Callable[[], dict[str, Any]]) -> None:
        self.store, self._about = store, about
        self.described = functools.lru_cache(KEPT)(self._described)

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Trace:
        """A trace from a file, with the errors of Store.read."""
        store = Store.read(path)
        overview = store.json(OVERVIEW)
        return Trace(store, lambda: overview)

    @property
    def overview(self) -> dict[str, Any]:
        return self._about()

    def _described(self, name: str) -> Described:
        """`kernel/3` or `schedule/0`. KeyError if there is none; TraceError if its data is
        impossible."""
        data = self.store.json(name)
        try:
            rows = Rows(data.pop("rows"))
            stages = [_stage(rows, stage) for stage in data.pop("stages")]
            boxes = _boxes(rows, data.get("kernels", []))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise TraceError(f"{name} in this trace makes no sense: {error}") from error
        if boxes:
            place, prepared = next((n, s) for n, s in enumerate(stages) if s.name == "prepare")
            stages.insert(place + 1, Stage(KERNELS, None, prepared.after, []))
        return Described(rows, stages, data, boxes)

    def realize(self, number: int) -> dict[str, Any]:
        return self.store.json(f"realize/{number}")


def _stage(rows: Rows, data: dict[str, Any]) -> Stage:
    begin = None if data["before"] is None else rows[data["before"]]
    end = data["after"]
    rewrites = [
        Rewrite(p["name"], bool(p["walk"]), rows[p["before"]], rows[p["after"]],
                [Step(rule, rows[b], rows[a]) for rule, b, a in p["steps"]])
        for p in data["passes"]
    ]  # fmt: skip
    graph = [rows[n] for n in end] if isinstance(end, list) else rows[end]
    return Stage(data["name"], begin, graph, rewrites)


def _boxes(rows: Rows, kernels: list[dict[str, Any]]) -> dict[Row, Box]:
    """Node -> box. A node that several kernels compute is in the first one's box."""
    boxes = [Box("kernel", number, f"kernel {number}", str(kernel["words"]))
             for number, kernel in enumerate(kernels, 1)]  # fmt: skip
    both = [*zip(kernels, boxes, strict=True)]
    return {rows[n]: box for kernel, box in reversed(both) for n in kernel["nodes"]}


# ---- views ---------------------------------------------------------------------------------------


class View(NamedTuple):
    """Graphs to draw. marks: words for some nodes: those that the next step replaces, or that the
    last step or stage made. boxes: around the nodes that each kernel computes."""

    roots: Sequence[Row]
    marks: dict[Row, str]
    boxes: dict[Row, Box]


def view_of(described: Described, stage: int, step: int | None = None, after: bool = False) -> View:
    """The graph after a stage, or before (or after) its step number `step`. IndexError if there is
    no such stage or step."""
    s = described.stages[stage]
    if step is None:
        new = set() if s.before is None else below(s.roots).keys() - below([s.before]).keys()
        marked = new if len(new) <= MOST_NEW and isinstance(s.after, Row) else ()
        boxes = described.boxes if s.name == KERNELS else {}
        return View(s.roots, dict.fromkeys(marked, NEW), boxes)
    rewrite, n, applied = s.steps[step]
    root = after_steps(described.rows, rewrite.before, rewrite.steps[: n + after], rewrite.walk)
    taken, made = applied.before, applied.after
    changed = {made} | made.toposort().keys() - taken.toposort().keys() if after else {taken}
    marked = changed & root.toposort().keys()
    return View([root], dict.fromkeys(marked, NEW if after else TAKEN), {})
