"""BEAM: where the search goes, what it survives, what it keeps, and that results stay the same."""

from __future__ import annotations

import io
import re
import sys
from math import inf

import numpy as np
import pytest

from tests.kernels import filled, kernel_of, numbers, on_buffer
from tinyframe import Device, Tensor, Variable
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps
from tinyframe.device import Compiled, CompileError, Compiler, GlobalCounters
from tinyframe.renderer import Target
from tinyframe.run import realize
from tinyframe.run.realize import get_kernel
from tinyframe.runtime.host import HostAllocator
from tinyframe.search import beam as search
from tinyframe.search.beam import Bench, SearchResult, best_opts, least_seconds
from tinyframe.search.neighbours import Opts, neighbours
from tinyframe.settings import Context
from tinyframe.uop.node import UOp

AVX2 = Target(vector_bytes=32, vector_registers=16, threads=4, l1=32 << 10, l2=256 << 10)
CPU = Device["CPU"]


FOUND = [Opt(OptOps.UPCAST, 0, 2), Opt(OptOps.REORDER, (0,))]


def upcast(n: int) -> Opts:
    return (Opt(OptOps.UPCAST, 0, n),)


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """No kernel is known yet, the disk cache is the test's own, and searches are short."""
    monkeypatch.setattr(realize, "_kernels", {})
    monkeypatch.setenv("TINYFRAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DEBUG", "0")
    every_fourth = lambda *arguments: neighbours(*arguments)[::4]  # noqa: E731
    monkeypatch.setattr(search, "neighbours", every_fourth)


# ---- where it goes: a bench of numbers -----------------------------------------------------------


class Numbers:
    """A Bench whose lists are UPCASTs of n, one apart from n-1 and n+1, and take what it is told.

    final: what they take at the end, where that is something else.
    """

    planned = upcast(10)

    def __init__(self, seconds: dict[int, float], final: dict[int, float] | None = None) -> None:
        self.said, self.final = seconds, {**seconds, **(final or {})}
        self.times: dict[Opts, float] = {}
        self.asked: list[Opts] = []
        self.late_after = 100

    def is_late(self) -> bool:
        return len(self.asked) >= self.late_after

    def cost(self) -> tuple[float, int]:
        return 0.0, 0

    def neighbours(self, opts: Opts) -> list[Opts]:
        n = opts[0].arg if opts else 0
        self.asked.append(opts)
        return [upcast(n - 1), upcast(n + 1)]

    def measure(self, lists: list[Opts]) -> None:
        for opts in lists:
            n = opts[0].arg if opts else 0
            if n in self.said:
                self.times.setdefault(opts, self.said[n])

    def compare(self, lists: list[Opts]) -> dict[Opts, float]:
        return {opts: self.final[opts[0].arg if opts else 0] for opts in lists}


HILL = {0: 99, 10: 5, 11: 6, 12: 2}
LUCKY = {0: 9, 10: 5, 11: 1}
# what lists take, what they take at the end, how wide the beam is, and n, its time, that of the
# planned, and how many were tried
WAYS = [
    ({0: 9, 10: 5, 11: 4, 12: 3, 13: 4}, {}, 1, (12, 3, 5, 5)),  # downhill, to the end
    (HILL, {}, 1, (10, 5, 5, 3)),
    (HILL, {}, 2, (12, 2, 5, 4)),  # a wider beam gets over a hill
    ({0: inf, 10: 5, 11: inf}, {}, 4, (10, 5, 5, 3)),  # what is hopeless is not searched from
    # the planned stays unless another is quicker when both are timed anew
    *[(LUCKY, {11: seconds}, 1, (10, 5, 5, 3)) for seconds in (5.1, 5.0, 4.95)],
    ({0: 9, 10: 5, 11: 4, 12: 3}, {10: 1}, 1, (10, 1, 1, 4)),  # although it left the beam
]


@pytest.mark.parametrize(("seconds", "final", "width", "expected"), WAYS)
def test_where_a_search_ends(seconds, final, width, expected):
    bench, (n, *told) = Numbers(seconds, final), expected
    assert search.search(bench, width) == SearchResult(upcast(n), *told)
    assert len(bench.asked) == len(set(bench.asked)), "no list is searched from twice"
    assert bench.asked == [upcast(10)] or inf not in seconds.values()


def test_time_ends_it():
    bench = Numbers({n: 30 - n for n in range(30)})
    bench.late_after = 4
    assert search.search(bench, 1).opts == upcast(14)


