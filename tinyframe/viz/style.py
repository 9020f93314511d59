"""`use_style()`: plots by matplotlib that look right on a light page and on a dark one.

from tinyframe.viz import use_style
use_style()
"""

from __future__ import annotations

from tinyframe.viz.drawing import MUTED

# Each at least 3:1 against white and against #111111. The dashes tell the lines apart without
# colour.
LINES = [
    ("#2f86d6", "-"),
    ("#d9480f", "--"),
    ("#2f9e44", "-."),
    ("#a05bd0", ":"),
    ("#a88100", (0, (5, 1))),
    ("#d6478f", (0, (3, 1, 1, 1))),
]
# Of tick labels along x and y: just above and just below half of full brightness. Where all labels
# of a transparent plot are dark, or all are light, a notebook puts a white or black slab behind it.
TICKS = ("#818181", "#7b7b7b")


def use_style() -> None:
    """Makes all plots from now on transparent, with grey words and with colours that can be read on
    any theme. ImportError, with what to install, where matplotlib is not."""
    try:
        import matplotlib as mpl
        from cycler import cycler
    except ImportError as error:
        raise ImportError("use_style() needs matplotlib: pip install matplotlib") from error
    colours, dashes = zip(*LINES, strict=True)
    mpl.rcParams.update(
        {
            "figure.facecolor": "none",
            "axes.facecolor": "none",
            "savefig.facecolor": "none",
            "legend.facecolor": "none",
            "legend.edgecolor": "none",
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
            "svg.hashsalt": "tinyframe",  # the ids in an SVG are the same on every run
        }
    )
