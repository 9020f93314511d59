"""A captured call: its kernels over slots, and the owner of each slot.

A kernel only knows slots. A replay has to know who owns the memory of each:

- given: an argument. The slot gets the memory of the current argument.
- kept: a Tensor that existed before the call, a state. Its current memory is looked up, and
  updated. So is that of a `.grad` left by the last replay, if nobody else references it.
- fresh: a Tensor that the call returns, or leaves as a `.grad`. Each replay allocates its memory.
- temporary: nobody; it holds intermediate values. Every replay reuses it, and nothing else may
  read it.

`recording.py` ensures that there are no other kinds.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from sys import getrefcount
from typing import Any

from tinyframe.device import Buffer, buffer_of, is_overwritten, lose, set_buffer
from tinyframe.jit.arguments import FlatArguments, Signature, memory_layout, tree_map
from tinyframe.jit.replay import Progress, Replay
from tinyframe.run.capture import ALIASED_ARGUMENT, Owner
from tinyframe.run.realize import running, settle, settling
from tinyframe.tensor.base import Path, Storage
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.history import Lost, reset_history, targets_below
from tinyframe.tensor.laziness import compute, lists_to_watch, make_sole_owner
from tinyframe.uop.movement import base_of
from tinyframe.uop.node import GroupOp, Ops, UOp, map_sizes, plain
from tinyframe.uop.show import sizes_text

# ---- what a call leaves: `.grad`s, histories that are cut ----------------------------------------

NO_HISTORY = (
    " was replayed by TinyJit, without the Python that records it. Call backward() inside the "
    "captured function, or leave TinyJit out; .detach() the result if no gradient is wanted"
)


class Cut:
    """Where gradients would have flowed through a value: older storages, and arguments by number.
    A replay does not record how they would get there (see `Lost`)."""

    def __init__(self, targets: Sequence[weakref.ref[Storage] | int], name: str) -> None:
        self.numbers = [target for target in targets if isinstance(target, int)]
        self.older = [target for target in targets if not isinstance(target, int)]
        self.why = name + NO_HISTORY
        self.given: Sequence[weakref.ref[Storage]] | None = None
        self.last: Lost | None = None

    def __bool__(self) -> bool:
        return bool(self.numbers or self.older)

    def lost(self, given: Sequence[weakref.ref[Storage]]) -> Lost | None:
        """The history of the value after a call with these arguments."""
        if given != self.given and self:
            targets = [*self.older, *[given[number] for number in self.numbers]]
            if self.last is None or targets != self.last.refs:
                self.last = Lost(targets, self.why)
            self.given = given
        return self.last


@dataclass(eq=False)
class GradChange:
    """The effect of a call on the `.grad` of a Tensor: an argument (by number) or an older one.

    must_exist: whether there was a `.grad` before (None: that makes no difference). make: builds
    the new one. cut: see `Cut`. slot: its memory, if nothing else is stored there. left: the
    `.grad` that the last call left, its graph, its memory and its flags; lost: its history. If
    nobody else references it, it is reused, which is faster than building another.
    """

    owner: int | weakref.ref[Tensor]
    must_exist: bool | None
    is_unchanged: bool
    make: Callable[[Any], Tensor] | None
    cut: Cut
    slot: int | None
    left: tuple[Any, ...] | None = None
    lost: Lost | None = None

    def owner_in(self, tensors: Sequence[Tensor]) -> Tensor | None:
        return tensors[self.owner] if isinstance(self.owner, int) else self.owner()

    def leave(self, grad: Tensor, lost: Lost | None) -> None:
        memory = buffer_of(base_of(grad._storage.uop))
        self.left = *map(weakref.ref, (grad, grad._storage.uop, memory)), _gradient_flags(grad)
        self.lost = lost

    def kept(self, owner: Tensor) -> Buffer | None:
        """The memory of the `.grad` that the last call left, if the owner still has it and nothing
        else references anything from the Tensor down to its BUFFER."""
        if self.left is None or owner._grad is None:
            return None
        if _most_references(owner) > _references_if_unshared():
            return None
        grad, uop, memory, flags = self.left
        now = owner._grad
        same = now is grad() and now._storage.uop is uop() and now._grad is None
        return memory() if same and _gradient_flags(now) == flags else None


def _gradient_flags(grad: Tensor) -> tuple[Any, ...]:
    return grad._requires_grad, grad._storage.may_need_grad, grad._storage.is_parameter


def _most_references(owner: Tensor) -> int:
    """The highest reference count of a `.grad`, its storage and the nodes of its view."""
    found: list[Any] = [owner._grad]  # in a list, since a local variable would count as a reference
    found.append(found[-1]._storage)
    found.append(found[-1].uop)
    while found[-1].op in GroupOp.Movement:
        found.append(found[-1].src[0])
    return max(map(getrefcount, found))


@functools.cache
def _references_if_unshared() -> int:
    """The same count if nothing else references them; it depends on the version of Python."""
    owner = Tensor.empty(1, device="PYTHON")  # every machine has this device
    owner._grad = Tensor.empty(1, device="PYTHON")
    return _most_references(owner)


# ---- a captured call -----------------------------------------------------------------------------


class Call:
    """A replay in progress.

    tensors: the arguments; given: their storages. bound: the BIND of each Variable. states: the
    states, by current storage. memory: the memory of the call's own slots (arguments and results);
    changed: those that differ from the last call's. fill: slot of a result -> its new BUFFER. kept:
    slot number -> a `.grad` whose memory is reused; dropped: the same `.grad`s, with their owners.
    made: the storages of results, by number. progress: how far the replay has got.
    """

    def __init__(self, tensors: Sequence[Tensor], bound: dict[UOp, UOp]) -> None:
        self.tensors, self.bound = tensors, bound
        self.given = [weakref.ref(tensor._storage) for tensor in tensors]
        self.states: dict[Storage, Owner] = {}
        self.memory: list[Buffer] = []
        self.changed: Sequence[int] = ()
        self.fill: dict[UOp, UOp] = {}
        self.kept: dict[int, Tensor] = {}
        self.dropped: list[tuple[Tensor, Tensor]] = []
        self.made: dict[int, Storage] = {}
        self.progress = Progress()


@dataclass
class Captured:
    """A recorded call: its kernels, and how its arguments, states and results map to slots.

    The slots of the arguments come first, then those of results. The Replay keeps the memory of all
    others from call to call.
    """

    signature: Signature
    replay: Replay
    values: list[dict[UOp, int]]  # of the Variables, at each launch of a schedule
    random: list[tuple[Buffer, Callable[[Buffer], None]]]
    states: list[Owner]
    constants: list[Owner]  # compiled into the kernels
    result: Any  # the returned structure, with a function from Call to Tensor for each Tensor
    grads: list[GradChange]
    fresh: list[UOp]  # the slots of results
    private: list[UOp]  # BUFFERs that the first replay overwrites
    # the users of written states' memory, and how many there were at the last check
    watched: list[list[Any]] = field(default_factory=list)
    counts: tuple[int, ...] = (-1,)

    def __post_init__(self) -> None:
        self.written_inputs = [(n, i) for n, i in enumerate(self.signature.inputs) if i.is_written]
        self.written_states = [state for state in self.states if state.is_written]
        self.cut_states = [state for state in self.written_states if state.cut]
        self.to_forget = self.written_states  # their histories have to be cut
        self.changed_grads = [grad for grad in self.grads if not grad.is_unchanged]
        self.dropped_grads = [grad for grad in self.changed_grads if grad.must_exist is None]
        self.own = range(len(self.signature.inputs) + len(self.fresh))  # slots of this call

    @property
    def kernels(self) -> list[UOp]:
        """The loop nests; copies are left out."""
        return [ast for ast in self.replay.scheduled.asts if ast.op is Ops.SINK]

    def __repr__(self) -> str:
        return f"<Captured: {len(self.kernels)} kernels, {len(self.signature.inputs)} inputs>"

    def fits(self, given: FlatArguments) -> bool:
        """Whether the Python body would do what it did when captured, as far as that depends on
        constants, on which Tensors have a `.grad`, and on which arguments may get one."""
        for known in self.constants:
            if (storage := known.storage()) is not None and storage.uop is not known.uop:
                return False
        if not self.grads:
            return True
        for tensor, known in zip(given.tensors, self.signature.inputs, strict=False):
            if tensor.is_param is not known.has_gradient:
                return False
        for grad in self.grads:
            if grad.must_exist is not None and (owner := grad.owner_in(given.tensors)) is not None:
                if grad.must_exist is not (owner._grad is not None):
                    return False
        return True

    # ---- a replay --------------------------------------------------------------------------------

    def __call__(self, given: FlatArguments) -> Any:
        with running:
            settle()
            call = Call(given.tensors, self.signature.match(given))
            return settling(lambda: self._replay(call), lambda: self._settle(call))

    def _replay(self, call: Call) -> Any:
        self._locate_states(call)
        self._locate_inputs(call)
        self._make_fresh(call)
        for buffer, refill in self.random:
            refill(buffer)
        self._launch(call)
        return self._results(call)

    def _settle(self, call: Call) -> None:
        """After an error or Ctrl-C: if launching had begun, completes the call where possible, else
        leaves everything as it was. What a kernel was writing is lost if nobody can tell whether it
        ran."""
        progress = call.progress
        half = {buffer for item in progress.begun if not item.has_run for buffer in item.written}
        for base in [base_of(storage.uop) for storage in call.states]:
            if half and not is_overwritten(base) and buffer_of(base) in half:
                lose(base)
        if not half and (progress.ran or any(item.has_run for item in progress.items)):
            with suppress(Exception):
                self._launch(call)
                self._results(call)
                return
        for owner, grad in call.dropped:
            owner._grad = grad

    def _launch(self, call: Call) -> None:
        while self.private:
            lose(self.private.pop())
        values = self.values
        if bound := call.bound:
            values = [
                {v: bound[v].val if v in bound else x for v, x in each.items()} for each in values
            ]
        own = slice(len(self.own))
        self.replay.memory[own] = call.memory
        try:
            self.replay(call.changed, values, call.progress)
        finally:
            self.replay.memory[own] = [None] * len(self.own)  # the memory belongs to the caller

    def _make_fresh(self, call: Call) -> None:
        """Finds memory for the results. A `.grad` that the call replaces without reading is dropped
        first, so that its memory is free for reuse, or else is written to again (`kept`)."""
        kept: dict[int, Buffer] = {}
        for grad in self.dropped_grads:
            if (owner := grad.owner_in(call.tensors)) is not None:
                if not call.bound and (buffer := grad.kept(owner)) is not None:
                    assert grad.slot is not None and owner._grad is not None
                    call.kept[grad.slot], kept[grad.slot] = owner._grad, buffer
                    call.dropped.append((owner, owner._grad))
                owner._grad = None
        for n, slot in enumerate(self.fresh, len(self.signature.inputs)):
            if (memory := kept.get(n)) is None:
                src = UOp.unique(), slot.src[1]
                call.fill[slot] = new = UOp(Ops.BUFFER, slot.dtype, src, slot.arg)
                memory = set_buffer(new, None)
            call.memory.append(memory)
        call.changed = [n for n in self.own if n not in kept] if kept else self.own

    def _locate_inputs(self, call: Call) -> None:
        found = call.memory
        for known, tensor in zip(self.signature.inputs, call.tensors, strict=True):
            storage = tensor._storage
            if call.states and (state := call.states.get(storage)) is not None:
                if known.is_written or state.is_written or self.grads:
                    self.signature.refuse(ALIASED_ARGUMENT)
            if known.is_written:
                make_sole_owner(storage)
            found.append(buffer_of(base_of(storage.uop)))
        if len(found) > 1 and len(set(found)) < len(found):
            self.signature.refuse("two of its arguments are the same Tensor; pass a clone() of one")

    def _locate_states(self, call: Call) -> None:
        """Looks up the states, and the memory of those that have moved."""
        has_changed = tuple(map(len, self.watched)) != self.counts
        for state in self.states:
            storage = state.storage()
            if storage is None:
                self.signature.refuse_mismatch(
                    f"a Tensor of {state.text} that it uses no longer exists; if Python code "
                    "replaced it, a replay cannot know. Write into the Tensor instead, with "
                    "assign()"
                )
            call.states[storage] = state
            if state.seen() is not storage.uop or (has_changed and state.is_written):
                self.replay.in_step = False
                self.replay.memory[state.slot] = self._locate(state, storage)
                has_changed = True
        if has_changed:
            written = [s for state in self.written_states if (s := state.storage())]
            self.to_forget = self.written_states
            self.watched = [users for storage in written for users in lists_to_watch(storage)]
            self.counts = tuple(map(len, self.watched))

    def _locate(self, state: Owner, storage: Storage) -> Buffer:
        compute([storage])
        if memory_layout(storage.uop) != state.view:
            storage.point_to(storage.uop.contiguous())
            compute([storage])
        if base_of(storage.uop).op is not Ops.BUFFER or memory_layout(storage.uop) != state.view:
            self.signature.refuse_mismatch(
                f"a Tensor of shape {sizes_text(storage.uop.shape)} that it uses has a different "
                "layout in memory than when it was captured"
            )
        if self.grads and not state.has_gradient and has_history(storage, storage.uop):
            self.signature.refuse_mismatch(
                f"a Tensor of shape {sizes_text(storage.uop.shape)} that it uses is computed from "
                "parameters now, and was not when it was captured: detach() it"
            )
        if state.is_written:
            make_sole_owner(storage)
        state.seen = weakref.ref(storage.uop)
        return buffer_of(base_of(storage.uop))

    def _results(self, call: Call) -> Any:
        """The result of this call; sets `.grad`s and histories as the Python body would."""
        tensors = call.tensors
        for state in self.to_forget:
            if (seen := state.seen()) is not None:
                reset_history(seen, state.cut.lost(call.given))
        self.to_forget = self.cut_states
        for number, known in self.written_inputs:
            reset_history(tensors[number]._storage.uop, known.cut.lost(call.given))
        for grad in self.changed_grads:
            if (owner := grad.owner_in(tensors)) is None:
                continue
            lost = grad.cut.lost(call.given)
            kept = None if grad.slot is None else call.kept.get(grad.slot)
            if kept is not None:
                owner._grad = kept
                if lost is not grad.lost:  # usually the same as in the last call
                    reset_history(kept._storage.uop, lost)
                    grad.lost = lost
            else:
                owner._grad = new = None if grad.make is None else grad.make(call)
                if grad.slot is not None and new is not None:
                    grad.leave(new, lost)
        if callable(self.result):  # the common case
            return self.result(call)
        return tree_map(self.result, lambda make: make and make(call))


def has_history(storage: Storage, uop: UOp) -> bool:
    """Whether gradients flow through a storage's value to a parameter."""
    return any(target.is_parameter for target in targets_below(uop) - {storage})


def rebound(path: Path, bound: dict[UOp, UOp]) -> Path:
    """A path with the current values of its Variables."""
    if not bound:
        return path

    def now(size: UOp) -> Any:
        return plain(size.substitute({u: bound.get(u.src[0], u) for u in size.unknowns if u.src}))

    return tuple([(op, map_sizes(arg, now)) for op, arg in path])
