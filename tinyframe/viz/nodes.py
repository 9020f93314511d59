"""The nodes of a picture, sources first, each with its text and the numbers of its sources.

`of_graph` makes them from UOps, `of_schedule` from a schedule. The numbers of buffers differ from
run to run; they are replaced by the order of first appearance, so that equal graphs look equal.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from tinyframe.device import Buffer, human_bytes
from tinyframe.schedule.kernels import Kernel, ScheduleItem
from tinyframe.uop.node import GroupOp, Ops, UOp
from tinyframe.uop.show import INFIX, render, sizes_text
from tinyframe.viz.kinds import KIND_OF
from tinyframe.viz.words import sentence

Key = TypeVar("Key")
Value = TypeVar("Value")
Names = dict[UOp, tuple[str, ...]]  # the variables that hold some nodes
TO_KERNELS = {Ops.RANGE, Ops.STORE, Ops.LOAD, Ops.INDEX, *GroupOp.Defines}


class Box(NamedTuple):
    """A frame around nodes, with a heading and a sentence.

    style: a row of `kinds.FRAMES`. number: distinguishes frames with the same text.
    """

    style: str
    number: int
    heading: str
    words: str = ""


@dataclass(frozen=True)
class Node:
    """title: the op. value: its shape and dtype. note: its other arguments.

    sources: the numbers of its sources, in order. operands: the role of each source, such as "x"
    and "y" of x / y; empty if their order does not matter. names: the Python variables that hold
    it. box: the frame around it and others. count: how many nodes it stands for. mark: words that
    make it stand out, such as "new". of: the UOp or Row that it was made from.
    """

    kind: str
    title: str
    value: str = ""
    note: str = ""
    sources: tuple[int, ...] = ()
    operands: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    box: Box | None = None
    count: int = 1
    mark: str = ""
    of: Any = field(default=None, compare=False, repr=False)


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """The values of each key, in order."""
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def by_box(nodes: Iterable[Node]) -> dict[Box | None, list[int]]:
    """The numbers of the nodes in each box, and under None those in no box."""
    return grouped((node.box, number) for number, node in enumerate(nodes))


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


# ---- a graph of UOps ----------------------------------------------------------------------------


def of_graph(
    roots: Sequence[UOp], literal: bool = False, marks: Mapping[Any, str] | None = None,
    names: Names | None = None, ends: Callable[[UOp], bool] = lambda u: False,
    numbering: dict[Any, int] | None = None,
) -> list[Node]:  # fmt: skip
    """Every node that is not written inside another, once. Takes UOps, or the Rows of a trace.

    literal: no node is written inside another, so there are as many nodes as UOps. marks: marks for
    some nodes, which are then not written inside others. names: the variables that hold some nodes.
    ends: whether a node's sources are left out. numbering: the numbers of buffers so far; new ones
    are added. Graphs that are drawn together share it.
    """
    marks, names = marks or {}, names or {}
    numbering = {} if numbering is None else numbering
    order = list(dict.fromkeys(u for root in roots for u in root.toposort(lambda u: not ends(u))))
    used = {s for u in order for s in u.src}
    apart = {u for u in roots if u not in used} | marks.keys()
    inside = set() if literal else written_inside(order, apart)
    has_shapes = not any(u.op in TO_KERNELS for u in order)
    numbers: dict[UOp, int] = {}
    nodes: list[Node] = []
    for u in order:
        if u in inside:
            continue
        sources = () if ends(u) else u.src if literal else sources_seen(u, inside)
        numbers[u] = len(nodes)
        words = title_of(u, numbering), value_of(u, has_shapes), note_of(u, inside, literal)
        places = tuple(numbers[s] for s in sources)
        roles = operands_of(u, inside, len(sources))
        nodes.append(Node(KIND_OF[u.op], *words, places, roles, names.get(u, ()),
                          mark=marks.get(u, ""), of=u))  # fmt: skip
    return nodes


def written_inside(order: list[UOp], roots: set[UOp]) -> set[UOp]:
    """The nodes that are written inside others in a picture: constants, with the movement ops that
    broadcast them; a buffer's number and device; and index arithmetic."""
    users = grouped((s, u) for u in order for s in u.src)
    inside: set[UOp] = set()
    for u in order:
        broadcast = u.op in (*GroupOp.Movement, Ops.VECTORIZE) and len(set(u.src)) == 1
        leaf = u.op in (Ops.CONST, Ops.UNIQUE, Ops.DEVICE)
        if u not in roots and (leaf or (broadcast and u.src[0] in inside)):
            inside.add(u)
    for u in reversed(order):  # users first
        arithmetic = u.op in GroupOp.Elementwise and u not in roots
        if arithmetic and u in users and all(is_index_of(u, user, inside) for user in users[u]):
            inside.add(u)
    return inside


