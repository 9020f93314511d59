"""Growth: what scheduling takes grows as the graph does, and no kernel grows with it.

Steps are counted, not timed: the calls of Python functions while a graph is scheduled. Four times
the graph may take six times the steps, where something quadratic would take 16 times as many.
"""

from __future__ import annotations

import cProfile
import gc
import sys
from collections.abc import Callable

import numpy as np
import pytest

from tests.kernels import filled, kernels_of, on_buffer, ops_in, schedule_of
from tests.values import computed
from tinyframe import Tensor, dtypes, nn, thresholds
from tinyframe.codegen import get_program
from tinyframe.renderer import Target
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.schedule import create_schedule, kernels
from tinyframe.schedule.fuse import STATEMENTS
from tinyframe.thresholds import LARGEST_KERNEL
from tinyframe.uop.movement import MAY_BE_OUTSIDE
from tinyframe.uop.node import JOINED_AT_ONCE, Ops, UOp, collector_paused

SMALL, TIMES = 10, 4
LANES_OF_16 = Target(vector_bytes=64, vector_registers=32, threads=1, l1=32 << 10, l2=1 << 20)


# ---- steps ---------------------------------------------------------------------------------------


def steps_of(run: Callable[[], object]) -> int:
    """How many Python functions are called."""
    profile = cProfile.Profile(subcalls=False, builtins=False)
    profile.runcall(run)
    return sum(entry.callcount for entry in profile.getstats())


def chain_of_additions(n: int) -> list[Tensor]:
    x, other = on_buffer(16), on_buffer(16)
    for _ in range(n):
        x = x + other
    return [x]


def nested_activations_and_gradients(n: int) -> list[Tensor]:
    x, w = on_buffer(16), on_buffer(16)
    y = x
    for _ in range(n):
        y = (y * w).tanh()
    return y.sum().gradient(x, w)


def chain_of_kernels(n: int) -> list[Tensor]:
    x = on_buffer(16)
    for _ in range(n):
        x = (x + 1).contiguous()
    return [x]


def parts_laid_end_to_end(n: int) -> list[Tensor]:
    first, *others = [on_buffer(4) for _ in range(n)]
    return [first.cat(*others)]


def gradients_of_parts(n: int) -> list[Tensor]:
    parts = [on_buffer(4) for _ in range(n)]
    return parts[0].cat(*parts[1:]).square().sum().gradient(*parts)


def recurrent_steps(n: int) -> list[Tensor]:
    x, w, state = on_buffer(n, 4, 8), on_buffer(8, 8), on_buffer(4, 8)
    states = []
    for element in x.unbind(0):
        state = (state @ w + element).tanh().contiguous_backward()
        states.append(state)
    return Tensor.stack(*states).square().sum().gradient(w)


def many_graphs(n: int) -> list[Tensor]:
    x = on_buffer(16)
    return [x * float(i) for i in range(n)] + [on_buffer(16) * float(i) for i in range(n)]


def layers_and_gradients(n: int) -> list[Tensor]:
    x, weights = on_buffer(64, 64), [on_buffer(64, 64) for _ in range(n)]
    for w in weights:
        x = (x @ w + on_buffer(64)).relu()
    return x.gradient(*weights, gradient=on_buffer(64, 64))


GRAPHS = [chain_of_additions, nested_activations_and_gradients, chain_of_kernels,
          parts_laid_end_to_end, gradients_of_parts, recurrent_steps, many_graphs,
          layers_and_gradients]  # fmt: skip


@pytest.mark.parametrize("graph", GRAPHS)
def test_steps_of_scheduling_grow_as_the_graph_does(graph, monkeypatch):
    monkeypatch.setattr(thresholds, "LARGEST_KERNEL", 100)  # so that a small graph has many kernels

    def steps(n: int) -> int:
        sink = UOp.sink(*[t.uop for t in graph(n)])
        return steps_of(lambda: create_schedule(sink))

    steps(SMALL)  # what is found once for all kernels has been found
    assert steps(SMALL * TIMES) < 1.5 * TIMES * steps(SMALL + 1)


# ---- the largest kernel --------------------------------------------------------------------------


