"""Two small networks that tests train: the CNN of the texts for digits(), and a transformer."""

from __future__ import annotations

import numpy as np

from examples.gpt import GPT
from tinyframe import Tensor, nn
from tinyframe.nn.datasets import digits


class DigitNetwork:
    """Twice [convolution, convolution, BatchNorm, maximum of 2 x 2], then a linear layer.

    As in examples/mnist_cnn.py, with padding, since these images have 8 x 8 pixels.
    """

    def __init__(self) -> None:
        self.layers = [
            nn.Conv2d(1, 32, 3, padding="same"), Tensor.relu,
            nn.Conv2d(32, 32, 3, padding="same"), Tensor.relu,
            nn.BatchNorm(32), Tensor.max_pool2d,
            nn.Conv2d(32, 64, 3, padding="same"), Tensor.relu,
            nn.Conv2d(64, 64, 3, padding="same"), Tensor.relu,
            nn.BatchNorm(64), Tensor.max_pool2d,
            lambda x: x.flatten(1), nn.Linear(256, 10),
        ]  # fmt: skip

    def __call__(self, x: Tensor) -> Tensor:
        return x.sequential(self.layers)


def digit_images() -> tuple[np.ndarray, ...]:
    """digits() from 0 to 1, in float32, with int32 labels: x and y to train, x and y to test."""
    x, y, x_test, y_test = [part.numpy() for part in digits()]
    images = [(part / 16).astype(np.float32) for part in (x, x_test)]
    return images[0], y.astype(np.int32), images[1], y_test.astype(np.int32)


def digit_accuracy(model: DigitNetwork) -> float:
    """Of the images that it has not been trained on, how many it knows."""
    _, _, x, y = digit_images()
    with Tensor.no_grad():
        return float((model(Tensor(x)).numpy().argmax(1) == y).mean())


# ---- a language model ---------------------------------------------------------------------------

TEXT = """A tensor is a promise. Add two of them, and nothing has been added: there is a node that
remembers what to add. Ask for a number, and only then the promises are gathered, put into loops,
the loops into a program, the program into the machine. What was written in one line of Python runs
in a few instructions, and whoever wants to know how may look at every step on the way.
"""
CHARACTERS = sorted(set(TEXT))
TOKENS = np.array([CHARACTERS.index(character) for character in TEXT], np.int32)
CONTEXT = 24  # characters that the model looks back on


def text_batch(step: int, size: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Windows of the text, (size, CONTEXT), and the character after each of theirs."""
    starts = np.random.default_rng(step).integers(0, len(TOKENS) - CONTEXT, size)
    windows = TOKENS[starts[:, None] + np.arange(CONTEXT + 1)]
    return windows[:, :-1].copy(), windows[:, 1:].copy()


def transformer() -> GPT:
    """Windows of the text to the scores of what comes after each character."""
    return GPT(width=32, layers=2, heads=4, context=CONTEXT, vocabulary=len(CHARACTERS))
