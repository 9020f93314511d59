"""Convolution, as a movement op, a multiply and a sum; and its transpose. And the windows over
trailing axes that convolution and pooling read.

A convolution reads windows: output o is the sum over k of input[o*stride + k*dilation] * weight[k].
Its transpose adds input i, times weight[k], to output[i*stride + k*dilation]. WINDOW does the
first and UNWINDOW the second; each is the gradient of the other, and so are the convolutions:

    [a b c] windows of 2                 [a b] [b c]
    [a b] unwindowed, 2 places each      [a b 0] [0 a b], to be multiplied with weight[0], weight[1]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from tinyframe.dtype import DTypeLike
from tinyframe.errors import ShapeError, check_choice
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.elementwise import product_dtypes

Sizes = int | Sequence[int]


def one_per_axis(value: Sizes, count: int, name: str) -> tuple[int, ...]:
    """An int for each axis; a single int stands for all. `name` is for the ShapeError."""
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count:
        raise ShapeError(f"{name} is one int or {count} of them, not {value}")
    return values


def padding_per_axis(padding: Sizes, count: int) -> list[tuple[int, int]]:
    """(before, after) for each axis, first axis first.

    padding: one int, one for each axis, or as in PyTorch two for each, last axis first.
    """
    if not isinstance(padding, int) and len(padding) == 2 * count:
        flat = tuple(padding)
        return list(zip(flat[::2], flat[1::2], strict=True))[::-1]
    return [(width, width) for width in one_per_axis(padding, count, "padding")]


def for_axes(name: str, axes: int) -> Any:
    """The method `name`, which is for any number of axes, restricted to `axes` of them."""
    first = "weight" if "conv" in name else "kernel_size"

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        value, *rest = args or (kwargs.pop(first),)
        if first != "weight":
            value = one_per_axis(value, axes, first)
        elif value.ndim != axes + 2:
            raise ShapeError(f"the weight needs {axes} axes after its first two, not {value._dims}")
        return getattr(self, name)(value, *rest, **kwargs)

    method.__name__ = name.replace("2d", f"{axes}d")
    method.__doc__ = f"{name} over {['one axis', 'two axes', 'three axes'][axes - 1]}."
    return method


class Convolution(TensorBase):
    """Convolutions over one, two, three or more trailing axes, and their transposes.

    self: (batch, channels, *size). groups: the channels are divided into groups, each with weights
    of its own. stride, dilation, padding: an int, or one for each axis.
    """

    def conv2d(
        self,
        weight: Self,
        bias: Self | None = None,
        groups: int = 1,
        stride: Sizes = 1,
        dilation: Sizes = 1,
        padding: Sizes | str = 0,
        dtype: DTypeLike | None = None,
    ) -> Self:
        """The convolution over the trailing axes of the weight, which is not flipped.

        weight: (out, channels / groups, *kernel). padding: zeros around each axis; one int, one for
        each axis, or two for each, last axis first; or "same" (the size stays; stride 1 only) or
        "valid" (none). dtype: of the sum and of the result. Returns (batch, out, *size_out).
        ShapeError if channels, groups and kernel do not fit.
        """
        kernel = weight.shape[2:]
        axes = len(kernel)
        self._check_weight("a convolution", weight, groups)
        batch, channels = self.shape[:2]
        out = weight.shape[0]
        steps = one_per_axis(stride, axes, "stride")
        spread = one_per_axis(dilation, axes, "dilation")
        exact, result = product_dtypes(dtype, self, weight)
        x = self.cast(exact).pad(zeros_around(padding, kernel, steps, spread))
        x = x._windows(kernel, steps, spread)
        size = x.shape[2 : 2 + axes]
        x = x.reshape((batch, groups, 1, channels // groups, *size, *kernel))
        w = weight.cast(exact).reshape(
            (1, groups, out // groups, channels // groups, *(1,) * axes, *kernel)
        )
        summed = (x * w).sum((3, *range(4 + axes, 4 + 2 * axes))).reshape((batch, out, *size))
        return summed._with_bias(bias).cast(result)

    def conv_transpose2d(
        self,
        weight: Self,
        bias: Self | None = None,
        groups: int = 1,
        stride: Sizes = 1,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        dtype: DTypeLike | None = None,
    ) -> Self:
        """The transposed convolution over the trailing axes of the weight.

        weight: (channels, out / groups, *kernel). padding: removed from both sides of the result.
        output_padding: added at the end of the result. The size of each axis becomes
        (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1.
        ShapeError if channels, groups and kernel do not fit.
        """
        kernel = weight.shape[2:]
        axes = len(kernel)
        self._check_weight("a transposed convolution", weight, groups)
        batch, channels = self.shape[:2]
        steps = one_per_axis(stride, axes, "stride")
        spread = one_per_axis(dilation, axes, "dilation")
        cuts = one_per_axis(padding, axes, "padding")
        more = one_per_axis(output_padding, axes, "output_padding")
        exact, result = product_dtypes(dtype, self, weight)
        lengths = [
            (self.shape[2 + n] - 1) * steps[n] + spread[n] * (kernel[n] - 1) + 1 + more[n]
            for n in range(axes)
        ]
        x, w = self.cast(exact), weight.cast(exact)
        phases = tuple(s if d == 1 else 1 for s, d in zip(steps, spread, strict=True))
        # the weight taken apart: element a*phases + p of an axis is in place a of phase p
        places = [-(-size // p) for size, p in zip(kernel, phases, strict=True)]
        w = w._fitted([n * p for n, p in zip(places, phases, strict=True)])
        w = w.reshape(
            (*w.shape[:2], *[size for pair in zip(places, phases, strict=True) for size in pair])
        )
        w = w.permute((0, 1, *range(2, 2 + 2 * axes, 2), *range(3, 3 + 2 * axes, 2)))
        # the input laid out once for each of these places, with element i of copy k at place
        # i*step + k*dilation, and zeros between
        for n, (k, d) in enumerate(zip(places, spread, strict=True)):
            axis, step = 2 + n, 1 if phases[n] == steps[n] else steps[n]
            length = (x.shape[axis] - 1) * step + d * (k - 1) + 1
            copies = x.unsqueeze(-1).expand((*x.shape, k))
            x = copies._apply(lambda u, args=(axis, step, d, length): u.unwindow(*args))
        size = x.shape[2 : 2 + axes]
        x = x.reshape((batch, groups, channels // groups, 1, *size, *(1,) * axes, *places))
        w = w.permute((0, 1, *range(2 + axes, 2 + 2 * axes), *range(2, 2 + axes)))
        w = w.reshape((1, groups, channels // groups, -1, *(1,) * axes, *phases, *places))
        summed = (x * w).sum((2, *range(4 + 2 * axes, 4 + 3 * axes)))  # batch, groups, out, …
        order = [d for n in range(axes) for d in (3 + n, 3 + axes + n)]  # phases next to places
        y = summed.permute((0, 1, 2, *order))
        y = y.reshape((batch, -1, *[s * p for s, p in zip(size, phases, strict=True)]))
        y = y._fitted(lengths).shrink(
            [None, None] + [(cut, length - cut) for cut, length in zip(cuts, lengths, strict=True)]
        )
        return y._with_bias(bias).cast(result)

    conv1d, conv3d = for_axes("conv2d", 1), for_axes("conv2d", 3)
    conv_transpose1d = for_axes("conv_transpose2d", 1)
    conv_transpose3d = for_axes("conv_transpose2d", 3)

    def _check_weight(self, name: str, weight: Self, groups: int) -> None:
        """ShapeError if a weight does not fit this input."""
        if self.ndim != weight.ndim or self.ndim < 3:
            raise ShapeError(
                f"{name} takes an input (batch, channels, ...) and a weight with as many axes, not "
                f"{self._dims} and {weight._dims}"
            )
        first = weight.shape[0]
        channels = first if "transposed" in name else weight.shape[1] * groups
        if groups < 1 or self.shape[1] != channels or first % groups:
            raise ShapeError(
                f"{name} of {self.shape[1]} channels of {self._dims} in {groups} groups does not "
                f"fit a weight of {weight._dims}"
            )

    def _windows(self, size: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Self:
        """The windows over the last axes: shape (…, *positions, *size)."""
        windows, sizes = self, zip(size, stride, dilation, strict=True)
        for axis, along in enumerate(sizes, self.ndim - len(size)):
            windows = windows.window(axis, *along)
        return windows

    def _with_bias(self, bias: Self | None) -> Self:
        """The bias, one number for each channel, added."""
        return self if bias is None else self + bias.reshape((1, -1, *(1,) * (self.ndim - 2)))

    def _fitted(self, lengths: Sequence[int]) -> Self:
        """The last axes cut, or padded with zeros, at their end to these lengths."""
        front = self.ndim - len(lengths)
        more = [max(0, n - s) for n, s in zip(lengths, self.shape[front:], strict=True)]
        padded = self.pad([None] * front + [(0, m) for m in more])
        return padded.shrink([None] * front + [(0, n) for n in lengths])


def zeros_around(
    padding: Sizes | str, kernel: Sequence[Any], stride: Sequence[int], dilation: Sequence[int]
) -> list[int]:
    """Padding as `pad` takes it: before and after each axis, last axis first."""
    if not isinstance(padding, str):
        return [width for pair in padding_per_axis(padding, len(kernel))[::-1] for width in pair]
    check_choice("padding in words", padding, "same", "valid")
    if padding == "same" and set(stride) != {1}:
        raise ValueError(f'padding="same" keeps the size, which stride {tuple(stride)} does not')
    total = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    total = total if padding == "same" else [0] * len(total)
    return [side for t in reversed(total) for side in (t // 2, t - t // 2)]
