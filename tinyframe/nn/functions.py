"""Layers without parameters: activations, dropout, pooling, shapes, losses. See `layer` for how
they work. Most are a method of Tensor and nothing else.

They have the arguments and defaults of PyTorch's layers, but for `inplace`: a lazy Tensor has
nothing to gain from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tinyframe.nn.layer import REQUIRED, layer
from tinyframe.tensor.convolution import for_axes
from tinyframe.tensor.core import Tensor

# ---- activations ---------------------------------------------------------------------------------

ReLU, ReLU6 = layer(Tensor.relu, "ReLU", 1), layer(Tensor.relu6, "ReLU6", 1)
ELU, CELU = layer(Tensor.elu, "ELU", 1), layer(Tensor.celu, "CELU", 1)
SELU, Mish = layer(Tensor.selu, "SELU", 1, {}), layer(Tensor.mish, "Mish", 1)
# PyTorch's default is exact; that of the method is the approximation.
GELU = layer(Tensor.gelu, "GELU", 1, {"approximate": "none"})
SiLU, Softsign = layer(Tensor.silu, "SiLU", 1), layer(Tensor.softsign, "Softsign", 1)
Sigmoid, LogSigmoid = layer(Tensor.sigmoid, "Sigmoid", 1), layer(Tensor.logsigmoid, "LogSigmoid", 1)
Hardsigmoid = layer(Tensor.hardsigmoid, "Hardsigmoid", 1, {})
Hardswish, Hardtanh = layer(Tensor.hardswish, "Hardswish", 1), layer(Tensor.hardtanh, "Hardtanh", 1)
Tanh, Softplus = layer(Tensor.tanh, "Tanh", 1), layer(Tensor.softplus, "Softplus", 1)
Softmax = layer(Tensor.softmax, "Softmax", 1, {"dim": -1})
LogSoftmax = layer(Tensor.log_softmax, "LogSoftmax", 1, {"dim": -1})


@layer
def LeakyReLU(x: Tensor, /, negative_slope: float = 0.01) -> Tensor:
    """x above 0, x * negative_slope below."""
    return x.leaky_relu(negative_slope)


# ---- the same values -----------------------------------------------------------------------------


@layer
def Identity(x: Tensor, /) -> Tensor:
    """x itself: a placeholder where a layer is expected."""
    return x


Dropout = layer(Tensor.dropout, "Dropout", 1)
PixelShuffle = layer(Tensor.pixel_shuffle, "PixelShuffle", 1)
PixelUnshuffle = layer(Tensor.pixel_unshuffle, "PixelUnshuffle", 1)
Flatten = layer(Tensor.flatten, "Flatten", 1, {"start_dim": 1, "end_dim": -1})


@layer
def Unflatten(x: Tensor, /, dim: int, unflattened_size: Sequence[int]) -> Tensor:
    """One axis as several."""
    return x.unflatten(dim, unflattened_size)


# ---- pooling -------------------------------------------------------------------------------------


def _pool(name: str, method: str, **settings: Any) -> Any:
    """The pooling of this name over one axis, over two, and over three."""
    first = "output_size" if name.startswith("Adaptive") else "kernel_size"
    return [
        layer(for_axes(method, axes), f"{name}{axes}d", 1, {first: REQUIRED, **settings})
        for axes in (1, 2, 3)
    ]


MaxPool1d, MaxPool2d, MaxPool3d = _pool(
    "MaxPool", "max_pool2d",
    stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False,
)  # fmt: skip
AvgPool1d, AvgPool2d, AvgPool3d = _pool(
    "AvgPool", "avg_pool2d", stride=None, padding=0, ceil_mode=False, count_include_pad=True
)
AdaptiveAvgPool1d, AdaptiveAvgPool2d, _ = _pool("AdaptiveAvgPool", "adaptive_avg_pool2d")
AdaptiveMaxPool1d, AdaptiveMaxPool2d, _ = _pool(
    "AdaptiveMaxPool", "adaptive_max_pool2d", return_indices=False
)

# ---- two inputs ----------------------------------------------------------------------------------

CosineSimilarity = layer(Tensor.cosine_similarity, "CosineSimilarity", 2, {"dim": 1, "eps": 1e-8})
# Losses are called with the prediction and then the target. reduction: "mean", "sum" or "none".
MSELoss, L1Loss = layer(Tensor.mse_loss, "MSELoss", 2), layer(Tensor.l1_loss, "L1Loss", 2)
HuberLoss = layer(Tensor.huber_loss, "HuberLoss", 2)
SmoothL1Loss = layer(Tensor.smooth_l1_loss, "SmoothL1Loss", 2)
BCELoss = layer(Tensor.binary_crossentropy, "BCELoss", 2)
BCEWithLogitsLoss = layer(Tensor.binary_crossentropy_logits, "BCEWithLogitsLoss", 2)
KLDivLoss = layer(Tensor.kl_div, "KLDivLoss", 2)
NLLLoss = layer(
    Tensor.nll_loss, "NLLLoss", 2, {"weight": None, "ignore_index": -100, "reduction": "mean"}
)
CrossEntropyLoss = layer(
    Tensor.cross_entropy, "CrossEntropyLoss", 2,
    {"weight": None, "ignore_index": -100, "reduction": "mean", "label_smoothing": 0.0},
)  # fmt: skip
