"""Windows over trailing axes: what convolution and pooling look through, and how it is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from tinyframe.errors import ShapeError
from tinyframe.tensor.base import TensorBase


def one_per_axis(value: int | Sequence[int], count: int, what: str) -> tuple[int, ...]:
    """An int for every axis, or one int for each."""
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count:
        raise ShapeError(f"{what} is one int or {count} of them, not {value}")
    return values


def around(padding: int | Sequence[int], count: int) -> list[tuple[int, int]]:
    """(before, after) for each axis, first axis first, of the three ways to write padding: one
    int, one for each axis, or two for each, which begin with the last axis, as PyTorch's do."""
    if not isinstance(padding, int) and len(padding) == 2 * count:
        flat = tuple(padding)
        return list(zip(flat[::2], flat[1::2], strict=True))[::-1]
    return [(width, width) for width in one_per_axis(padding, count, "padding")]


class Windows(TensorBase):
    """Views through windows."""

    def _windows(
        self,
        size: Sequence[int],
        stride: int | Sequence[int] = 1,
        dilation: int | Sequence[int] = 1,
    ) -> Self:
        """The windows over the last axes: shape (…, *positions, *size)."""
        count = len(size)
        strides = one_per_axis(stride, count, "stride")
        dilations = one_per_axis(dilation, count, "dilation")
        first, windows = self.ndim - count, self
        for number in range(count):
            axis = first + number
            windows = windows.window(axis, size[number], strides[number], dilations[number])
        return windows
