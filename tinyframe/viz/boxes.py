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
from typing import NamedTuple

from tinyframe.device import human_bytes
from tinyframe.observe import Observer, observing
from tinyframe.rewrite.matcher import Rewrite, graph_rewrite, substituted
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
        self.found: list[tuple[UOp, list[UOp], list[UOp]]] = []
        self.prepared: dict[UOp, UOp] = {}

    def stage(
        self, name: str, before: UOp | None, after: UOp | list[UOp], passes: list[Rewrite]
    ) -> None:
        if name == "tensor graph" and isinstance(after, UOp):
            self.wanted = after
        elif name == "prepare" and isinstance(after, UOp):
            self.prepared = dict(zip(self.wanted.src, after.src, strict=True))

    def kernel(self, ast: UOp, values: Sequence[UOp], arguments: Sequence[UOp]) -> None:
        self.found.append((ast, list(values), list(arguments)))


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
    drawn = _Drawn(known)
    for u in known:
        if is_view_of_memory(u) and any(u in root.toposort() for root in roots):
            drawn.add([u], lambda u: u.op is Ops.BUFFER, None)
    heading: list[str] = []  # the kernels that store partial results for the next one
    said: list[str] = []
    for number, (ast, values, reads) in enumerate(kernels.found, 1):
        heading.append(str(number))
        said.append(sentence(ast))
        if all(value.op is Ops.BUFFER for value in values):
            continue
        words = "kernels" if len(heading) > 1 else "kernel"
        box = Box("kernel", number, f"{words} {' and '.join(heading)}", "; then ".join(said))
        heading, said = [], []
        drawn.add_kernel(box, values, [u for u in reads if u not in values])
    for root in roots:
        drawn.add_views(kernels.prepared.get(root, root))
    return drawn.nodes


def is_view_of_memory(u: UOp) -> bool:
    return base_of(u).op is Ops.BUFFER


class _Drawn:
    """The nodes, added kernel by kernel. place: the numbers of those that are in memory."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.nodes: list[Node] = []
        self.place: dict[UOp, int] = {}
        self.numbering: dict[UOp, int] = {}

    def add_kernel(self, box: Box, values: list[UOp], reads: list[UOp]) -> None:
        def is_given(u: UOp) -> bool:
            return u in reads or u.op is Ops.BUFFER or (u in self.place and is_view_of_memory(u))

        self.add(values, is_given, box)
        for value in values:
            number = self.place[value]
            size = value.size * value.dtype.itemsize
            words = f"stored, {human_bytes(size)}" if isinstance(size, int) else "stored"
            node = self.nodes[number]
            note = "; ".join(filter(None, (node.note, words)))
            self.nodes[number] = replace(node, note=note)

    def add_views(self, root: UOp) -> None:
        """Adds views of stored values, which need no kernel."""
        base = root
        while base not in self.place and base.op in (*GroupOp.Movement, Ops.DETACH):
            base = base.src[0]
        if base in self.place or base.op is Ops.BUFFER:
            self.add([root], lambda u: u in self.place or u.op is Ops.BUFFER, None)

    def add(self, roots: list[UOp], is_given: Callable[[UOp], bool], box: Box | None) -> None:
        """Adds everything between these roots and the values that are in memory already."""
        inside = of_graph(roots, names=self.names, ends=is_given, numbering=self.numbering)
        number: dict[int, int] = {}
        for n, node in enumerate(inside):
            given = is_given(node.of)
            if given and node.of in self.place:
                number[n] = self.place[node.of]
                continue
            number[n] = len(self.nodes)
            if given or node.of in roots:
                self.place[node.of] = len(self.nodes)
            sources = tuple(number[s] for s in node.sources)
            self.nodes.append(replace(node, sources=sources, box=None if given else box))


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
