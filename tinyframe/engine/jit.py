"""TinyJit: the kernels of a function, captured once and replayed without running its Python.

    @TinyJit
    def step(x, y):
        loss = model(x).cross_entropy(y).backward()
        optimizer.step()
        return loss

The first call runs as always. The second runs too, and what it launches is recorded. From the third
call on the recorded kernels are launched on the new inputs, and the Python body is not run any
more: whatever it did besides Tensors (printing, counting, branching on a Python value) is frozen.

What may change from call to call is what is passed in, Tensors (of the same shape, dtype, device
and view) and bound Variables, and the values of the Tensors that the function uses without being
given them: parameters, running statistics, a learning rate. Each replay finds them where they are
now, and changes them as the call would. Any other argument has to be the same in each call.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NoReturn, ParamSpec, TypeVar

import numpy as np

from tinyframe.device import Buffer, buffer_of
from tinyframe.engine.capture import Capture, Constants, JitError, capture_now, capturing
from tinyframe.settings import settings
from tinyframe.uop.movement import base_of, memory_state
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text

# What runs a schedule is imported where it is needed: `import tinyframe` should not pay for it.
if TYPE_CHECKING:
    from tinyframe.engine.realize import Run
    from tinyframe.engine.replay import Replay
    from tinyframe.schedule.item import ScheduleItem
    from tinyframe.tensor.base import TensorBase
    from tinyframe.tensor.storage import Path, Storage

__all__ = ["JitError", "TinyJit"]

P = ParamSpec("P")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Signature:
    """What an argument was when it was captured, and so what a later one has to be like."""

    place: str  # such as `args[0]` or `batch['x']`
    view: UOp  # the graph on its buffer, the buffer itself made anonymous

    def __str__(self) -> str:
        return f"{sizes_text(self.view.shape)} {self.view.dtype} on {self.view.device}"


@dataclass(frozen=True)
class Given:
    """The arguments of a call, taken apart."""

    layout: list[Any]  # how they are nested, and of what types they are
    tensors: list[TensorBase]
    values: list[Any]  # all others but Variables


@dataclass(frozen=True)
class Usual:
    """The usual call, told from others at a glance: Tensors that lie in memory as they are, and no
    Variables. Whatever differs from it is looked at closely."""

    layout: list[Any]
    memories: list[tuple | None]
    captured: list[Buffer]
    seen: list[weakref.ref[UOp]]  # the last call's graphs: what is given again is known already

    @staticmethod
    def of(given: Given) -> Usual | None:
        graphs = [tensor.uop for tensor in given.tensors]
        memories = [_memory_as_it_lies(uop) for uop in graphs]
        if None in memories or UOp in given.layout or any(uop.unknowns for uop in graphs):
            return None
        captured = [buffer_of(uop.base) for uop in graphs]
        return Usual(given.layout, memories, captured, [weakref.ref(uop) for uop in graphs])

    def replaced(self, given: Given) -> dict[Buffer, Buffer] | None:
        """What takes the place of the captured buffers; None where this call needs a closer
        look."""
        if given.layout != self.layout:
            return None
        replaced = {}
        for n, tensor in enumerate(given.tensors):
            uop = tensor.uop
            if self.seen[n]() is not uop:
                if _memory_as_it_lies(uop) != self.memories[n]:
                    return None
                self.seen[n] = weakref.ref(uop)
            replaced[self.captured[n]] = buffer_of(memory_state(uop))
        return replaced if len(set(replaced.values())) == len(given.tensors) else None


@dataclass
class Input:
    """An argument: its BUFFER and memory when it was captured, and where it lay after the call.

    is_written: whether the kernels change that memory.
    """

    signature: Signature
    base: UOp
    captured: Buffer
    is_written: bool = False
    after: UOp | None = None


@dataclass
class State:
    """Memory of a Tensor that the function uses without being given it.

    view: how it lay there when it was captured. bases: its BUFFER nodes before
    and after that call. captured: the Buffer that the kernels were recorded with. is_written:
    whether they change it.
    """

    storage: weakref.ref[Storage]
    view: tuple | UOp
    bases: tuple[UOp, UOp]
    captured: Buffer
    is_written: bool
    seen: weakref.ref[UOp]  # the graph of the last call, and its BUFFER
    memory: UOp

    @staticmethod
    def of(storage: Storage, uop: UOp, before: UOp, captured: Buffer, is_written: bool) -> State:
        """uop: where the storage lies when a call begins."""
        ref, seen, base = weakref.ref(storage), weakref.ref(uop), base_of(uop)
        return State(ref, _lies(uop), (before, base), captured, is_written, seen, base)


@dataclass
class Captured:
    """A recorded call: what it launched, and how arguments and results are connected to that."""

    runs: list[tuple[list[ScheduleItem], dict[UOp, int]]] = field(default_factory=list)
    # the same with as many runs together as can be, from the first replay on
    replays: list[tuple[Replay, dict[UOp, int]]] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    usual: Usual | None = None
    values: list[Any] = field(default_factory=list)  # the arguments that have to be the same
    training: bool = False
    variables: set[UOp] = field(default_factory=set)  # those that the arguments depend on
    sizes: list[Signature] = field(default_factory=list)  # arguments that are expressions of these
    random: list[tuple[Buffer, Callable[[Buffer], None]]] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    constants: Constants = field(default_factory=lambda: Constants(set()))
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

    def __repr__(self) -> str:
        return f"<Captured: {len(self.kernels)} kernels, {len(self.inputs)} inputs>"


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


class TinyJit(Generic[P, Result]):
    """A decorator for functions and methods of Tensors; a method is captured for each instance.

    cnt: calls so far. captured: what was recorded, from the second call on. reset(): forget it.
    Calls from several threads wait for each other. Raises JitError where a call does not fit what
    was captured, and where nothing can be.
    """

    def __init__(self, fxn: Callable[P, Result], prune: bool = False):
        self.fxn, self.prune = fxn, prune
        functools.update_wrapper(self, fxn)
        self._lock = threading.RLock()
        self._instances: dict[int, tuple[Any, TinyJit]] = {}
        self.reset()

    def reset(self) -> None:
        self.cnt = 0
        self.captured: Captured | None = None

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        jit = self._of_instance(instance)
        bound = functools.partial(jit.__call__, instance)
        bound.reset, bound.jit = jit.reset, jit  # type: ignore[attr-defined]
        return bound

    def _of_instance(self, instance: Any) -> TinyJit:
        """The TinyJit of one instance, which goes when that does."""
        key, found = id(instance), self._instances.get(id(instance))
        if found is None:
            try:
                kept: Any = weakref.ref(instance, lambda _: self._instances.pop(key, None))
            except TypeError:  # what cannot be referred to weakly is kept
                kept = instance
            found = self._instances[key] = kept, TinyJit(self.fxn, self.prune)
        return found[1]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result:
        if capture_now() is not None:
            raise JitError(
                f"{self._name()} is called while another TinyJit is captured: only the outer one "
                "can be replayed, so leave the inner one out"
            )
        with self._lock:
            if not settings.JIT or self.cnt == 0:
                from tinyframe.tensor.laziness import compute

                result = self.fxn(*args, **kwargs)
                compute(_storages(result))
            elif self.captured is None or self.captured.constants.have_changed:
                result = self._capture(args, kwargs)
            else:
                result = self._replay(self.captured, args, kwargs)
            self.cnt += 1
        return result

    def _name(self) -> str:
        return getattr(self.fxn, "__qualname__", repr(self.fxn))

    def __getstate__(self) -> dict[str, Any]:
        # Memory, kernels and a lock are of this process: a copy captures for itself.
        kept = {n: v for n, v in vars(self).items() if n not in ("_lock", "_instances")}
        return kept | {"cnt": 0, "captured": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock, self._instances = threading.RLock(), {}

    # ---- capturing ------------------------------------------------------------------------------

    def _capture(self, args: Any, kwargs: Any) -> Result:
        from tinyframe.engine.realize import record_runs
        from tinyframe.tensor.laziness import compute
        from tinyframe.tensor.storage import Storage

        captured = Captured()
        given = _taken_apart(args, kwargs)
        tensors = self._tensors(args, kwargs)
        captured.variables = set(_bound_in(args, kwargs))
        captured.sizes = _sizes(args, kwargs)
        captured.usual = Usual.of(given)
        captured.values, captured.training = self._frozen(args, kwargs), _tensor_class().training
        for place, tensor in tensors:
            _separate(tensor._storage)
            base = base_of(tensor.uop)
            if twin := next((i.signature.place for i in captured.inputs if i.base is base), None):
                raise JitError(
                    f"{self._name()}: {place} and {twin} are the same Tensor; a replay could not "
                    "tell which of them a kernel means. Pass it once, or a clone()"
                )
            captured.inputs.append(Input(_signature(place, tensor.uop), base, buffer_of(base)))
        arguments = {tensor._storage: n for n, (_, tensor) in enumerate(tensors)}
        capture = Capture(Storage.now(), random=captured.random)
        captured.constants = _note_owners(capture, arguments)
        capture.theirs.update(argument.captured for argument in captured.inputs)
        started = UOp.unique().arg
        with record_runs() as captured.runs, capturing(capture):
            result = self.fxn(*args, **kwargs)
            # what was assigned but not realized (running statistics, say) belongs to the call
            compute([*_storages(result), *capture.changed, *_born(capture)])
            compute(_copied(capture, arguments, _storages(result)))
        captured.result = _map(result, lambda t: _returned(t, arguments, capture.started))
        if not captured.items and not _leaves(captured.result):
            raise JitError(
                f"{self._name()} launched no kernel: there is nothing to replay. It has to compute "
                "something from the Tensors that it is given"
            )
        if (twins := _shared(capture, captured)) is not None:
            # kernels cannot tell two Tensors in one memory from each other: apart, then again
            for storage in twins[1:]:
                _separate(storage)
            return result
        self._note_memory(captured, capture, started, arguments, set(_storages(result)))
        self.captured = captured
        return result

    def _note_memory(
        self,
        captured: Captured,
        capture: Capture,
        started: int,
        arguments: Iterable[Storage],
        results: set[Storage],
    ) -> None:
        """What of the memory that kernels use is a result, and what belongs to a Tensor.

        arguments, results: the storages of what the call was given, and of what it returned.
        """
        used = {buffer for item in captured.items for buffer in item.bufs}
        written = {item.bufs[n] for item in captured.items for n in _written(item)}
        for argument, storage in zip(captured.inputs, arguments, strict=True):
            argument.is_written, argument.after = argument.captured in written, storage.uop
        left = [s for s in _born(capture) if s not in results and s not in capture.changed]
        new = [r for r in _leaves(captured.result) if r.argument is None and r.storage is None]
        returned = [r.uop for r in new]
        moved = [storage.uop for storage in (*capture.changed, *arguments)]

        # Memory that the call made is made by each replay; what only lies in an attribute is
        # written to again.
        made: dict[UOp, Buffer] = {}
        for base in map(base_of, returned + moved):
            is_new = base.op is Ops.BUFFER and base.src[0].arg >= started
            if is_new and (buffer := buffer_of(base)) in written - capture.theirs:
                made[base] = buffer
        captured.made = list(made.items())

        def lies_in_its_own(storage: Storage, base: UOp) -> bool:
            if base.op is not Ops.BUFFER or base in made:
                return False
            owners = capture.owners.get(buffer_of(base), ())
            is_new = storage in left and buffer_of(base) in written
            return is_new or any(ref() is storage for ref, _ in owners)

        for storage in [*capture.changed, *left]:
            if storage not in arguments and not lies_in_its_own(storage, base_of(storage.uop)):
                captured.after.append((weakref.ref(storage), storage.uop))

        mentioned = [*returned, *moved, *[storage.uop for storage in left]]
        bases = [base for base in map(base_of, mentioned) if base.op is Ops.BUFFER]
        for buffer in dict.fromkeys([*used, *map(buffer_of, bases)]):
            for ref, uop in capture.owners.get(buffer, ()):
                if (owner := ref()) is None:
                    raise JitError(
                        f"{self._name()} puts another Tensor in the place of one that it uses, of "
                        f"{buffer.size} elements of {buffer.dtype}: a replay runs no Python, and "
                        "could not do that. Write into the Tensor instead, with assign()"
                    )
                stays = lies_in_its_own(owner, base_of(owner.uop))
                is_written = stays and buffer in written
                now = owner.uop if stays else uop  # where it lies when a call begins
                captured.states.append(State.of(owner, now, base_of(uop), buffer, is_written))
        for storage in left:
            if lies_in_its_own(storage, base := base_of(storage.uop)):
                captured.states.append(State.of(storage, storage.uop, base, buffer_of(base), True))

    def _frozen(self, args: Any, kwargs: Any) -> list[Any]:
        """The arguments that are no Tensors; JitError for those whose contents may change."""
        frozen = []
        for place, value in _walk(args, kwargs):
            if _is_tensor(value) or isinstance(value, UOp):
                continue
            if isinstance(value, (np.ndarray, bytearray)):
                raise JitError(
                    f"{self._name()}: {place} is a {type(value).__name__}, which would be frozen "
                    "at what it holds in this call; pass a Tensor"
                )
            frozen.append(_Frozen.of(place, value))
        return frozen

    def _tensors(self, args: Any, kwargs: Any) -> list[tuple[str, TensorBase]]:
        """The Tensors among the arguments, in memory, by place."""
        tensors = [(place, value) for place, value in _walk(args, kwargs) if _is_tensor(value)]
        for place, tensor in tensors:
            tensor.realize()
            if base_of(tensor.uop).op is not Ops.BUFFER:
                raise JitError(
                    f"{self._name()}: {place} is a constant, which has no memory that a replay "
                    "could read anew; make it contiguous() first, or create it inside"
                )
        return tensors

    # ---- replaying ------------------------------------------------------------------------------

    def _replay(self, captured: Captured, args: Any, kwargs: Any) -> Result:
        from tinyframe.engine.realize import running
        from tinyframe.tensor.laziness import make_alone

        given = _taken_apart(args, kwargs)
        self._check_values(captured, given.values)
        with running:
            bound: dict[UOp, UOp] = {}
            replaced = captured.usual.replaced(given) if captured.usual is not None else None
            if replaced is None:
                replaced, bound = self._looked_at(captured, args, kwargs)
            for argument, tensor in zip(captured.inputs, given.tensors, strict=True):
                if argument.is_written:
                    make_alone(tensor._storage)
                    replaced[argument.captured] = buffer_of(base_of(tensor.uop))
            now = {
                argument.base: base_of(tensor.uop)
                for argument, tensor in zip(captured.inputs, given.tensors, strict=True)
            }
            for state in captured.states:
                replaced[state.captured] = self._memory_of(state)
                now.update(dict.fromkeys(state.bases, state.memory))
            fresh: dict[UOp, UOp] = {}
            for base, buffer in captured.made:
                new = UOp(Ops.BUFFER, base.dtype, (UOp.unique(), base.src[1]), base.arg)
                replaced[buffer] = buffer_of(new)
                fresh[base] = new
            for buffer, refill in captured.random:
                refill(buffer)
            if not captured.replays:
                from tinyframe.engine.replay import Replay

                runs = _joined(captured.runs) if captured.items else ()
                captured.replays = [(Replay(items), was) for items, was in runs]
            for replay, var_vals in captured.replays:
                if bound:
                    var_vals = {v: bound[v].val if v in bound else x for v, x in var_vals.items()}
                replay(replaced, var_vals)
            now.update(fresh)
            for argument, tensor in zip(captured.inputs, given.tensors, strict=True):
                assert argument.after is not None
                if (base := base_of(argument.after)) in now:  # it was moved by the call
                    tensor._storage.uop = argument.after.substitute(now)
                now[base] = base_of(tensor.uop)
            for ref, uop in captured.after:
                if (storage := ref()) is not None:
                    storage.uop = uop.substitute(now)
        return _map(captured.result, self._maker(given, now, bound), Returned)

    def _maker(
        self, given: Given, now: dict[UOp, UOp], bound: dict[UOp, UOp]
    ) -> Callable[[Returned], TensorBase]:
        """What makes the Tensors of a result; now: the nodes that memory has in this call."""
        from tinyframe.tensor.storage import Storage

        tensor_class = _tensor_class()

        made: dict[int, Storage] = {}

        def meaning(uop: UOp) -> UOp:
            new = now.get(memory_state(uop))
            if new is None or uop.unknowns:
                rebound = {u: bound.get(u.src[0], u) for u in uop.unknowns if u.op is Ops.BIND}
                return uop.substitute(now | rebound)
            return new if uop in now else UOp(Ops.RESHAPE, uop.dtype, (new,), uop.shape)

        def result(returned: Returned) -> TensorBase:
            if returned.argument is not None:
                storage = given.tensors[returned.argument]._storage
            elif returned.storage is not None:
                storage = returned.storage
            else:
                if returned.new not in made:
                    asks = returned.requires_grad is not False
                    made[returned.new] = Storage(meaning(returned.uop), asks)
                storage = made[returned.new]
            return tensor_class._seeing(storage, returned.path, returned.requires_grad)

        return result

    def _check_values(self, captured: Captured, values: list[Any]) -> None:
        """JitError where an argument that is no Tensor is not what was captured."""
        if len(values) == len(captured.values):
            for was, value in zip(captured.values, values, strict=True):
                if not was.is_same(value):
                    self._refuse(
                        f"{was.place} was captured as {was.text()}, and is {value!r} now; what is "
                        "no Tensor is frozen at what it was. Pass a Tensor, or a bound Variable"
                    )
        if _tensor_class().training is not captured.training:
            self._refuse(
                f"it was captured with Tensor.training {captured.training}, and is called with "
                f"{not captured.training}"
            )

    def _memory_of(self, state: State) -> Buffer:
        """Where the values of a Tensor that the function uses are now; where they are going to be
        changed, in memory that nobody else needs."""
        from tinyframe.tensor.laziness import compute, is_alone, make_alone

        if (storage := state.storage()) is None:
            return state.captured
        if state.seen() is not storage.uop:
            compute([storage])
            if _lies(storage.uop) != state.view:
                storage.uop = storage.uop.contiguous()
                compute([storage])
            base = base_of(storage.uop)
            if base.op is not Ops.BUFFER or _lies(storage.uop) != state.view:
                self._refuse(
                    f"a Tensor of shape {sizes_text(storage.uop.shape)} that it uses lies in "
                    "memory in another way than when it was captured"
                )
            state.seen, state.memory = weakref.ref(storage.uop), base
        if state.is_written and not is_alone(storage):
            make_alone(storage)
            state.seen, state.memory = weakref.ref(storage.uop), base_of(storage.uop)
        return buffer_of(state.memory)

    def _looked_at(
        self, captured: Captured, args: Any, kwargs: Any
    ) -> tuple[dict[Buffer, Buffer], dict[UOp, UOp]]:
        """What takes the place of the captured buffers, and the Variables' values.

        JitError where an argument is not like the captured one.
        """
        tensors = self._tensors(args, kwargs)
        places = [place for place, _ in tensors]
        wanted = [argument.signature.place for argument in captured.inputs]
        if places != wanted:
            self._refuse(
                f"it was captured with Tensors at {_list(wanted)}, and is called with Tensors at "
                f"{_list(places)}"
            )
        replaced: dict[Buffer, Buffer] = {}
        for (place, tensor), argument in zip(tensors, captured.inputs, strict=True):
            signature = argument.signature
            if (now := _signature(place, tensor.uop)) != signature:
                difference = (
                    f"{signature}, not {now}"
                    if str(now) != str(signature)
                    else "another view of its memory"
                )
                self._refuse(f"{place} was captured as {difference}")
            buffer = buffer_of(base_of(tensor.uop))
            if buffer in replaced.values():
                self._refuse(f"{place} is the same Tensor as another argument")
            replaced[argument.captured] = buffer
        bound = _bound_in(args, kwargs)
        if _sizes(args, kwargs) != captured.sizes or bound.keys() != captured.variables:
            self._refuse(
                f"it was captured with the Variables {_names(captured.variables)}, and is called "
                f"with {_names(bound)}; name, bounds and what is computed from them have to be the "
                "same"
            )
        if len(given := _taken_apart(args, kwargs).values) != len(captured.values):
            self._refuse(
                f"it was captured with {len(captured.values)} arguments that are no Tensors, and "
                f"is called with {len(given)}"
            )
        return replaced, bound

    def _refuse(self, why: str) -> NoReturn:
        raise JitError(
            f"{self._name()}: {why}. Call .reset() to capture it anew, or use a TinyJit for each "
            "case"
        )


# ---- what belongs to whom ------------------------------------------------------------------------


def _copied(capture: Capture, arguments: Iterable[Storage], left: list[Storage]) -> list[Storage]:
    """Of what a call leaves, the values in memory that belonged to an argument or to a Tensor from
    outside, and that this has moved on from. They get memory of their own: a replay needs that."""
    now = {base_of(storage.uop) for storage in arguments}
    for buffer, owners in capture.owners.items():
        bases = [base_of(owner.uop) for ref, _ in owners if (owner := ref())]
        now.update(b for b in bases if b.op is Ops.BUFFER and buffer_of(b) is buffer)
    copied = []
    for storage in dict.fromkeys([*left, *capture.changed]):
        base = base_of(storage.uop)
        if base.op is Ops.BUFFER and base not in now and buffer_of(base) in capture.theirs:
            storage.uop = storage.uop.contiguous()
            copied.append(storage)
    return copied


def _shared(capture: Capture, captured: Captured) -> list[Storage] | None:
    """Several storages that lie in one memory, which the call uses."""
    bases = [base_of(returned.uop) for returned in _leaves(captured.result)]
    bases += [base_of(storage.uop) for storage in capture.changed]
    used = [buffer for item in captured.items for buffer in item.bufs]
    used += [buffer_of(base) for base in bases if base.op is Ops.BUFFER]
    for buffer in dict.fromkeys(used):
        owners = [storage for ref, _ in capture.owners.get(buffer, ()) if (storage := ref())]
        if len(owners) > 1:
            return owners
    return None


def _separate(storage: Storage) -> None:
    """Gives a storage memory that no other means too."""
    from tinyframe.tensor.laziness import is_shared, move_to_new_memory

    if is_shared(storage):
        move_to_new_memory(storage)


def _note_owners(capture: Capture, arguments: Mapping[Storage, int]) -> Constants:
    """All that is there before the call, its arguments aside; gives what is constant of that."""
    from tinyframe.tensor.base import live_tensors

    storages = dict.fromkeys(tensor._storage for tensor in live_tensors())
    for storage in storages:
        if storage not in arguments:
            capture.note_owner(storage)
    constant = {s.born for s in storages if base_of(s.uop).op in (Ops.CONST, Ops.IOTA)}
    return Constants(constant)


def _born(capture: Capture) -> list[Storage]:
    """What the call made that is still there: its result, and what it left in attributes."""
    from tinyframe.tensor.base import live_tensors

    storages = dict.fromkeys(tensor._storage for tensor in live_tensors())
    return [storage for storage in storages if storage.born >= capture.started]


def _written(item: ScheduleItem) -> list[int]:
    """Which of its buffers an item writes to."""
    if item.ast.op is Ops.COPY:
        return [0]
    return [s.src[0].src[0].arg for s in item.ast.src]


def _returned(tensor: TensorBase, arguments: Mapping[Storage, int], started: int) -> Returned:
    storage = tensor._storage
    same = storage.uop, tensor._path, tensor._requires_grad
    if storage in arguments:
        return Returned(*same, argument=arguments[storage])
    if storage.born < started:
        return Returned(*same, storage=storage)
    return Returned(*same, new=storage.born)


# ---- arguments and results -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Frozen:
    """An argument that is no Tensor: a value, or an object that has to be the same one."""

    place: str
    value: Any
    is_object: bool

    @staticmethod
    def of(place: str, value: Any) -> _Frozen:
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
            return _Frozen(place, value, False)
        try:
            return _Frozen(place, weakref.ref(value), True)
        except TypeError:
            return _Frozen(place, lambda: value, True)

    def is_same(self, value: Any) -> bool:
        if self.is_object:
            return self.value() is value
        if type(value) is not type(self.value):
            return False
        return value == self.value or (value != value and self.value != self.value)

    def text(self) -> str:
        return "another object" if self.is_object else repr(self.value)


def _walk(args: tuple, kwargs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Everything in the arguments that is no container, with a name for its place."""
    pending = [(f"args[{n}]", value) for n, value in enumerate(args)] + sorted(kwargs.items())
    while pending:
        place, value = pending.pop(0)
        if isinstance(value, (list, tuple)):
            pending[:0] = [(f"{place}[{n}]", x) for n, x in enumerate(value)]
        elif isinstance(value, dict):
            pending[:0] = [(f"{place}[{key!r}]", x) for key, x in value.items()]
        else:
            yield place, value


