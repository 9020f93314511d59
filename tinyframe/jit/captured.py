"""A captured call: its launches, and the owner of each buffer that they use.

A kernel only knows Buffers. For each Buffer that a call uses, a replay has to know the owner:

- input i: an argument. It is replaced with the memory of the current argument.
- state: a Tensor that existed before the call. Its current memory is looked up, and updated.
- result: returned by the call, or left as a `.grad`. Each replay allocates new memory for it.
- private: anything else, intermediate values. Every replay reuses it, and nobody else may read it.

`recording.py` makes sure that there are no other kinds.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tinyframe.device import Buffer, buffer_of, lose
from tinyframe.jit.arguments import FlatArguments, Signature, memory_layout, tree_map
from tinyframe.jit.replay import Replay, merge_runs
from tinyframe.run.capture import ALIASED_ARGUMENT
from tinyframe.run.realize import running
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.history import Lost, put_history, targets_below
from tinyframe.tensor.laziness import compute, make_alone, watched
from tinyframe.tensor.storage import Path, Storage, follow
from tinyframe.uop.movement import base_of
from tinyframe.uop.node import Ops, UOp, map_sizes, plain
from tinyframe.uop.show import sizes_text

if TYPE_CHECKING:
    from tinyframe.schedule.item import ScheduleItem


NO_HISTORY = (
    " was replayed by TinyJit, without the Python that notes it. Call backward() inside the "
    "captured function, or leave TinyJit out; .detach() the result if no gradient is wanted"
)


@dataclass(frozen=True, eq=False)
class ReturnedTensor:
    """A Tensor in a result: a view, `path`, of a storage. The storage is an argument's (its
    number), an older one, or (None) a new one, number `new`, whose value is the view `inside` of
    `base`, a BUFFER or a constant.

    cut: the targets that gradients would have flowed to through it (see `Lost`).
    """

    storage: int | Storage | None
    new: int
    base: UOp
    inside: Path
    path: Path
    requires_grad: bool | None
    cut: list[Any]
    grad: ReturnedTensor | None


@dataclass
class State:
    """The memory of a Tensor that the call uses but does not take as an argument: a fixed storage,
    or the current `.grad` of `owner`.

    view: its memory layout. captured: the Buffer that the kernels were recorded with. cut: see
    ReturnedTensor. seen: its graph in the last call. has_history: whether gradients flowed on from
    it when it was captured.
    """

    storage: weakref.ref[Storage]
    owner: weakref.ref[Tensor] | None
    view: tuple | UOp
    captured: Buffer
    is_written: bool
    cut: list[Any]
    seen: weakref.ref[UOp]
    has_history: bool

    def now(self) -> Storage | None:
        if self.owner is None:
            return self.storage()
        owner = self.owner()
        return None if owner is None or owner._grad is None else owner._grad._storage


@dataclass
class GradChange:
    """The effect of a call on the `.grad` of a Tensor, an argument (its number) or an older one.

    must_exist: whether it had one before (None: that makes no difference). after: the new one.
    """

    owner: int | weakref.ref[Tensor]
    must_exist: bool | None
    is_unchanged: bool
    after: ReturnedTensor | None


@dataclass
class Captured:
    """A recorded call: its launches, and how its arguments, states and results map to buffers."""

    signature: Signature
    runs: list[tuple[list[ScheduleItem], dict[UOp, int]]]
    random: list[tuple[Buffer, Callable[[Buffer], None]]]
    states: list[State]
    constants: list[tuple[weakref.ref[Storage], UOp]]  # compiled into the kernels
    input_cuts: list[list[Any]]  # `cut` of each input
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
        self.why_lost = self.signature.name + NO_HISTORY
        cuts = zip(self.signature.inputs, self.input_cuts, strict=True)
        self.written_inputs = [(n, cut) for n, (i, cut) in enumerate(cuts) if i.is_written]
        self.written_states = [state for state in self.states if state.is_written]

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
            owner = self._owner(grad, given.tensors)
            if owner is not None and grad.must_exist not in (None, owner._grad is not None):
                return False
        return True

    # ---- a replay --------------------------------------------------------------------------------

    def __call__(self, given: FlatArguments) -> Any:
        with running:
            bound, tensors = self.signature.match(given), given.tensors
            replaced = self._locate_states() | self._find_inputs(tensors)
            # dropped first, as by the call, so that new ones can take the memory
            for grad in self.grads:
                owner = self._owner(grad, tensors)
                if owner is not None and grad.must_exist is None and not grad.is_unchanged:
                    owner._grad = None
            fresh: dict[UOp, UOp] = {}
            for base, buffer in self.result_buffers.items():
                new = UOp(Ops.BUFFER, base.dtype, (UOp.unique(), base.src[1]), base.arg)
                fresh[base] = new
                replaced[buffer] = buffer_of(new)
            for buffer, refill in self.random:
                refill(buffer)
            self._launch(replaced, bound)
            return self._results(tensors, fresh, bound)

    @staticmethod
    def _owner(grad: GradChange, tensors: Sequence[Tensor]) -> Tensor | None:
        return tensors[grad.owner] if isinstance(grad.owner, int) else grad.owner()

    def _find_inputs(self, tensors: Sequence[Tensor]) -> dict[Buffer, Buffer]:
        replaced: dict[Buffer, Buffer] = {}
        for known, tensor in zip(self.signature.inputs, tensors, strict=True):
            if known.is_written:
                make_alone(tensor._storage)
            replaced[known.buffer] = buffer_of(base_of(tensor.uop))
        if len(set(replaced.values())) < len(replaced):
            self.signature.refuse("two of its arguments are the same Tensor; pass a clone() of one")
        given = {}
        if self.states:
            given = {t._storage: i for t, i in zip(tensors, self.signature.inputs, strict=True)}
        for state in self.states:
            both = given.get(storage) if (storage := state.now()) else None
            if both and (both.is_written or state.is_written or self.grads):
                self.signature.refuse(ALIASED_ARGUMENT)
        return replaced

    def _locate_states(self) -> dict[Buffer, Buffer]:
        """Looks up the states of the function; returns the memory of those that have moved."""
        moved: dict[Buffer, Buffer] = {}
        has_changed = tuple(map(len, self.watched)) != self.counts
        for state in self.states:
            storage = state.now()
            if storage is None:
                self.signature.refuse_mismatch(
                    f"a Tensor of {state.captured.size} elements of {state.captured.dtype} that it "
                    "uses is gone: another one may have taken its place in Python, which a replay "
                    "does not run. Write into the Tensor instead, with assign()"
                )
            elif state.seen() is not storage.uop or (has_changed and state.is_written):
                moved[state.captured] = self._locate(state, storage)
                has_changed = True
        if has_changed:
            written = [s for state in self.written_states if (s := state.now())]
            self.watched = [users for storage in written for users in watched(storage)]
            self.counts = tuple(map(len, self.watched))
            self.moved.update(moved)
        return moved

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

    def _launch(self, replaced: dict[Buffer, Buffer], bound: dict[UOp, UOp]) -> None:
        if not self.replays and self.runs:
            self.replays = [(Replay(items), was) for items, was in merge_runs(self.runs)]
            while self.private:
                lose(self.private.pop())
        for replay, var_vals in self.replays:
            if bound:
                var_vals = {v: bound[v].val if v in bound else x for v, x in var_vals.items()}
            replay(replaced, var_vals, self.moved)

    def _results(
        self, tensors: Sequence[Tensor], fresh: dict[UOp, UOp], bound: dict[UOp, UOp]
    ) -> Any:
        """The result of this call; sets `.grad`s and histories as the call would."""
        for state in self.written_states:
            if (seen := state.seen()) is not None:
                put_history(seen, self._lost(state.cut, tensors))
        for number, cut in self.written_inputs:
            put_history(tensors[number]._storage.uop, self._lost(cut, tensors))
        call = tensors, fresh, bound, dict[int, Storage]()
        for grad in self.grads:
            owner = self._owner(grad, tensors)
            if owner is not None and not grad.is_unchanged:
                owner._grad = None if grad.after is None else self._tensor_of(grad.after, call)
        if type(self.result) is ReturnedTensor:  # the common case
            return self._tensor_of(self.result, call)
        return tree_map(self.result, lambda r: r and self._tensor_of(r, call))

    def _tensor_of(self, returned: ReturnedTensor, call: tuple) -> Tensor:
        tensors, fresh, bound, made = call
        storage, path = returned.storage, returned.path
        if bound:
            path = _rebound(path, bound)
        if isinstance(storage, int):
            path = (*tensors[storage]._path, *path)
            storage = tensors[storage]._storage
        elif storage is None and (storage := made.get(returned.new)) is None:
            inside = _rebound(returned.inside, bound) if bound else returned.inside
            uop = follow(inside, fresh.get(returned.base, returned.base))
            storage = made[returned.new] = Storage(uop, returned.requires_grad is not False)
            if returned.cut:
                put_history(uop, self._lost(returned.cut, tensors))
        tensor = Tensor._seeing(storage, path, returned.requires_grad)
        if returned.grad is not None:
            tensor._grad = self._tensor_of(returned.grad, call)
        return tensor

    def _lost(self, cut: list[Any], tensors: Sequence[Tensor]) -> Lost | None:
        if not cut:
            return None
        refs = [weakref.ref(tensors[c]._storage) if isinstance(c, int) else c for c in cut]
        return Lost(refs, self.why_lost)


def has_history(storage: Storage, uop: UOp) -> bool:
    """Whether gradients flow on from a storage's value to a parameter."""
    return any(target.is_parameter for target in targets_below(uop) - {storage})


def _rebound(path: Path, bound: dict[UOp, UOp]) -> Path:
    """A path with the current values of its Variables."""

    def now(size: UOp) -> Any:
        return plain(size.substitute({u: bound.get(u.src[0], u) for u in size.unknowns if u.src}))

    return tuple([(op, map_sizes(arg, now)) for op, arg in path])
