"""Recursion and folds; every Tensor stays one."""

from functools import reduce

import numpy as np

from tinyframe import Tensor, dtypes, nn
from tinyframe.nn.optim import Adam
from tinyframe.nn.state import get_parameters, get_state_dict, load_state_dict, safe_load, safe_save


def normalise(images, training):
    pixels = training.cast(dtypes.float32).flatten()
    mean = pixels.sum() / pixels.numel()
    return (images[:, None].float() - mean) / ((pixels - mean) ** 2).mean().sqrt()


def batches(x, y, size, seed):
    def dealt(order):
        if not order:
            return ()
        now = Tensor(order[:size])
        return ((x[now].realize(), y[now].realize()), *dealt(order[size:]))

    return dealt(np.random.default_rng(seed).permutation(x.shape[0]).tolist())


class Network:
    """A network is a block and the rest of the network."""

    def __init__(self, size, channels, classes, before=1):
        match channels:
            case ():
                self.last = nn.Linear(before * size * size, classes)
            case (count, *others):
                self.first = nn.Conv2d(before, count, 3, padding=1)
                self.norm = nn.BatchNorm(count)
                self.rest = Network(size // 2, tuple(others), classes, count)

    def __call__(self, x):
        if hasattr(self, "last"):
            return self.last(x.reshape(x.shape[0], -1))
        return self.rest(self.norm(self.first(x)).relu().max_pool2d((2, 2)))


def make_step(model, rate):
    optimizer = Adam(get_parameters(model), lr=rate)

    def step(x, y):
        with Tensor.train():
            loss = model(x).log_softmax(1).gather(1, y.reshape(-1, 1)).mean().neg()
            optimizer.zero_grad()
            reduce(lambda _, do: do(), (loss.backward, optimizer.step), None)
        return loss.realize()

    return step


def scores(model, x, size):
    now, n = model(x[:size]).realize(), x.shape[0]
    return now if n <= size else now.cat(scores(model, x[size:], size), dim=0)


def mistakes(scores, labels, count):
    answers, classes = scores.argmax(1), scores.shape[1]
    is_right = answers == labels
    confusion = labels.one_hot(classes).transpose().int() @ answers.one_hot(classes).int()
    losses = scores.cross_entropy(labels, reduction="none")
    ranked = is_right.where(-1.0, losses).argsort(descending=True).tolist()
    wrong = int((~is_right).sum().item())
    return dict(accuracy=is_right.float().mean().item(), confusion=confusion,  # noqa: C408
                worst=ranked[: min(count, wrong)])  # fmt: skip


def reloaded(model, fresh, path):
    safe_save(get_state_dict(model), str(path))
    return load_state_dict(fresh, dict(sorted(safe_load(str(path)).items()))) or fresh
