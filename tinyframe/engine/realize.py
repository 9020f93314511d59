"""Run a schedule: compile what is new, take memory, launch, count.

`run_schedule(items)` is the last step of `realize()`. Each item is a kernel (SINK) or a copy
between devices (COPY) with its Buffers. What DEBUG shows of a run is printed here:

    DEBUG=1     3 kernels, 0.31 ms
    DEBUG=2     a line for each kernel: name, shapes, time, GFLOP/s, GB/s, memory in use
    DEBUG=3     each kernel's source before it runs
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tinyframe.counters import GlobalCounters
from tinyframe.device import Buffer, Compiled, Device, human_bytes
from tinyframe.settings import settings
from tinyframe.uop.node import Ops, UOp

if TYPE_CHECKING:
    from tinyframe.codegen.program import ProgramSpec
    from tinyframe.schedule.item import ScheduleItem


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel that is ready to run on one device."""

    spec: ProgramSpec
    runner: Any

    def __call__(
        self, bufs: Sequence[Buffer], var_vals: Mapping[UOp, int], wait: bool = False
    ) -> float | None:
        """Run it on `bufs`, one for each argument of the kernel as it was scheduled."""
        opaque = [bufs[slot]._buf for slot in self.spec.globals]
        more: dict[str, Any] = {"wait": True} if wait else {}
        # Left out where there are none: a Runner without `vals` is good enough for most kernels.
        if self.spec.vars:
            more["vals"] = tuple(var_vals[variable] for variable in self.spec.vars)
        size = (self.spec.threads, 1, 1)
        return self.runner(*opaque, global_size=size, local_size=(1, 1, 1), **more)


# ---- from an ast to a kernel that is ready -------------------------------------------------------

# The device, its renderer and compiler are part of the key as objects: registering a device anew,
# or a setting that changes what they produce, makes a new entry.
_kernels: dict[tuple[Any, ...], CompiledKernel] = {}


def _key(ast: UOp, device: Compiled) -> tuple[Any, ...]:
    return (ast, device, device.renderer, device.compiler, settings.NOOPT, settings.BEAM,
            settings.RELAXED)  # fmt: skip


def get_kernel(ast: UOp, device: str) -> CompiledKernel:
    """The kernel of `ast` on this device: the one made before, or compiled now."""
    return _compile_all([(ast, device)])[0]


def _compile_all(wanted: Sequence[tuple[UOp, str]]) -> list[CompiledKernel]:
    """A kernel for each (ast, device name); those that are new are compiled side by side."""
    keys = [_key(ast, Device[name]) for ast, name in wanted]
    # To show the way down, it has to be gone.
    show = settings.DEBUG >= 4 or settings.VIZ
    new = {key: name for key, (_, name) in zip(keys, wanted, strict=True)
           if show or key not in _kernels}  # fmt: skip
    if new:
        from tinyframe.codegen import get_program

        def specs():
            for key in new:
                ast, device, renderer = key[:3]
                yield key, device, get_program(ast, renderer)

        if len(new) == 1:
            for key, device, spec in specs():
                _kernels[key] = _load(device, spec, device.compiler.compile_cached(spec.src))
        else:
            _compile_side_by_side(specs())
    return [_kernels[key] for key in keys]


def _compile_side_by_side(specs) -> None:
    """Compilers are other processes: they run while Python makes the next source."""
    pool = ThreadPoolExecutor(max_workers=settings.THREADS)
    try:
        started: list[tuple[Any, Compiled, ProgramSpec, Future[bytes]]] = []
        for key, device, spec in specs:
            # In a copy of this context: settings of a Context around here hold in the thread too.
            run = copy_context().run
            lib = pool.submit(run, device.compiler.compile_cached, spec.src)
            started.append((key, device, spec, lib))
        for key, device, spec, lib in started:
            _kernels[key] = _load(device, spec, lib.result())
    finally:
        # After an error or an interrupt, those that have not begun are not worth waiting for.
        pool.shutdown(wait=True, cancel_futures=True)


def _load(device: Compiled, spec: ProgramSpec, lib: bytes) -> CompiledKernel:
    return CompiledKernel(spec, device.runner(spec.name, lib))


# ---- running -------------------------------------------------------------------------------------


