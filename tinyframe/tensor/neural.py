"""What networks are built of: convolution, as a movement op, a multiply and a sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from tinyframe.dtype import DTypeLike, least_upper_dtype, sum_acc_dtype, to_dtype
from tinyframe.errors import ShapeError
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.elementwise import NARROW_FLOATS


def one_per_axis(value: int | Sequence[int], count: int, what: str) -> tuple[int, ...]:
    """An int for every axis, or one int for each."""
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count:
        raise ShapeError(f"{what} is one int or {count} of them, not {value}")
    return values


class Neural(TensorBase):
    """Methods over windows."""

    def _pool(
        self,
        kernel_size: Sequence[int],
        stride: int | Sequence[int] = 1,
        dilation: int | Sequence[int] = 1,
    ) -> Self:
        """The windows over the last axes: shape (…, *positions, *kernel_size)."""
        count = len(kernel_size)
        strides = one_per_axis(stride, count, "stride")
        dilations = one_per_axis(dilation, count, "dilation")
        first, windows = self.ndim - count, self
        for number, size in enumerate(kernel_size):
            windows = windows.window(first + number, size, strides[number], dilations[number])
        return windows

    def conv2d(
        self,
        weight: Self,
        bias: Self | None = None,
        groups: int = 1,
        stride: int | Sequence[int] = 1,
        dilation: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dtype: DTypeLike | None = None,
    ) -> Self:
        """The convolution (without flipping the kernel) over any number of trailing axes.

        self: (batch, channels_in, *size). weight: (channels_out, channels_in / groups, *kernel).
        padding: one int, one for each axis, or two for each, last axis first. Returns (batch,
        channels_out, *size_out). ShapeError where channels, groups and kernel do not fit.

        It is WINDOW, a multiply with the kernel, and a sum over channels and kernel.
        """
        kernel = weight.shape[2:]
        axes = len(kernel)
        if self.ndim != weight.ndim or self.ndim < 3:
            raise ShapeError(
                f"conv2d takes an input (batch, channels, …) and a weight (out, channels, …) with "
                f"as many axes, not {self.shape} and {weight.shape}"
            )
        batch, channels = self.shape[:2]
        out = weight.shape[0]
        if channels != weight.shape[1] * groups or out % groups:
            raise ShapeError(
                f"conv2d: {channels} channels of {self.shape} in {groups} groups do not fit a "
                f"weight of {weight.shape}"
            )
        if isinstance(padding, int) or len(padding) == axes:
            each = one_per_axis(padding, axes, "padding")
            padding = [width for width in each[::-1] for _ in range(2)]
        common = least_upper_dtype(self.dtype, weight.dtype)
        result = common if dtype is None else to_dtype(dtype)
        exact = sum_acc_dtype(result) if result in NARROW_FLOATS else result
        x = self.cast(exact).pad(tuple(padding))._pool(kernel, stride, dilation)
        size = x.shape[2 : 2 + axes]
        x = x.reshape((batch, groups, 1, channels // groups, *size, *kernel))
        w = weight.cast(exact).reshape(
            (1, groups, out // groups, channels // groups, *(1,) * axes, *kernel)
        )
        summed = (x * w).sum((3, *range(4 + axes, 4 + 2 * axes))).reshape((batch, out, *size))
        if bias is not None:
            summed = summed + bias.reshape((1, -1, *(1,) * axes))
        return summed.cast(result)

    def linear(self, weight: Self, bias: Self | None = None, dtype: Any = None) -> Self:
        """self @ weight + bias; a weight of one axis multiplies element by element."""
        x, w = (self, weight) if dtype is None else (self.cast(dtype), weight.cast(dtype))
        product = x * w if w.ndim == 1 else x.dot(w)
        return product if bias is None else product + bias

    def sequential(self, layers: Sequence[Any]) -> Self:
        """Each function applied to the result of the one before."""
        result = self
        for layer in layers:
            result = layer(result)
        return result
