"""What kind of thing each op is, and how that kind looks: a colour, and a shape that says the same.

The fills are light and the text on them dark, whatever is behind the picture: JupyterLab shows an
SVG as an image, which does not know the page's theme. So all text stands on a fill, and outlines
and arrows are dark enough for a white page and light enough for a nearly black one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tinyframe.uop.node import GroupOp, Ops

TEXT = "#1b1b1b"
ARROW = "#7d7d7d"  # at least 3:1 against a white page and against a dark one


@dataclass(frozen=True)
class Kind:
    """meaning: what the legend says. fill, line: colours. style: more of the DOT language.

    outline: corners as (x, y, slant) in a box from (0, 0) to (1, 1), each moved sideways by `slant`
    times SLANT points. Graphviz's own polygons take twice the room; empty where its shape is kept.
    """

    meaning: str
    fill: str
    line: str
    style: dict[str, str] = field(default_factory=dict)
    outline: tuple[tuple[float, float, int], ...] = ()

    def corners(
        self, left: float, top: float, width: float, height: float, slant: float | None = None
    ) -> str:
        """The points of the outline in a box, as SVG writes them. slant: in points, else SLANT."""
        slant = SLANT if slant is None else slant
        return " ".join(
            f"{left + x * width + s * slant:.2f},{top + y * height:.2f}" for x, y, s in self.outline
        )


SLANT = 8  # points
ROUNDED, DASHED = {"style": "rounded,filled"}, {"style": "filled,dashed"}
THICK = {"penwidth": "2.5"}
MARKED_TEXT = "#a33a00"
MARKED = {"color": "#e8590c", "penwidth": "3"}  # at least 3:1 on both pages
ARROW_RIGHT = ((0, 0, 0), (1, 0, -1), (1, 0.5, 0), (1, 1, -1), (0, 1, 0))
SLANTED = ((0, 0, 1), (1, 0, 0), (1, 1, -1), (0, 1, 0))
FUNNEL = ((0, 0, 0), (1, 0, 0), (1, 1, -1), (0, 1, 1))
HEXAGON = ((0, 0, 1), (1, 0, -1), (1, 0.5, 0), (1, 1, -1), (0, 1, 1), (0, 0.5, 0))

KINDS = {
    "memory": Kind("memory", "#ffdf9e", "#a06a00", {"shape": "cylinder"}),
    "access": Kind("load and store", "#fff3d0", "#a06a00", outline=ARROW_RIGHT),
    "constant": Kind("constant", "#e6e6e6", "#707070", {"shape": "ellipse"}),
    "movement": Kind("movement", "#cfe6fa", "#2f78b7", outline=SLANTED),
    "elementwise": Kind("elementwise", "#d3efd0", "#3a8538", ROUNDED),
    "reduce": Kind("reduce", "#fbd0cf", "#bf4542", outline=FUNNEL),
    "control": Kind("loops and order", "#e4d8f5", "#7d56b8", outline=HEXAGON),
    "kernel": Kind("kernel", "#c9efea", "#1f8379", THICK),
    "folded": Kind("several ops", "#f7f7f7", "#707070", DASHED),
}


@dataclass(frozen=True)
class Frame:
    """How a box around nodes looks: its line, and the fill of the bar with its heading, on which
    the words stand. style: more of the DOT language."""

    line: str
    bar: str
    style: str = "rounded"


FRAMES = {
    "kernel": Frame("#1f8379", "#c9efea"),
    "side": Frame("#787878", "#ececec"),
}

# DETACH and FUSE give what they are given, as a movement op does that leaves all in its place.
BY_KIND = {
    "memory": {Ops.BUFFER, *GroupOp.Defines},
    "access": {Ops.LOAD, Ops.STORE, Ops.INDEX, Ops.STAGE, Ops.COPY, Ops.CONTIGUOUS, Ops.ASSIGN},
    "constant": {Ops.CONST, Ops.IOTA, Ops.DEFINE_VAR, Ops.BIND, Ops.UNIQUE, Ops.DEVICE},
    "movement": {*GroupOp.Movement, Ops.VECTORIZE, Ops.GEP, Ops.DETACH, Ops.FUSE},
    "elementwise": GroupOp.Elementwise | {Ops.MMA},  # of a warp, many at once
    "reduce": {Ops.REDUCE_AXIS, Ops.REDUCE},
    "control": {Ops.SINK, Ops.RANGE, Ops.ENDRANGE, Ops.SPECIAL, Ops.BARRIER, Ops.NOOP},
    "kernel": {Ops.KERNEL},
}  # fmt: skip

KIND_OF = {op: kind for kind, ops in BY_KIND.items() for op in ops}
