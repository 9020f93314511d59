"""Rows of words in columns, below or beside a drawing; the last column is wrapped."""

from __future__ import annotations

from collections.abc import Sequence

from tinyframe.viz.drawing import MUTED, Drawing, width_of, wrapped

LINE, SPACE, SIZE = 13.5, 14.0, 10.5  # points: from line to line; between columns; of a letter


def draw_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], width: float, left: Sequence[int] = ()
) -> Drawing:
    """A table at most so wide. left: columns that begin at their left; others, numbers, end at
    their right. The last column takes what room there is."""
    sheet = Drawing()
    last = len(header) - 1
    every = (header, *rows)
    widths = [max(width_of(row[c], SIZE, bold=True) for row in every) for c in range(last)]
    starts = [sum(widths[:c]) + c * SPACE for c in range(last + 1)]
    top = 0.0
    for number, row in enumerate(every):
        for c, words in enumerate(row[:-1]):
            x, anchor = (starts[c], "start") if c in left else (starts[c] + widths[c], "end")
            sheet.words(x, top + 11, words, SIZE, anchor=anchor, bold=number == 0, colour=MUTED)
        lines = wrapped(row[-1], width - starts[-1], SIZE, bold=number == 0)
        for n, line in enumerate(lines):
            place = top + 11 + n * LINE
            sheet.words(starts[-1], place, line, SIZE, bold=number == 0, colour=MUTED)
        top += LINE * max(1, len(lines)) + 4
    return sheet
