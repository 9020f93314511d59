"""Run a schedule: compile new kernels, allocate memory, launch, count.

`run_schedule(items)` is the last step of `realize()`. Each item is a kernel (SINK) or a copy
between devices (COPY) with its Buffers. DEBUG prints:

    DEBUG=1     3 kernels, 0.31 ms
    DEBUG=2     a line for each kernel: name, shapes, time, GFLOP/s, GB/s, memory in use
    DEBUG=3     before that, each kernel's source and plan
"""

from __future__ import annotations

import functools
import os
import re
import sys
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from time import perf_counter
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tinyframe.device import Buffer, Compiled, Compiler, Device, GlobalCounters, human_bytes, load
from tinyframe.observe import Ran, observers, tell
from tinyframe.run.capture import is_running
from tinyframe.settings import settings
from tinyframe.uop.evaluate import sym_infer
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text

if TYPE_CHECKING:
    from tinyframe.codegen.optimize.loops import Opt
    from tinyframe.codegen.optimize.plans import Plan
    from tinyframe.codegen.program import ProgramSpec
    from tinyframe.schedule.kernels import ScheduleItem

# ---- a kernel that is ready to run; compilers in parallel ----------------------------------------


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """A kernel, compiled for a device and loaded there.

    numbers: the values of those Variables of its program that are not the kernel's own.
    """

    spec: ProgramSpec
    runner: Any
    numbers: Mapping[UOp, int] = field(default_factory=dict)

    def __call__(
        self,
        bufs: Sequence[Buffer],
        var_vals: Mapping[UOp, int],
        wait: bool = False,
        ran: list[Any] | None = None,
    ) -> float | None:
        """Run it on `bufs`, one for each argument of the scheduled kernel.

        wait: wait until it is done, and return the seconds it took. ran: a list that gets an item
        once it has run. RuntimeError if a Variable it uses has no value.
        """
        opaque = [bufs[slot]._buf for slot in self.spec.globals]
        # omitted if there are none, so that a simple Runner need not support `vals`
        more = {"vals": self.values(var_vals)} if self.spec.vars else {}
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
        """Whether `ran` is exact even if Ctrl-C interrupts a launch."""
        return getattr(self.runner, "notes_itself", False)

    def sizes(self, var_vals: Mapping[UOp, int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The global and the local size of a launch."""
        global_size, local_size = [
            tuple([n if isinstance(n, int) else sym_infer(n, var_vals) for n in size])
            for size in (self.spec.global_size, self.spec.local_size)
        ]
        return global_size, local_size

    def values(self, var_vals: Mapping[UOp, int]) -> tuple[int, ...]:
        """The values of its Variables, in argument order."""
        known = {**var_vals, **self.numbers}
        for v in self.spec.vars:
            if v not in known:
                raise RuntimeError(f"unbound Variable {v.expr!r}: give it a value with .bind(...)")
        return tuple([known[v] for v in self.spec.vars])


@contextmanager
def compilers(count: int) -> Iterator[Callable[..., Callable[[], bytes]]]:
    """Gives a function that starts a compilation, up to `count` of them at once, and returns a
    function that waits for its result.

    Compilers are separate processes, so they run while Python generates the next source.
    """
    pool = ThreadPoolExecutor(max_workers=count)
    try:
        # in a copy of this context, so that the settings of a Context apply in the thread too
        yield lambda compile, *args: pool.submit(copy_context().run, compile, *args).result
    finally:
        # after an error or Ctrl-C, compilations that have not started are cancelled
        pool.shutdown(wait=True, cancel_futures=True)


# ---- what DEBUG prints ---------------------------------------------------------------------------


def total_line(kernels: int, seconds: float) -> str:
    """The number of kernels in a run and their total time: `1 kernel, 0.02 ms`."""
    return f"{kernels} kernel{'s' * (kernels != 1)}, {seconds * 1e3:.2f} ms"


def with_plan(spec: ProgramSpec) -> str:
    """A kernel's source, below a comment with its plan, the reason for it, and its Opts."""
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

    name = colored_name(kernel.spec)  # its colour codes don't count in a column's width
    rate = 1e-9 / seconds if seconds > 0 else 0.0
    padding = " " * (14 - len(_COLOR.sub("", name)))
    line = (
        f"{item.bufs[0].device:<6} {name}{padding} {_shapes(item):<18} {time_text(seconds)} "
        f"{operations * rate:7.1f} GFLOP/s {nbytes * rate:5.1f} GB/s  "
        f"{human_bytes(GlobalCounters.mem_used)} in use"
    )
    return line if colors_are_shown() else _COLOR.sub("", line)


def _shapes(item: ScheduleItem) -> str:
    """Shapes of outputs and inputs as the kernel indexes them, without ones: "2x3 <- 2x4, 4x3"."""
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


def colors_are_shown() -> bool:
    """Whether stdout is a terminal or a notebook, and NO_COLOR is not set."""
    if settings.NO_COLOR:
        return False
    # a notebook's stdout is not a terminal, but shows colours
    return sys.stdout.isatty() or type(sys.stdout).__module__.startswith("ipykernel.")


T = TypeVar("T")


class CompileKey(NamedTuple):
    """Everything a compiled kernel depends on besides its ast.

    Device, renderer and compiler are compared by identity: registering a device again, or a setting
    that changes what they produce or check, makes a different key. So does a plan or a pass that
    somebody inserts into the list, for as long as it is there.
    """

    device: Compiled
    renderer: Any
    compiler: Compiler
    settings: tuple[int, ...]
    plans: tuple[Plan, ...]
    passes: tuple[tuple[str, Any], ...]


# Held from making a schedule until its results are published: if two threads want the same value,
# it is computed once, and an in-place update is done once.
running = threading.RLock()

# os.fork() takes it too: the child has none of its parent's other threads, so work that one of them
# had begun would never be finished. Therefore a Tensor's value changes either under this lock or in
# a single step, which has happened in the child or has not.
os.register_at_fork(
    before=running.acquire, after_in_parent=running.release, after_in_child=running.release
)

unsettled: list[Callable[[], None]] = []


def settle() -> None:
    """Completes what an error or Ctrl-C left half done; called before anything is computed or
    read."""
    while unsettled:
        unsettled[-1]()
        unsettled.pop()


def settling(work: Callable[[], T], complete: Callable[[], None]) -> T:
    """The result of `work()`. If an error or Ctrl-C stops it, `complete()` restores order: at once,
    or in the next `settle()` if a second Ctrl-C stops that too. So it may run several times."""
    try:
        return work()
    except BaseException:
        unsettled.append(complete)  # before Python checks for signals again
        settle()
        raise


Key = tuple[UOp, CompileKey]
_kernels: dict[Key, CompiledKernel] = {}  # most recently used last
MOST_KERNELS = 2000  # this many stay loaded; the others are in the disk cache


def get_kernel(ast: UOp, device: str) -> CompiledKernel:
    """The compiled kernel of `ast` on this device, cached if possible."""
    return compile_all([(ast, device)])[0]


def compile_all(wanted: Sequence[tuple[UOp, str]]) -> list[CompiledKernel]:
    """A compiled kernel for each (ast, device name); new ones are compiled in parallel."""
    compile_keys = {name: compile_key_of(name) for name in {name for _, name in wanted}}
    keys = [(ast, compile_keys[name]) for ast, name in wanted]
    # to show the stages, they have to run again
    to_rebuild = {key for key in keys if settings.DEBUG >= 4 or any(tell.wants(key))}
    shared = _sharing(key for key in keys if key in to_rebuild or key not in _kernels)
    if shared:
        programs = dict.fromkeys(key for key, _ in shared.values())
        new = [key for key in programs if to_rebuild or key not in _kernels]
        # search before any compiler runs, because the search measures time
        opts = _searched(new) if settings.BEAM and not settings.NOOPT else {}
        # a single kernel is compiled in this thread
        parallel = compilers(settings.THREADS) if len(new) > 1 else nullcontext(functools.partial)
        with parallel as start:
            specs = ((key, _program(key, opts.get(key))) for key in new)
            started = [(key, spec, start(_binary, key[1].compiler, spec)) for key, spec in specs]
            for key, spec, lib in started:
                _kernels[key] = CompiledKernel(spec, key[1].device.runner(spec.function, lib()))
        for key, (one, numbers) in shared.items():
            _kernels[key] = replace(_kernels[one], numbers=numbers) if numbers else _kernels[one]
    ready = {key: _kernels.pop(key) for key in dict.fromkeys(keys)}
    _kernels.update(ready)
    while len(_kernels) > MOST_KERNELS:
        del _kernels[next(iter(_kernels))]
    return [ready[key] for key in keys]


def _sharing(new: Iterable[Key]) -> dict[Key, tuple[Key, Mapping[UOp, int]]]:
    """Maps each kernel to the one that is compiled for it, and to its numbers there."""
    found: dict[Key, tuple[Key, Mapping[UOp, int]]] = {key: (key, {}) for key in new}
    of_each: dict[CompileKey, list[UOp]] = {}
    for ast, compile_key in found:
        if not compile_key.renderer.target.block_threads:  # vectors depend on their places there
            of_each.setdefault(compile_key, []).append(ast)
    for compile_key, asts in of_each.items():
        for ast, (kernel, numbers) in load("tinyframe.run.alike:alike")(asts).items():
            found[ast, compile_key] = (kernel, compile_key), numbers
    return found


def _program(key: Key, opts: list[Opt] | None) -> ProgramSpec:
    from tinyframe.codegen import get_program

    ast, compile_key = key
    tell.compiling(ast, compile_key.device.device)
    begin = perf_counter()
    spec = get_program(ast, compile_key.renderer, opts)
    tell.programmed(spec, begin, perf_counter())
    return spec


def _binary(compiler: Compiler, spec: ProgramSpec) -> bytes:
    begin = perf_counter()
    binary = compiler.compile_cached(spec.src)
    tell.compiled(spec, binary, begin, perf_counter())
    return binary


def _searched(new: list[Key]) -> dict[Key, list[Opt] | None]:
    best_opts = load("tinyframe.search.beam:best_opts")  # imported here: most runs do not search
    return {key: best_opts(key[0], key[1].device, settings.BEAM) for key in new}


def compile_key_of(name: str) -> CompileKey:
    device = Device[name]
    from tinyframe.codegen import passes, plans_for, program_passes

    values = (settings.NOOPT, settings.BEAM, settings.RELAXED, settings.TF32, settings.SPEC)
    plans = tuple(plans_for(device.renderer.target))
    rows = (*passes, *program_passes)
    return CompileKey(device, device.renderer, device.compiler, values, plans, rows)


# ---- recording -----------------------------------------------------------------------------------

Run = tuple[list["ScheduleItem"], dict[UOp, int]]
_thread = threading.local()


def recordings() -> list[tuple[FrameType, list[Run]]]:
    """The active recordings of this thread, each with the frame of the block it belongs to."""
    found: list = _thread.__dict__.setdefault("recordings", [])
    if found:  # usually there are none
        found[:] = [recording for recording in found if is_running(recording[0])]
    return found


@contextmanager
def record_runs() -> Iterator[list[Run]]:
    """Inside the block, collects the arguments of each run_schedule of this thread."""
    runs: list[Run] = []
    recording = sys._getframe(2), runs  # the frame of the block
    recordings().append(recording)
    try:
        yield runs
    finally:
        recordings().remove(recording)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Inside the block, nothing is recorded in this thread."""
    before, _thread.recordings = recordings(), []
    try:
        yield
    finally:
        _thread.recordings = before


# ---- running -------------------------------------------------------------------------------------


def run_schedule(
    items: Sequence[ScheduleItem],
    var_vals: Mapping[UOp, int] | None = None,
    begun: list[ScheduleItem] | None = None,
) -> None:
    """Run every item in order.

    var_vals: the value of each Variable (a DEFINE_VAR) that the kernels use. begun: each item is
    appended before it runs, unless its `ran` is exact even after Ctrl-C. So after an error, a
    listed item that has not run may have written some of its results.

    An exception or Ctrl-C leaves the results of earlier items and all compiled kernels intact;
    later items have not run.
    """
    var_vals = {} if var_vals is None else var_vals
    for _, runs in recordings():
        runs.append((list(items), dict(var_vals)))
    debug = settings.DEBUG
    wanted = [(item.ast, item.bufs[0].device) for item in items if item.ast.op is Ops.SINK]
    kernels = compile_all(wanted)
    if debug >= 3:
        for compiled in dict.fromkeys(kernels):
            print(with_plan(compiled.spec))
    is_watched, remaining_kernels, measured = bool(observers()), iter(kernels), 0.0
    tell.running(items)
    start = perf_counter()
    for item in items:
        kernel, took = None if item.ast.op is Ops.COPY else next(remaining_kernels), None
        if begun is not None and not (kernel and kernel.notes_itself):
            begun.append(item)
        begin = perf_counter()
        if kernel is None:
            _run_copy(item, debug)
            item.ran.append(None)
        else:
            took = _run_kernel(kernel, item, var_vals, debug >= 2 or is_watched)
            measured += took or 0.0
        if is_watched:
            end, spec = perf_counter(), getattr(kernel, "spec", None)
            tell.ran(Ran(item, spec, begin, end, took or end - begin, GlobalCounters.mem_used))
    tell.finished()
    if debug:
        for name in {name for _, name in wanted}:
            Device[name].synchronize()
    seconds = measured if debug >= 2 else perf_counter() - start
    if kernels:
        GlobalCounters.time_sum_s += seconds
    if kernels and debug:
        print(total_line(len(kernels), seconds))


def _run_kernel(
    kernel: CompiledKernel, item: ScheduleItem, var_vals: Mapping[UOp, int], wait: bool
) -> float | None:
    for buf in item.bufs:
        buf.ensure_allocated()
    took = kernel(item.bufs, var_vals, wait, item.ran)
    operations, nbytes = kernel.spec.ops_estimate, kernel.spec.mem_estimate
    GlobalCounters.kernel_count += 1
    GlobalCounters.global_ops += operations
    GlobalCounters.global_mem += nbytes
    if settings.DEBUG >= 2:
        print(kernel_line(kernel, item, took or 0.0, operations, nbytes))
    return took


def _run_copy(item: ScheduleItem, debug: int) -> None:
    target, source = item.bufs
    start = perf_counter()
    # without an intermediate copy if Python can access the memory of either
    if target.allocator.as_array(target._buf) is not None:
        source.copyout(target.as_memoryview())
    else:
        target.copyin(source.as_memoryview())
    if debug >= 2:
        took = perf_counter() - start
        print(f"{target.device:<6} copy {human_bytes(target.nbytes)} from {source.device}  "
              f"{time_text(took)}")  # fmt: skip
