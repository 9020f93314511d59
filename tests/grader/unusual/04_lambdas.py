"""Lambdas, partial and closures; Welford's mean and variance; an Adam written out."""

from functools import partial
from itertools import islice

import numpy as np

from tinyframe import Tensor, nn
from tinyframe.nn.state import get_state_dict, load_state_dict, safe_load, safe_save


def normalise(images, training):
    count, mean, squares = 0, 0.0, 0.0
    for value in training.flatten().tolist():
        count += 1
        apart = value - mean
        mean += apart / count
        squares += apart * (value - mean)
    return images.float().sub(mean).div((squares / count) ** 0.5).unsqueeze(1)


def batches(x, y, size, seed):
    order = iter(np.random.Generator(np.random.PCG64(seed)).permutation(len(y)).tolist())
    pieces = iter(lambda: [*islice(order, size)], [])
    return [tuple(t[piece].realize() for t in (x, y)) for piece in pieces]


class Network:
    def __init__(self, size, channels, classes):
        pairs = [*zip([1, *channels], channels, strict=False)]
        self.convolutions = [nn.Conv2d(a, b, 3, 1, 1) for a, b in pairs]
        self.norms = {f"norm {n}": nn.BatchNorm2d(b) for n, (_, b) in enumerate(pairs)}
        self.linear = nn.Linear(channels[-1] * (size >> len(channels)) ** 2, classes)
        blocks = zip(self.convolutions, self.norms.values(), strict=True)
        layers = [f for c, n in blocks for f in (c, n, Tensor.relu, Tensor.max_pool2d)]
        self.forward = lambda x: x.sequential([*layers, partial(Tensor.flatten, start_dim=1)])

    def __call__(self, x):
        return self.linear(self.forward(x))


def scores(model, x, size):
    starts = range(0, len(x), size)
    return (lambda first, *rest: first.cat(*rest))(
        *(model(x[n : min(n + size, len(x))]).contiguous().realize() for n in starts)
    )


def mistakes(scores, labels, count):
    rows, truth = scores.log_softmax(1).tolist(), labels.tolist()
    answers = [row.index(max(row)) for row in rows]
    confusion = np.zeros((len(rows[0]),) * 2, np.int64)
    for label, answer in zip(truth, answers, strict=True):
        confusion[label, answer] += 1
    wrong = {
        row[c]: n for n, (row, c) in enumerate(zip(rows, truth, strict=True)) if answers[n] != c
    }
    return {"accuracy": (t := confusion).trace() / t.sum(), "confusion": Tensor(confusion),
            "worst": [wrong[loss] for loss in sorted(wrong)[:count]]}  # fmt: skip


def reloaded(model, fresh, path):
    safe_save({name: tensor.contiguous() for name, tensor in get_state_dict(model).items()}, path)
    load_state_dict(fresh, safe_load(path), strict=True)
    return fresh


def make_step(model, rate, b1=0.9, b2=0.999, eps=1e-8):
    kept = ("running_mean", "running_var", "num_batches_tracked")
    own = [p for name, p in get_state_dict(model).items() if not name.endswith(kept)]
    zeros = lambda p: Tensor.zeros(*p.shape).contiguous().realize()  # noqa: E731
    first, second = [*map(zeros, own)], [*map(zeros, own)]
    powers = Tensor([1.0, 1.0]).realize()

    def step(x, y):
        with Tensor.train():
            loss = model(x).cross_entropy(y)
            for p in own:
                p.grad, p.requires_grad = None, True
            loss.backward()
            slopes = [p.grad for p in own]
            powers.assign(powers * Tensor([b1, b2]))
            for p, g, m, v in zip(own, slopes, first, second, strict=True):
                if g is None:
                    continue
                m.assign(b1 * m + (1 - b1) * g)
                v.assign(b2 * v + (1 - b2) * g * g)
                p.assign(
                    p.detach() - rate * (m / (1 - powers[0])) / ((v / (1 - powers[1])).sqrt() + eps)
                )
            loss = loss.detach()
            Tensor.realize(loss, powers, *own, *first, *second)
        return loss

    return step
