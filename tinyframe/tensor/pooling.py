"""Pooling: the maximum, mean or norm of each window; and unpooling, the way back.

Where padding or `ceil_mode` lets a window reach beyond the input, the elements there are neutral:
the smallest value of the dtype for a maximum, 0 for a sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from tinyframe.errors import ShapeError
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.convolution import Sizes, for_axes, one_per_axis, padding_per_axis
from tinyframe.tensor.elementwise import float_function
from tinyframe.tensor.gathering import check_indices
from tinyframe.uop.show import sizes_text


class Grid(NamedTuple):
    """The positions of windows: one number, or one (before, after), for each trailing axis."""

    axes: int
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: list[tuple[int, int]]  # as the user gave it
    beyond: list[int]  # how much further the last window reaches with ceil_mode


def grid_of(
    shape: Sequence[Any],
    kernel_size: Sizes,
    stride: Sizes | None,
    dilation: Sizes,
    padding: Sizes,
    ceil_mode: bool,
) -> Grid:
    """The windows over the last axes of `shape`. ShapeError if it has fewer axes.

    ceil_mode: the last window may be partial, if it begins in the input or the padding before it.
    """
    kernel = (kernel_size, kernel_size) if isinstance(kernel_size, int) else tuple(kernel_size)
    axes = len(kernel)
    if len(shape) < axes:
        raise ShapeError(
            f"windows of {kernel} need as many axes, and {sizes_text(tuple(shape))} has fewer"
        )
    steps = one_per_axis(kernel if stride is None else stride, axes, "stride")
    spread = one_per_axis(dilation, axes, "dilation")
    sides = padding_per_axis(padding, axes)
    beyond = []
    for size, k, s, d, (before, after) in zip(
        shape[len(shape) - axes :], kernel, steps, spread, sides, strict=True
    ):
        reach, inside = d * (k - 1) + 1, before + size + after
        last = -(-(inside - reach) // s) * s  # the start of the last window, rounded up
        if last >= size + before:
            last -= s
        beyond.append(max(0, last + reach - inside) if ceil_mode else 0)
    return Grid(axes, kernel, steps, spread, sides, beyond)


class Pooling(TensorBase):
    """Pooling over the last axes, as many as `kernel_size` has (an int: two).

    stride=None is the kernel's size. padding: as for `conv2d`.
    """

    def _seen_through(
        self, grid: Grid, value: Any = 0, padding: list[tuple[int, int]] | None = None
    ) -> Self:
        """The windows of a grid, padded with `value`: (…, *positions, *kernel). padding: if it is
        not the grid's."""
        sides = zip(padding or grid.padding, grid.beyond, strict=True)
        widths = [None] * (self.ndim - grid.axes) + [(b, a + more) for (b, a), more in sides]
        return self.pad(widths, value=value)._windows(grid.kernel, grid.stride, grid.dilation)

    # ---- maxima ----------------------------------------------------------------------------------

    def max_pool2d(
        self,
        kernel_size: Sizes = (2, 2),
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """The maximum of each window; NaN where one is NaN. Equal maxima share the window's
        gradient equally, as with `max`; PyTorch gives all of it to the first.

        return_indices: also the position of the (first) maximum in the pooled axes, numbered row by
        row, as int32; `max_unpool2d` takes these. A window with nothing but padding in it gets the
        number of elements, a position that there isn't.
        """
        grid = grid_of(self.shape, kernel_size, stride, dilation, padding, ceil_mode)
        window = tuple(range(-grid.axes, 0))
        windows = self._seen_through(grid, self.dtype.min)
        largest = windows.max(window)
        if not return_indices:
            return largest
        sizes = self._sizes(grid.axes)
        count = math.prod(sizes)
        numbers = self._range(count).reshape(sizes)._seen_through(grid, count)
        is_largest = windows._is_best(windows.max(window, keepdim=True))
        # the smallest number is that of the first
        return largest, is_largest.where(numbers, numbers.dtype.max).min(window)

    def max_unpool2d(
        self,
        indices: Self,
        kernel_size: Sizes = (2, 2),
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        output_size: Sequence[int] | None = None,
    ) -> Self:
        """The values of max_pool2d put back in their positions, and zeros elsewhere.

        indices: those of max_pool2d. output_size: the sizes of the unpooled axes, or a whole shape,
        if several sizes pool to this one. The last of several values at one index wins.
        """
        grid = grid_of(self.shape, kernel_size, stride, dilation, padding, ceil_mode=False)
        sizes: tuple[int, ...] = tuple(
            (n - 1) * s - before - after + d * (k - 1) + 1
            for n, s, (before, after), d, k in zip(
                self._sizes(grid.axes), grid.stride, grid.padding, grid.dilation, grid.kernel,
                strict=True,
            )
        )  # fmt: skip
        if output_size is not None:
            sizes = tuple(output_size)[-grid.axes :]
        front = self.shape[: self.ndim - grid.axes]
        values, places = (t.reshape((*front, -1)) for t in (self, indices))
        length = math.prod(sizes)
        check_indices(indices, (length,), 0)
        nothing = self.zeros((*front, length), dtype=self.dtype, device=self.device)
        return nothing._scattered(len(front), places, values).reshape((*front, *sizes))

    # ---- means -----------------------------------------------------------------------------------

    @float_function
    def avg_pool2d(
        self,
        kernel_size: Sizes = (2, 2),
        stride: Sizes | None = None,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Self:
        """The mean of each window. count_include_pad: whether the zeros of `padding` count."""
        grid = grid_of(self.shape, kernel_size, stride, dilation, padding, ceil_mode)
        total = self._seen_through(grid).sum(tuple(range(-grid.axes, 0)))
        padded = any(before or after for before, after in grid.padding)
        if not any(grid.beyond) and (count_include_pad or not padded):
            return total / math.prod(grid.kernel)
        counted = self.ones(self._sizes(grid.axes), dtype=self.dtype, device=self.device)
        counted = counted.pad(grid.padding, value=int(count_include_pad))
        counts = counted._seen_through(grid, padding=[(0, 0)] * grid.axes)
        return total / counts.sum(tuple(range(-grid.axes, 0)))

    # ---- in one and three axes -------------------------------------------------------------------

    max_pool1d, max_pool3d = for_axes("max_pool2d", 1), for_axes("max_pool2d", 3)
    avg_pool1d, avg_pool3d = for_axes("avg_pool2d", 1), for_axes("avg_pool2d", 3)

    # ---- shared helpers --------------------------------------------------------------------------

    def _sizes(self, axes: int) -> tuple[int, ...]:
        """The sizes of the last axes."""
        return self.shape[self.ndim - axes :]  # type: ignore[return-value]
