"""BEAM=n: looks for better Opts than the plan's by timing them (beam search).

    beam         the n fastest lists of Opts so far; at first the plan's and the empty one
    neighbours   lists one change away: one more Opt, one less, another size, another axis
    a round      neighbours of the beam are compiled in parallel, then timed one by one

Rounds continue until the beam no longer changes, or time is up. At the end the beam and the plan's
list are timed again, in turns, and the plan's wins unless another is faster: by this measurement
the result is never slower. It is cached on disk by kernel, compiler, machine and width; without an
identity of the compiler nothing is cached, and each session searches again.

Candidates run on their own memory, because a kernel may write to what it reads. The search does not
check which Opts are legal: get_program rejects the others.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import nsmallest
from math import inf
from time import perf_counter

from tinyframe.codegen import get_program, scheduled_kernel
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps
from tinyframe.codegen.program import ProgramSpec, estimate_ops
from tinyframe.device import Buffer, Compiled, CompileError, human_bytes
from tinyframe.disk_cache import cached, forget
from tinyframe.dtype import PtrDType
from tinyframe.run.realize import CompiledKernel, compilers, time_text
from tinyframe.search.neighbours import Opts, neighbours
from tinyframe.settings import Context, settings, usable_cores
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import listing

# After this many seconds a search compiles and times no new candidates.
MOST_SECONDS = 35.0
# To replace the plan's list, another has to take at most this fraction of its time: a smaller
# difference is noise.
GAIN = 0.98
# A candidate whose first run is this many times slower than the best is not run again.
HOPELESS = 3.0
# A first run shorter than this many seconds is mostly loading of the code, and proves nothing.
FIRST_RUN_TELLS = 1e-3
# A program with more takes long to compile, and its values do not fit into registers.
MOST_INSTRUCTIONS = 1500

# A kernel with more operations may run for seconds without Opts, and cannot be interrupted.
MOST_OPERATIONS = 5e9


@dataclass(frozen=True)
class SearchResult:
    """The result of a search, and its cost.

    seconds: the time of a run. planned: the same with the plan's list. tried: the number of lists
    timed. searched: seconds of the whole search. memory: bytes of arguments and programs.
    """

    opts: Opts
    seconds: float
    planned: float
    tried: int
    searched: float = 0.0
    memory: int = 0

    def to_bytes(self) -> bytes:
        opts = [(opt.op.name, opt.axis, opt.arg) for opt in self.opts]
        return json.dumps({**vars(self), "opts": opts}).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> SearchResult:
        """ValueError, KeyError or TypeError if `data` is not a result."""
        fields = json.loads(data)
        opts = [
            Opt(OptOps[name], tuple(axis) if isinstance(axis, list) else axis, arg)
            for name, axis, arg in fields.pop("opts")
        ]
        return cls(tuple(opts), **fields)


def best_opts(ast: UOp, device: Compiled, width: int) -> list[Opt] | None:
    """The Opts found by a search of this beam width, now or earlier; None: take the plan's."""
    result = search_result(ast, device, width)
    return None if result is None else list(result.opts)


def search_result(ast: UOp, device: Compiled, width: int) -> SearchResult | None:
    """The result of a search of this beam width, now or earlier.

    None if there is no search: the device's times mean nothing, or there is not enough memory.
    """
    identity, debug = device.compiler.identity(), settings.DEBUG
    if not device.times_kernels:
        return None
    with Context(DEBUG=0, VIZ=0):  # do not show the stages of each candidate
        spec = get_program(ast, device.renderer)
        key = (identity, device.device, repr(device.renderer.target), str(width),
               listing(ast.toposort()), spec.src)  # fmt: skip

        def make() -> bytes:
            bench = Bench(spec, device)
            result = search(bench, width)
            if debug >= 2:
                print(table(spec.name, bench.times, result))
            return result.to_bytes()

        try:
            if not identity:
                return SearchResult.from_bytes(make())
            try:
                return _checked(cached("schedules", key, make), ast, device)
            except (ValueError, KeyError, TypeError, KernelOptError):
                forget("schedules", key)  # intact, but from a different version
                return _checked(cached("schedules", key, make), ast, device)
        except MemoryError:  # there is no room for a second set of the kernel's arguments
            return None


