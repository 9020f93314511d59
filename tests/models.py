"""Two small networks that tests train: the CNN of the texts for digits(), and a transformer."""

from __future__ import annotations

import numpy as np

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


class Block:
    """Attention to what came before, then two linear layers; each adds to what there is."""

    def __init__(self, size: int, heads: int):
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def __call__(self, x: Tensor) -> Tensor:
        batch, length, size = x.shape
        parts = self.qkv(self.norm1(x)).reshape(batch, length, 3, self.heads, size // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        seen = q.scaled_dot_product_attention(k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, size))
        return x + self.down(self.up(self.norm2(x)).gelu())


class Transformer:
    """(batch, CONTEXT) of ints to the scores of what comes after each, (batch, CONTEXT, CHARS)."""

    def __init__(self, size: int = 32, heads: int = 4, depth: int = 2):
        self.character = nn.Embedding(len(CHARACTERS), size)
        self.position = nn.Embedding(CONTEXT, size)
        self.blocks = [Block(size, heads) for _ in range(depth)]
        self.norm, self.scores = nn.LayerNorm(size), nn.Linear(size, len(CHARACTERS))

    def __call__(self, x: Tensor) -> Tensor:
        h = self.character(x) + self.position(Tensor.arange(CONTEXT))
        return self.scores(self.norm(h.sequential(self.blocks)))

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        return self(x).sparse_categorical_crossentropy(y)
