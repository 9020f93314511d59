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
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, NoReturn, ParamSpec, TypeVar

import numpy as np

from tinyframe.device import Buffer, buffer_of
from tinyframe.engine.arguments import (
    Frozen,
    Usual,
    bound_in,
    is_tensor,
    lies,
    map_structure,
    signature_of,
    sizes_given,
    storages_in,
    taken_apart,
    tensor_class,
    walk,
)
from tinyframe.engine.capture import Capture, JitError, capture_now, capturing
from tinyframe.engine.captured import (
    Captured,
    Input,
    Returned,
    State,
    born_in,
    leaves,
    left_behind,
    note_memory,
    note_owners,
    returned_as,
    separate,
    shared_memory,
)
from tinyframe.engine.lock import running
from tinyframe.settings import settings
from tinyframe.uop.movement import base_of, memory_state
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text

# What runs a schedule is imported where it is needed: `import tinyframe` should not pay for it.
if TYPE_CHECKING:
    from tinyframe.engine.realize import Run
    from tinyframe.schedule.item import ScheduleItem
    from tinyframe.tensor.base import TensorBase
    from tinyframe.tensor.storage import Storage

__all__ = ["JitError", "TinyJit"]

P = ParamSpec("P")
Result = TypeVar("Result")


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
                compute(storages_in(result))
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
        given = taken_apart(args, kwargs)
        tensors = self._tensors(args, kwargs)
        captured.variables = set(bound_in(args, kwargs))
        captured.sizes = sizes_given(args, kwargs)
        captured.usual = Usual.of(given)
        captured.values, captured.training = self._frozen(args, kwargs), tensor_class().training
        for place, tensor in tensors:
            separate(tensor._storage)
            base = base_of(tensor.uop)
            if twin := next((i.signature.place for i in captured.inputs if i.base is base), None):
                raise JitError(
                    f"{self._name()}: {place} and {twin} are the same Tensor; a replay could not "
                    "tell which of them a kernel means. Pass it once, or a clone()"
                )
            captured.inputs.append(Input(signature_of(place, tensor.uop), base, buffer_of(base)))
        arguments = {tensor._storage: n for n, (_, tensor) in enumerate(tensors)}
        capture = Capture(Storage.now(), random=captured.random)
        captured.constants = capture.constants
        note_owners(capture, arguments)
        capture.theirs.update(argument.captured for argument in captured.inputs)
        started = UOp.unique().arg
        with record_runs() as captured.runs, capturing(capture):
            result = self.fxn(*args, **kwargs)
            # what was assigned but not realized (running statistics, say) belongs to the call
            compute([*storages_in(result), *capture.changed, *born_in(capture)])
            compute(left_behind(capture, arguments, storages_in(result)))
        captured.result = map_structure(
            result, lambda t: returned_as(t, arguments, capture.started)
        )
        if not captured.items and not leaves(captured.result):
            raise JitError(
                f"{self._name()} launched no kernel: there is nothing to replay. It has to compute "
                "something from the Tensors that it is given"
            )
        if (twins := shared_memory(capture, captured)) is not None:
            # kernels cannot tell two Tensors in one memory from each other: apart, then again
            for storage in twins[1:]:
                separate(storage)
            return result
        if capture.is_mixed:  # by the next call that is computed
            return result
        note_memory(self._name(), captured, capture, started, arguments, set(storages_in(result)))
        self.captured = captured
        return result

    def _frozen(self, args: Any, kwargs: Any) -> list[Any]:
        """The arguments that are no Tensors; JitError for those whose contents may change."""
        frozen = []
        for place, value in walk(args, kwargs):
            if is_tensor(value) or isinstance(value, UOp):
                continue
            if isinstance(value, (np.ndarray, bytearray)):
                raise JitError(
                    f"{self._name()}: {place} is a {type(value).__name__}, which would be frozen "
                    "at what it holds in this call; pass a Tensor"
                )
            frozen.append(Frozen.of(place, value))
        return frozen

    def _tensors(self, args: Any, kwargs: Any) -> list[tuple[str, TensorBase]]:
        """The Tensors among the arguments, in memory, by place."""
        tensors = [(place, value) for place, value in walk(args, kwargs) if is_tensor(value)]
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
        given = taken_apart(args, kwargs)
        self._check_values(captured, given.values)
        with running:
            bound: dict[UOp, UOp] = {}
            replaced = captured.usual.replaced(given) if captured.usual is not None else None
            if replaced is None:
                replaced, bound = self._looked_at(captured, args, kwargs)
            # The BUFFERs of today for those of the captured call, where somebody will need them.
            now: dict[UOp, UOp] = {}
            pairs = (
                list(zip(captured.inputs, given.tensors, strict=True))
                if captured.maps_inputs
                else ()
            )
            for argument, tensor in pairs:
                if argument.is_written:
                    from tinyframe.tensor.laziness import make_alone

                    make_alone(tensor._storage)
                    replaced[argument.captured] = buffer_of(base_of(tensor.uop))
                now[argument.base] = base_of(tensor.uop)
            look = not captured.all_still_alone()
            for state in captured.states:
                storage = state.storage()
                if storage is not None and (
                    state.seen() is not storage.uop or (look and not state.is_still_alone())
                ):
                    self._find(state, storage)
                    captured.standing[state.captured] = state.buffer
                    replaced[state.captured] = state.buffer
                    look = True
                if captured.maps_inputs:
                    now[state.before] = now[state.after] = state.memory
            if look:
                captured.watch_all()
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
                replay(replaced, var_vals, captured.standing)
            now |= fresh
            for argument, tensor in pairs:
                assert argument.after is not None
                if (base := base_of(argument.after)) in fresh:  # it was moved by the call
                    tensor._storage.point_to(argument.after.substitute(now))
                now[base] = base_of(tensor.uop)
            for ref, uop in captured.after:
                if (storage := ref()) is not None:
                    storage.point_to(uop.substitute(now))
        made: dict[int, Storage] = {}

        def result(returned: Returned) -> TensorBase:
            if returned.argument is not None:
                storage = given.tensors[returned.argument]._storage
            elif returned.storage is not None:
                storage = returned.storage
            elif returned.new in made:
                storage = made[returned.new]
            else:
                uop = _in_this_call(returned.uop, now, bound)
                tensor = tensor_class()._of(uop, returned.requires_grad)
                storage = made[returned.new] = tensor._storage
                if not returned.path:
                    return tensor
            return tensor_class()._seeing(storage, returned.path, returned.requires_grad)

        return map_structure(captured.result, result, Returned)

    def _check_values(self, captured: Captured, values: list[Any]) -> None:
        """JitError where an argument that is no Tensor is not what was captured."""
        if values and len(values) == len(captured.values):
            for was, value in zip(captured.values, values, strict=True):
                if not was.is_same(value):
                    self._refuse(
                        f"{was.place} was captured as {was.text()}, and is {value!r} now; what is "
                        "no Tensor is frozen at what it was. Pass a Tensor, or a bound Variable"
                    )
        if tensor_class().training is not captured.training:
            self._refuse(
                f"it was captured with Tensor.training {captured.training}, and is called with "
                f"{not captured.training}"
            )

    def _find(self, state: State, storage: Storage) -> None:
        """Finds the values of a Tensor that the function uses where they are now; where they are
        going to be changed, in memory that nobody else needs."""
        from tinyframe.tensor.laziness import compute, make_alone, watched

        compute([storage])
        if lies(storage.uop) != state.view:
            storage.point_to(storage.uop.contiguous())
            compute([storage])
        if base_of(storage.uop).op is not Ops.BUFFER or lies(storage.uop) != state.view:
            self._refuse(
                f"a Tensor of shape {sizes_text(storage.uop.shape)} that it uses lies in memory in "
                "another way than when it was captured"
            )
        if state.is_written:
            make_alone(storage)
            state.watched = watched(storage)
            state.numbers = tuple(map(len, state.watched))
        state.seen, state.memory = weakref.ref(storage.uop), base_of(storage.uop)
        state.buffer = buffer_of(state.memory)

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
            if (now := signature_of(place, tensor.uop)) != signature:
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
        bound = bound_in(args, kwargs)
        if sizes_given(args, kwargs) != captured.sizes or bound.keys() != captured.variables:
            self._refuse(
                f"it was captured with the Variables {_names(captured.variables)}, and is called "
                f"with {_names(bound)}; name, bounds and what is computed from them have to be the "
                "same"
            )
        if len(given := taken_apart(args, kwargs).values) != len(captured.values):
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


def _in_this_call(uop: UOp, now: dict[UOp, UOp], bound: dict[UOp, UOp]) -> UOp:
    """The same graph on the memory and the values of Variables that this call has."""
    new = now.get(memory_state(uop))
    if new is None or uop.unknowns:
        rebound = {u: bound.get(u.src[0], u) for u in uop.unknowns if u.op is Ops.BIND}
        return uop.substitute(now | rebound)
    return new if uop in now else UOp(Ops.RESHAPE, uop.dtype, (new,), uop.shape)


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


def _names(variables: Iterable[UOp]) -> str:
    return _list(sorted(f"{v.expr} ({v.vmin} to {v.vmax})" for v in variables))


def _list(names: Any) -> str:
    return ", ".join(names) or "nothing"
