"""Layers as methods: linear maps, embedding tables, dropout, normalization, attention."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Self

from tinyframe.dtype import dtypes, least_upper_dtype
from tinyframe.errors import DTypeError, ShapeError
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.elementwise import float_function

Axes = int | Sequence[int]


class Neural(TensorBase):
    """The methods behind the layers of `nn`."""

    def linear(self, weight: Self, bias: Self | None = None, dtype: Any = None) -> Self:
        """self @ weight + bias, with weight (in, out); a weight of one axis is multiplied
        elementwise."""
        x, w = (self, weight) if dtype is None else (self.cast(dtype), weight.cast(dtype))
        product = x * w if w.ndim == 1 else x.dot(w)
        return product if bias is None else product + bias

    def sequential(self, layers: Sequence[Any]) -> Self:
        """Functions applied one after the other."""
        return functools.reduce(lambda x, layer: layer(x), layers, self)

    def embedding(self, weight: Self) -> Self:
        """Row i of a table for each index i: (…,) of ints to (…, size), with weight (rows, size).

        Out of bounds: TensorIndexError where that is known, else a row of NaN. DTypeError if the
        indices are not ints.
        """
        if not dtypes.is_int(self.dtype):
            raise DTypeError(f'a table is indexed with ints, not {self.dtype}: take cast("int32")')
        if weight.ndim != 2:
            raise ShapeError(f"a table has two axes (rows, size), not {weight._dims}")
        return weight._take(0, weight._index_tensor(self, 0))

    def dropout(self, p: float = 0.5) -> Self:
        """In training, each element is 0 with probability p, and otherwise scaled by 1 / (1 - p).

        The mean stays the same. Outside `Tensor.train()` nothing changes. ValueError if p is not a
        probability. Srivastava et al., "Dropout" (2014).
        """
        if not 0 <= p <= 1:
            raise ValueError(f"dropout needs a probability from 0 to 1, not {p}")
        if not type(self).training or p == 0:
            return self._value()
        if p == 1:
            return self.zeros_like()
        # Stored, one byte each: the gradient reads the mask, which is cheaper than drawing anew.
        kept = (self.rand(self.shape, dtype=dtypes.float32, device=self.device) >= p).contiguous()
        return kept.where(self, 0) / (1 - p)

    # ---- normalization; weight and bias scale and shift the result -------------------------------

    def batchnorm(
        self, weight: Self | None, bias: Self | None, mean: Self, invstd: Self, axis: Axes = 1
    ) -> Self:
        """(self - mean) * invstd * weight + bias, with one value of each per index of `axis`.

        mean, invstd: the statistics of a batch, or running ones; invstd = 1/sqrt(variance + eps).
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
        """Normalized to mean 0 and variance 1 over `axis`.

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
        """Groups of channels (axis 1), each normalized over its channels and all positions.

        weight and bias: (channels,). ShapeError if the groups do not divide the channels.
        Wu and He, "Group normalization" (2018).
        """
        if self.ndim < 2 or num_groups < 1 or self.shape[1] % num_groups:
            raise ShapeError(f"axis 1 of {self._dims} does not divide into {num_groups} groups")
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

    # ---- attention -------------------------------------------------------------------------------

    def scaled_dot_product_attention(
        self,
        key: Self,
        value: Self,
        attn_mask: Self | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        enable_gqa: bool = False,
    ) -> Self:
        """softmax(self @ key.T / sqrt(size) + mask) @ value.

        self: (…, queries, size). key: (…, keys, size). value: (…, keys, out). attn_mask, broadcast
        to (…, queries, keys): bools, True where attention is allowed, or numbers to add.
        is_causal: query i attends to keys 0 to i; RuntimeError together with a mask. enable_gqa:
        fewer heads (axis -3) of keys and values, each shared by a group of query heads. dropout_p:
        for the weights, in training. A query without any allowed key gets zeros.

        Vaswani et al., "Attention is all you need" (2017); grouped queries: Ainslie et al. (2023).
        """
        if is_causal and attn_mask is not None:
            raise RuntimeError("attention takes either attn_mask or is_causal=True, not both")
        if enable_gqa:
            key, value = self._for_each_head(key), self._for_each_head(value)
        weights = self._attention_weights(key, attn_mask, is_causal)
        return weights.dropout(dropout_p) @ value

    def _attention_weights(self, key: Self, attn_mask: Self | None, is_causal: bool) -> Self:
        """The softmax in `scaled_dot_product_attention`: (…, queries, keys)."""
        dtype = least_upper_dtype(self.dtype, key.dtype, dtypes.float32)
        scores = self.matmul(key.transpose(-2, -1), dtype=dtype) / math.sqrt(self.shape[-1])
        hidden = None
        if is_causal:
            queries, keys = scores.shape[-2:]
            rows = self._range(queries).reshape((-1, 1))
            later = self._range(keys) > rows
            scores = later.where(-math.inf, scores)
        if attn_mask is not None:
            if attn_mask.dtype is dtypes.bool:
                scores = attn_mask.where(scores, -math.inf)
            else:
                scores = scores + attn_mask
            hidden = (scores == -math.inf).all(-1, keepdim=True)
            scores = hidden.where(0.0, scores)  # a softmax over -inf only would be NaN
        weights = scores.softmax(-1)
        if hidden is not None:
            weights = hidden.where(0.0, weights)
        return weights.cast(self.dtype)

    def _for_each_head(self, shared: Self) -> Self:
        """Keys or values, repeated to as many heads as this Tensor has."""
        heads, groups = self.shape[-3], shared.shape[-3]
        if heads % groups:
            raise ShapeError(f"{heads} heads of queries do not divide among {groups} of keys")
        return shared.repeat_interleave(heads // groups, dim=-3)