def test_without_time_the_planned_is_what_is_found(monkeypatch):
    monkeypatch.setattr(search, "MOST_SECONDS", -1.0)
    bench = bench_of(on_buffer(24, 24).exp2())
    result = search.search(bench, 2)
    assert (result.opts, result.tried) == (bench.planned, 1)


# ---- timing, by a clock of numbers ---------------------------------------------------------------


def clock(*seconds: float):
    """A kernel whose runs take these, then the last one again and again; and its runs so far."""
    runs: list[float] = []

    def run() -> float:
        runs.append(seconds[min(len(runs), len(seconds) - 1)])
        return runs[-1]

    return run, runs


@pytest.mark.parametrize(("seconds", "best", "least", "count"), [
    ((0.02, 0.015, 0.011, 0.010, 0.013), inf, 0.010, None),  # the first run warms up
    ((0.31,), 0.1, inf, 1),  # hopeless
    ((9e-4, 1e-6), 2e-6, 1e-6, None),  # a short first run is not held against it
    ((0.001,), 0.0005, 0.001, 3),  # clearly slower: not timed for long
])  # fmt: skip
def test_the_least_of_some_runs_counts(seconds, best, least, count):
    run, runs = clock(*seconds)
    assert least_seconds(run, best) == least
    assert count is None or len(runs) == count


# ---- neighbours ----------------------------------------------------------------------------------


def test_neighbours_of_no_opts_are_one_of_each_primitive():
    kernel = kernel_of(on_buffer(64, 64) @ on_buffer(64, 64))
    lists = neighbours(kernel, (), AVX2)
    assert {len(opts) for opts in lists} == {1}
    # a CPU has none
    of_blocks = {OptOps.GLOBAL, OptOps.LOCAL, OptOps.GROUP, OptOps.TENSOR_CORE,
                 OptOps.PIPELINE}  # fmt: skip
    assert {opts[0].op for opts in lists} == set(OptOps) - of_blocks


def test_an_opt_is_left_out_made_larger_and_smaller_and_moved_and_thread_stays_last():
    kernel = kernel_of(on_buffer(64, 64) @ on_buffer(64, 64))
    thread = Opt(OptOps.THREAD, 0)
    lists = neighbours(kernel, (Opt(OptOps.UPCAST, 0, 4), thread), AVX2)
    for other in ((), upcast(3), upcast(6), (Opt(OptOps.UPCAST, 1, 4),)):
        assert (*other, thread) in lists
    assert upcast(4) in lists
    assert all(thread not in opts[:-1] for opts in lists)


# ---- on real kernels -----------------------------------------------------------------------------


def bench_of(tensor: Tensor, device: Compiled = CPU) -> Bench:
    return Bench(get_program(kernel_of(tensor), device.renderer), device)


class Strange(Compiler):
    """The CPU's, which fails where a source has 3 of something, and counts what it is given."""

    def __init__(self, fails: bool = True) -> None:
        self.sources: list[str] = []
        self.fails = fails

    def compile(self, src: str) -> bytes:
        self.sources.append(src)
        if self.fails and "_3(" in src:
            raise CompileError("died of signal 11")
        return CPU.compiler.compile(src)

    def identity(self) -> str:
        return CPU.compiler.identity()


def device_with(compiler: Compiler) -> Compiled:
    return Compiled("CPU", HostAllocator(), CPU.renderer, compiler, CPU.runner)


def test_what_is_illegal_or_does_not_compile_is_left_out():
    bench = bench_of(on_buffer(24, 24).exp2(), device_with(Strange()))
    illegal = (Opt(OptOps.UPCAST, 7, 2),)
    with pytest.raises(KernelOptError, match="there is no axis 7; the kernel has"):
        get_program(bench.ast, bench.renderer, illegal)
    bench.measure([bench.planned, illegal, upcast(3), upcast(2)])
    assert list(bench.times) == [bench.planned, upcast(2)]


def fails(error: type[Exception]):
    raise error("too many resources requested for launch")


@pytest.mark.parametrize("at", ["compile", "load", "launch"])
def test_what_fails_for_one_list_is_left_out(at, monkeypatch):
    bench = bench_of(on_buffer(24, 24).exp2())
    loaded = bench._loaded

    def compiled(ast, renderer, opts=None):
        return fails(RecursionError) if opts == upcast(2) else get_program(ast, renderer, opts)

    def refuses(opts):
        if opts != upcast(2):
            return loaded(opts)
        return fails(RuntimeError) if at == "load" else lambda: fails(RuntimeError)

    if at == "compile":
        monkeypatch.setattr(search, "get_program", compiled)
    else:
        monkeypatch.setattr(bench, "_loaded", refuses)
    bench.measure([bench.planned, upcast(2), upcast(4)])
    assert list(bench.times) == [bench.planned, upcast(4)]
    bench.planned = upcast(2)
    bench.seen.clear()
    with pytest.raises((RuntimeError, RecursionError), match="too many resources"):
        bench.measure([bench.planned])


