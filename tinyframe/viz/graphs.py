"""`graph(x)`: a picture of the graph of x, drawn if it is the last line of a notebook's cell.

graph(x)                  # of a Tensor, a UOp, a kernel, a schedule, a program
graph(y, a=a, b=b)        # with these names on the nodes
graph(y, kernels=True)    # with a box around what each kernel computes
print(graph(x))           # the same as text
graph(x).save("x.svg")
"""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import FrameType
from typing import Any

from tinyframe.codegen.program import ProgramSpec
from tinyframe.run.capture import capture_now
from tinyframe.schedule.kernels import Kernel, ScheduleItem
from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import Ops, UOp
from tinyframe.viz.boxes import of_kernels
from tinyframe.viz.fold import fitted, nearest
from tinyframe.viz.kinds import KINDS
from tinyframe.viz.layout import MOST, SCREEN, assemble, dot_source, kinds_of, svg_of
from tinyframe.viz.nodes import TO_KERNELS, Names, Node, by_box, of_graph, of_schedule, plural
from tinyframe.viz.picture import Picture


def graph(
    x: Any, /, *, fold: bool = True, kernels: bool = False, **names: Tensor | UOp
) -> GraphPicture:
    """A picture of a Tensor, UOp, ScheduleItem, ProgramSpec, or a list of one of them.

    A list of ScheduleItems, which may be empty, is drawn as a schedule: kernels in running order,
    and their buffers. kernels: draws a box around the nodes that each kernel computes, with a
    sentence about it. names: names for some nodes; if there are none, the caller's variables are
    used. Names of nodes that are not in the graph are ignored.

    Constants and index arithmetic are written inside their users, and graphs that do not fit on a
    screen are folded. `fold=False` draws a node for each UOp, up to 1,000. TypeError for anything
    else, and for names of anything else; ValueError for `kernels=True` with a kernel.
    """
    called = given(names) if names else of_variables(sys._getframe(1))
    return picture(x, called, fold, kernels)


def picture(x: Any, called: Names, fold: bool = True, kernels: bool = False) -> GraphPicture:
    """graph() with these names only. The picture may live long, so it keeps no UOp alive."""
    roots = roots_of(x)
    is_schedule = isinstance(x, (list, tuple)) and all(isinstance(i, ScheduleItem) for i in x)
    if kernels:
        if any(u.op in TO_KERNELS or u.op is Ops.KERNEL for root in roots for u in root.toposort()):
            needed = "a graph that is not cut into kernels yet: a Tensor's"
            raise ValueError(f"kernels=True needs {needed}")
        nodes = of_kernels(roots, called)
    elif is_schedule:
        nodes = of_schedule(x)
    else:
        nodes = of_graph(roots, not fold, names=called)
    drawn = [replace(node, of=None) for node in (fitted(nodes) if fold else nearest(nodes, MOST))]
    what = "schedule" if is_schedule else "graph"
    return GraphPicture(what, drawn, SCREEN if fold else None)


def roots_of(x: Any) -> Sequence[UOp]:
    if isinstance(x, (list, tuple)):
        return [root for thing in x for root in roots_of(thing)]
    if isinstance(x, UOp):
        return [x]
    if isinstance(x, Tensor):
        return [x.uop]
    if isinstance(x, (ScheduleItem, Kernel)):
        return [x.ast]
    if isinstance(x, ProgramSpec):
        return x.uops
    known = "a Tensor, a UOp, a ScheduleItem, a ProgramSpec or a list of them"
    raise TypeError(f"graph() draws {known}, not {type(x).__name__}")


class GraphPicture(Picture):
    """A picture of nodes and arrows; `source` has it in the DOT language.

    what: "graph" or "schedule". nodes: the nodes, sources first. tallest: the largest height in
    points, to which the picture is scaled down; None for its full size. about: a headline and a
    text in place of those made from the nodes. beside: pairs of nodes to put side by side.
    """

    def __init__(
        self, what: str, nodes: list[Node], tallest: float | None = None,
        about: tuple[str, str] | None = None, beside: Sequence[tuple[int, int]] = (),
    ) -> None:  # fmt: skip
        headline = headline_of(what, nodes)
        text = "\n".join([headline, *lines_of_text(nodes)])
        super().__init__(*(about or (headline, text)), self._assembled)
        self.nodes, self.tallest, self.beside = nodes, tallest, beside

    @cached_property
    def source(self) -> str:
        """The graph in the DOT language, for `dot` and similar programs."""
        return dot_source(self.nodes, self.beside)

    def _assembled(self) -> str:
        return assemble(svg_of(self.source), self.headline, self.text, self.nodes, self.tallest)


