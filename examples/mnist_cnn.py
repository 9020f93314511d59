"""The convolutional network of the course, on handwritten digits: over 98 % after five epochs.

    python examples/mnist_cnn.py FOLDER

FOLDER holds MNIST's test files, t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz. The first
8,000 images are learned, the last 2,000 tell how well: the network never sees them before.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tinyframe import Tensor, TinyJit, nn
from tinyframe.nn.idx import read_idx
from tinyframe.nn.loader import DataLoader
from tinyframe.nn.optim import Adam
from tinyframe.nn.state import get_parameters


class Model:
    """Twice [convolution, convolution, BatchNorm, maximum of 2 x 2], then a linear layer."""

    def __init__(self) -> None:
        self.layers = [
            nn.Conv2d(1, 32, 5), Tensor.relu,
            nn.Conv2d(32, 32, 5), Tensor.relu,
            nn.BatchNorm(32), Tensor.max_pool2d,
            nn.Conv2d(32, 64, 3), Tensor.relu,
            nn.Conv2d(64, 64, 3), Tensor.relu,
            nn.BatchNorm(64), Tensor.max_pool2d,
            lambda x: x.flatten(1), nn.Linear(576, 10),
        ]  # fmt: skip

    def __call__(self, x: Tensor) -> Tensor:
        """(batch, 1, 28, 28) to the scores of ten digits, (batch, 10)."""
        return x.sequential(self.layers)


def epochs(
    images: np.ndarray, labels: np.ndarray, learned: int, count: int, batch_size: int = 128
) -> Iterator[tuple[float, float, float]]:
    """Learns the first `learned` images `count` times. After each: the mean loss, the accuracy on
    the others, and the seconds that learning took."""
    Tensor.manual_seed(0)
    x = (images[:, None] / 255).astype(np.float32)
    y = labels.astype(np.int32)
    model = Model()
    optimizer = Adam(get_parameters(model))

    @TinyJit
    def step(x: Tensor, y: Tensor) -> Tensor:
        with Tensor.train():
            optimizer.zero_grad()
            loss = model(x).cross_entropy(y).backward()
            optimizer.step()
            return loss.realize()

    @TinyJit
    def answer(x: Tensor) -> Tensor:
        return model(x).argmax(1).realize()

    batches = DataLoader(x[:learned], y[:learned], batch_size=batch_size, shuffle=True, seed=0)
    for _ in range(count):
        start = time.perf_counter()
        losses = [step(*batch) for batch in batches]
        loss = float(np.mean([loss.item() for loss in losses]))
        seconds = time.perf_counter() - start
        tested = range(learned, len(x), 500)
        answers = [answer(Tensor(x[i : i + 500]).realize()).numpy() for i in tested]
        yield loss, float(np.mean(np.concatenate(answers) == y[learned:])), seconds


def main(folder: Path) -> None:
    images = read_idx(folder / "t10k-images-idx3-ubyte.gz")
    labels = read_idx(folder / "t10k-labels-idx1-ubyte.gz")
    for number, (loss, accuracy, seconds) in enumerate(epochs(images, labels, 8000, 5), 1):
        print(f"epoch {number}: loss {loss:.4f}, accuracy {accuracy:.2%}, {seconds:.1f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