def _taken_apart(args: tuple, kwargs: Mapping[str, Any]) -> Given:
    tensor_class = _tensor_class()
    if not kwargs and all(isinstance(value, tensor_class) for value in args):
        return Given([type(value) for value in args], list(args), [])
    layout: list[Any] = [tuple(sorted(kwargs))]
    tensors: list[TensorBase] = []
    values: list[Any] = []

    def add(given: Iterable[Any]) -> None:
        for value in given:
            kind = type(value)
            layout.append(kind)
            if _is_tensor(value):
                tensors.append(value)
            elif isinstance(value, dict):
                layout.append(tuple(value))
                add(value.values())
            elif isinstance(value, (list, tuple)):
                layout.append(len(value))
                add(value)
            elif not isinstance(value, UOp):
                values.append(value)

    add(args)
    add(value for _, value in sorted(kwargs.items()))
    return Given(layout, tensors, values)


def _memory_as_it_lies(uop: UOp) -> tuple | None:
    """Whole memory in some shape: all that a kernel knows of it. None for any other view."""
    base = memory_state(uop)
    return (uop.shape, base.arg, base.dtype, base.src[1]) if base.op is Ops.BUFFER else None


def _lies(uop: UOp) -> tuple | UOp:
    """How a value lies in memory: whole, or in what view."""
    return _memory_as_it_lies(uop) or _anonymous(uop)


