"""A device's Graph: launches that TinyJit repeats, each of which does what a plain launch does.

CUDA's is tested on a driver of ours (test_cuda_driver.py), as its emulator has none.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests import devices
from tests.kernels import filled, numbers, schedule_of
from tinyframe import Context, Device, Tensor, TinyJit, UOp, Variable
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.device import Buffer
from tinyframe.gpu.drivers import opencl
from tinyframe.run.realize import CompiledKernel

THERE = devices.there()
WITH_GRAPH = [name for name in THERE if Device[name].graph is not None]
WITH_BLOCKS = [name for name in THERE if name == "CL" or Device[name].renderer.target.block_threads]


@pytest.fixture(params=WITH_GRAPH)
def device(request):
    with Context(DEVICE=request.param):
        yield Device[request.param]


# ---- blocks that a Variable makes none -----------------------------------------------------------

N = UOp.variable("n", 0, 30)


@pytest.fixture
def blocks(monkeypatch):
    """OpenCL's driver, whatever it runs on, is taken for that of a GPU."""
    if "CL" in THERE:
        cl = Device["CL"]
        monkeypatch.setattr(cl, "_renderer", opencl.language(cl.cl_device, has_blocks=True))


def twice(name):
    """The kernel out[:n] = x[:n] * 2 with a block for each element, and its memory."""
    device = Device[name]
    x = filled(numbers(30), name)
    (item,) = schedule_of(x[: N.bind(7)] * 2)
    spec = get_program(item.ast, device.renderer, [Opt(OptOps.GLOBAL, 0)])
    library = device.compiler.compile_cached(spec.src)
    kernel = CompiledKernel(spec, device.runner(spec.function, library))
    assert [kernel.sizes({N: n})[0][0] for n in (0, 7)] == [0, 7]
    return kernel, item.bufs


def clear(buffer):
    buffer.copyin(np.full(30, -1, np.float32).tobytes())


def written(n):
    return np.where(np.arange(30) < n, numbers(30) * 2, -1)


@pytest.mark.parametrize("name", WITH_BLOCKS)
def test_no_block_is_launched_where_a_variable_is_0(name, blocks):
    kernel, bufs = twice(name)
    for n in (7, 0, 3, 0, 30):
        clear(bufs[0].ensure_allocated())
        kernel(bufs, {N: n}, wait=n % 2 == 0)
        np.testing.assert_array_equal(bufs[0].numpy(), written(n))


@pytest.mark.parametrize("name", sorted({*WITH_BLOCKS} & {*WITH_GRAPH}))
def test_a_graph_skips_what_has_no_blocks_and_takes_it_up_again(name, blocks):
    kernel, bufs = twice(name)
    device, other = Device[name], Buffer(name, 30, bufs[0].dtype).allocate()
    opaque = [[bufs[0].ensure_allocated()._buf, bufs[1]._buf], [other._buf, bufs[1]._buf]]
    graph = device.graph([kernel.runner] * 2, opaque, [len(kernel.spec.vars)] * 2)
    for first, second in ((0, 7), (0, 0), (3, 0), (7, 30), (0, 5)):
        clear(bufs[0])
        clear(other)
        counts = [{N: first}, {N: second}]
        values = [value for given in counts for value in kernel.values(given)]
        graph.set_values([kernel.sizes(given) for given in counts], values)
        graph()
        np.testing.assert_array_equal(bufs[0].numpy(), written(first))
        np.testing.assert_array_equal(other.numpy(), written(second))


# ---- TinyJit -------------------------------------------------------------------------------------


def test_replays_equal_plain_runs_on_other_arguments_and_with_state(device):
    state = filled(numbers(4, 8, seed=9))

    def work(x, y):
        z = ((x @ y).relu() + state).contiguous()
        state.assign(state * 0.5 + z).realize()
        return z.sum(0).realize(), (z * 2).realize(), state.max().realize()

    jitted, before = TinyJit(work), state.numpy()
    found = []
    for n in range(7):
        x, y = filled(numbers(4, 3, seed=n)), filled(numbers(3, 8, seed=n + 1))
        found.append([t.numpy() for t in jitted(x, y)])
    values = before
    for n, (sums, doubled, largest) in enumerate(found):
        z = np.maximum(numbers(4, 3, seed=n) @ numbers(3, 8, seed=n + 1), 0) + values
        values = values * np.float32(0.5) + z
        np.testing.assert_array_equal(sums, z.sum(0))
        np.testing.assert_array_equal(doubled, z * 2)
        np.testing.assert_array_equal(largest, values.max())


def test_variables_of_a_replay_and_a_result_that_is_fed_back(device):
    x = filled(numbers(6, 10))
    step = TinyJit(lambda total, part: (total + part.sum(1)).realize())
    total, expected = filled(np.zeros(6, np.float32)), np.zeros(6, np.float32)
    for n in (1, 2, 3, 10, 5, 1, 7):
        total = step(total, x[:, : Variable("n", 1, 10).bind(n)])
        expected = expected + numbers(6, 10)[:, :n].sum(1)
        np.testing.assert_array_equal(total.numpy(), expected)


def test_memory_that_was_freed_in_between_is_not_used_by_a_replay(device):
    step = TinyJit(lambda x, y: ((x + y).contiguous() * y).realize())
    for n in range(8):
        x, y = filled(numbers(7, seed=n)), filled(numbers(7, seed=n + 50))
        np.testing.assert_array_equal(step(x, y).numpy(),
                                      (numbers(7, seed=n) + numbers(7, seed=n + 50))
                                      * numbers(7, seed=n + 50))  # fmt: skip
        del x, y
        if n % 2:
            Device.empty_cache()


def test_a_graph_starts_all_launches_in_one_call(device, monkeypatch):
    calls = []
    x = filled(numbers(9))

    def chain(t):
        for _ in range(5):
            t = (t + 1).contiguous()
        return t.realize()

    jitted = TinyJit(chain)
    for _ in range(3):
        jitted(x)
    run = device.graph.__call__
    monkeypatch.setattr(device.graph, "__call__", lambda self: calls.append(1) or run(self))
    plain = getattr(device.runner, "func", device.runner)
    monkeypatch.setattr(plain, "__call__", lambda *_, **__: pytest.fail("launched one by one"))
    np.testing.assert_array_equal(jitted(x).numpy(), numbers(9) + 5)
    assert calls == [1]
    assert Tensor(2.0).device == device.device
