"""The loss of trainings, drawn, and a card to show to somebody.

curves(right=right, mine=mine)     # Trainings of classroom/rows.py, under these names
card(broken, mended)               # both, the rows that did it, and what each network reads

`python -m classroom.curves` draws the moving picture of README.md, docs/break_it.svg.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from classroom.grids import show_images
from classroom.rows import Row, Training, data, train
from tinyframe.viz.charts import LINES
from tinyframe.viz.drawing import MUTED, PAGE, Drawing, n, wrapped
from tinyframe.viz.kinds import ARROW
from tinyframe.viz.picture import DrawnPicture, Picture

WIDE, HIGH = 372.0, 180.0  # points, of the area that curves are drawn in
LEFT, ABOVE, BELOW = 30.0, 18.0, 32.0  # points around it, for words and numbers
OURS = 504  # the worst loss that one of us made, with a row for MUL
HIGHEST = 5.0  # a loss above this leaves the picture: chance is 2.3
# The third is a broad band behind the others, since it may lie right on one of them.
LOOKS = ('stroke-width="2.2"', 'stroke-width="2.2" stroke-dasharray="7 3"',
         'stroke-width="8" opacity="0.4"')  # fmt: skip
PALE, BROKEN, MENDED = "#fdfcf7", "#fde3d3", "#d9ecfb"  # fills of a card
GREYS = [f"#{3 * f'{round(255 - 255 * shade / 16):02x}'}" for shade in range(17)]
PIXELS, CODE_LINES = 36.0, 3  # points, of a digit on a card; lines of a row's code


def curves(**trainings: Training) -> Picture | None:
    """The loss of each, step by step, with how many of the test digits it reads right."""
    drawn = {name: each for name, each in trainings.items() if each.losses}
    if not drawn:
        print("Nothing to draw yet.")
        return None
    sheet = _chart(drawn)
    sheet.width = PAGE
    for number, (name, each) in enumerate(drawn.items()):
        x, y = LEFT + WIDE + 30, ABOVE + 14 + 62 * number
        _curve(sheet, [(x, y - 4), (x + 26, y - 4)], number)
        sheet.words(x + 34, y, name, 13, bold=True, colour=LINES[number][0])
        sheet.words(x, y + 17, _loss(each), 11, colour=MUTED)
        sheet.words(x, y + 32, f"{each.accuracy:.0%} of test digits right", 11, colour=MUTED)
    text = "\n".join(f"{name}: {each!r}" for name, each in drawn.items())
    return DrawnPicture(f"the loss over {_steps(drawn)} steps: {', '.join(drawn)}", text, sheet)


def worst(training: Training) -> None:
    """The largest loss of a training, beside the largest that we got with a row of our own."""
    losses = [loss for loss in training.losses if math.isfinite(loss)]
    if not losses:
        print("Nothing to compare yet.")
    elif len(losses) < len(training.losses):
        print("It isn't even a number any more. You win.")
    else:
        print(f"Your worst loss: {max(losses):.0f}. Mine: {OURS}.")


def reads(training: Training) -> Picture | None:
    """Sixteen test digits, and what the network reads in each."""
    if not training.losses:
        print("Nothing to draw yet.")
        return None
    return show_images(data().images[:16], training.read[:16], data().labels[:16])


def card(broken: Training, mended: Training) -> Picture | None:
    """Two rows that the learner wrote, what each did, and what the two networks read now.

    card(broken, mended).save("my_card.svg") writes it next to the notebook.
    """
    if not (broken.losses and mended.losses and broken.rows and mended.rows):
        print("Your card is still empty: it shows the rows that you write in 1.1 and 1.2.")
        return None
    sheet, names = Drawing(), {"broken": broken, "mended": mended}
    sheet.words(20, 38, _headline(broken, mended), 22, bold=True)
    sheet.words(20, 58, f"{_steps(names)} steps of learning to read, twice.", 12)
    _half(sheet, 20.0, "broken", broken, BROKEN)
    _half(sheet, PAGE / 2 + 6, "mended", mended, MENDED)
    sheet.put(_chart({"mended": mended, "broken": broken}), 20, 196)
    _strip(sheet, LEFT + WIDE + 60, 200, broken, mended)
    high = 196 + ABOVE + HIGH + BELOW + 10
    back = Drawing()
    back.box(0, 0, PAGE, high, PALE, ARROW, radius=10)
    back.put(sheet, 0, 0)
    text = "\n".join(
        f"{name}: {op} {' '.join(code_of(row))}: {each!r}"
        for name, each in names.items()
        for op, row in each.rows.items()
    )
    return DrawnPicture("a card: a network, broken and mended", text, back)


def code_of(row: Row) -> list[str]:
    """The lines of a row without its head, docstring and comments; of a lambda what it returns."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(row)))
    except (OSError, TypeError, SyntaxError):  # not written in a file or a cell
        return ["a row of my own"]
    nodes = [*ast.walk(tree)]
    lambdas = [node for node in nodes if isinstance(node, ast.Lambda)]
    if row.__name__ == "<lambda>" and len(lambdas) == 1:
        return [_plain(lambdas[0].body)]
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and node.name == row.__name__:
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            return [_plain(line) for statement in body for line in _lines(statement)]
    return ["a row of my own"]


