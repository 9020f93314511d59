"""matplotlib's charts as Pictures, and `use_style()` for your own plots.

from tinyframe.viz import use_style
use_style()
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tinyframe.viz.drawing import PAGE, xml
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import NoLayout, Picture

# Each has a contrast of at least 3:1 with white and with #111111. Dashes distinguish the lines
# without colour. All else in the style is in two files beside this one.
LINES = [
    ("#2f86d6", "-"), ("#d9480f", "--"), ("#2f9e44", "-."), ("#a05bd0", ":"),
    ("#a88100", (0, (5, 1))), ("#d6478f", (0, (3, 1, 1, 1))),
]  # fmt: skip
HERE = Path(__file__).parent
ADVICE = "needs matplotlib: pip install 'tinyframe[course]'"
NOTE_LINE, NOTE_WIDTH = 12.0, 118  # a note's line height in points, and width in characters


def use_style() -> None:
    """Makes all plots from now on transparent, with grey text and with colours that work on light
    and dark themes. ImportError, with what to install, if matplotlib is missing."""
    try:
        from matplotlib import style
    except ImportError as error:
        raise ImportError(f"use_style() {ADVICE}") from error
    style.use(page_style())


def page_style() -> list[Any]:
    """What matplotlib's `style.use` takes."""
    from cycler import cycler

    colours, dashes = zip(*LINES, strict=True)
    lines = cycler(color=colours) + cycler(linestyle=dashes)
    return [HERE / "page.mplstyle", {"axes.prop_cycle": lines}]


def name_rows(axes: Any, title: str, labels: Sequence[str], **settings: Any) -> None:
    """Gives axes a title, and a row for each label from the top down. settings: for `axes.set`."""
    axes.set_title(title)
    axes.set_yticks(range(len(labels)), labels)
    axes.set(**{"ylim": (len(labels) - 0.4, -0.6), **settings})


def left_out(count: int, drawn: int, word: str) -> list[str]:
    return [f"and {plural(count - drawn, word)} more: print() lists them all"] * (count > drawn)


def chart(
    headline: str, text: str, draw: Callable[[Any], None], height: float, notes: Sequence[str] = ()
) -> Picture:
    """A Picture as wide as a page. draw: puts axes on an empty Figure. height: that of the axes, in
    points. notes: paragraphs below them."""
    lines = [line for note in notes for line in textwrap.wrap(note, NOTE_WIDTH)]

    def svg() -> str:
        try:
            from matplotlib import style
            from matplotlib.figure import Figure
        except ImportError as error:
            raise NoLayout(f"a chart {ADVICE}") from error
        below = NOTE_LINE * len(lines)
        with style.context([*page_style(), HERE / "chart.mplstyle"]):
            figure = Figure((PAGE / 72, (height + below) / 72))
            part = below / (height + below)
            figure.get_layout_engine().set(rect=(0, part, 1, 1 - part))  # type: ignore
            figure.text(0.005, 0.9 * part, "\n".join(lines), va="top", linespacing=1.15)
            draw(figure)
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
            for axes in figure.axes:  # the layout's last digits differ from run to run
                place: Any = [round(float(v), 4) for v in axes.get_position().bounds]
                axes.set_position(place)
            file = io.StringIO()
            figure.savefig(file, format="svg", metadata={"Date": None})
        _, _, source = file.getvalue().partition("<svg ")
        head, _, rest = source.partition(">")
        about = f"<title>{xml(headline)}</title><desc>{xml(text)}</desc>"
        return f'<svg role="img" aria-label="{xml(headline)}" {head}>{about}{rest}'

    return Picture(headline, text, svg)
