"""Convolutions over one, two and three axes, and their transposes, which grow what those shrink.

A convolution slides a kernel over its input. With stride s it reads every s-th window; transposed,
it instead lays zeros between the inputs, s - 1 of them, and slides over that:

    Conv1d(1, 1, 2, stride=2)             8 elements -> 4
    ConvTranspose1d(1, 1, 2, stride=2)    4 elements -> 8
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from tinyframe.errors import ModeError
from tinyframe.nn.initial import by_fan_in
from tinyframe.tensor.convolution import zeros_around
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.windows import one_per_axis

Sizes = int | Sequence[int]
PADDING_MODES = "zeros", "reflect", "replicate", "circular"


class Conv:
    """What Conv1d, Conv2d and Conv3d share; `axes` is the number of axes that they slide over.

    weight: (out_channels, in_channels / groups, *kernel_size). bias: (out_channels,), or None.
    padding: zeros around each axis; one int, one for each axis, two for each (last axis first), or
    "same" (the output has the size of the input, with stride 1 only) or "valid" (none).
    padding_mode: what is there instead of "zeros": "reflect", "replicate" or "circular", as in
    `Tensor.pad`. ValueError for anything else, and for channels that groups do not divide.
    """

    axes: ClassVar[int]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
    ):
        _check_groups(in_channels, out_channels, groups)
        self.kernel_size = one_per_axis(kernel_size, self.axes, "kernel_size")
        self.stride = one_per_axis(stride, self.axes, "stride")
        self.dilation = one_per_axis(dilation, self.axes, "dilation")
        self.padding, self.padding_mode = padding, _checked_mode(padding_mode, *PADDING_MODES)
        self._widths = zeros_around(padding, self.kernel_size, self.stride, self.dilation)
        self.groups = groups
        fan_in = in_channels // groups * math.prod(self.kernel_size)
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = by_fan_in(shape, fan_in)
        self.bias = by_fan_in((out_channels,), fan_in) if bias else None

    def __call__(self, x: Tensor) -> Tensor:
        """(batch, in_channels, *size) to (batch, out_channels, *smaller)."""
        padding = self.padding
        if self.padding_mode != "zeros":
            x, padding = x.pad(self._widths, mode=self.padding_mode), 0
        return x.conv2d(
            self.weight,
            self.bias,
            groups=self.groups,
            stride=self.stride,
            dilation=self.dilation,
            padding=padding,
        )


class Conv1d(Conv):
    """A convolution over (batch, channels, length)."""

    axes = 1


class Conv2d(Conv):
    """A convolution over (batch, channels, height, width).

        layer = Conv2d(1, 32, 5)
        layer(Tensor.rand(8, 1, 28, 28)).shape    # (8, 32, 24, 24)

    LeCun et al., "Gradient-based learning applied to document recognition" (1998).
    """

    axes = 2


class Conv3d(Conv):
    """A convolution over (batch, channels, depth, height, width)."""

    axes = 3


class ConvTranspose:
    """What ConvTranspose1d, 2d and 3d share; `axes` is the number of axes that they grow.

    weight: (in_channels, out_channels / groups, *kernel_size). bias: (out_channels,), or None.
    padding: so much is cut off on both sides. output_padding: so much more is computed at the end
    of each axis, since several sizes shrink to one. The size of the output is
    (size - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1.
    padding_mode can only be "zeros".
    """

    axes: ClassVar[int]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
    ):
        _checked_mode(padding_mode, "zeros")
        _check_groups(in_channels, out_channels, groups)
        self.kernel_size = one_per_axis(kernel_size, self.axes, "kernel_size")
        self.stride = one_per_axis(stride, self.axes, "stride")
        self.padding = one_per_axis(padding, self.axes, "padding")
        self.output_padding = one_per_axis(output_padding, self.axes, "output_padding")
        self.dilation = one_per_axis(dilation, self.axes, "dilation")
        for more, step, spread in zip(self.output_padding, self.stride, self.dilation, strict=True):
            if more >= max(step, spread):
                raise ValueError(
                    f"output_padding {self.output_padding} has to be less than stride "
                    f"{self.stride} or dilation {self.dilation}: there is nothing to compute there"
                )
        self.groups = groups
        shape = (in_channels, out_channels // groups, *self.kernel_size)
        fan_in = math.prod(shape[1:])  # as PyTorch counts it for this layout of the weight
        self.weight = by_fan_in(shape, fan_in)
        self.bias = by_fan_in((out_channels,), fan_in) if bias else None

    def __call__(self, x: Tensor) -> Tensor:
        """(batch, in_channels, *size) to (batch, out_channels, *larger)."""
        return x.conv_transpose2d(
            self.weight,
            self.bias,
            groups=self.groups,
            stride=self.stride,
            dilation=self.dilation,
            padding=self.padding,
            output_padding=self.output_padding,
        )


class ConvTranspose1d(ConvTranspose):
    """A transposed convolution over (batch, channels, length)."""

    axes = 1


class ConvTranspose2d(ConvTranspose):
    """A transposed convolution over (batch, channels, height, width)."""

    axes = 2


class ConvTranspose3d(ConvTranspose):
    """A transposed convolution over (batch, channels, depth, height, width)."""

    axes = 3


def _checked_mode(mode: str, *known: str) -> str:
    if mode not in known:
        raise ModeError(f"padding_mode {mode!r} is unknown here; there is {', '.join(known)}")
    return mode


def _check_groups(in_channels: int, out_channels: int, groups: int) -> None:
    if groups < 1 or in_channels % groups or out_channels % groups:
        raise ValueError(
            f"groups={groups} has to divide in_channels={in_channels} and "
            f"out_channels={out_channels}"
        )
