"""A small model that has to learn."""

from __future__ import annotations

import numpy as np

from tinyframe import Tensor, nn
from tinyframe.nn.state import get_parameters


class Xor:
    def __init__(self):
        self.first, self.second = nn.Linear(2, 8), nn.Linear(8, 1)

    def __call__(self, x):
        return self.second(self.first(x).tanh()).sigmoid()


def test_xor_is_learnt_to_zero():
    Tensor.manual_seed(1)
    model = Xor()
    optimizer = nn.optim.Adam(get_parameters(model), lr=0.2)
    x, y = Tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]]), Tensor([[0.0], [1], [1], [0]])
    for _ in range(120):
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
    assert loss.item() < 1e-4
    np.testing.assert_array_equal(model(x).numpy().round(), y.numpy())
