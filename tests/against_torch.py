"""The same function of the same inputs by tinyframe and by PyTorch: results and gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from tests.values import check_all
from tinyframe import Tensor


def normal(seed: int, *shape: int) -> np.ndarray:
    """Values of which no two are equal, so that a maximum is at one place."""
    rng = np.random.default_rng((seed, *shape))
    spread = rng.permutation(int(np.prod(shape))) / 8 - np.prod(shape) / 16
    return (spread + rng.uniform(-0.05, 0.05, spread.shape)).reshape(shape).astype(np.float32) / 4


def random(*shape: int, seed: int = 0, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(dtype)


seeds = st.integers(0, 10**6)


def assert_agree(
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    inputs: Sequence[np.ndarray],
    compiled: bool,
    scale: float = 20,
    what: str = "",
    gradient: bool = True,
) -> None:
    """Both functions give the same; where they give a pair, its second part is equal.

    With `gradient` the gradients of a weighted sum of the result by every input of floats are the
    same too. Errors may be `scale` times float32's rounding, of the largest value there is.
    """
    mine, other = [], []
    for array in inputs:
        is_float = array.dtype.kind == "f" and gradient
        mine.append(Tensor(array, requires_grad=is_float or None))
        other.append(torch.tensor(array, requires_grad=is_float))
    out, expected = ours(*mine), theirs(*other)
    rows = []
    if isinstance(out, tuple):
        rows.append((out[1], expected[1].numpy(), 1, f"indices of {what}"))
        out, expected = out[0], expected[0]
    rows.append(row(out, expected.detach(), scale, what))
    if gradient:
        weights = normal(1, *expected.shape)
        expected.backward(torch.tensor(weights))
        floats = [(m, t) for m, t in zip(mine, other, strict=True) if t.requires_grad]
        grads = out.gradient(*[m for m, _ in floats], gradient=Tensor(weights))
        for number, (grad, (_, t)) in enumerate(zip(grads, floats, strict=True)):
            rows.append(row(grad, t.grad, scale, f"gradient {number} of {what}"))
    check_all(rows, compiled)


def row(t: Tensor, expected: torch.Tensor, scale: float, what: str) -> tuple:
    """A row of `check_all` whose errors may be as many times the largest value there is."""
    array = expected.numpy()
    return t, array, scale * max(1.0, float(abs(array).max(initial=0))), what


def rows_of(
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    points: Sequence[np.ndarray],
    scale: float,
    what: str,
    slopes: bool | np.ndarray = True,
) -> list[tuple]:
    """Rows of `check_all`: the values at some points, and the gradients of a weighted sum, which
    may be off four times as far. slopes: whether, or at which of the points, these are compared."""
    mine = [Tensor(a, requires_grad=True) for a in points]
    other = [torch.tensor(a, requires_grad=True) for a in points]
    out, expected = ours(*mine), theirs(*other)
    rows = [(out, expected.detach().numpy(), scale, what)]
    if slopes is False:
        return rows
    weights = np.linspace(0.5, 1.5, out.numel(), dtype=points[0].dtype).reshape(out.shape)
    expected.backward(torch.tensor(weights))
    for grad, t in zip(out.gradient(*mine, gradient=Tensor(weights)), other, strict=True):
        slope = np.zeros_like(t.numpy(force=True)) if t.grad is None else t.grad.numpy()
        if slopes is not True:
            grad = Tensor(slopes).where(grad, 0)
            slope = np.where(slopes, slope, np.zeros_like(slope))
        rows.append((grad, slope, 4 * scale, f"gradient of {what}"))
    return rows


def assert_same_call(
    name: str,
    inputs: Sequence[np.ndarray],
    *arguments: Any,
    theirs: Callable[..., Any] | None = None,
    compiled: bool = True,
    scale: float = 20,
    gradient: bool = True,
    **options: Any,
) -> None:
    """A method of Tensor, and PyTorch's function of that name (or `theirs`), of the same arguments.

    Arrays among these are Tensors that nothing is differentiated by.
    """

    def call(function: Callable[..., Any], make: Callable[..., Any]) -> Callable[..., Any]:
        given = [make(a) if isinstance(a, np.ndarray) else a for a in arguments]
        named = {n: make(a) if isinstance(a, np.ndarray) else a for n, a in options.items()}
        return lambda *xs: function(*xs, *given, **named)

    ours = call(getattr(Tensor, name), Tensor)
    other = call(theirs or getattr(torch.nn.functional, name), torch.tensor)
    what = f"{name} of {[x.shape for x in inputs]}, {arguments}, {options}"
    assert_agree(ours, other, inputs, compiled, scale, what, gradient)
