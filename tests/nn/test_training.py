"""Small models that have to learn, and what training leaves behind."""

from __future__ import annotations

import gc

import numpy as np

from tinyframe import GlobalCounters, Tensor, nn
from tinyframe.nn.datasets import digits
from tinyframe.nn.state import get_parameters, get_state_dict, load_state_dict, safe_load, safe_save
from tinyframe.tensor.base import live_tensors


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


class Classifier:
    """Two convolutions, normalized, and a Linear."""

    def __init__(self):
        self.layers = [
            nn.Conv2d(1, 8, 3, padding="same"), nn.BatchNorm(8), Tensor.relu,
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.BatchNorm(16), Tensor.relu,
            Tensor.flatten, nn.Linear(256, 10),
        ]  # fmt: skip

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x, 1) if layer is Tensor.flatten else layer(x)
        return x


def cross_entropy(out, labels):
    of_label = labels.unsqueeze(1) == Tensor.arange(10)
    return -of_label.where(out.log_softmax(), 0.0).sum(1).mean()


def test_a_convolutional_network_learns_digits_and_reloads_with_the_same_accuracy(tmp_path):
    Tensor.manual_seed(0)
    x_train, y_train, x_test, y_test = digits()
    model = Classifier()
    optimizer = nn.optim.AdamW(get_parameters(model), lr=5e-3)
    batches = nn.DataLoader(
        x_train.numpy().astype(np.float32) / 16, y_train.numpy().astype(np.int32),
        batch_size=96, shuffle=True, seed=0,
    )  # fmt: skip
    tensors, memory = [], []
    for _ in range(2):
        for x, y in batches:
            with Tensor.train():
                optimizer.zero_grad()
                loss = cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
            gc.collect()
            tensors.append(len(live_tensors()))
            memory.append(GlobalCounters.mem_used)
    # What a step makes is gone with the next.
    assert tensors[-1] == tensors[2] and memory[-1] == memory[2]

    def accuracy(model):
        return float((model(x_test.float() / 16).numpy().argmax(1) == y_test.numpy()).mean())

    assert accuracy(model) > 0.9
    safe_save(get_state_dict(model), tmp_path / "digits.safetensors")
    again = Classifier()
    load_state_dict(again, safe_load(tmp_path / "digits.safetensors"))
    assert accuracy(again) == accuracy(model)
