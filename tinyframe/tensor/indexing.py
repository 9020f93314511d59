"""Indexing with ints, slices, None and `...`: each is a few movement ops.

t[2]        SHRINK to one, and RESHAPE that takes the axis away
t[1:7:2]    SHRINK, then a WINDOW of one element and stride 2
t[::-1]     FLIP
t[None]     RESHAPE
"""

from __future__ import annotations

import operator
from typing import Any, Self

from tinyframe.errors import TensorIndexError
from tinyframe.tensor.base import TensorBase
from tinyframe.uop.node import UOp, holds, sint


def check_bindings(*tensors: TensorBase) -> None:
    """ValueError where a Variable has two values in the graphs of these, which no kernel can have:
    said where the second one comes in, and not by a realize() far away."""
    from tinyframe.schedule import bindings

    bindings(variable for tensor in tensors for variable in tensor.uop.unknowns)


class Indexing(TensorBase):
    """Parts of a Tensor."""

    def __getitem__(self, index: Any) -> Self:
        """The part that NumPy's basic indexing names. TensorIndexError where it is out of bounds.

        t[1], t[-1, 2:], t[..., ::-2], t[:, None], and a bound Variable as an index or a slice's
        end.
        """
        items = list(index) if isinstance(index, tuple) else [index]
        ellipses = [place for place, item in enumerate(items) if item is Ellipsis]
        if len(ellipses) > 1:
            raise TensorIndexError("an index can only have a single ellipsis ('...')")
        named = sum(item is not None and item is not Ellipsis for item in items)
        if named > self.ndim:
            raise TensorIndexError(
                f"too many indices for a Tensor of shape {self.shape}: {named} for {self.ndim} axes"
            )
        place = ellipses[0] if ellipses else len(items)
        items[place : place + 1] = [slice(None)] * (self.ndim - named)

        picked = self
        shape: list[sint] = []
        axis = 0  # of `picked`, whose axes all stay until the last reshape
        for item in items:
            if item is None:
                shape.append(1)
                continue
            if isinstance(item, slice):
                picked = picked._slice(axis, item)
                shape.append(picked.shape[axis])
            else:
                picked = picked._pick(axis, item)
            axis += 1
        return picked.reshape(tuple(shape))

    def _pick(self, axis: int, item: Any) -> Self:
        """One element along an axis, which stays, with size 1."""
        size = self.shape[axis]
        number: sint
        if isinstance(item, UOp):
            number = item
        else:
            if isinstance(item, bool) or not hasattr(item, "__index__"):
                raise TensorIndexError(
                    f"an index is an int, a slice, None or '...', not {item!r} of type "
                    f"{type(item).__name__}"
                )
            number = operator.index(item)
            if not holds(number < size) or not holds(size >= -number):
                raise TensorIndexError(
                    f"index {number} is out of bounds for axis {axis} of size {size} "
                    f"(shape {self.shape})"
                )
            number = number + size if number < 0 else number
        return self._cut(axis, number, number + 1)

    def _cut(self, axis: int, begin: sint, end: sint) -> Self:
        part = self._part(axis, begin, end)
        if isinstance(begin, UOp) or isinstance(end, UOp):
            check_bindings(part)
        return part

    def _slice(self, axis: int, item: slice) -> Self:
        """begin:end:step along an axis."""
        for bound in (item.start, item.stop, item.step):
            if (
                bound is not None
                and not isinstance(bound, UOp)
                and (isinstance(bound, TensorBase) or not hasattr(bound, "__index__"))
            ):
                raise TypeError(f"a slice's bounds are ints, not {bound!r}")
        if item.step is not None and operator.index(item.step) == 0:
            raise ValueError("a slice's step cannot be 0")
        size = self.shape[axis]
        step = 1 if item.step is None else operator.index(item.step)
        if any(isinstance(bound, UOp) for bound in (item.start, item.stop, size)):
            return self._symbolic_slice(axis, item.start, item.stop, step)
        begin, end, step = slice(item.start, item.stop, item.step).indices(size)
        if step < 0:
            # the same elements from the other side, then turned around
            begin, end = end + 1, begin + 1
        part = self._cut(axis, begin, max(begin, end))
        if step < 0:
            part = part._flipped((axis,))
        if abs(step) == 1:
            return part
        strided = part.window(axis, 1, abs(step))
        return strided.reshape(strided.shape[:-1])

    def _symbolic_slice(self, axis: int, start: Any, stop: Any, step: int) -> Self:
        if step != 1:
            raise ValueError("a slice with a Variable in it has step 1")
        size = self.shape[axis]

        def from_front(bound: Any, default: Any) -> Any:
            if bound is None:
                return default
            return bound + size if isinstance(bound, int) and bound < 0 else bound

        return self._cut(axis, from_front(start, 0), from_front(stop, size))
