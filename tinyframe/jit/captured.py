"""A captured call: what it launched, and whose memory that is.

A kernel only knows Buffers. Of each that a call uses, a replay has to know whose it is:

- input i: an argument's. The memory of today's argument is put in its place.
- state: that of a Tensor that was there before. It is found where it lies now, and changed there.
- a result: what the call returns, or leaves as a `.grad`. Each replay takes new memory for it.
- private: anything else. It is used again by every replay, and nobody else may read it.

`recording.py` sees to it that there are no more kinds than these.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tinyframe.device import Buffer, buffer_of, lose
from tinyframe.jit.arguments import Arguments, Given, lies, map_structure
from tinyframe.jit.replay import Replay, joined
from tinyframe.run.capture import BOTH
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
class Returned:
    """A Tensor in a result: what a path leads to from a storage. That is an argument's (its
    number), or one that was there before, or (None) a new one, number `new`, that means what
    `inside` leads to from a BUFFER or a constant.

    cut: those by whom a gradient was to be had through it.
    """

    storage: int | Storage | None
    new: int
    base: UOp
    inside: Path
    path: Path
    requires_grad: bool | None
    cut: list[Any]
    grad: Returned | None


@dataclass
class State:
    """Memory of a Tensor that the call uses without being given it: of that Tensor itself, or of
    what is the `.grad` of `owner` by then.

    view: how it lies there. captured: the Buffer that the kernels were recorded with. cut: see
    Returned. seen: the graph of the last call. has_history: whether it had one then.
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
class Grad:
    """What a call does with the `.grad` of a Tensor, an argument's (its number) or one that was
    there before: whether one has to be there (None: that makes no difference), and what it leaves.
    """

    owner: int | weakref.ref[Tensor]
    is_there: bool | None
    stays: bool
    after: Returned | None