def _map(structure: Any, change: Callable[[Any], Any], leaf: type | None = None) -> Any:
    """The same structure of lists, tuples and dicts with every Tensor (or `leaf`) changed."""
    if structure is None:
        return None
    if isinstance(structure, leaf) if leaf is not None else _is_tensor(structure):
        return change(structure)
    if isinstance(structure, (list, tuple)):
        parts = [_map(x, change, leaf) for x in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
    if isinstance(structure, dict):
        return {key: _map(x, change, leaf) for key, x in structure.items()}
    raise JitError(
        f"a captured function can return Tensors, and lists, tuples and dicts of them, but not "
        f"{type(structure).__name__}: that would stay the same in every replay"
    )


def _joined(runs: Iterable[Run]) -> Iterator[Run]:
    """Runs that follow each other as one, up to where a Variable changes its value."""
    items: list[ScheduleItem] = []
    var_vals: dict[UOp, int] = {}
    for more, values in runs:
        if any(var_vals.get(var, value) != value for var, value in values.items()):
            yield items, var_vals
            items, var_vals = [], {}
        items, var_vals = items + more, var_vals | values
    yield items, var_vals


def _leaves(structure: Any) -> list[Returned]:
    found: list[Returned] = []
    _map(structure, found.append, Returned)
    return found


def _storages(result: Any) -> list[Storage]:
    """Those of all Tensors in a result."""
    if isinstance(result, (list, tuple)):
        return [storage for part in result for storage in _storages(part)]
    if isinstance(result, dict):
        return _storages(list(result.values()))
    return [result._storage] if _is_tensor(result) else []


def _is_tensor(value: Any) -> bool:
    return isinstance(value, _tensor_class())


@functools.cache
def _tensor_class() -> type[TensorBase]:
    from tinyframe.tensor.core import Tensor

    return Tensor


def _bound_in(args: tuple, kwargs: Mapping[str, Any]) -> dict[UOp, UOp]:
    """The BIND of each Variable that the arguments depend on, the shapes of Tensors included."""
    from tinyframe.schedule import bindings

    given = [value.uop if _is_tensor(value) else value for _, value in _walk(args, kwargs)]
    return bindings([value for value in given if isinstance(value, UOp)])


def _sizes(args: tuple, kwargs: Mapping[str, Any]) -> list[Signature]:
    """The arguments that are Variables, or computed from them."""
    given = _walk(args, kwargs)
    return [Signature(place, _unbound(value)) for place, value in given if isinstance(value, UOp)]


def _unbound(uop: UOp) -> UOp:
    return uop.substitute({u: u.src[0] for u in uop.unknowns if u.op is Ops.BIND})


def _anonymous(uop: UOp) -> UOp:
    """The graph on a buffer, without saying which buffer, or what Variables are bound to."""
    base = base_of(uop)
    if base.op is not Ops.BUFFER:
        return uop
    return _unbound(
        uop.substitute({base: base.replace(src=(UOp(Ops.UNIQUE, arg=-1), base.src[1]))})
    )


def _signature(place: str, uop: UOp) -> Signature:
    return Signature(place, _anonymous(uop))


def _names(variables: Iterable[UOp]) -> str:
    return _list(sorted(f"{v.expr} ({v.vmin} to {v.vmax})" for v in variables))


def _list(names: Any) -> str:
    return ", ".join(names) or "nothing"