def _checked(data: bytes, ast: UOp, device: Compiled) -> SearchResult:
    result = SearchResult.from_bytes(data)
    get_program(ast, device.renderer, list(result.opts))
    return result


def search(bench: Bench, width: int) -> SearchResult:
    """The fastest list of Opts found with a beam of this width."""
    times = bench.times
    bench.measure([bench.planned, ()])
    expanded: set[Opts] = set()
    while (beam := set(quickest(times, width)) - expanded) and not bench.is_late():
        expanded |= beam
        bench.measure([new for opts in times if opts in beam for new in bench.neighbours(opts)])
    final = bench.compare(list(dict.fromkeys([bench.planned, *quickest(times, width)])))
    winner = min(final, key=final.__getitem__)
    if final[winner] > GAIN * final[bench.planned]:
        winner = bench.planned
    return SearchResult(winner, final[winner], final[bench.planned], len(times), *bench.cost())


def quickest(times: dict[Opts, float], width: int) -> list[Opts]:
    """The beam: at most `width` lists that are not hopeless."""
    alive = [opts for opts in times if times[opts] < inf]
    return nsmallest(width, alive, key=times.__getitem__)


class Bench:
    """Compiles and times the candidates of one kernel.

    times: seconds of each list of Opts that ran; inf for a hopeless one, which ran once.
    """

    def __init__(self, spec: ProgramSpec, device: Compiled) -> None:
        self.ast, self.name = spec.ast, spec.name
        self.device, self.renderer = device, device.renderer
        self.values = {variable: variable.arg[2] for variable in spec.vars}  # each at its largest
        self.kernel = scheduled_kernel(self.ast, self.renderer)
        self.planned: Opts = tuple(spec.opts)
        self.times: dict[Opts, float] = {}
        self.built: dict[Opts, tuple[ProgramSpec, bytes]] = {}
        self.seen: set[str] = set()  # sources; different lists may give the same one
        self.bufs = _scratch(self.ast, device.device)
        self.started = perf_counter()

    def cost(self) -> tuple[float, int]:
        """Seconds since the search began, and bytes it holds."""
        arguments = sum(buf.nbytes for buf in self.bufs)
        programs = sum(len(lib) for _, lib in self.built.values())
        return perf_counter() - self.started, arguments + programs

    def is_late(self) -> bool:
        return perf_counter() - self.started > MOST_SECONDS

    def neighbours(self, opts: Opts) -> list[Opts]:
        return neighbours(self.kernel, opts, self.renderer.target)

    def measure(self, lists: Iterable[Opts]) -> None:
        """Times each list that is legal, compiles and gives a new program."""
        fresh = self._build(lists)
        with _progress(f"{self.name} timed", len(fresh), self.times) as advance:
            for opts in fresh:
                best = min(self.times.values(), default=inf)
                if self.is_late() and best < inf:
                    return
                try:
                    self.times[opts] = least_seconds(self._loaded(opts), best)
                except Exception:  # the driver rejects it, for example because of its registers
                    if opts == self.planned:
                        raise
                advance()

    def compare(self, lists: list[Opts]) -> dict[Opts, float]:
        """The shortest of several runs of each, in turns, so that all see the same noise."""
        runs = {opts: self._loaded(opts) for opts in lists}
        times = {opts: run() for opts, run in runs.items()}
        took = sum(times.values())  # 0 if the device's clock is coarse
        for _ in range(min(32, max(3, int(1.0 / took))) if took else 32):
            times = {opts: min(times[opts], run()) for opts, run in runs.items()}
        return times

    def _build(self, lists: Iterable[Opts]) -> list[Opts]:
        """Compiles the lists that give a new program into `built`, and returns them."""
        started = {}
        with compilers(usable_cores()) as start:
            for opts in dict.fromkeys(lists):
                if self.is_late() and self.built:
                    break
                spec = self._program(opts)
                if spec is not None and spec.src not in self.seen:
                    self.seen.add(spec.src)
                    started[opts] = spec, start(self.device.compiler.compile, spec.src)
            with _progress(f"{self.name} compiled", len(started), self.times) as advance:
                for opts, (spec, lib) in started.items():
                    if self.is_late() and self.built:
                        break
                    try:
                        self.built[opts] = spec, lib()
                    except (CompileError, OSError):
                        if opts == self.planned:
                            raise
                    advance()
        return [opts for opts in started if opts in self.built]

    def _program(self, opts: Opts) -> ProgramSpec | None:
        """None if an Opt is illegal, or the program would take too long or too much memory."""
        if opts == self.planned:
            return get_program(self.ast, self.renderer, opts)
        if not opts and estimate_ops(self.ast) > MOST_OPERATIONS:
            return None
        try:
            spec = get_program(self.ast, self.renderer, opts)
        except Exception:  # a KernelOptError, or a failure that only this list causes
            return None
        panels = [u.dtype for u in spec.uops if u.op is Ops.DEFINE_LOCAL]
        room = sum(d.size * d.base.itemsize for d in panels if isinstance(d, PtrDType))
        small = len(spec.uops) <= MOST_INSTRUCTIONS and room <= self.renderer.target.l2
        return spec if small else None

    def _loaded(self, opts: Opts) -> Callable[[], float]:
        """A function that runs the kernel once and returns the seconds."""
        spec, lib = self.built[opts]
        kernel = CompiledKernel(spec, self.device.runner(spec.function, lib))
        return lambda: kernel(self.bufs, self.values, wait=True) or 0.0


