"""Reductions along axes, and the operations built on them: softmax, var, matmul.

There are three primitives, each a REDUCE_AXIS node: sum, product, maximum. It keeps reduced axes
with size 1; a RESHAPE removes them unless `keepdim`. Over no elements the sum is 0, the product 1
and the maximum the smallest value of the dtype; but the method `max` refuses to take that.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Self

from tinyframe.dtype import DTypeLike, dtypes, least_upper_float, sum_acc_dtype, to_dtype
from tinyframe.errors import ShapeError
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.elementwise import Elementwise, exact_dtype, float_function, product_dtypes
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text

Axis = int | Sequence[int] | None


def axis_names(method: Callable) -> Callable:
    """Decorator: also accepts PyTorch's `dim=` for `axis=` and NumPy's `keepdims=`; TypeError
    for `out=`, which is how a function of NumPy calls the method."""

    @functools.wraps(method)
    def renamed(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "out" in kwargs:  # np.sum(x) calls x.sum(axis=…, out=…)
            name = method.__name__
            raise TypeError(
                f"np.{name} takes an array, not a Tensor: write x.{name}(), or np.{name}(x.numpy())"
            )
        if "dim" in kwargs:
            kwargs["axis"] = kwargs.pop("dim")
        if "keepdims" in kwargs:
            kwargs["keepdim"] = kwargs.pop("keepdims")
        return method(self, *args, **kwargs)

    return renamed


class Reduce(Elementwise):
    """Methods along axes. axis: an int or several, negative from the end; None for all."""

    def _reduce(self, op: Ops, axis: Axis, keepdim: bool) -> Self:
        axes = self._reduced(axis)
        result = self._apply(lambda x: x.reduce_axis(op, axes))
        if keepdim:
            return result
        kept_sizes = tuple(s for d, s in enumerate(self.shape) if d not in axes)
        return result._view(lambda x: x.reshape(kept_sizes))

    def _reduced(self, axis: Axis) -> tuple[int, ...]:
        """The axes in `axis`, counted from the front."""
        if axis is None:
            return tuple(range(self.ndim))
        axes = self._axes(tuple(axis) if isinstance(axis, (tuple, list)) else (axis,))
        return axes if self.ndim else ()

    def _count(self, axis: Axis) -> Any:
        """How many elements each result is reduced from."""
        return math.prod(self.shape[number] for number in self._reduced(axis))

    def _check_nonempty(self, what: str, axis: Axis) -> Self:
        """This Tensor; ShapeError if the method `what` would have no element to work on."""
        if self._count(axis) == 0:
            along = "" if axis is None else f" along axis {axis}"
            raise ShapeError(f"{what}{along} of shape {self.shape}: there are no elements")
        return self

    def _accumulate(self, op: Ops, axis: Axis, keepdim: bool, dtype: DTypeLike | None) -> Self:
        """Reduced in the dtype of `sum_acc_dtype`; half and bfloat16 are rounded once, at the
        end."""
        wanted = sum_acc_dtype(self.dtype) if dtype is None else to_dtype(dtype)
        if dtype is None and dtypes.is_float(self.dtype):
            wanted = self.dtype
        return self.cast(exact_dtype(wanted))._reduce(op, axis, keepdim).cast(wanted)

    @axis_names
    def sum(self, axis: Axis = None, keepdim: bool = False, dtype: DTypeLike | None = None) -> Self:
        """The sum along axes; bools and ints below 32 bits give int32 or uint32.

        Ints wrap around: `Tensor.arange(100000).sum()` is 704982704, and with
        dtype="int64" it is 4999950000.
        """
        return self._accumulate(Ops.ADD, axis, keepdim, dtype)

    @axis_names
    def prod(
        self, axis: Axis = None, keepdim: bool = False, dtype: DTypeLike | None = None
    ) -> Self:
        """The product along axes, in the dtypes of `sum`.

        An element's gradient is a quotient: the product of all that aren't 0, divided by this one.
        So beside an infinity it may be NaN; PyTorch's is too, unless an element is 0.
        """
        return self._accumulate(Ops.MUL, axis, keepdim, dtype)

    @axis_names
    def max(self, axis: Axis = None, keepdim: bool = False) -> Self:
        """The largest along axes; NaN where one is NaN. The gradient goes to it, in equal parts if
        there are several. ShapeError if there are no elements."""
        return self._check_nonempty("max", axis)._reduce(Ops.MAX, axis, keepdim)

    @axis_names
    def min(self, axis: Axis = None, keepdim: bool = False) -> Self:
        """The smallest along axes; NaN where one is NaN. Gradients and errors as for `max`."""
        return self._check_nonempty("min", axis)._mirror()._reduce(Ops.MAX, axis, keepdim)._mirror()

    @axis_names
    def any(self, axis: Axis = None, keepdim: bool = False) -> Self:
        """True where at least one element along the axes is nonzero."""
        return self.cast(dtypes.bool)._reduce(Ops.MAX, axis, keepdim)

    @axis_names
    def all(self, axis: Axis = None, keepdim: bool = False) -> Self:
        """True where all elements along the axes are nonzero."""
        return self.logical_not().any(axis, keepdim).logical_not()

    @axis_names
    def mean(self, axis: Axis = None, keepdim: bool = False) -> Self:
        """The mean along axes, a float also for ints; NaN over no elements."""
        dtype = least_upper_float(self.dtype)
        total = self.cast(sum_acc_dtype(dtype)).sum(axis, keepdim)
        return (total / self._count(axis)).cast(dtype)

    @axis_names
    @float_function
    def var(self, axis: Axis = None, keepdim: bool = False, correction: int = 1) -> Self:
        """The variance: squared distances from the mean, summed and divided by n - correction."""
        distances = self - self.mean(axis, keepdim=True)
        total = distances.square().sum(axis, keepdim)
        spare = self._count(axis) - correction
        return total / (spare.maximum(0) if isinstance(spare, UOp) else max(0, spare))

    @axis_names
    @float_function
    def std(self, axis: Axis = None, keepdim: bool = False, correction: int = 1) -> Self:
        """The square root of `var`; where that is 0 the gradient is 0, and not 0 * inf."""
        variance = self.var(axis, keepdim, correction)
        return (variance == 0).where(variance, (variance == 0).where(1.0, variance).sqrt())

    @axis_names
    def std_mean(
        self, axis: Axis = None, keepdim: bool = False, correction: int = 1
    ) -> tuple[Self, Self]:
        """(std, mean)."""
        return self.std(axis, keepdim, correction), self.mean(axis, keepdim)

    @axis_names
    def argmax(self, axis: int | None = None, keepdim: bool = False) -> Self:
        """The index of the first maximum along an axis, or in the flattened Tensor; int32, or int64
        for longer axes.

        NaN counts as the largest. ShapeError if there are no elements.
        """
        self._check_nonempty("argmax", axis)
        if axis is None:
            found = self.flatten().argmax(0)
            return found.reshape((1,) * self.ndim) if keepdim else found
        if self.ndim == 0:
            return self.flatten().argmax(self._axis(axis), keepdim=False)
        axis = self._axis(axis)
        size = self.shape[axis]
        best = self._is_best(self.max(axis, keepdim=True))
        # The first one has the most elements after it.
        return size - best.where(size - self._along(axis), 0).max(axis, keepdim)

    def _is_best(self, largest: Self) -> Self:
        """True where an element equals the largest, or is NaN, which counts as the largest."""
        found = self.eq(largest)
        return found + self.isnan() if dtypes.is_float(self.dtype) else found

    @axis_names
    def argmin(self, axis: int | None = None, keepdim: bool = False) -> Self:
        """The index of the first minimum along an axis, or in the flattened Tensor; as `argmax`."""
        return self._check_nonempty("argmin", axis)._mirror().argmax(axis, keepdim)

    # ---- softmax and log-sum-exp -----------------------------------------------------------------

    def _shifted(self, axis: Axis) -> Self:
        """self minus its maximum, so that exp does not overflow. The shift cancels out, so no
        gradient flows through it."""
        return self - self._reduce(Ops.MAX, axis, keepdim=True).detach()

    @axis_names
    def softmax(self, axis: int = -1, dtype: DTypeLike | None = None) -> Self:
        """exp(self) divided by its sum along an axis: positive numbers that add up to 1."""
        return (self if dtype is None else self.cast(dtype))._softmax(axis)

    @float_function
    def _softmax(self, axis: int) -> Self:
        powers = self._shifted(axis).exp()
        return powers * powers.sum(axis, keepdim=True).reciprocal()

    @axis_names
    def softmin(self, axis: int = -1, dtype: DTypeLike | None = None) -> Self:
        """The softmax of -self."""
        return self.neg().softmax(axis, dtype)

    @axis_names
    def log_softmax(self, axis: int = -1, dtype: DTypeLike | None = None) -> Self:
        """The logarithm of softmax, in one step that does not underflow."""
        return (self if dtype is None else self.cast(dtype))._log_softmax(axis)

    @float_function
    def _log_softmax(self, axis: int) -> Self:
        shifted = self._shifted(axis)
        return shifted - shifted.exp().sum(axis, keepdim=True).log()

    @axis_names
    @float_function
    def logsumexp(self, axis: Axis = None, keepdim: bool = False) -> Self:
        """log(sum(exp(self))) along axes, without overflow."""
        largest = self._reduce(Ops.MAX, axis, keepdim=True).detach()
        nothing = largest.eq(-math.inf)  # log(0) would have the gradient inf * 0
        largest = largest.isinf().where(0.0, largest)  # inf - inf would be NaN
        powers = (self - largest).exp().sum(axis, keepdim=True)
        total = nothing.where(-math.inf, nothing.where(1.0, powers).log() + largest)
        return total if keepdim else total.squeeze(self._reduced(axis))

    # ---- matrix products -------------------------------------------------------------------------

    def dot(self, w: Any, dtype: DTypeLike | None = None) -> Self:
        """The matrix product with `w`, by NumPy's rules for any number of axes.

        (…, m, k) @ (…, k, n) gives (…, m, n); the leading axes broadcast. A vector is one row on
        the left and one column on the right. ShapeError if the two k differ.

        It is a multiplication and a sum: the products of all rows and columns form a Tensor
        (…, m, n, k), which is never stored. On a GPU the sum is added up in order, in float32, as
        in PyTorch; elsewhere in blocks, with smaller rounding errors.
        """
        x, w = self, self._tensor(w)
        if not isinstance(w, TensorBase) or 0 in (x.ndim, w.ndim):
            shape = w.shape if isinstance(w, TensorBase) else repr(w)
            raise ShapeError(f"matmul needs at least one axis on both sides: {x._dims} @ {shape}")
        inner = -min(w.ndim, 2)
        if x.shape[-1] != w.shape[inner]:
            left, right = sizes_text(x.shape), sizes_text(w.shape)
            one, other = sizes_text(x.shape[-1]), sizes_text(w.shape[inner])
            raise ShapeError(
                f"cannot multiply {left} @ {right}: the last axis of the left, {one}, and axis "
                f"{inner} of the right, {other}, have to be equal"
            )
        exact, result = product_dtypes(dtype, x, w)
        both_matrices = (1,) * min(x.ndim - 1, w.ndim - 1, 1)
        rows = x.cast(exact).reshape((*x.shape[:-1], *both_matrices, x.shape[-1]))
        columns = w.cast(exact).reshape((*w.shape[:-2], *both_matrices, *w.shape[inner:]))
        products = rows * columns.transpose(-1, inner)
        return products.sum(-1).cast(result)

    def matmul(self, x: Any, reverse: bool = False, dtype: DTypeLike | None = None) -> Self:
        """self @ x; see `dot`."""
        if reverse:
            return self._tensor(x).dot(self, dtype)
        return self.dot(x, dtype)
