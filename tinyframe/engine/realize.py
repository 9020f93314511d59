"""Run a schedule: compile what is new, take memory, launch, count.

`run_schedule(items)` is the last step of `realize()`. Each item is a kernel (SINK) or a copy
between devices (COPY) with its Buffers. What DEBUG shows of a run is printed here:

    DEBUG=1     3 kernels, 0.31 ms
    DEBUG=2     a line for each kernel: name, shapes, time, GFLOP/s, GB/s, memory in use
    DEBUG=3     the kernels' sources before that, with the plan that each follows
"""

from __future__ import annotations

import functools
import itertools
import re
import sys
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from tinyframe.counters import GlobalCounters
from tinyframe.device import Buffer, Compiled, Compiler, Device, human_bytes
from tinyframe.settings import settings
from tinyframe.uop.evaluate import sym_infer
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text

if TYPE_CHECKING:
    from tinyframe.codegen.optimize.loops import Opt
    from tinyframe.codegen.optimize.plans import Plan
    from tinyframe.codegen.program import ProgramSpec
    from tinyframe.schedule.item import ScheduleItem


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


# ---- from an ast to a kernel that is ready ------------------------------------------------------


class Setup(NamedTuple):
    """All that a kernel depends on beside its ast.

    Device, renderer and compiler are compared as objects: a device that is registered anew, or a
    setting that changes what they produce, makes another setup.
    """

    device: Compiled
    renderer: Any
    compiler: Compiler
    settings: tuple[int, ...]
    plans: tuple[Plan, ...]


_kernels: dict[tuple[UOp, Setup], CompiledKernel] = {}  # the one used last stands last
MOST_KERNELS = 2000  # so many are kept ready; any more are in the disk cache


def get_kernel(ast: UOp, device: str) -> CompiledKernel:
    """The kernel of `ast` on this device: the one made before, or compiled now."""
    return compile_all([(ast, device)])[0]


def compile_all(wanted: Sequence[tuple[UOp, str]]) -> list[CompiledKernel]:
    """A kernel for each (ast, device name); those that are new are compiled side by side."""
    setups = {name: setup_of(name) for name in {name for _, name in wanted}}
    keys = [(ast, setups[name]) for ast, name in wanted]
    # What shows the stages on the way down wants them to be gone through.
    again = settings.DEBUG >= 4 or settings.VIZ
    new = list(dict.fromkeys(key for key in keys if again or key not in _kernels))
    if new:
        from tinyframe.codegen import get_program

        # A search is done before any compiler runs: it measures time.
        opts = _searched(new) if settings.BEAM and not settings.NOOPT else {}
        specs = ((key, get_program(key[0], key[1].renderer, opts.get(key))) for key in new)
        if len(new) == 1:
            for key, spec in specs:
                _load(key, spec, key[1].compiler.compile_cached(spec.src))
        else:
            _compile_side_by_side(specs)
    ready = {key: _kernels.pop(key) for key in dict.fromkeys(keys)}
    _kernels.update(ready)
    for key in list(itertools.islice(_kernels, max(0, len(_kernels) - MOST_KERNELS))):
        del _kernels[key]
    return [ready[key] for key in keys]


def _searched(new: list[tuple[UOp, Setup]]) -> dict[tuple[UOp, Setup], list[Opt] | None]:
    from tinyframe.engine.search import best_opts

    return {key: best_opts(key[0], key[1].device, settings.BEAM) for key in new}


def setup_of(name: str) -> Setup:
    device = Device[name]
    from tinyframe.codegen.optimize.plans import CPU

    values = (settings.NOOPT, settings.BEAM, settings.RELAXED)
    return Setup(device, device.renderer, device.compiler, values, tuple(CPU))


Compile = Callable[[str], bytes]


@contextmanager
def compilers(count: int) -> Iterator[Callable[[Compile, str], Future[bytes]]]:
    """A function that starts `compile(src)` and gives its Future; `count` of them run at a time.

    Compilers are other processes: they run while Python makes the next source.
    """
    pool = ThreadPoolExecutor(max_workers=count)
    try:
        # In a copy of this context: settings of a Context around here hold in the thread too.
        yield lambda compile, src: pool.submit(copy_context().run, compile, src)
    finally:
        # After an error or an interrupt, those that have not begun are not worth waiting for.
        pool.shutdown(wait=True, cancel_futures=True)


