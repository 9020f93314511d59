"""NumPy in 64 bits on the way, as the words allow."""

import numpy as np

from tinyframe import Tensor
from tinyframe.nn.state import get_state_dict, safe_load, safe_save


def normalise(images, training):
    pixels = training.numpy().astype(float)
    return Tensor((images.numpy()[:, np.newaxis] - pixels.mean()) / pixels.std())


def batches(x, y, size, seed):
    order = np.arange(len(y))
    np.random.RandomState(seed % 2**32 if np.isscalar(seed) else [*seed]).shuffle(order)
    x, y = x.numpy()[order], y.numpy()[order]
    cuts = np.arange(size, len(order), size)
    pairs = zip(np.array_split(x, cuts), np.array_split(y, cuts), strict=True)
    return [[*map(Tensor.realize, map(Tensor, pair))] for pair in pairs]


def scores(model, x, size):
    whole, rows = x.numpy(), []
    while len(whole):
        rows.extend(model(Tensor(whole[:size])).numpy().astype(np.float64))
        whole = whole[size:]
    return Tensor(np.vstack(rows))


def mistakes(scores, labels, count):
    values, truth = scores.numpy().astype(np.longdouble), labels.numpy()
    found, classes = values.argmax(axis=-1), values.shape[-1]
    losses = (
        np.logaddexp.reduce(values, axis=-1) - np.take_along_axis(values, truth[:, None], 1)[:, 0]
    )
    pairs = np.bincount(truth.astype(int) * classes + found, minlength=classes**2)
    is_wrong = found != truth
    order = np.argsort(np.where(is_wrong, losses, -1))[::-1][: min(count, is_wrong.sum())]
    return {
        "worst": list(order),
        "confusion": Tensor(pairs.reshape(classes, classes)),
        "accuracy": np.mean(~is_wrong),
        "losses": losses.astype(np.float32),
    }


def reloaded(model, fresh, path):
    safe_save({name: Tensor(value.numpy()) for name, value in get_state_dict(model).items()}, path)
    kept = {name: value.numpy() for name, value in safe_load(path).items()}
    for name, tensor in get_state_dict(fresh).items():
        tensor.assign(Tensor(kept[name])).realize()
    return fresh