def is_index_of(u: UOp, user: UOp, inside: set[UOp]) -> bool:
    """Whether `user` is an INDEX that uses `u` as an index, or part of such an index itself."""
    if user.op is Ops.INDEX:
        return u is not user.src[0]
    return user in inside and user.op in GroupOp.Elementwise


def sources_seen(u: UOp, inside: set[UOp]) -> list[UOp]:
    """The sources; one that is written inside this node is replaced by its own sources."""
    found: list[UOp] = []
    for s in u.src:
        below = s.toposort(lambda x: x in inside)
        found += [x for x in below if x not in inside and (x is s or x not in found)]
    return found


# ---- the text on a node -------------------------------------------------------------------------


def title_of(u: UOp, numbering: dict[Any, int]) -> str:
    """The op, with what identifies it: BUFFERs are numbered in order of appearance."""
    if u.op in (Ops.BUFFER, Ops.UNIQUE):
        unique = u.src[0] if u.op is Ops.BUFFER else u
        return f"{u.op.name} {numbering.setdefault(unique, len(numbering))}"
    rule = titles.get(u.op)
    return plain_text(f"{u.op.name} {rule(u)}" if rule else u.op.name)


def constant_text(u: UOp) -> str:
    """The number in every element of a broadcast constant, in few characters: 1.4427 for
    1.4426950408889634."""
    while u.op is not Ops.CONST:  # a CONST may have a DEVICE as its source
        u = u.src[0]
    long = isinstance(u.arg, float) and len(repr(u.arg)) > 8
    return f"{u.arg:.5g}" if long else repr(u.arg)


# The role of each operand, if their order matters. (SHL: x is shifted by y.)
OPERANDS: dict[Ops, tuple[str, ...]] = {
    **dict.fromkeys(GroupOp.Binary - GroupOp.Commutative - {Ops.THREEFRY, Ops.MIN}, ("x", "y")),
    Ops.THREEFRY: ("counter", "key"),
    Ops.WHERE: ("if", "then", "else"),
    Ops.MULACC: ("x", "y", "z"),
    Ops.ASSIGN: ("old", "new"),
    Ops.STORE: ("at", "value"),
}


def operands_of(u: UOp, inside: set[UOp], arrows: int) -> tuple[str, ...]:
    """A word for each arrow that leads to an op; none if their order does not matter, or if there
    is only one arrow and the note shows its place (`· / 2.0`)."""
    words = OPERANDS.get(u.op, ())
    pairs = itertools.zip_longest(u.src, words, fillvalue="")
    drawn = tuple(word for s, word in pairs if s not in inside)
    is_noted = arrows == 1 and u.op in INFIX
    return drawn if words and len(drawn) == arrows and not is_noted else ()


def operands_text(u: UOp, inside: set[UOp]) -> str:
    """The expression, if the arrows do not show it: `· * 2.0`, `x / y`. A dot is an operand that
    needs no name."""
    names = OPERANDS.get(u.op, ())
    if names and u.op not in INFIX:  # each arrow has a word; so get the constants without an arrow
        pairs = zip(u.src, names, strict=False)
        return ", ".join(f"{w} {constant_text(s)}" for s, w in pairs if s in inside)
    if not names or sum(s not in inside for s in u.src) < 2:
        names = ("·",) * len(u.src)
    pairs = zip(u.src, names, strict=True)
    words = [constant_text(s) if s in inside else name for s, name in pairs]
    shown = f" {INFIX[u.op]} ".join(words) if u.op in INFIX else ", ".join(words)
    return "" if set(words) <= {"·"} else shown