def headline_of(what: str, nodes: Sequence[Node]) -> str:
    """A summary in one line: `graph of 12 nodes: 5 elementwise, 4 movement, …`."""
    counts = Counter(node.kind for node in nodes)
    if what == "schedule":
        buffers = len({node.title for node in nodes if node.kind == "memory"})
        return f"schedule of {plural(counts['kernel'], 'kernel')}, {plural(buffers, 'buffer')}"
    kinds = ", ".join(f"{counts[kind]} {KINDS[kind].meaning}" for kind in kinds_of(nodes))
    return f"{what} of {plural(len(nodes), 'node')}" + (f": {kinds}" if kinds else "")


def lines_of_text(nodes: Sequence[Node]) -> list[str]:
    """A line of text for each node, and for each box around nodes."""
    rows = []
    for number, node in enumerate(nodes):
        mark, names = f"[{node.mark}] " * bool(node.mark), f"{', '.join(node.names)} = "
        title = mark + names * bool(node.names) + node.title
        # `%3, %4`; `x %3, y %4` if the order of operands matters
        pairs = zip(node.operands or ("",) * len(node.sources), node.sources, strict=True)
        sources = ", ".join(f"{word} %{s}".lstrip() for word, s in pairs)
        rows.append((f"%{number}", title, node.value, sources))
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(4)]
    lines = []
    for row, node in zip(rows, nodes, strict=True):
        words = [word.ljust(width) for word, width in zip(row, widths, strict=True)]
        lines.append(f"  {'  '.join(words)}  {node.note}".rstrip())
    for box, inside in by_box(nodes).items():
        if box is not None:
            around = ", ".join(f"%{number}" for number in inside)
            lines.append(f"  {': '.join(filter(None, (box.heading, box.words)))} ({around})")
    return lines


# ---- the learner's names of nodes ----------------------------------------------------------------

# Names that somebody chose: not private (like a notebook's `_` and `_1`), not made by a tool from
# characters that no identifier has, and not a notebook's records of its inputs and outputs.
CHOSEN = re.compile(r"(?!_|(In|Out)$)\w+")


def given(names: Mapping[str, Any]) -> Names:
    """Names that were given explicitly. TypeError if a value isn't a Tensor or UOp."""
    for name, value in names.items():
        if not isinstance(value, (Tensor, UOp)):
            what = f"a Tensor or a UOp, not for a {type(value).__name__}"
            raise TypeError(f"{name}={value!r}: a name is for {what}")
    return _by_node(names.items())


def of_variables(frame: FrameType) -> Names:
    """The names of a running function's variables, then of its module's, without private ones and
    a notebook's records."""
    local = frame.f_locals
    names = of_scopes(local, frame.f_globals)
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED and isinstance(local, dict):
        local.clear()  # a copy that Python keeps with the frame, and the values alive with it
    return names


def of_scopes(*scopes: Mapping[str, Any]) -> Names:
    """The names of the variables in these scopes; the first scope that has a name wins."""
    if capture_now() is not None:  # a capture would notice each value that is looked at
        return {}
    seen: dict[str, Any] = {}
    for scope in scopes:
        for name, value in list(scope.items()):
            seen.setdefault(name, value)
    return _by_node((name, value) for name, value in seen.items() if CHOSEN.fullmatch(name))


def _by_node(pairs: Iterable[tuple[str, Any]]) -> Names:
    found: Names = {}
    for name, value in pairs:
        if isinstance(value, (Tensor, UOp)):
            node = value.uop if isinstance(value, Tensor) else value
            found[node] = (*found.get(node, ()), name)
    return found
