"""A captured call: what it launched, and whose memory that is.

A kernel only knows Buffers. A replay has to know of each whether it is an argument's (then it takes
that of the argument of today), belongs to a Tensor that the function uses (then it is found where
that lies now, and what the call changes is changed there), or was made by the call (then each
replay makes it anew). `note_memory` finds that out when the captured call has returned.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from tinyframe.device import Buffer, buffer_of, is_overwritten
from tinyframe.engine.arguments import Arguments, lies, map_structure
from tinyframe.engine.capture import Capture, Constants, JitError
from tinyframe.tensor.base import live_tensors
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.laziness import compute, make_alone, watched
from tinyframe.tensor.storage import Path, Storage
from tinyframe.uop.movement import base_of
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text

if TYPE_CHECKING:
    from tinyframe.engine.replay import Replay
    from tinyframe.schedule.item import ScheduleItem


@dataclass
class State:
    """Memory of a Tensor that the function uses without being given it.

    view: how it lay there when it was captured. before, after: its BUFFER nodes around that call.
    captured: the Buffer that the kernels were recorded with. is_written: whether they write to it.
    """

    storage: weakref.ref[Storage]
    view: tuple | UOp
    before: UOp
    after: UOp
    captured: Buffer
    is_written: bool
    seen: weakref.ref[UOp]  # the graph of the last call, its BUFFER and the memory of that
    memory: UOp
    buffer: Buffer
    # who knows that memory, and how many they were when nobody but the storage did
    watched: list[Any] = field(default_factory=list)
    numbers: tuple[int, ...] = (-1,)  # which no call finds: it looks closely first

    @staticmethod
    def of(storage: Storage, uop: UOp, before: UOp, captured: Buffer, is_written: bool) -> State:
        """uop: where the storage lies when a call begins."""
        ref, seen, base = weakref.ref(storage), weakref.ref(uop), base_of(uop)
        # Of several changes one may be made in the old memory, and the last one elsewhere.
        view, buffer = lies(uop), captured if is_overwritten(base) else buffer_of(base)
        return State(ref, view, before, base, captured, is_written, seen, base, buffer)

    def is_still_alone(self) -> bool:
        """Whether those who know the memory are as many as in the last call, if it is written."""
        return not self.is_written or tuple(map(len, self.watched)) == self.numbers

    def find(self, storage: Storage, refuse: Callable[[str], NoReturn]) -> None:
        """Finds the values where they are now; where they are going to be changed, in memory that
        nobody else needs. refuse: called where they lie in another way than when captured."""
        compute([storage])
        if lies(storage.uop) != self.view:
            storage.point_to(storage.uop.contiguous())
            compute([storage])
        if base_of(storage.uop).op is not Ops.BUFFER or lies(storage.uop) != self.view:
            refuse(
                f"a Tensor of shape {sizes_text(storage.uop.shape)} that it uses lies in memory in "
                "another way than when it was captured"
            )
        if self.is_written:
            make_alone(storage)
            self.watched = watched(storage)
            self.numbers = tuple(map(len, self.watched))
        self.seen, self.memory = weakref.ref(storage.uop), base_of(storage.uop)
        self.buffer = buffer_of(self.memory)


@dataclass
class Captured:
    """A recorded call: what it launched, and how arguments and results are connected to that."""

    arguments: Arguments
    runs: list[tuple[list[ScheduleItem], dict[UOp, int]]] = field(default_factory=list)
    # the same with as many runs together as can be, from the first replay on
    replays: list[tuple[Replay, dict[UOp, int]]] = field(default_factory=list)
    # whether arguments are changed, or what the call leaves lies in memory that was there before
    maps_inputs: bool = True
    # where the memory of states is that has moved since the capture
    standing: dict[Buffer, Buffer] = field(default_factory=dict)
    random: list[tuple[Buffer, Callable[[Buffer], None]]] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    # what the written states watch, all in one list, and their numbers
    watched: list[Any] = field(default_factory=list)
    numbers: tuple[int, ...] = (-1,)
    constants: Constants = field(default_factory=Constants)
    # what storages mean after a call, where that is memory which each replay makes anew
    after: list[tuple[weakref.ref[Storage], UOp]] = field(default_factory=list)
    result: Any = None  # the returned structure, with Returned in place of Tensors
    # buffers that each replay makes anew for its results
    made: list[tuple[UOp, Buffer]] = field(default_factory=list)

    @property
    def items(self) -> list[ScheduleItem]:
        """Everything that is launched, in order."""
        return [item for items, _ in self.runs for item in items]

    @property
    def kernels(self) -> list[UOp]:
        """The loop nests among it."""
        return [item.ast for item in self.items if item.ast.op is Ops.SINK]

    def all_still_alone(self) -> bool:
        """Whether no state is known to more than in the last call, told at a glance."""
        return tuple(map(len, self.watched)) == self.numbers

    def watch_all(self) -> None:
        written = [state for state in self.states if state.is_written]
        self.watched = [watched for state in written for watched in state.watched]
        self.numbers = tuple([number for state in written for number in state.numbers])

    def __repr__(self) -> str:
        return f"<Captured: {len(self.kernels)} kernels, {len(self.arguments.inputs)} inputs>"


@dataclass(frozen=True, eq=False)
class Returned:
    """A Tensor in a result: what a path leads to from the storage of an argument, from one that
    was there before, or from a new one.

    uop: what the storage means. new: a number that Tensors of one new storage have in common.
    """

    uop: UOp
    path: Path
    requires_grad: bool | None
    argument: int | None = None
    storage: Storage | None = None
    new: int = 0


def leaves(structure: Any) -> list[Returned]:
    found: list[Returned] = []
    map_structure(structure, found.append, Returned)
    return found


def returned_as(tensor: Tensor, arguments: Mapping[Storage, int], capture: Capture) -> Returned:
    storage = tensor._storage
    same = storage.uop, tensor._path, tensor._requires_grad
    if storage in arguments:
        return Returned(*same, argument=arguments[storage])
    if capture.made(storage):
        return Returned(*same, new=storage.born)
    return Returned(*same, storage=storage)


def note_owners(capture: Capture, arguments: Mapping[Storage, int]) -> None:
    """All that is there before the call, its arguments aside."""
    storages = dict.fromkeys(tensor._storage for tensor in live_tensors())
    for storage in storages:
        if storage not in arguments:
            capture.note_owner(storage)


def born_in(capture: Capture) -> list[Storage]:
    """What the call made that is still there: its result, and what it left in attributes."""
    storages = dict.fromkeys(tensor._storage for tensor in live_tensors())
    return [storage for storage in storages if capture.made(storage)]


def left_behind(
    capture: Capture, arguments: Iterable[Storage], left: list[Storage]
) -> list[Storage]:
    """Of what a call leaves, the values in memory that belonged to an argument or to a Tensor from
    outside, and that this has moved on from. They get memory of their own: a replay needs that."""
    now = {base_of(storage.uop) for storage in arguments}
    for buffer, owners in capture.owners.items():
        bases = _in_memory(owner.uop for ref, _ in owners if (owner := ref()))
        now.update(base for base in bases if buffer_of(base) is buffer)
    copied = []
    for storage in dict.fromkeys([*left, *capture.changed]):
        base = base_of(storage.uop)
        if base.op is Ops.BUFFER and base not in now and buffer_of(base) in capture.theirs:
            storage.point_to(storage.uop.contiguous())
            copied.append(storage)
    return copied


def shared_memory(capture: Capture, captured: Captured) -> list[Storage] | None:
    """Several storages that lie in one memory, which the call uses."""
    left = [*leaves(captured.result), *capture.changed]
    used = [buffer for item in captured.items for buffer in item.bufs]
    used += map(buffer_of, _in_memory(one.uop for one in left))
    for buffer in dict.fromkeys(used):
        owners = [storage for ref, _ in capture.owners.get(buffer, ()) if (storage := ref())]
        if len(owners) > 1:
            return owners
    return None


def note_memory(
    captured: Captured,
    capture: Capture,
    started: int,
    arguments: Iterable[Storage],
    results: set[Storage],
) -> None:
    """What of the memory that kernels use is a result, and what belongs to a Tensor.

    started: the number of the first BUFFER that the call made. arguments, results: the storages of
    what it was given, and of what it returned.
    """
    written = {buffer for item in captured.items for buffer in item.written}
    for argument, storage in zip(captured.arguments.inputs, arguments, strict=True):
        argument.is_written, argument.after = argument.captured in written, storage.uop
    left = [s for s in born_in(capture) if s not in results and s not in capture.changed]
    new = [r for r in leaves(captured.result) if r.argument is None and r.storage is None]
    returned = [r.uop for r in new]
    moved = [storage.uop for storage in (*capture.changed, *arguments)]
    made = _made(returned + moved, written - capture.theirs, started)
    captured.made = list(made.items())

    def stays(storage: Storage) -> bool:
        """Whether what it means lies where it did, or in memory that each replay writes to."""
        base = base_of(storage.uop)
        if base.op is not Ops.BUFFER or base in made:
            return False
        owners = capture.owners.get(buffer_of(base), ())
        is_new = storage in left and buffer_of(base) in written
        return is_new or any(ref() is storage for ref, _ in owners)

    captured.after += [
        (weakref.ref(storage), storage.uop)
        for storage in [*capture.changed, *left]
        if storage not in arguments and not stays(storage)
    ]
    used = {buffer for item in captured.items for buffer in item.bufs}
    graphs = [*returned, *moved, *[storage.uop for storage in left]]
    used.update(map(buffer_of, _in_memory(graphs)))
    captured.states = _states_in(used, capture, written, stays, captured.arguments.name)
    for storage in filter(stays, left):
        base = base_of(storage.uop)
        captured.states.append(State.of(storage, storage.uop, base, buffer_of(base), True))
    captured.maps_inputs = _maps_inputs(captured, returned, [base_of(s.uop) for s in arguments])


def _states_in(
    used: set[Buffer],
    capture: Capture,
    written: set[Buffer],
    stays: Callable[[Storage], bool],
    name: str,
) -> list[State]:
    """The memory, of that which the call uses, that belonged to a Tensor before it."""
    states = []
    owned = [(buffer, *owner) for buffer in used for owner in capture.owners.get(buffer, ())]
    for buffer, ref, uop in owned:
        if (owner := ref()) is None:
            raise JitError(
                f"{name} puts another Tensor in the place of one that it uses, of {buffer.size} "
                f"elements of {buffer.dtype}: a replay runs no Python, and could not do that. "
                "Write into the Tensor instead, with assign()"
            )
        now = owner.uop if stays(owner) else uop  # where it lies when a call begins
        states.append(State.of(owner, now, base_of(uop), buffer, buffer in written))
    return states


def _made(graphs: list[UOp], written: set[Buffer], started: int) -> dict[UOp, Buffer]:
    """Memory that the call made for these, and each replay makes anew; what only lies in an
    attribute is written to again."""
    new = [base for base in _in_memory(graphs) if base.src[0].arg >= started]
    return {base: buffer_of(base) for base in new if buffer_of(base) in written}


def _in_memory(graphs: Iterable[UOp]) -> list[UOp]:
    """The BUFFERs that graphs are views of."""
    return [base for base in map(base_of, graphs) if base.op is Ops.BUFFER]


def _maps_inputs(captured: Captured, returned: list[UOp], bases: list[UOp]) -> bool:
    """Whether arguments are changed, or what the call leaves lies in memory that was there before.

    bases: where the arguments lie after the call.
    """
    theirs = {i.base for i in captured.arguments.inputs} | set(bases)
    theirs |= {base for state in captured.states for base in (state.before, state.after)}
    kept = [base_of(uop) for uop in (*returned, *[uop for _, uop in captured.after])]
    return (
        any(argument.is_written for argument in captured.arguments.inputs)
        or not dict(captured.made).keys().isdisjoint(bases)
        or not theirs.isdisjoint(kept)
    )
