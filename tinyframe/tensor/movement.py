"""Movement: reshape, permute, expand, pad, shrink, flip, window, and methods built on them.

No element is moved or copied. Each method adds one node that says where in the source the elements
of the result are; the compiler turns these nodes into index arithmetic.

reshape, permute, expand, shrink, window and the methods built on them (transpose, squeeze, split,
…) return views of the same storage. pad, flip, repeat and cat return new values, as in PyTorch.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from typing import Any, Self

from tinyframe.dtype import ConstType, dtypes, least_upper_dtype, representable
from tinyframe.errors import AxisError, DTypeError, ShapeError
from tinyframe.tensor.base import TensorBase, as_int, as_size, flat_arguments
from tinyframe.uop.node import UOp, holds, lower, plain, resolve, sint, upper
from tinyframe.uop.show import sizes_text

Shape = tuple[sint, ...]


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The common shape of a broadcast: aligned at the last axis, and axes of size 1 expand.

    ShapeError if two sizes differ and neither is 1.
    """
    if shapes.count(shapes[0]) == len(shapes):
        return shapes[0]
    ndim = max(map(len, shapes))
    aligned = [(1,) * (ndim - len(shape)) + shape for shape in shapes]
    result = []
    for axis, sizes in enumerate(zip(*aligned, strict=True)):
        wanted = [size for size in dict.fromkeys(sizes) if size != 1]
        if len(wanted) > 1:
            named = " and ".join(map(sizes_text, shapes))
            one, other = map(sizes_text, wanted[:2])
            raise ShapeError(
                f"shapes {named} do not broadcast: sizes {one} and {other} meet at axis "
                f"{axis - ndim}, where they have to be equal, or one of them 1"
            )
        result.append(wanted[0] if wanted else 1)
    return tuple(result)


