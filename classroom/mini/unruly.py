"""What becomes of mini's own convolution where its index rules run on loop counters, and no rule
tidies up after them: part 7b begins with it.

    unruly()       the beginning of the place that it reads, and how long all of it is
    tamed()        the same place after the rules of stage 7a
"""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

import numpy as np

from classroom.mini import loader, stages

HIGH, WIDE, SIZE = 6, 6, 3  # of the image, and of the filter
SHOWN = 300  # characters
SIGNS = {"ADD": "+", "MUL": "*", "IDIV": "/", "MOD": "%", "CMPLT": "<"}


def mini(part: str) -> Any:
    """A module of the mini that is in use; chosen now, if none is."""
    if "mini.part7b" not in sys.modules:
        loader.use(stages.find("7b"))
    return importlib.import_module(f"mini.part{part}")


def place() -> Any:
    """Where in the image conv2d reads, as its index rules say it."""
    part4, part7b = mini("4"), mini("7b")
    image, weight = (
        mini("5").Tensor(np.zeros(shape, np.float32))
        for shape in ((1, 1, HIGH, WIDE), (1, 1, SIZE, SIZE))
    )
    sink = part4.UOp(part4.Ops.SINK, (image.conv2d(weight).uop,))
    *_, kernel = mini("4b").cut(sink)
    loops = part7b.Loops(kernel.memory)
    value = loops.value(kernel.graph, [loops.counter(size) for size in kernel.value.shape])
    for load in value.toposort():
        if load.op is part4.Ops.LOAD and load.src[0].arg[1] == image.shape:
            return load.src[1]
    raise LookupError("this convolution reads no image")


def pieces(node: Any) -> list[Any]:
    """An expression in the order in which it's written: nodes, and the text between them."""
    if not node.src:
        return [f"r{node.arg[0]}" if node.op.name == "RANGE" else str(node.arg)]
    name = node.op.name
    between = SIGNS.get(name, ", ")
    inside = [piece for source in node.src for piece in (between, source)][1:]
    return ["(" if name in SIGNS else f"{name.lower()}(", *inside, ")"]


def length(root: Any) -> int:
    """How many characters an expression has where every part is written out."""
    found: dict[Any, int] = {}
    for node in root.toposort():
        found[node] = sum(
            len(piece) if isinstance(piece, str) else found[piece] for piece in pieces(node)
        )
    return found[root]


def written(root: Any, most: int = SHOWN) -> str:
    """The beginning of an expression, every part written out."""
    text, pending = "", [root]
    while pending and len(text) < most:
        piece = pending.pop()
        if isinstance(piece, str):
            text += piece
        else:
            pending += reversed(pieces(piece))
    return f"{text[:most]} …" if pending else text


def unruly() -> None:
    """The place in words: how it begins, and how long it is."""
    found = place()
    beginning = written(found)
    lines = re.findall(r".{1,99}\W|.+", beginning)  # cut where no name or number is
    print("data1[" + "\n      ".join(lines))
    print(f"\nand so on, for {length(found):,} characters. Different nodes: "
          f"{len(found.toposort())}.")  # fmt: skip


def tamed() -> None:
    """The same place after the rules."""
    print(f"data1[{written(mini('7a').simplify(place()))}]")
