"""Turns a recorded call into a form that can be replayed.

If necessary, a few copies are appended to the call, so that each result is in memory the call
allocated, and each changed Tensor in its original memory. If that is impossible, or if the
recording contains work from outside the call, it is discarded; the Tensors it used are made ready
(`make_ready`) and the next call is recorded instead. By then the cause is usually gone: a Tensor
that was not computed yet, or that shared its memory with an equal one.
"""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable, Container, Iterable
from typing import Any

from tinyframe.device import Buffer, buffer_of, is_awaited, is_overwritten, lose, set_buffer
from tinyframe.jit.arguments import Signature, memory_layout, tree_map
from tinyframe.jit.captured import Call, Captured, Cut, GradChange, has_history, rebound
from tinyframe.jit.replay import Replay
from tinyframe.run.capture import UNREAD, Capture, Owner
from tinyframe.run.realize import Run
from tinyframe.schedule import Kernels, slot
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.tensor.base import Storage, follow, live_tensors, path_between, references_to
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.history import reset_history, targets_below
from tinyframe.tensor.laziness import compute, make_sole_owner, transitive_users, unalias
from tinyframe.uop.movement import base_of, memory_of
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text


def make_ready(storage: Storage, *, to_change: bool) -> None:
    """Gives a storage that a call uses memory of its own, before the call is captured."""
    compute([storage])
    if to_change and memory_of(storage.uop) is None:  # a constant, or a padded value
        storage.point_to(storage.uop.contiguous())
        compute([storage])
    if base_of(storage.uop).op is Ops.BUFFER:
        unalias(storage)
        if to_change:
            make_sole_owner(storage)


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
                gc.collect()  # may have been garbage
        if others:
            self.signature.refuse(
                f"it leaves a Tensor of shape {sizes_text(others[0].shape)} behind, in an "
                "attribute or a list: a replay runs no Python, and could not put a new one there. "
                "Return it, or write it with assign() into a Tensor that was made before"
            )

    # ---- memory ----------------------------------------------------------------------------------

    def settle(self) -> bool:
        """Computes the call's outputs, in memory where every replay will find them. False if that
        is impossible, or if the recording contains work from outside the call."""
        capture = self.capture
        live_out = [tensor._storage for tensor in self.live_out]
        self.outputs = outputs = dict.fromkeys([*live_out, *capture.changed])
        for _ in range(2):  # once computed, a value equal to a changed Tensor becomes the same node
            compute(outputs)
            self._move_to_own_memory(outputs)
        compute(outputs)
        self._note_aliases()
        if not all(map(self._write_back, capture.changed)):
            return False
        kept = {base_of(storage.uop) for storage in outputs}
        nodes = [node for node in capture.nodes if node not in kept]
        self.private = [node for node in nodes if not is_overwritten(node)]
        if self._outside_storages(transitive_users(self.private)):
            return False
        # A value that was unrealized before the call may have been computed, and recorded, in it.
        initial = capture.initial.values()
        memory = [value.buffer for value in initial if value.buffer is not None]
        return capture.unrealized.isdisjoint(capture.initial) and len(set(memory)) == len(memory)

    def _written(self) -> set[Buffer]:
        return {buffer for items, _ in self.runs for item in items for buffer in item.written}

    def _move_to_own_memory(self, outputs: Iterable[Storage]) -> None:
        """Copies an output that is in the initial memory of another storage, or in memory that no
        kernel writes."""
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
        """Writes a changed Tensor back to its initial memory. False if it had none, or if something
        else needs the value in it."""
        before, uop = self.capture.initial[storage.born], storage.uop
        base, now = base_of(before.uop), base_of(uop)
        if before.buffer is None or memory_of(before.uop) is None:
            return False
        if now.op is Ops.BUFFER and buffer_of(now) is before.buffer:
            if memory_layout(uop) == memory_layout(before.uop):
                return True
        if not is_overwritten(base):
            if any(
                other is not storage for other in self._outside_storages(transitive_users([base]))
            ):
                return False
            lose(base)
        node = UOp.new_buffer(base.device, base.arg, base.dtype)
        set_buffer(node, before.buffer)
        storage.point_to(before.uop.substitute({base: node}).assign(uop))
        compute([storage])
        return buffer_of(base_of(storage.uop)) is before.buffer

    def _outside_storages(self, nodes: Iterable[UOp]) -> list[Storage]:
        """The storages from outside the call whose value is one of these nodes."""
        references = [r for node in nodes for r in references_to(node)]
        return [r for r in references if isinstance(r, Storage) and not self.capture.made(r)]

    # ---- the captured call -----------------------------------------------------------------------

    def captured(self) -> Captured:
        capture, signature = self.capture, self.signature
        items = [item for items, _ in self.runs for item in items]
        if not items and not self.live_out:
            signature.refuse(
                "it launched no kernel: there is nothing to replay. It has to compute something "
                "from the Tensors that it is given"
            )
        used = dict.fromkeys(buffer for item in items for buffer in item.bufs)
        states, constants = self._states(used)
        made = [t._storage.uop for t in self.live_out if capture.made(t._storage)]
        bases = [base for base in dict.fromkeys(map(base_of, made)) if base.op is Ops.BUFFER]
        given = [owner.buffer for owner in signature.inputs]
        owned = [*given, *map(buffer_of, bases), *[state.buffer for state in states]]
        slots, replay = self._in_slots(items, used, owned)
        self.fresh = {base: slots[buffer_of(base)] for base in bases}
        for n, state in enumerate(states, len(given) + len(bases)):
            state.slot = n
        for owner in (*signature.inputs, *states):
            owner.buffer = owner.uop = None  # a capture keeps nobody else's memory alive
        result = tree_map(self.result, lambda x: x if x is None else self._returned(x))
        grads = [self._grad(tensor, first) for tensor, first in capture.grads.values()]
        return Captured(
            signature, replay, [var_vals for _, var_vals in self.runs], capture.random, states,
            constants, result, grads, list(self.fresh.values()), self.private,
        )  # fmt: skip

    def _in_slots(
        self, items: list[ScheduleItem], used: Iterable[Buffer], owned: list[Buffer | None]
    ) -> tuple[dict[Buffer, UOp], Replay]:
        """A slot for each Buffer, the owned ones first, and a Replay of the kernels over slots."""
        buffers = [b for b in dict.fromkeys([*owned, *used]) if b is not None]
        slots = {b: slot(n, b.device, b.size, b.dtype) for n, b in enumerate(buffers)}
        kernels = Kernels(
            list(slots.values()),
            len(self.signature.inputs),
            [item.ast for item in items],
            [[slots[buffer] for buffer in item.bufs] for item in items],
            {slots[b] for b in self.capture.made_memory.difference(owned) if b in used},
        )
        launched = {n for numbers in kernels.arguments_keeping() for n in numbers}
        memory = [b if n in launched else None for n, b in enumerate(slots)]
        return slots, Replay(kernels, memory, [len(items) for items, _ in self.runs])

    def _states(self, used: Container[Buffer]) -> tuple[list[Owner], list[Owner]]:
        """The states of the call, and the constants."""
        capture, signature, written = self.capture, self.signature, self._written()
        grads = [(t, g) for t, g in capture.grads.values() if isinstance(g, Tensor)]
        owners = {grad._storage: tensor for tensor, grad in grads}
        states, constants = [], []
        for born, known in capture.initial.items():
            storage = known.storage()
            known.is_written, known.cut = known.buffer in written, self._cut(storage)
            if born in capture.inputs:
                continue
            if storage is None:
                if known.buffer in used:
                    signature.refuse(
                        "it replaces a Tensor that it uses, of "
                        f"{sizes_text(known.uop.shape)} {known.uop.dtype}: a replay runs no "
                        "Python, and could not do that. Write into the Tensor instead, with "
                        "assign()"
                    )
            elif known.buffer is None:
                constants.append(known)
            elif known.buffer in used or capture.grads:  # gradients may need it unread
                if storage in owners:
                    known.storage = functools.partial(_current_grad, weakref.ref(owners[storage]))
                known.view, known.seen = memory_layout(known.uop), weakref.ref(storage.uop)
                known.text = f"{known.buffer.size} elements of {known.buffer.dtype}"
                known.has_gradient = has_history(storage, known.uop)
                states.append(known)
        return states, constants

    def _returned(self, tensor: Tensor) -> Callable[[Call], Tensor]:
        """A function that makes this Tensor in a replay, on an argument's storage, an older storage
        or a new one."""
        storage, path, requires_grad = tensor._storage, tensor._path, tensor._requires_grad
        if (n := self.capture.inputs.get(storage.born)) is not None:
            path = path[len(self.capture.arguments[n]._path) :]

            def of_argument(call: Call) -> Tensor:
                given = call.tensors[n]
                whole = *given._path, *rebound(path, call.bound)
                return Tensor._seeing(given._storage, whole, requires_grad)

            return of_argument
        if not self.capture.made(storage):
            return lambda call: Tensor._seeing(storage, rebound(path, call.bound), requires_grad)
        base, number, cut = base_of(storage.uop), storage.born, self._cut(storage)
        if base.op is not Ops.BUFFER and not storage.uop.unknowns:
            base = storage.uop  # a constant, the same in each call
        inside, slot = path_between(base, storage.uop), self.fresh.get(base, base)
        grad = None if tensor._grad is None else self._returned(tensor._grad)

        def new(call: Call) -> Tensor:
            if (storage := call.made.get(number)) is None:
                uop = follow(rebound(inside, call.bound), call.fill.get(slot, slot))
                storage = call.made[number] = Storage(uop, requires_grad is not False)
                if (lost := cut.lost(call.given)) is not None:
                    reset_history(uop, lost)
            made = Tensor._seeing(storage, rebound(path, call.bound), requires_grad)
            if grad is not None:
                made._grad = grad(call)
            return made

        return new

    def _cut(self, storage: Storage | None) -> Cut:
        """The Cut of a storage's current value, empty for a constant; equal Cuts are the same
        object."""
        targets: list[Any] = []
        if storage is not None and base_of(storage.uop).op is Ops.BUFFER:
            number = self.capture.inputs
            below = targets_below(storage.uop) - {storage}
            old = sorted((t for t in below if not self.capture.made(t)), key=lambda t: t.born)
            targets = [number.get(target.born, weakref.ref(target)) for target in old]
        return self._cuts.setdefault(tuple(targets), Cut(targets, self.signature.name))

    def _grad(self, tensor: Tensor, first: Any) -> GradChange:
        number = next((n for n, t in enumerate(self.capture.arguments) if t is tensor), None)
        owner = weakref.ref(tensor) if number is None else number
        must_exist = None if first is UNREAD else first is not None
        if (final := tensor._grad) is None:
            return GradChange(owner, must_exist, final is first, None, self._cut(None), None)
        storage, slot = final._storage, None
        is_new = self.capture.made(storage)
        if is_new and (final._path, final._grad) == ((), None):
            bases = [base_of(live._storage.uop) for live in self.live_out]
            if (base := base_of(storage.uop)) in self.fresh and bases.count(base) == 1:
                slot = len(self.signature.inputs) + list(self.fresh).index(base)
        cut = self._cut(storage if is_new else None)
        return GradChange(owner, must_exist, final is first, self._returned(final), cut, slot)


def _current_grad(ref: weakref.ref[Tensor]) -> Storage | None:
    tensor = ref()
    return None if tensor is None or tensor._grad is None else tensor._grad._storage
