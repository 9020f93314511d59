"""Counting: membership, counts of values, and distinct values.

Every element is compared with every value, without sorting or random writes. Only `unique` has to
know the values, since the size of its result depends on them.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from tinyframe.dtype import dtypes, least_upper_float
from tinyframe.errors import DTypeError, ShapeError
from tinyframe.run.capture import needs_value
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.gathering import Gathering
from tinyframe.uop.node import Ops


class Counting(Gathering):
    """Methods on Tensors as collections of values."""

    def isin(self, test_elements: Any, *, invert: bool = False) -> Self:
        """Whether each element is equal to one of `test_elements`, a Tensor, a list or a number.

        invert: whether it is equal to none. NaN equals nothing.
        """
        if not isinstance(test_elements, TensorBase):
            test_elements = type(self)(test_elements, device=self.device)
        found = self.unsqueeze(-1).eq(test_elements.flatten()).any(-1)
        return found.logical_not() if invert else found

    def bincount(
        self, weights: Self | None = None, minlength: int = 0, size: int | None = None
    ) -> Self:
        """How often each of 0, 1, … up to the maximum occurs; int32.

        Realizes, since the size of the result depends on values; with `size` it stays lazy, and
        numbers of `size` or more are not counted. minlength: the least number of counts. weights:
        the weight of each element; the result is then a float. ShapeError for more than one axis,
        DTypeError for floats, ValueError for negative numbers.
        """
        if self.ndim != 1 or (weights is not None and weights.shape != self.shape):
            other = "" if weights is None else f" and weights of {weights._dims}"
            raise ShapeError(
                f"bincount takes one axis, and weights of the same length, not {self._dims}{other}"
            )
        if not dtypes.is_int(self.dtype):
            raise DTypeError(f"bincount counts ints, not {self.dtype}")
        if min(minlength, size or 0) < 0:
            raise ValueError(f"bincount cannot give {min(minlength, size or 0)} counts")
        if size is None:
            needs_value("bincount without size")
            least, largest = (self.min().item(), self.max().item()) if self.shape[0] else (0, -1)
            if least < 0:
                raise ValueError(f"bincount counts numbers of 0 or more, and there is {least}")
            size = max(largest + 1, minlength)
        if weights is None:
            weights = self._number(1, dtypes.int32)._broadcast_to(self.shape)
        else:
            weights = weights.cast(least_upper_float(weights.dtype))
        none = self.zeros(size, dtype=weights.dtype, device=self.device)
        return none._scattered(0, self._index_tensor(self), weights, Ops.ADD)

    def unique(
        self,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Any:
        """The distinct values, sorted; with `dim` the distinct slices along that axis.

        return_inverse: also the index of each element in the result; return_counts: also how often
        each value occurs; both int32. NaNs are all distinct. The result is sorted even with
        sorted=False. Realizes, since its size depends on values, so no gradient flows through
        it.
        """
        needs_value("unique")
        axis = None if dim is None else self._axis(dim)
        values, inverse, counts = np.unique(
            self.numpy(), return_inverse=True, return_counts=True,
            axis=axis if self.ndim else None, equal_nan=False,
        )  # fmt: skip
        found = [type(self)(values, self.device, self.dtype)]
        if return_inverse:
            inverse = inverse.reshape(self.shape if axis is None else -1)
            found.append(type(self)(inverse.astype(np.int32), self.device))
        if return_counts:
            found.append(type(self)(counts.astype(np.int32), self.device))
        return tuple(found) if len(found) > 1 else found[0]
