"""Running a schedule: kernels, copies, what is counted and shown, what an error leaves behind."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from tinyframe.device import (
    Allocator,
    Buffer,
    Compiled,
    CompileError,
    Compiler,
    Device,
    GlobalCounters,
    Runner,
)
from tinyframe.dtype import dtypes
from tinyframe.run import realize
from tinyframe.run.realize import _shapes, colors_are_shown, get_kernel, run_schedule
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.settings import Context, settings
from tinyframe.uop.node import Ops, UOp

SIZE = 32


def kernel(function, inputs=1, size=SIZE):
    """The ast of `out[i] = function(in0[i], …)` on ints."""
    out, *ins = (UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(size), (), n) for n in range(inputs + 1))
    i = UOp.range(size, 0)
    value = function(*[x.index(i, shape=(size,)).load() for x in ins])
    return UOp.sink(out.index(i, shape=(size,)).store(value, i))


def buffer(device="CPU", values=None, size=SIZE):
    buf = Buffer(device, size, dtypes.int)
    return buf if values is None else buf.copyin(np.asarray(values, np.int32).tobytes())


def copy(target, source):
    slots = [UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(source.size), (), n) for n in range(2)]
    ast = UOp(Ops.COPY, dtypes.int, (*slots, UOp(Ops.DEVICE, arg=target.device)))
    return ScheduleItem(ast, (target, source))


NUMBERS = np.arange(SIZE, dtype=np.int32)


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """No kernel is known yet, nothing is shown, and the disk cache is the test's own."""
    monkeypatch.setattr(realize, "_kernels", {})
    monkeypatch.setenv("DEBUG", "0")
    monkeypatch.setenv("TINYFRAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Device, "_devices", dict(Device._devices))


@pytest.mark.parametrize("device", ["CPU", "PYTHON", "CPU:1"])
def test_items_run_in_order_and_memory_is_taken_on_the_way(device):
    x, y, z = buffer(device, NUMBERS), buffer(device), buffer(device)
    run_schedule([
        ScheduleItem(kernel(lambda a: a * 3), (y, x)),
        ScheduleItem(kernel(lambda a, b: a + b, 2), (z, x, y)),
        ScheduleItem(kernel(lambda a: a - 1), (y, z)),
    ])  # fmt: skip
    assert z.numpy().tolist() == (NUMBERS * 4).tolist()
    assert y.numpy().tolist() == (NUMBERS * 4 - 1).tolist()


def test_nothing_to_run_is_no_error(capsys):
    with Context(DEBUG=2):
        run_schedule([])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("target", ["CPU", "PYTHON", "CPU:1", "FAR"])
@pytest.mark.parametrize("source", ["CPU", "PYTHON", "CPU:1", "FAR"])
def test_copies_between_devices(source, target):
    Device._devices["FAR"] = FarDevice
    x, y = buffer(source, NUMBERS), buffer(target)
    run_schedule([copy(y, x)])
    out = bytearray(y.nbytes)
    y.copyout(out)
    assert bytes(out) == NUMBERS.tobytes()


def test_variables_get_their_values():
    n, m = UOp.variable("n", 0, 100), UOp.variable("m", 0, 100)
    ast = kernel(lambda a: a * n + m)
    x, y = buffer(values=NUMBERS), buffer()
    for values in ({n: 2, m: 5}, {n: 7, m: 0}):
        run_schedule([ScheduleItem(ast, (y, x))], values)
        assert y.numpy().tolist() == (NUMBERS * values[n] + values[m]).tolist()
    assert len(realize._kernels) == 1


def test_a_variable_without_a_value_is_named():
    n = UOp.variable("length", 0, 100)
    item = ScheduleItem(kernel(lambda a: a * n), (buffer(), buffer(values=NUMBERS)))
    with pytest.raises(RuntimeError, match="unbound Variable 'length'"):
        run_schedule([item])


# *** what is compiled, and when ***


class CountingCompiler(Compiler):
    def __init__(self):
        self.sources = []

    def compile(self, src):
        self.sources.append(src)
        return src.encode()


@pytest.fixture
def compiler(monkeypatch):
    """PYTHON's compiler, counting."""
    counting = CountingCompiler()
    monkeypatch.setattr(Device["PYTHON"], "_compiler", counting)
    return counting


def test_a_kernel_is_compiled_once_however_often_it_runs(compiler):
    item = ScheduleItem(kernel(lambda a: a + 1), (buffer("PYTHON"), buffer("PYTHON", NUMBERS)))
    run_schedule([item] * 3)
    run_schedule([item])
    assert len(compiler.sources) == 1
    assert get_kernel(item.ast, "PYTHON") is get_kernel(item.ast, "python")


def test_settings_that_change_kernels_make_others(compiler):
    ast = kernel(lambda a: a + 1)
    plain = get_kernel(ast, "PYTHON")
    with Context(NOOPT=1):
        assert get_kernel(ast, "PYTHON") is not plain
    with Context(DEBUG=1, THREADS=3):
        assert get_kernel(ast, "PYTHON") is plain


def test_several_new_kernels_are_compiled_before_any_runs(compiler, monkeypatch):
    ran = []
    call = realize.CompiledKernel.__call__
    monkeypatch.setattr(
        realize.CompiledKernel,
        "__call__",
        lambda *args, **more: (ran.append(len(compiler.sources)), call(*args, **more))[1],
    )
    x, y = buffer("PYTHON", NUMBERS), buffer("PYTHON")
    with Context(THREADS=3):
        run_schedule([ScheduleItem(kernel(lambda a, n=n: a + n), (y, x)) for n in range(1, 8)])
    assert ran == [7] * 7
    assert y.numpy().tolist() == (NUMBERS + 7).tolist()


def test_compiling_side_by_side_sees_the_settings_of_a_context(compiler, monkeypatch):
    seen = []
    monkeypatch.setattr(
        compiler, "compile", lambda src: (seen.append(settings.CACHE), src.encode())[1]
    )
    x, y = buffer("PYTHON", NUMBERS), buffer("PYTHON")
    with Context(CACHE=0, THREADS=2):
        run_schedule([ScheduleItem(kernel(lambda a, n=n: a + n), (y, x)) for n in (1, 2)])
    assert seen == [0, 0]


# *** what an error leaves behind ***


@pytest.mark.parametrize("error", [CompileError, KeyboardInterrupt])
@pytest.mark.parametrize("broken", [0, 1, 2])
def test_a_failed_compile_runs_nothing_and_leaves_all_usable(compiler, monkeypatch, error, broken):
    x = buffer("PYTHON", NUMBERS)
    outs = [buffer("PYTHON") for _ in range(3)]
    items = [ScheduleItem(kernel(lambda a, n=n: a * n), (outs[n - 2], x)) for n in (2, 3, 4)]
    compile_one = compiler.compile

    def failing(src):
        if f'"int", (), {broken + 2})' in src and "MUL" in src:
            raise error("stop")
        return compile_one(src)

    before = GlobalCounters.kernel_count
    with monkeypatch.context() as patch:
        patch.setattr(compiler, "compile", failing)
        with pytest.raises(error):
            run_schedule(items)
    assert GlobalCounters.kernel_count == before
    assert x.numpy().tolist() == NUMBERS.tolist()
    run_schedule(items)
    assert [out.numpy()[1] for out in outs] == [2, 3, 4]


# *** a backend with little ***


class FarAllocator(Allocator):
    """Memory that Python is not shown."""

    def _alloc(self, size, options):
        return [bytes(size)]

    def copyin(self, dst, src):
        dst[0] = bytes(src)

    def copyout(self, dst, src):
        dst[:] = src[0]


class FarRunner(Runner):
    """Takes no more than the texts' signature has; runs what the kernels here mean."""

    def __call__(self, *bufs, global_size, local_size, wait=False):
        bufs[0][0] = (np.frombuffer(bufs[1][0], np.int32) + 1).tobytes()
        return 1.0 if wait else None


class FarDevice(Compiled):
    def __init__(self, device):
        super().__init__(device, FarAllocator(), Device["PYTHON"].renderer, Compiler(), FarRunner)


def test_a_runner_without_vals_is_enough_for_kernels_without_variables():
    Device._devices["FAR"] = FarDevice
    x, y = buffer("FAR", NUMBERS), buffer("FAR")
    with Context(DEBUG=2):
        run_schedule([ScheduleItem(kernel(lambda a: a + 1), (y, x))])
    assert y.numpy().tolist() == (NUMBERS + 1).tolist()


# *** what is counted and shown ***


def test_counters_say_what_was_run():
    GlobalCounters.reset()
    x, y = buffer(values=NUMBERS), buffer()
    run_schedule([ScheduleItem(kernel(lambda a: a * 2 + 1), (y, x))] * 3 + [copy(y, x)])
    assert GlobalCounters.kernel_count == 3
    assert GlobalCounters.global_mem == 3 * 2 * 4 * SIZE
    assert GlobalCounters.global_ops == 3 * 2 * SIZE
    assert GlobalCounters.time_sum_s > 0
    GlobalCounters.reset()
    assert GlobalCounters.kernel_count == GlobalCounters.global_mem == 0
    assert GlobalCounters.global_ops == GlobalCounters.time_sum_s == 0


def test_colours_are_for_terminals_and_notebooks(monkeypatch):
    plain = types.SimpleNamespace(isatty=lambda: False)
    terminal = types.SimpleNamespace(isatty=lambda: True)
    members = {"__module__": "ipykernel.iostream", "isatty": lambda self: False}
    notebook = type("OutStream", (), members)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for stdout, expected in ((plain, False), (terminal, True), (notebook(), True)):
        monkeypatch.setattr(sys, "stdout", stdout)
        assert colors_are_shown() is expected
        with Context(NO_COLOR="1"):
            assert not colors_are_shown()


def test_shapes_are_those_of_the_kernel_without_ones():
    out, x, w = (UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(n), (), slot)
                 for slot, n in enumerate((6, 12, 1)))  # fmt: skip
    i, j, k = (UOp.range(n, axis) for axis, n in enumerate((2, 3, 4)))
    zero = UOp.const(dtypes.int, 0)
    value = x.index(i, zero, k, shape=(2, 1, 6)).load() * w.index(zero, shape=(1,)).load()
    store = out.index(i, j, shape=(2, 3)).store(value.reduce(Ops.ADD, k), i, j)
    bufs = (buffer(size=6), buffer(size=12), buffer(size=1))
    assert _shapes(ScheduleItem(UOp.sink(store), bufs)) == "2x3 <- 2x6, 1"
