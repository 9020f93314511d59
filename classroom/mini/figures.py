"""A page of figures about a learner's own framework, to be sent to somebody.

    page = figures(learned, raced, climbed, painting)     # as a cell's last line it is drawn
    page.save("my_framework.html")                        # with the framework itself in it

It needs nothing but itself: no network, no fonts, no other file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from classroom.curves import PALE
from classroom.mini import joining, loader, stages
from classroom.mini.digits import Training
from classroom.mini.own_c import OPERATIONS, Climb, N, Painting, Race, Step, palette
from classroom.pages import filled
from classroom.speed import time_of
from tinyframe.nn.state import replacing
from tinyframe.viz.drawing import MUTED, PAGE, Drawing
from tinyframe.viz.kinds import ARROW
from tinyframe.viz.picture import DrawnPicture

LEFT, RIGHT, SQUARE = 22.0, 372.0, 316.0  # points: two columns, and the painting in the first
HIGH = 470.0


class Page(DrawnPicture):
    """source: the whole framework, as one file."""

    source: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page: as .html with the framework in it, and otherwise the picture, as SVG."""
        if Path(path).suffix != ".html":
            return super().save(path)
        text = filled(
            "figures.html", title=self.headline, svg=Markup(self.svg()), source=self.source,
            lines=len(stages.code_lines(self.source)),
        )  # fmt: skip
        with replacing(path) as temporary:
            Path(temporary).write_text(text, encoding="utf-8")
        return Path(path)


class Whose(NamedTuple):
    """The whole framework as one file, of so many lines of code. theirs: stages that are the
    learner's. written: lines of these that were left to write; without a learner, of all."""

    source: str
    lines: int
    theirs: int
    written: int

    @property
    def by(self) -> str:
        return "written by me" if self.theirs else "for a learner to write"


def of_framework() -> Whose:
    choices = loader.choose(stages.STAGES[-1])
    source = joining.joined(choices)
    theirs = [choice for choice in choices if choice.is_learners]
    written = sum(stages.lines_of(c.stage, c.path.read_text())[0] for c in theirs or choices)
    return Whose(source, len(stages.code_lines(source)), len(theirs), written)


def figures(
    learned: Mapping[str, Training],
    raced: Race,
    climbed: Climb,
    painting: Painting,
    in_python: Step | None = None,
) -> Page:
    """The page. learned: trainings, by what the network is. in_python: a step on the device that
    executes lines in Python."""
    whose = of_framework()
    title = "I wrote a deep-learning framework" if whose.theirs else "A deep-learning framework"
    sheet = Drawing()
    sheet.box(0, 0, PAGE, HIGH, PALE, ARROW, radius=10)
    sheet.words(LEFT, 44, title, 26, bold=True)
    given = whose.lines - whose.written
    sheet.words(LEFT, 66, f"{whose.lines} lines: {whose.written} {whose.by}, {given} given. "
                "It learns, and writes its own C.", 13)  # fmt: skip
    passed = f"{whose.theirs} of {len(stages.STAGES)} stages pass"
    passed = passed if whose.theirs else "the reference's stages"
    sheet.words(PAGE - LEFT, 44, passed, 12, anchor="end")

    pixels = np.rint(painting.brightness * 255)
    sheet.image(LEFT, 92, SQUARE, SQUARE, pixels, palette())
    sheet.paragraph(LEFT, 416, "A formula, painted by machine code from this framework in "
                    f"{time_of(painting.seconds['your C'])}.", SQUARE - LEFT, 12)  # fmt: skip

    best = max(learned.values(), key=lambda training: training.accuracy)
    steps = len(next(iter(learned.values())).losses)
    y = _large(sheet, 118, f"{best.accuracy:.1%}", f"of {len(best.labels)} handwritten digits that "
               "it had never seen, read right")  # fmt: skip
    sheet.words(RIGHT, y + 16, f"{steps} steps of learning to read:", 12)
    ways = {"line by line, in Python": in_python.seconds} if in_python else {}
    ways |= {name.replace("your", "my"): seconds for name, seconds in raced.seconds.items()}
    for name, seconds in ways.items():
        y += 20
        sheet.words(RIGHT, y + 18, duration(seconds * steps), 14, bold=True)
        sheet.words(RIGHT + 92, y + 18, name, 12)
    first = next(iter(climbed.seconds.values()), climbed.numpy)
    speeds = [OPERATIONS / seconds / 1e9 for seconds in (first, climbed.best)]
    y = _large(sheet, y + 62, f"{speeds[0]:.1f} → {speeds[1]:.0f} GFLOP/s",
               f"for a product of two matrices of {N} × {N}, after I'd rearranged its loops "
               f"(NumPy on one core: {OPERATIONS / climbed.numpy / 1e9:.0f})")  # fmt: skip

    text = "\n".join([
        "a page of figures: lines, stages, digits, seconds, GFLOP/s, and a painting",
        f"reads over 95% of the digits: {best.accuracy > 0.95}",
    ])  # fmt: skip
    page = Page(title, text, sheet)
    page.source = whose.source
    return page


def _large(sheet: Drawing, y: float, number: str, words: str) -> float:
    """A large number, and what it is; gives where that ends."""
    sheet.words(RIGHT, y + 10, number, 28, bold=True)
    return sheet.paragraph(RIGHT, y + 18, words, PAGE - RIGHT - 2 * LEFT, 12, colour=MUTED)


def duration(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds:.2f} s"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
