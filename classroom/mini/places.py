"""Where an element of one of mini's views is in memory, and how stage 7a tidies that up.

    place(x.permute(1, 0), i, j)     # a node: what stage 5's index rules make of loop counters
    draw_rounds(place(…))            # the same node, round after round of graph_rewrite

`i`, `j` and `k` are the counters 0, 1 and 2, whichever names they have in the notebook. `mini` has
to be importable, up to the stage in question: `use_mini("7a")`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from classroom.mini.functions.part7a.shared import plain as written
from tinyframe.viz.drawing import MUTED, PAGE, Drawing, width_of, wrapped
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import DrawnPicture, Picture

__all__ = ["draw_rounds", "place", "rounds", "written"]

MOST = 12  # rounds that are drawn
SIZE, LINE, LEFT = 9.5, 13.0, 84.0  # points: of the text, from line to line, where boxes begin
MESS, TIDY = "#fdebd0", "#d3efd0"


def place(view: Any, *index: Any) -> Any:
    """The place in memory of an element of a view, a Tensor of mini with nothing to compute in it:
    a node, made by the learner's own rules of stages 3 and 5 from an index of counters."""
    part3, part4, part5 = (importlib.import_module(f"mini.part{n}") for n in (3, 4, 5))
    node = view.uop
    while node.op in part5.SOURCE_INDEX:
        index = part5.SOURCE_INDEX[node.op](index, node.src[0].shape, node.arg)
        node = node.src[0]
    return part4.UOp(part4.Ops.CONST, (), 0) + part3.flat(index, node.shape)


def rounds(root: Any) -> Iterator[Any]:
    """A node, and what each round of the learner's graph_rewrite makes of it, until it stays."""
    part7a = importlib.import_module("mini.part7a")
    rules = part7a.all_rules()
    for _ in range(MOST):
        yield root
        new = part7a.walk(root, lambda node: part7a.rewrite(node, rules))
        if new is root:
            return
        root = new


def draw_rounds(root: Any) -> Picture:
    """A node after each round, with the number of its nodes."""
    sheet, lines, top = Drawing(), list[str](), 0.0
    steps = [(written(node), len(node.toposort())) for node in rounds(root)]
    for number, (text, nodes) in enumerate(steps):
        title = f"round {number}" if number else "before"
        shown = wrapped(text, PAGE - LEFT - 16, SIZE, mono=True)
        wide = max(width_of(line, SIZE, mono=True) for line in shown) + 14
        fill = TIDY if number == len(steps) - 1 else MESS
        sheet.words(0, top + 12, title, 11, bold=True, colour=MUTED)
        sheet.words(0, top + 25, plural(nodes, "node"), 10, colour=MUTED)
        high = max(LINE * len(shown) + 6, 26.0)
        sheet.box(LEFT, top, wide, high, fill)
        first = top + (high - LINE * len(shown)) / 2 - 3.5
        for line_number, line in enumerate(shown, 1):
            sheet.words(LEFT + 7, first + LINE * line_number, line, SIZE, mono=True)
        lines.append(f"{title:8} {plural(nodes, 'node'):9} {text}")
        top += high + 9
    said = f"{steps[0][1]} nodes, and {steps[-1][1]} after {plural(len(steps) - 1, 'round')}"
    return DrawnPicture(said, "\n".join([said, *lines]), sheet)
