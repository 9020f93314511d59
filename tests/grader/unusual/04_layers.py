"""Layers in classes that are derived from others; a step that is an object."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from tinyframe import Tensor, nn
from tinyframe.nn.optim import AdamW
from tinyframe.nn.state import get_parameters


class Block(nn.Sequential):
    def __init__(self, before, after):
        super().__init__(nn.Conv2d(before, after, kernel_size=(3, 3), padding=(1, 1), bias=False),
                         nn.BatchNorm(after), nn.ReLU(), nn.MaxPool2d(2))  # fmt: skip


class Network(nn.Sequential):
    def __init__(self, size, channels, classes):
        blocks = [Block(*pair) for pair in zip((1, *channels), channels, strict=False)]
        for _ in channels:
            size //= 2
        super().__init__(*blocks, nn.Flatten(), nn.Linear(channels[-1] * size * size, classes))


@dataclass
class Step:
    model: object
    rate: float
    optimizer: object = field(init=False)

    def __post_init__(self):
        self.optimizer = AdamW(get_parameters(self.model), lr=self.rate, weight_decay=0.0)

    def __call__(self, x, y):
        with Tensor.train():
            loss = self.loss(x, y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.detach().realize()

    def loss(self, x, y):
        scores = self.model(x)
        return (scores.logsumexp(1) - (scores * y.one_hot(scores.shape[1])).sum(1)).mean()


make_step = Step


class Mistakes:
    def __init__(self, scores, labels):
        self.scores, self.labels = scores.tolist(), labels.tolist()
        self.classes = range(len(self.scores[0]))
        self.answers = [max(self.classes, key=row.__getitem__) for row in self.scores]
        self.wrong = [n for n, c in enumerate(self.labels) if self.answers[n] != c]

    def loss(self, n):
        apart = np.array(self.scores[n]) - self.scores[n][self.labels[n]]
        return apart.max() + np.log(np.exp(apart - apart.max()).sum())

    def table(self):
        pairs = [*zip(self.labels, self.answers, strict=True)]
        return [[pairs.count((r, c)) for c in self.classes] for r in self.classes]


def mistakes(scores, labels, count):
    found = Mistakes(scores, labels)
    report = SimpleNamespace(accuracy=1 - len(found.wrong) / len(found.labels),
                             confusion=Tensor(found.table()),
                             worst=sorted(found.wrong, key=found.loss)[::-1][:count])  # fmt: skip
    return vars(report)