titles: dict[Ops, Callable[[UOp], str]] = {
    Ops.DEVICE: lambda u: str(u.arg),
    Ops.CONST: constant_text,
    **dict.fromkeys((Ops.REDUCE_AXIS, Ops.SCAN_AXIS), lambda u: u.arg[0].name),
    **dict.fromkeys((Ops.REDUCE, Ops.SCAN), lambda u: u.arg.name),
    Ops.RANGE: render,
    Ops.DEFINE_GLOBAL: render,
    Ops.DEFINE_VAR: lambda u: str(u.arg[0]),
    Ops.GEP: lambda u: str(u.arg),
}


def value_of(u: UOp, has_shapes: bool) -> str:
    dtype = repr(u.dtype).removeprefix("dtypes.")
    if dtype == "void" or u.op in (Ops.INDEX, Ops.RANGE):
        return ""
    return f"{sizes_text(u.shape)} {dtype}" if has_shapes else dtype


def note_of(u: UOp, inside: set[UOp], literal: bool) -> str:
    """The op's other arguments, and the operands that are written inside it."""
    rule = notes.get(u.op, lambda u: "" if u.arg is None else sizes_text(u.arg))
    words = [index_text(u) if u.op is Ops.INDEX and not literal else rule(u)]
    if u.op in GroupOp.Elementwise:
        words.append(operands_text(u, inside))
    return plain_text(" ".join(filter(None, words)))


def index_text(u: UOp) -> str:
    _, valid, *indices = u.src
    always = valid.op is Ops.CONST and valid.arg is True
    place = ", ".join(render(i)[1:-1] if i.op in INFIX else render(i) for i in indices)
    return f"[{place}]" + ("" if always else f" if {render(valid)}")


def plain_text(text: str) -> str:
    """Text with printable characters only: a line break becomes the two characters \\n."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


# Ops whose argument is in the title, or is the shape, which every node shows.
SHOWN = (Ops.RESHAPE, Ops.EXPAND, Ops.CONST, Ops.UNIQUE, Ops.DEVICE, Ops.DEFINE_GLOBAL, Ops.GEP,
         Ops.INDEX, Ops.REDUCE, Ops.SCAN, Ops.IOTA, Ops.SINK, Ops.PLACE)  # fmt: skip

notes: dict[Ops, Callable[[UOp], str]] = {
    **dict.fromkeys(SHOWN, lambda u: ""),
    Ops.BUFFER: lambda u: f"on {u.device}",
    Ops.COPY: lambda u: f"to {u.device}",
    Ops.PERMUTE: lambda u: f"axes {u.arg}",
    Ops.SHRINK: lambda u: ", ".join(f"{sizes_text(a)}:{sizes_text(b)}" for a, b in u.arg),
    Ops.PAD: lambda u: ", ".join(f"{sizes_text(a)}+{sizes_text(b)}" for a, b in u.arg),
    Ops.FLIP: lambda u: "axes " + ", ".join(str(i) for i, yes in enumerate(u.arg) if yes),
    Ops.REDUCE_AXIS: lambda u: f"over {axes_text(u.arg[1])}",
    Ops.SCAN_AXIS: lambda u: f"along axis {u.arg[1]}",
    Ops.TAKE: lambda u: f"along axis {u.arg}",
    **dict.fromkeys((Ops.ASSIGN, Ops.FETCH), lambda u: f"by {u.arg.name}" if u.arg else ""),
    Ops.RANGE: lambda u: f"{u.arg[1].name.lower()} 0 to {u.vmax}",
    Ops.DEFINE_VAR: lambda u: f"{u.arg[1]} to {u.arg[2]}",
    Ops.BIND: lambda u: f"= {u.src[1].arg}",
    Ops.KERNEL: lambda u: sentence(u.arg.ast) if isinstance(u.arg, Kernel) else "",
}


def axes_text(axes: Sequence[int]) -> str:
    return f"{'axis' if len(axes) == 1 else 'axes'} {', '.join(map(str, axes))}"


def ordinal(number: int) -> str:
    """`2nd`."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 % 10 != 1 else 0, "th")
    return f"{number}{ending}"


