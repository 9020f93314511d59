"""A program as nested loops: what each runs, how often, and how much it loads for that.

tree = blocks_of(program)
tree.body                   # loops, and between them what is loaded, computed and stored
reuse(tree)                 # operations for each element loaded: what tiling is for
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tinyframe.codegen.program import ProgramSpec
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp, kind, length
from tinyframe.uop.show import render
from tinyframe.viz.nodes import plural


@dataclass(frozen=True)
class Axis:
    """How a kind of loop is shown. fill: a light one of the colour that kernel names have for it
    (AxisType.color). name: in a box, after its size. meaning: in a sentence."""

    fill: str
    name: str
    meaning: str


AXES = {
    AxisType.GLOBAL: Axis("#cfdcfb", "blocks", "blocks of the grid"),
    AxisType.THREAD: Axis("#bfeaf0", "shared by cores", "turns that the cores divide up"),
    AxisType.LOCAL: Axis("#bfeaf0", "threads", "threads of a block"),
    AxisType.LOOP: Axis("#e4e4e4", "loop", "turns, one after another"),
    AxisType.GROUP: Axis("#d3efd0", "threads, reducing", "threads of a block that reduce together"),
    AxisType.WARP: Axis("#bfeaf0", "threads of a warp", "threads that use a tensor core together"),
    AxisType.REDUCE: Axis("#fbd0cf", "reducing loop", "turns that are reduced to one value"),
    AxisType.UPCAST: Axis("#fdf0b0", "copies", "copies of what is in the loops, side by side"),
    AxisType.VECTOR: Axis("#fdf0b0", "lanes", "lanes of a vector"),
    AxisType.UNROLL: Axis("#f3d3f1", "unrolled", "turns of a reduce, written out"),
}
# kinds that a GPU runs at once
AT_ONCE = (AxisType.GLOBAL, AxisType.LOCAL, AxisType.GROUP, AxisType.WARP)
INSIDE = (AxisType.UPCAST, AxisType.VECTOR, AxisType.UNROLL)  # kinds that are no loops any more

LONGEST_SIZE = 12  # characters

Work = Counter[tuple[str, int]]  # (an op, or `load`, `store`; how many elements at once) -> times


@dataclass
class Block:
    """A loop of the program, or with no `range` all of it. body: loops, and what is done between
    them."""

    range: UOp | None
    body: list[Block | Work] = field(default_factory=list)

    @property
    def blocks(self) -> list[Block]:
        return [part for part in self.body if isinstance(part, Block)]

    def count(self, what: str, elements: int) -> None:
        if not self.body or isinstance(self.body[-1], Block):
            self.body.append(Counter())
        work = self.body[-1]
        assert not isinstance(work, Block)
        work[what, elements] += 1


def blocks_of(program: ProgramSpec) -> Block:
    """The loops of a program as a tree, outermost first: around all others the blocks and threads
    of a GPU, which run at once."""
    root = Block(None)
    opened = [root]
    for r in sorted(program.loops, key=lambda r: kind(r) is not AxisType.GLOBAL):
        if kind(r) in AT_ONCE:
            opened[-1].body.append(block := Block(r))
            opened.append(block)
    for u in program.uops:
        if u.op is Ops.RANGE:
            block = Block(u)
            opened[-1].body.append(block)
            opened.append(block)
        elif u.op is Ops.ENDRANGE:
            opened.pop()
        elif what := _done_by(u):
            value = u.src[1] if u.op is Ops.STORE else u
            opened[-1].count(what, value.dtype.count)
    return root


def loops_of(block: Block) -> Iterator[UOp]:
    """The loops of a tree in the order of the source."""
    for inner in block.blocks:
        assert inner.range is not None
        yield inner.range
        yield from loops_of(inner)


def _done_by(u: UOp) -> str | None:
    """What a line of the program does for the numbers; None where it works on indices."""
    if u.op in (Ops.LOAD, Ops.STORE):
        memory = u.src[0].src[0]
        if memory.op is Ops.DEFINE_REG:
            return None
        panel = " to a panel" if u.op is Ops.STORE else " from a panel"
        return u.op.name.lower() + (panel if memory.op is Ops.DEFINE_LOCAL else "")
    on_numbers = u.op in GroupOp.ALU and any(s.op is Ops.LOAD or s.op in GroupOp.ALU for s in u.src)
    return u.op.name if on_numbers and not _is_index(u) else None


def _is_index(u: UOp) -> bool:
    return u.dtype.base.name in ("int", "long", "bool") and all(
        s.op is not Ops.LOAD for s in u.toposort()
    )


def reuse(block: Block) -> float:
    """Operations for each element that is loaded from memory, in all of a tree; what comes from a
    panel does not count. Infinite where nothing is loaded."""
    operations, loaded = _totals(block)
    return operations / loaded if loaded else math.inf


def _totals(block: Block) -> tuple[int, int]:
    """Operations, and elements loaded from memory."""
    operations = loaded = 0
    for part in block.body:
        if isinstance(part, Block):
            inner = _totals(part)
            operations, loaded = operations + inner[0], loaded + inner[1]
            continue
        for (what, lanes), times in part.items():
            if what == "load":
                loaded += lanes * times
            elif what.isupper():
                operations += lanes * times * (2 if what == Ops.MULACC.name else 1)
    turns = 1 if block.range is None else length(block.range)
    return turns * operations, turns * loaded


# ---- as words ------------------------------------------------------------------------------------


def work_text(work: Work) -> str:
    """`6 loads, 4 loads of 16, 24 MUL of 16`: how often, what, and of how many elements."""
    said = []
    for (what, lanes), times in work.items():
        word, *rest = what.split(" ", 1)
        name = plural(times, word) if word.islower() else f"{times} {word}"
        said.append(" ".join([name, *([f"of {lanes}"] if lanes > 1 else []), *rest]))
    return ", ".join(said)


def axis_text(r: UOp) -> str:
    """`128 × reducing loop`; of a size that is a long expression the largest that it can be."""
    size = render(r.src[0])
    if len(size) > LONGEST_SIZE:
        size = f"up to {length(r)}"
    return f"{size.removeprefix('(').removesuffix(')')} × {AXES[kind(r)].name}"


def lines_of(tree: Block) -> list[str]:
    """A tree as text, a line for each loop, with its number, and for what is done in it."""
    numbers = itertools.count(1)
    lines: list[str] = []

    def add(block: Block, depth: int) -> None:
        for part in block.body:
            if not isinstance(part, Block):
                lines.append("  " * depth + work_text(part))
            elif (r := part.range) is not None:
                loop = f"{next(numbers)}  {axis_text(r)} ({kind(r).letter})"
                lines.append("  " * depth + loop)
                add(part, depth + 1)

    add(tree, 0)
    return lines
