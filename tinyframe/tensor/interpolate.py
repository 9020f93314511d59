"""Interpolation: values between the elements of a Tensor, to make it larger or smaller.

Each axis by itself: a place between elements takes a weighted sum of its nearest ones.

    nearest         the element of the part that a result lies in, by its beginning
    nearest-exact   the same, by its middle
    linear          two neighbours, on a line between them
    cubic           four, on a curve through them
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from tinyframe.dtype import dtypes, least_upper_dtype
from tinyframe.errors import ShapeError
from tinyframe.tensor.base import TensorBase

# PyTorch has a name for each number of axes
MODES = {
    "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic",
    **{mode: mode for mode in ("nearest", "nearest-exact", "linear", "cubic")},
}  # fmt: skip

A = -0.75  # the slope of the cubic curve, PyTorch's and OpenCV's choice


class Interpolate(TensorBase):
    """Other sizes."""

    def interpolate(
        self, size: int | Sequence[int], mode: str = "linear", align_corners: bool = False
    ) -> Self:
        """As many trailing axes as `size` names, in those sizes; the dtype stays.

        mode: "nearest", "nearest-exact", "linear" (also "bilinear", "trilinear") or "cubic" (also
        "bicubic"). align_corners: the first and the last element stay where they are, instead of
        the outer borders of both. ints are rounded. ValueError for another mode.

        Keys, "Cubic convolution interpolation for digital image processing" (1981).
        """
        sizes = (size,) if isinstance(size, int) else tuple(size)
        if not 0 < len(sizes) <= self.ndim or min(sizes, default=0) < 1:
            raise ShapeError(f"cannot interpolate {self.shape} to the trailing sizes {sizes}")
        if mode not in MODES:
            raise ValueError(f"mode is one of {', '.join(MODES)}, not {mode!r}")
        kind = MODES[mode]
        if align_corners and kind.startswith("nearest"):
            raise ValueError(f'align_corners is for "linear" and "cubic", not for {mode!r}')
        x = self
        if not kind.startswith("nearest"):
            x = self.cast(least_upper_dtype(self.dtype, dtypes.float32))
        for axis, new in enumerate(sizes, self.ndim - len(sizes)):
            x = x._resized(axis, new, kind, align_corners)
        if dtypes.is_float(self.dtype) or x.dtype is self.dtype:
            return x.cast(self.dtype)
        return x.round().clip(self.dtype.min, self.dtype.max).cast(self.dtype)

    def _resized(self, axis: int, new: int, kind: str, align_corners: bool) -> Self:
        old = self.shape[axis]
        if new == old:
            return self
        if new % old == 0 and kind.startswith("nearest"):
            return self.repeat_interleave(new // old, axis)
        result: Any = None
        for place, weight in self._neighbours(old, new, kind, align_corners):
            # to (new, old, 1, …): beside each result all elements, of which one is chosen
            after = (1,) * (self.ndim - axis - 1)
            is_here = place.clip(0, old - 1).reshape((-1, 1)) == self._index(old, self.device)
            chosen = is_here.reshape((new, old, *after)).where(self.unsqueeze(axis), 0)
            part = chosen.sum(axis + 1, dtype=self.dtype)
            part = part if weight is None else part * weight.reshape((-1, *after))
            result = part if result is None else result + part
        return result

    def _neighbours(
        self, old: Any, new: int, kind: str, align_corners: bool
    ) -> list[tuple[Any, Any]]:
        """For each of the `new` results, the numbers of its neighbours and what they weigh."""
        number = self._index(new, self.device)
        if kind == "nearest":
            return [(number * old // new, None)]
        if kind == "nearest-exact":
            return [((number * 2 + 1) * old // (2 * new), None)]
        dtype = dtypes.float64 if self.dtype is dtypes.float64 else dtypes.float32
        if align_corners:
            place = number.cast(dtype) * ((old - 1) / max(new - 1, 1))
        else:
            place = (number.cast(dtype) + 0.5) * (old / new) - 0.5
        if kind == "linear":
            place = place.clip(0, old - 1)
        low = place.floor()
        t, first = place - low, low.cast(dtypes.int32)
        if kind == "linear":
            return [(first, 1 - t), (first + 1, t)]
        return [(first - 1, _far(t + 1)), (first, _near(t)),
                (first + 1, _near(1 - t)), (first + 2, _far(2 - t))]  # fmt: skip


def _near(t: Any) -> Any:
    """What an element at a distance t of at most 1 weighs on the cubic curve."""
    return ((A + 2) * t - (A + 3)) * t * t + 1


def _far(t: Any) -> Any:
    """The same for a distance from 1 to 2."""
    return ((A * t - 5 * A) * t + 8 * A) * t - 4 * A