@dataclass
class Captured:
    """A recorded call: what it launched, and how arguments and results are connected to that."""

    arguments: Arguments
    runs: list[tuple[list[ScheduleItem], dict[UOp, int]]]
    random: list[tuple[Buffer, Callable[[Buffer], None]]]
    states: list[State]
    constants: list[tuple[weakref.ref[Storage], UOp]]  # kernels hold their values as numbers
    input_cuts: list[list[Any]]  # of the inputs that are written
    result: Any  # the returned structure, with Returned in place of Tensors
    grads: list[Grad]
    made: dict[UOp, Buffer]  # the BUFFERs of its results
    private: list[UOp]  # those that the first replay overwrites
    # the runs with as many together as can be, from the first replay on
    replays: list[tuple[Replay, dict[UOp, int]]] = field(default_factory=list)
    moved: dict[Buffer, Buffer] = field(default_factory=dict)  # memory of states, since captured
    # who knows the memory of written states, and how many they were when nobody but these did
    watched: list[list[Any]] = field(default_factory=list)
    counts: tuple[int, ...] = (-1,)

    def __post_init__(self) -> None:
        self.why_lost = self.arguments.name + NO_HISTORY
        cuts = zip(self.arguments.inputs, self.input_cuts, strict=True)
        self.written_inputs = [(n, cut) for n, (i, cut) in enumerate(cuts) if i.is_written]
        self.written_states = [state for state in self.states if state.is_written]

    @property
    def items(self) -> list[ScheduleItem]:
        """Everything that is launched, in order."""
        return [item for items, _ in self.runs for item in items]

    @property
    def kernels(self) -> list[UOp]:
        """The loop nests among it."""
        return [item.ast for item in self.items if item.ast.op is Ops.SINK]

    def __repr__(self) -> str:
        return f"<Captured: {len(self.kernels)} kernels, {len(self.arguments.inputs)} inputs>"

    def fits(self, given: Given) -> bool:
        """Whether Python would do now what it did then, as far as that depends on constants, on
        which Tensors have a `.grad`, and on which arguments may be given one."""
        for ref, uop in self.constants:
            if (storage := ref()) is not None and storage.uop is not uop:
                return False
        if not self.grads:
            return True
        for tensor, known in zip(given.tensors, self.arguments.inputs, strict=False):
            if tensor.is_param is not known.requires_grad:
                return False
        for grad in self.grads:
            owner = self._owner(grad, given.tensors)
            if owner is not None and grad.is_there not in (None, owner._grad is not None):
                return False
        return True

    # ---- a replay --------------------------------------------------------------------------------

    def __call__(self, given: Given) -> Any:
        with running:
            bound, tensors = self.arguments.match(given), given.tensors
            replaced = self._find_states() | self._find_inputs(tensors)
            fresh: dict[UOp, UOp] = {}
            for base, buffer in self.made.items():
                new = UOp(Ops.BUFFER, base.dtype, (UOp.unique(), base.src[1]), base.arg)
                fresh[base] = new
                replaced[buffer] = buffer_of(new)
            for buffer, refill in self.random:
                refill(buffer)
            self._launch(replaced, bound)
            return self._results(tensors, fresh, bound)

    @staticmethod
    def _owner(grad: Grad, tensors: Sequence[Tensor]) -> Tensor | None:
        return tensors[grad.owner] if isinstance(grad.owner, int) else grad.owner()

    def _find_inputs(self, tensors: Sequence[Tensor]) -> dict[Buffer, Buffer]:
        replaced: dict[Buffer, Buffer] = {}
        for known, tensor in zip(self.arguments.inputs, tensors, strict=True):
            if known.is_written:
                make_alone(tensor._storage)
            replaced[known.buffer] = buffer_of(base_of(tensor.uop))
        if len(set(replaced.values())) < len(replaced):
            self.arguments.refuse("two of its arguments are the same Tensor; pass a clone() of one")
        given = {}
        if self.states:
            given = {t._storage: i for t, i in zip(tensors, self.arguments.inputs, strict=True)}
        for state in self.states:
            both = given.get(storage) if (storage := state.now()) else None
            if both and (both.is_written or state.is_written or self.grads):
                self.arguments.refuse(BOTH)
        return replaced

    def _find_states(self) -> dict[Buffer, Buffer]:
        """Finds the Tensors that the function uses; gives the memory of those that have moved."""
        moved: dict[Buffer, Buffer] = {}
        look = tuple(map(len, self.watched)) != self.counts
        for state in self.states:
            storage = state.now()
            if storage is None:
                self.arguments.refuse_like(
                    f"a Tensor of {state.captured.size} elements of {state.captured.dtype} that it "
                    "uses is gone: another one may have taken its place in Python, which a replay "
                    "does not run. Write into the Tensor instead, with assign()"
                )
            elif state.seen() is not storage.uop or (look and state.is_written):
                moved[state.captured] = self._find(state, storage)
                look = True
        if look:
            written = [s for state in self.written_states if (s := state.now())]
            self.watched = [users for storage in written for users in watched(storage)]
            self.counts = tuple(map(len, self.watched))
            self.moved.update(moved)
        return moved

    def _find(self, state: State, storage: Storage) -> Buffer:
        compute([storage])
        if lies(storage.uop) != state.view:
            storage.point_to(storage.uop.contiguous())
            compute([storage])
        if base_of(storage.uop).op is not Ops.BUFFER or lies(storage.uop) != state.view:
            self.arguments.refuse_like(
                f"a Tensor of shape {sizes_text(storage.uop.shape)} that it uses lies in memory in "
                "another way than when it was captured"
            )
        if self.grads and not state.has_history and has_history(storage, storage.uop):
            self.arguments.refuse_like(
                f"a Tensor of shape {sizes_text(storage.uop.shape)} that it uses is computed from "
                "parameters now, and was not when it was captured: detach() it"
            )
        if state.is_written:
            make_alone(storage)
        state.seen = weakref.ref(storage.uop)
        return buffer_of(base_of(storage.uop))

    def _launch(self, replaced: dict[Buffer, Buffer], bound: dict[UOp, UOp]) -> None:
        if not self.replays and self.runs:
            self.replays = [(Replay(items), was) for items, was in joined(self.runs)]
            while self.private:
                lose(self.private.pop())
        for replay, var_vals in self.replays:
            if bound:
                var_vals = {v: bound[v].val if v in bound else x for v, x in var_vals.items()}
            replay(replaced, var_vals, self.moved)

    def _results(
        self, tensors: Sequence[Tensor], fresh: dict[UOp, UOp], bound: dict[UOp, UOp]
    ) -> Any:
        """The Tensors of this call."""
        for state in self.written_states:
            if (seen := state.seen()) is not None:
                put_history(seen, self._lost(state.cut, tensors))
        for number, cut in self.written_inputs:
            put_history(tensors[number]._storage.uop, self._lost(cut, tensors))
        call = tensors, fresh, bound, dict[int, Storage]()
        for grad in self.grads:
            owner = self._owner(grad, tensors)
            if owner is not None and not grad.stays:
                owner._grad = None if grad.after is None else self._tensor_of(grad.after, call)
        if type(self.result) is Returned:  # the usual one
            return self._tensor_of(self.result, call)
        return map_structure(self.result, lambda r: r and self._tensor_of(r, call))

    def _tensor_of(self, returned: Returned, call: tuple) -> Tensor:
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
    """Whether gradients flow on from a value of a storage, to a parameter."""
    return any(target.is_parameter for target in targets_below(uop) - {storage})


def _rebound(path: Path, bound: dict[UOp, UOp]) -> Path:
    """The same path with the values that Variables have now."""

    def now(size: UOp) -> Any:
        return plain(size.substitute({u: bound.get(u.src[0], u) for u in size.unknowns if u.src}))

    return tuple([(op, map_sizes(arg, now)) for op, arg in path])