# ---- a schedule ---------------------------------------------------------------------------------


def of_schedule(items: Iterable[ScheduleItem]) -> list[Node]:
    """Kernels in running order, between the buffers that they read and write.

    A buffer that is written again gets a new node, so that buffers are always above their readers.
    """
    numbering: dict[Buffer, int] = {}
    nodes: list[Node] = []
    current: dict[Buffer, int] = {}  # the latest node of each buffer

    def add(b: Buffer, sources: tuple[int, ...]) -> None:
        title = f"buffer {numbering.setdefault(b, len(numbering))}"
        size = f"{b.size:,} {repr(b.dtype).removeprefix('dtypes.')}"
        current[b] = len(nodes)
        nodes.append(Node("memory", title, size, f"{human_bytes(b.nbytes)} on {b.device}", sources))

    for number, item in enumerate(items, 1):
        ast, read = item.ast, dict.fromkeys(read_by(item))
        for b in read:
            if b not in current:
                add(b, ())
        place, title = len(nodes), f"{number}. {work_kind(ast)}"
        sources = tuple(current[b] for b in read)
        nodes.append(Node("kernel", title, loops_text(ast), sentence(ast), sources))
        for b in dict.fromkeys(item.written):
            add(b, (place,))
    return nodes


def read_by(item: ScheduleItem) -> list[Buffer]:
    """The buffers that a kernel or a copy reads, in the order of its arguments."""
    if item.ast.op is Ops.COPY:
        return [item.bufs[1]]
    places = [u.src[0].src[0] for u in item.ast.toposort() if u.op is Ops.LOAD]
    return [item.bufs[n] for n in sorted({m.arg for m in places if m.op is Ops.DEFINE_GLOBAL})]


def work_kind(ast: UOp) -> str:
    ops = {u.op for u in ast.toposort()}
    return next((op.name.lower() for op in (Ops.COPY, Ops.SCAN, Ops.REDUCE) if op in ops),
                "elementwise")  # fmt: skip


def loops_text(ast: UOp) -> str:
    """The sizes of a kernel's loops: `4 × 8, reduce 16`."""
    order = ast.toposort()
    reduces = dict.fromkeys(u.own_ranges for u in order if u.op is Ops.REDUCE)
    closed = {r for loops in reduces for r in loops}
    around = [u for u in order if u.op is Ops.RANGE and u not in closed]
    sizes = [" × ".join(render(r.src[0]) for r in loops) for loops in (around, *reduces)]
    return ", ".join(filter(None, [sizes[0], *[f"reduce {size}" for size in sizes[1:]]]))


# ---- the lines of text on a node -----------------------------------------------------------------

FEWEST = 34  # characters in a line before it is wrapped
# Sizes, short tuples, and counts of ops.
NEVER_BROKEN = re.compile(r" × |\([^()]{1,24}\)|\b\d+ [A-Z]")


def lines_of(node: Node) -> Iterator[tuple[str, str]]:
    """(part, line) from top to bottom: the operands, names, mark, title, value and note."""
    yield from (("operand", word) for word in node.operands)
    yield from (("name", line) for line in wrapped(", ".join(node.names)))
    for part in ("mark", "title", "value", "note"):
        yield from ((part, line) for line in wrapped(getattr(node, part)))


def wrapped(words: str) -> list[str]:
    """Text in lines, which are longer for longer text: 2,000 characters become a block that is
    wider than high."""
    words = NEVER_BROKEN.sub(lambda found: found[0].replace(" ", "\u00a0"), words)
    return textwrap.wrap(words, max(FEWEST, round(2.5 * math.sqrt(len(words)))))


def described(node: Node) -> str:
    """All the text of a node, in one line."""
    title = f"{', '.join(node.names)} = {node.title}" if node.names else node.title
    return ", ".join(filter(None, (node.mark, title, node.value, node.note)))
