"""How a graph is made to fit a screen: the mildest way of folding that is enough.

How large a picture will be is estimated from the lines on its nodes, so that its text is the same
with or without a layout program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tinyframe.viz.fold import folded, nearest, one_for_each_box
from tinyframe.viz.label import lines_of, wrapped
from tinyframe.viz.layout import MOST
from tinyframe.viz.nodes import Box, Node
from tinyframe.viz.repeats import repeated, side_by_side

LIMIT = 60  # nodes: more cannot be taken in at one look
SCREEN = 675.0  # points: 900 pixels, the height of a usual window
SMALLEST = 0.75  # of their size: smaller words are hard to read
WIDEST = 1100.0  # points, where a notebook has some 700 and scales what is wider
LINE, LETTER, MARGIN, BETWEEN, CAP = 13.2, 5.6, 22.0, 20.2, 25.0  # points, as `dot` has them


def fitted(nodes: list[Node], limit: int | None) -> list[Node]:
    """The nodes, folded if there are more than `limit` of them; without one, also if they would
    not fit a screen."""
    most = LIMIT if limit is None else limit

    def is_enough(drawn: list[Node]) -> bool:
        return len(drawn) <= most and (limit is not None or fits_a_screen(drawn))

    drawn = nodes
    for way in ways(nodes):
        if is_enough(drawn):
            return drawn
        drawn = way(drawn, is_enough)
    if is_enough(drawn):
        return drawn
    if limit is not None:
        return nearest(drawn, 3 * limit)
    return next(
        (cut for count in range(most, 2, -4) if fits_a_screen(cut := nearest(drawn, count))),
        nearest(drawn, 3),
    )


Way = Callable[[list[Node], Callable[[list[Node]], bool]], list[Node]]


def ways(nodes: list[Node]) -> list[Way]:
    """One after the other, each on what the one before gives, unless it begins anew."""
    by_kernel: list[Way] = []
    if any(node.box for node in nodes):
        by_kernel = [lambda drawn, is_enough: one_for_each_box(drawn)]
    return [
        repeated,
        lambda drawn, is_enough: folded(
            nodes
        ),  # anew: the trees in a layer are those outside of it
        *by_kernel,
        repeated,
        lambda drawn, is_enough: side_by_side(drawn),
        repeated,
    ]


def unfolded(nodes: list[Node]) -> list[Node]:
    """As they are, up to so many as can be laid out."""
    return nearest(nodes, MOST)


def fits_a_screen(nodes: Sequence[Node], widest: float = WIDEST) -> bool:
    """Whether words can still be read where the picture of these fits a screen, or a part of it."""
    if len(nodes) > 4 * LIMIT:
        return False
    width, height = extent_of(nodes)
    return height * SMALLEST <= SCREEN and width <= widest


def extent_of(nodes: Sequence[Node]) -> tuple[float, float]:
    """About how wide and how high these are drawn, in points."""
    sizes = [size_of(node) for node in nodes]
    rank = [0] * len(nodes)
    for number, node in enumerate(nodes):
        rank[number] = max((rank[s] + 1 for s in node.sources), default=0)
    for number in reversed(range(len(nodes))):  # what has no sources stands just above its users
        if not nodes[number].sources:
            below = [rank[n] for n, node in enumerate(nodes) if number in node.sources]
            rank[number] = min(below, default=1) - 1
    wide: dict[int, float] = {}
    high: dict[int, float] = {}
    for place, (width, height) in zip(rank, sizes, strict=True):
        wide[place] = wide.get(place, 0.0) + width + 13
        high[place] = max(high.get(place, 0.0), height)
    boxes = {node.box for node in nodes if node.box is not None}
    frames = sum(heading_height(box) + 24 for box in boxes)
    return max(wide.values(), default=0.0), sum(high.values()) + BETWEEN * len(high) + frames


def size_of(node: Node) -> tuple[float, float]:
    """About how wide and how high a node is, in points."""
    parts = list(lines_of(node))
    lines = [line for part, line in parts if part != "operand"]
    width = max(map(len, lines), default=0) * LETTER + MARGIN
    height = max(21.6, LINE * len(lines) + 7.2)
    if node.operands:
        height += 20.4
    if node.kind == "memory":  # a cylinder
        height += CAP
    return width, height


def heading_height(box: Box) -> float:
    return LINE * (1 + len(wrapped(box.words))) + 8
