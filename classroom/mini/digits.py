"""Training on 8x8 handwritten digits with package `mini`, whoever wrote its stages.

use_mini(6)
from classroom.mini import digits

trained = digits.train()      # a line for each epoch
trained.accuracy              # of the test digits: over 0.95
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from classroom.learner import kept
from classroom.mini import loader, stages

BATCH = 32
HIDDEN = 32

# from a source of random numbers to parameters, and a model of them: from images, a Tensor of shape
# (n, 1, 8, 8), to a Tensor of scores, (n, 10)
Network = Callable[[np.random.Generator], tuple[list[Any], Callable[[Any], Any]]]

# from a step, a function of Tensors, and all Tensors that it changes, to the step as it is to run
Capture = Callable[[Callable[..., Any], list[Any]], Callable[..., Any]]


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
    capture: Capture | None = None,
) -> Training:
    """Cross-entropy and mini's Adam. The same seed gives the same training.

    capture: mini's `jit`. The first step runs as ever, since it shows which Tensors change.
    """
    mini = importlib.import_module("mini.part6")
    x, labels, test_x, test_labels = data()
    x, test_x = x.reshape(-1, 1, 8, 8), test_x.reshape(-1, 1, 8, 8)
    dice = np.random.default_rng(seed)
    params, model = network(dice)
    adam = mini.Adam(params, lr=lr)

    def step(images: Any, target: Any) -> Any:
        return adam.step(-(model(images).log_softmax() * target).sum() * (1 / BATCH))

    trained = Training(test_x[:, 0], test_labels)
    whole_batches = len(x) // BATCH * BATCH  # every batch has the same shape
    for epoch in range(1, epochs + 1):
        for batch in dice.permutation(len(x))[:whole_batches].reshape(-1, BATCH):
            one_hot = mini.Tensor(np.eye(10)[labels[batch]])
            with changes_of(adam) as changed:
                loss = step(mini.Tensor(x[batch]), one_hot)
            if capture:
                step, capture = capture(step, changed), None
            trained.losses.append(float(loss.numpy()))
        trained.guesses = model(mini.Tensor(test_x)).numpy().argmax(1)
        trained.accuracies.append(float((trained.guesses == test_labels).mean()))
        if show:
            mean = np.mean(trained.losses[-(whole_batches // BATCH) :])
            print(f"epoch {epoch:2} of {epochs}: loss {mean:.3f}, "
                  f"{trained.accuracy:.1%} of {len(test_labels)} test digits right")  # fmt: skip
    trained.parameters = [param.numpy() for param in params]
    if loader.is_learners(stages.find("6")):
        kept.keep("digits", trained.accuracy, {"right": trained.accuracy, "of": len(test_labels)})
    return trained


@contextmanager
def changes_of(optimizer: Any) -> Iterator[list[Any]]:
    """The Tensors of mini that an optimizer gives other values, inside; known at the end."""
    before = [(tensor, tensor.uop) for tensor in tensors_of(optimizer)]
    changed: list[Any] = []
    yield changed
    changed += [tensor for tensor, uop in before if tensor.uop is not uop]


def tensors_of(optimizer: Any) -> list[Any]:
    """The Tensors of mini in an optimizer's attributes, and in their lists and dicts, each once.
    What they are called is up to whoever wrote it."""
    Tensor = importlib.import_module("mini.part4").Tensor
    found: dict[int, Any] = {}
    pending = list(vars(optimizer).values())
    while pending:
        value = pending.pop()
        if isinstance(value, Tensor):
            found[id(value)] = value
        elif isinstance(value, dict):
            pending += [*value, *value.values()]
        elif isinstance(value, (list, tuple, set)):
            pending += value
    return list(found.values())


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
