"""A call that has been recorded: brought into the form in which it can be replayed.

It ends with a few copies, where they are needed: a result in memory that the call took for it, a
changed Tensor in the memory where it began. Where that cannot be done, or the record has something
in it that is not the call's own, it is thrown away; what was used is made ready (`make_ready`) and
the next call is recorded instead. What made it so is mostly done with then: a Tensor that was not
computed yet, or that shares its memory with an equal one.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable
from typing import Any

from tinyframe.device import Buffer, buffer_of, is_awaited, is_overwritten, lose, set_buffer
from tinyframe.jit.arguments import Arguments, lies, map_structure
from tinyframe.jit.captured import Captured, Grad, Returned, State, has_history
from tinyframe.run.capture import UNREAD, Capture
from tinyframe.run.realize import Run
from tinyframe.tensor.base import live_tensors
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.history import targets_below
from tinyframe.tensor.laziness import above, compute, make_alone, separate
from tinyframe.tensor.storage import Storage, holders_of, path_between
from tinyframe.uop.movement import base_of, memory_of
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text


def make_ready(storage: Storage, *, to_change: bool) -> None:
    """Brings what a call uses into memory that it has for itself, before the call is captured."""
    compute([storage])
    if to_change and memory_of(storage.uop) is None:  # a constant, or a part with zeros around it
        storage.point_to(storage.uop.contiguous())
        compute([storage])
    if base_of(storage.uop).op is Ops.BUFFER:
        separate(storage)
        if to_change:
            make_alone(storage)


class Recording:
    """A call whose Python has run: its capture, its runs, its result.

    JitError where it returns or leaves behind what no replay could.
    """

    def __init__(
        self, capture: Capture, arguments: Arguments, runs: list[Run], result: Any
    ) -> None:
        self.capture, self.arguments, self.runs = capture, arguments, runs
        self.result = result
        grads = capture.grads.values()
        self.left = [t._grad for t, _ in grads if t._grad is not None]
        map_structure(result, self._add_result)
        self._refuse_what_is_left()

    def _add_result(self, value: Any) -> None:
        if isinstance(value, Tensor):
            self.left.append(value)
            if value._grad is not None:
                self._add_result(value._grad)
        elif value is not None:
            self.arguments.refuse(
                "a captured function can return Tensors, and lists, tuples and dicts of them, but "
                f"not {type(value).__name__}: that would stay the same in every replay"
            )

    def _refuse_what_is_left(self) -> None:
        known = {tensor._storage for tensor in self.left}
        for again in (False, True):
            made = [t for t in live_tensors() if self.capture.made(t._storage)]
            others = [tensor for tensor in made if tensor._storage not in known]
            if others and not again:
                gc.collect()  # what only waits to be collected is not left
        if others:
            self.arguments.refuse(
                f"it leaves a Tensor of shape {sizes_text(others[0].shape)} behind, in an "
                "attribute or a list: a replay runs no Python, and could not put a new one there. "
                "Return it, or write it with assign() into a Tensor that was made before"
            )

    # ---- memory ----------------------------------------------------------------------------------

    def settle(self) -> bool:
        """Computes what the call leaves, each where every replay will find it. False where that
        cannot be done, or what was recorded is not the call's own."""
        capture = self.capture
        outs = [tensor._storage for tensor in self.left]
        self.leaves = leaves = dict.fromkeys([*outs, *capture.changed])
        for _ in range(2):  # what is equal to a changed Tensor is one node with it, once computed
            compute(leaves)
            self._move_to_own_memory(leaves)
        compute(leaves)
        self._note_unseen()
        if not all(map(self._put_back, capture.changed)):
            return False
        kept = {base_of(storage.uop) for storage in leaves}
        nodes = [node for node in capture.nodes if node not in kept]
        self.private = [node for node in nodes if not is_overwritten(node)]
        if self._others(above(self.private)):
            return False
        # What waited may have been computed before the call came to use it, and recorded with it.
        memory = [found.buffer for found in capture.found.values() if found.buffer is not None]
        return capture.waiting.isdisjoint(capture.found) and len(set(memory)) == len(memory)

    def _written(self) -> set[Buffer]:
        return {buffer for items, _ in self.runs for item in items for buffer in item.written}

    def _move_to_own_memory(self, leaves: Iterable[Storage]) -> None:
        """Copies what lies in memory that something else begins in, or that no kernel writes."""
        begun = {found.buffer for found in self.capture.found.values()} - {None}
        written = self._written()
        for storage in leaves:
            if (base := base_of(storage.uop)).op is Ops.BUFFER:
                buffer, begin = buffer_of(base), self.capture.found.get(storage.born)
                its_own = begin is not None and begin.buffer is buffer
                if not its_own and (buffer in begun or buffer not in written):
                    storage.point_to(storage.uop.contiguous())

    def _note_unseen(self) -> None:
        """Memory that kernels use is a Tensor's also where the call knew it as a graph only."""
        used = {buffer for items, _ in self.runs for item in items for buffer in item.bufs}
        for tensor in live_tensors():
            storage, base = tensor._storage, base_of(tensor._storage.uop)
            if base.op is Ops.BUFFER and not is_awaited(base) and not is_overwritten(base):
                if storage not in self.leaves and buffer_of(base) in used:
                    self.capture.note(storage)

    def _put_back(self, storage: Storage) -> bool:
        """Brings the values of a changed Tensor to the memory where it began, if nobody else needs
        what is there."""
        begin, uop = self.capture.found[storage.born], storage.uop
        base, now = base_of(begin.uop), base_of(uop)
        if begin.buffer is None or memory_of(begin.uop) is None:
            return False
        if now.op is Ops.BUFFER and buffer_of(now) is begin.buffer and lies(uop) == lies(begin.uop):
            return True
        if not is_overwritten(base):
            if any(other is not storage for other in self._others(above([base]))):
                return False
            lose(base)
        node = UOp.new_buffer(base.device, base.arg, base.dtype)
        set_buffer(node, begin.buffer)
        storage.point_to(begin.uop.substitute({base: node}).assign(uop))
        compute([storage])
        return buffer_of(base_of(storage.uop)) is begin.buffer

    def _others(self, nodes: Iterable[UOp]) -> list[Storage]:
        """The storages that the call did not make that mean one of these nodes."""
        holders = [holder for node in nodes for holder in holders_of(node)]
        return [h for h in holders if isinstance(h, Storage) and not self.capture.made(h)]

    # ---- what a replay needs ---------------------------------------------------------------------

    def captured(self) -> Captured:
        capture, arguments = self.capture, self.arguments
        items = [item for items, _ in self.runs for item in items]
        result = map_structure(self.result, lambda x: x if x is None else self._returned(x))
        grads = [self._grad(tensor, first) for tensor, first in capture.grads.values()]
        if not items and not self.left:
            arguments.refuse(
                "it launched no kernel: there is nothing to replay. It has to compute something "
                "from the Tensors that it is given"
            )
        written = self._written()
        used = written | {buffer for item in items for buffer in item.bufs}
        cuts = []
        for known, found in zip(arguments.inputs, capture.found.values(), strict=False):
            known.is_written = known.buffer in written
            cuts.append(self._cut(storage) if (storage := found.storage()) else [])
        grads_found = [(t, g) for t, g in capture.grads.values() if isinstance(g, Tensor)]
        owners = {grad._storage: tensor for tensor, grad in grads_found}
        states, constants = [], []
        for born, found in capture.found.items():
            if born in capture.inputs:
                continue
            if (storage := found.storage()) is None:
                if found.buffer in used:
                    arguments.refuse(
                        "it puts another Tensor in the place of one that it uses, of "
                        f"{sizes_text(found.uop.shape)} {found.uop.dtype}: a replay runs no "
                        "Python, and could not do that. Write into the Tensor instead, with "
                        "assign()"
                    )
            elif found.buffer is None:
                constants.append((found.storage, found.uop))
            elif found.buffer in used or grads:  # gradients flow through what no kernel reads
                owner = None if (t := owners.get(storage)) is None else weakref.ref(t)
                view, is_written = lies(found.uop), found.buffer in written
                seen, cut = weakref.ref(storage.uop), self._cut(storage)
                begun = has_history(storage, found.uop)
                states.append(
                    State(found.storage, owner, view, found.buffer, is_written, cut, seen, begun)
                )
        made = {
            base: buffer_of(base)
            for tensor in self.left
            if capture.made(tensor._storage)
            and (base := base_of(tensor._storage.uop)).op is Ops.BUFFER
        }
        random, private = capture.random, self.private
        return Captured(
            arguments, self.runs, random, states, constants, cuts, result, grads, made, private
        )

    def _returned(self, tensor: Tensor) -> Returned:
        storage, path = tensor._storage, tensor._path
        where: int | Storage | None = None if self.capture.made(storage) else storage
        if storage.born in self.capture.inputs:
            where = self.capture.inputs[storage.born]
            path = path[len(self.capture.given[where]._path) :]
        grad = None if tensor._grad is None or where is not None else self._returned(tensor._grad)
        cut = self._cut(storage) if where is None else []
        base = base_of(storage.uop)
        inside = path_between(base, storage.uop)
        return Returned(where, storage.born, base, inside, path, tensor._requires_grad, cut, grad)

    def _cut(self, storage: Storage) -> list[Any]:
        """Those that a gradient would flow to from what a storage means now: Tensors that were
        there before, or the numbers of arguments."""
        if base_of(storage.uop).op is not Ops.BUFFER:
            return []  # no gradient flows through a constant
        number = self.capture.inputs
        below = targets_below(storage.uop) - {storage}
        old = [target for target in below if not self.capture.made(target)]
        return [number.get(target.born, weakref.ref(target)) for target in old]

    def _grad(self, tensor: Tensor, first: Any) -> Grad:
        given = next((n for n, t in enumerate(self.capture.given) if t is tensor), None)
        final = tensor._grad
        return Grad(
            weakref.ref(tensor) if given is None else given,
            None if first is UNREAD else first is not None,
            final is first,
            None if final is None else self._returned(final),
        )