def _scratch(ast: UOp, device: str) -> list[Buffer]:
    """A Buffer of zeros for each argument: a zero is a valid index, sums stay small, and writing
    them makes every page resident."""
    places = {u.arg: u.dtype for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL}
    buffers = [Buffer(device, d.size, d.base) for _, d in sorted(places.items())
               if isinstance(d, PtrDType)]  # fmt: skip
    return [buffer.copyin(bytes(buffer.nbytes)) for buffer in buffers]


def least_seconds(run: Callable[[], float], best: float) -> float:
    """The shortest time of `run` after a warm-up run; inf if that is hopelessly slow."""
    first = run()
    if first > HOPELESS * best and first > FIRST_RUN_TELLS:
        return inf
    times = [run(), run()]
    while len(times) < 16 and sum(times) < 0.1 and min(times) < 1.2 * best:
        times.append(run())
    return min(times)


# ---- output -------------------------------------------------------------------------------------


@contextlib.contextmanager
def _progress(name: str, count: int, times: dict[Opts, float]) -> Iterator[Callable[[], None]]:
    """A progress bar, on a terminal only: gives a function that advances it by one."""
    live, done = sys.stderr.isatty(), 0

    def advance() -> None:
        nonlocal done
        done += 1
        filled = 20 * done // count
        bar = "#" * filled + "." * (20 - filled)
        best = f", best {time_text(min(times.values())).strip()}" if times else ""
        text = f"BEAM {name}  {bar}  {done} of {count}{best}"
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    try:
        yield advance if live else lambda: None
    finally:
        if live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def table(name: str, times: dict[Opts, float], found: SearchResult) -> str:
    """All lists that were timed, slowest first, and the result."""
    rows = [
        f"{'  > 3x best' if seconds == inf else time_text(seconds)}  "
        + (", ".join(map(repr, opts)) or "no Opts")
        for opts, seconds in sorted(times.items(), key=lambda row: -row[1])
    ]
    rows.append(
        f"BEAM {name}: {found.tried} tried in {found.searched:.1f} s with "
        f"{human_bytes(found.memory)}, {time_text(found.seconds).strip()}; "
        f"the plan's {time_text(found.planned).strip()}"
    )
    return "\n".join(rows)
