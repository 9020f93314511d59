"""Shapes on a sheet, written as SVG: for every picture that is not a graph laid out by `dot`.

    sheet = Drawing()
    sheet.box(0, 0, 60, 24, fill="#cfe6fa", words=["4 × 8"])
    sheet.to_svg("a box", "its content in words, for those who cannot see it")

Everything is in points; x grows to the right, y down. An SVG in an `<img>` does not know the page
that it is on. So text is dark on a light fill, or MUTED, which is readable both on a white page and
on a nearly black one.
"""

from __future__ import annotations

import base64
import colorsys
import html
import string
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from tinyframe.viz.kinds import ARROW, MARKED, TEXT

FONTS = "Arial, Helvetica, Liberation Sans, sans-serif"
MONO = "DejaVu Sans Mono, Menlo, Consolas, monospace"
MUTED = "#787878"  # 4.4:1 against white, 4.2:1 against #111111
MARGIN = 4
PAGE = 660.0  # points: the width that a notebook shows without scaling it down
HIGH = 640.0  # points: the height that fits on a screen
TOKEN = f"{string.ascii_letters}{string.digits}_."  # what names and numbers in code are made of
WIDE = "\u2e80"  # from here on letters are as wide as they are high

# The widths of Helvetica's characters from space to ~, in thousandths of the font size; Arial and
# Liberation Sans have the same (Adobe's font metrics, "Core 14").
WIDTHS = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
]  # fmt: skip


def width_of(words: str, size: float = 11, bold: bool = False, mono: bool = False) -> float:
    """The width of text in points; bold letters are up to a tenth wider."""
    if mono:
        return 0.602 * size * len(words)
    known = [WIDTHS[ord(c) - 32] if " " <= c <= "~" else 600 if c < WIDE else 1000 for c in words]
    return sum(known) * size / 1000 * (1.08 if bold else 1)


def fitted(words: str, width: float) -> dict[str, str]:
    """The attributes that give a <text> its estimated width in any font: without Helvetica and
    Arial, the substitute may be a fifth wider."""
    return {"textLength": n(width), "lengthAdjust": "spacingAndGlyphs"} if len(words) > 3 else {}


def wrapped(
    words: str, width: float, size: float = 11, bold: bool = False, mono: bool = False
) -> list[str]:
    """Text in lines of at most this width; words too long for a line are cut at its end.

    Code (mono) keeps its indentation, its continuation lines are indented further, and names and
    numbers stay in one piece where they fit."""
    indent = words[: len(words) - len(words.lstrip())] if mono else ""
    lines = [indent]
    for word in words.split():
        begun = len(lines[-1]) > len(indent)
        if begun and width_of(f"{lines[-1]} {word}", size, bold, mono) > width:
            indent += "    " if mono and len(lines) == 1 else ""
            lines.append(indent)
            begun = False
        lines[-1] += f" {word}" if begun else word
        while width_of(lines[-1], size, bold, mono) > width and len(lines[-1]) > len(indent) + 1:
            fits = len(indent) + 1
            while width_of(lines[-1][: fits + 1], size, bold, mono) <= width:
                fits += 1
            if mono and lines[-1][fits] in TOKEN:
                whole = len(lines[-1][:fits].rstrip(TOKEN))
                fits = whole if whole > len(indent) else fits
            lines[-1:] = [lines[-1][:fits], indent + lines[-1][fits:]]
    return lines


def xml(text: str) -> str:
    """Text for XML: escaped, with unprintable characters as their codes."""
    return html.escape("".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text))