def test_a_chain_of_ten_thousand_operations_becomes_equal_kernels_and_is_right():
    x = np.arange(5, dtype=np.float32)
    y, expected = filled(x), x
    for i in range(10_000):
        y, expected = (y + 1, expected + 1) if i % 2 else (y * -1, expected * -1)
    found = kernels_of(y)
    assert 10_000 / LARGEST_KERNEL <= len(found) <= 10_000 / LARGEST_KERNEL + 1
    assert len(set(found)) <= 2  # all but the one that is left over are equal
    np.testing.assert_array_equal(y.numpy(), expected)


def test_no_kernel_grows_with_the_graph(monkeypatch):
    limit, language = 300, CStyleLanguage(LANES_OF_16)
    monkeypatch.setattr(thresholds, "LARGEST_KERNEL", limit)

    def longest(n: int) -> int:
        found = set(kernels_of(*nested_activations_and_gradients(n)))
        return max(len(get_program(k, language).uops) for k in found)

    # Once a kernel is full, all that it still needs is loaded. So many statements of two operands
    # have at most one more from outside than they are, and a load is two statements. What it has
    # all the sources of it computes, without a load: up to two limits more.
    most = 5 * limit + 100  # what every kernel begins with
    assert longest(20) < most
    assert longest(80) < most


def cells(n: int) -> list[Tensor]:
    """Each state is used by the next one and by an output, as in an LSTM."""
    state, outputs, x = on_buffer(16, 16), [], on_buffer(16, 16)
    for _ in range(n):
        state = state * 0.5 + (state * x).tanh()
        outputs.append(state.tanh() @ x)
    return outputs


@pytest.mark.parametrize("n", [6, 24])
def test_what_later_kernels_would_compute_again_at_a_high_cost_is_stored(n):
    times = sum(len(ops_in(kernel, Ops.EXP2)) for kernel in kernels_of(*cells(n)))
    assert times <= 2 * n + 2  # two tanh a step; the first two are cheap enough


@pytest.mark.parametrize("n", [40, 80])
def test_a_long_gradient_reads_few_values_of_the_forward_pass(monkeypatch, n):
    monkeypatch.setattr(thresholds, "LARGEST_KERNEL", 400)
    memory = {b for item in schedule_of(*nested_activations_and_gradients(n)) for b in item.bufs}
    assert len(memory) < 2.5 * n  # 12 values of each tanh are used by its gradient


def test_values_split_among_kernels_are_those_of_one(monkeypatch):
    rng = np.random.default_rng(0)
    values = [rng.standard_normal((4, 6)).astype(np.float32) for _ in range(2)]

    def results() -> list[np.ndarray]:
        x, w = map(Tensor, values)
        y = x
        for n in range(6):
            y = (y * w + (y.sum(1, keepdim=True) if n % 3 else y.T.reshape(4, 6))).tanh()
        return computed(y, *y.square().sum().gradient(x, w))

    whole = results()
    monkeypatch.setattr(thresholds, "LARGEST_KERNEL", 60)
    for split, one in zip(results(), whole, strict=True):
        np.testing.assert_allclose(split, one, rtol=2e-5, atol=1e-6)


def test_fuse_overrules_the_largest_kernel(monkeypatch):
    monkeypatch.setattr(thresholds, "LARGEST_KERNEL", 20)
    (x,) = chain_of_additions(50)
    assert len(kernels_of(x)) > 1
    assert len(kernels_of(x.fuse())) == 1


@pytest.mark.parametrize("op", [*STATEMENTS.keys() - MAY_BE_OUTSIDE])
def test_statements_are_those_of_the_decompositions(op, monkeypatch):
    monkeypatch.setattr(thresholds, "LARGEST_KERNEL", 10**9)
    dtype = dtypes.uint64 if op is Ops.THREEFRY else dtypes.float

    def length(n: int) -> int:
        x = y = on_buffer(16, dtype=dtype).uop
        for _ in range(n):
            unary = op in (Ops.SIN, Ops.COS, Ops.EXP2, Ops.LOG2)
            y = UOp(op, dtype, (y,) if unary else (y, x))
        items, _, _ = create_schedule(UOp.sink(y.contiguous()))
        return len(get_program(items[-1].ast, CStyleLanguage(LANES_OF_16)).uops)

    assert (length(16) - length(4)) / 12 == pytest.approx(STATEMENTS[op], rel=0.1)


# ---- what is shared and what is left out ---------------------------------------------------------


