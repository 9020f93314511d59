"""Losses: the distance of a prediction from its target, as one number to minimize.

reduction: "mean" (over the samples that count), "sum", or "none", which returns the loss of each
sample. ValueError for anything else.
"""

from __future__ import annotations

from typing import Any, Self

from tinyframe.dtype import dtypes, least_upper_dtype, sum_acc_dtype
from tinyframe.errors import DTypeError, ShapeError, check_choice
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.elementwise import float_function
from tinyframe.tensor.gathering import check_indices
from tinyframe.uop.show import sizes_text


class Losses(TensorBase):
    """Methods of a prediction; their first argument, `Y`, is the target."""

    def _reduced_to(self, reduction: str, total: Any = None) -> Self:
        """Losses, reduced. total: the divisor of a mean, by default their number."""
        check_choice("reduction", reduction, "mean", "sum", "none")
        if reduction == "none":
            return self
        if reduction == "sum":
            return self.sum()
        if total is None:
            return self.mean()
        return (self.sum(dtype=sum_acc_dtype(self.dtype)) / total).cast(self.dtype)

    def _log_limited(self) -> Self:
        """The logarithm, at least -100. Where 1/x would overflow it has no gradient, and that is
        said before the logarithm: behind it, the limit's gradient of 0 would meet inf."""
        return self.le(1e-38).where(self.detach(), self).log().clip(min=-100)

    # ---- probabilities ---------------------------------------------------------------------------

    def binary_crossentropy(self, Y: Self, reduction: str = "mean") -> Self:
        """-(Y * log(self) + (1 - Y) * log(1 - self)), where self is the probability of class 1.

        Y: 0, 1 or a probability. Logarithms are limited to -100 or more, as in PyTorch. Where one
        is, at a probability of 0, its gradient is 0 (PyTorch limits 1/p to 1e12).
        """
        other: Any = 1 - self
        losses = -(Y * self._log_limited() + (1 - Y) * other._log_limited())
        return losses._reduced_to(reduction)

    def binary_crossentropy_logits(
        self, Y: Self, reduction: str = "mean", pos_weight: Self | None = None
    ) -> Self:
        """binary_crossentropy of self.sigmoid(), in one step that does not overflow.

        pos_weight: the weight of class 1, in a shape that broadcasts.
        """
        truth = Y if pos_weight is None else Y * pos_weight
        loss = -(truth * self.logsigmoid() + (1 - Y) * (-self).logsigmoid())
        return loss._reduced_to(reduction)

    # ---- classes ---------------------------------------------------------------------------------

    @float_function
    def nll_loss(
        self,
        Y: Self,
        weight: Self | None = None,
        ignore_index: int | None = None,
        reduction: str = "mean",
    ) -> Self:
        """The negative log-likelihood: minus the log-probability of the right class.

        self: log-probabilities (batch, classes, …), or (classes,). Y: ints (batch, …), the right
        classes. weight: (classes,), the weight of each class; a mean is weighted by it.
        ignore_index: a class without a loss. Another label that is no class: TensorIndexError where
        that is known, as for indices (gathering.py), else its loss is NaN.
        """
        Y, axis = self._tensor(Y), 1 if self.ndim > 1 else 0
        if weight is not None and weight.shape != (self.shape[axis],):
            wanted = sizes_text(self.shape[axis : axis + 1])
            raise ShapeError(f"weight takes {wanted}, one a class, not {weight._dims}")
        right = self._at_class(Y, axis, ignore_index)
        counts = self._weight_of(Y, weight, ignore_index)
        if counts is None:
            return (-right)._reduced_to(reduction)
        loss = -right if weight is None else -right * counts
        return counts.ne(0).where(loss, 0)._reduced_to(reduction, counts.sum())

    @float_function
    def cross_entropy(
        self,
        Y: Self,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        weight: Self | None = None,
        ignore_index: int | None = -100,
    ) -> Self:
        """Minus the logarithm of the softmax probability of the right class.

        self: (batch, classes, …), or (classes,). Y: ints (batch, …), the right classes, or
        probabilities in the shape of self. label_smoothing: this fraction of the target is spread
        evenly over all classes. weight and ignore_index: as for `nll_loss`. ShapeError if Y does
        not fit.
        """
        if not 0 <= label_smoothing <= 1:
            raise ValueError(f"label_smoothing is from 0 to 1, not {label_smoothing}")
        Y, axis = self._tensor(Y), 1 if self.ndim > 1 else 0
        classes = self.shape[axis]
        log_probs = self.log_softmax(axis)
        along = None if weight is None else weight.reshape((-1, *(1,) * (self.ndim - 1 - axis)))
        if self.shape == Y.shape and (dtypes.is_float(Y.dtype) or self.ndim == 1):
            truth = Y * (1 - label_smoothing) + label_smoothing / classes
            truth = truth if along is None else truth * along
            losses = -(log_probs * truth).sum(axis)
            return losses._reduced_to(reduction, max(1, losses.numel()))
        loss = log_probs.nll_loss(Y, weight, ignore_index, reduction)
        if label_smoothing == 0:
            return loss
        even = -(log_probs if along is None else log_probs * along).mean(axis)
        if ignore_index is not None:
            even = Y.ne(ignore_index).where(even, 0)
        counts = self._weight_of(Y, weight, ignore_index)
        total = None if counts is None else counts.sum()
        return loss * (1 - label_smoothing) + even._reduced_to(reduction, total) * label_smoothing

    def sparse_categorical_crossentropy(
        self,
        Y: Self,
        ignore_index: int = -1,
        label_smoothing: float = 0.0,
        reduction: str = "mean",
    ) -> Self:
        """cross_entropy with the classes in the last axis: self (…, classes), Y ints (…)."""
        Y = self._tensor(Y)
        self._check_classes(Y, self.ndim - 1, ignore_index)
        loss = self.reshape((-1, self.shape[-1])).cross_entropy(
            Y.flatten(), reduction, label_smoothing, ignore_index=ignore_index
        )
        return loss.reshape(Y.shape) if reduction == "none" else loss

    def _check_classes(self, Y: Any, axis: int, ignore_index: int | None) -> None:
        """Whether Y holds the classes of what has them along `axis`."""
        wanted = tuple(size for number, size in enumerate(self.shape) if number != axis)
        if Y.shape != wanted:
            hint = ""
            if Y.shape == self.shape:
                hint = f". Y.argmax({axis}) makes classes of one-hot rows"
            elif Y.max_numel() * self.max_shape[axis] == self.max_numel():
                hint = f". Y.reshape({sizes_text(wanted)}) has that shape"
            elif Y.shape == self.shape[:-1]:
                hint = ". sparse_categorical_crossentropy has its classes on the last axis"
            raise ShapeError(
                f"{self._dims} has its classes on axis {axis}: it takes the class of each, of "
                f"shape {sizes_text(wanted)}, not {Y._dims}{hint}"
            )
        if not dtypes.is_int(Y.dtype):
            raise DTypeError(f'classes are ints, not {Y.dtype}: Y.cast("int32") makes them ints')
        check_indices(Y, self.shape, axis, ignored=ignore_index, kind="label")

    def _at_class(self, Y: Self, axis: int, ignore_index: int | None) -> Self:
        """The element of class Y along `axis`; NaN if it is no class, whether ignored or not."""
        self._check_classes(Y, axis, ignore_index)
        Y = self._index_tensor(Y)
        right = self._gather(axis, Y.unsqueeze(axis)).squeeze(axis)
        return right._or_nan(Y, self.shape[axis])

    def _weight_of(self, Y: Self, weight: Self | None, ignore_index: int | None) -> Self | None:
        """The weight of each sample; None if all weights are 1."""
        if weight is None and ignore_index is None:
            return None
        if weight is None:
            return Y.ne(ignore_index).cast(self.dtype)
        weight = weight.cast(least_upper_dtype(weight.dtype, self.dtype))
        table = weight.reshape((-1, *(1,) * Y.ndim)).expand((weight.shape[0], *Y.shape))
        counts = table._at_class(Y, 0, ignore_index)
        return counts if ignore_index is None else Y.ne(ignore_index).where(counts, 0)
