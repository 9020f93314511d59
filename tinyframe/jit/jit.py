"""TinyJit: the kernels of a function, captured once and replayed without running its Python.

    @TinyJit
    def step(x, y):
        loss = model(x).cross_entropy(y).backward()
        optimizer.step()
        return loss

The first call runs as always. The second runs too, and its launches are recorded. From the third
call on, the recorded kernels are launched on the new inputs, and the Python body no longer runs:
anything it does apart from Tensors (printing, counting, branching on a Python value) is frozen.

From call to call, the arguments may change if they are Tensors (of the same shape, dtype, device
and view) or bound Variables. So may the values of the Tensors that the function uses without taking
them as arguments: parameters, running statistics, a learning rate. Each replay finds their current
memory, and updates them as the function would. Any other argument has to stay the same.
"""

from __future__ import annotations

import copy
import functools
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

from tinyframe.jit.arguments import Signature, flatten_arguments, tree_map
from tinyframe.jit.captured import Captured
from tinyframe.jit.recording import Recording, make_ready
from tinyframe.run.capture import Capture, JitError, capture_now, captures, capturing
from tinyframe.run.realize import record_runs, settling
from tinyframe.settings import settings
from tinyframe.tensor.base import Storage, live_tensors
from tinyframe.tensor.laziness import compute

__all__ = ["JitError", "TinyJit"]

P = ParamSpec("P")
Result = TypeVar("Result")

MOST_CAPTURED = 4

_jits: weakref.WeakSet[TinyJit] = weakref.WeakSet()


class TinyJit(Generic[P, Result]):
    """A decorator for functions and methods of Tensors; a method is captured for each instance.

    cnt: calls so far. captured: the recording, from the second call on. reset(): discard it.
    Calls from several threads wait for each other. JitError if a call does not match the captured
    one, or if the function cannot be captured.
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
        # the latest first; one for each combination of Tensors that have a .grad
        self._all: list[Captured] = []
        # the storages that the last capture used, and whether it changed each
        self._used: list[tuple[Callable[[], Storage | None], bool]] = []

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        key = id(instance)
        if key not in self._instances:  # it gets a TinyJit, which lives as long as it
            try:
                kept: Any = weakref.ref(instance, lambda _: self._instances.pop(key, None))
            except TypeError:  # an instance without weak references is kept alive
                kept = instance
            self._instances[key] = kept, TinyJit(self.fxn, self.prune)
        _, jit = self._instances[key]
        bound = functools.partial(jit.__call__, instance)
        bound.reset, bound.jit = jit.reset, jit  # type: ignore[attr-defined]
        return bound

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result:
        if captures and capture_now() is not None:
            raise JitError(
                f"{self._name()} is called while another TinyJit is captured: only the outer one "
                "can be replayed, so leave the inner one out"
            )
        with self._lock:
            if not settings.JIT or self.cnt == 0:
                result = self.fxn(*args, **kwargs)
                compute(tensor._storage for tensor in flatten_arguments((result,), {}).tensors)
            else:
                given = flatten_arguments(args, kwargs)
                fitting = [captured for captured in self._all if captured.fits(given)]
                result = fitting[0](given) if fitting else self._capture(args, kwargs)
            self.cnt += 1
        return result

    def _name(self) -> str:
        return getattr(self.fxn, "__qualname__", repr(self.fxn))

    def __getstate__(self) -> dict[str, Any]:
        # Memory, kernels and a lock belong to this process: a copy captures again.
        kept = {n: v for n, v in vars(self).items() if n not in ("_lock", "_instances")}
        return kept | {"cnt": 0, "captured": None, "_all": [], "_used": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._instances = {}
        self._renew_lock()

    def _capture(self, args: Any, kwargs: Any) -> Result:
        for ref, is_changed in self._used:
            if (storage := ref()) is not None:
                make_ready(storage, to_change=is_changed)
        given = flatten_arguments(args, kwargs)
        signature, tensors = Signature(self._name(), given), given.tensors
        # The function gets copies of its arguments, which share their storages. That tells a use of
        # an argument from a use of the same Tensor by another route, such as an attribute.
        own = {id(tensor): copy.copy(tensor) for tensor in tensors}
        args, kwargs = tree_map((args, kwargs), lambda value: own.get(id(value), value))
        asking = [tensor._requires_grad for tensor in tensors]
        capture = Capture([*own.values()], signature.inputs, live_tensors(), Storage.next_number())

        def record() -> tuple[Result, Recording, bool]:
            for tensor in tensors:
                tensor._requires_grad = False
            with record_runs() as runs, capturing(capture):
                result = self.fxn(*args, **kwargs)
                recording = Recording(capture, signature, runs, result)
                is_settled = recording.settle()
            give_back()
            return result, recording, is_settled

        def give_back() -> None:
            for tensor, asks in zip(tensors, asking, strict=True):
                tensor._requires_grad, tensor._grad = asks, own[id(tensor)]._grad

        result, recording, is_settled = settling(record, give_back)
        if is_settled:
            self.captured = recording.captured()
            self._all = [self.captured, *self._all[: MOST_CAPTURED - 1]]
        used = [owner.storage for owner in capture.initial.values()]
        self._used = [(ref, ref() in capture.changed) for ref in used]
        return result


def _renew_locks() -> None:
    """In a forked child: the thread that held a lock may not exist there."""
    for jit in list(_jits):
        jit._renew_lock()


os.register_at_fork(after_in_child=_renew_locks)
