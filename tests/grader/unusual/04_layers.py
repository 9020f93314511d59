"""Layers in classes that are derived from others; a step that is an object."""

from dataclasses import dataclass, field

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


def mistakes(scores, labels, count):
    answers, classes = scores.argmax(1), scores.shape[1]
    is_right = answers == labels
    confusion = labels.one_hot(classes).transpose().int() @ answers.one_hot(classes).int()
    losses = scores.cross_entropy(labels, reduction="none")
    ranked = is_right.where(-1.0, losses).argsort(descending=True).tolist()
    wrong = int((~is_right).sum().item())
    return dict(accuracy=is_right.float().mean().item(), confusion=confusion,  # noqa: C408
                worst=ranked[: min(count, wrong)])  # fmt: skip
