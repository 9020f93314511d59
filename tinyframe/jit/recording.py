"""A recorded call, brought into a form that can be replayed.

It ends with a few copies if they are needed, so that a result is in memory that the call allocated,
and a changed Tensor in its original memory. If that is impossible, or if the recording contains
work from outside of the call, it is discarded; the Tensors it used are made ready (`make_ready`)
and the next call is recorded instead. By then the cause is usually gone: a Tensor that was not
computed yet, or that shared its memory with an equal one.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable
from typing import Any

from tinyframe.device import Buffer, buffer_of, is_awaited, is_overwritten, lose, set_buffer
from tinyframe.jit.arguments import Signature, memory_layout, tree_map
from tinyframe.jit.captured import Captured, State, has_history
from tinyframe.jit.effects import Cut, GradChange, ReturnedTensor
from tinyframe.run.capture import UNREAD, Capture
from tinyframe.run.realize import Run
from tinyframe.tensor.base import Storage, holders_of, live_tensors, path_between
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.history import targets_below
from tinyframe.tensor.laziness import above, compute, make_alone, separate
from tinyframe.uop.movement import base_of, memory_of
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text


def make_ready(storage: Storage, *, to_change: bool) -> None:
    """Gives a storage that a call uses separate memory, before the call is captured."""
    compute([storage])
    if to_change and memory_of(storage.uop) is None:  # a constant, or a padded value
        storage.point_to(storage.uop.contiguous())
        compute([storage])
    if base_of(storage.uop).op is Ops.BUFFER:
        separate(storage)
        if to_change:
            make_alone(storage)


class Recording:
    """A call whose Python body has run: its capture, its runs, its result.

    live_out: the Tensors that it returns or leaves as a `.grad`. JitError if it returns something
    else, or if another Tensor escapes.
    """

    def __init__(
        self, capture: Capture, signature: Signature, runs: list[Run], result: Any
    ) -> None:
        self.capture, self.signature, self.runs = capture, signature, runs
        self.result = result
        self._cuts: dict[tuple, Cut] = {}
        grads = capture.grads.values()
        self.live_out = [t._grad for t, _ in grads if t._grad is not None]
        tree_map(result, self._add_result)
        self._refuse_escaping_tensors()

    def _add_result(self, value: Any) -> None:
        if isinstance(value, Tensor):
            self.live_out.append(value)
            if value._grad is not None:
                self._add_result(value._grad)
        elif value is not None:
            self.signature.refuse(
                "a captured function can return Tensors, and lists, tuples and dicts of them, but "
                f"not {type(value).__name__}: that would stay the same in every replay"
            )

    def _refuse_escaping_tensors(self) -> None:
        known = {tensor._storage for tensor in self.live_out}
        for again in (False, True):
            made = [t for t in live_tensors() if self.capture.made(t._storage)]
            others = [tensor for tensor in made if tensor._storage not in known]
            if others and not again:
                gc.collect()  # garbage does not count
        if others:
            self.signature.refuse(
                f"it leaves a Tensor of shape {sizes_text(others[0].shape)} behind, in an "
                "attribute or a list: a replay runs no Python, and could not put a new one there. "
                "Return it, or write it with assign() into a Tensor that was made before"
            )

    # ---- memory ----------------------------------------------------------------------------------

    def settle(self) -> bool:
        """Computes the call's outputs, in memory where every replay will find them. False if that
        is impossible, or if the recording contains work from outside of the call."""
        capture = self.capture
        live_out = [tensor._storage for tensor in self.live_out]
        self.outputs = outputs = dict.fromkeys([*live_out, *capture.changed])
        for _ in range(2):  # once computed, a value equal to a changed Tensor is the same node
            compute(outputs)
            self._move_to_own_memory(outputs)
        compute(outputs)
        self._note_aliases()
        if not all(map(self._write_back, capture.changed)):
            return False
        kept = {base_of(storage.uop) for storage in outputs}
        nodes = [node for node in capture.nodes if node not in kept]
        self.private = [node for node in nodes if not is_overwritten(node)]
        if self._outside_holders(above(self.private)):
            return False
        # A value that was unrealized before the call may have been computed, and recorded, in it.
        initial = capture.initial.values()
        memory = [value.buffer for value in initial if value.buffer is not None]
        return capture.unrealized.isdisjoint(capture.initial) and len(set(memory)) == len(memory)

    def _written(self) -> set[Buffer]:
        return {buffer for items, _ in self.runs for item in items for buffer in item.written}

    def _move_to_own_memory(self, outputs: Iterable[Storage]) -> None:
        """Copies outputs in the initial memory of another storage, or in memory that no kernel
        writes."""
        initial = {value.buffer for value in self.capture.initial.values()} - {None}
        written = self._written()
        for storage in outputs:
            if (base := base_of(storage.uop)).op is Ops.BUFFER:
                buffer, before = buffer_of(base), self.capture.initial.get(storage.born)
                is_own = before is not None and before.buffer is buffer
                if not is_own and (buffer in initial or buffer not in written):
                    storage.point_to(storage.uop.contiguous())

    def _note_aliases(self) -> None:
        """Notes storages whose memory the kernels use, although the call never used the storage."""
        used = {buffer for items, _ in self.runs for item in items for buffer in item.bufs}
        for tensor in live_tensors():
            storage, base = tensor._storage, base_of(tensor._storage.uop)
            if base.op is Ops.BUFFER and not is_awaited(base) and not is_overwritten(base):
                if storage not in self.outputs and buffer_of(base) in used:
                    self.capture.note(storage)

    def _write_back(self, storage: Storage) -> bool:
        """Writes a changed Tensor back to its initial memory, unless that holds a value that
        somebody else needs."""
        before, uop = self.capture.initial[storage.born], storage.uop
        base, now = base_of(before.uop), base_of(uop)
        if before.buffer is None or memory_of(before.uop) is None:
            return False
        if now.op is Ops.BUFFER and buffer_of(now) is before.buffer:
            if memory_layout(uop) == memory_layout(before.uop):
                return True
        if not is_overwritten(base):
            if any(other is not storage for other in self._outside_holders(above([base]))):
                return False
            lose(base)
        node = UOp.new_buffer(base.device, base.arg, base.dtype)
        set_buffer(node, before.buffer)
        storage.point_to(before.uop.substitute({base: node}).assign(uop))
        compute([storage])
        return buffer_of(base_of(storage.uop)) is before.buffer

    def _outside_holders(self, nodes: Iterable[UOp]) -> list[Storage]:
        """The storages from outside of the call whose value is one of these nodes."""
        holders = [holder for node in nodes for holder in holders_of(node)]
        return [h for h in holders if isinstance(h, Storage) and not self.capture.made(h)]

    # ---- the captured call -----------------------------------------------------------------------

    def captured(self) -> Captured:
        capture, signature = self.capture, self.signature
        items = [item for items, _ in self.runs for item in items]
        result = tree_map(self.result, lambda x: x if x is None else self._returned(x))
        grads = [self._grad(tensor, first) for tensor, first in capture.grads.values()]
        if not items and not self.live_out:
            signature.refuse(
                "it launched no kernel: there is nothing to replay. It has to compute something "
                "from the Tensors that it is given"
            )
        written = self._written()
        used = written | {buffer for item in items for buffer in item.bufs}
        cuts = []
        for known, value in zip(signature.inputs, capture.initial.values(), strict=False):
            known.is_written = known.buffer in written
            cuts.append(self._cut(value.storage()))
        initial_grads = [(t, g) for t, g in capture.grads.values() if isinstance(g, Tensor)]
        owners = {grad._storage: tensor for tensor, grad in initial_grads}
        states, constants = [], []
        for born, value in capture.initial.items():
            if born in capture.inputs:
                continue
            if (storage := value.storage()) is None:
                if value.buffer in used:
                    signature.refuse(
                        "it puts another Tensor in the place of one that it uses, of "
                        f"{sizes_text(value.uop.shape)} {value.uop.dtype}: a replay runs no "
                        "Python, and could not do that. Write into the Tensor instead, with "
                        "assign()"
                    )
            elif value.buffer is None:
                constants.append((value.storage, value.uop))
            elif value.buffer in used or grads:  # gradients may flow through it without a read
                owner = None if (t := owners.get(storage)) is None else weakref.ref(t)
                view, is_written = memory_layout(value.uop), value.buffer in written
                seen, cut = weakref.ref(storage.uop), self._cut(storage)
                history = has_history(storage, value.uop)
                states.append(
                    State(value.storage, owner, view, value.buffer, is_written, cut, seen, history)
                )
        result_buffers = {
            base: buffer_of(base)
            for tensor in self.live_out
            if capture.made(tensor._storage)
            and (base := base_of(tensor._storage.uop)).op is Ops.BUFFER
        }
        return Captured(
            signature, self.runs, capture.random, states, constants, cuts, result, grads,
            result_buffers, self.private,
        )  # fmt: skip

    def _returned(self, tensor: Tensor) -> ReturnedTensor:
        storage, path = tensor._storage, tensor._path
        where: int | Storage | None = None if self.capture.made(storage) else storage
        if storage.born in self.capture.inputs:
            where = self.capture.inputs[storage.born]
            path = path[len(self.capture.arguments[where]._path) :]
        grad = None if tensor._grad is None or where is not None else self._returned(tensor._grad)
        cut = self._cut(storage if where is None else None)
        base = base_of(storage.uop)
        if base.op is not Ops.BUFFER and not storage.uop.unknowns:
            base = storage.uop  # a constant, the same in each call
        inside = path_between(base, storage.uop)
        requires_grad = tensor._requires_grad
        return ReturnedTensor(where, storage.born, base, inside, path, requires_grad, cut, grad)

    def _cut(self, storage: Storage | None) -> Cut:
        """Those that gradients would flow to from a storage's current value; none from a constant.
        Equal ones are one."""
        targets: list[Any] = []
        if storage is not None and base_of(storage.uop).op is Ops.BUFFER:
            number = self.capture.inputs
            below = targets_below(storage.uop) - {storage}
            old = sorted((t for t in below if not self.capture.made(t)), key=lambda t: t.born)
            targets = [number.get(target.born, weakref.ref(target)) for target in old]
        return self._cuts.setdefault(tuple(targets), Cut(targets, self.signature.name))

    def _grad(self, tensor: Tensor, first: Any) -> GradChange:
        number = next((n for n, t in enumerate(self.capture.arguments) if t is tensor), None)
        final = tensor._grad
        own = [base_of(live._storage.uop) for live in self.live_out]
        return GradChange(
            weakref.ref(tensor) if number is None else number,
            None if first is UNREAD else first is not None,
            final is first,
            None if final is None else self._returned(final),
            final is not None
            and self.capture.made(final._storage)
            and (final._path, final._grad) == ((), None)
            and (base := base_of(final._storage.uop)).op is Ops.BUFFER
            and own.count(base) == 1,
        )
