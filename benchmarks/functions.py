"""Work on each element, row or column of an array: sums, softmax, layernorm, and so on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.work import Work, normal, torch


def total(name: str, axis: int | None, n: int, quick: bool = False) -> Work:
    def add_up(x: Any) -> Any:
        return x.sum() if axis is None else x.sum(axis)

    return Work(name, normal((n, n)), add_up, add_up, ("torch", 1.0), n * n, 4.0 * n * n,
                lambda x, out: np.sum(x, axis, out=out), add_up, quick=quick)  # fmt: skip


def elementwise(n: int, quick: bool = False) -> Work:
    """relu(x) + x / 2, which is one kernel here and three passes in the others."""

    def ours(x: Any) -> Any:
        return x.relu() + x * 0.5

    return Work(f"elementwise {n:,}", normal((n,)), ours, ours, bytes=8.0 * n, quick=quick,
                reference=lambda x: np.maximum(x, 0) + x * 0.5)  # fmt: skip


def softmax_numpy(x: np.ndarray, axis: int = -1) -> np.ndarray:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def layernorm_numpy(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def softmax(n: int, axis: int, quick: bool = False) -> Work:
    return Work(f"softmax {n}² axis {axis}", normal((n, n)), lambda x: x.softmax(axis),
                lambda x, out: torch().softmax(x, axis, out=out), ("torch", 1.0), 5.0 * n * n,
                8.0 * n * n, None, lambda x: softmax_numpy(x, axis), True, quick)  # fmt: skip


def layernorm(n: int) -> Work:
    statistics: list[Any] = []

    def theirs(x: Any, out: Any) -> Any:
        if not statistics:
            statistics.extend(torch().empty(2, n, 1))
        torch().ops.aten.native_layer_norm.out(
            x, [n], None, None, 1e-5, out0=out, out1=statistics[0], out2=statistics[1])  # fmt: skip
        return out

    return Work(f"layernorm {n}² rows", normal((n, n)), lambda x: x.layernorm(), theirs,
                ("torch", 1.0), 7.0 * n * n, 8.0 * n * n, None, layernorm_numpy, True)  # fmt: skip


def gelu(erf: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2)))


def attention_numpy(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return softmax_numpy(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])) @ v
