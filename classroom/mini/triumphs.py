"""What part 6c does with package `mini`, whoever wrote its stages, and the pictures of it.

    throws(next_throw)         a ball, thrown again and again until it goes in
    circles(circle)            a curve that is drawn by nothing but circles
    reading(network)           a training on digits, and the filters that came out of it
    examined(forward, row, numerical)    an op, its slope by its row, and its slope as measured

Each draws with the learner's function if it passes its check, and otherwise with the one
that is here. A cell ends in `plt.show()`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from enum import Enum
from typing import Any
from weakref import WeakKeyDictionary

import matplotlib.pyplot as plt
import numpy as np

from classroom.mini import digits, loader, stages
from classroom.yours import yours_or

BLUE, ORANGE = "#2f86d6", "#d9480f"
HOOP = (4.0, 3.05)  # metres
EPOCHS = 15
ENOUGH = 0.97  # of the test digits


def mini() -> Any:
    """The module mini.part6 that is in use; chosen now, if none is."""
    if "mini.part6" not in sys.modules:
        loader.use(stages.find("6"))
    return importlib.import_module("mini.part6")


# ---- a throw -------------------------------------------------------------------------------------


def flight(vx: Any, vy: Any, steps: int = 100) -> list[tuple[Any, Any]]:
    """Where a ball is after 0, 1, 2, … hundredths of a second; vx and vy are mini's Tensors."""
    x, y = vx * 0, vy * 0 + 2.0
    places = [(x, y)]
    for _ in range(steps):
        drag = 0.1 * (vx * vx + vy * vy).sqrt()
        vx, vy = vx - 0.01 * drag * vx, vy - 0.01 * (9.81 + drag * vy)
        x, y = x + 0.01 * vx, y + 0.01 * vy
        places.append((x, y))
    return places


def landing(vx: Any, vy: Any) -> tuple[Any, Any]:
    return flight(vx, vy)[-1]


def next_throw(place: Any, vx: Any, vy: Any, hoop: tuple[float, float]) -> tuple[float, float]:
    """Newton's method: where the throw would go in if the flight were a straight function of it."""
    x, y = place(vx, vy)
    slopes = np.array(
        [[slope.numpy().item() for slope in end.sum().gradient(vx, vy)] for end in (x, y)]
    )
    miss = np.array([x.numpy().item() - hoop[0], y.numpy().item() - hoop[1]])
    better = np.array([vx.numpy().item(), vy.numpy().item()]) - np.linalg.solve(slopes, miss)
    return float(better[0]), float(better[1])


def plain(value: Any) -> float:
    """One number, out of a float, an array or a Tensor. TypeError of anything else."""
    values = np.asarray(value.numpy() if hasattr(value, "numpy") else value, dtype=float)
    if values.size != 1:
        raise TypeError("not one number")
    return float(values.reshape(()))


def throws(yours: Any, count: int = 4) -> None:
    better, Tensor = yours_or("triumph-newton-throw", yours, next_throw), mini().Tensor
    vx = vy = 3.0
    plt.figure(figsize=(6.4, 3.6))
    for number in range(1, count + 1):
        places = flight(Tensor([vx]), Tensor([vy]))
        path = np.array([[plain(x), plain(y)] for x, y in places])
        centimetres = 100 * np.hypot(*(path[-1] - HOOP))
        print(f"throw {number}, at {vx:.2f}, {vy:.2f}: misses by {centimetres:5.1f} cm")
        plt.plot(*path.T, color=BLUE, alpha=number / count, label=f"throw {number}")
        vx, vy = map(plain, better(landing, Tensor([vx]), Tensor([vy]), HOOP))
    plt.plot(*HOOP, "o", mfc="none", ms=14, mew=2, color=ORANGE)
    plt.gca().set(xlabel="metres", ylabel="metres", aspect="equal")
    plt.legend()


# ---- circles -------------------------------------------------------------------------------------


def owl(x: Any) -> Any:
    return (-x * x).exp() * 2


