"""Rows of the gradient table, replaced for a while, and a network that learns digits with them.

    right = train()              # with the table as it is
    mine = train(ADD=my_row)     # my_row(grad) says what ADD sends back to its two sources

A row is the learner's, so anything may come out of it. The table is as it was afterwards, whatever
happened. `train` is for a notebook: it comes back with a sentence where a row is no good, `trained`
raises it. `classroom/curves.py` draws what they give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from inspect import signature
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from classroom.ask import call, describe
from classroom.exercise import Open, Wrong, wrong_if
from classroom.frames import learners_lines
from classroom.limit import OutOfTime, time_limit
from tinyframe import Tensor, TinyJit, nn
from tinyframe.dtype import dtypes
from tinyframe.errors import GradientError
from tinyframe.nn.datasets import digits
from tinyframe.nn.optim import Adam
from tinyframe.nn.state import get_parameters
from tinyframe.rewrite.matcher import PatternMatcher, Rule
from tinyframe.tensor import gradient
from tinyframe.uop.node import Ops, UOp

Row = Callable[..., Any]

BATCH, STEPS = 103, 84  # six times through 14 batches
SECONDS_OF_A_ROW, SECONDS = 5.0, 120.0  # how long one call of a row may take, and all of training
ORDINALS = ("first", "second", "third")
COUNTS = {1: "one gradient, in a tuple", 2: "two gradients", 3: "three gradients"}
NOTHING_ARRIVES = (
    "tinyframe noticed, and stopped: with your row, no gradient reaches any of the weights. The "
    "way back to them leads through a source that gets None."
)


class Network:
    """Eight filters of 3 x 3, and a layer that makes ten scores of what they found."""

    def __init__(self) -> None:
        self.conv, self.linear = nn.Conv2d(1, 8, 3), nn.Linear(72, 10)

    def weights(self) -> list[Tensor]:
        return [*get_parameters(self.conv), *get_parameters(self.linear)]

    def rest(self, found: Tensor) -> Tensor:
        """The scores, given what the filters found."""
        return self.linear(found.relu().max_pool2d().flatten(1))

    def __call__(self, images: Tensor) -> Tensor:
        return self.rest(self.conv(images))


class Digits(NamedTuple):
    """Batches of (images, labels) to train on; images and labels to test with."""

    batches: Sequence[tuple[Tensor, Tensor]]
    images: Tensor
    labels: np.ndarray


@cache
def data() -> Digits:
    images, labels, test_images, test_labels = digits()
    images, test_images = (images / 16).realize(), (test_images / 16).realize()
    cuts = [slice(start, start + BATCH) for start in range(0, len(images), BATCH)]
    batches = [tuple(x[cut].contiguous().realize() for x in (images, labels)) for cut in cuts]
    return Digits(batches, test_images, test_labels.numpy())  # type: ignore[arg-type]


@dataclass(frozen=True)
class Training:
    """What became of a network.

    losses: after each step. read: which digit it reads in each test image. rows: those that were
    replaced. trouble: why nothing was trained, in a sentence; "" where something was.
    """

    network: Network
    losses: Sequence[float] = ()
    read: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    rows: Mapping[str, Row] = field(default_factory=dict)
    trouble: str = ""

    @property
    def accuracy(self) -> float:
        """The share of test digits that are read right, from 0 to 1."""
        return float(np.mean(self.read == data().labels)) if len(self.read) else 0.0

    @property
    def learned(self) -> bool:
        """Whether it reads more than half of them: one that guesses gets a tenth."""
        return self.accuracy > 0.5

    def __repr__(self) -> str:
        said = "most" if self.learned else "fewer than half"
        return self.trouble or f"{len(self.losses)} steps; {said} of the test digits are read right"


def row_of(op: str) -> Rule:
    """The row of the gradient table for an op, such as "MUL", where floats go in."""
    known = Ops.__members__.get(op)
    found = [] if known is None else gradient.gradient_rules.candidates(known, dtypes.float)
    if not found:
        raise ValueError(f"the gradient table has no row for {op}; it has one for ADD and for MUL")
    return found[0]


@contextmanager
def replaced(rows: Mapping[str, Row]) -> Iterator[set[str]]:
    """Inside, these rows stand in for those of the table. A row gets what the table's own gets.

    The set has the ops of the rows that gave two answers to one question, such as those that leave
    it to chance.
    """
    complete, fickle = gradient.gradient_rules, set[str]()
    mine = [(row_of(op).pattern, _guarded(op, row, fickle)) for op, row in rows.items()]
    with mock.patch.object(gradient, "gradient_rules", PatternMatcher(mine) + complete):
        yield fickle


def _guarded(op: str, row: Row, fickle: set[str]) -> Row:
    """A row of the table that calls the learner's, for so long, and looks at what it gives."""
    right = row_of(op)
    names = list(signature(right.function).parameters)

    def guarded(**nodes: UOp) -> tuple[UOp | None, ...]:
        given = [nodes[name] for name in names]
        try:
            with time_limit(SECONDS_OF_A_ROW):
                found, again = call(row, *given), call(row, *given)
        except OutOfTime:
            raise Wrong(f"Your row was stopped after {SECONDS_OF_A_ROW:g} seconds. Is there a loop "
                        "that never ends?") from None  # fmt: skip
        wanted = right.function(*given)
        gradients = fitting(op, found, wanted)  # type: ignore[arg-type]
        if gradients != fitting(op, again, wanted):  # type: ignore[arg-type]
            fickle.add(op)
        return gradients

    return guarded


