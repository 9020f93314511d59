"""One SVG of what `dot` laid out: the legend above the graph, with words for who cannot see it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

from tinyframe.viz.kinds import KINDS, MARKED_TEXT, SLANT
from tinyframe.viz.nodes import Node

NAMESPACE = "http://www.w3.org/2000/svg"
FONTS = "Arial, Helvetica, Liberation Sans, sans-serif"
GAP = 10  # points between legend and graph


def assemble(legend: str, graph: str, title: str, text: str, nodes: Sequence[Node]) -> str:
    """A picture that describes itself: a <title> and <desc>, and the words of each node as its
    own."""
    ElementTree.register_namespace("", NAMESPACE)
    parts = [tidied(source) for source in (legend, graph)]
    width = max(w for _, w, _ in parts)
    height = sum(h for _, _, h in parts) + GAP
    root = ElementTree.Element(
        tag("svg"),
        {
            "role": "img",
            "aria-label": title,
            "width": f"{width:.0f}pt",
            "height": f"{height:.0f}pt",
            "viewBox": f"0 0 {width:.2f} {height:.2f}",
            "font-family": FONTS,
        },
    )
    ElementTree.SubElement(root, tag("title")).text = title
    ElementTree.SubElement(root, tag("desc")).text = text
    describe(parts[1][0], nodes)
    top = 0.0
    for part, w, h in parts:
        reshape(part)
        place = {"transform": f"translate({(width - w) / 2:.2f} {top:.2f})"}
        ElementTree.SubElement(root, tag("g"), place).append(part)
        top += h + GAP
    return ElementTree.tostring(root, encoding="unicode")


def tag(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"


def tidied(source: str) -> tuple[ElementTree.Element, float, float]:
    """The nodes and arrows, without what is the same on all; width and height in points."""
    root = ElementTree.fromstring(source)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for element in root.iter():
        for name in ("font-family", "id", "{http://www.w3.org/XML/1998/namespace}space"):
            element.attrib.pop(name, None)
        element.tail = None
    drawing = root[0]
    for element in list(drawing):
        if element.tag != tag("g"):  # a background, and a title that only some versions write
            drawing.remove(element)
    return drawing, width, height


def describe(drawing: ElementTree.Element, nodes: Sequence[Node]) -> None:
    """Give each node its words in place of its number, which browsers show under the pointer."""
    for group in drawing.findall(tag("g")):
        words = group.find(tag("title"))
        if words is None:
            continue
        if group.attrib["class"].startswith("edge"):
            group.remove(words)
            continue
        number = int(words.text or 0)
        node = nodes[number]
        group.set("data-node", str(number))
        words.text = ", ".join(w for w in (node.mark, node.title, node.value, node.note) if w)
        lines = group.findall(tag("text"))
        for line in lines[: 2 if node.mark else 1]:
            line.set("font-weight", "bold")
        if node.mark:
            lines[0].set("fill", MARKED_TEXT)


def reshape(drawing: ElementTree.Element) -> None:
    """Turn the boxes of kinds that have an outline of their own into that."""
    for group in drawing.findall(tag("g")):
        kind = KINDS.get(group.attrib["class"].removeprefix("node "))
        box = group.find(tag("polygon"))
        if kind is None or not kind.outline or box is None:
            continue
        corners = [tuple(map(float, pair.split(","))) for pair in box.attrib["points"].split()]
        left, right = min(x for x, _ in corners), max(x for x, _ in corners)
        top, bottom = min(y for _, y in corners), max(y for _, y in corners)
        box.attrib["points"] = " ".join(
            f"{left + x * (right - left) + slant * SLANT:.2f},{top + y * (bottom - top):.2f}"
            for x, y, slant in kind.outline
        )