def test_a_clock_too_coarse_for_a_kernel_leaves_the_planned(monkeypatch):
    bench = bench_of(on_buffer(24, 24).exp2())
    monkeypatch.setattr(bench, "_loaded", lambda opts: lambda: 0.0)
    found = search.search(bench, 2)
    assert (found.opts, found.seconds) == (bench.planned, 0.0)


def test_what_the_planned_cannot_do_either_is_said():
    class Broken(Compiler):
        def compile(self, src: str) -> bytes:
            raise CompileError("no space left")

    bench = bench_of(on_buffer(24, 24).exp2(), device_with(Broken()))
    with pytest.raises(CompileError, match="no space left"):
        search.search(bench, 2)


def test_equal_programs_are_compiled_and_timed_once():
    compiler = Strange()
    bench = bench_of(on_buffer(24, 24).exp2(), device_with(compiler))
    twice = (Opt(OptOps.UPCAST, 0, 2), Opt(OptOps.UPCAST, 0, 2))
    bench.measure([bench.planned, upcast(2), twice, upcast(2)])
    bench.measure([upcast(2), twice])
    assert len(bench.times) == len(compiler.sources) == len(set(compiler.sources))


def test_very_long_programs_and_very_large_panels_are_left_out():
    bench = bench_of(on_buffer(2048, 2048) @ on_buffer(2048, 2048))
    unrolled = [Opt(OptOps.UPCAST, 0, 16), Opt(OptOps.UPCAST, 1, 16), Opt(OptOps.UNROLL, 2, 16)]
    for opts in (tuple(unrolled), (Opt(OptOps.STAGE, -1, 1),), ()):
        assert bench._program(opts) is None
    assert bench._program(bench.planned) is not None


@pytest.mark.parametrize("shape", [(9, 50), (1,)])
def test_results_are_equal_and_what_the_kernel_works_on_is_left_alone(shape):
    x = filled(numbers(*shape))
    with Context(BEAM=2):
        np.testing.assert_array_equal(x.sum(axis=-1).numpy(), numbers(*shape).sum(-1))
        x.assign(x + 1).realize()
    np.testing.assert_array_equal(x.numpy(), numbers(*shape) + 1)


def test_a_kernel_with_a_variable_runs_at_its_largest_value(monkeypatch):
    x, n = filled(numbers(20)), Variable("n", 1, 7)
    given = []
    run = realize.CompiledKernel.__call__

    def watched(self, bufs, var_vals, *args, **options):
        given.append(var_vals[n])
        return run(self, bufs, var_vals, *args, **options)

    monkeypatch.setattr(realize.CompiledKernel, "__call__", watched)
    with Context(BEAM=1):
        np.testing.assert_array_equal((x * Tensor(n.bind(3))).numpy(), numbers(20) * 3)
    assert set(given[:-1]) == {7}
    assert given[-1] == 3


# ---- what is kept --------------------------------------------------------------------------------


@pytest.fixture
def searches(monkeypatch):
    """The widths of the searches that were made; each takes no time."""
    made: list[int] = []

    def quick(bench: Bench, width: int) -> SearchResult:
        made.append(width)
        return SearchResult(tuple(FOUND), 1.0, 2.0, 3)

    monkeypatch.setattr(search, "search", quick)
    return made


def ast() -> UOp:
    return kernel_of(on_buffer(24, 24).exp2())


def test_what_a_search_took_is_found_on_disk_too(searches):
    first, second = (search.search_result(ast(), CPU, 2) for _ in range(2))
    assert first == second == SearchResult(tuple(FOUND), 1.0, 2.0, 3)
    assert searches == [2]


def test_each_width_kernel_and_number_of_threads_is_searched_for(searches):
    best_opts(ast(), CPU, 2)
    best_opts(ast(), CPU, 3)
    best_opts(kernel_of(on_buffer(24, 25).exp2()), CPU, 2)
    with Context(THREADS=7):
        best_opts(ast(), CPU, 2)
    assert searches == [2, 3, 2, 2]


def entries(tmp_path):
    return [path for path in (tmp_path / "cache" / "schedules").rglob("*") if path.is_file()]