class Drawing:
    """Shapes and text; `width` and `height` grow as they are added.

    links: boxes that belong together share a number. If the SVG is inline in a page, or opened by
    itself, pointing at one of them gives all of them a thick outline.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.links: set[int] = set()
        self.width = self.height = 0.0

    def box(
        self, x: float, y: float, width: float, height: float, fill: str, line: str = ARROW,
        words: Sequence[str] = (), title: str = "", radius: float = 3, thick: float = 1,
        dashed: bool = False, size: float = 11, mono: bool = False, link: int | None = None,
    ) -> None:  # fmt: skip
        """A box with lines of text in its middle. title: its tooltip. link: the number of the group
        that it belongs to."""
        look = ' stroke-dasharray="4 3"' if dashed else ""
        if link is not None:
            look += f' class="link-{link}"'
            self.links.add(link)
        place = f'x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}" rx="{n(radius)}"'
        shape = f'<rect {place} fill="{fill}" stroke="{line}" stroke-width="{n(thick)}"{look}/>'
        if title:
            shape = f"<g><title>{xml(title)}</title>{shape}</g>"
        self.parts.append(shape)
        self._reach(x + width, y + height)
        middle = y + height / 2 - (len(words) - 1) * size * 0.62
        for number, line_of_words in enumerate(words):
            base = middle + number * size * 1.24 + size * 0.36
            self.words(x + width / 2, base, line_of_words, size, anchor="middle", mono=mono)

    def words(
        self, x: float, y: float, words: str, size: float = 11, *, anchor: str = "start",
        bold: bool = False, mono: bool = False, colour: str = TEXT,
    ) -> None:  # fmt: skip
        """A line of text, with its baseline at y. anchor: "start", "middle" or "end"."""
        look = f' font-family="{MONO}" xml:space="preserve"' if mono else ""
        look += ' font-weight="bold"' if bold else ""
        look += f' text-anchor="{anchor}"' if anchor != "start" else ""
        width = width_of(words, size, bold, mono)
        look += "".join(f' {name}="{value}"' for name, value in fitted(words, width).items())
        place = f'x="{n(x)}" y="{n(y)}" font-size="{n(size)}"'
        self.parts.append(f'<text {place} fill="{colour}"{look}>{xml(words)}</text>')
        self._reach(x + width * {"start": 1, "middle": 0.5, "end": 0}[anchor], y + size * 0.3)

    def paragraph(
        self, x: float, top: float, words: str, width: float, size: float = 11, **look: Any
    ) -> float:
        """Text in lines of at most this width, from `top` on, MUTED unless a colour is given;
        returns where it ends. look: as for `words`."""
        bold, mono = look.get("bold", False), look.get("mono", False)
        for line in wrapped(words, width, size, bold, mono):
            self.words(x, top + size, line, size, **{"colour": MUTED, **look})
            top += size * 1.27
        return top

    def line(
        self, points: Sequence[tuple[float, float]], width: float = 1, arrow: bool = False
    ) -> None:
        """A line through points. arrow: with a head at the last (the last two must differ)."""
        path = " ".join(f"{n(x)},{n(y)}" for x, y in points)
        look = f'stroke="{ARROW}" stroke-width="{n(width)}"'
        self.parts.append(f'<polyline points="{path}" fill="none" {look}/>')
        for x, y in points:
            self._reach(x, y)
        if arrow:
            (x0, y0), (x, y) = points[-2:]
            long = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5
            dx, dy = (x - x0) / long, (y - y0) / long
            left, right = ((x - 6 * dx - side * dy, y - 6 * dy + side * dx) for side in (3, -3))
            head = " ".join(f"{n(px)},{n(py)}" for px, py in ((x, y), left, right))
            self.parts.append(f'<polygon points="{head}" fill="{ARROW}"/>')

    def image(
        self, x: float, y: float, width: float, height: float, pixels: np.ndarray,
        colours: Sequence[str],
    ) -> None:  # fmt: skip
        """An image with a thin border. pixels: for each, the number of its colour."""
        data = base64.b64encode(png(pixels, colours)).decode()
        size = f'x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}"'
        look = 'preserveAspectRatio="none" style="image-rendering: pixelated"'
        self.parts.append(f'<image {size} {look} href="data:image/png;base64,{data}"/>')
        self.box(x, y, width, height, "none", radius=0, thick=0.75)

    def put(self, other: Drawing, x: float, y: float, name: str = "") -> None:
        """Puts another drawing on this one, its corner at (x, y). name: its class, for CSS."""
        look, inside = f' class="{xml(name)}"' if name else "", "".join(other.parts)
        self.parts.append(f'<g transform="translate({n(x)} {n(y)})"{look}>{inside}</g>')
        self._reach(x + other.width, y + other.height)
        self.links |= other.links

    def _reach(self, x: float, y: float) -> None:
        self.width, self.height = max(self.width, x), max(self.height, y)

    def to_svg(self, title: str, text: str) -> str:
        """The SVG. title: one line. text: everything in the picture, for those who can't see it."""
        width, height = self.width + 2 * MARGIN, self.height + 2 * MARGIN
        style = ""
        if self.links:  # the outline under the pointer
            linked = ",".join(f"svg:has(.link-{n}:hover) .link-{n}" for n in sorted(self.links))
            look = f"stroke:{MARKED['color']};stroke-width:{MARKED['penwidth']}"
            style = f"<style>text{{pointer-events:none}}{linked}{{{look}}}</style>"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{xml(title)}" '
            f'width="{width:.0f}pt" height="{height:.0f}pt" '
            f'viewBox="{-MARGIN} {-MARGIN} {n(width)} {n(height)}" font-family="{FONTS}">'
            f"<title>{xml(title)}</title><desc>{xml(text)}</desc>{style}"
            f"{''.join(self.parts)}</svg>"
        )


def png(pixels: np.ndarray, colours: Sequence[str]) -> bytes:
    """A PNG with one byte per pixel, the number of its colour (W3C, "PNG", third ed.)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    height, width = pixels.shape
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
    palette = chunk(b"PLTE", bytes.fromhex("".join(colour[1:] for colour in colours)))
    rows = np.pad(pixels.astype(np.uint8), ((0, 0), (1, 0)))  # each row starts with 0: no filter
    data = chunk(b"IDAT", zlib.compress(rows.tobytes()))
    return b"\x89PNG\r\n\x1a\n" + head + palette + data + chunk(b"IEND", b"")


def colour_of(number: int, count: int) -> str:
    """The colour of item `number` of `count`: a rainbow, light enough for dark text."""
    red, green, blue = colorsys.hls_to_rgb(0.85 * number / max(count, 1), 0.84, 0.75)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def n(value: float) -> str:
    """A number in few characters, the same on every machine."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
