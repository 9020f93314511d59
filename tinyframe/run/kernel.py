"""A kernel that is ready to run on one device, and compilers that run side by side."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinyframe.device import Buffer
from tinyframe.uop.evaluate import sym_infer
from tinyframe.uop.node import UOp

if TYPE_CHECKING:
    from tinyframe.codegen.program import ProgramSpec


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """A kernel that is ready to run on one device."""

    spec: ProgramSpec
    runner: Any

    def __call__(
        self, bufs: Sequence[Buffer], var_vals: Mapping[UOp, int], wait: bool = False
    ) -> float | None:
        """Run it on `bufs`, one for each argument of the kernel as it was scheduled.

        With `wait`, return when it is done, and the seconds it took. RuntimeError where a Variable
        that it uses has no value.
        """
        opaque = [bufs[slot]._buf for slot in self.spec.globals]
        more: dict[str, Any] = {}
        # Left out where there are none: a Runner without `vals` is good enough for most kernels.
        if self.spec.vars:
            more["vals"] = self.values(var_vals)
        global_size, local_size = self.sizes(var_vals)
        if 0 in global_size:  # no block, where a Variable is 0; a driver may not take that
            return 0.0 if wait else None
        return self.runner(
            *opaque, global_size=global_size, local_size=local_size, wait=wait, **more
        )

    @functools.cached_property
    def _has_fixed_sizes(self) -> bool:
        return not any(isinstance(n, UOp) for n in self.spec.global_size + self.spec.local_size)

    def sizes(self, var_vals: Mapping[UOp, int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The global and the local size of a launch."""
        sizes = self.spec.global_size, self.spec.local_size
        if self._has_fixed_sizes:
            return sizes  # type: ignore[return-value]
        global_size, local_size = (tuple([sym_infer(n, var_vals) for n in s]) for s in sizes)
        return global_size, local_size

    def values(self, var_vals: Mapping[UOp, int]) -> tuple[int, ...]:
        """The values of its Variables, in order."""
        return tuple([_value(variable, var_vals) for variable in self.spec.vars])


def _value(variable: UOp, var_vals: Mapping[UOp, int]) -> int:
    if variable not in var_vals:
        raise RuntimeError(f"unbound Variable {variable.expr!r}: give it a value with .bind(...)")
    return var_vals[variable]


Compile = Callable[..., bytes]


@contextmanager
def compilers(count: int) -> Iterator[Callable[..., Future[bytes]]]:
    """A function that starts `compile(*of_what)` and gives its Future; `count` run at a time.

    Compilers are other processes: they run while Python makes the next source.
    """
    pool = ThreadPoolExecutor(max_workers=count)
    try:
        # In a copy of this context: settings of a Context around here hold in the thread too.
        yield lambda compile, *of: pool.submit(copy_context().run, compile, *of)
    finally:
        # After an error or an interrupt, those that have not begun are not worth waiting for.
        pool.shutdown(wait=True, cancel_futures=True)