def test_a_damaged_entry_is_searched_for_anew(searches, tmp_path):
    best_opts(ast(), CPU, 2)
    (entry,) = entries(tmp_path)
    entry.write_bytes(entry.read_bytes()[:-7])
    assert best_opts(ast(), CPU, 2) == best_opts(ast(), CPU, 2) == FOUND
    assert searches == [2, 2]


@pytest.mark.parametrize("data", [
    b"", b"\xff", b"[]", b"{}", b'{"opts": 3}', b'{"opts": [["TWIST", 0, 2]]}',
    SearchResult((Opt(OptOps.UPCAST, 9, 2),), 1.0, 1.0, 1).to_bytes(),
])  # fmt: skip
def test_an_intact_entry_that_makes_no_sense_is_searched_for_anew(searches, monkeypatch, data):
    with monkeypatch.context() as patch:
        patch.setattr(SearchResult, "to_bytes", lambda self: data)
        with pytest.raises((ValueError, KeyError, TypeError, KernelOptError)):
            best_opts(ast(), CPU, 2)
    assert best_opts(ast(), CPU, 2) == best_opts(ast(), CPU, 2) == FOUND
    assert searches == [2, 2, 2]


def test_an_interrupt_leaves_the_session_usable_and_nothing_on_disk(monkeypatch, tmp_path):
    x = filled(numbers(8, 8))

    def interrupted(run, best):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, Context(BEAM=2):
        patch.setattr(search, "least_seconds", interrupted)
        with pytest.raises(KeyboardInterrupt):
            (x + 1).realize()
    assert entries(tmp_path) == []
    with Context(BEAM=2):
        np.testing.assert_array_equal((x + 1).numpy(), numbers(8, 8) + 1)
    assert len(entries(tmp_path)) == 1


def test_without_memory_for_a_second_set_of_arguments_there_is_no_search(monkeypatch, searches):
    def full(ast, device):
        raise MemoryError

    monkeypatch.setattr(search, "_scratch", full)
    assert best_opts(ast(), CPU, 2) is None


@pytest.mark.parametrize("device", ["PYTHON", "NULL", "NULL:CUDA"])
def test_where_times_mean_nothing_there_is_no_search(device, searches):
    assert best_opts(ast(), Device[device], 2) is None
    assert search.search_result(ast(), Device[device], 2) is None
    assert searches == []


def test_a_compiler_without_an_identity_leaves_nothing_on_disk(searches, monkeypatch, tmp_path):
    monkeypatch.setattr(type(CPU.compiler), "identity", lambda self: "")
    assert best_opts(ast(), CPU, 2) == best_opts(ast(), CPU, 2) == FOUND
    assert searches == [2, 2]
    assert entries(tmp_path) == []


def test_kernels_with_and_without_a_search_are_kept_apart(searches):
    plain = get_kernel(ast(), "CPU")
    with Context(BEAM=2):
        searched = get_kernel(ast(), "CPU")
        assert get_kernel(ast(), "CPU") is searched
        with Context(NOOPT=1):
            assert get_kernel(ast(), "CPU").spec.opts == []
    with Context(BEAM=3):
        assert get_kernel(ast(), "CPU") is not searched
    assert searched.spec.opts == FOUND
    assert get_kernel(ast(), "CPU") is plain
    assert plain.spec.opts != FOUND


# ---- what is shown -------------------------------------------------------------------------------


def test_debug_2_shows_all_that_was_tried(capsys):
    x = filled(numbers(16, 16))
    with Context(BEAM=1, DEBUG=2):
        (x * 3).realize()
    *tried, summary = capsys.readouterr().out.partition("the plan's")[0].splitlines()
    assert re.search(rf"{len(tried)} tried in \d+\.\d s with \d+\.\d\d kB, ", summary)
    assert all(" us  " in line or " ms  " in line or "> 3x best  " in line for line in tried)
    assert any("Opt(OptOps." in line for line in tried)


def test_a_bar_is_shown_on_a_terminal_only(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = []
    for n, stream in enumerate((Terminal(), io.StringIO())):
        monkeypatch.setattr(sys, "stderr", stream)
        with Context(BEAM=1):
            (filled(numbers(16, 3 + n)) * 3).realize()
        shown.append(stream.getvalue())
    terminal, file = shown
    assert "BEAM E_" in terminal
    assert "####################" in terminal
    assert terminal.endswith("\r\x1b[K")
    assert file == ""


def test_buffers_of_a_search_are_given_back():
    x = filled(numbers(16, 16))
    before = GlobalCounters.mem_used
    best_opts(kernel_of(x * 3), CPU, 1)
    assert GlobalCounters.mem_used == before