def run_schedule(
    items: Sequence[ScheduleItem], var_vals: Mapping[UOp, int] | None = None
) -> None:
    """Run every item in order.

    var_vals: the value of each Variable (a DEFINE_VAR) that the kernels use.

    An exception or Ctrl-C on the way leaves the buffers of earlier items and everything compiled as
    it is; what the items after it would have written is not there.
    """
    var_vals = {} if var_vals is None else var_vals
    debug = settings.DEBUG
    kernels = iter(_compile_all([(item.ast, item.bufs[0].device)
                                 for item in items if item.ast.op is Ops.SINK]))  # fmt: skip
    shown: set[Any] = set()
    count, seconds, start = 0, 0.0, perf_counter()
    try:
        for item in items:
            if item.ast.op is Ops.COPY:
                _run_copy(item, debug)
                continue
            kernel = next(kernels)
            if debug >= 3 and kernel not in shown:
                shown.add(kernel)
                print(kernel.spec.src)
            took = _run_kernel(kernel, item, var_vals, debug)
            count += 1
            seconds += took or 0.0
    finally:
        if count:
            if debug < 2:
                if debug:
                    for name in {item.bufs[0].device for item in items}:
                        Device[name].synchronize()
                seconds = perf_counter() - start
            GlobalCounters.time_sum_s += seconds
    if debug >= 1 and count:
        print(f"{count} kernels, {seconds * 1e3:.2f} ms")


def _run_kernel(
    kernel: CompiledKernel, item: ScheduleItem, var_vals: Mapping[UOp, int], debug: int
) -> float | None:
    for buf in item.bufs:
        buf.ensure_allocated()
    took = kernel(item.bufs, var_vals, wait=debug >= 2)
    operations = _number(kernel.spec.ops_estimate, var_vals)
    nbytes = _number(kernel.spec.mem_estimate, var_vals)
    GlobalCounters.kernel_count += 1
    GlobalCounters.global_ops += operations
    GlobalCounters.global_mem += nbytes
    if debug >= 2:
        print(_kernel_line(kernel, item, took or 0.0, operations, nbytes))
    return took


def _run_copy(item: ScheduleItem, debug: int) -> None:
    target, source = item.bufs
    start = perf_counter()
    # Straight into the target's memory where Python can reach it, else by way of the source's.
    if target.allocator.as_array(target._buf) is not None:
        source.copyout(target.as_memoryview())
    else:
        target.copyin(source.as_memoryview())
    if debug >= 2:
        took = perf_counter() - start
        print(f"{target.device:<7} copy {human_bytes(target.nbytes)} from {source.device}  "
              f"{_time_text(took)}")  # fmt: skip


def _number(estimate: Any, var_vals: Mapping[UOp, int]) -> int:
    """An estimate that may depend on Variables, as a number."""
    if isinstance(estimate, UOp):
        values = {variable: variable.const_like(value) for variable, value in var_vals.items()}
        estimate = estimate.substitute(values).ssimplify()
    return int(estimate)


# ---- what DEBUG shows ----------------------------------------------------------------------------


def _kernel_line(
    kernel: CompiledKernel, item: ScheduleItem, seconds: float, operations: int, nbytes: int
) -> str:
    from tinyframe.codegen.program import colored_name

    name = colored_name(kernel.spec)
    rate = 1e-9 / seconds if seconds > 0 else 0.0
    return plain_unless_shown(
        f"{item.bufs[0].device:<7} {_pad(name, 24)} {_shapes(item):<40} {_time_text(seconds)} "
        f"{operations * rate:8.1f} GFLOP/s {nbytes * rate:7.1f} GB/s  "
        f"{human_bytes(GlobalCounters.mem_used)} in use"
    )


def _shapes(item: ScheduleItem) -> str:
    """The arguments' shapes, "2x3 <- 2x4, 4x3", as the kernel's own indices say them."""
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
        return "x".join(map(str, shapes[slot])) or "()"

    outs = ", ".join(text(slot) for slot in sorted(shapes) if slot in written)
    ins = ", ".join(text(slot) for slot in sorted(shapes) if slot not in written)
    return f"{outs} <- {ins}" if ins else outs


def _time_text(seconds: float) -> str:
    return f"{seconds * 1e6:9.1f} us" if seconds < 1e-2 else f"{seconds * 1e3:9.1f} ms"


_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def _pad(text: str, width: int) -> str:
    """Spaces after a text until it is `width` wide as seen, colours not counted."""
    return text + " " * (width - len(_COLOR.sub("", text)))


def plain_unless_shown(text: str) -> str:
    """The text without its colour codes where they would not be seen as colours: a file, a pipe."""
    return text if colors_are_shown() else _COLOR.sub("", text)


def colors_are_shown() -> bool:
    """Whether stdout is a terminal or a notebook, and NO_COLOR is not set."""
    if settings.NO_COLOR:
        return False
    # A notebook's stdout is no terminal, but shows colours.
    return sys.stdout.isatty() or type(sys.stdout).__module__.startswith("ipykernel.")