def _lines(statement: ast.stmt) -> list[ast.AST | str]:
    if isinstance(statement, ast.Return) and statement.value is not None:
        return [statement.value]
    return list(ast.unparse(statement).splitlines())


def _plain(code: ast.AST | str) -> str:
    """Code as text; a tuple without its brackets."""
    if isinstance(code, ast.Tuple):
        return ", ".join(ast.unparse(item) for item in code.elts)
    return code if isinstance(code, str) else ast.unparse(code)


def _headline(broken: Training, mended: Training) -> str:
    if broken.learned or not mended.learned:
        return "I rewrote two rules of a framework"
    short = sum(len(code_of(row)) for row in broken.rows.values()) == 1
    return f"I broke a neural network with {'one line' if short else 'a few lines'}"


def _half(sheet: Drawing, x: float, name: str, each: Training, fill: str) -> None:
    """A box: the row, how many digits are read right with it, and the loss."""
    width, top, high = PAGE / 2 - 26, 72.0, 112.0
    sheet.box(x, top, width, high, fill, fill, radius=8)
    op, row = next(iter(each.rows.items()))
    sheet.words(x + 12, top + 20, f"{op} sends back", 11)
    code = [piece for line in code_of(row) for piece in wrapped(line, width - 24, 12, mono=True)]
    shown = code if len(code) <= CODE_LINES else [*code[: CODE_LINES - 1], "…"]
    for number, line in enumerate(shown):
        sheet.words(x + 12, top + 37 + 15 * number, line, 12, bold=True, mono=True)
    known = Drawing()
    known.words(x + 12, top + high - 12, f"{each.accuracy:.0%}", 26, bold=True)
    known.words(x + 84, top + high - 22, "of the digits right", 11)
    known.words(x + 84, top + high - 8, _loss(each), 11)
    sheet.put(known, 0, 0, f"{name} known")


def _strip(sheet: Drawing, x: float, y: float, broken: Training, mended: Training) -> None:
    """Some test digits, one of each kind where possible, and what both networks read in them."""
    first = [int(np.argmax(data().labels == digit)) for digit in (3, 0, 8, 6, 5)]
    sheet.words(x + 66, y + 8, "broken", 11, anchor="middle", colour=LINES[1][0], bold=True)
    sheet.words(x + 140, y + 8, "mended", 11, anchor="middle", colour=LINES[0][0], bold=True)
    images, tops = data().images.numpy(), [y + 16 + (PIXELS + 5) * n for n in range(len(first))]
    for place, top in zip(first, tops, strict=True):
        _digit(sheet, x - 22, top, np.rint(images[place].reshape(8, 8) * 16))
    for name, at, each in (("broken", 66, broken), ("mended", 140, mended)):
        column = Drawing()
        for place, top in zip(first, tops, strict=True):
            column.words(x + at, top + 26, str(each.read[place]), 22, anchor="middle", bold=True)
        sheet.put(column, 0, 0, f"{name} known")


def _digit(sheet: Drawing, x: float, y: float, pixels: np.ndarray) -> None:
    """Pixels from 0 to 16, as shapes: not every page shows an image inside of a picture."""
    side = PIXELS / len(pixels)
    for shade in map(int, np.unique(pixels)):
        corners = zip(*np.nonzero(pixels == shade), strict=True)
        squares = "".join(
            f"M{n(x + side * j)} {n(y + side * i)}h{n(side)}v{n(side)}h-{n(side)}z"
            for i, j in corners
        )
        look = f'fill="{GREYS[shade]}" shape-rendering="crispEdges"'
        sheet.parts.append(f'<path d="{squares}" {look}/>')
    sheet.box(x, y, PIXELS, PIXELS, "none", radius=0, thick=0.75)


