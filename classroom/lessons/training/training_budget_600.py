"""Six hundred numbers

Hint: A filter's weights are used at every place of the image. How many numbers does a `Conv2d(1,
8, 3)` have, and how many values come out of it for an image of 8 × 8?
Hint: Reshape to (n, 1, 8, 8) first. After a few filters, a BatchNorm, relu and `max_pool2d`, how
many values are left for the `Linear`? It costs the most. Which size of filter leaves fewer?
Because: Eight filters of 5 × 5 cost 208 numbers, and each is used at 16 places of an image.
Pooling leaves 32 values, and a `Linear` of 330 numbers reads the digit from them. BatchNorm costs
16, and makes the rest learn better.
"""

import math
from typing import Any

import numpy as np

from classroom.ask import Wrong, call, forbidden, wants, written_without
from tinyframe import Tensor, TinyJit, nn
from tinyframe.nn.datasets import digits
from tinyframe.uop import Ops, UOp

SECONDS = 90.0


LARGEST, SHARE = 600, 0.97


READS = "Your model reads numbers out of a Tensor. It should only write down a graph."
CARRIES = "Your model carries numbers that aren't trained. They count, too."


def check(answer) -> str:
    """answer(side, classes): a model of at most 600 numbers, trained to 97% of the digits."""
    written_without(answer, {"digits", "load_digits"}, "and the model has to learn from scratch")
    Tensor.manual_seed(0)
    model = call(answer, 8, 10)
    parameters = nn.state.get_parameters(model)
    if not callable(model) or isinstance(model, type) or not parameters:
        raise Wrong("The answer has to be a model: something with parameters, that can be called.")
    most = f"at most {LARGEST} numbers"
    if (found := numbers_in(model)) > LARGEST:
        raise Wrong("Your model is over the budget.", "", most, f"{found} numbers")
    stored = sum(tensor.numel() for tensor in parameters)
    if stored > found + LARGEST:  # a BatchNorm may keep its means
        raise Wrong(CARRIES, "", most, f"{stored} numbers")
    x = Tensor(np.zeros((4, 64), np.float32)).realize()
    # what a model does that takes numbers out of a Tensor, no graph shows
    with forbidden(READS, (Tensor, "numpy"), (Tensor, "tolist"), (Tensor, "item")):
        logits = model(x)
    wants(logits, Tensor, "a model that returns a Tensor", "4 images, of shape (4, 64)")
    if logits.shape != (4, 10):
        raise Wrong("The model's output has the wrong shape.", "4 images", (4, 10), logits.shape)
    known = {node for tensor in (x, *parameters) for node in tensor.uop.toposort()}
    foreign = [u for u in logits.uop.toposort() if u.op is Ops.BUFFER and u not in known]
    if (hidden := sum(_numbers(u) for u in foreign)) > LARGEST:
        raise Wrong(CARRIES, "", most, f"{hidden + found} numbers")
    share = _share_right(model)
    for seed in (1, 2):  # a start is luck, and so is the last digit of somebody's compiler
        if share < SHARE:
            Tensor.manual_seed(seed)
            share = max(share, _share_right(call(answer, 8, 10)))
    if share < SHARE:
        raise Wrong("Your model is within the budget and learns, but it gets too many wrong.",
                    "355 digits that it has not seen", f"{SHARE:.0%} right",
                    f"{share:.1%} right")  # fmt: skip
    return f"Over {SHARE:.0%} of the digits, within the budget. Nicely designed."


def _numbers(buffer: UOp) -> int:
    return math.prod(buffer.shape)


def numbers_in(model: Any) -> int:
    """How many numbers of a model are trained."""
    tensors = nn.state.get_parameters(model)
    return sum(t.numel() for t in tensors if t.requires_grad is not False)


def _share_right(model: Any) -> float:
    """The share of the test that a model gets right, after 30 epochs of the digits."""
    images, labels, test_images, test_labels = digits()
    pixels, test = ((t.reshape(-1, 64).float() / 16).numpy() for t in (images, test_images))
    classes = labels.numpy()
    optimizer = nn.optim.Adam(nn.state.get_parameters(model), lr=0.01)

    @TinyJit
    def step(x: Tensor, y: Tensor) -> None:
        optimizer.zero_grad()
        model(x).cross_entropy(y).backward()
        optimizer.step()

    order = np.random.default_rng(0)
    with Tensor.train():
        for _ in range(30):
            for chosen in order.permutation(len(pixels)).reshape(-1, 103):
                step(Tensor(pixels[chosen]), Tensor(classes[chosen]))
    right = model(Tensor(test)).argmax(axis=1).numpy() == test_labels.numpy()
    return float(right.mean())

# %% shared
from tinyframe import Tensor, nn
import numpy as np
def small_conv(channels):
    return nn.Sequential(
        lambda x: x.reshape(-1, 1, 8, 8),
        nn.Conv2d(1, channels, 3),
        nn.ReLU(),
        lambda x: x.max_pool2d(2).flatten(1),
        nn.Linear(9 * channels, 10),
    )

STORED = np.ones((1400, 64), np.float32)

# %% wrong, each line
lambda side, classes: small_conv(8)  # says budget
lambda side, classes: nn.Linear(64, 8)  # says wrong shape
lambda side, classes: nn.Linear  # says has to be a model
lambda side, classes: small_conv(2)  # says too many wrong

# %% wrong: says numbers that aren't trained
class Nearest:
    """Compares with images that it has stored; what it trains is small."""

    def __init__(self):
        self.images = Tensor.ones(1400, 64)
        self.images.requires_grad = False
        self.linear = nn.Linear(10, 10)

    def __call__(self, x):
        return self.linear((x @ self.images.T)[:, :10])
lambda side, classes: Nearest()

# %% wrong: says numbers that aren't trained
def compares_with_a_global(side, classes):
    linear = nn.Linear(10, 10)
    return nn.Sequential(lambda x: (x @ Tensor(STORED).T)[:, :10], linear)
compares_with_a_global

# %% wrong: says reads numbers out of a Tensor
def looks_up_by_hand(side, classes):
    linear = nn.Linear(64, 10)
    linear.weight = Tensor.zeros(10, 2)  # few enough

    class Reads(nn.Sequential):
        def __call__(self, x):
            return Tensor(x.numpy() @ STORED[:10].T)

    return Reads(nn.Linear(2, 2))
looks_up_by_hand

# %% wrong: says uses `digits`
from tinyframe.nn import datasets
lambda side, classes: Tensor(datasets.digits()[0])
