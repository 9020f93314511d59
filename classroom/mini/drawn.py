"""A picture of kernels that mini has cut: what each of them computes is in a box of its own.

draw_kernels(cut(sink), a=a, y=y)      # as the last line of a cell
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tinyframe.uop import Ops
from tinyframe.uop.show import INFIX
from tinyframe.viz.graphs import GraphPicture
from tinyframe.viz.kinds import KIND_OF
from tinyframe.viz.layout import SCREEN
from tinyframe.viz.nodes import Box, Node, plural


def draw_kernels(kernels: Iterable[Any], **names: Any) -> GraphPicture:
    """The kernels of `mini.part4b.cut`, in their order. names: of Tensors or nodes of mini."""
    drawn = _Drawn({getattr(value, "uop", value): name for name, value in names.items()})
    count = 0
    for count, (value, memory, graph) in enumerate(kernels, 1):
        drawn.add(Box("kernel", count, f"kernel {count}"), value, memory, graph)
    picture = GraphPicture("graph", drawn.nodes, SCREEN)
    text = picture.text.split("\n", 1)[-1] if drawn.nodes else ""
    headline = plural(count, "kernel")
    return GraphPicture("graph", drawn.nodes, SCREEN, (headline, f"{headline}\n{text}".rstrip()))


class _Drawn:
    """nodes: what is drawn. place: where each piece of memory is, by the BUFFER of it."""

    def __init__(self, names: dict[Any, str]) -> None:
        self.names, self.nodes, self.place = names, list[Node](), dict[Any, int]()
        self.count = 0

    def add(self, box: Box, value: Any, memory: Any, graph: Any) -> None:
        here: dict[Any, int] = {}
        for node in graph.toposort():
            if node.op.name == "CONST" and node is not graph:
                continue
            if node.op.name == "BUFFER":
                here[node] = self._memory(node)
                continue
            sources = tuple(here[source] for source in node.src if source in here)
            here[node] = self._append(
                node, self._name(value if node is graph else node), sources, box
            )
        number = here[graph]
        self.nodes[number] = replace(self.nodes[number], note=_note(graph, "stored"))
        self.place[memory] = number

    def _memory(self, node: Any) -> int:
        if node not in self.place:
            self.place[node] = self._append(node, self._name(node), (), None)
        return self.place[node]

    def _append(
        self, node: Any, names: tuple[str, ...], sources: tuple[int, ...], box: Box | None
    ) -> int:
        shape = " × ".join(map(str, node.shape)) if node.shape else "one number"
        self.nodes.append(
            Node(
                KIND_OF[Ops[node.op.name]], _title(node), shape, _note(node), sources, names=names,
                box=box,
            )
        )  # fmt: skip
        return len(self.nodes) - 1

    def _name(self, node: Any) -> tuple[str, ...]:
        return (self.names[node],) if node in self.names else ()


def _title(node: Any) -> str:
    name: str = node.op.name
    return f"{name} {node.arg[0].name}" if name == "REDUCE_AXIS" else name


def _note(node: Any, *more: str) -> str:
    """The axes of a reduction, the numbers among the sources, and whether the value is stored."""
    numbers = [f"{s.arg:.5g}" if s.op.name == "CONST" else "·" for s in node.src]
    words = [f" {INFIX.get(Ops[node.op.name], 'and')} ".join(numbers)] * (set(numbers) > {"·"})
    if node.op.name == "REDUCE_AXIS":
        axes = node.arg[1]
        words.append(f"over {'axis' if len(axes) == 1 else 'axes'} {', '.join(map(str, axes))}")
    return "; ".join([*words, *more])
