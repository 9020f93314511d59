"""The encoder of a transformer: attention, then two linear maps, each added to what went in."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tinyframe.nn.attention import MultiheadAttention
from tinyframe.nn.linear import Linear
from tinyframe.nn.normalization import LayerNorm
from tinyframe.tensor.core import Tensor


class TransformerEncoderLayer:
    """Each position looks at all others, and then thinks for itself.

        x = norm1(x + self_attn(x))
        x = norm2(x + linear2(activation(linear1(x))))

    norm_first: the norm is of what goes into each half instead, x + self_attn(norm1(x)), which
    trains more easily. dropout: the probability that, in training, a weight of the attention or an
    element of what is added is 0. activation: "relu", "gelu" (exact) or a function. Input is
    (length, batch, d_model), with batch_first (batch, length, d_model).

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

        def look(x: Tensor) -> Tensor:
            out, _ = self.self_attn(
                x, None, None, src_key_padding_mask, False, src_mask, is_causal=is_causal
            )
            return out.dropout(self.dropout)

        def think(x: Tensor) -> Tensor:
            inner = self.activation(self.linear1(x)).dropout(self.dropout)
            return self.linear2(inner).dropout(self.dropout)

        x = src
        if self.norm_first:
            x = x + look(self.norm1(x))
            return x + think(self.norm2(x))
        x = self.norm1(x + look(x))
        return self.norm2(x + think(x))


class TransformerEncoder:
    """num_layers copies of a layer in a row, which all begin with its weights; then `norm`."""

    def __init__(
        self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Any = None
    ):
        self.layers = [copy.deepcopy(encoder_layer) for _ in range(num_layers)]
        self.norm = norm

    def __call__(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """In the shape of src; the masks are for every layer."""
        x = src
        for layer in self.layers:
            x = layer(x, mask, src_key_padding_mask, is_causal)
        return x if self.norm is None else self.norm(x)