def fitting(op: str, found: Any, right: Sequence[UOp | None]) -> tuple[UOp | None, ...]:
    """What a row gave, if it is a gradient or None for each source, of the shape of the right one.
    Else Wrong, which says what it is."""
    count = len(right)
    asked = f"What the row of {op} returns has to be {COUNTS[count]}"
    asked += ", one for each source: `return …, …`." if count == 2 else "."
    if isinstance(found, (str, UOp, Tensor)) or not np.iterable(found):
        raise Wrong(asked, got=describe(found))
    wrong_if(len(gradients := tuple(found)) != count, asked, got=f"{len(gradients)} of them")
    return tuple(
        None if one is None else _one(ORDINALS[place], one, expected)
        for place, (one, expected) in enumerate(zip(gradients, right, strict=True))
    )


def _one(which: str, found: Any, expected: UOp | None) -> UOp:
    found = found.uop if isinstance(found, Tensor) else found
    wrong_if(not isinstance(found, UOp), f"The {which} gradient has to be made of `grad`, or None. "
             "(For a constant, there is `grad * 0 + 1`.)", got=describe(found))  # fmt: skip
    if expected is not None and found.shape != expected.shape:
        raise Wrong(f"The {which} gradient has the wrong shape. Each source gets one of its own "
                    "shape.", "", expected.shape, found.shape)  # fmt: skip
    return found if expected is None else found.cast(expected.dtype)


def trained(steps: int = STEPS, rows: Mapping[str, Row] | None = None) -> Training:
    """A network after some steps, the same one each time. Raises what a row raises; Wrong, with a
    sentence, where it gives no gradients."""
    Tensor.manual_seed(1)
    network, losses, given = Network(), list[float](), dict(rows or {})
    optimizer = Adam(network.weights(), lr=0.01)
    batches = data().batches

    def step(images: Tensor, labels: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = network(images).cross_entropy(labels).backward()
        try:
            optimizer.step()
        except GradientError as error:
            raise Wrong(NOTHING_ARRIVES) from error
        return loss

    captured = TinyJit(step)  # the kernels of its second call are what all later ones run
    with replaced(given) as fickle, Tensor.train():
        for n in range(steps):
            take = step if fickle or n == 0 else captured
            losses.append(take(*batches[n % len(batches)]).item())
    return Training(network, losses, network(data().images).argmax(axis=1).numpy(), given)


def train(steps: int = STEPS, **rows: Row) -> Training:
    """A network that learned to read digits, with these rows of the gradient table replaced.

    train(ADD=my_row) calls my_row(grad), and train(MUL=my_row) my_row(grad, x, y). Where a row is
    no good it says so, and the Training has no losses. It never raises for what a row does.
    """
    for op in rows:
        row_of(op)
    try:
        with time_limit(SECONDS):
            return trained(steps, rows)
    except Open as nothing:
        trouble = str(nothing) or "Nothing to train with yet: the row returns nothing."
    except Wrong as wrong:
        trouble = "\n".join([str(wrong), *(f"{label}: {value}" for label, value in wrong.rows)])
    except OutOfTime:
        trouble = f"Training was stopped after {SECONDS:g} seconds. Is your row very large?"
    except (Exception, SystemExit) as error:
        if not rows:
            raise
        lines = [*learners_lines(error.__traceback__)]
        where = f" in your line `{lines[-1].text}`" if lines and lines[-1].text else ""
        trouble = f"Your row raised {type(error).__name__}{where}: {error}"
    print(trouble)
    return Training(Network(), rows=dict(rows), trouble=trouble)
