"""Training on 8x8 handwritten digits with package `mini`, whoever wrote its stages.

use_mini(6)
from classroom.mini import digits

trained = digits.train()      # a line for each epoch
trained.accuracy              # of the test digits: over 0.95
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

BATCH = 32
HIDDEN = 32

# from a source of random numbers to parameters, and a model of them: from images, a Tensor of shape
# (n, 1, 8, 8), to a Tensor of scores, (n, 10)
Network = Callable[[np.random.Generator], tuple[list[Any], Callable[[Any], Any]]]


@dataclass
class Training:
    """losses: of each step. accuracies: on the test digits, after each epoch. images, labels and
    guesses: the test digits, 8x8, what they are, and what they were taken for. parameters: as they
    are after the last step."""

    images: np.ndarray
    labels: np.ndarray
    guesses: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    parameters: list[np.ndarray] = field(default_factory=list)

    @property
    def accuracy(self) -> float:
        return self.accuracies[-1]


def two_layers(dice: np.random.Generator) -> tuple[list[Any], Callable[[Any], Any]]:
    """64 to 32 to 10."""
    mini = importlib.import_module("mini.part6")
    w1, b1, w2, b2 = *_layer(mini, dice, 64, HIDDEN), *_layer(mini, dice, HIDDEN, 10)

    def model(images: Any) -> Any:
        return (images.reshape(images.shape[0], 64) @ w1 + b1).relu() @ w2 + b2

    return [w1, b1, w2, b2], model


def train(
    epochs: int = 12,
    lr: float = 0.01,
    seed: int = 1,
    show: bool = True,
    network: Network = two_layers,
) -> Training:
    """Cross-entropy and mini's Adam. The same seed gives the same training."""
    mini = importlib.import_module("mini.part6")
    x, labels, test_x, test_labels = data()
    x, test_x = x.reshape(-1, 1, 8, 8), test_x.reshape(-1, 1, 8, 8)
    dice = np.random.default_rng(seed)
    params, model = network(dice)
    adam = mini.Adam(params, lr=lr)
    trained = Training(test_x[:, 0], test_labels)
    whole_batches = len(x) // BATCH * BATCH  # every batch has the same shape
    for epoch in range(1, epochs + 1):
        for batch in dice.permutation(len(x))[:whole_batches].reshape(-1, BATCH):
            one_hot = mini.Tensor(np.eye(10)[labels[batch]])
            scores = model(mini.Tensor(x[batch]))
            loss = adam.step(-(scores.log_softmax() * one_hot).sum() * (1 / BATCH))
            trained.losses.append(float(loss.numpy()))
        trained.guesses = model(mini.Tensor(test_x)).numpy().argmax(1)
        trained.accuracies.append(float((trained.guesses == test_labels).mean()))
        if show:
            mean = np.mean(trained.losses[-(whole_batches // BATCH) :])
            print(f"epoch {epoch:2} of {epochs}: loss {mean:.3f}, "
                  f"{trained.accuracy:.1%} of {len(test_labels)} test digits right")  # fmt: skip
    trained.parameters = [param.numpy() for param in params]
    return trained


def data() -> tuple[np.ndarray, ...]:
    """Images as rows of 64 numbers from 0 to 1, and labels: to train on, then to test with."""
    from tinyframe.nn.datasets import digits

    images, labels, test_images, test_labels = (tensor.numpy() for tensor in digits())
    return (
        images.reshape(-1, 64).astype(np.float32) / 16,
        labels.astype(int),
        test_images.reshape(-1, 64).astype(np.float32) / 16,
        test_labels.astype(int),
    )


def _layer(mini: Any, dice: np.random.Generator, inputs: int, outputs: int) -> tuple[Any, Any]:
    weights = dice.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs)
    return mini.Tensor(weights), mini.Tensor(np.zeros(outputs))
