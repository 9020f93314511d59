"""Laziness: what there is to compute, and what Tensors become once it has been computed.

When a graph has been realized, every live Tensor that contains it is pointed at the buffer with the
result. The values no longer say where they come from then, but a gradient may still have to flow to
what they were computed from, as in

    loss = f(w)
    print(loss.item())      # realizes it: loss.uop is a BUFFER
    loss.backward()         # flows on through `history`
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from tinyframe.dtype import dtypes
from tinyframe.tensor.base import TensorBase, live_tensors
from tinyframe.uop.node import GroupOp, Ops, UOp

# What a realized value was computed from, for values that depend on a Tensor that requires a
# gradient. The graph goes when the value does. What lay between and was not realized for somebody
# is computed again when a gradient asks for it.
history: WeakKeyDictionary[UOp, UOp] = WeakKeyDictionary()


def unrealized(*tensors: TensorBase) -> list[UOp]:
    """The graphs among these that there is something to compute for, each once."""
    roots = dict.fromkeys(tensor.uop for tensor in tensors)
    return [root for root in roots if root.base.op not in (Ops.BUFFER, Ops.CONST, Ops.IOTA)]


def update_live_tensors(becomes: dict[UOp, UOp]) -> None:
    """Replaces what was computed in the graph of every Tensor; one walk over all of them."""
    tensors = live_tensors()
    becomes = remember(tensors, becomes)
    kept = list(history.items())
    graphs = [tensor.uop for tensor in tensors]
    # of a history only what is below it: on top is the very node that has become the value
    sources = [UOp(Ops.SINK, dtypes.void, graph.src) for _, graph in kept]
    after = UOp(Ops.SINK, dtypes.void, (*graphs, *sources)).substitute(becomes).src
    for tensor, new in zip(tensors, after, strict=False):
        if tensor.uop is not new:
            tensor.uop = new
    for (value, graph), new in zip(kept, after[len(tensors) :], strict=True):
        now = graph.replace(src=new.src)
        if now is value:  # a view of another value, which has the history
            del history[value]
        elif now is not graph and value not in now.toposort():  # else it would be its own history
            history[value] = now


def remember(tensors: list[Any], becomes: dict[UOp, UOp]) -> dict[UOp, UOp]:
    """Notes in `history` what those of `becomes` were computed from that gradients flow through.

    Returns `becomes` without views that gradients flow through: replacing what they are views of
    is enough, and leaves the views on the way, at which a gradient may be wanted.
    """
    leaves = {tensor.uop for tensor in tensors if tensor.requires_grad}
    if not leaves:
        return becomes
    depends: set[UOp] = set()
    for u in UOp.sink(*leaves).toposort():
        if u.op is not Ops.DETACH and any(s in depends or s in leaves for s in u.src):
            depends.add(u)
    memory = {old: new.base for old, new in becomes.items()}
    becomes = {
        old: new
        for old, new in becomes.items()
        if old is old.base or old not in depends or new.base is not memory.get(old.base, old.base)
    }
    for old, new in becomes.items():
        if old.base.op is Ops.ASSIGN and old not in history:  # what is assigned to begins anew
            for value in [value for value in history if value.base is new.base]:
                del history[value]
        elif old in history:
            history[new] = history[old]
        elif old in depends:
            history[new] = old
    return becomes


def is_moved(uop: UOp) -> bool:
    """Whether the elements are others, or in another order, than those of the base."""
    while uop.op is Ops.RESHAPE:
        uop = uop.src[0]
    return uop.op in GroupOp.Movement


def whole_buffer(uop: UOp) -> UOp | None:
    """The BUFFER that `uop` is all of, in order (where its size is symbolic, when that is largest);
    None for anything else."""
    size = uop.size
    while uop.op is Ops.RESHAPE:
        uop = uop.src[0]
    if uop.op is Ops.SHRINK and len(uop.shape) == 1 and isinstance(uop.shape[0], UOp):
        (begin, _), *_ = uop.arg
        uop = uop.src[0] if begin == 0 else uop
    return uop if uop.op is Ops.BUFFER and uop.arg == size else None


def is_stored(uop: UOp) -> bool:
    """Whether `uop` has, or gets from realize(), memory with its elements in order."""
    return uop.op is Ops.CONTIGUOUS or whole_buffer(uop) is not None


def has_memory(uop: UOp) -> bool:
    """Whether each element has a place of its own in a buffer, or in one that is assigned to."""
    places = (Ops.RESHAPE, Ops.PERMUTE, Ops.SHRINK, Ops.FLIP, Ops.ASSIGN, Ops.DETACH)
    while uop.op in places or (uop.op is Ops.WINDOW and _windows_are_apart(*uop.arg)):
        uop = uop.src[0]
    return uop.op is Ops.BUFFER


def _windows_are_apart(axis: int, size: int, stride: int, dilation: int) -> bool:
    """Whether no element is in two windows, as in t[::2]."""
    return dilation * (size - 1) < stride
