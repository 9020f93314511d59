"""Attention: each query takes a mean of the values, weighted by how well the keys answer it."""

from __future__ import annotations

import math
from typing import Self

from tinyframe.dtype import dtypes, least_upper_dtype
from tinyframe.errors import ShapeError
from tinyframe.tensor.base import TensorBase


class Attention(TensorBase):
    """Scaled dot-product attention."""

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

        self: (…, queries, size). key: (…, keys, size). value: (…, keys, out). attn_mask, which
        broadcasts to (…, queries, keys): bools, True where to look, or numbers to add.
        is_causal: query i sees keys 0 to i only; RuntimeError together with a mask. enable_gqa:
        fewer heads (axis -3) of keys and values, each for a group of the query's heads. dropout_p:
        for the weights, in training. A query that may not look anywhere gets zeros.

        Vaswani et al., "Attention is all you need" (2017); grouped queries: Ainslie et al. (2023).
        """
        if is_causal and attn_mask is not None:
            raise RuntimeError("attention takes either attn_mask or is_causal=True, not both")
        if enable_gqa:
            key, value = self._for_each_head(key), self._for_each_head(value)
        dtype = least_upper_dtype(self.dtype, key.dtype, dtypes.float32)
        scores = self.matmul(key.transpose(-2, -1), dtype=dtype) / math.sqrt(self.shape[-1])
        hidden = None
        if is_causal:
            queries, keys = scores.shape[-2:]
            rows = self._range(queries).reshape((-1, 1))
            later = self._range(keys) > rows
            scores = later.where(-math.inf, scores)
        elif attn_mask is not None:
            if attn_mask.dtype is dtypes.bool:
                scores = attn_mask.where(scores, -math.inf)
            else:
                scores = scores + attn_mask
            hidden = (scores == -math.inf).all(-1, keepdim=True)
            scores = hidden.where(0.0, scores)  # a softmax of nothing would be NaN
        weights = scores.softmax(-1)
        if hidden is not None:
            weights = hidden.where(0.0, weights)
        return weights.cast(self.dtype).dropout(dropout_p) @ value

    def _for_each_head(self, shared: Self) -> Self:
        """Keys or values, repeated so that there is one head for each of this Tensor's."""
        heads, groups = self.shape[-3], shared.shape[-3]
        if heads % groups:
            raise ShapeError(f"{heads} heads of queries do not divide among {groups} of keys")
        return shared.repeat_interleave(heads // groups, dim=-3)
