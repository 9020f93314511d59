"""MultiheadAttention: each position takes a weighted mean of what all positions offer.

A query asks, keys answer, and the better a key answers, the more of its value comes back:

    softmax(query @ keys.T / sqrt(size)) @ values

Several heads do that side by side, each in its own part of the features.
Vaswani et al., "Attention is all you need" (2017).
"""

from __future__ import annotations

import math

from tinyframe.dtype import dtypes
from tinyframe.errors import ShapeError
from tinyframe.nn.linear import Linear
from tinyframe.tensor.core import Tensor


class MultiheadAttention:
    """Attention with `num_heads` heads over embed_dim features, with PyTorch's parameters.

    in_proj_weight: (3 * embed_dim, embed_dim), for query, key and value one under the other; where
    kdim or vdim differ, q_proj_weight, k_proj_weight and v_proj_weight instead. in_proj_bias:
    (3 * embed_dim,). out_proj: a Linear. dropout: the probability that a weight is 0 in training.
    Input is (length, batch, embed_dim), with batch_first (batch, length, embed_dim); or without a
    batch (length, embed_dim).
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
    ):
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"{embed_dim} features do not divide among {num_heads} heads")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.batch_first = batch_first
        self.in_proj_weight = self.q_proj_weight = self.k_proj_weight = self.v_proj_weight = None
        key_size, value_size = kdim or embed_dim, vdim or embed_dim
        if key_size == value_size == embed_dim:
            self.in_proj_weight = _drawn(3 * embed_dim, embed_dim)
        else:
            self.q_proj_weight = _drawn(embed_dim, embed_dim)
            self.k_proj_weight = _drawn(embed_dim, key_size)
            self.v_proj_weight = _drawn(embed_dim, value_size)
        self.in_proj_bias = Tensor.zeros(3 * embed_dim) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        if bias:
            self.out_proj.bias = Tensor.zeros(embed_dim)

    def __call__(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """What comes back, in the shape of `query`, and the weights: (batch, length, keys), with
        average_attn_weights=False one for each head, (batch, heads, length, keys).

        key and value: `query` itself where None is given. key_padding_mask: (batch, keys), True
        where a key is not to be seen. attn_mask: (length, keys) or (batch * heads, length, keys),
        True where not to look, or floats to add. is_causal: each position sees none after it.
        """
        key = query if key is None else key
        value = key if value is None else value
        sequences = [query, key, value]
        if {x.ndim for x in sequences} not in ({2}, {3}):
            raise ShapeError(
                f"attention takes (length, batch, features) or (length, features), not "
                f"{query.shape}, {key.shape} and {value.shape}"
            )
        single = query.ndim == 2
        if single:
            sequences = [x.unsqueeze(0) for x in sequences]
        elif not self.batch_first:
            sequences = [x.transpose(0, 1) for x in sequences]
        q, k, v = [
            self._heads(x.linear(weight.T, bias))
            for x, weight, bias in zip(sequences, self._weights(), self._biases(), strict=True)
        ]
        scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.shape[-1]))
        scores = self._masked(scores, attn_mask, key_padding_mask, is_causal)
        weights = scores.softmax(-1).dropout(self.dropout)
        together = (weights @ v).transpose(1, 2).flatten(2)
        out = self.out_proj(together)
        shown = weights.mean(1) if average_attn_weights else weights
        if single:
            out, shown = out.squeeze(0), shown.squeeze(0)
        elif not self.batch_first:
            out = out.transpose(0, 1)
        return out, shown if need_weights else None

    def _weights(self) -> tuple[Tensor, ...]:
        if self.in_proj_weight is not None:
            return self.in_proj_weight.split(self.embed_dim)
        assert self.q_proj_weight is not None
        assert self.k_proj_weight is not None and self.v_proj_weight is not None
        return self.q_proj_weight, self.k_proj_weight, self.v_proj_weight

    def _biases(self) -> tuple[Tensor | None, ...]:
        if self.in_proj_bias is None:
            return None, None, None
        return self.in_proj_bias.split(self.embed_dim)

    def _heads(self, x: Tensor) -> Tensor:
        """(batch, length, features) as (batch, heads, length, features of a head)."""
        return x.reshape((*x.shape[:2], self.num_heads, -1)).transpose(1, 2)

    def _masked(
        self,
        scores: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool,
    ) -> Tensor:
        """The scores, -inf where a query is not to look."""
        if is_causal:
            length, keys = scores.shape[-2:]
            rows = Tensor.arange(length, device=scores.device).reshape(-1, 1)
            columns = Tensor.arange(keys, device=scores.device)
            scores = (columns > rows).where(-math.inf, scores)
        if attn_mask is not None and attn_mask.ndim == 3:
            attn_mask = attn_mask.reshape((-1, self.num_heads, *attn_mask.shape[1:]))
        if key_padding_mask is not None:
            if key_padding_mask.ndim == 1:
                key_padding_mask = key_padding_mask.unsqueeze(0)
            key_padding_mask = key_padding_mask.reshape((key_padding_mask.shape[0], 1, 1, -1))
        for mask in (attn_mask, key_padding_mask):
            if mask is not None:
                hidden = mask.dtype is dtypes.bool
                scores = mask.where(-math.inf, scores) if hidden else scores + mask
        return scores


def _drawn(outputs: int, inputs: int) -> Tensor:
    """PyTorch's `xavier_uniform_`."""
    return Tensor.glorot_uniform(outputs, inputs).contiguous()
