"""All rows of docs/benchmarks.md at a glance, in docs/speed.svg: a dot for each, beside PyTorch.

    python -m benchmarks.glance

reads the tables of that page, so the picture can be drawn again without measuring anything.
"""

from __future__ import annotations

import math
import re
from html import escape
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
PICTURE = PAGE.with_name("speed.svg")
BESIDE = "× PyTorch"

# What a lane of the picture is called, and which rows are in it: the first whose pattern fits.
LANES = (
    ("matrix products", r"^matmul|^einsum|mean of x·w"),
    ("loops shaped like one", r"^L1 |^max-plus|^sum of three"),
    ("convolutions", r"conv|max-pool"),
    ("sums, softmax, norms", r"^sum|^column sums|^softmax|norm"),
    ("chains, attention, training steps", r""),
)

LEFT, RIGHT, TOP, LANE = 236, 724, 46, 38  # pixels
WIDTH, BOTTOM = 760, 30
STYLE = """\
    text { font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif;
           fill: #57606a; }
    .name { fill: #1f2328; }
    .row { font-size: 11px; }
    .line { stroke: #8c959f; stroke-opacity: 0.35; }
    .even { stroke: #57606a; stroke-width: 1.5; }
    .dot { fill: #0969da; fill-opacity: 0.6; stroke: #0969da; }
    @media (prefers-color-scheme: dark) {
      text { fill: #9da7b1; }
      .name { fill: #e6edf3; }
      .even { stroke: #9da7b1; }
      .dot { fill: #58a6ff; stroke: #58a6ff; }
    }"""


class Row(NamedTuple):
    """A row of a table, how many times as fast as PyTorch it ran, and whether nobody can tell the
    two apart."""

    name: str
    ratio: float
    is_draw: bool


def rows_of(page: str) -> list[Row]:
    """The rows of all tables that are held beside PyTorch."""
    found, column = [], None
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            column = None
        elif BESIDE in cells:
            column = cells.index(BESIDE)
        elif column is not None and (ratio := re.match(r"[\d.]+", cells[column])):
            name, is_draw = re.sub(r" \(busy: .*\)", "", cells[0]), cells[column].endswith("=")
            found.append(Row(name, float(ratio[0]), is_draw))
    return found


def verdicts(rows: list[Row]) -> tuple[int, int, int]:
    """In how many rows tinyframe is faster than PyTorch, slower, and neither."""
    told = [row.ratio > 1 for row in rows if not row.is_draw and row.ratio != 1]
    return sum(told), len(told) - sum(told), len(rows) - len(told)


def lane_of(row: Row) -> int:
    return next(n for n, (_, pattern) in enumerate(LANES) if re.search(pattern, row.name))


def svg(rows: list[Row]) -> str:
    """The picture; its numbers stand in its description too."""
    powers = [math.log2(row.ratio) for row in rows]
    first, last = math.floor(min(-1, *powers)), math.ceil(max(1, *powers))
    bottom = TOP + LANE * len(LANES)
    ends = {min(rows, key=lambda row: row.ratio), max(rows, key=lambda row: row.ratio)}

    def across(ratio: float) -> float:
        return LEFT + (RIGHT - LEFT) * (math.log2(ratio) - first) / (last - first)

    parts = []
    for power in range(first, last + 1):
        x, label = across(2.0**power), f"{2**power}" if power >= 0 else f"1/{2**-power}"
        kind = "even" if power == 0 else "line"
        parts.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{label}</text>')
    even = across(1.0)
    parts.append(f'<text x="{even - 10:.1f}" y="26" text-anchor="end">PyTorch is faster</text>')
    parts.append(f'<text x="{even + 10:.1f}" y="26">tinyframe is faster</text>')
    for number, (name, _) in enumerate(LANES):
        y = TOP + LANE * (number + 0.5)
        parts.append(f'<text class="name" x="16" y="{y + 4:.0f}">{name}</text>')
        parts.append(f'<line class="line" x1="{LEFT}" x2="{RIGHT}" y1="{y:.0f}" y2="{y:.0f}"/>')
        for row in rows:
            if lane_of(row) == number:
                words = f"<title>{escape(row.name)}: {row.ratio:g}</title>"
                at = f'cx="{across(row.ratio):.1f}" cy="{y:.0f}" r="5"'
                parts.append(f'<circle class="dot" {at}>{words}</circle>')
                if row in ends:
                    x, anchor = across(row.ratio), "start" if row.ratio < 1 else "end"
                    at = f'x="{x:.1f}" y="{y - 9:.0f}" text-anchor="{anchor}"'
                    parts.append(f'<text class="row" {at}>{escape(row.name)}</text>')
    faster, slower, draws = verdicts(rows)
    said = "; ".join(f"{row.name} {row.ratio:g}" for row in rows)
    body = "\n".join(f"  {part}" for part in parts)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + BOTTOM}" role="img"
     aria-labelledby="title description">
  <title id="title">How many times as fast as PyTorch: {len(rows)} benchmarks</title>
  <desc id="description">A dot for each benchmark, on a scale on which each step is twice the one
    before. tinyframe is faster in {faster} and slower in {slower}; in {draws} nobody can tell.
    {escape(said)}.</desc>
  <style>
{STYLE}
  </style>
{body}
</svg>
"""


def main() -> None:
    PICTURE.write_text(svg(rows_of(PAGE.read_text())))


if __name__ == "__main__":
    main()