def _compile_side_by_side(specs: Iterable[tuple[tuple[UOp, Setup], ProgramSpec]]) -> None:
    with compilers(settings.THREADS) as start:
        started = [
            (key, spec, start(key[1].compiler.compile_cached, spec.src)) for key, spec in specs
        ]
        for key, spec, lib in started:
            _load(key, spec, lib.result())


def _load(key: tuple[UOp, Setup], spec: ProgramSpec, lib: bytes) -> None:
    _kernels[key] = CompiledKernel(spec, key[1].device.runner(spec.function, lib))


# ---- recording -----------------------------------------------------------------------------------

Run = tuple[list["ScheduleItem"], dict[UOp, int]]
_thread = threading.local()


def _recordings() -> list[list[Run]]:
    """The records that this thread keeps."""
    return _thread.__dict__.setdefault("recordings", [])


@contextmanager
def record_runs() -> Iterator[list[Run]]:
    """What run_schedule is asked to run in this thread inside the block, in order."""
    runs: list[Run] = []
    _recordings().append(runs)
    try:
        yield runs
    finally:
        _recordings().pop(next(n for n, r in enumerate(_recordings()) if r is runs))


@contextmanager
def unrecorded() -> Iterator[None]:
    """Inside, nothing is recorded in this thread."""
    before, _thread.recordings = _recordings(), []
    try:
        yield
    finally:
        _thread.recordings = before


def runs_are_recorded() -> bool:
    return bool(_recordings())


# ---- running -------------------------------------------------------------------------------------


def run_schedule(
    items: Sequence[ScheduleItem],
    var_vals: Mapping[UOp, int] | None = None,
    begun: list[ScheduleItem] | None = None,
) -> None:
    """Run every item in order.

    var_vals: the value of each Variable (a DEFINE_VAR) that the kernels use. begun: gets each item
    before it is run; after an error it says what may have been written.

    An exception or Ctrl-C on the way leaves the buffers of earlier items and everything compiled as
    it is; what the items after it would have written is not there.
    """
    var_vals = {} if var_vals is None else var_vals
    for runs in _recordings():
        runs.append((list(items), dict(var_vals)))
    debug = settings.DEBUG
    wanted = [(item.ast, item.bufs[0].device) for item in items if item.ast.op is Ops.SINK]
    kernels = compile_all(wanted)
    if debug >= 3:
        for kernel in dict.fromkeys(kernels):
            print(_with_plan(kernel.spec))
    following = iter(kernels)
    measured, start = 0.0, perf_counter()
    for item in items:
        if begun is not None:
            begun.append(item)
        if item.ast.op is Ops.COPY:
            _run_copy(item, debug)
        else:
            measured += _run_kernel(next(following), item, var_vals, debug) or 0.0
    if debug:
        for name in {name for _, name in wanted}:
            Device[name].synchronize()
    seconds = measured if debug >= 2 else perf_counter() - start
    if kernels:
        GlobalCounters.time_sum_s += seconds
    if kernels and debug:
        print(f"{len(kernels)} kernels, {seconds * 1e3:.2f} ms")


def _run_kernel(
    kernel: CompiledKernel, item: ScheduleItem, var_vals: Mapping[UOp, int], debug: int
) -> float | None:
    for buf in item.bufs:
        buf.ensure_allocated()
    took = kernel(item.bufs, var_vals, wait=debug >= 2)
    operations, nbytes = kernel.spec.ops_estimate, kernel.spec.mem_estimate
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
        print(f"{target.device:<6} copy {human_bytes(target.nbytes)} from {source.device}  "
              f"{time_text(took)}")  # fmt: skip


# ---- what DEBUG shows ----------------------------------------------------------------------------


def _with_plan(spec: ProgramSpec) -> str:
    """A source below a comment that says why its loops are as they are."""
    said = []
    if spec.plan is not None:
        said += textwrap.wrap(f"plan: {spec.plan.name}, because {spec.plan.why}", 97)
    if spec.opts:
        said += textwrap.wrap("opts: " + ", ".join(map(str, spec.opts)), 97)
    return "\n".join([*[f"// {line}" for line in said], spec.src])


def _kernel_line(
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
    """The arguments' shapes, "2x3 <- 2x4, 4x3", as the kernel's indices have them, without ones."""
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
