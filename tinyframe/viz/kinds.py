"""The kind of each op, and the look of each kind: a colour, and a shape for those who can't see it.

JupyterLab shows an SVG as an image, which does not know the page's theme. So text is dark and on a
light fill, whatever is behind the picture; outlines and arrows are dark enough for a white page and
light enough for a nearly black one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tinyframe.uop.node import GroupOp, Ops

TEXT = "#1b1b1b"
ARROW = "#7d7d7d"  # at least 3:1 on a white page and on a dark one
SLANT = 8.0  # points


@dataclass(frozen=True)
class Kind:
    """meaning: the text in the legend. fill, line: colours. style: more attributes for DOT.

    outline: corners as (x, y, slant) in a box from (0, 0) to (1, 1), each moved sideways by `slant`
    times SLANT points; empty for Graphviz's own shape. Its polygons would take twice the room.
    """

    meaning: str
    fill: str
    line: str
    style: dict[str, str] = field(default_factory=dict)
    outline: tuple[tuple[float, float, int], ...] = ()

    def corners(
        self, left: float, top: float, width: float, height: float, slant: float = SLANT
    ) -> str:
        """The points of the outline in a box, as SVG writes them. slant: in points."""
        return " ".join(
            f"{left + x * width + s * slant:.2f},{top + y * height:.2f}" for x, y, s in self.outline
        )


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
    "elementwise": Kind("elementwise", "#d3efd0", "#3a8538", {"style": "rounded,filled"}),
    "reduce": Kind("reduce", "#fbd0cf", "#bf4542", outline=FUNNEL),
    "control": Kind("loops and order", "#e4d8f5", "#7d56b8", outline=HEXAGON),
    "kernel": Kind("kernel", "#c9efea", "#1f8379", {"penwidth": "2.5"}),
    "folded": Kind("several ops", "#f7f7f7", "#707070", {"style": "filled,dashed"}),
}


# The look of a box around nodes: its line, and the fill of the bar behind its heading.
FRAMES = {"kernel": ("#1f8379", "#c9efea"), "side": ("#787878", "#ececec")}

# DETACH and FUSE return their source, like a movement op that moves nothing.
BY_KIND = {
    "memory": {Ops.BUFFER, *GroupOp.Defines},
    "access": {Ops.LOAD, Ops.STORE, Ops.INDEX, Ops.STAGE, Ops.COPY, Ops.CONTIGUOUS, Ops.ASSIGN,
               Ops.TAKE, Ops.FETCH, Ops.PLACE, Ops.FRAGMENT, Ops.ASYNC_COPY},
    "constant": {Ops.CONST, Ops.IOTA, Ops.DEFINE_VAR, Ops.BIND, Ops.UNIQUE, Ops.DEVICE},
    "movement": {*GroupOp.Movement, Ops.VECTORIZE, Ops.GEP, Ops.DETACH, Ops.FUSE},
    "elementwise": GroupOp.Elementwise | {Ops.MMA},  # of a warp, many at once
    "reduce": {Ops.REDUCE_AXIS, Ops.REDUCE, Ops.SCAN_AXIS, Ops.SCAN},
    "control": {Ops.SINK, Ops.RANGE, Ops.ENDRANGE, Ops.SPECIAL, Ops.BARRIER, Ops.COMMIT,
                Ops.WAIT, Ops.NOOP},
    "kernel": {Ops.KERNEL},
}  # fmt: skip

KIND_OF = {op: kind for kind, ops in BY_KIND.items() for op in ops}
