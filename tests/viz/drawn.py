"""What every picture promises, whatever it shows: read back with an XML parser."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import NamedTuple

from tinyframe.uop.node import UOp
from tinyframe.viz import Picture
from tinyframe.viz.drawing import HIGH, PAGE, width_of
from tinyframe.viz.explorer.rows import Row, Rows, Table

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d+(\.\d+)?")
PLACES = ("x", "y", "width", "height", "rx", "stroke-width", "font-size")


class Words(NamedTuple):
    """A line of text, and the rectangle that it takes."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    fill: str


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float
    fill: str
    title: str


def checked(picture: Picture, height: float = HIGH + 60) -> ElementTree.Element:
    """The SVG, once it is what every picture is: whole, described, on the page, nothing over
    another's words, and the same each time it is drawn."""
    source = picture.svg()
    root = described(picture)
    assert "<script" not in source and "…" not in source
    assert source.count(" href=") == source.count(' href="data:image/png;base64,')
    for element in root.iter():
        for name in PLACES:
            assert NUMBER.match(element.get(name, "0")), (element.tag, name)
    left, top, width, high = map(float, root.attrib["viewBox"].split())
    assert width <= PAGE + 12 and high <= height, (width, high)
    found = list(words(root))
    for w in found:
        assert left <= w.left + 0.5 and w.right <= left + width + 0.5, w
        assert top <= w.top + 2 and w.bottom <= top + high + 0.5, w
    for n, a in enumerate(found):
        for b in found[n + 1 :]:
            across = min(a.right, b.right) - max(a.left, b.left)
            down = min(a.bottom, b.bottom) - max(a.top, b.top)
            assert across <= 1.5 or down <= 2.5, (a, b)
    return root


def charted(picture: Picture, height: float = HIGH + 200) -> list[str]:
    """The words of a chart, once it is whole, described, no larger than a page, and the same each
    time it is drawn."""
    root = described(picture)
    _, _, width, high = map(float, root.attrib["viewBox"].split())
    assert width <= PAGE + 12 and high <= height, (width, high)
    assert picture._draw() == picture.svg()
    return texts(picture)


def described(picture: Picture) -> ElementTree.Element:
    """The SVG, once it says what it shows."""
    root = ElementTree.fromstring(picture.svg())
    assert root.get("role") == "img"
    assert root.get("aria-label") == root.findtext(f"{SVG}title") == picture.headline
    assert root.findtext(f"{SVG}desc") == picture.text == str(picture)
    return root


def texts(picture: Picture) -> list[str]:
    """The lines of words in a picture's SVG."""
    root = ElementTree.fromstring(picture.svg())
    return ["".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")]


def height_of(picture: Picture) -> float:
    return float(ElementTree.fromstring(picture.svg()).attrib["height"].removesuffix("pt"))


def rows_of(*nodes: UOp) -> list[Row]:
    """Nodes as a trace has them."""
    table = Table()
    places = [table.number(u) for u in nodes]
    rows = Rows(table.rows)
    return [rows[n] for n in places]


def contrast(one: str, other: str) -> float:
    """Of two colours like #1b1b1b, from 1 to 21 (WCAG 2.2)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def placed(
    element: ElementTree.Element, x: float = 0, y: float = 0
) -> Iterator[tuple[ElementTree.Element, float, float, str]]:
    """Every element with what it is moved by, and the title of the group that it is in."""
    title = element.findtext(f"{SVG}title", "") if element.tag == f"{SVG}g" else ""
    if moved := re.match(r"translate\((\S+) (\S+)\)", element.get("transform", "")):
        x, y = x + float(moved[1]), y + float(moved[2])
    for child in element:
        yield child, x, y, title
        yield from placed(child, x, y)


def words(root: ElementTree.Element) -> Iterator[Words]:
    for element, dx, dy, _ in placed(root):
        if element.tag != f"{SVG}text":
            continue
        size, text = float(element.attrib["font-size"]), element.text or ""
        is_bold, mono = (
            element.get("font-weight") == "bold",
            "Mono" in element.get("font-family", ""),
        )
        width = width_of(text, size, is_bold, mono)
        x, y = float(element.attrib["x"]) + dx, float(element.attrib["y"]) + dy
        x -= {"middle": width / 2, "end": width}.get(element.get("text-anchor", ""), 0)
        yield Words(text, x, y - 0.75 * size, x + width, y + 0.2 * size, element.attrib["fill"])


def boxes(root: ElementTree.Element) -> list[Box]:
    found = []
    for element, dx, dy, title in placed(root):
        if element.tag == f"{SVG}rect":
            x, y, width, height = (float(element.attrib[k]) for k in ("x", "y", "width", "height"))
            found.append(
                Box(x + dx, y + dy, x + dx + width, y + dy + height, element.attrib["fill"], title)
            )
    return found


def said(root: ElementTree.Element) -> list[str]:
    """The words of a picture."""
    return [w.text for w in words(root)]
