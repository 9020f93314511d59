"""A network that sees

Hint: Filters first: which shape does `conv2d` want, and which shape comes out of 8 × 8 with a
filter of 3 × 3?
Hint: To keep the largest of each 2 × 2: `x.reshape(n, filters, 3, 2, 3, 2).max(3, 5)`. Then
reshape to (n, 9 * filters), and multiply by a matrix of (9 * filters, 10). Twelve filters are
enough, if the random numbers start small: divide those of the matrix by 10.
Because: Twelve filters look at every place of the image, the largest of each 2 × 2 says whether
something was there, and a matrix turns that into ten scores.
"""

import importlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

from classroom.ask import Open, Wrong, call, describe
from classroom.mini import triumphs

SECONDS = 300.0


def check(answer) -> str:
    """answer(dice): parameters and a model, trained to 97% of the digits."""
    module = triumphs.mini()
    Tensor, Ops = module.Tensor, module.Ops
    if not callable(answer):
        call(answer)  # says so
    parameters, model = _network(call(answer, np.random.default_rng(0)), Tensor)
    images = Tensor(np.random.default_rng(1).random((3, 1, 8, 8)))
    with _convolutions(module) as convolutions:
        scores = model(images)
    if not isinstance(scores, Tensor):
        raise Wrong("The model has to return a Tensor of scores.", "3 images", got=describe(scores))
    if scores.shape != (3, 10):
        raise Wrong("The scores have the wrong shape.", "3 images", (3, 10), scores.shape)
    below = set(scores.uop.toposort())
    unused = [p.shape for p in parameters if p.uop not in below]
    if unused:
        raise Wrong(f"The parameter of shape {unused[0]} takes no part in the scores.", "3 images")
    foreign = [u for u in below if u.op is Ops.BUFFER and u not in {p.uop for p in parameters}]
    if [u for u in foreign if u is not images.uop]:
        raise Wrong("The scores depend on numbers that aren't in your list of parameters.")
    if not any(len(p.shape) == 4 for p in parameters):
        raise Wrong("No parameter has the shape of filters, (filters, channels, h, w).")
    if not convolutions:
        raise Wrong("Your model never calls `conv2d`, so nothing in it looks at every place.")
    training = triumphs.trained(answer)
    if not training.accuracy >= triumphs.ENOUGH:
        raise Wrong(f"It trains, but not far enough in {triumphs.EPOCHS} epochs.",
                    "355 digits that it has not seen", f"{triumphs.ENOUGH:.0%} right",
                    f"{training.accuracy:.1%} right")  # fmt: skip
    return f"Your network read over {triumphs.ENOUGH:.0%} of the digits it had never seen."


@contextmanager
def _convolutions(module: Any) -> Iterator[list[str]]:
    """A list that gets an item for each call of a conv2d."""
    calls: list[str] = []

    def noting(conv2d: Any) -> Any:
        def noted(*inputs: Any) -> Any:
            calls.append("conv2d")
            return conv2d(*inputs)

        return noted

    with ExitStack() as stack:
        part4, part5 = (importlib.import_module(f"mini.part{n}") for n in (4, 5))
        for owner in (module.Tensor, part4.UOp, part5):
            noted = noting(owner.conv2d)
            stack.enter_context(mock.patch.object(owner, "conv2d", noted))
        yield calls


def _network(value: Any, tensor: type) -> tuple[list[Any], Any]:
    if isinstance(value, (tuple, list)) and len(value) == 2:
        parameters, model = value
        if isinstance(parameters, (tuple, list)) and any(p is ... or p is None for p in parameters):
            raise Open("There's a parameter that isn't written yet.")
        if (
            isinstance(parameters, (tuple, list))
            and parameters
            and all(isinstance(p, tensor) for p in parameters)
            and callable(model)
        ):
            return list(parameters), model
    raise Wrong("The answer has to be a list of mini's Tensors, the parameters, and a function, "
                "the model.", got=type(value).__name__)  # fmt: skip

# %% shared
from classroom.mini import triumphs

# %% wrong, each line
lambda dice: triumphs.network(dice)[1]  # says a list of mini's Tensors

# %% wrong: says the shape of filters
def blind(dice):
    mini = triumphs.mini()
    w = mini.Tensor(dice.standard_normal((64, 10)) / 10)
    return [w], lambda images: images.reshape(images.shape[0], 64) @ w
blind

# %% wrong: says not far enough
def one_filter(dice):
    mini = triumphs.mini()
    f = mini.Tensor(dice.standard_normal((1, 1, 7, 7)) / 7)
    w = mini.Tensor(dice.standard_normal((4, 10)) / 10)
    return [f, w], lambda images: images.conv2d(f).reshape(images.shape[0], 4) @ w
one_filter

# %% wrong: says aren't in your list
def unlisted(dice):
    parameters, model = triumphs.network(dice)
    return parameters[:3], model
unlisted

# %% wrong: says takes no part
def idle_parameter(dice):
    parameters, model = triumphs.network(dice)
    return [*parameters, triumphs.mini().Tensor([1.0])], model
idle_parameter

# %% wrong: says wrong shape
def flat_scores(dice):
    parameters, model = triumphs.network(dice)
    return parameters, lambda images: model(images).sum(1)
flat_scores

# %% wrong: a matrix that only looks like filters: no conv2d
def network(dice):
    w, b = Tensor(dice.standard_normal((64, 24, 1, 1)) / 8), Tensor(np.zeros(24))
    v, c = Tensor(dice.standard_normal((24, 10)) / 5), Tensor(np.zeros(10))
    def model(images):
        x = images.reshape(images.shape[0], 64)
        return (x @ w.reshape(64, 24) + b).relu() @ v + c
    return [w, b, v, c], model

# %% wrong: says a Tensor of scores
def of_numpy(dice):
    parameters, model = triumphs.network(dice)
    return parameters, lambda images: model(images).numpy()
of_numpy

# %% right: eight filters, a tuple, and lambdas
def network(dice):
    f, g = Tensor(dice.standard_normal((8, 1, 3, 3)) / 3), Tensor(np.zeros((8, 1, 1)))
    w, b = Tensor(dice.standard_normal((72, 10)) / 9), Tensor(np.zeros(10))
    pool = lambda x: x.reshape(x.shape[0], 8, 3, 2, 3, 2).max(3, 5)
    return (f, g, w, b), lambda i: pool((i.conv2d(f) + g).relu()).reshape(i.shape[0], 72) @ w + b
