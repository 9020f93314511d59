"""An array as a matrix on a sheet, with some of its elements in colour."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tinyframe.viz.drawing import Drawing
from tinyframe.viz.kinds import ARROW

LARGEST = 24.0  # points, of one element
THINNEST = 0.1  # the shorter side of an array, of the longer one: a thinner one would be a line
LEAST = 2.5  # points, of an element that is touched: smaller ones cannot be seen
MOST_AREAS = 120  # that are drawn one by one

Area = tuple[float, float, float, float]  # left, top, right, lower edge


class Grid:
    """Where the elements of an array are drawn: the last two axes as a matrix, the two before them
    as a matrix of such matrices, any others stacked on these. panel: points, of its longer side."""

    def __init__(self, shape: Sequence[int], panel: float) -> None:
        padded = (1,) * (4 - len(shape)) + tuple(shape)
        self.shape = (math.prod(padded[:-3]), *padded[-3:])
        down, across, rows, columns = self.shape
        # Space between the small matrices, as a part of one, while there is room for it.
        self.space = 0.25 if max(down, across) * 4 <= panel else 0.0
        wide = across + (across - 1) * self.space  # in small matrices
        tall = down + (down - 1) * self.space
        ratio = min(max(tall * rows / (wide * columns), THINNEST), 1 / THINNEST)
        longest = min(panel, LARGEST * max(tall * rows, wide * columns))
        self.width = longest if ratio <= 1 else longest / ratio
        self.height = self.width * ratio
        self.tile = self.width / wide, self.height / tall
        self.cell = self.tile[0] / columns, self.tile[1] / rows

    def corner(self, down: int, across: int) -> tuple[float, float]:
        """Where a small matrix begins."""
        step = 1 + self.space
        return across * step * self.tile[0], down * step * self.tile[1]

    def draw_empty(self, sheet: Drawing, x: float, y: float) -> None:
        """The matrices, with nothing touched."""
        down, across, _, _ = self.shape
        if self.space:
            corners = [self.corner(d, a) for d in range(down) for a in range(across)]
            boxes = [(*corner, *self.tile) for corner in corners]
        else:
            boxes = [(0.0, 0.0, self.width, self.height)]
        for left, top, width, height in boxes:
            sheet.box(x + left, y + top, width, height, "#f4f4f4", ARROW, radius=0, thick=0.75)

    def draw_cells(self, sheet: Drawing, x: float, y: float, cells: np.ndarray, fill: str) -> None:
        """Elements in colour, by their flat numbers."""
        areas = [self.area(first, last) for first, last in rectangles(cells, self.shape)]
        for left, top, right, end in areas if len(areas) <= MOST_AREAS else self.coarse(areas):
            left, top, right, end = x + left, y + top, x + right, y + end
            sheet.area([(left, top), (right, top), (right, end), (left, end)], fill)

    def area(self, first: int, last: int) -> Area:
        """Where a rectangle of elements is drawn: its left, top, right and lower edge."""
        d, a, r, c = (int(i) for i in np.unravel_index(first, self.shape))
        _, _, r_end, c_end = (int(i) + 1 for i in np.unravel_index(last, self.shape))
        left, top = self.corner(d, a)
        width = max(self.cell[0] * (c_end - c), LEAST)
        height = max(self.cell[1] * (r_end - r), LEAST)
        left = min(left + self.cell[0] * c, self.width - width)
        top = min(top + self.cell[1] * r, self.height - height)
        return left, top, left + width, top + height

    def coarse(self, areas: Sequence[Area]) -> list[Area]:
        """What a very large number of areas covers, as fewer: in steps of a point."""
        covered = np.zeros((math.ceil(self.height), math.ceil(self.width)), bool)
        for left, top, right, end in areas:
            covered[int(top) : math.ceil(end), int(left) : math.ceil(right)] = True
        columns = covered.shape[1]
        found = rectangles(np.flatnonzero(covered), covered.shape)
        corners = [(*divmod(first, columns), *divmod(last, columns)) for first, last in found]
        return [
            (float(left), float(top), min(right + 1.0, self.width), min(end + 1.0, self.height))
            for top, left, end, right in corners
        ]


def rectangles(cells: np.ndarray, shape: Sequence[int]) -> list[tuple[int, int]]:
    """Sorted elements of an array of matrices as rectangles that cover each once: the first and the
    last element of each."""
    rows, columns = shape[-2:]
    done: list[tuple[int, int]] = []
    growing: dict[int, tuple[int, int]] = {}  # where the next row would begin -> a rectangle so far
    for start, end in runs(cells, columns):
        first, last = int(cells[start]), int(cells[end])
        above = growing.pop(first, None)
        if above and last - above[1] == columns and first // columns % rows:
            growing[first + columns] = (above[0], last)
        else:
            done += [above] if above else []
            growing[first + columns] = (first, last)
    return sorted([*done, *growing.values()])


def runs(cells: np.ndarray, columns: int) -> list[tuple[int, int]]:
    """Where neighbours in one row begin and end, as places in a sorted list of elements."""
    if not len(cells):
        return []
    breaks = np.flatnonzero((np.diff(cells) != 1) | (cells[1:] % columns == 0)) + 1
    first = [0, *breaks.tolist()]
    return list(zip(first, [n - 1 for n in (*first[1:], len(cells))], strict=True))
