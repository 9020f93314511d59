"""Interpolation: resizing a Tensor.

Each axis is handled separately: a position takes a weighted sum of its nearest elements.

    nearest         one element, found by the start of the result's interval
    nearest-exact   one element, found by the middle of the result's interval
    linear          two neighbours, on a line between them
    cubic           four, on a curve through them
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from tinyframe.dtype import dtypes, least_upper_dtype
from tinyframe.errors import ShapeError, check_choice
from tinyframe.tensor.base import TensorBase
from tinyframe.uop.node import index_dtype

# PyTorch has names for each number of axes
MODES = {
    "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic",
    **{mode: mode for mode in ("nearest", "nearest-exact", "linear", "cubic")},
}  # fmt: skip

A = -0.75  # the slope of the cubic curve, PyTorch's and OpenCV's choice


class Interpolate(TensorBase):
    """Resizing."""

    def interpolate(
        self, size: int | Sequence[int], mode: str = "linear", align_corners: bool = False
    ) -> Self:
        """The trailing axes resized to `size`; the dtype stays the same.

        mode: "nearest", "nearest-exact", "linear" (also "bilinear", "trilinear") or "cubic" (also
        "bicubic"). align_corners: keeps the centers of the first and last element in place, instead
        of their outer edges. Ints are rounded; uint8 after each axis, last axis first, as in
        PyTorch. ValueError for any other mode.

        Keys, "Cubic convolution interpolation for digital image processing" (1981).
        """
        sizes = (size,) if isinstance(size, int) else tuple(size)
        if not 0 < len(sizes) <= self.ndim or min(sizes, default=0) < 1:
            raise ShapeError(f"cannot interpolate {self._dims} to the trailing sizes {sizes}")
        check_choice("mode", mode, *MODES)
        kind = MODES[mode]
        if align_corners and kind.startswith("nearest"):
            raise ValueError(f'align_corners is for "linear" and "cubic", not for {mode!r}')
        x = self
        if not kind.startswith("nearest"):
            x = self.cast(least_upper_dtype(self.dtype, dtypes.float32))
        in_bytes = x.dtype is not self.dtype is dtypes.uint8
        for axis, new in reversed([*enumerate(sizes, self.ndim - len(sizes))]):
            x = x._resized(axis, new, kind, align_corners, in_bytes)
        if dtypes.is_float(self.dtype) or x.dtype is self.dtype:
            return x.cast(self.dtype)._value()
        return x.round().clip(self.dtype.min, self.dtype.max).cast(self.dtype)

    def _resized(self, axis: int, new: int, kind: str, align_corners: bool, in_bytes: bool) -> Self:
        old = self.shape[axis]
        if new == old:
            return self
        if new % old == 0 and kind.startswith("nearest"):
            return self.repeat_interleave(new // old, axis)
        result: Any = None
        neighbours = self._neighbours(old, new, kind, align_corners)
        for place, weight in _in_fixed_point(neighbours) if in_bytes else neighbours:
            part: Any = self._take(axis, place.clip(0, old - 1), is_inside=True)
            if weight is not None:
                part = part * weight.reshape((-1, *(1,) * (self.ndim - axis - 1)))
            result = part if result is None else result + part
        return (result + 0.5).floor().clip(0, 255) if in_bytes else result

    def _neighbours(
        self, old: Any, new: int, kind: str, align_corners: bool
    ) -> list[tuple[Any, Any]]:
        """The positions of the neighbours of each of the `new` results, and their weights."""
        number = self._range(new).cast(index_dtype(2 * old * new))
        if kind == "nearest":
            return [(number * old // new, None)]
        if kind == "nearest-exact":
            return [((number * 2 + 1) * old // (2 * new), None)]
        dtype = dtypes.float64 if self.dtype is dtypes.float64 else dtypes.float32
        # a position is a fraction; its quotient and remainder are exact
        place, unit = (number * 2 + 1) * old - new, 2 * new
        if align_corners:
            place, unit = number * (old - 1), max(new - 1, 1)
        if kind == "linear":
            place = place.clip(0, (old - 1) * unit)
        return _around(place // unit, (place % unit).cast(dtype) / unit, kind)


def _in_fixed_point(neighbours: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The weights rounded as PyTorch and Pillow do for bytes, so that sums are exact: multiples of
    2**-15, or of 2**-14 if a weight is 1."""
    places, weights = zip(*neighbours, strict=True)
    is_below_1 = weights[0].stack(*weights[1:]).max() < 1 - 2.0**-16
    scale = is_below_1.where(2.0**15, 2.0**14)
    return [(at, (w * scale).round() / scale) for at, w in zip(places, weights, strict=True)]


def _around(low: Any, t: Any, kind: str) -> list[tuple[Any, Any]]:
    """The integers next to positions `low` + t on an axis, and their weights."""
    if kind == "linear":
        return [(low, 1 - t), (low + 1, t)]
    return [(low - 1, _far(t + 1)), (low, _near(t)),
            (low + 1, _near(1 - t)), (low + 2, _far(2 - t))]  # fmt: skip


def _near(t: Any) -> Any:
    """The cubic weight of an element at a distance t from 0 to 1."""
    return ((A + 2) * t - (A + 3)) * t * t + 1


def _far(t: Any) -> Any:
    """The same for a distance from 1 to 2."""
    return ((A * t - 5 * A) * t + 8 * A) * t - 4 * A
