"""Plots of training that lessons draw, so that a learner's cell need not hold the plumbing.

    boundary(answer, points, classes)     where a model says 1, and the points that it learns from
    descent(height, paths)                paths across the contours of a height
    over_time(step, now, before)          what a function makes of a row of numbers, step after step
    pictures(images, captions)            small images in a row

Each draws into matplotlib's current figure, or makes one. A cell prints the fact that its plot is
about, and ends in `plt.show()`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from tinyframe import Tensor

COLOURS = ("#2f86d6", "#d9480f")  # of class 0 and class 1
GRID = 70  # places along each side of a boundary's picture
CONTOURS = 6


def boundary(
    answer: Callable[[Tensor], Tensor],
    points: Tensor,
    classes: Tensor,
    panel: tuple[int, int] = (1, 1),
    title: str = "",
) -> None:
    """The plane in two colours, by whether a model's answer is above 0.5, and two kinds of points.

    answer: from places of shape (n, 2) to n numbers. panel: (2, 4) is the second of four pictures
    in a row.
    """
    number, count = panel
    if number == 1:
        plt.figure(figsize=(3.6, 3.2) if count == 1 else (2.1 * count, 2.3))
    axes = plt.subplot(1, count, number)
    x, y, kinds = *points.numpy().T, classes.numpy().ravel()
    margin = 0.25 * max(np.ptp(x), np.ptp(y))
    across, up = (np.linspace(v.min() - margin, v.max() + margin, GRID) for v in (x, y))
    places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    heights = answer(Tensor(places.astype(np.float32))).numpy().reshape(GRID, GRID)
    levels = [min(heights.min(), 0) - 1, 0.5, max(heights.max(), 1) + 1]
    axes.contourf(across, up, heights, levels=levels, colors=COLOURS, alpha=0.35)
    size = 9 if len(x) < 10 else 1.5
    for kind, colour in enumerate(COLOURS):
        axes.plot(x[kinds == kind], y[kinds == kind], "o", ms=size, color=colour, label=str(kind))
    axes.set(title=title, xticks=[], yticks=[])


def descent(height: Callable[[Any, Any], Any], paths: Mapping[str, Any]) -> None:
    """Paths across the contours of height(x, y): for each name, places of shape (steps, 2)."""
    every = np.concatenate([np.asarray(places) for places in paths.values()])
    low, high = every.min(axis=0), every.max(axis=0)
    margin = 0.1 * (high - low)
    x, y = np.meshgrid(
        *(np.linspace(a, b, GRID) for a, b in zip(low - margin, high + margin, strict=True))
    )
    z = height(x, y)
    levels = z.min() + np.ptp(z) * np.linspace(0.1, 1, CONTOURS) ** 2
    plt.figure(figsize=(8, 4))
    plt.contour(x, y, z, levels=levels, colors="#888888", linewidths=0.7)
    for name, places in paths.items():
        plt.plot(*np.asarray(places).T, marker="o", ms=4, lw=1.5, label=name)
    plt.legend()


def pictures(images: Any, captions: Sequence[str], title: str = "") -> None:
    """Images of shape (height, width) in a row, each with a caption above it."""
    figure, row = plt.subplots(1, len(captions), figsize=(9, 2.3 if title else 2), squeeze=False)
    for axes, image, caption in zip(row[0], images, captions, strict=True):
        axes.imshow(image, cmap="gray")
        axes.set(title=caption, xticks=[], yticks=[])
    figure.suptitle(title, size=20)


def over_time(step: Callable[..., Any], *state: Tensor, steps: int = 300) -> None:
    """Rows of numbers on their way from left to right, a column for each step.

    step(*state) changes the Tensors and returns them; the first one is drawn. If it returns
    nothing, as long as nobody has written it, that is said, and nothing is drawn.
    """
    rows = [state[0].numpy().copy()]
    for _ in range(steps):
        if (made := step(*state)) is None:
            print(f"`{step.__name__}` returns nothing yet. Run this cell again when it does.")
            return
        first = made if isinstance(made, Tensor) else next(iter(made))
        rows.append(first.numpy().copy())
    most = float(np.abs(rows).max())
    plt.figure(figsize=(6.5, 2.6))
    plt.imshow(np.transpose(rows), aspect="auto", cmap="RdBu_r", vmin=-most, vmax=most)
    plt.gca().set(xlabel="step", ylabel="place")
    print(f"{steps} steps of `{step.__name__}`, {len(rows[0])} places")
