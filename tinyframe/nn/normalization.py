"""Normalization to mean 0 and variance 1 over some axes, then a learned scale and shift.

The layers differ in the axes, here of (batch, channels, height, width):

    BatchNorm      batch, height, width      statistics of the batch; running ones outside training
    LayerNorm      the last ones             each sample, and each position, by itself
    GroupNorm      height, width and the channels of a group
    InstanceNorm   height, width             a group for each channel
    RMSNorm        the last ones             without subtracting the mean

Half and bfloat16 are computed in float32, and rounded at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinyframe.dtype import dtypes, least_upper_dtype, least_upper_float, sum_acc_dtype
from tinyframe.errors import ShapeError
from tinyframe.nn.initial import kept
from tinyframe.nn.layer import TakesTensors
from tinyframe.tensor.core import Tensor


class BatchNorm(TakesTensors):
    """Each channel (axis 1) normalized over the batch. The same for 2-d, 3-d, 4-d, 5-d input.

    In training (`with Tensor.train():`) it uses the mean and variance of the batch, and moves
    `running_mean` and `running_var` towards them by the fraction `momentum`; otherwise it uses
    these. The updates are lazy: they are stored with the optimizer's next step, or when read.
    momentum=None keeps a plain average over all batches, and is not lazy.

    affine=False: no weight and bias. track_running_stats=False: always the batch's statistics.
    Ioffe and Szegedy, "Batch normalization" (2015).
    """

    def __init__(
        self,
        sz: int,
        eps: float = 1e-5,
        affine: bool = True,
        track_running_stats: bool = True,
        momentum: float | None = 0.1,
    ):
        self.sz, self.eps, self.momentum = sz, eps, momentum
        self.track_running_stats = track_running_stats
        self.weight = Tensor.ones(sz) if affine else None
        self.bias = Tensor.zeros(sz) if affine else None
        self.running_mean: Any = kept(0.0, (sz,)) if track_running_stats else None
        self.running_var: Any = kept(1.0, (sz,)) if track_running_stats else None
        self.num_batches_tracked: Any = kept(0, (), dtypes.int64) if track_running_stats else None

    def __call__(self, x: Tensor) -> Tensor:
        """(batch, sz, …) to the same shape. ShapeError if axis 1 is not `sz`."""
        if x.ndim < 2 or x.shape[1] != self.sz:
            raise ShapeError(f"BatchNorm({self.sz}) takes (batch, {self.sz}, ...), not {x._dims}")
        values = x.cast(least_upper_dtype(x.dtype, dtypes.float32))
        if self.running_mean is not None and not Tensor.training:
            mean, variance = self.running_mean, self.running_var
        else:
            axes = tuple(axis for axis in range(x.ndim) if axis != 1)
            mean = values.mean(axes)
            # detached: the derivative of the variance with respect to the mean is 0
            distances = values - mean.detach().reshape((1, -1, *(1,) * (x.ndim - 2)))
            variance = distances.square().mean(axes)
            if Tensor.training:
                self._track(mean.detach(), variance.detach(), values.numel() // self.sz)
        scale = (variance + self.eps).rsqrt()
        normal = values.batchnorm(self.weight, self.bias, mean, scale)
        return normal.cast(least_upper_float(x.dtype))

    def _track(self, mean: Tensor, variance: Tensor, count: int) -> None:
        """Updates the running statistics, with the unbiased variance, as in PyTorch."""
        if count < 2:
            raise ValueError(
                "BatchNorm cannot train on one value for each channel: its variance is 0. Take a "
                "larger batch"
            )
        if self.running_mean is None:
            return
        self.num_batches_tracked.assign(self.num_batches_tracked + 1)
        step = self.momentum
        if step is None:
            step = 1 / self.num_batches_tracked.cast(sum_acc_dtype(self.running_mean.dtype))
        for running, new in (
            (self.running_mean, mean),
            (self.running_var, variance * (count / (count - 1))),
        ):
            running.assign((running + (new - running) * step).cast(running.dtype))
        if self.momentum is None:
            # Both read the counter, which the next batch changes in place: computed now.
            Tensor.realize(self.running_mean, self.running_var, self.num_batches_tracked)


class BatchNorm1d(BatchNorm):
    """BatchNorm, by PyTorch's name for vectors and sequences."""


class BatchNorm2d(BatchNorm):
    """BatchNorm, by PyTorch's name for images."""


class BatchNorm3d(BatchNorm):
    """BatchNorm, by PyTorch's name for volumes."""


class LayerNorm(TakesTensors):
    """Normalization over the last axes, of sizes `normalized_shape`.

    weight and bias: of that shape, or None. Ba, Kiros and Hinton, "Layer normalization" (2016).
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
    ):
        self.normalized_shape = _sizes(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.weight = Tensor.ones(self.normalized_shape) if elementwise_affine else None
        self.bias = Tensor.zeros(self.normalized_shape) if elementwise_affine and bias else None

    def __call__(self, x: Tensor) -> Tensor:
        """(…, *normalized_shape) to the same shape."""
        axes = _last_axes(self.normalized_shape, x)
        return x.layernorm(axes, self.eps, self.weight, self.bias)


class LayerNorm2d(LayerNorm):
    """LayerNorm over the channels of (batch, channels, height, width), at each position."""

    def __call__(self, x: Tensor) -> Tensor:
        return super().__call__(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class GroupNorm(TakesTensors):
    """Groups of channels (axis 1), each normalized over its channels and all positions.

    weight and bias: (num_channels,), or None. Wu and He, "Group normalization" (2018).
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True):
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(f"{num_channels} channels do not divide into {num_groups} groups")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight = Tensor.ones(num_channels) if affine else None
        self.bias = Tensor.zeros(num_channels) if affine else None

    def __call__(self, x: Tensor) -> Tensor:
        """(batch, num_channels, …) to the same shape."""
        if x.ndim < 2 or x.shape[1] != self.num_channels:
            shape = f"(batch, {self.num_channels}, ...)"
            raise ShapeError(f"{type(self).__name__} takes {shape}, not {x._dims}")
        return x.groupnorm(self.num_groups, self.weight, self.bias, self.eps)


class InstanceNorm(GroupNorm):
    """Each channel of each sample normalized over its positions.

    Ulyanov, Vedaldi and Lempitsky, "Instance normalization" (2016).
    """

    def __init__(self, num_features: int, eps: float = 1e-5, affine: bool = True):
        super().__init__(num_features, num_features, eps, affine)


class RMSNorm(TakesTensors):
    """Division by the root mean square over the last axes, of sizes `dim`.

    weight: of that shape, or None. Zhang and Sennrich, "Root mean square layer normalization"
    (2019).
    """

    def __init__(
        self, dim: int | Sequence[int], eps: float = 1e-6, elementwise_affine: bool = True
    ):
        self.dim = _sizes(dim)
        self.eps = eps
        self.weight = Tensor.ones(self.dim) if elementwise_affine else None

    def __call__(self, x: Tensor) -> Tensor:
        """(…, *dim) to the same shape."""
        return x.rms_norm(_last_axes(self.dim, x), self.eps, self.weight)


# ---- shared helpers ------------------------------------------------------------------------------


def _sizes(sizes: int | Sequence[int]) -> tuple[int, ...]:
    return (sizes,) if isinstance(sizes, int) else tuple(sizes)


def _last_axes(sizes: tuple[int, ...], x: Tensor) -> tuple[int, ...]:
    if x.shape[max(x.ndim - len(sizes), 0) :] != sizes:
        raise ShapeError(f"a norm over {sizes} takes a shape that ends so, not {x._dims}")
    return tuple(range(-len(sizes), 0))
