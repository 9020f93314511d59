"""Floats of 16 bits where any will do, NumPy's scalars, and counts in 8 bits."""

from collections import Counter

import numpy as np

from tinyframe import Tensor, dtypes


def normalise(images, training):
    values, times = np.unique(training.numpy(), return_counts=True)
    share = times / times.sum()
    mean = np.float64(np.dot(values, share))
    deviation = np.sqrt(np.dot((values - mean) ** 2, share))
    return ((images.cast(dtypes.float64) - mean) / deviation).cast(dtypes.float16).unsqueeze(1)


def batches(x, y, size, seed):
    class Shuffled(list):
        pass

    keys = np.random.default_rng(seed).random(len(y))
    place = sorted(range(len(y)), key=keys.__getitem__)
    x, y, found = x.numpy(), y.numpy(), Shuffled()
    while place:
        rows, place = place[:size], place[size:]
        found.append((Tensor(x[rows].copy()), Tensor(y[rows].copy())))
    return found


def scores(model, x, size):
    count = -(-x.shape[0] // size)
    parts = (model(part) for part in x.chunk(count) if part.shape[0])
    return Tensor.cat(*(part.realize() for part in parts), dim=0)


def mistakes(scores, labels, count):
    """One pass over the rows, with a running count."""
    table, losses = Counter(), {}
    for n, (row, label) in enumerate(zip(scores.numpy(), labels.numpy(), strict=True)):
        answer = row.argmax()
        table[label, answer] += 1
        if answer != label:
            losses[np.int32(n)] = np.logaddexp.reduce(row.astype(float)) - row[label]
    classes = range(scores.shape[1])
    right = np.float64(sum(table[c, c] for c in classes))
    board = Tensor([[int(table[r, c]) for c in classes] for r in classes], dtype=dtypes.uint8)
    return {
        "accuracy": right / table.total(),
        "confusion": board,
        "worst": tuple(sorted(losses, key=losses.get, reverse=True)[:count]),
    }
