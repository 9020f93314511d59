"""A training step under TinyJit does what it does without."""

from __future__ import annotations

import numpy as np
import pytest

from tinyframe import Tensor, nn
from tinyframe.jit.jit import TinyJit

RNG = np.random.default_rng(0)
X = RNG.standard_normal((56, 4)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 56)]

OPTIMIZERS = {
    "SGD": lambda p: nn.optim.SGD(p, lr=0.1, momentum=0.9),
    "AdamW": lambda p: nn.optim.AdamW(p, lr=0.05),
    "Muon": lambda p: nn.optim.OptimizerGroup(
        nn.optim.Muon([t for t in p if t.ndim == 2], lr=0.05),
        nn.optim.SGD([t for t in p if t.ndim != 2], lr=0.1),
    ),
}


class Model:
    def __init__(self):
        self.first, self.norm, self.last = nn.Linear(4, 8), nn.BatchNorm(8), nn.Linear(8, 3)

    def __call__(self, x):
        return self.last(self.norm(self.first(x)).relu())


def losses_and_model(make, transform):
    """Seven steps with a schedule and clipping; what each gave, and the end."""
    Tensor.manual_seed(0)
    model = Model()
    optimizer = make(nn.state.get_parameters(model))
    schedule = nn.lr.SequentialLR(
        optimizer, [nn.lr.LinearLR(optimizer, 0.1), nn.lr.CosineAnnealingLR(optimizer, 5)], [3]
    )

    def step(x, y):
        with Tensor.train():
            optimizer.zero_grad()
            loss = -(model(x).log_softmax() * y).sum(1).mean()
            loss.backward()
            norm = nn.clip_grad_norm_(optimizer.params, 0.5)
            optimizer.step()
            schedule.step()
        return loss, norm

    step = transform(step)
    batches = nn.DataLoader(X, Y, batch_size=8, shuffle=True, seed=1)
    given = [[t.item() for t in step(x, y)] for x, y in batches]
    state = [optimizer.lr, *nn.state.get_parameters(model)]
    return given, [t.tolist() for t in state]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_captured_training_step_goes_on_as_the_plain_one(name):
    plain = losses_and_model(OPTIMIZERS[name], lambda step: step)
    captured = losses_and_model(OPTIMIZERS[name], TinyJit)
    assert captured == plain


def test_a_rate_that_is_set_between_replays_is_used():
    w = Tensor([0.0])
    optimizer = nn.optim.SGD([w], lr=1.0)

    @TinyJit
    def step(x):
        optimizer.zero_grad()
        (w * x).sum().backward()
        optimizer.step()
        return w + 0

    found = []
    for rate in (1.0, 1.0, 1.0, 0.5, 0.25):
        optimizer.lr = rate
        found.append(step(Tensor([1.0]).realize()).item())
    assert found == [-1, -2, -3, -3.5, -3.75]


def test_padded_batches_evaluate_exactly_under_a_jit():
    @TinyJit
    def count(x, counts):
        return ((x.sum(1) > 0) & counts).sum().realize()

    batches = nn.DataLoader(X, batch_size=24, last="pad")
    assert sum(count(x, counts).item() for x, counts in batches) == (X.sum(1) > 0).sum()
