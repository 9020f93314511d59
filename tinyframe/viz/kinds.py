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
    """fill, line: colours. shape, and what else `style` says: attributes of the DOT language."""

    meaning: str  # what the legend says
    fill: str
    line: str
    shape: str
    style: dict[str, str] = field(default_factory=dict)


KINDS = {
    "memory": Kind("memory", "#ffdf9e", "#a06a00", "cylinder"),
    "access": Kind("load, store", "#fff3d0", "#a06a00", "cds"),
    "constant": Kind("constant", "#e6e6e6", "#707070", "ellipse"),
    "movement": Kind("movement", "#cfe6fa", "#2f78b7", "parallelogram"),
    "elementwise": Kind("elementwise", "#d3efd0", "#3a8538", "box", {"style": "rounded,filled"}),
    "reduce": Kind("reduce", "#fbd0cf", "#bf4542", "invtrapezium"),
    "control": Kind("order, loops", "#e4d8f5", "#7d56b8", "hexagon"),
    "kernel": Kind("kernel", "#c9efea", "#1f8379", "box", {"penwidth": "2.5"}),
    "folded": Kind("several ops", "#f7f7f7", "#707070", "box", {"style": "filled,dashed"}),
}

# DETACH gives what it is given, and CONTIGUOUS too: they only say what is done with it.
BY_KIND = {
    "memory": {Ops.BUFFER, *GroupOp.Defines},
    "access": {Ops.LOAD, Ops.STORE, Ops.INDEX, Ops.STAGE, Ops.COPY, Ops.CONTIGUOUS, Ops.ASSIGN},
    "constant": {Ops.CONST, Ops.IOTA, Ops.DEFINE_VAR, Ops.BIND, Ops.UNIQUE, Ops.DEVICE},
    "movement": {*GroupOp.Movement, Ops.VECTORIZE, Ops.GEP},
    "elementwise": GroupOp.Elementwise,
    "reduce": {Ops.REDUCE_AXIS, Ops.REDUCE},
    "control": {Ops.SINK, Ops.RANGE, Ops.ENDRANGE, Ops.IF, Ops.ENDIF, Ops.SPECIAL, Ops.BARRIER,
                Ops.NOOP, Ops.DETACH},
    "kernel": {Ops.KERNEL},
}  # fmt: skip

KIND_OF = {op: kind for kind, ops in BY_KIND.items() for op in ops}
