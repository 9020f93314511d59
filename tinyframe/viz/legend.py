"""The legend of a picture of nodes: a row of small swatches with words, on the page itself, so that
nobody takes it for a part of the graph."""

from __future__ import annotations

from collections.abc import Sequence

from tinyframe.viz.drawing import MUTED, Drawing, n, width_of
from tinyframe.viz.kinds import KINDS, Kind

WIDE, HIGH = 17.0, 10.0  # points, of a swatch
SIZE = 9.5  # points, of the words
LINE, SPACE = 16.0, 13.0  # points from row to row; between two entries
LEAST = 345.0  # points: in less, an entry would often have a row of its own


def legend(kinds: Sequence[str], room: float) -> tuple[str, float, float]:
    """An SVG group with an entry for each kind, in rows of at most `room` points, each centred;
    its width and its height."""
    heading = "legend"
    rows: list[list[tuple[str, float]]] = [[(heading, width_of(heading, SIZE, bold=True) + SPACE)]]
    for kind in kinds:
        wide = WIDE + 5 + width_of(KINDS[kind].meaning, SIZE) + SPACE
        if sum(w for _, w in rows[-1]) + wide - SPACE > max(room, LEAST):
            rows.append([])
        rows[-1].append((kind, wide))
    widths = [sum(w for _, w in row) - SPACE for row in rows]
    sheet = Drawing()
    for number, (row, wide) in enumerate(zip(rows, widths, strict=True)):
        left = (max(widths) - wide) / 2
        for kind, taken in row:
            base = number * LINE + 11
            if kind == heading:
                sheet.words(left, base, heading, SIZE, bold=True, colour=MUTED)
            else:
                sheet.parts.append(swatch(KINDS[kind], left, base - 8.5))
                sheet.words(left + WIDE + 5, base, KINDS[kind].meaning, SIZE, colour=MUTED)
            left += taken
    inside = "".join(sheet.parts)
    group = f'<g xmlns="http://www.w3.org/2000/svg" class="legend">{inside}</g>'
    return group, max(widths), len(rows) * LINE


def swatch(kind: Kind, left: float, top: float) -> str:
    """The shape of a kind, small."""
    look = f'fill="{kind.fill}" stroke="{kind.line}"'
    right, bottom, middle = left + WIDE, top + HIGH, left + WIDE / 2
    if kind.outline:
        return f'<polygon {look} points="{kind.corners(left, top, WIDE, HIGH, slant=4)}"/>'
    if kind.style.get("shape") == "ellipse":
        return (
            f'<ellipse {look} cx="{n(middle)}" cy="{n(top + HIGH / 2)}" rx="{n(WIDE / 2)}" '
            f'ry="{n(HIGH / 2)}"/>'
        )
    if kind.style.get("shape") == "cylinder":
        half = n(WIDE / 2)
        return (
            f'<path {look} d="M{n(left)},{n(top + 2)} V{n(bottom - 2)} A{half},2 0 0 0 {n(right)},'
            f"{n(bottom - 2)} V{n(top + 2)} A{half},2 0 0 0 {n(left)},{n(top + 2)} A{half},2 0 0 0 "
            f'{n(right)},{n(top + 2)}"/>'
        )
    style = kind.style.get("style", "")
    radius = 4 if "rounded" in style else 0
    dashes = ' stroke-dasharray="3 2"' if "dashed" in style else ""
    thick = kind.style.get("penwidth", "1")
    return (
        f'<rect {look} x="{n(left)}" y="{n(top)}" width="{n(WIDE)}" height="{n(HIGH)}" '
        f'rx="{radius}" stroke-width="{thick}"{dashes}/>'
    )