def _chart(trainings: Mapping[str, Training]) -> Drawing:
    """A curve for each over two axes; one that leaves the picture says so where it does."""
    sheet, steps = Drawing(), _steps(trainings)
    known = [loss for each in trainings.values() for loss in each.losses if math.isfinite(loss)]
    top = min(HIGHEST, max([2.5, *known]) * 1.05)
    for loss in range(int(top) + 1):
        y = ABOVE + HIGH - HIGH * loss / top
        sheet.words(LEFT - 6, y + 4, str(loss), 10, anchor="end", colour=MUTED)
        _curve(sheet, [(LEFT, y), (LEFT + WIDE, y)])
    for step in range(0, steps + 1, 20):
        x = LEFT + WIDE * step / steps
        sheet.words(x, ABOVE + HIGH + 14, str(step), 10, anchor="middle", colour=MUTED)
    sheet.words(LEFT + WIDE / 2, ABOVE + HIGH + 28, "step", 11, anchor="middle", colour=MUTED)
    sheet.words(LEFT - 14, 10, "loss", 11, colour=MUTED)
    for number, (name, each) in reversed([*enumerate(trainings.items())]):
        curve = Drawing()
        inside, end = _inside(each.losses, top)
        across = [LEFT + WIDE * (step + 0.5) / steps for step in range(len(inside))]
        points = [
            (x, ABOVE + HIGH - HIGH * loss / top) for x, loss in zip(across, inside, strict=True)
        ]
        _curve(curve, points, number)
        if end:
            x, y = points[-1]
            side = "end" if x > LEFT + WIDE * 0.6 else "start"
            x += -8 if side == "end" else 8
            curve.words(x, max(y - 6, ABOVE + 10), end, 11, anchor=side, colour=LINES[number][0])
        sheet.put(curve, 0, 0, name)
    return sheet


def _inside(losses: Sequence[float], top: float) -> tuple[list[float], str]:
    """The losses up to where the curve leaves the picture, and why it does; "" if it stays."""
    for step, loss in enumerate(losses):
        if not math.isfinite(loss):
            return [*losses[:step]], "not a number from here on"
        if loss > top:
            return [*losses[:step], top], "up and away"
    return [*losses], ""


def _curve(sheet: Drawing, points: list[tuple[float, float]], number: int | None = None) -> None:
    """A line in the look of this number; a thin grey one where there is none."""
    look = f'stroke="{ARROW}" stroke-width="0.5" opacity="0.5"'
    if number is not None:
        look = f'stroke="{LINES[number][0]}" stroke-linejoin="round" {LOOKS[number % len(LOOKS)]}'
    path = " ".join(f"{n(x)},{n(y)}" for x, y in points)
    sheet.parts.append(f'<polyline points="{path}" fill="none" {look}/>')


def _steps(trainings: Mapping[str, Training]) -> int:
    return max(len(each.losses) for each in trainings.values())


def _loss(each: Training) -> str:
    first, last = each.losses[0], each.losses[-1]
    return f"loss {first:.2f} → {f'{last:.2f}' if math.isfinite(last) else 'not a number'}"


# ---- the picture of README.md --------------------------------------------------------------------

# When each network is trained and when it has been, in percent of the seconds that it all takes.
SECONDS, TRAINED = 12, {"broken": (6, 36), "mended": (46, 76)}
BEGINS = 9.5  # seconds: with everything there, so that nobody sees a picture that isn't


def moving(broken: Training, mended: Training) -> str:
    """The card as an SVG that moves, once: one network is trained and read with, then the other.

    CSS moves it, so it plays in an `<img>`. Whoever asked for less motion sees its end.
    """
    picture = card(broken, mended)
    assert picture is not None
    moves = [
        f".{name}{{animation:{name} {SECONDS}s linear -{BEGINS}s 2}}"
        f"@keyframes {name}{{0%,{start}%{{clip-path:inset(-9px 100% -9px 0)}}"
        f"{end}%,100%{{clip-path:inset(-9px)}}}}"
        f".{name}.known{{animation-name:{name}-known}}@keyframes {name}-known"
        f"{{0%,{end - 1}%{{opacity:0}}{end}%,100%{{opacity:1}}}}"
        for name, (start, end) in TRAINED.items()
    ]
    still = "@media (prefers-reduced-motion:reduce){.broken,.mended{animation:none}}"
    return picture.svg().replace("</desc>", f"</desc><style>{''.join(moves)}{still}</style>")


def main() -> None:
    def broken_row(grad):
        return grad, -grad

    def right_row(grad):
        return grad, grad

    place = Path(__file__).resolve().parents[1] / "docs" / "break_it.svg"
    place.write_text(moving(train(ADD=broken_row), train(ADD=right_row)))


if __name__ == "__main__":
    main()