class Movement(TensorBase):
    """Methods that change where elements are, not what they are."""

    def _axis(self, axis: Any, ndim: int | None = None) -> int:
        """`axis` counted from the front; AxisError if it is out of range. Shape () has 0 and -1."""
        ndim = self.ndim if ndim is None else ndim
        number = as_int(axis, "an axis is an int (0 is the first, -1 the last)")
        if not -max(ndim, 1) <= number < max(ndim, 1):
            raise AxisError(
                f"axis {number} is out of range for shape {self._dims}: from {-max(ndim, 1)} to "
                f"{max(ndim, 1) - 1}"
            )
        return number + ndim if number < 0 and ndim else max(number, 0)

    def _axes(self, axes: Sequence[Any]) -> tuple[int, ...]:
        """Several axes, counted from the front; AxisError if one occurs twice."""
        found = tuple(self._axis(axis) for axis in axes)
        if len(set(found)) != len(found):
            raise AxisError(f"axes {tuple(axes)} name one axis of shape {self._dims} twice")
        return found

    # ---- primitives ------------------------------------------------------------------------------

    def reshape(self, *sizes: Any, shape: Any = None) -> Self:
        """The same elements in the same order, in another shape; one size may be -1: the rest.

        ShapeError if the numbers of elements differ.

            Tensor.arange(6).reshape(2, -1).shape    # (2, 3)
        """
        wanted = tuple(
            self.shape[self._axis(axis)] if size is None else as_size(size)
            for axis, size in enumerate(flat_arguments(sizes, shape))
        )  # fmt: skip
        unknown = [axis for axis, size in enumerate(wanted) if isinstance(size, int) and size == -1]
        if len(unknown) > 1:
            raise ShapeError(
                f"only one size can be -1, but there are {len(unknown)} in {sizes_text(wanted)}"
            )
        if any(isinstance(size, int) and size < -1 for size in wanted):
            raise ShapeError(
                f"cannot reshape {self._dims} to {sizes_text(wanted)}: a size is negative"
            )
        asked, elements = wanted, plain(math.prod(self.shape))

        def refused(why: str) -> ShapeError:
            what = f"cannot reshape {sizes_text(self.shape)} to {sizes_text(asked)}"
            return ShapeError(f"{what}: {sizes_text(elements)} elements do not {why}")

        if unknown:
            own, known = list(self.shape), [size for size in wanted if size != -1]
            for size in [size for size in known if isinstance(size, UOp) and size in own]:
                own.remove(size)  # it may be 0, so no division by it
                known.remove(size)
            left, rest = math.prod(own), math.prod(known)
            if rest == 0 or not holds(left % rest < 1):
                raise refused(f"divide by {sizes_text(plain(rest))}")
            found = plain(left // rest)
            wanted = tuple(found if axis in unknown else size for axis, size in enumerate(wanted))
        total = plain(math.prod(wanted))
        if total == elements:
            return self._view(lambda x: x.reshape(wanted))
        if not holds(total <= elements) or not holds(elements <= total):
            raise refused(f"fill {sizes_text(total)}")
        # equal for the bound values of the Variables; for others the missing elements are 0
        return self.reshape(elements).shrink(((0, total),)).reshape(wanted)

    def expand(self, *sizes: Any, shape: Any = None) -> Self:
        """Axes of size 1 repeated to the given sizes, without a copy; -1 or None keeps a size.

        There may be new axes in front. ShapeError if any other axis changes.
        """
        given = flat_arguments(sizes, shape)
        if len(given) < self.ndim:
            raise ShapeError(
                f"cannot expand {self._dims} to {sizes_text(tuple(given))}: it has fewer axes"
            )
        own = (1,) * (len(given) - self.ndim) + self.shape
        wanted = tuple(
            old if new is None or (isinstance(new, int) and new == -1) else as_size(new)
            for old, new in zip(own, given, strict=True)
        )  # fmt: skip
        for old, new in zip(own, wanted, strict=True):
            if (old != 1 and old != new) or (isinstance(new, int) and new < 0):
                raise ShapeError(
                    f"cannot expand {sizes_text(self.shape)} to {sizes_text(wanted)}: only an axis "
                    f"of size 1 stretches, and {sizes_text(old)} would have to become "
                    f"{sizes_text(new)}"
                )
        return self._view(lambda x: x.broadcast_to(wanted))

    def permute(self, *axes: Any, order: Any = None) -> Self:
        """The axes in another order: axis i of the result is axis order[i] of this."""
        given = flat_arguments(axes, order)
        axes = self._axes(given) if self.ndim or not given else ()
        if len(given) != self.ndim:
            raise ShapeError(
                f"permute needs all {self.ndim} axes of shape {self._dims}, not {tuple(given)}"
            )
        return self._view(lambda x: x.permute(axes))

    def flip(self, *axes: Any, axis: Any = None) -> Self:
        """Axes in reverse order, as a new value. (`t[::-1]` is a view.)"""
        return self._flipped(self._axes(flat_arguments(axes, axis)))._value()

    def _flipped(self, axes: tuple[int, ...]) -> Self:
        """A view with these axes reversed."""
        marks = tuple(number in axes for number in range(self.ndim))
        return self._view(lambda x: x.flip(marks))

    def shrink(self, bounds: Sequence[tuple[sint, sint] | None]) -> Self:
        """The part begin:end of each axis; None keeps the whole axis.

        Tensor.arange(5).shrink(((1, 3),))    # [1, 2]
        """
        if len(bounds) != self.ndim:
            raise ShapeError(
                f"shrink needs a (begin, end) or None for each of the {self.ndim} axes of "
                f"{self._dims}, not {tuple(bounds)}"
            )
        wanted = tuple(
            (0, size) if pair is None else (as_size(pair[0]), as_size(pair[1]))
            for pair, size in zip(bounds, self.shape, strict=True)
        )
        around: list[tuple[sint, sint]] = []
        for (begin, end), size in zip(wanted, self.shape, strict=True):
            if not (holds(begin >= 0) and holds(end >= begin) and holds(size >= end)):
                raise ShapeError(
                    f"cannot shrink {sizes_text(self.shape)} to {sizes_text(wanted)}: "
                    f"{sizes_text((begin, end))} is not within an axis of size {sizes_text(size)}"
                )
            # padded with 0 as far as other values of a Variable reach outside
            short = not resolve(size >= end, default=False)
            after = max(upper(end), upper(size)) - size if short else 0
            around.append((max(0, -lower(begin)), after))
        inner = tuple(
            (begin + before, end + before)
            for (begin, end), (before, _) in zip(wanted, around, strict=True)
        )
        return self._view(lambda x: x.pad(tuple(around)).shrink(inner))

    def _part(self, axis: int, begin: Any, end: Any) -> Self:
        """The part begin:end of one axis."""
        return self.shrink([(begin, end) if d == axis else None for d in range(self.ndim)])

    def window(self, axis: int, size: int, stride: int = 1, dilation: int = 1) -> Self:
        """Every window of `size` elements along an axis, as a new last axis.

        Element k of window o is element `o*stride + k*dilation`. Convolution, pooling and strided
        slices read windows; `unfold` is the same without dilation.
        """
        axis = self._axis(axis)
        if self.ndim == 0:
            return self.reshape(1).window(0, size, stride, dilation).squeeze(0)
        if size < 1 or stride < 1 or dilation < 1:
            raise ShapeError(
                f"a window has size, stride and dilation of 1 or more, not {size}, {stride}, "
                f"{dilation}"
            )
        reach = dilation * (size - 1) + 1
        if not holds(self.shape[axis] >= reach) and (size > 1 or self.shape[axis] != 0):
            raise ShapeError(
                f"a window that reaches over {reach} elements does not fit axis {axis} of "
                f"{sizes_text(self.shape)}"
            )
        return self._view(lambda x: x.window(axis, size, stride, dilation))

    def _padded(self, padding: Any, value: ConstType = 0) -> Self:
        """Padded with a constant; a negative width crops. See `pad`."""
        widths: Any = self._widths(padding)
        cropped: Self = self
        if any(isinstance(w, int) and w < 0 for pair in widths for w in pair):
            crop = [
                (-min(b, 0), size + min(a, 0))
                for size, (b, a) in zip(self.shape, widths, strict=True)
            ]
            if any(end < begin for begin, end in crop):
                raise ShapeError(f"cannot pad {self._dims} by {widths}: that crops too much")
            cropped = self.shrink(crop)
            widths = tuple((max(b, 0), max(a, 0)) for b, a in widths)
        padded = cropped._apply(lambda x: x.pad(widths))
        if value == 0:
            return padded
        if not dtypes.is_float(self.dtype) and not math.isfinite(value):
            raise DTypeError(f"{value} cannot be a value of {self.dtype}")
        fill = representable(value, self.dtype)
        inside = UOp.const(dtypes.bool, True).broadcast_to(cropped.shape).pad(widths)
        return padded._apply(lambda x: inside.where(x, x.const_like(fill)))

    def _widths(self, padding: Any) -> tuple[tuple[sint, sint], ...]:
        """Padding, in either notation of `pad`, as (before, after) for each axis."""
        if not isinstance(padding, (tuple, list)):
            raise TypeError(f"padding is a sequence of widths or of pairs, not {padding!r}")
        if all(isinstance(width, (int, UOp)) for width in padding):
            if len(padding) % 2 or len(padding) > 2 * self.ndim:
                raise ShapeError(
                    f"flat padding is (before, after) for up to {self.ndim} axes of {self._dims}, "
                    f"last axis first, not {tuple(padding)}"
                )
            pairs = list(zip(padding[::2], padding[1::2], strict=True))[::-1]
            return ((0, 0),) * (self.ndim - len(pairs)) + tuple(pairs)
        if len(padding) != self.ndim or any(
            pair is not None and (not isinstance(pair, (tuple, list)) or len(pair) != 2)
            for pair in padding
        ):
            raise ShapeError(
                f"padding needs a (before, after) or None for each of the {self.ndim} axes of "
                f"{self._dims}, not {tuple(padding)}"
            )
        return tuple((0, 0) if pair is None else (pair[0], pair[1]) for pair in padding)

    # ---- built on these --------------------------------------------------------------------------

    def pad_to(self, *shape: Any, value: ConstType = 0) -> Self:
        """Padded at the end of each axis to these sizes; None keeps a size."""
        return self.pad(self._to_sizes(shape, 1), value=value)

    def shrink_to(self, *shape: Any) -> Self:
        """Cut at the end of each axis to these sizes; None keeps a size."""
        return self.shrink([(0, size + more) for size, (_, more) in
                            zip(self.shape, self._to_sizes(shape, -1), strict=True)])  # fmt: skip

    def _to_sizes(self, shape: tuple[Any, ...], sign: int) -> tuple[tuple[int, Any], ...]:
        wanted = flat_arguments(shape)
        if len(wanted) != self.ndim:
            raise ShapeError(
                f"{sizes_text(tuple(wanted))} needs as many sizes as {self._dims}, or None for them"
            )
        more = tuple((0, 0 if new is None else new - old)
                     for new, old in zip(wanted, self.shape, strict=True))  # fmt: skip
        if any(not resolve(step * sign >= 0) for _, step in more):
            raise ShapeError(
                f"{self._dims} cannot be {'padded' if sign > 0 else 'shrunk'} to "
                f"{sizes_text(tuple(wanted))}"
            )
        return more

    def transpose(self, dim0: int = 1, dim1: int = 0) -> Self:
        """Two axes swapped."""
        first, second = self._axis(dim0), self._axis(dim1)
        order = list(range(self.ndim))
        if order:
            order[first], order[second] = order[second], order[first]
        return self.permute(order)

    @property
    def T(self) -> Self:
        """All axes in reverse order: the transpose of a matrix."""
        return self.permute(tuple(range(self.ndim))[::-1])

    def squeeze(self, dim: int | Sequence[int] | None = None) -> Self:
        """Axes of size 1 removed: all of them, or those in `dim`."""
        axes = self._reduced(dim)
        kept = [s for axis, s in enumerate(self.shape) if axis not in axes or s != 1]
        return self.reshape(kept)

    def unsqueeze(self, dim: int) -> Self:
        """A new axis of size 1, inserted as axis `dim`."""
        axis = self._axis(dim, self.ndim + 1)
        return self.reshape((*self.shape[:axis], 1, *self.shape[axis:]))

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Self:
        """The axes start_dim to end_dim merged into one."""
        start, end = self._axis(start_dim), self._axis(end_dim)
        if start > end:
            raise ShapeError(f"cannot flatten {self._dims} from axis {start_dim} to {end_dim}")
        merged = math.prod(self.shape[start : end + 1])
        return self.reshape((*self.shape[:start], merged, *self.shape[end + 1 :]))

    def unflatten(self, dim: int, sizes: Sequence[int]) -> Self:
        """One axis split into several; one of `sizes` may be -1."""
        axis = self._axis(dim)
        known = math.prod(size for size in sizes if size != -1)
        found = tuple(self.shape[axis] // known if size == -1 and known else size for size in sizes)
        if sum(size == -1 for size in sizes) > 1 or plain(math.prod(found)) != self.shape[axis]:
            raise ShapeError(
                f"cannot unflatten axis {dim} of {self._dims} into {sizes_text(tuple(sizes))}"
            )
        return self.reshape((*self.shape[:axis], *found, *self.shape[axis + 1 :]))

    def unfold(self, dim: int, size: int, step: int) -> Self:
        """Windows of `size` elements along `dim`, `step` apart, as a new last axis."""
        return self.window(dim, size, step)

    def repeat(self, *repeats: Any) -> Self:
        """Repeated along each axis, by these counts; extra counts add axes in front."""
        counts = tuple(map(as_int, flat_arguments(repeats)))
        if len(counts) < self.ndim or any(count < 0 for count in counts):
            raise ShapeError(
                f"repeat needs a count of 0 or more for each axis of {self._dims}, not {counts}"
            )
        own = (1,) * (len(counts) - self.ndim) + self.shape
        paired = tuple(n for size in own for n in (1, size))
        wanted = tuple(n for pair in zip(counts, own, strict=True) for n in pair)
        final = tuple(count * size for count, size in zip(counts, own, strict=True))
        return self.reshape(paired).expand(wanted).reshape(final)._value()

    def repeat_interleave(self, repeats: int, dim: int | None = None) -> Self:
        """Each element repeated in place, along `dim` or in the flattened Tensor."""
        if repeats < 0:
            raise ShapeError(f"repeat_interleave needs a count of 0 or more, not {repeats}")
        axis = 0 if dim is None else self._axis(dim)
        x = self.flatten() if dim is None or self.ndim == 0 else self
        wide = x.unsqueeze(axis + 1)
        copies = wide.expand([repeats if d == axis + 1 else -1 for d in range(wide.ndim)])
        return copies.flatten(axis, axis + 1)._value()

    def split(self, sizes: int | Sequence[int], dim: int = 0) -> tuple[Self, ...]:
        """Pieces along an axis: of one size (the last may be smaller), or of a list of sizes."""
        axis = self._axis(dim)
        if self.ndim == 0:
            raise AxisError("a Tensor of shape () cannot be split")
        total = operator.index(self.shape[axis])
        if isinstance(sizes, int):
            if sizes < 0 or (sizes == 0 and total != 0):
                raise ShapeError(f"cannot split axis {dim} of {self._dims} into pieces of {sizes}")
            cuts = range(0, max(total, 1), sizes or 1)
            sizes = [min(sizes, total - cut) for cut in cuts]
        if sum(sizes) != total or any(size < 0 for size in sizes):
            raise ShapeError(f"sizes {tuple(sizes)} do not add up to axis {dim} of {self._dims}")
        ends = itertools.accumulate(sizes)
        return tuple(self._part(axis, end - n, end) for n, end in zip(sizes, ends, strict=True))

    def chunk(self, chunks: int, dim: int = 0) -> list[Self]:
        """At most `chunks` pieces along an axis, equal but for the last."""
        if not isinstance(chunks, int) or chunks < 1:
            raise ShapeError(f"chunk needs a number of pieces of 1 or more, not {chunks!r}")
        total = operator.index(self.shape[self._axis(dim)]) if self.ndim else 0
        if total == 0 and self.ndim:
            return [self] * chunks
        return list(self.split(-(-total // chunks), dim))

    def cat(self, *others: Any, dim: int | None = None) -> Self:
        """Tensors concatenated along `dim`: `a.cat(b, c)` or `Tensor.cat([a, b, c])`.

        `dim` is 0 by default, and may be the last positional argument: `Tensor.cat([a, b], 1)`.
        dtypes promote. ShapeError if another axis differs.
        """
        tensors, dim = _tensors_and_axis("cat", (self, *others), dim)
        first = tensors[0]
        axis = first._axis(dim)
        rests = [(t.ndim, t.shape[:axis], t.shape[axis + 1 :]) for t in tensors]
        for other, rest in zip(tensors, rests, strict=True):
            if rest != rests[0] or first.ndim == 0:
                raise ShapeError(
                    f"cannot cat {first._dims} and {other._dims} along axis {dim}: the other "
                    "axes have to agree"
                )
        dtype = least_upper_dtype(*[tensor.dtype for tensor in tensors])
        parts = [tensor for tensor in tensors if tensor.shape[axis] != 0] or tensors[:1]

        def joined(first: UOp, *rest: UOp) -> UOp:
            return first.cast(dtype).cat(*[x.cast(dtype) for x in rest], dim=axis)

        return parts[0]._apply(joined, *parts[1:])

    def stack(self, *others: Any, dim: int | None = None) -> Self:
        """Tensors of equal shape along a new axis `dim`; arguments as for `cat`."""
        tensors, dim = _tensors_and_axis("stack", (self, *others), dim)
        if len({tensor.shape for tensor in tensors}) > 1:
            raise ShapeError(f"cannot stack shapes {' and '.join(t._dims for t in tensors)}")
        axis = tensors[0]._axis(dim, tensors[0].ndim + 1)
        first, *rest = [tensor.unsqueeze(axis) for tensor in tensors]
        return first.cat(*rest, dim=axis)


def _tensors_and_axis(
    name: str, given: Sequence[Any], dim: int | None
) -> tuple[Sequence[Any], int]:
    """Tensors, one by one or in a list, and the axis: `dim`, or the last argument."""
    if dim is None and hasattr(given[-1], "__index__"):
        *given, dim = given
    tensors = flat_arguments(tuple(given))
    for tensor in tensors or [()]:
        if not isinstance(tensor, TensorBase):
            raise TypeError(f"{name} takes Tensors, or a list of them, and an axis, not {tensor!r}")
    return tensors, dim or 0
