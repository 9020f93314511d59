"""Arrays drawn as grids of numbers, for lessons and for what is said of wrong answers.

    grids(a=a, doubled=a * 2)           arrays beside one another, each with its name and shape
    meet(column, row)                   how broadcasting stretches a column and a row
    dots(mask)                          a dot for each True
    shades(photo=photo)                 pictures in grey beside one another
    draw(function, n)                   what a function makes of n, as dots or in grey
    hills()                             elevations, for something to look at
    film(step, board, 40)               a board that moves, so many steps
    show_images(pixels, read, truth)    small pictures, and what was read in each

All of them compute the Tensors that they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.cbook import get_sample_data

from tinyframe import Tensor
from tinyframe.dtype import dtypes
from tinyframe.viz.drawing import MUTED, PAGE, Drawing, n, width_of
from tinyframe.viz.kinds import ARROW, MARKED
from tinyframe.viz.picture import DrawnPicture, Picture

HIGH = 21.0  # points, of a cell
NARROWEST = 24.0
GAP = 34.0  # points between two grids
TITLE = 32.0  # points above a grid, for its name and shape
MOST = 12  # rows and columns that are drawn
# Red, green, blue of the smallest number and of the largest.
PALE, DEEP = (247, 251, 255), (140, 190, 235)
INPUT_FILL, WRONG_FILL = "#f4f4f4", "#ffd8b0"
LIT, DARK = "#2f86d6", "#e9eef3"  # cells of a film
SMALL = 11.0  # points, of a cell in a film
PIXEL, ABREAST = 7.0, 8  # points, of a pixel; pictures in a row
DOT = 2.0  # points, of an element in a picture
GREYS = tuple(f"#{grey:02x}{grey:02x}{grey:02x}" for grey in range(256))
WIDEST = 420.0  # points, of a board in a film
PER_SECOND = 6  # steps of a film
LEGIBLE = 60  # columns of a board that are written out in its text
YOURS, ASKED = "yours", "what was asked for"

Panel = tuple[str, np.ndarray, np.ndarray | None]  # a name, numbers, and which of these are marked


def grids(**arrays: Any) -> Picture:
    """Arrays or Tensors beside one another, under their names."""
    panels: list[Panel] = [(name, values_of(x), None) for name, x in arrays.items()]
    return _picture(f"{len(panels)} arrays: {', '.join(arrays)}", panels, 0)


def meet(column: Any, row: Any) -> Picture:
    """A column, a row, and their product; what broadcasting stretches has a dashed border."""
    tall, wide = values_of(column), values_of(row)
    shape = np.broadcast_shapes(tall.shape, wide.shape)
    rows, columns = np.indices(shape)
    panels: list[Panel] = [
        ("the column, stretched", np.broadcast_to(tall, shape), np.asarray(columns > 0)),
        ("the row, stretched", np.broadcast_to(wide, shape), np.asarray(rows > 0)),
        ("their product", tall * wide, None),
    ]
    said = f"a column of {tall.size} and a row of {wide.size}, stretched to {shape}, and multiplied"
    return _picture(said, panels, 0, ghosts=True)


def example(inputs: Sequence[tuple[str, Any]], expected: np.ndarray) -> Picture:
    """What goes in, and what has to come out."""
    panels = [*_of_inputs(inputs), (ASKED, expected, None)]
    return _picture("an example: what goes in, and what has to come out", panels, len(inputs))


def side_by_side(
    inputs: Sequence[tuple[str, Any]], got: np.ndarray, expected: np.ndarray
) -> Picture:
    """What went in, what came out, and what should have; cells that differ have a thick border."""
    if got.shape == expected.shape:
        wrong = ~np.isclose(got.astype(float), expected.astype(float), rtol=1e-4, atol=1e-5)
        said = f"{int(wrong.sum())} of {wrong.size} elements are wrong"
    else:
        wrong = None
        said = f"the shape is {got.shape}; it should be {expected.shape}"
    panels = [*_of_inputs(inputs), (YOURS, got, wrong), (ASKED, expected, None)]
    return _picture(said, panels, len(inputs))


def dots(mask: Any) -> Picture:
    """A matrix of True and False, or 1 and 0, with a dot for each True."""
    lit = values_of(mask) != 0
    rows, columns = lit.shape
    sheet = Drawing()
    sheet.image(0, 0, columns * DOT, rows * DOT, lit, (DARK, LIT))
    said = f"{int(lit.sum())} of {lit.size} dots, in {rows} rows and {columns} columns"
    return DrawnPicture(said, said, sheet)


def shades(**pictures: Any) -> Picture:
    """Matrices as pictures in grey, side by side under their names: black for the smallest number
    of each, white for its largest. A Tensor, an array, or rows of numbers."""
    sheet, said, top = Drawing(), list[str](), 18.0
    for name, numbers in pictures.items():
        values = values_of(numbers).astype(float)
        low, high = values.min(), values.max()
        grey = np.rint((values - low) * (255 / ((high - low) or 1))).astype(int)
        rows, columns = grey.shape
        dot = min(3 * DOT, ((PAGE + GAP / 2) / len(pictures) - GAP / 2) / columns)
        x = sheet.width + (GAP / 2 if said else 0)
        sheet.words(x, 12, name, 11, colour=MUTED)
        sheet.image(x, top, columns * dot, rows * dot, grey, GREYS)
        said.append(f"{name}: {rows} × {columns} dots, from {_number(low)} to {_number(high)}")
    return DrawnPicture(f"{len(said)} pictures in grey", "\n".join(said), sheet)


def draw(function: Callable[..., Any], *inputs: Any) -> Picture | None:
    """What a function makes of these, as a picture: dots for True and False, else in grey. Where
    it makes no matrix yet, it says so."""
    made = function(*inputs)
    if not isinstance(made, Tensor) or len(made.shape) != 2:
        print("Nothing to draw yet: the function does not return a Tensor with rows and columns.")
        return None
    return dots(made) if made.dtype == dtypes.bool else shades(**{function.__name__: made})


def hills() -> np.ndarray:
    """How high the land around Jacksboro in Tennessee is, in metres: 240 rows of 300 points. (From
    matplotlib's sample data, a part of the elevations that the US Geological Survey measured.)"""
    data: Any = get_sample_data("jacksboro_fault_dem.npz")
    return np.asarray(data["elevation"][:240, :300], np.float32)


def film(step: Callable[[Tensor], Any], board: Tensor, steps: int) -> Picture | None:
    """A board of 0 and 1 that moves: so many steps, and then from the start again. Where `step`
    gives no board yet, it says so."""
    boards = [board]
    for _ in range(steps):
        found = step(boards[-1])
        if not isinstance(found, Tensor) or found.shape != board.shape:
            print("Nothing to draw yet: the function does not return a board of the same shape.")
            return None
        boards.append(found.cast(board.dtype).realize())
    frames = [each.numpy() != 0 for each in boards]
    lines = [f"a board, for {steps} steps"]
    for name, frame in (("at first", frames[0]), (f"after {steps} steps", frames[-1])):
        if frame.shape[1] > LEGIBLE:
            lines.append(f"{name}, {int(frame.sum())} of {frame.size} cells are alive")
        else:
            lines += [name, *("".join(".#"[int(cell)] for cell in row) for row in frame)]
    return DrawnPicture(lines[0], "\n".join(lines), _moving(frames))


def _moving(frames: Sequence[np.ndarray]) -> Drawing:
    """Frames below one another on a strip, which jumps up behind a window as high as one."""
    count, (rows, columns) = len(frames), frames[0].shape
    cell = min(SMALL, WIDEST / columns)
    wide, high = columns * cell, rows * cell
    strip, window = Drawing(), Drawing()
    strip.image(0, 0, wide, count * high, np.concatenate(frames), (DARK, LIT))
    up = f"to {{ transform: translateY(-{n(count * high)}px) }}"
    plays = f"animation: film {n(count / PER_SECOND)}s steps({count}) infinite"
    window.parts.append(
        f"<style>@keyframes film {{ {up} }} .strip {{ {plays} }} "
        "@media (prefers-reduced-motion: reduce) { .strip { animation: none } }</style>"
        f'<svg width="{n(wide)}" height="{n(high)}"><g class="strip">{strip.parts[0]}</g></svg>'
    )
    window.box(0, 0, wide, high, "none", radius=0, thick=0.75)
    return window


def show_images(pixels: Any, read: Any, truth: Any) -> Picture:
    """Small pictures in grey, each with what was read in it; where that is wrong, what it is."""
    sheet, names = Drawing(), list[str]()
    pixels = values_of(pixels)
    darkness = pixels / max(pixels.max(), 1e-9)
    for image, said, right in zip(darkness, values_of(read), values_of(truth), strict=True):
        grey = image.reshape(image.shape[-2:])
        down, along = divmod(len(names), ABREAST)
        names.append(str(said) if said == right else f"{said}, not {right}")
        drawn = _image(names[-1], grey, wrong=said != right)
        sheet.put(drawn, along * (grey.shape[1] * PIXEL + GAP / 2), down * (drawn.height + GAP / 3))
    return DrawnPicture(f"{len(names)} pictures", f"read: {'; '.join(names)}", sheet)


def values_of(x: Any) -> np.ndarray:
    """The numbers of a Tensor, an array, rows of numbers, or an Array of mini."""
    if hasattr(x, "at") and hasattr(x, "tolist"):
        return np.reshape(x.tolist(), x.shape)
    return x.numpy() if isinstance(x, Tensor) else np.asarray(x)


def _of_inputs(inputs: Sequence[tuple[str, Any]]) -> list[Panel]:
    return [(name, np.asarray(value), None) for name, value in inputs]


def _picture(said: str, panels: list[Panel], inputs: int, ghosts: bool = False) -> Picture:
    """Panels in rows as wide as a page; the first `inputs` are grey, with an arrow after them."""
    sheet = Drawing()
    x, y, below = 0.0, 0.0, 0.0
    shades = _Shades([numbers for _, numbers, _ in panels[inputs:]])
    for place, (name, numbers, marks) in enumerate(panels):
        grid = _grid(name, numbers, marks, shades if place >= inputs else None, ghosts)
        if x and x + grid.width > PAGE:
            x, y = 0.0, below + GAP / 2
        sheet.put(grid, x, y)
        below = max(below, y + grid.height)
        x += grid.width
        if place == inputs - 1:
            middle = y + TITLE + HIGH / 2
            sheet.line([(x + 8, middle), (x + GAP, middle)], arrow=True)
            x += 14
        x += GAP
    text = "\n".join([said, *[_as_text(name, numbers) for name, numbers, _ in panels]])
    return DrawnPicture(said, text, sheet)


class _Shades:
    """A fill for each number: the larger, the deeper."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        values = np.concatenate([a.astype(float).ravel() for a in arrays])
        values = values[np.isfinite(values)]
        self.low = float(values.min(initial=0))
        self.span = float(values.max(initial=0)) - self.low or 1.0

    def __call__(self, value: float) -> str:
        part = (value - self.low) / self.span if np.isfinite(value) else 0.0
        mixed = [round(p + (d - p) * part) for p, d in zip(PALE, DEEP, strict=True)]
        return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _grid(
    name: str, numbers: np.ndarray, marks: np.ndarray | None, shades: _Shades | None, ghosts: bool
) -> Drawing:
    """One array: a row for a vector, a matrix for two axes; of more, matrices on top of each other.

    ghosts: marks are copies, with a dashed border; else they are mistakes."""
    sheet = Drawing()
    sheet.words(0, 10, name, 11, colour=MUTED, bold=True)
    if numbers.ndim or shades:  # an input without axes is a Python number
        sheet.words(0, 24, f"shape {numbers.shape}", 10, colour=MUTED)
    rows = _as_matrix(numbers)
    words = [[_number(value) for value in row[:MOST]] for row in rows[:MOST]]
    wide = max([NARROWEST, *(width_of(word) + 9 for row in words for word in row)])
    marked = _as_matrix(marks) if marks is not None else np.zeros(rows.shape, bool)
    places = [(r, c) for r, row in enumerate(words) for c in range(len(row))]
    for r, c in sorted(places, key=lambda at: bool(marked[at])):  # thick borders last, on top
        wrong = bool(marked[r, c]) and not ghosts
        fill = shades(float(rows[r, c])) if shades else INPUT_FILL
        sheet.box(
            c * wide, TITLE + r * HIGH, wide, HIGH, WRONG_FILL if wrong else fill,
            MARKED["color"] if wrong else ARROW, [words[r][c]], radius=0,
            thick=2.5 if wrong else 0.75, dashed=ghosts and bool(marked[r, c]),
        )  # fmt: skip
    if rows.shape[0] > MOST or rows.shape[1] > MOST:
        sheet.words(0, TITLE + len(words) * HIGH + 14, "… and more", 11, colour=MUTED)
    return sheet


def _image(name: str, grey: np.ndarray, wrong: bool) -> Drawing:
    """Pixels from 0 to 1, dark on a light ground, under a name; what was misread has a border."""
    sheet, top = Drawing(), 18.0
    rows, columns = grey.shape
    sheet.words(0, 12, name, 11, colour=MUTED, bold=wrong)
    sheet.box(0, top, columns * PIXEL, rows * PIXEL, "#ffffff", "#ffffff", radius=0, thick=0)
    for (r, c), value in np.ndenumerate(grey):
        if value:
            shade = "#" + 3 * f"{round((1 - value) * 255):02x}"
            sheet.box(c * PIXEL, top + r * PIXEL, PIXEL, PIXEL, shade, shade, radius=0, thick=0)
    if wrong:
        sheet.box(
            0, top, columns * PIXEL, rows * PIXEL, "none", MARKED["color"], radius=0, thick=2.5
        )
    return sheet


def _as_matrix(numbers: np.ndarray) -> np.ndarray:
    return numbers.reshape(-1, numbers.shape[-1]) if numbers.ndim else numbers.reshape(1, 1)


def _number(value: Any) -> str:
    return f"{float(value):.4g}"


def _as_text(name: str, numbers: np.ndarray) -> str:
    rows = [" ".join(f"{_number(v):>4}" for v in row[:MOST]) for row in _as_matrix(numbers)[:MOST]]
    return "\n".join([f"{name}, shape {numbers.shape}", *[f"  {row}" for row in rows]])
