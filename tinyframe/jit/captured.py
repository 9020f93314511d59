"""A captured call: its launches, and the owner of each buffer that they use.

A kernel only knows Buffers. For each Buffer that a call uses, a replay has to know the owner:

- input i: an argument. It is replaced with the memory of the current argument.
- state: a Tensor that existed before the call. Its current memory is looked up, and updated.
- result: returned by the call, or left as a `.grad`. Each replay allocates new memory for it,
  except for a `.grad` of the replay before that nobody else has a reference to.
- private: anything else, intermediate values. Every replay reuses it, and nobody else may read it.

`recording.py` makes sure that there are no other kinds.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tinyframe.device import Buffer, buffer_of, is_overwritten, lose
from tinyframe.jit.arguments import FlatArguments, Signature, memory_layout, tree_map
from tinyframe.jit.effects import Cut, GradChange, ReturnedTensor, ReusableGrad
from tinyframe.jit.replay import Progress, Replay, merge_runs
from tinyframe.run.capture import ALIASED_ARGUMENT
from tinyframe.run.realize import running, settle, settling
from tinyframe.tensor.base import Path, Storage, follow
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.history import put_history, targets_below
from tinyframe.tensor.laziness import compute, make_alone, watched
from tinyframe.uop.movement import base_of
from tinyframe.uop.node import Ops, UOp, map_sizes, plain
from tinyframe.uop.show import sizes_text

if TYPE_CHECKING:
    from tinyframe.schedule.kernels import ScheduleItem


@dataclass
class State:
    """The memory of a Tensor that the call uses but does not take as an argument: a fixed storage,
    or the current `.grad` of `owner`.

    view: its memory layout. captured: the Buffer that the kernels were recorded with. cut: see
    `Cut`. seen: its graph in the last call. has_history: whether gradients flowed on from
    it when it was captured.
    """

    storage: weakref.ref[Storage]
    owner: weakref.ref[Tensor] | None
    view: tuple | UOp
    captured: Buffer
    is_written: bool
    cut: Cut
    seen: weakref.ref[UOp]
    has_history: bool

    def now(self) -> Storage | None:
        if self.owner is None:
            return self.storage()
        owner = self.owner()
        return None if owner is None or owner._grad is None else owner._grad._storage


class Call:
    """A replay under way.

    tensors: the arguments; given: their storages. bound: the BIND of each Variable. states: by
    their current storages. replaced: the Buffers for this call, by the captured ones. memory: the
    new BUFFERs of results, by the captured ones; reused: the `.grad`s that are written to their
    memory again; dropped: the same, with their owners. made: results' storages, by their numbers.
    progress: how far each replay has got.
    """

    __slots__ = (
        "bound", "dropped", "given", "made", "memory", "progress", "replaced", "reused", "states",
        "tensors",
    )  # fmt: skip

    def __init__(self, tensors: Sequence[Tensor], bound: dict[UOp, UOp]) -> None:
        self.tensors, self.bound = tensors, bound
        self.given = [weakref.ref(tensor._storage) for tensor in tensors]
        self.states: dict[Storage, State] = {}
        self.replaced: dict[Buffer, Buffer] = {}
        self.dropped: list[tuple[Tensor, Any]] = []
        self.progress: list[Progress] = []
        self.memory: dict[UOp, UOp] = {}
        self.reused: dict[UOp, Tensor] = {}
        self.made: dict[int, Storage] = {}


@dataclass
class Captured:
    """A recorded call: its launches, and how its arguments, states and results map to buffers."""

    signature: Signature
    runs: list[tuple[list[ScheduleItem], dict[UOp, int]]]
    random: list[tuple[Buffer, Callable[[Buffer], None]]]
    states: list[State]
    constants: list[tuple[weakref.ref[Storage], UOp]]  # compiled into the kernels
    input_cuts: list[Cut]  # of what each input is after the call
    result: Any  # the returned structure, with ReturnedTensor in place of Tensors
    grads: list[GradChange]
    result_buffers: dict[UOp, Buffer]
    private: list[UOp]  # BUFFERs that the first replay overwrites
    # the merged runs, from the first replay on
    replays: list[tuple[Replay, dict[UOp, int]]] = field(default_factory=list)
    moved: dict[Buffer, Buffer] = field(default_factory=dict)  # states' captured -> current memory
    # the users of written states' memory, and their numbers when there were no others
    watched: list[list[Any]] = field(default_factory=list)
    counts: tuple[int, ...] = (-1,)

    def __post_init__(self) -> None:
        cuts = zip(self.signature.inputs, self.input_cuts, strict=True)
        self.written_inputs = [(n, cut) for n, (i, cut) in enumerate(cuts) if i.is_written]
        self.written_states = [state for state in self.states if state.is_written]
        self.cut_states = [state for state in self.written_states if state.cut]
        self.to_forget = self.written_states  # those whose history has to be
        self.changed_grads = [grad for grad in self.grads if not grad.is_unchanged]
        self.dropped_grads = [grad for grad in self.changed_grads if grad.must_exist is None]

    @property
    def items(self) -> list[ScheduleItem]:
        """Everything that is launched, in order."""
        return [item for items, _ in self.runs for item in items]

    @property
    def kernels(self) -> list[UOp]:
        """The loop nests among the items."""
        return [item.ast for item in self.items if item.ast.op is Ops.SINK]

    def __repr__(self) -> str:
        return f"<Captured: {len(self.kernels)} kernels, {len(self.signature.inputs)} inputs>"

    def fits(self, given: FlatArguments) -> bool:
        """Whether the Python body would do the same as when it was captured, as far as that depends
        on constants, on which Tensors have a `.grad`, and on which arguments may get one."""
        for ref, uop in self.constants:
            if (storage := ref()) is not None and storage.uop is not uop:
                return False
        if not self.grads:
            return True
        for tensor, known in zip(given.tensors, self.signature.inputs, strict=False):
            if tensor.is_param is not known.requires_grad:
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
        self._find_inputs(call)
        if self.dropped_grads:
            self._drop_grads(call)
        for base, buffer in self.result_buffers.items():
            if base not in call.reused:
                src = UOp.unique(), base.src[1]
                call.memory[base] = new = UOp(Ops.BUFFER, base.dtype, src, base.arg)
                call.replaced[buffer] = buffer_of(new)
        for buffer, refill in self.random:
            refill(buffer)
        self._launch(call)
        return self._results(call)

    def _settle(self, call: Call) -> None:
        """After an error or Ctrl-C: a call that has begun to launch is completed, if that can be
        done; any other leaves everything as it was. What a kernel was writing is lost if nobody can
        say whether it ran."""
        begun = [item for progress in call.progress for item in progress.begun]
        half = {buffer for item in begun if not item.has_run for buffer in item.written}
        for base in [base_of(storage.uop) for storage in call.states]:
            if half and not is_overwritten(base) and buffer_of(base) in half:
                lose(base)
        if not half and any(progress.has_begun for progress in call.progress):
            with suppress(Exception):
                self._launch(call)
                self._results(call)
                return
        for owner, grad in call.dropped:
            owner._grad = grad

    def _drop_grads(self, call: Call) -> None:
        """Drops each `.grad` that the call replaces without having read it, so that its memory is
        free for whatever the call needs; except for those that can be written again."""
        for grad in self.dropped_grads:
            if (owner := grad.owner_in(call.tensors)) is not None:
                before = None if call.bound else grad.reusable
                if before is not None and before.is_unshared(owner):
                    assert grad.after is not None and owner._grad is not None
                    call.reused[grad.after.base] = owner._grad
                    call.dropped.append((owner, owner._grad))
                owner._grad = None

    def _find_inputs(self, call: Call) -> None:
        replaced = call.replaced
        for known, tensor in zip(self.signature.inputs, call.tensors, strict=True):
            storage = tensor._storage
            if (state := call.states.get(storage)) is not None:
                if known.is_written or state.is_written or self.grads:
                    self.signature.refuse(ALIASED_ARGUMENT)
            if known.is_written:
                make_alone(storage)
            replaced[known.buffer] = buffer_of(base_of(storage.uop))
        if len(replaced) > 1 and len(set(replaced.values())) < len(replaced):
            self.signature.refuse("two of its arguments are the same Tensor; pass a clone() of one")

    def _locate_states(self, call: Call) -> None:
        """Looks up the states of the function, and the memory of those that have moved."""
        has_changed = tuple(map(len, self.watched)) != self.counts
        for state in self.states:
            storage = state.now()
            if storage is None:
                self.signature.refuse_mismatch(
                    f"a Tensor of {state.captured.size} elements of {state.captured.dtype} that it "
                    "uses is gone: another one may have taken its place in Python, which a replay "
                    "does not run. Write into the Tensor instead, with assign()"
                )
            call.states[storage] = state
            if state.seen() is not storage.uop or (has_changed and state.is_written):
                for replay, _ in self.replays:
                    replay.needs_all_buffers = True
                self.moved[state.captured] = self._locate(state, storage)
                has_changed = True
        if has_changed:
            written = [s for state in self.written_states if (s := state.now())]
            self.to_forget = self.written_states
            self.watched = [users for storage in written for users in watched(storage)]
            self.counts = tuple(map(len, self.watched))

    def _locate(self, state: State, storage: Storage) -> Buffer:
        compute([storage])
        if memory_layout(storage.uop) != state.view:
            storage.point_to(storage.uop.contiguous())
            compute([storage])
        if base_of(storage.uop).op is not Ops.BUFFER or memory_layout(storage.uop) != state.view:
            self.signature.refuse_mismatch(
                f"a Tensor of shape {sizes_text(storage.uop.shape)} that it uses lies in memory in "
                "another way than when it was captured"
            )
        if self.grads and not state.has_history and has_history(storage, storage.uop):
            self.signature.refuse_mismatch(
                f"a Tensor of shape {sizes_text(storage.uop.shape)} that it uses is computed from "
                "parameters now, and was not when it was captured: detach() it"
            )
        if state.is_written:
            make_alone(storage)
        state.seen = weakref.ref(storage.uop)
        return buffer_of(base_of(storage.uop))

    def _launch(self, call: Call) -> None:
        if not self.replays and self.runs:
            self.replays = [(Replay(items), was) for items, was in merge_runs(self.runs)]
            while self.private:
                lose(self.private.pop())

        def everything() -> dict[Buffer, Buffer]:
            kept = {
                self.result_buffers[base]: buffer_of(base_of(grad._storage.uop))
                for base, grad in call.reused.items()
            }
            return self.moved | kept | call.replaced

        bound = call.bound
        call.progress = call.progress or [Progress() for _ in self.replays]
        for (replay, var_vals), progress in zip(self.replays, call.progress, strict=True):
            if bound:
                var_vals = {v: bound[v].val if v in bound else x for v, x in var_vals.items()}
            replay(call.replaced, var_vals, everything, progress)

    def _results(self, call: Call) -> Any:
        """The result of this call; sets `.grad`s and histories as the call would."""
        tensors = call.tensors
        for state in self.to_forget:
            if (seen := state.seen()) is not None:
                put_history(seen, state.cut.lost(call.given))
        self.to_forget = self.cut_states
        for number, cut in self.written_inputs:
            put_history(tensors[number]._storage.uop, cut.lost(call.given))
        for grad in self.changed_grads:
            if (owner := grad.owner_in(tensors)) is None:
                continue
            if grad.after is None:
                owner._grad = None
            elif grad.reusable is not None and grad.after.base in call.reused:
                owner._grad = call.reused[grad.after.base]
                grad.reusable.put_history(owner._grad, grad.after.cut.lost(call.given))
            else:
                owner._grad = new = self._tensor_of(grad.after, call)
                if grad.has_own_memory:
                    grad.reusable = ReusableGrad(new, grad.after.cut.lost(call.given))
        if type(self.result) is ReturnedTensor:  # the common case
            return self._tensor_of(self.result, call)
        return tree_map(self.result, lambda r: r and self._tensor_of(r, call))

    def _tensor_of(self, returned: ReturnedTensor, call: Call) -> Tensor:
        storage, path, bound = returned.storage, returned.path, call.bound
        if bound:
            path = _rebound(path, bound)
        if isinstance(storage, int):
            argument = call.tensors[storage]
            storage, path = argument._storage, (*argument._path, *path)
        elif storage is None and (storage := call.made.get(returned.new)) is None:
            inside = _rebound(returned.inside, bound) if bound else returned.inside
            uop = follow(inside, call.memory.get(returned.base, returned.base))
            storage = call.made[returned.new] = Storage(uop, returned.requires_grad is not False)
            if (lost := returned.cut.lost(call.given)) is not None:
                put_history(uop, lost)
        tensor = Tensor._seeing(storage, path, returned.requires_grad)
        if returned.grad is not None:
            tensor._grad = self._tensor_of(returned.grad, call)
        return tensor


def has_history(storage: Storage, uop: UOp) -> bool:
    """Whether gradients flow on from a storage's value to a parameter."""
    return any(target.is_parameter for target in targets_below(uop) - {storage})


def _rebound(path: Path, bound: dict[UOp, UOp]) -> Path:
    """A path with the current values of its Variables."""

    def now(size: UOp) -> Any:
        return plain(size.substitute({u: bound.get(u.src[0], u) for u in size.unknowns if u.src}))

    return tuple([(op, map_sizes(arg, now)) for op, arg in path])
