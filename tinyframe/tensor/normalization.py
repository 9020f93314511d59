"""Normalization: shifted and scaled to mean 0 and variance 1 over some axes.

Half and bfloat16 are computed in float32, and rounded at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from tinyframe.errors import ShapeError
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.elementwise import float_function

Axes = int | Sequence[int]


class Normalization(TensorBase):
    """Methods that normalize. weight and bias, where given, scale and shift the result."""

    def batchnorm(
        self, weight: Self | None, bias: Self | None, mean: Self, invstd: Self, axis: Axes = 1
    ) -> Self:
        """(self - mean) * invstd * weight + bias, with one of each for every index along `axis`.

        mean and invstd, 1 / sqrt(variance + eps), are the statistics of a batch or running ones.
        """
        axes = self._axes((axis,) if isinstance(axis, int) else tuple(axis))
        shape = tuple(size if number in axes else 1 for number, size in enumerate(self.shape))

        def along(values: Self) -> Self:
            return values if values.ndim == self.ndim else values.reshape(shape)

        scale = along(invstd) if weight is None else along(invstd) * along(weight)
        normal = (self - along(mean)) * scale
        return normal if bias is None else normal + along(bias)

    @float_function
    def layernorm(
        self,
        axis: Axes = -1,
        eps: float = 1e-5,
        weight: Self | None = None,
        bias: Self | None = None,
    ) -> Self:
        """Mean 0 and variance 1 over `axis`; each sample by itself.

        Ba, Kiros and Hinton, "Layer normalization" (2016).
        """
        distances = self - self.mean(axis, keepdim=True)
        variance = distances.square().mean(axis, keepdim=True)
        return (distances * (variance + eps).rsqrt())._scaled(weight, bias)

    @float_function
    def groupnorm(
        self,
        num_groups: int,
        weight: Self | None = None,
        bias: Self | None = None,
        eps: float = 1e-5,
    ) -> Self:
        """The channels (axis 1) in groups, each normalized over its channels and all positions.

        weight and bias: (channels,). ShapeError where the groups do not divide the channels.
        Wu and He, "Group normalization" (2018).
        """
        if self.ndim < 2 or num_groups < 1 or self.shape[1] % num_groups:
            raise ShapeError(f"axis 1 of {self.shape} does not divide into {num_groups} groups")
        groups = self.reshape((self.shape[0], num_groups, -1))
        normal = groups.layernorm(-1, eps).reshape(self.shape)
        channels = (1, -1, *(1,) * (self.ndim - 2))
        scale, shift = [None if p is None else p.reshape(channels) for p in (weight, bias)]
        return normal._scaled(scale, shift)

    @float_function
    def rms_norm(self, axis: Axes = -1, eps: float = 1e-6, weight: Self | None = None) -> Self:
        """Divided by the root of the mean square over `axis`.

        Zhang and Sennrich, "Root mean square layer normalization" (2019).
        """
        mean_square = self.square().mean(axis, keepdim=True)
        return (self * (mean_square + eps).rsqrt())._scaled(weight, None)

    def _scaled(self, weight: Self | None, bias: Self | None) -> Self:
        x = self if weight is None else self * weight
        return x if bias is None else x + bias
