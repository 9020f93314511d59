"""A session that goes on for long holds no more than it did: training, and ever new graphs."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import numpy as np
import pytest

import tinyframe.run.realize as realize
import tinyframe.schedule as schedule
from tinyframe import GlobalCounters, Tensor, TinyJit
from tinyframe.nn.optim import Adam
from tinyframe.uop.node import UOp


def held() -> tuple[int, int]:
    """Live nodes, and bytes of live buffers."""
    gc.collect()
    return len(UOp._table), GlobalCounters.mem_used


def training_step():
    Tensor.manual_seed(0)
    w1, w2 = (Tensor.randn(*shape, requires_grad=True) for shape in ((20, 16), (16, 4)))
    optimizer = Adam([w1, w2])

    def step(x: Tensor, y: Tensor) -> Tensor:
        with Tensor.train():
            optimizer.zero_grad()
            loss = ((x @ w1).relu() @ w2).cross_entropy(y).backward()
            optimizer.step()
            return loss.realize()

    return step


def batches(count: int):
    rng = np.random.default_rng(0)
    for _ in range(count):
        x = rng.standard_normal((8, 20), dtype=np.float32)
        y = rng.integers(0, 4, 8).astype(np.int32)
        yield Tensor(x).realize(), Tensor(y).realize()


@pytest.mark.parametrize(("jit", "steps"), [(True, 500), (False, 30)])
def test_training_holds_no_more_at_the_end_than_at_the_start(jit, steps):
    step = training_step()
    step = TinyJit(step) if jit else step
    for batch in batches(10):
        step(*batch)
    del batch
    before = held()
    for batch in batches(steps):
        step(*batch)
    del batch
    nodes, memory = held()
    assert nodes <= before[0]  # fewer where a node of an earlier test was let go of meanwhile
    assert memory == before[1]


def libraries() -> set[str]:
    """The shared libraries in this process that come from the cache of compiled kernels."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    return {line.split()[-1] for line in maps if "tinyframe" in line and "r-xp" in line}


def test_ever_new_graphs_let_go_of_old_ones(monkeypatch):
    monkeypatch.setattr(realize, "_kernels", {})
    monkeypatch.setattr(realize, "MOST_KERNELS", 10)
    monkeypatch.setattr(schedule, "_schedules", {})
    monkeypatch.setattr(schedule, "CACHE_SIZE", 10)

    def run(first: int, last: int) -> tuple[int, int]:
        for n in range(first, last):
            assert (Tensor([1.0, 2.0]) * (n + 0.5)).tolist() == [n + 0.5, 2 * n + 1.0]
        assert len(realize._kernels) <= 10
        gc.collect()
        loaded = len(libraries()) if sys.platform == "linux" else 0
        return held()[0], loaded

    run(0, 15)
    nodes, loaded = run(15, 25)
    nodes_later, loaded_later = run(25, 40)
    assert nodes_later <= nodes * 1.02
    assert loaded_later <= loaded
