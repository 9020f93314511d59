"""Multi-head attention, and the transformer encoder built on it.

Each position has a query, a key and a value. The result of a query is a mean of all values,
weighted by how well their keys match the query:

    softmax(query @ keys.T / sqrt(size)) @ values

Several heads do this in parallel, each on its own part of the features.
Vaswani et al., "Attention is all you need" (2017).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tinyframe.dtype import dtypes
from tinyframe.errors import ShapeError
from tinyframe.nn.layer import TakesTensors
from tinyframe.nn.linear import Linear
from tinyframe.nn.normalization import LayerNorm
from tinyframe.tensor.core import Tensor


class MultiheadAttention(TakesTensors):
    """Attention with `num_heads` heads over embed_dim features, with PyTorch's parameters.

    in_proj_weight: (3 * embed_dim, embed_dim), stacked for query, key and value; if kdim or vdim
    differ, q_proj_weight, k_proj_weight and v_proj_weight instead. in_proj_bias:
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
        """(output, weights): the output has the shape of `query`; the weights are (batch, length,
        keys), or (batch, heads, length, keys) with average_attn_weights=False.

        key, value: by default `query`. key_padding_mask: (batch, keys), True where a key is
        ignored. attn_mask: (length, keys) or (batch * heads, length, keys), True where attention is
        not allowed, or floats to add. is_causal: no position attends to a later one. A query
        without any allowed key gets weights of 0, where PyTorch's are NaN.
        """
        key = query if key is None else key
        value = key if value is None else value
        sequences = [query, key, value]
        if {x.ndim for x in sequences} not in ({2}, {3}):
            raise ShapeError(
                f"attention takes (length, batch, features) or (length, features), not "
                f"{query._dims}, {key._dims} and {value._dims}"
            )
        single = query.ndim == 2
        if single:
            sequences = [x.unsqueeze(0) for x in sequences]
        elif not self.batch_first:
            sequences = [x.transpose(0, 1) for x in sequences]
        weights: Any = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        if self.in_proj_weight is not None:
            weights = self.in_proj_weight.split(self.embed_dim)
        biases: Any = (None, None, None)
        if self.in_proj_bias is not None:
            biases = self.in_proj_bias.split(self.embed_dim)
        q, k, v = [  # (batch, heads, length, features of a head)
            x.linear(weight.T, bias).reshape((*x.shape[:2], self.num_heads, -1)).transpose(1, 2)
            for x, weight, bias in zip(sequences, weights, biases, strict=True)
        ]
        if attn_mask is not None and attn_mask.ndim == 3:
            attn_mask = attn_mask.reshape((-1, self.num_heads, *attn_mask.shape[1:]))
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(-2).unsqueeze(-2)
        masks: Any = [
            mask.where(-math.inf, 0.0) if mask.dtype is dtypes.bool else mask
            for mask in (attn_mask, key_padding_mask)
            if mask is not None
        ]
        added = sum(masks[1:], masks[0]) if masks else None
        weights = q._attention_weights(k, added, is_causal).dropout(self.dropout)
        together = (weights @ v).transpose(1, 2).flatten(2)
        out = self.out_proj(together)
        shown = weights.mean(1) if average_attn_weights else weights
        if single:
            out, shown = out.squeeze(0), shown.squeeze(0)
        elif not self.batch_first:
            out = out.transpose(0, 1)
        return out, shown if need_weights else None


def _drawn(outputs: int, inputs: int) -> Tensor:
    """PyTorch's `xavier_uniform_`."""
    return Tensor.glorot_uniform(outputs, inputs).contiguous()


class TransformerEncoderLayer(TakesTensors):
    """Self-attention, then two linear maps at each position, both with residual connections.

        x = norm1(x + self_attn(x))
        x = norm2(x + linear2(activation(linear1(x))))

    norm_first: normalizes the input of each half instead, x + self_attn(norm1(x)), which trains
    more easily. dropout: for the attention weights and the residual branches, in training.
    activation: "relu", "gelu" (exact) or a function. Input is (length, batch, d_model), with
    batch_first (batch, length, d_model).

    Vaswani et al., "Attention is all you need" (2017).
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
    ):
        known = {"relu": Tensor.relu, "gelu": lambda x: x.gelu("none")}
        if not callable(activation) and activation not in known:
            raise ValueError(f'activation is "relu", "gelu" or a function, not {activation!r}')
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.dropout, self.norm_first = dropout, norm_first
        self.activation: Any = activation if callable(activation) else known[activation]

    def __call__(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """In the shape of src. src_mask: (length, length), src_key_padding_mask: (batch, length),
        is_causal: as for MultiheadAttention."""

        def attend(x: Tensor) -> Tensor:
            out, _ = self.self_attn(
                x, None, None, src_key_padding_mask, False, src_mask, is_causal=is_causal
            )
            return out.dropout(self.dropout)

        def feed_forward(x: Tensor) -> Tensor:
            inner = self.activation(self.linear1(x)).dropout(self.dropout)
            return self.linear2(inner).dropout(self.dropout)

        x = src
        if self.norm_first:
            x = x + attend(self.norm1(x))
            return x + feed_forward(self.norm2(x))
        x = self.norm1(x + attend(x))
        return self.norm2(x + feed_forward(x))
