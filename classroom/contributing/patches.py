"""A small module with a past: what it was at first, and the thirty patches that were made to it.

It draws an owl from views, without copying a number: a view is a shape, and where in a list its
cells are. A patch is a message and some pairs of a text that occurs once and what replaces it.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST = '''\
HALF = """
..........
..#.......
..##......
..#######.
..#.......
..#..###..
..#.#...#.
..#.#.#.#.
..#.#...#.
..#..###..
..#.....#.
..##....#.
...#.#.#..
....#.#...
.....####.
......#...
..........
"""


class View:
    def __init__(self, cells, shape, strides, offset=0):
        self.cells = cells
        self.shape = shape
        self.strides = strides
        self.offset = offset

    def row(self, i):
        down, right = self.strides
        begin = self.offset + i * down
        return "".join([self.cells[begin + j * right] for j in range(self.shape[1])])

    def rows(self):
        return [self.row(i) for i in range(self.shape[0])]

    def flip(self):
        down, right = self.strides
        end = self.offset + (self.shape[1] - 1) * right
        return View(self.cells, self.shape, (down, -right), end)

    def crop(self, top, left, height, width):
        down, right = self.strides
        begin = self.offset + top * down + left * right
        return View(self.cells, (height, width), self.strides, begin)


def view(text):
    lines = text.split()
    return View("".join(lines), (len(lines), len(lines[0])), (len(lines[0]), 1))


def beside(left, right):
    return [a + b for a, b in zip(left.rows(), right.rows())]


def poster():
    half = view(HALF)
    left = half.crop(1, 1, 15, 8)
    right = half.flip().crop(1, 1, 15, 8)
    return beside(left, right)
'''


@dataclass(frozen=True)
class Patch:
    """message: what its author wrote. edits: pairs of texts, before and after."""

    message: str
    edits: tuple[tuple[str, str], ...]

    def applied(self, source: str) -> str:
        """The module after it. ValueError where a text isn't there exactly once."""
        for before, after in self.edits:
            if source.count(before) != 1:
                raise ValueError(
                    f"{self.message!r}: {before!r} occurs {source.count(before)} times"
                )
            source = source.replace(before, after)
        return source


def patch(message: str, *edits: tuple[str, str]) -> Patch:
    return Patch(message, edits)


