"""Indexing, `t[…]`: to read a part of a Tensor, and to assign to one.

Ints, slices, None and `...` are each a few movement ops:

    t[2]        SHRINK to one, and a RESHAPE that removes the axis
    t[1:7:2]    SHRINK, then a WINDOW of one element and stride 2
    t[::-1]     FLIP
    t[None]     RESHAPE

Tensors, lists and masks come after those. The axes that they index are moved next to each other and
merged into one, of size n; the indices become one number within it, and `_take` reads there.

Assigning to a part of a Tensor that has memory is computed at once, so that every view of that
memory sees the change. A Tensor without memory (a lazy result, a constant) simply gets a new graph:
the value inside the part, the old values elsewhere. The gradient rules know where the part lies,
since what flows back through SHRINK, FLIP, … arrives at just these places.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Self

import numpy as np

from tinyframe.dtype import dtypes
from tinyframe.errors import AssignError, TensorIndexError
from tinyframe.run.capture import needs_value
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.creation import constant
from tinyframe.tensor.gathering import Gathering
from tinyframe.tensor.movement import broadcast_shapes
from tinyframe.uop.movement import memory_of
from tinyframe.uop.node import UOp, elements, holds, index_dtype, sint


def check_bindings(*tensors: TensorBase) -> None:
    """ValueError where a Variable has two values in the graphs of these, which no kernel can have.

    It is raised where the second value comes in, and not by a realize() far away.
    """
    from tinyframe.schedule import bindings

    bindings(variable for tensor in tensors for variable in tensor.uop.unknowns)


class Indexing(Gathering):
    """Parts of a Tensor, to read and to assign to."""

    def __getitem__(self, index: Any) -> Self:
        """The part that NumPy's indexing names, basic and advanced.

        t[1], t[-1, 2:], t[..., ::-2], t[:, None], a bound Variable as an index or a slice's end;
        t[[0, 2]], t[Tensor, :, Tensor] with ints (-1 is the last), and a Tensor of bools, which
        realizes. Out of bounds: TensorIndexError where that is known, else NaN, or 0 for ints.

        An int that is not next to a Tensor is applied first and the axes stay in place, as in
        PyTorch: t[:, 1, :, [0, 2]] of shape (3, 4, 5, 6) is (3, 5, 2), where NumPy has (2, 3, 5).
        Tensors that are not adjacent move their axes to the front, as in both; so does one of shape
        (), which PyTorch treats as an int.
        """
        items = self._items(index)
        if not any(isinstance(item, TensorBase) for item in items):
            return self._basic(items)
        view, axis, numbers, is_inside = self._choose(items)
        return view._take(axis, numbers, is_inside)

    def _items(self, index: Any) -> list[Any]:
        """The items of an index, with lists and arrays as Tensors, masks as positions, and slices
        for the axes that are left. TensorIndexError if there are too many."""
        items: list[Any] = []
        for item in index if isinstance(index, tuple) else [index]:
            if isinstance(item, (list, tuple, np.ndarray)):
                if not isinstance(item, np.ndarray):  # an empty list has no dtype of its own
                    item = list(item) if np.size(item) else np.asarray(item, np.int32)
                item = type(self)(item, device=self.device)
            if isinstance(item, TensorBase) and item.dtype is dtypes.bool:
                items += self._places_of(item, items)
            else:
                items.append(item)
        ellipses = [place for place, item in enumerate(items) if item is Ellipsis]
        if len(ellipses) > 1:
            raise TensorIndexError("an index can only have a single ellipsis ('...')")
        named = sum(item is not None and item is not Ellipsis for item in items)
        if named > self.ndim:
            raise TensorIndexError(
                f"too many indices for a Tensor of shape {self._dims}: {named} for {self.ndim} axes"
            )
        place = ellipses[0] if ellipses else len(items)
        items[place : place + 1] = [slice(None)] * (self.ndim - named)
        return items

    def _places_of(self, mask: Any, before: list[Any]) -> list[Any]:
        """The positions where a mask is True: a Tensor of indices for each axis of the mask.
        before: the items in front of it."""
        needs_value("indexing with a mask")
        axis = sum(item is not None for item in before)
        shape = self.shape[axis : axis + mask.ndim]
        is_known = axis < self.ndim and not any(item is Ellipsis for item in before)
        if is_known and shape != mask.shape:
            raise TensorIndexError(
                f"a mask of shape {mask._dims} does not fit {self._dims} from axis {axis} on: "
                "the sizes have to be equal"
            )
        if mask.ndim == 0:
            raise TensorIndexError("a mask needs at least one axis")
        return [type(self)(places.astype(np.int32), device=self.device)
                for places in mask.numpy().nonzero()]  # fmt: skip

    def _choose(self, items: list[Any]) -> tuple[Self, int, Self, bool]:
        """An index with Tensors in two steps: (view, axis, numbers, is_inside).

        view: the result of ints, slices and None, with the axes indexed by Tensors merged into one,
        `axis`. numbers: the positions along it, of any shape; -1 if out of range. is_inside: it is
        known that none are.
        """
        basic = [slice(None) if isinstance(item, TensorBase) else item for item in items]
        view = self._basic(basic)
        # the axes of the view that are indexed by Tensors; `own` counts those of self
        axis, own, given = 0, 0, []
        for item in items:
            if isinstance(item, TensorBase):
                given.append((axis, *self._checked_index(item, own, from_end=True)))
            own += item is not None
            axis += item is None or isinstance(item, (slice, TensorBase))
        places = [place for place, *_ in given]
        shape = broadcast_shapes(*[item.shape for _, item, _ in given])
        sizes = [view.shape[place] for place in places]
        wide = index_dtype(elements(sizes))  # holds every position in the merged axis
        numbers: Any = None
        inside: Any = None
        for size, (_, item, is_known) in zip(sizes, given, strict=True):
            item = item.cast(wide) if item.dtype.itemsize < wide.itemsize else item
            item = item._broadcast_to(shape)
            numbers = item if numbers is None else numbers * size + item
            if not is_known:
                is_in = item.ge(0) & item.lt(size)
                inside = is_in if inside is None else inside & is_in
        numbers = numbers if inside is None else inside.where(numbers, -1)
        # Adjacent axes stay in place, others move to the front.
        together = places == list(range(places[0], places[0] + len(places)))
        first = places[0] if together else 0
        rest = [d for d in range(view.ndim) if d not in places]
        moved = view.permute((*rest[:first], *places, *rest[first:]))
        merged = (*moved.shape[:first], math.prod(sizes), *moved.shape[first + len(places) :])
        return moved.reshape(merged), first, numbers, inside is None

    # ---- ints, slices and None -------------------------------------------------------------------

    def _basic(self, items: list[Any]) -> Self:
        """What ints, slices and None select. TensorIndexError where it is out of bounds."""
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
        """One element of an axis, which stays, with size 1."""
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
                    f"index {number} is out of bounds for axis {axis} of shape {self._dims}"
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
            if not (bound is None or isinstance(bound, UOp) or hasattr(bound, "__index__")):
                raise TypeError(f"a slice's bounds are ints, not {bound!r}")
        size, step = self.shape[axis], operator.index(1 if item.step is None else item.step)
        if step == 0:
            raise ValueError("a slice's step cannot be 0")
        if any(isinstance(bound, UOp) for bound in (item.start, item.stop, size)):
            if step != 1:
                raise ValueError("a slice with a Variable in it has step 1")
            begin, end = (
                default if bound is None
                else bound + size if isinstance(bound, int) and bound < 0 else bound
                for bound, default in ((item.start, 0), (item.stop, size))
            )  # fmt: skip
            return self._cut(axis, begin, end)
        begin, end, step = item.indices(size)
        if step < 0:
            # the same elements from the other end, then flipped
            begin, end = end + 1, begin + 1
        part = self._cut(axis, begin, max(begin, end))
        if step < 0:
            part = part._flipped((axis,))
        if abs(step) == 1:
            return part
        strided = part.window(axis, 1, abs(step))
        return strided.reshape(strided.shape[:-1])

    # ---- assignment ------------------------------------------------------------------------------

    def __setitem__(self, index: Any, value: Any) -> None:
        """Writes `value`, which broadcasts, to a part; the last of several writes to one element
        wins.

        A number is cast to this dtype. Out of bounds: TensorIndexError where that is known, else
        nothing is written. AssignError for a Tensor of another dtype or device, or a shape that
        does not fit. Gradients flow to the value.
        """
        if isinstance(value, (bool, int, float)):
            value = self._of(constant(value, self.dtype, self.device), False)
        elif not isinstance(value, TensorBase):
            value = type(self)(value, device=self.device).cast(self.dtype)
        if value.dtype is not self.dtype:
            raise AssignError(
                f"setitem dtype mismatch: a value of {value.dtype} in a Tensor of {self.dtype}"
            )
        if value.device != self.device and value.uop.device is not None:
            raise AssignError(f"setitem device mismatch: {value.device} and {self.device}")
        # A single mask and a value that broadcasts: no positions are needed.
        mask = index[0] if isinstance(index, tuple) and len(index) == 1 else index
        if isinstance(mask, (list, np.ndarray)) and np.asarray(mask).dtype == np.bool_:
            mask = type(self)(mask, device=self.device)
        if isinstance(mask, TensorBase) and mask.dtype is dtypes.bool and mask.ndim > 0:
            rest = self.shape[mask.ndim :]
            if mask.shape == self.shape[: mask.ndim] and value.ndim <= len(rest):
                fitted = self._fitting(value, rest)
                wide = mask.reshape((*mask.shape, *[1] * len(rest)))._broadcast_to(self.shape)
                self._write(self, wide.where(fitted, self))
                return
        items = self._items(index)
        if not any(isinstance(item, TensorBase) for item in items):
            view = self._basic(items)
            self._write(view, self._fitting(value, view.shape))
            return
        view, axis, numbers, _ = self._choose(items)
        rest = (*view.shape[:axis], *numbers.shape, *view.shape[axis + 1 :])
        source = self._fitting(value, rest)
        count = math.prod(numbers.shape)
        source = source.reshape((*view.shape[:axis], count, *view.shape[axis + 1 :]))
        numbers = numbers.reshape((count, *[1] * (view.ndim - axis - 1)))
        self._write(view, source, (axis, numbers._broadcast_to(source.shape).uop))

    def _fitting(self, value: Self, shape: tuple) -> Self:
        """The value broadcast to the shape of the part, without leading axes of size 1."""
        while value.ndim > len(shape) and value.shape[0] == 1:
            value = value.squeeze(0)
        if value.ndim > len(shape) or broadcast_shapes(value.shape, shape) != shape:
            raise AssignError(f"setitem shape mismatch: {value._dims} does not fit {shape}")
        return value._broadcast_to(shape)

    def _write(self, view: Self, value: Self, at: tuple[int, UOp] | None = None) -> None:
        """Writes `value` to `view`, a part of this; at: to positions along an axis of it."""
        check_bindings(view, value)
        is_stored = memory_of(self._storage.uop) is not None
        view._change(value.uop, value._requires_grad, at)
        if view._requires_grad:
            self._requires_grad = True
        elif is_stored:
            self.realize()
