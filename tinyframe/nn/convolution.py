"""Convolutions over one, two and three axes, and their transposes, which enlarge instead.

A convolution slides a kernel over its input. With stride s it reads every s-th window; a transposed
one inserts s - 1 zeros between the inputs, and slides over these:

    Conv1d(1, 1, 2, stride=2)             8 elements -> 4
    ConvTranspose1d(1, 1, 2, stride=2)    4 elements -> 8
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tinyframe.errors import check_choice
from tinyframe.nn.initial import by_fan_in
from tinyframe.nn.layer import TakesTensors
from tinyframe.tensor.convolution import Sizes, one_per_axis, zeros_around
from tinyframe.tensor.core import Tensor

PADDING_MODES = "zeros", "reflect", "replicate", "circular"


class _Sliding(TakesTensors):
    """The common base: `axes`, the number of axes to slide over, and the checks of arguments."""

    axes: int

    def _set_up(
        self, channels: Sequence[int], kernel_size: Sizes, stride: Sizes, dilation: Sizes,
        groups: int, padding_mode: str, known_modes: Sequence[str],
    ) -> None:  # fmt: skip
        check_choice(f"padding_mode of {type(self).__name__}", padding_mode, *known_modes)
        if groups < 1 or any(count % groups for count in channels):
            raise ValueError(
                f"groups={groups} has to divide in_channels={channels[0]} and "
                f"out_channels={channels[1]}"
            )
        self.groups, self.padding_mode = groups, padding_mode
        if self.axes == 2 and not isinstance(kernel_size, int):
            self.axes = len(kernel_size)
        self.kernel_size = one_per_axis(kernel_size, self.axes, "kernel_size")
        self.stride = one_per_axis(stride, self.axes, "stride")
        self.dilation = one_per_axis(dilation, self.axes, "dilation")

    def _draw(self, rows: int, columns: int, outputs: int, bias: bool) -> None:
        """weight: (rows, columns, *kernel_size); its fan-in is columns * kernel as in PyTorch, also
        if transposed. bias: (outputs,), or None."""
        shape = (rows, columns, *self.kernel_size)
        fan_in = math.prod(shape[1:])
        self.weight = by_fan_in(shape, fan_in)
        self.bias = by_fan_in((outputs,), fan_in) if bias else None


class Conv(_Sliding):
    """The base of Conv1d, Conv2d and Conv3d.

    weight: (out_channels, in_channels / groups, *kernel_size). bias: (out_channels,), or None.
    padding: zeros around each axis; one int, one for each axis, two for each (last axis first), or
    "same" (the output has the size of the input, with stride 1 only) or "valid" (none).
    padding_mode: "zeros", "reflect", "replicate" or "circular", as in `Tensor.pad`. ValueError for
    anything else, and if groups does not divide the channels.
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
        padding: Sizes | str = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True,
        padding_mode: str = "zeros",
    ):  # fmt: skip
        channels = in_channels, out_channels
        self._set_up(channels, kernel_size, stride, dilation, groups, padding_mode, PADDING_MODES)
        self.padding = padding
        self._widths = zeros_around(padding, self.kernel_size, self.stride, self.dilation)
        self._draw(out_channels, in_channels // groups, out_channels, bias)

    def __call__(self, x: Tensor) -> Tensor:
        """(batch, in_channels, *size) to (batch, out_channels, *smaller)."""
        padding = self.padding
        if self.padding_mode != "zeros":
            x, padding = x.pad(self._widths, mode=self.padding_mode), 0
        return x.conv2d(self.weight, self.bias, self.groups, self.stride, self.dilation, padding)


class Conv1d(Conv):
    """A convolution over (batch, channels, length)."""

    axes = 1


class Conv2d(Conv):
    """A convolution over (batch, channels, height, width); as in tinygrad, over as many axes as a
    tuple for kernel_size has.

        layer = Conv2d(1, 32, 5)
        layer(Tensor.rand(8, 1, 28, 28)).shape    # (8, 32, 24, 24)

    LeCun et al., "Gradient-based learning applied to document recognition" (1998).
    """

    axes = 2


class Conv3d(Conv):
    """A convolution over (batch, channels, depth, height, width)."""

    axes = 3


class ConvTranspose(_Sliding):
    """The base of ConvTranspose1d, 2d and 3d.

    weight: (in_channels, out_channels / groups, *kernel_size). bias: (out_channels,), or None.
    padding: removed from both sides. output_padding: added at the end of each axis, since a
    convolution maps several sizes to one. The size of the output is
    (size - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1.
    padding_mode can only be "zeros".
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
        padding: Sizes = 0, output_padding: Sizes = 0, dilation: Sizes = 1, groups: int = 1,
        bias: bool = True, padding_mode: str = "zeros",
    ):  # fmt: skip
        channels = in_channels, out_channels
        self._set_up(channels, kernel_size, stride, dilation, groups, padding_mode, ["zeros"])
        self.padding = one_per_axis(padding, self.axes, "padding")
        self.output_padding = one_per_axis(output_padding, self.axes, "output_padding")
        for more, step, spread in zip(self.output_padding, self.stride, self.dilation, strict=True):
            if more >= max(step, spread):
                raise ValueError(
                    f"output_padding {self.output_padding} has to be less than stride "
                    f"{self.stride} or dilation {self.dilation}: there is nothing to compute there"
                )
        self._draw(in_channels, out_channels // groups, out_channels, bias)

    def __call__(self, x: Tensor) -> Tensor:
        """(batch, in_channels, *size) to (batch, out_channels, *larger)."""
        return x.conv_transpose2d(
            self.weight, self.bias, self.groups, self.stride, self.dilation, self.padding,
            self.output_padding,
        )  # fmt: skip


class ConvTranspose1d(ConvTranspose):
    """A transposed convolution over (batch, channels, length)."""

    axes = 1


class ConvTranspose2d(ConvTranspose):
    """A transposed convolution over (batch, channels, height, width)."""

    axes = 2


class ConvTranspose3d(ConvTranspose):
    """A transposed convolution over (batch, channels, depth, height, width)."""

    axes = 3
