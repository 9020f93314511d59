"""One SVG of what `dot` laid out: the legend above the graph, with words for who cannot see it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

from tinyframe.viz.drawing import FONTS, n, width_of
from tinyframe.viz.kinds import FRAMES, KINDS, MARKED_TEXT, TEXT
from tinyframe.viz.label import described, lines_of, names_text
from tinyframe.viz.legend import legend
from tinyframe.viz.nodes import Box, Node

NAMESPACE = "http://www.w3.org/2000/svg"
GAP = 10  # points between legend and graph
SMALL = 8.5  # points: what an operand is
TAG_POINT = 9  # points that a name's tag is pointed on its left

Element = ElementTree.Element


def assemble(
    graph: str,
    kinds: Sequence[str],
    title: str,
    text: str,
    nodes: Sequence[Node],
    tallest: float | None = None,
) -> str:
    """A picture that describes itself: a <title> and <desc>, and the words of each node as its
    own.

    graph: what was laid out. kinds: those that the legend shows. tallest: the height in points that
    the whole is made to fit; None leaves it in its size.
    """
    ElementTree.register_namespace("", NAMESPACE)
    drawing, wide, high = tidied(graph)
    above, legend_width, legend_height = legend(kinds, wide)
    width, height = max(wide, legend_width), high + (legend_height + GAP if kinds else 0)
    scale = min(1.0, tallest / height) if tallest else 1.0
    root = Element(
        tag("svg"),
        {
            "role": "img",
            "aria-label": title,
            "width": f"{width * scale:.0f}pt",
            "height": f"{height * scale:.0f}pt",
            "viewBox": f"0 0 {width:.2f} {height:.2f}",
            "font-family": FONTS,
        },
    )
    ElementTree.SubElement(root, tag("title")).text = title
    ElementTree.SubElement(root, tag("desc")).text = text
    dress(drawing, nodes)
    reshape(drawing)
    top = 0.0
    if kinds:
        root.append(ElementTree.fromstring(above))
        root[-1].set("transform", f"translate({(width - legend_width) / 2:.2f} 0)")
        top = legend_height + GAP
    place = {"transform": f"translate({(width - wide) / 2:.2f} {top:.2f})"}
    ElementTree.SubElement(root, tag("g"), place).append(drawing)
    return ElementTree.tostring(root, encoding="unicode")


def tag(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"


def tidied(source: str) -> tuple[Element, float, float]:
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


def dress(drawing: Element, nodes: Sequence[Node]) -> None:
    """Give each node and each box what `dot` does not know of: its words in place of its number,
    which browsers show under the pointer, bold titles, tags around names."""
    boxes = list(dict.fromkeys(node.box for node in nodes))
    for group in drawing.findall(tag("g")):
        words = group.find(tag("title"))
        if words is None:
            continue
        what = group.attrib["class"]
        if what.startswith("edge"):
            group.remove(words)
        elif what.startswith("cluster"):
            box = boxes[int((words.text or "").removeprefix("cluster_"))]
            assert box is not None
            words.text = ", ".join(filter(None, (box.heading, box.words)))
            dress_box(drawing, group, box)
        else:
            number = int(words.text or 0)
            group.set("data-node", str(number))
            words.text = described(nodes[number])
            dress_node(group, nodes[number])


def dress_node(group: Element, node: Node) -> None:
    for line in group.findall(tag("polyline")):  # between the fields of a record
        group.remove(line)
    parts = [part for part, _ in lines_of(node)]
    for part, line in zip(parts, group.findall(tag("text")), strict=True):
        if part == "operand":
            line.set("font-size", n(SMALL))
        elif node.operands:  # nearer to them than the fields of a record are
            line.set("y", n(float(line.attrib["y"]) - 3))
        if part in ("mark", "title"):
            line.set("font-weight", "bold")
        if part == "mark":
            line.set("fill", MARKED_TEXT)
        if part == "name":
            line.text = (line.text or "").strip(" \u00a0")
            at = list(group).index(line)
            for shape in reversed(tag_around(line)):
                group.insert(at, shape)
            line.set("x", n(float(line.attrib["x"]) + TAG_POINT / 2))
            line.set("y", n(float(line.attrib["y"]) - 1))
    if node.names:
        group.set("data-name", names_text(node.names))


def tag_around(line: Element) -> list[Element]:
    """A luggage tag, pointed on its left and with a hole, behind a name."""
    x, y = float(line.attrib["x"]), float(line.attrib["y"])
    half = width_of(line.text or "") / 2 + 4
    left, right = x - half - TAG_POINT / 2, x + half + TAG_POINT / 2
    top, bottom = y - 10.8, y + 1.7
    corners = [
        (left + TAG_POINT, top), (right, top), (right, bottom), (left + TAG_POINT, bottom),
        (left, (top + bottom) / 2),
    ]  # fmt: skip
    points = " ".join(f"{n(a)},{n(b)}" for a, b in corners)
    shape = Element(
        tag("polygon"),
        {"points": points, "fill": "#ffffff", "stroke": TEXT, "stroke-width": "0.8"},
    )
    hole = Element(
        tag("circle"),
        {"cx": n(left + TAG_POINT - 1.5), "cy": n((top + bottom) / 2), "r": "1.5",
         "fill": TEXT},
    )  # fmt: skip
    return [shape, hole]


def dress_box(drawing: Element, group: Element, box: Box) -> None:
    """The heading on a bar of its own, above the arrows that lead into the box."""
    look = FRAMES[box.style]
    outline = next(e for e in group if e.tag in (tag("path"), tag("polygon")))
    outline.set("stroke-width", "1.5")
    outline.set("fill", "none")
    left, top, right, _ = extent(outline)
    lines = group.findall(tag("text"))
    bottom = max(float(line.attrib["y"]) for line in lines) + 6
    bar = {
        "x": n(left), "y": n(top), "width": n(right - left), "height": n(bottom - top), "rx": "5",
        "fill": look.bar, "stroke": look.line, "stroke-width": "1",
    }  # fmt: skip
    heading = ElementTree.SubElement(drawing, tag("g"), {"class": "heading"})
    ElementTree.SubElement(heading, tag("rect"), bar)
    for number, line in enumerate(lines):
        group.remove(line)
        heading.append(line)
        line.set("fill", TEXT)
        if number == 0:
            line.set("font-weight", "bold")


def extent(shape: Element) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a polygon, or of a path of absolute curves."""
    words = shape.attrib.get("points") or shape.attrib["d"]
    for letter in "MCLZ,":
        words = words.replace(letter, " ")
    numbers = [float(word) for word in words.split()]
    xs, ys = numbers[::2], numbers[1::2]
    return min(xs), min(ys), max(xs), max(ys)


def reshape(drawing: Element) -> None:
    """Turn the boxes of kinds that have an outline of their own into that."""
    for group in drawing.findall(tag("g")):
        kind = KINDS.get(group.attrib["class"].removeprefix("node "))
        if kind is None or not kind.outline:
            continue
        box = next(e for e in group.findall(tag("polygon")) if e.get("fill") == kind.fill)
        left, top, right, bottom = extent(box)
        box.attrib["points"] = kind.corners(left, top, right - left, bottom - top)
