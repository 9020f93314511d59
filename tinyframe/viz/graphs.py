"""`graph(x)`: a picture of what x is made of, drawn by the last line of a notebook's cell.

graph(x)                  # of a Tensor, a UOp, a kernel, a schedule, a program
print(graph(x))           # the same as text
graph(x).save("x.svg")
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from tinyframe.codegen.program import ProgramSpec
from tinyframe.schedule.item import Kernel, ScheduleItem
from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import UOp
from tinyframe.viz.fold import folded, nearest
from tinyframe.viz.kinds import KINDS
from tinyframe.viz.layout import dot_source, svg_of
from tinyframe.viz.nodes import Node, of_graph, of_schedule, plural
from tinyframe.viz.picture import Picture
from tinyframe.viz.svg import assemble

LIMIT = 60  # nodes: more do not fit a page
MOST = 1000  # nodes: more take seconds to lay out


def graph(x: Any, fold: bool = True, limit: int = LIMIT) -> GraphPicture:
    """A picture of a Tensor, UOp, ScheduleItem, ProgramSpec, or a list of one of them.

    A list of ScheduleItems, which may be empty, is drawn as a schedule: kernels in running order,
    and their buffers.
    Constants and index arithmetic are written inside their users, and graphs of over `limit` nodes
    are folded. `fold=False` draws a node for each UOp, up to 1,000. TypeError for anything else.
    """
    if limit < 1:
        raise ValueError(f"limit is a number of nodes, 1 or more, not {limit!r}")
    things = list(x) if isinstance(x, (list, tuple)) else [x]
    if isinstance(x, (list, tuple)) and all(isinstance(thing, ScheduleItem) for thing in things):
        return GraphPicture("schedule", reduced(of_schedule(things), fold, limit))
    roots = [root for thing in things for root in roots_of(thing)]
    return GraphPicture("graph", reduced(of_graph(roots, literal=not fold), fold, limit))


def roots_of(x: Any) -> Sequence[UOp]:
    if isinstance(x, UOp):
        return [x]
    if isinstance(x, Tensor):
        return [x.uop]
    if isinstance(x, (ScheduleItem, Kernel)):
        return [x.ast]
    if isinstance(x, ProgramSpec):
        return x.uops
    raise TypeError(
        f"graph() draws a Tensor, a UOp, a ScheduleItem, a ProgramSpec or a list of them, "
        f"not {type(x).__name__}"
    )


def reduced(nodes: list[Node], fold: bool, limit: int) -> list[Node]:
    if not fold:
        return nearest(nodes, MOST)
    return nodes if len(nodes) <= limit else nearest(folded(nodes), 3 * limit)


class GraphPicture(Picture):
    """A picture of nodes and arrows; `source` is it in the DOT language.

    what: "graph" or "schedule". nodes: what is drawn, sources first.
    """


    def __init__(self, what: str, nodes: list[Node]) -> None:
        self.what, self.nodes = what, nodes

    @property
    def kinds(self) -> list[str]:
        """The kinds that occur, in the order of the legend."""
        there = {node.kind for node in self.nodes}
        return [kind for kind in KINDS if kind in there]

    @property
    def headline(self) -> str:
        """What there is, in a line: `graph of 12 nodes: 5 elementwise, 4 movement, …`."""
        counts = Counter(node.kind for node in self.nodes)
        if self.what == "schedule":
            buffers = len({node.title for node in self.nodes if node.kind == "memory"})
            return f"schedule of {plural(counts['kernel'], 'kernel')}, {plural(buffers, 'buffer')}"
        kinds = ", ".join(f"{counts[kind]} {KINDS[kind].meaning}" for kind in self.kinds)
        return f"{self.what} of {plural(len(self.nodes), 'node')}: {kinds}"

    @property
    def text(self) -> str:
        """A line for each node: its number, what it is, its value, its sources, its argument."""
        rows = [
            (f"%{number}", node.title, node.value, ", ".join(f"%{s}" for s in node.sources))
            for number, node in enumerate(self.nodes)
        ]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(4)]
        lines = [
            "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True))
            + f"  {node.note}"
            for row, node in zip(rows, self.nodes, strict=True)
        ]
        return "\n".join([self.headline, *[f"  {line.rstrip()}" for line in lines]])

    @cached_property
    def source(self) -> str:
        """The graph in the DOT language, for `dot` and its kin."""
        return dot_source(self.nodes)

    @cached_property
    def _svg(self) -> str:
        legend = svg_of(dot_source([], self.kinds))
        return assemble(legend, svg_of(self.source), self.headline, self.text, self.nodes)