def test_groups_of_one_form_are_lowered_once(monkeypatch):
    lowered, real = [], kernels._loop_nest
    counted = lambda group, *more: lowered.append(group) or real(group, *more)  # noqa: E731
    monkeypatch.setattr(kernels, "_loop_nest", counted)
    x = on_buffer(16)
    for _ in range(20):
        x = (x.sin() + 2).contiguous()
    found = kernels_of(x)
    assert (len(found), len(set(found)), len(lowered)) == (20, 1, 1)


@pytest.mark.parametrize("second", [
    lambda x: x + 3,
    lambda x: x * 2,
    lambda x: x + x,
    lambda x: x[::-1] + 2,
    lambda x: (x.reshape(4, 4).T + 2).reshape(16),
])  # fmt: skip
def test_groups_of_different_forms_are_lowered_apart(second):
    x = np.arange(16, dtype=np.float32)
    first = (filled(x) + 2).contiguous()
    y = second(first).contiguous()
    assert len(set(kernels_of(y))) == 2
    expected = (Tensor(x + 2).realize(),)
    np.testing.assert_array_equal(y.numpy(), second(expected[0]).numpy())


@pytest.mark.parametrize("count", [JOINED_AT_ONCE, 6 * JOINED_AT_ONCE + 1])
def test_many_parts_are_laid_end_to_end(count):
    parts = [np.full((2, 1 + n % 3), n, np.float32) for n in range(count)]
    parts[0] = np.array([[-0.0], [np.inf]], np.float32)
    joined = Tensor.cat([Tensor(p) for p in parts], dim=1).numpy()
    expected = np.concatenate(parts, 1)
    np.testing.assert_array_equal(joined, expected)
    np.testing.assert_array_equal(np.signbit(joined), np.signbit(expected))


def test_a_slice_of_joined_parts_reads_its_own_part_only():
    parts = [on_buffer(4) for _ in range(100)]
    (kernel,) = kernels_of((parts[0].cat(*parts[1:]) * 2)[4 * 57 : 4 * 58] + 1)
    assert len(ops_in(kernel, Ops.DEFINE_GLOBAL)) == 2


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_before_after_a_pause(enabled):
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(KeyError), collector_paused():
            assert not gc.isenabled()
            raise KeyError
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


def _repeated(change, count=300):
    def chain():
        x = y = Tensor([0.5, 0.25]).realize()
        for _ in range(count):
            y = change(x, y)
        return y

    return chain


def _written(x, _):
    x[:1] = x[:1] + 1
    return x


def _averaged():
    norm, total = nn.BatchNorm2d(2), Tensor([0.0])
    for _ in range(150):
        with Tensor.train():
            total += norm(Tensor.ones(1, 2, 1, 2)).sum().detach()
    return norm.num_batches_tracked


def _slope():
    x, y = Tensor([0.5], requires_grad=True), Tensor([0.125])
    for _ in range(120):
        y = (y + x) * 0.5
    return y.sum().gradient(x)[0]


CHAINS = {
    "add": (_repeated(lambda x, y: y + 1), [300.5, 300.25]),
    "product": (_repeated(lambda x, y: y * x * 2), [0.5, 0.0]),
    "tanh": (_repeated(lambda x, y: (y.tanh() > 9).where(y, x)), [0.5, 0.25]),
    "in place": (_repeated(lambda x, y: x.assign(x + 1)), [300.5, 300.25]),
    "through a view": (_repeated(lambda x, y: [x[1:].assign(x[:1]), x][1]), [0.5, 0.5]),
    "setitem": (_repeated(_written), [300.5, 0.25]),
    "cat": (_repeated(lambda x, y: y[1:].cat(y[:1])), [0.5, 0.25]),
    "views": (_repeated(lambda x, y: y[None, :][0].flip(0)), [0.5, 0.25]),
    "padded": (_repeated(lambda x, y: (y + x).pad((0, 1))[:2], 100), [50.5, 25.25]),
    "statistics": (_averaged, 150),
    "gradient": (_slope, [1.0]),
}


@pytest.mark.parametrize("name", CHAINS)
def test_no_chain_of_a_users_is_walked_by_recursion(name):
    """Python's stack has room for fewer calls than the chain has links."""
    chain, expected = CHAINS[name]
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(depth + 95)
        found = chain().tolist()
    finally:
        sys.setrecursionlimit(before)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
