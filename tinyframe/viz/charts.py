"""matplotlib's charts as Pictures, and `use_style()` for your own plots.

from tinyframe.viz import use_style
use_style()
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from tinyframe.viz.drawing import MUTED, PAGE, xml
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import NoLayout, Picture

# Each has a contrast of at least 3:1 with white and with #111111. Dashes distinguish the lines
# without colour.
LINES = [
    ("#2f86d6", "-"),
    ("#d9480f", "--"),
    ("#2f9e44", "-."),
    ("#a05bd0", ":"),
    ("#a88100", (0, (5, 1))),
    ("#d6478f", (0, (3, 1, 1, 1))),
]
# Tick labels along x and y: just above and just below half brightness. If all labels of a
# transparent plot are dark, or all are light, a notebook puts a white or black slab behind it.
TICKS = ("#818181", "#7b7b7b")
ADVICE = "needs matplotlib: pip install 'tinyframe[course]'"
NOTE_LINE, NOTE_WIDTH = 12.0, 118  # a note's line height in points, and width in characters


def use_style() -> None:
    """Makes all plots from now on transparent, with grey text and with colours that work on light
    and dark themes. ImportError, with what to install, if matplotlib is missing."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError(f"use_style() {ADVICE}") from error
    mpl.rcParams.update(style())


def style() -> Any:
    """matplotlib's settings for this style, by name."""
    from cycler import cycler

    colours, dashes = zip(*LINES, strict=True)
    return {
        **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
        **dict.fromkeys(("legend.facecolor", "legend.edgecolor"), "none"),
        **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), MUTED),
        **dict(zip(("xtick.color", "ytick.color"), TICKS, strict=True)),
        "grid.color": MUTED,
        "axes.titlecolor": MUTED,
        "axes.prop_cycle": cycler(color=colours) + cycler(linestyle=dashes),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.alpha": 0.3,
        "lines.linewidth": 2,
        "font.family": "sans-serif",
        "figure.constrained_layout.use": True,
        "svg.hashsalt": "tinyframe",  # makes the ids in an SVG the same on every run
    }


SMALL: Any = {
    **dict.fromkeys(("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize"), 8.5),
    **dict.fromkeys(("legend.fontsize", "legend.title_fontsize"), 8.5),
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text
    "text.parse_math": False,  # a kernel's name may have a $
}


def name_rows(axes: Any, title: str, labels: Sequence[str], **settings: Any) -> None:
    """Gives axes a title, and a row for each label from the top down. settings: for `axes.set`."""
    axes.set_title(title)
    axes.set_yticks(range(len(labels)), labels)
    axes.set(**{"ylim": (len(labels) - 0.4, -0.6), **settings})


def left_out(count: int, drawn: int, word: str) -> list[str]:
    return [f"and {plural(count - drawn, word)} more: print() lists them all"] * (count > drawn)


def chart(
    headline: str,
    text: str,
    draw: Callable[[Any], None],
    height: float,
    notes: Sequence[str] = (),
) -> Picture:
    """A Picture as wide as a page. draw: puts axes on an empty Figure. height: that of the axes, in
    points. notes: paragraphs below them."""
    lines = [line for note in notes for line in textwrap.wrap(note, NOTE_WIDTH)]

    def svg() -> str:
        try:
            import matplotlib as mpl
            from matplotlib.figure import Figure
        except ImportError as error:
            raise NoLayout(f"a chart {ADVICE}") from error
        below = NOTE_LINE * len(lines)
        with mpl.rc_context({**style(), **SMALL}):
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
