"""Work in an order: running values, sorts, and places that are data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.training import library_of
from benchmarks.work import Arrays, Must, Work, normal, torch


def running(name: str, shape: tuple[int, ...], axis: int) -> Work:
    def add_up(x: Any) -> Any:
        return x.cumsum(axis)

    return Work(name, normal(shape), add_up, add_up, ("torch", 1.0), bytes=8.0 * np.prod(shape),
                reference=lambda x: np.cumsum(x, axis, dtype=np.float64))  # fmt: skip


def sort(name: str, shape: tuple[int, ...], quick: bool = False) -> Work:
    return Work(name, normal(shape), lambda x: x.sort(-1)[0], lambda x: x.sort(-1)[0],
                ("torch", 1.0), bytes=8.0 * np.prod(shape), reference=np.sort,
                quick=quick)  # fmt: skip


def topk(name: str, shape: tuple[int, ...], k: int) -> Work:
    return Work(name, normal(shape), lambda x: x.topk(k)[0], lambda x: x.topk(k)[0],
                ("torch", 0.33), bytes=4.0 * np.prod(shape),
                reference=lambda x: -np.sort(-x, -1)[..., :k])  # fmt: skip


def with_places(count: int, rows: int, *shapes: tuple[int, ...]) -> Callable[[], Arrays]:
    """Floats of these shapes, and `count` numbers of rows."""

    def make() -> Arrays:
        places = np.random.default_rng(1).integers(0, rows, count).astype(np.int32)
        return (*normal(*shapes)(), places)

    return make


def added(name: str, rows: int, columns: int, count: int, quick: bool = False) -> Work:
    """`count` rows added to those of a table of zeros."""
    shape = (count, columns) if columns else (count,)
    wide = (rows, *shape[1:])

    def ours(x: Any, i: Any) -> Any:
        at = i.reshape(-1, 1).expand(count, columns) if columns else i
        return library_of(x).Tensor.zeros(*wide).scatter_reduce(0, at, x, "sum")

    def reference(x: np.ndarray, i: np.ndarray) -> np.ndarray:
        table = np.zeros(wide, np.float32)
        np.add.at(table, i, x)
        return table

    return Work(name, with_places(count, rows, shape), ours,
                lambda x, i: torch().zeros(wide).index_add_(0, i, x), ("torch", 0.9),
                reference=reference, quick=quick)  # fmt: skip


def of_an_embedding(name: str, words: int, width: int, count: int, must: Must = None) -> Work:
    """What flows back to a table from the rows that were looked up, each times g."""

    def ours(table: Any, g: Any, i: Any) -> Any:
        return (table[i] * g).sum().gradient(table)[0]

    def theirs(table: Any, g: Any, i: Any) -> Any:
        table = table.detach().requires_grad_()
        found = torch().nn.functional.embedding(i, table)
        return torch().autograd.grad((found * g).sum(), table)[0]

    def reference(table: np.ndarray, g: np.ndarray, i: np.ndarray) -> np.ndarray:
        gradient = np.zeros_like(table)
        np.add.at(gradient, i, g)
        return gradient

    inputs = with_places(count, words, (words, width), (count, width))
    return Work(name, inputs, ours, theirs, must, bytes=4.0 * width * (words + 3 * count),
                reference=reference)  # fmt: skip