def circle(f: Callable[[Any], Any], x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The circles that touch the curve y = f(x) and bend as it does: across, up, radius."""
    (slope,) = f(x).sum().gradient(x)
    (bend,) = slope.sum().gradient(x)
    x, y, slope, bend = (tensor.numpy() for tensor in (x, f(x), slope, bend))
    steep = 1 + slope * slope
    return x - slope * steep / bend, y + steep / bend, steep**1.5 / abs(bend)


def circles(yours: Any) -> None:
    places = np.linspace(-2.5, 2.5, 160, dtype=np.float32)
    drawn = yours_or("triumph-circles", yours, circle)(owl, mini().Tensor(places))
    across, up, radius = (np.asarray(v.numpy() if hasattr(v, "numpy") else v) for v in drawn)
    _, axes = plt.subplots(figsize=(6, 5))
    for a, b, r in zip(across, up, radius, strict=True):
        if r < 40:  # near a point where the curve is straight, a circle has no end
            axes.add_patch(plt.Circle((a, b), r, fill=False, lw=0.5, color=BLUE))
    axes.set(xlim=(-4, 4), ylim=(-2.2, 4.5), aspect="equal", xticks=[], yticks=[])


# ---- digits --------------------------------------------------------------------------------------

_trained: WeakKeyDictionary[Any, digits.Training] = WeakKeyDictionary()


def network(dice: np.random.Generator) -> tuple[list[Any], Callable[[Any], Any]]:
    """Twelve filters of 3 x 3, the largest of each 2 x 2, and a matrix for the ten digits."""
    new = mini().Tensor
    kernel, matrix = dice.standard_normal((12, 1, 3, 3)) / 2, dice.standard_normal((108, 10)) / 10
    parameters = [new(kernel), new(np.zeros((12, 1, 1))), new(matrix), new(np.zeros(10))]

    def model(images: Any) -> Any:
        k, k_bias, m, m_bias = parameters
        x = (images.conv2d(k) + k_bias).relu().reshape(images.shape[0], 12, 3, 2, 3, 2)
        return x.max(3, 5).reshape(images.shape[0], 108) @ m + m_bias

    return parameters, model


def trained(network: Any) -> digits.Training:
    """The training of a network, which is not done a second time."""
    if network not in _trained:
        mini()
        _trained[network] = digits.train(EPOCHS, show=False, network=network)
    return _trained[network]


def reading(yours: Any) -> None:
    training = trained(yours_or("triumph-cnn", yours, network))
    print(f"over {ENOUGH:.0%} right: {training.accuracy > ENOUGH}")
    filters = next(values for values in training.parameters if values.ndim == 4)[:12, 0]
    parts: Any = plt.figure(figsize=(9, 3.2)).subfigures(1, 2, width_ratios=(5, 3))
    left, right = parts
    axes = left.subplots()
    steps = len(training.losses) // EPOCHS
    means = np.reshape(training.losses, (EPOCHS, steps)).mean(axis=1)
    axes.semilogy(training.losses, lw=0.4, color=BLUE, alpha=0.6, label="each step")
    axes.semilogy(np.arange(1, EPOCHS + 1) * steps, means, "o-", color=ORANGE, label="each epoch")
    axes.set(title=f"{training.accuracy:.1%} right", xlabel="steps", ylabel="loss")
    axes.title.set_size(20)
    axes.legend()
    tiles = right.subplots(3, 4, squeeze=False).ravel()
    for tile in tiles:
        tile.axis("off")
    reach = float(np.abs(filters).max())
    for tile, values in zip(tiles, filters, strict=False):
        tile.imshow(values, cmap="RdBu_r", vmin=-reach, vmax=reach)
    right.suptitle("what it looks for")


# ---- an op of one's own --------------------------------------------------------------------------


class Own(Enum):
    """The op that a check puts into the tables."""

    OP = "OP"


def taught(forward: Any, row: Any) -> Callable[[Any], Any]:
    """An op put into mini's tables, as a function of a Tensor; the last one is overwritten."""
    part4, part6 = importlib.import_module("mini.part4"), mini()
    part4.COMPUTE[Own.OP] = lambda node, values: forward(values)
    part6.GRADIENT[Own.OP] = row
    return lambda tensor: part6.Tensor(tensor.uop.alu(Own.OP))


def sine_row(grad: Any, node: Any, x: Any) -> tuple[Any]:
    return (grad * (x + np.pi / 2).alu(node.op),)


def central(f: Callable[[Any], float], x: np.ndarray, eps: float = 1e-2) -> np.ndarray:
    """The gradient of f at x, measured."""
    nudges = np.eye(len(x)) * eps
    return np.array([(f(x + nudge) - f(x - nudge)) / (2 * eps) for nudge in nudges])


def examined(*yours: Any) -> None:
    """yours: what the op does to an array, its row, and an examiner as in exercise 6.5."""
    forward, row, examiner = yours_or("triumph-own-op", yours, (np.sin, sine_row, central))
    with np.errstate(all="ignore"):
        x = np.linspace(-3, 3, 121)
        x = x[np.isfinite(forward(x))].astype(np.float32)
        op, t = taught(forward, row), mini().Tensor(x)
        (slope,) = op(t).sum().gradient(t)
        values, slopes, some = op(t).numpy(), slope.numpy(), slice(5, None, 10)
        places = x[some].astype(float)
        measured = np.asarray(examiner(lambda v: float(np.sum(forward(v))), places, 1e-4))
    plt.figure(figsize=(6.4, 3))
    plt.plot(x, values, color="#888888", label="the op")
    plt.plot(x, slopes, color=BLUE, label="its slope, by the row")
    plt.plot(places, measured, "o", color=ORANGE, label="its slope, measured")
    plt.legend()
    print(f"measured in {len(places)} places")
