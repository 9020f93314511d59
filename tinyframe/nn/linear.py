"""Linear, a weighted sum of all inputs for each output, and Embedding, a table of vectors."""

from __future__ import annotations

from tinyframe.errors import ShapeError
from tinyframe.nn.initial import by_fan_in
from tinyframe.nn.layer import TakesTensors
from tinyframe.tensor.core import Tensor


class Linear(TakesTensors):
    """x @ weight.T + bias, for x of shape (…, in_features).

    weight: (out_features, in_features), as PyTorch stores it. bias: (out_features,), or None.

        layer = Linear(784, 10)
        layer(Tensor.rand(32, 784)).shape    # (32, 10)
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True):
        self.weight = by_fan_in((out_features, in_features), in_features)
        self.bias = by_fan_in((out_features,), in_features) if bias else None

    def __call__(self, x: Tensor) -> Tensor:
        """(…, in_features) to (…, out_features). ShapeError if the last axis differs."""
        if x.ndim == 0 or x.shape[-1] != self.weight.shape[1]:
            raise ShapeError(
                f"Linear with weight {self.weight._dims} takes (..., {self.weight.shape[1]}), "
                f"not {x._dims}"
            )
        return x.linear(self.weight.transpose(), self.bias)


class Embedding(TakesTensors):
    """Row i of a table for each index i: (…,) of ints to (…, embed_size).

    weight: (vocab_size, embed_size), drawn from the normal distribution. An index out of bounds:
    see `Tensor.embedding`.
    """

    def __init__(self, vocab_size: int, embed_size: int):
        self.vocab_size, self.embed_size = vocab_size, embed_size
        self.weight = Tensor.randn(vocab_size, embed_size).contiguous()

    def __call__(self, index: Tensor) -> Tensor:
        """index: ints of any shape. DTypeError for floats."""
        return index.embedding(self.weight)
