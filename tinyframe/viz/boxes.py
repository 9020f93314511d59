"""What the scheduler would do: kernels as boxes around what they compute, and `why(x)`.

    why(a / a.sum())
    # 2 values are stored:
    #     MUL          (64, 64)  output
    #     REDUCE_AXIS  (1, 1)    a reduce with too little parallel work

The scheduler runs on the graph, and an observer collects its kernels, with the values that each
stores and reads. Nothing is computed, no memory is allocated, and every Tensor stays as lazy as it
was.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tinyframe.device import human_bytes
from tinyframe.observe import Observer, observing
from tinyframe.rewrite.matcher import graph_rewrite, substituted
from tinyframe.schedule import bindings, slot
from tinyframe.schedule.fuse import decide_fusion, is_leaf
from tinyframe.schedule.kernels import kernelize, prepare_rules
from tinyframe.settings import Context
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.laziness import InPlacePlan, is_computed, unrealized
from tinyframe.uop.movement import base_of
from tinyframe.uop.node import GroupOp, Ops, UOp, sizes_in
from tinyframe.viz.kernels import NOTHING
from tinyframe.viz.nodes import Box, Names, Node, of_graph, plural
from tinyframe.viz.words import sentence


class _Kernels(Observer):
    """Collects the kernels, in running order. prepared: the results -> their nodes in the prepared
    graph; and nodes that contain a Variable's value -> the same without it."""

    def __init__(self) -> None:
        self.found: list[tuple[UOp, Sequence[UOp], Sequence[UOp]]] = []
        self.prepared: dict[UOp, UOp] = {}

    def stage(self, name: str, before: UOp | None, after: Any, passes: Any) -> None:
        if name == "tensor graph":
            self.wanted = after
        elif name == "prepare":
            self.prepared = dict(zip(self.wanted.src, after.src, strict=True))

    def kernel(self, ast: UOp, values: Sequence[UOp], arguments: Sequence[UOp]) -> None:
        self.found.append((ast, values, arguments))


def fused_by(roots: Sequence[UOp]) -> _Kernels:
    """The kernels that would compute these graphs, in running order: the loop nest, the nodes that
    it stores, and those that it reads.

    They are nodes of the graph as the scheduler prepares it (`schedule/kernels.py`).
    """
    seen, numbers = _Kernels(), itertools.count()
    lazy = [root for root in dict.fromkeys(roots) if not is_computed(root)]
    if lazy:
        placed = UOp.sink(*InPlacePlan(lazy).roots)
        order = placed.toposort()
        unknown = {u for u in order if u.op in (Ops.BIND, Ops.DEFINE_VAR)}
        unknown |= {u for x in order for size in sizes_in(x.arg) for u in size.unknowns}
        unbound = substituted(placed, {bind: var for var, bind in bindings(unknown).items()})
        with Context(DEBUG=0, VIZ=0), observing(seen):
            kernelize(unbound.get(placed, placed), lambda *of: slot(next(numbers), *of))
        ready = {u: seen.prepared.get(v, v) for u, v in unbound.items()}
        seen.prepared = ready | {u: v for u, v in seen.prepared.items() if u not in ready}
    return seen


def of_kernels(roots: Sequence[UOp], names: Names) -> list[Node]:
    """The nodes of graphs, each in the box of the kernel that computes it. A node that several
    kernels compute appears in each of their boxes."""
    kernels = fused_by(roots)
    known = names | {new: names[old] for old, new in kernels.prepared.items() if old in names}
    nodes: list[Node] = []
    place: dict[UOp, int] = {}  # the numbers of the nodes that are in memory
    numbering: dict[UOp, int] = {}

    def is_in_memory(u: UOp) -> bool:
        return u in place or u.op is Ops.BUFFER

    def add(roots: Sequence[UOp], is_given: Callable[[UOp], bool], box: Box | None = None) -> None:
        """Adds everything between these roots and the values that are in memory already."""
        number: list[int] = []
        for node in of_graph(roots, names=known, ends=is_given, numbering=numbering):
            given = is_given(node.of)
            if given and node.of in place:
                number.append(place[node.of])
                continue
            number.append(len(nodes))
            if given or node.of in roots:
                place[node.of] = len(nodes)
            sources = tuple(number[s] for s in node.sources)
            nodes.append(replace(node, sources=sources, box=None if given else box))

    for u in known:
        if is_view_of_memory(u) and any(u in root.toposort() for root in roots):
            add([u], lambda u: u.op is Ops.BUFFER)
    heading: list[str] = []  # the kernels that store partial results for the next one
    said: list[str] = []
    for n, (ast, values, arguments) in enumerate(kernels.found, 1):
        heading.append(str(n))
        said.append(sentence(ast))
        if all(value.op is Ops.BUFFER for value in values):
            continue
        reads = {*arguments} - {*values}
        words = "kernels" if len(heading) > 1 else "kernel"
        box = Box("kernel", n, f"{words} {' and '.join(heading)}", "; then ".join(said))
        heading, said = [], []
        add(values, lambda u, r=reads: u in r or is_in_memory(u) and is_view_of_memory(u), box)  # type: ignore
        for value in values:
            node, size = nodes[place[value]], value.size * value.dtype.itemsize
            stored = f"stored, {human_bytes(size)}" if isinstance(size, int) else "stored"
            note = "; ".join(filter(None, (node.note, stored)))
            nodes[place[value]] = replace(node, note=note)
    for root in roots:  # views of stored values need no kernel
        base = root = kernels.prepared.get(root, root)
        while base not in place and base.op in (*GroupOp.Movement, Ops.DETACH):
            base = base.src[0]
        if is_in_memory(base):
            add([root], is_in_memory)
    return nodes


def is_view_of_memory(u: UOp) -> bool:
    return base_of(u).op is Ops.BUFFER


# ---- why ----------------------------------------------------------------------------------------


class Stored(NamedTuple):
    """A value that gets memory, and the scheduler's reason."""

    op: Ops
    shape: tuple
    reason: str


class Reasons(tuple[Stored, ...]):
    """The stored values, the last one computed first; as text, one to a line."""

    def __repr__(self) -> str:
        if not self:
            return NOTHING
        words = [(stored.op.name, str(stored.shape), stored.reason) for stored in self]
        op, shape = (max(len(row[column]) for row in words) for column in (0, 1))
        lines = [f"    {row[0]:{op}}  {row[1]:{shape}}  {row[2]}" for row in words]
        verb = "is" if len(self) == 1 else "are"
        return "\n".join([f"{plural(len(self), 'value')} {verb} stored:", *lines])


def why(*tensors: Tensor) -> Reasons:
    """Each value that computing these would store, and why. Nothing runs, and no Tensor changes."""
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"why() asks about Tensors, not {type(tensor).__name__}")
    if not (roots := unrealized(*tensors)):
        return Reasons()
    prepared = graph_rewrite(UOp.sink(*roots), prepare_rules)
    outputs = list(dict.fromkeys(u.base for u in prepared.src if not is_leaf(u.base)))
    reasons = decide_fusion(outputs).reasons
    return Reasons(Stored(u.op, tuple(u.shape), reason) for u, reason in reasons.items())
