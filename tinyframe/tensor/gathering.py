"""Gather and scatter: elements read from, and written to, the positions in a Tensor of indices.

Both have one primitive, TAKE: a view whose positions are data. Reading it gathers; an ASSIGN to it
scatters, one value after the other along its axis, so that the result is the same each time.

    x.gather(0, i)           TAKE(x, i)
    x.scatter(0, i, v)       ASSIGN of v to TAKE(x, i), on a copy of x: the last v[k] with i[k] == p
    x.scatter_add(0, i, v)   the same with ADD: all v[k] with i[k] == p are added, in their order

An index out of bounds is no position. One rule holds for every method that takes indices or
labels, `t[i]` and losses included. Where the indices are known without computing or waiting, such
an index is a TensorIndexError (`check_indices`). Those of lists and arrays are known, and those of
a realized Tensor on the CPU, or a view of one, of up to `MOST_READ` elements; but not inside a
TinyJit, where they may differ at each replay. Elsewhere it reads NaN, or 0 if the result is of
ints, and writes nothing. If a NaN turns up, realize() the indices first: then it is found.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from tinyframe.device import buffer_of, is_awaited, is_overwritten
from tinyframe.dtype import dtypes, sum_acc_dtype, to_np_dtype
from tinyframe.errors import DTypeError, ShapeError, TensorIndexError, check_choice
from tinyframe.run.capture import capture_now, needs_value
from tinyframe.tensor.base import TensorBase, as_size
from tinyframe.tensor.elementwise import Elementwise
from tinyframe.tensor.movement import broadcast_shapes
from tinyframe.uop.node import Ops, UOp, identity, index_dtype, sint
from tinyframe.uop.show import sizes_text

MOST_READ = 1 << 16  # indices; reading and comparing so many takes some 50 us

# What these ops make of the values of their first source, in NumPy.
_IN_NUMPY: dict[Ops, Any] = {
    Ops.RESHAPE: lambda a, u: a.reshape(u.arg),
    Ops.EXPAND: lambda a, u: np.broadcast_to(a, u.arg),
    Ops.SHRINK: lambda a, u: a[tuple(slice(begin, end) for begin, end in u.arg)],
    Ops.PERMUTE: lambda a, u: a.transpose(u.arg),
    Ops.CAST: lambda a, u: a.astype(to_np_dtype(u.dtype)),
    **dict.fromkeys((Ops.COPY, Ops.CONTIGUOUS), lambda a, u: a),
}


def _known(index: Any) -> np.ndarray | None:
    """The values of a Tensor of indices; None if something would be computed, copied or awaited."""
    u, above, is_data = index.uop, [], False
    while u.op in _IN_NUMPY and dtypes.is_int(u.dtype):
        above.append(u)
        is_data = u.op is Ops.COPY and u.src[0].device == "PYTHON"  # of a list or an array
        u = u.src[0]
    if index.uop.unknowns or is_awaited(u) or is_overwritten(u):
        return None
    if not is_data and (capture_now() is not None or index.numel() > MOST_READ):
        return None
    if u.op is Ops.CONST:
        values = np.asarray(u.arg)
    elif u.op is Ops.BUFFER and dtypes.is_int(u.dtype):
        buffer = buffer_of(u)
        if not buffer.is_allocated() or buffer.allocator.as_array(buffer._buf) is None:
            return None
        values = buffer.numpy()
    else:
        return None
    for u in reversed(above):
        values = _IN_NUMPY[u.op](values, u)
    return values


def check_indices(
    index: Any, shape: tuple[sint, ...], axis: int, least: sint = 0, ignored: int | None = None,
    kind: str = "index",
) -> bool:  # fmt: skip
    """TensorIndexError if one of these is known to be out of bounds for an axis: neither `least`
    or more and less than its size, nor `ignored`. Returns whether all are known to be from 0 on and
    less than its size."""
    size, values = shape[axis], _known(index)
    if values is None or values.size == 0 or isinstance(size, UOp):
        return False
    lowest = values.min()
    if lowest >= least and values.max() < size:
        return bool(lowest >= 0)
    counted = values != ignored
    wrong = np.argwhere(counted & ((values < least) | (values >= size))).tolist()
    if not wrong:
        return False
    place, last = tuple(wrong[0]), int(values.max())
    number, hint = values[place], ""
    if last == size and values[counted].min() > 0:
        hint = f". Are they counted from 1? The first {kind} is 0, so subtract 1 from each"
    elif kind == "label" and number < 0:
        hint = f". If it marks a sample without a label, pass ignore_index={number}"
    elif kind == "label":
        hint = f". The largest label is {last}, which takes {last + 1} classes"
    at = f" at position {place[0] if len(place) == 1 else place}" if place else ""
    of = f"{size} classes"
    if kind == "index":
        of = f"axis {axis} of size {size} (shape {sizes_text(shape)})"
    there = f": there are {least} to {size - 1}{hint}" if size else ""
    raise TensorIndexError(f"{kind} {number}{at} is out of bounds for {of}{there}")


def _facing(x: UOp, axis: int, index: UOp) -> UOp:
    """The front of the axes other than `axis`, as far as the indices reach."""
    sizes = enumerate(zip(x.shape, index.shape, strict=True))
    return x.shrink(tuple((0, own if d == axis else n) for d, (own, n) in sizes))


class Gathering(Elementwise):
    """Methods that take indices as Tensors."""

    def _index_tensor(self, index: Any, dim: int | None = None, from_end: bool = False) -> Self:
        """A Tensor, list or int as indices along an axis of self, checked where they are known;
        from_end: -1 is the last. TensorIndexError if they are not ints."""
        return self._checked_index(index, dim, from_end)[0]

    def _checked_index(
        self, index: Any, dim: int | None = None, from_end: bool = False
    ) -> tuple[Self, bool]:
        """`_index_tensor`, and whether all are known to be inside, none counted from the end.

        uint64 becomes int64; a value too large for it becomes the largest int64, which is out of
        bounds too.
        """
        found = index if isinstance(index, TensorBase) else type(self)(index, device=self.device)
        if 0 in found.shape and not isinstance(index, TensorBase):
            found = found.cast(dtypes.int32)
        if not dtypes.is_int(found.dtype):
            raise TensorIndexError(
                f'indices are ints, not {found.dtype} (shape {found._dims}): take cast("int32")'
            )
        is_inside = False
        if dim is not None:
            size = self.shape[dim]
            least = -size if from_end else 0
            is_inside = check_indices(found, self.shape, self._axis(dim), least)
        if found.dtype is dtypes.uint64:
            most = dtypes.int64.max
            found = found.gt(most).where(most, found).cast(dtypes.int64)
        if dim is None or not from_end or is_inside:
            return found, is_inside
        wide = index_dtype(size)
        found = found.cast(wide) if found.dtype.itemsize < wide.itemsize else found
        return found.lt(0).where(found + size, found), False

    def _or_nan(self, index: Self, size: sint) -> Self:
        """These values where an index, which broadcasts, is from 0 to size - 1, and NaN elsewhere;
        ints and bools stay."""
        if not dtypes.is_float(self.dtype):
            return self
        return index._is_inside(size).where(self, math.nan)

    def _is_inside(self, size: sint) -> Self:
        """Whether indices are from 0 to size - 1."""
        is_below = self.lt(size)
        return is_below if dtypes.is_unsigned(self.dtype) else self.gt(-1) & is_below

    def _take(self, axis: int, index: Self, is_inside: bool = False) -> Self:
        """Elements `index`, of any shape, along an axis, which the axes of `index` replace; NaN out
        of bounds, and 0 for ints. is_inside: that none are is known."""
        size, before, after = self.shape[axis], self.shape[:axis], self.shape[axis + 1 :]
        count = math.prod(index.shape)
        spread = index.reshape((count, *[1] * len(after)))._broadcast_to((*before, count, *after))
        found = self._gather(axis, spread).reshape((*before, *index.shape, *after))
        if is_inside:
            return found
        return found._or_nan(index.reshape((*index.shape, *[1] * len(after))), size)

    def _check_as_many_axes(self, index: Self) -> None:
        if index.ndim != self.ndim:
            hint = ", as index.unsqueeze(-1) has" if index.ndim + 1 == self.ndim else ""
            raise ShapeError(
                f"the indices have shape {index._dims}, and the Tensor {self._dims}: they need "
                f"equally many axes{hint}"
            )

    def _facing(self, dim: int, index: Any, source: Any = None) -> tuple[int, Self]:
        """The axis and the checked indices of gather and scatter."""
        axis, index = self._axis(dim), self._index_tensor(index, dim if self.ndim else None)
        self._check_as_many_axes(index)
        for number, (n, size) in enumerate(zip(index.shape, self.shape, strict=True)):
            if number != axis and n > size:
                raise ShapeError(
                    f"indices of shape {index._dims} do not fit {self._dims}: axis {number} is "
                    "longer"
                )
        if source is not None and (
            source.ndim != index.ndim
            or any(n > size for n, size in zip(index.shape, source.shape, strict=True))
        ):
            raise ShapeError(f"a source of {source._dims} has too little for indices {index._dims}")
        return axis, index

    def gather(self, dim: int, index: Any) -> Self:
        """Element (…, index[…, k, …], …) along `dim`, in the shape of `index`.

        Out of bounds: TensorIndexError where that is known, else NaN, or 0 for ints. ShapeError if
        another axis of `index` is longer than that of self.
        """
        if self.ndim == 0:
            return self.reshape(1).gather(dim, self._index_tensor(index).reshape(1)).reshape(())
        axis, index = self._facing(dim, index)
        return self._gather(axis, index)._or_nan(index, self.shape[axis])

    def _gather(self, axis: int, index: Self) -> Self:
        """`gather`, for indices that are right; 0 out of bounds."""
        axis = self._axis(axis)
        return self._apply(lambda x, at: _facing(x, axis, at).take(axis, at), index)

    def index_select(self, dim: int, index: Any) -> Self:
        """The slices `index`, a vector, along `dim`.

        Out of bounds: as for `gather`.
        """
        return self._take(self._axis(dim), self._slice_numbers(dim, index))

    def take(self, index: Any) -> Self:
        """Elements of the flattened Tensor, in the shape of `index`; -1 is the last.

        Out of bounds: as for `gather`.
        """
        flat = self.flatten()
        return flat._take(0, flat._index_tensor(index, 0, from_end=True))

    def take_along_dim(self, indices: Any, dim: int | None = None) -> Self:
        """`gather`, where the other axes of self and `indices` broadcast; without `dim` both are
        flattened. -1 is the last.

        Out of bounds: as for `gather`.
        """
        if dim is None:
            return self.flatten().take_along_dim(self._index_tensor(indices).flatten(), 0)
        axis, index = self._axis(dim), self._index_tensor(indices, dim, from_end=True)
        self._check_as_many_axes(index)
        size = self.shape[axis]
        own, wanted = list(self.shape), list(index.shape)
        own[axis] = wanted[axis] = 1
        shape = broadcast_shapes(tuple(own), tuple(wanted))
        source = self._broadcast_to((*shape[:axis], size, *shape[axis + 1 :]))
        spread = index._broadcast_to((*shape[:axis], index.shape[axis], *shape[axis + 1 :]))
        return source._gather(axis, spread)._or_nan(spread, size)

    # ---- scatter ---------------------------------------------------------------------------------

    def _scattered(self, axis: int, index: Self, source: Self, op: Ops | None = None) -> Self:
        """A copy with `source`, cut to the shape of `index`, written to its positions, or combined
        with what is there by `op`; sums of half and bfloat16 are in float32."""
        if op is Ops.ADD and (wide := sum_acc_dtype(self.dtype)) is not self.dtype:
            return self.cast(wide)._scattered(axis, index, source.cast(wide), op).cast(self.dtype)

        def put(x: UOp, at: UOp, value: UOp) -> UOp:
            memory = x.contiguous()
            return memory.assign(value, _facing(memory, axis, at).take(axis, at), op)

        return self._apply(put, index, source.shrink_to(index.shape))

    def _source(self, source: Any, index: Any) -> Self:
        """The source of a scatter as a Tensor; a number is broadcast."""
        if isinstance(source, TensorBase):
            if source.dtype is not self.dtype:
                raise DTypeError(f"scatter of {source.dtype} into {self.dtype}: cast one of them")
            return source
        shape = self._index_tensor(index).shape
        return self._of(self._number(source, self.dtype).uop)._broadcast_to(shape)

    def scatter(
        self, dim: int, index: Any, src: Any = None, reduce: str | None = None, value: Any = None
    ) -> Self:
        """A copy in which element (…, index[…, k, …], …) is src[…, k, …]; the last of several wins.

        src: a Tensor or a number. reduce: "add" or "multiply" combines it with the old value.
        Out of bounds, here and in the methods below: TensorIndexError where that is known, else
        nothing is written.
        """
        source = self._source(value if src is None else src, index)
        if reduce is not None:
            check_choice("scatter's reduce", reduce, "add", "multiply", "sum", "prod")
            way = {"add": "sum", "multiply": "prod"}.get(reduce, reduce)
            return self.scatter_reduce(dim, index, source, way)
        if self.ndim == 0:
            return self.reshape(1).scatter(0, [0], source.reshape(1)).reshape(())
        axis, index = self._facing(dim, index, source)
        return self._scattered(axis, index, source)

    def scatter_add(self, dim: int, index: Any, src: Any) -> Self:
        """A copy with src[…, k, …] added to element (…, index[…, k, …], …)."""
        return self.scatter_reduce(dim, index, src, "sum")

    def scatter_reduce(
        self, dim: int, index: Any, src: Any, reduce: str, include_self: bool = True
    ) -> Self:
        """A copy in which all values scattered to one position are reduced to one.

        reduce: "sum", "prod", "mean", "amax" or "amin". include_self: together with the old value.
        """
        check_choice("scatter_reduce's reduce", reduce, "sum", "prod", "mean", "amax", "amin")
        source = self._source(src, index)
        axis, index = self._facing(dim, index, source)
        if reduce == "amin":
            return self._mirror().scatter_reduce(
                dim, index, source._mirror(), "amax", include_self
            )._mirror()  # fmt: skip
        op = {"prod": Ops.MUL, "amax": Ops.MAX}.get(reduce, Ops.ADD)
        own, one = self, self._number(1, dtypes.int32)._broadcast_to(index.shape)
        if not include_self:
            neutral = self._number(identity(op, self.dtype), self.dtype)._broadcast_to(index.shape)
            own = self._scattered(axis, index, neutral)
        if reduce != "mean":
            return own._scattered(axis, index, source, op)
        wide = sum_acc_dtype(self.dtype) if dtypes.is_float(self.dtype) else self.dtype
        total = own.cast(wide)._scattered(axis, index, source.cast(wide), op)
        first = self.full_like(int(include_self), dtype=dtypes.int32)
        count = first._scattered(axis, index, one, op).maximum(1).cast(wide)
        return (total / count if dtypes.is_float(wide) else total // count).cast(self.dtype)

    # ---- whole slices ----------------------------------------------------------------------------

    def _slice_numbers(self, dim: int, index: Any) -> Self:
        """Checked indices of slices along `dim`, as a vector."""
        index = self._index_tensor(index, dim)
        if index.ndim > 1:
            raise TensorIndexError(f"slices are selected by indices of one axis, not {index._dims}")
        return index.flatten()

    def _into_slices(self, scatter: Any, dim: int, index: Any, source: Any) -> Self:
        """`scatter` or `scatter_add` of the slices of `source`."""
        if self.ndim == 0:
            whole = self.reshape(1)._into_slices(scatter, dim, index, source.reshape(1))
            return whole.reshape(())
        axis, index = self._axis(dim), self._slice_numbers(dim, index)
        wanted = (*self.shape[:axis], index.shape[0], *self.shape[axis + 1 :])
        if source.shape != wanted:
            raise ShapeError(
                f"{index.shape[0]} indices along axis {axis} of {self._dims} take a source of "
                f"shape {sizes_text(wanted)}, not {source._dims}"
            )
        places = index.reshape((-1, *(1,) * (self.ndim - axis - 1))).expand(wanted)
        return scatter(self, axis, places, source)

    def index_add(self, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Self:
        """A copy with slice k of `source`, times alpha, added to slice index[k] along `dim`."""
        source = source if alpha == 1 else source * alpha
        return self._into_slices(Gathering.scatter_add, dim, index, source)

    def index_copy(self, dim: int, index: Any, source: Any) -> Self:
        """A copy in which slice index[k] along `dim` is slice k of `source`; the last of several
        wins."""
        return self._into_slices(Gathering.scatter, dim, index, source)

    def index_fill(self, dim: int, index: Any, value: Any) -> Self:
        """A copy in which the slices `index` along `dim` are filled with a number."""
        if self.ndim == 0:
            return self.reshape(1).index_fill(dim, index, value).reshape(())
        axis, index = self._axis(dim), self._index_tensor(index, dim, from_end=True)
        places = (*self.shape[:axis], index.numel(), *self.shape[axis + 1 :])
        index = index.reshape((-1, *(1,) * (self.ndim - axis - 1))).expand(places)
        return self._scattered(axis, index, self._number(value, self.dtype)._broadcast_to(places))

    # ---- masks -----------------------------------------------------------------------------------

    def one_hot(self, num_classes: sint | None = None) -> Self:
        """A new last axis with 1 at the position of each number, and 0 elsewhere; int32. Without
        num_classes it is the maximum plus 1; realizes.

        A number that is no class: TensorIndexError where that is known, else only zeros.
        """
        if not dtypes.is_int(self.dtype):
            raise DTypeError(f"one_hot needs ints, not {self.dtype}")
        if num_classes is None:
            needs_value("one_hot without num_classes")
            if self.numel() == 0 or self.min().item() < 0:
                raise ValueError("one_hot finds num_classes only for numbers of 0 or more")
            num_classes = int(self.max().item()) + 1
        if (num_classes := as_size(num_classes)) < 0:
            raise ValueError(
                f"one_hot needs 0 or more classes, not {num_classes}; leave num_classes out to "
                "use the maximum plus 1"
            )
        check_indices(self, (num_classes,), 0, kind="label")
        hot = self.unsqueeze(-1).eq(self._range(num_classes))
        return hot.cast(dtypes.default_int)

    def masked_select(self, mask: Any, size: int | None = None, fill_value: Any = 0) -> Self:
        """The elements where the mask is True, as a vector.

        Realizes, since the size of the result depends on values. With `size` it stays lazy: cut off
        there, or filled up with fill_value.
        """
        mask = mask if isinstance(mask, TensorBase) else type(self)(mask, device=self.device)
        if mask.dtype is not dtypes.bool:
            raise DTypeError(f"a mask is a Tensor of bools, not of {mask.dtype}")
        shape = broadcast_shapes(self.shape, mask.shape)
        x, mask = self._broadcast_to(shape), mask._broadcast_to(shape)
        found = x.flatten()._take(0, mask.flatten()._numbers_of_true(size))
        if size is None:
            return found
        there = self._range(size).lt(mask.count_nonzero())
        return there.where(found, self._number(fill_value, self.dtype))

    def _numbers_of_true(self, size: int | None = None) -> Self:
        """The positions where a vector is True, in order, and 0 for those that are missing."""
        wide = index_dtype(self.shape[0])
        if size is None:
            needs_value("a selection by a mask")
            places = self.numpy().nonzero()[0].astype(to_np_dtype(wide))
            return type(self)(places, device=self.device)
        number = self.where(self.cast(wide).cumsum(0) - 1, -1)  # -1 is no position
        none = self.zeros(size, dtype=wide, device=self.device)
        return none._scattered(0, number, self._range(self.shape[0]).cast(wide))

    def nonzero(self, size: int | None = None, fill_value: int = 0) -> Self:
        """The indices of nonzero elements: a row for each, in order, and a column for each axis.

        Realizes. With `size` it stays lazy, with that many rows; missing ones are filled with
        fill_value (an int).
        """
        mask = self.cast(dtypes.bool)
        picked = mask.flatten()._numbers_of_true(size)
        wide = picked.dtype
        if not isinstance(fill_value, int) or not wide.min <= fill_value <= wide.max:
            raise DTypeError(f"nonzero's fill_value is an int that fits {wide}, not {fill_value!r}")
        rows: Any = self.shape
        columns = [picked // math.prod(rows[d + 1 :]) % max(rows[d], 1) for d in range(self.ndim)]
        if not columns:
            return picked.reshape((-1, 1)).shrink((None, (0, 0)))
        found = columns[0].stack(*columns[1:], dim=-1)
        if size is None:
            return found
        there = self._range(size).lt(mask.count_nonzero()).unsqueeze(-1)
        return there.where(found, fill_value)

    def count_nonzero(self, axis: Any = None) -> Self:
        """The number of nonzero elements along axes; int32, or int64 where needed."""
        return self.cast(dtypes.bool).sum(axis, dtype=index_dtype(self.max_numel()))