PATCHES = (
    patch(
        "Say what the module is for",
        ('HALF = """', '"""Pictures made of views: no cell is ever copied."""\n\nHALF = """'),
    ),
    patch(
        "View gets a docstring",
        (
            "class View:\n",
            'class View:\n    """A shape, and where its cells are in a list of cells."""\n\n',
        ),
    ),
    patch(
        "row: a generator will do, join takes one",
        (
            '"".join([self.cells[begin + j * right] for j in range(self.shape[1])])',
            '"".join(self.cells[begin + j * right] for j in range(self.shape[1]))',
        ),
    ),
    patch(
        "zip is told that both sides have as many rows",
        ("zip(left.rows(), right.rows())", "zip(left.rows(), right.rows(), strict=True)"),
    ),
    patch(
        "turn, which swaps rows and columns",
        (
            "    def crop(",
            "    def turn(self):\n"
            "        return View(self.cells, self.shape[::-1], self.strides[::-1], self.offset)\n\n"
            "    def crop(",
        ),
    ),
    patch(
        "flip gets a docstring",
        (
            "    def flip(self):\n",
            '    def flip(self):\n        """The columns in reverse order."""\n',
        ),
    ),
    patch(
        "The size of the face gets a name",
        ("def poster():", "FACE = 15, 8\n\n\ndef poster():"),
        ("half.crop(1, 1, 15, 8)", "half.crop(1, 1, *FACE)"),
        ("half.flip().crop(1, 1, 15, 8)", "half.flip().crop(1, 1, *FACE)"),
    ),
    patch(
        "The owl sits in the middle of its paper: a margin on both sides of a half",
        ("FACE = 15, 8", "FACE = 15, 7"),
        ("half.crop(1, 1, *FACE)", "half.crop(1, 2, *FACE)"),
    ),
    patch(
        "The owl winks",
        (
            "    return beside(left, right)",
            "    rows = beside(left, right)\n"
            "    for i in (4, 5, 6, 7, 8):\n"
            '        rows[i] = rows[i][:8] + (".###." if i == 6 else ".....") + rows[i][13:]\n'
            "    return rows",
        ),
    ),
    patch(
        "view: strip blank lines only, so that a row may contain blanks",
        ("lines = text.split()", 'lines = text.strip("\\n").split("\\n")'),
    ),
    patch(
        "cell, for one cell",
        (
            "    def row(self, i):",
            "    def cell(self, i, j):\n"
            "        down, right = self.strides\n"
            "        return self.cells[self.offset + i * down + j * right]\n\n"
            "    def row(self, i):",
        ),
    ),
    patch(
        "row uses cell",
        (
            "        down, right = self.strides\n"
            "        begin = self.offset + i * down\n"
            '        return "".join(self.cells[begin + j * right] for j in range(self.shape[1]))',
            '        return "".join(self.cell(i, j) for j in range(self.shape[1]))',
        ),
    ),
    patch(
        "Stop winking: nobody saw the joke",
        (
            "    rows = beside(left, right)\n"
            "    for i in (4, 5, 6, 7, 8):\n"
            '        rows[i] = rows[i][:8] + (".###." if i == 6 else ".....") + rows[i][13:]\n'
            "    return rows",
            "    return beside(left, right)",
        ),
    ),
    patch(
        "A frame around the poster",
        ("    return beside(left, right)", "    return framed(beside(left, right))"),
        (
            "FACE = 15",
            "def framed(rows):\n"
            '    line = "#" * (len(rows[0]) + 4)\n'
            '    return [line, *(f"# {row} #" for row in rows), line]\n\n\n'
            "FACE = 15",
        ),
    ),
    patch(
        "crop refuses what isn't inside",
        (
            "        begin = self.offset + top * down + left * right\n",
            "        if top + height > self.shape[0] or left + width > self.shape[1]:\n"
            '            raise ValueError("a crop has to be inside of its view")\n'
            "        begin = self.offset + top * down + left * right\n",
        ),
    ),
    patch(
        "cell has a docstring",
        (
            "    def cell(self, i, j):\n",
            '    def cell(self, i, j):\n        """The one in row i and column j."""\n',
        ),
    ),
    patch(
        "Paper inside of the frame, not blanks",
        ('f"# {row} #"', 'f"#.{row}.#"'),
    ),
    patch(
        "The same line for the first cell of a crop and for any cell: call it place",
        (
            "    def cell(self, i, j):",
            "    def place(self, i, j):\n"
            "        return self.ofset + i * self.shape[1] + j\n\n"
            "    def cell(self, i, j):",
        ),
        (
            "        begin = self.offset + top * down + left * right\n"
            "        return View(self.cells, (height, width), self.strides, begin)",
            "        return View(self.cells, (height, width), self.strides, self.place(top, left))",
        ),
        (
            "    def crop(self, top, left, height, width):\n        down, right = self.strides\n",
            "    def crop(self, top, left, height, width):\n",
        ),
    ),
    patch("A typing error: offset", ("self.ofset", "self.offset")),
    patch(
        "Say in crop's docstring what it refuses",
        (
            "    def crop(self, top, left, height, width):\n",
            "    def crop(self, top, left, height, width):\n"
            '        """A part of it. ValueError where that isn\'t inside."""\n',
        ),
    ),
    patch(
        "rows: a docstring",
        ("    def rows(self):\n", '    def rows(self):\n        """All of them, as texts."""\n'),
    ),
    patch(
        "cells may be any sequence, first half: the rest comes after lunch",
        ("        self.cells = cells\n", "        self.source = cells\n"),
    ),
    patch(
        "cells may be any sequence, second half",
        ("        return self.cells[", "        return self.source["),
        (
            "        end = self.offset + (self.shape[1] - 1) * right\n"
            "        return View(self.cells,",
            "        end = self.offset + (self.shape[1] - 1) * right\n"
            "        return View(self.source,",
        ),
        (
            "        return View(self.cells, self.shape[::-1]",
            "        return View(self.source, self.shape[::-1]",
        ),
        (
            "        return View(self.cells, (height, width)",
            "        return View(self.source, (height, width)",
        ),
    ),
    patch(
        "view gets a docstring",
        ("def view(text):\n", 'def view(text):\n    """All of a text, a row for each line."""\n'),
    ),
    patch(
        "beside gets a docstring",
        (
            "def beside(left, right):\n",
            'def beside(left, right):\n    """The rows of two views, joined."""\n',
        ),
    ),
    patch(
        "A second frame: it's a poster, after all",
        ("return framed(beside(left, right))", "return framed(framed(beside(left, right)))"),
    ),
    patch(
        "One frame was better",
        ("return framed(framed(beside(left, right)))", "return framed(beside(left, right))"),
    ),
    patch(
        "The ink is a setting",
        ("FACE = 15", 'INK = "#"\nFACE = 15'),
        ('line = "#" * (len(rows[0]) + 4)', "line = INK * (len(rows[0]) + 4)"),
        ('f"#.{row}.#"', 'f"{INK}.{row}.{INK}"'),
    ),
    patch(
        "poster has a docstring, too",
        ("def poster():\n", 'def poster():\n    """The owl, from the half that was drawn."""\n'),
    ),
    patch(
        "FACE says which is which",
        ("FACE = 15, 7", "FACE = 15, 7  # rows, columns"),
    ),
)
