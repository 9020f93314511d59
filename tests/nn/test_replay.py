"""A captured call is replayed by one call of the device's Graph, and nothing else changes by it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tinyframe import Context, Device, GlobalCounters, Tensor, TinyJit
from tinyframe.runtime.cpu import ClangGraph


def scaled_sums(x: Tensor) -> Tensor:
    """Several runs of several kernels."""
    y = (x * 2).realize()
    z = (y.sum(1, keepdim=True) + y).contiguous()
    return z.softmax(-1) + y.max()


def reference(x: np.ndarray) -> np.ndarray:
    y = x * 2
    z = y.sum(1, keepdims=True) + y
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) + y.max()


def inputs(count: int, shape=(5, 37)) -> list[np.ndarray]:
    rng = np.random.default_rng(count)
    return [rng.standard_normal(shape, dtype=np.float32) for _ in range(count)]


@pytest.fixture
def calls(monkeypatch):
    """How many launches each call of a CPU Graph has made."""
    made: list[int] = []
    replay = ClangGraph.__call__

    def counted(self):
        made.append(len(self.rows))
        replay(self)

    monkeypatch.setattr(ClangGraph, "__call__", counted)
    return made


def test_a_replay_runs_on_as_many_threads_as_the_setting_says_now(monkeypatch):
    used: list[int] = []
    monkeypatch.setattr(ClangGraph, "__call__", lambda self: used.append(self.threads))
    f, x = TinyJit(lambda x: x + 1), Tensor(np.zeros(8, np.float32))
    f(x), f(x)
    for threads in (3, 1, 1, 2):
        with Context(THREADS=threads):
            f(x)
    assert used == [3, 1, 1, 2]


def test_large_work_is_divided_among_threads_and_right():
    f = TinyJit(scaled_sums)
    for threads in (1, 2, 3):
        with Context(THREADS=threads):
            for a in inputs(3, (257, 1031)):
                np.testing.assert_allclose(f(Tensor(a)).numpy(), reference(a), rtol=1e-4)


def test_counters_count_a_replay_like_a_call():
    f = TinyJit(scaled_sums)
    counted = []
    for a in inputs(4):
        x = Tensor(a).realize()
        GlobalCounters.reset()
        f(x).realize()
        counted.append(
            (GlobalCounters.kernel_count, GlobalCounters.global_ops, GlobalCounters.global_mem)
        )
    assert len(set(counted)) == 1
    assert counted[0][0] == len(f.captured.kernels)


def test_a_replay_shows_its_kernels_at_debug_2(capsys, calls):
    f = TinyJit(scaled_sums)
    given = inputs(4)
    for a in given[:3]:
        f(Tensor(a))
    x = Tensor(given[3]).realize()
    calls.clear()
    capsys.readouterr()
    with Context(DEBUG=2):
        result = f(x)
    lines = re.findall(r"^CPU .*GFLOP/s", capsys.readouterr().out, re.M)
    assert len(lines) == len(f.captured.kernels)
    assert calls == []
    np.testing.assert_allclose(result.numpy(), reference(given[3]), rtol=1e-5)


def test_a_replay_says_at_debug_1_how_many_kernels_ran(capsys):
    f = TinyJit(scaled_sums)
    given = [Tensor(a).realize() for a in inputs(4)]
    for x in given[:3]:
        f(x)
    capsys.readouterr()
    with Context(DEBUG=1):
        f(given[3])
    assert capsys.readouterr().out.startswith(f"{len(f.captured.kernels)} kernels, ")


def test_settings_that_change_kernels_hold_in_the_next_replay():
    f = TinyJit(scaled_sums)
    given = inputs(6)
    for a in given[:3]:
        f(Tensor(a))
    replay = f.captured.replay
    before = replay.kernels
    with Context(NOOPT=1):
        np.testing.assert_allclose(f(Tensor(given[3])).numpy(), reference(given[3]), rtol=1e-5)
        assert all(a is not b for a, b in zip(before, replay.kernels, strict=True))
    np.testing.assert_allclose(f(Tensor(given[4])).numpy(), reference(given[4]), rtol=1e-5)
    assert replay.kernels == before


def test_where_there_is_no_graph_kernels_are_launched_one_by_one(monkeypatch, calls):
    monkeypatch.setattr(type(Device["CPU"]), "graph", None)
    f = TinyJit(scaled_sums)
    for a in inputs(5):
        np.testing.assert_allclose(f(Tensor(a)).numpy(), reference(a), rtol=1e-5)
    assert calls == []


def test_after_an_interrupted_replay_the_next_one_sets_all_memory(monkeypatch):
    def interrupted(self, place, opaque):
        raise KeyboardInterrupt

    w, x = Tensor([1.0, 2.0]).realize(), Tensor([1.0, 1.0]).realize()
    f = TinyJit(lambda x: (x + w).realize())
    for _ in range(3):
        f(x)
    before, w.uop = w.uop, Tensor([10.0, 20.0]).realize().uop  # other memory; the old one stays
    with monkeypatch.context() as patched:
        patched.setattr(ClangGraph, "set_buffer", interrupted)
        with pytest.raises(KeyboardInterrupt):
            f(x)
    assert f(x).tolist() == [11, 21]
    assert Tensor(before).tolist() == [1, 2]
