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
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from tinyframe.device import buffer_of
from tinyframe.engine.arguments import Arguments, map_structure, storages_in, taken_apart
from tinyframe.engine.capture import Capture, JitError, capture_now, capturing
from tinyframe.engine.captured import (
    Captured,
    Returned,
    born_in,
    leaves,
    left_behind,
    note_memory,
    note_owners,
    returned_as,
    shared_memory,
)
from tinyframe.engine.lock import running
from tinyframe.settings import settings
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.laziness import compute, make_alone, separate
from tinyframe.tensor.storage import Storage
from tinyframe.uop.movement import base_of, memory_state
from tinyframe.uop.node import Ops, UOp

# What runs a schedule is imported where it is needed: `import tinyframe` should not pay for it.
if TYPE_CHECKING:
    from tinyframe.engine.realize import Run
    from tinyframe.schedule.item import ScheduleItem

__all__ = ["JitError", "TinyJit"]

P = ParamSpec("P")
Result = TypeVar("Result")

_jits: weakref.WeakSet[TinyJit] = weakref.WeakSet()


class TinyJit(Generic[P, Result]):
    """A decorator for functions and methods of Tensors; a method is captured for each instance.

    cnt: calls so far. captured: what was recorded, from the second call on. reset(): forget it.
    Calls from several threads wait for each other. Raises JitError where a call does not fit what
    was captured, and where nothing can be.
    """

    def __init__(self, fxn: Callable[P, Result], prune: bool = False):
        self.fxn, self.prune = fxn, prune
        functools.update_wrapper(self, fxn)
        self._instances: dict[int, tuple[Any, TinyJit]] = {}
        self._renew_lock()
        self.reset()

    def _renew_lock(self) -> None:
        self._lock = threading.RLock()
        _jits.add(self)

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
                result = self.fxn(*args, **kwargs)
                compute(storages_in(result))
            elif self.captured is None or self.captured.constants.have_changed:
                result = self._capture(args, kwargs)
            else:
                result = _ReplayedCall(self.captured, args, kwargs).result()
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
        self._instances = {}
        self._renew_lock()

    def _capture(self, args: Any, kwargs: Any) -> Result:
        from tinyframe.engine.realize import record_runs

        captured = Captured(Arguments.of(self._name(), args, kwargs))
        tensors = taken_apart(args, kwargs).tensors
        arguments = {tensor._storage: n for n, tensor in enumerate(tensors)}
        capture = Capture(Storage.now(), random=captured.random)
        captured.constants = capture.constants
        note_owners(capture, arguments)
        capture.theirs.update(argument.captured for argument in captured.arguments.inputs)
        started = UOp.unique().arg
        with record_runs() as captured.runs, capturing(capture):
            result = self.fxn(*args, **kwargs)
            # what was assigned but not realized (running statistics, say) belongs to the call
            compute([*storages_in(result), *capture.changed, *born_in(capture)])
            compute(left_behind(capture, arguments, storages_in(result)))
        captured.result = map_structure(
            result, lambda t: returned_as(t, arguments, capture)
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
        note_memory(captured, capture, started, arguments, set(storages_in(result)))
        self.captured = captured
        return result


def _renew_locks() -> None:
    """The calls of the parent's other threads are not in a child that was forked meanwhile."""
    for jit in list(_jits):
        jit._renew_lock()


os.register_at_fork(after_in_child=_renew_locks)


class _ReplayedCall:
    """One replay: the steps of a call that is like the captured one.

    JitError where it is not.
    """

    def __init__(self, captured: Captured, args: Any, kwargs: Any) -> None:
        self.captured = captured
        with running:
            self.tensors, self.replaced, self.bound = captured.arguments.matched(args, kwargs)
            # The BUFFERs of today for those of the captured call, where somebody will need them.
            self.now: dict[UOp, UOp] = {}
            if captured.maps_inputs:
                self._find_arguments()
            self._find_states()
            fresh = self._new_memory()
            for buffer, refill in captured.random:
                refill(buffer)
            self._launch()
            self.now |= fresh
            if captured.maps_inputs:
                self._move_arguments(fresh)
            for ref, uop in captured.after:
                if (storage := ref()) is not None:
                    storage.point_to(uop.substitute(self.now))

    def _find_arguments(self) -> None:
        """Those that will be changed get memory that nobody else needs."""
        for argument, tensor in zip(self.captured.arguments.inputs, self.tensors, strict=True):
            if argument.is_written:
                make_alone(tensor._storage)
                self.replaced[argument.captured] = buffer_of(base_of(tensor.uop))
            self.now[argument.base] = base_of(tensor.uop)

    def _find_states(self) -> None:
        """The Tensors that the function uses, where they are now."""
        captured = self.captured
        look = not captured.all_still_alone()
        for state in captured.states:
            storage = state.storage()
            if storage is not None and (
                state.seen() is not storage.uop or (look and not state.is_still_alone())
            ):
                state.find(storage, captured.arguments.refuse)
                captured.standing[state.captured] = state.buffer
                self.replaced[state.captured] = state.buffer
                look = True
            if captured.maps_inputs:
                self.now[state.before] = self.now[state.after] = state.memory
        if look:
            captured.watch_all()

    def _new_memory(self) -> dict[UOp, UOp]:
        """For each BUFFER that the captured call made the one of this call."""
        fresh: dict[UOp, UOp] = {}
        for base, buffer in self.captured.made:
            new = UOp(Ops.BUFFER, base.dtype, (UOp.unique(), base.src[1]), base.arg)
            self.replaced[buffer] = buffer_of(new)
            fresh[base] = new
        return fresh

    def _launch(self) -> None:
        captured, bound = self.captured, self.bound
        if not captured.replays:
            from tinyframe.engine.replay import Replay

            runs = _joined(captured.runs) if captured.items else ()
            captured.replays = [(Replay(items), was) for items, was in runs]
        for replay, var_vals in captured.replays:
            if bound:
                var_vals = {v: bound[v].val if v in bound else x for v, x in var_vals.items()}
            replay(self.replaced, var_vals, captured.standing)

    def _move_arguments(self, fresh: dict[UOp, UOp]) -> None:
        """Arguments that the call has given other memory get that of this call."""
        for argument, tensor in zip(self.captured.arguments.inputs, self.tensors, strict=True):
            assert argument.after is not None
            if (base := base_of(argument.after)) in fresh:
                tensor._storage.point_to(argument.after.substitute(self.now))
            self.now[base] = base_of(tensor.uop)

    def result(self) -> Any:
        made: dict[int, Storage] = {}

        def tensor_of(returned: Returned) -> Tensor:
            if returned.argument is not None:
                storage = self.tensors[returned.argument]._storage
            elif returned.storage is not None:
                storage = returned.storage
            elif returned.new in made:
                storage = made[returned.new]
            else:
                uop = _in_this_call(returned.uop, self.now, self.bound)
                tensor = Tensor._of(uop, returned.requires_grad)
                storage = made[returned.new] = tensor._storage
                if not returned.path:
                    return tensor
            return Tensor._seeing(storage, returned.path, returned.requires_grad)

        return map_structure(self.captured.result, tensor_of, Returned)


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
