"""Gather and scatter: elements read from, and written to, the positions in a Tensor of indices.

There is no primitive for either. Element i of x is the sum over all positions p of x[p] where
p == i, and 0 elsewhere; the positions are an IOTA, which needs no memory. Scattering turns the
comparison around: position p takes its value from all k with index p.

    x.gather(0, i)      sum over p of  where(i[k] == p, x[p], 0)
    x.scatter(0, i, v)  last k with    i[k] == p

An index out of bounds equals no position. One rule holds for every method that takes indices or
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
from tinyframe.uop.node import Ops, UOp, index_dtype, sint
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
) -> None:  # fmt: skip
    """TensorIndexError if one of these is known to be out of bounds for an axis: neither `least`
    or more and less than its size, nor `ignored`."""
    size, values = shape[axis], _known(index)
    if values is None or values.size == 0 or isinstance(size, UOp):
        return
    if values.min() >= least and values.max() < size:
        return
    counted = values != ignored
    wrong = np.argwhere(counted & ((values < least) | (values >= size))).tolist()
    if not wrong:
        return
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


class Gathering(Elementwise):
    """Methods that take indices as Tensors."""

    def _index_tensor(self, index: Any, dim: int | None = None, from_end: bool = False) -> Self:
        """A Tensor, list or int as indices along an axis of self, checked where they are known;
        from_end: -1 is the last. TensorIndexError if they are not ints.

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
        if dim is not None:
            size = self.shape[dim]
            check_indices(found, self.shape, self._axis(dim), -size if from_end else 0)
        if found.dtype is dtypes.uint64:
            most = dtypes.int64.max
            found = found.gt(most).where(most, found).cast(dtypes.int64)
        if dim is None or not from_end:
            return found
        wide = index_dtype(size)
        found = found.cast(wide) if found.dtype.itemsize < wide.itemsize else found
        return found.lt(0).where(found + size, found)

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

    def _one_where(self, chosen: Self, axis: int) -> Self:
        """The element along an axis where `chosen` is True, or 0 if there is none. There is at most
        one, so no sum is rounded."""
        if self.dtype is dtypes.bool:
            return chosen.mul(self).any(axis)
        zero = self._number(0, self.dtype)
        return chosen.where(self, zero)._reduce(Ops.ADD, axis, keepdim=False)

    def _take(self, axis: int, index: Self) -> Self:
        """Elements `index`, of any shape, along an axis, which the axes of `index` replace; NaN out
        of bounds, and 0 for ints."""
        size, after = self.shape[axis], self.shape[axis + 1 :]
        chosen = index.reshape((math.prod(index.shape), 1)).eq(self._range(size))
        chosen = chosen.reshape((*chosen.shape, *[1] * len(after)))
        found = self.unsqueeze(axis)._one_where(chosen, axis + 1)
        found = found.reshape((*self.shape[:axis], *index.shape, *after))
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

    def _gather(self, dim: int, index: Self) -> Self:
        """`gather`, for indices that are right."""
        axis = self._axis(dim)
        bounds = [None if d == axis else (0, n) for d, n in enumerate(index.shape)]
        source = self.shrink(bounds).unsqueeze(-1).transpose(-1, axis)
        chosen = index.unsqueeze(-1).eq(self._range(self.shape[axis]))
        return source._one_where(chosen, self.ndim)

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

    def _facing_places(self, axis: int, index: Self, source: Any) -> tuple[Self, Self]:
        """(hits, values), with a last axis over all k of the indices along `axis`: whether index k
        is this position of self, and element k of the source; False beyond the indices."""
        hits = index.unsqueeze(-1).transpose(-1, axis).eq(self._along(axis).unsqueeze(-1))
        values = source.shrink_to(index.shape).unsqueeze(-1).transpose(-1, axis)
        sizes = [*[None if d == axis else size for d, size in enumerate(self.shape)], None]
        return hits.pad_to(sizes), values.pad_to(sizes)

    def _last_of(self, hits: Self, values: Self) -> Self:
        """The last of `values` along the last axis where `hits` is True, or else self."""
        count = hits.shape[-1]
        if count == 0:
            return self._value()
        number = hits.where(self._range(count) + 1, 0).max(-1)
        last = number.unsqueeze(-1).eq(self._range(count) + 1)
        values = values.expand((*values.shape[:-1], count))
        return number.gt(0).where(values._one_where(last, last.ndim - 1), self)

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
        return self._last_of(*self._facing_places(axis, index, source))

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
        hits, values = self._facing_places(axis, index, source)
        hit = hits.any(-1)
        neutral = {"sum": 0, "mean": 0, "prod": 1, "amax": self.dtype.min}[reduce]
        none = self._number(neutral, self.dtype)
        own = self if include_self else hit.where(none, self)
        values = hits.where(values, none)
        if reduce == "sum":
            return own + values.sum(-1).cast(self.dtype)
        if reduce == "prod":
            return own * values.prod(-1).cast(self.dtype)
        if reduce == "amax":
            return values.cat(own.unsqueeze(-1), dim=-1).max(-1)
        wide = sum_acc_dtype(self.dtype) if dtypes.is_float(self.dtype) else self.dtype
        total = own.cast(wide) + values.sum(-1, dtype=wide)
        count = hits.cast(dtypes.int32).sum(-1) + (1 if include_self else 0)
        count = count.maximum(1).cast(wide)
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
        is_there = index.reshape((-1, *(1,) * (self.ndim - axis))).eq(self._along(axis)).any(0)
        return is_there.where(self._number(value, self.dtype), self)

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
        """The positions where a vector is True, in order. Number k is the count of positions up to
        which at most k are True."""
        wide = index_dtype(self.shape[0])
        if size is None:
            needs_value("a selection by a mask")
            places = self.numpy().nonzero()[0].astype(to_np_dtype(wide))
            return type(self)(places, device=self.device)
        if self.shape[0] == 0:
            return self.zeros(size, dtype=dtypes.int32, device=self.device)
        upto = self.cast(wide).cumsum(0)
        return upto.unsqueeze(0).le(self._range(size).unsqueeze(1)).sum(1)

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
