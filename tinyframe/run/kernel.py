"""A kernel that is ready to run on one device; compilers side by side; what DEBUG shows of a run.

DEBUG=1     3 kernels, 0.31 ms
DEBUG=2     a line for each kernel: name, shapes, time, GFLOP/s, GB/s, memory in use
DEBUG=3     the kernels' sources before that, with the plan that each follows
"""

from __future__ import annotations

import functools
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinyframe.counters import GlobalCounters
from tinyframe.device import Buffer, human_bytes
from tinyframe.settings import settings
from tinyframe.uop.evaluate import sym_infer
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text

if TYPE_CHECKING:
    from tinyframe.codegen.program import ProgramSpec
    from tinyframe.schedule.kernels import ScheduleItem


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """A kernel that is compiled and loaded on one device."""

    spec: ProgramSpec
    runner: Any

    def __call__(
        self,
        bufs: Sequence[Buffer],
        var_vals: Mapping[UOp, int],
        wait: bool = False,
        ran: list[Any] | None = None,
    ) -> float | None:
        """Run it on `bufs`, one for each argument of the kernel as it was scheduled.

        With `wait`, return the seconds it took, when it is done. ran: a list that is empty until it
        has run. RuntimeError if a Variable that it uses has no value.
        """
        opaque = [bufs[slot]._buf for slot in self.spec.globals]
        more: dict[str, Any] = {}
        # Left out if there are none, so that a simple Runner need not support `vals`.
        if self.spec.vars:
            more["vals"] = self.values(var_vals)
        global_size, local_size = self.sizes(var_vals)
        took = 0.0 if wait else None
        if 0 not in global_size:  # no blocks, because a Variable is 0; a driver may reject that
            if self.notes_itself:
                self.runner.ran = ran
            took = self.runner(
                *opaque, global_size=global_size, local_size=local_size, wait=wait, **more
            )
        if ran is not None and not ran:
            ran.append(took)
        return took

    @property
    def notes_itself(self) -> bool:
        """Whether it is known of each launch, whenever Ctrl-C comes, if it was made."""
        return getattr(self.runner, "notes_itself", False)

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
        """The values of its Variables, in argument order."""
        return tuple([_value(variable, var_vals) for variable in self.spec.vars])


def _value(variable: UOp, var_vals: Mapping[UOp, int]) -> int:
    if variable not in var_vals:
        raise RuntimeError(f"unbound Variable {variable.expr!r}: give it a value with .bind(...)")
    return var_vals[variable]


Compile = Callable[..., bytes]


@contextmanager
def compilers(count: int) -> Iterator[Callable[..., Future[bytes]]]:
    """A function that starts a compilation and returns its Future; `count` run at a time.

    Compilers are separate processes: they run while Python generates the next source.
    """
    pool = ThreadPoolExecutor(max_workers=count)
    try:
        # In a copy of this context, so that the settings of a Context apply in the thread too.
        yield lambda compile, *args: pool.submit(copy_context().run, compile, *args)
    finally:
        # After an error or an interrupt, compilations that have not begun are cancelled.
        pool.shutdown(wait=True, cancel_futures=True)


# ---- what DEBUG shows of a run -------------------------------------------------------------------


def total_line(kernels: int, seconds: float) -> str:
    """The number of kernels of a run and their total time: `1 kernel, 0.02 ms`."""
    return f"{kernels} kernel{'s' * (kernels != 1)}, {seconds * 1e3:.2f} ms"


def with_plan(spec: ProgramSpec) -> str:
    """A kernel's source, below a comment with its plan, the reason for that, and its Opts."""
    said = []
    if spec.plan is not None:
        said += textwrap.wrap(f"plan: {spec.plan.name}, because {spec.plan.why}", 97)
    if spec.opts:
        said += textwrap.wrap("opts: " + ", ".join(map(str, spec.opts)), 97)
    return "\n".join([*[f"// {line}" for line in said], spec.src])


def kernel_line(
    kernel: CompiledKernel, item: ScheduleItem, seconds: float, operations: int, nbytes: int
) -> str:
    from tinyframe.codegen.program import colored_name

    name = colored_name(kernel.spec)
    rate = 1e-9 / seconds if seconds > 0 else 0.0
    return plain_unless_shown(
        f"{item.bufs[0].device:<6} {_pad(name, 14)} {_shapes(item):<18} {time_text(seconds)} "
        f"{operations * rate:7.1f} GFLOP/s {nbytes * rate:5.1f} GB/s  "
        f"{human_bytes(GlobalCounters.mem_used)} in use"
    )


def _shapes(item: ScheduleItem) -> str:
    """The shapes of the arguments as the kernel indexes them, without ones: "2x3 <- 2x4, 4x3"."""
    shapes: dict[int, tuple] = {}
    written = set()
    for u in item.ast.toposort():
        if u.op is Ops.STORE:
            written.add(u.src[0].src[0].arg)
        if u.op is Ops.INDEX and u.src[0].op is Ops.DEFINE_GLOBAL and isinstance(u.arg, tuple):
            shapes.setdefault(u.src[0].arg, u.arg)
    for slot, buf in enumerate(item.bufs):
        shapes.setdefault(slot, (buf.size,))

    def text(slot: int) -> str:
        return "x".join(sizes_text(size) for size in shapes[slot] if size != 1) or "1"

    outs = ", ".join(map(text, sorted(written)))
    ins = ", ".join(map(text, sorted(shapes.keys() - written)))
    return f"{outs} <- {ins}" if ins else outs


def time_text(seconds: float) -> str:
    return f"{seconds * 1e6:7.1f} us" if seconds < 1e-2 else f"{seconds * 1e3:7.1f} ms"


_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def _pad(text: str, width: int) -> str:
    """The text padded with spaces to a visible width of `width`: colour codes don't count."""
    return text + " " * (width - len(_COLOR.sub("", text)))


def plain_unless_shown(text: str) -> str:
    """The text, without its colour codes if stdout does not show colours: a file, a pipe."""
    return text if colors_are_shown() else _COLOR.sub("", text)


def colors_are_shown() -> bool:
    """Whether stdout is a terminal or a notebook, and NO_COLOR is not set."""
    if settings.NO_COLOR:
        return False
    # A notebook's stdout is no terminal, but shows colours.
    return sys.stdout.isatty() or type(sys.stdout).__module__.startswith("ipykernel.")
