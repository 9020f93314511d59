"""Layers without parameters: activations, dropout, pooling, shapes, losses. See `layer` for how
they work. Most are a method of Tensor and nothing else.

They have the arguments and defaults of PyTorch's layers, but for `inplace`: a lazy Tensor has
nothing to gain from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tinyframe.nn.layer import Layer, layer
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.windows import one_per_axis

Sizes = int | Sequence[int]

# ---- activations --------------------------------------------------------------------------------

ReLU, ReLU6 = layer(Tensor.relu, "ReLU", 1), layer(Tensor.relu6, "ReLU6", 1)
ELU, CELU = layer(Tensor.elu, "ELU", 1), layer(Tensor.celu, "CELU", 1)
SiLU, Mish = layer(Tensor.silu, "SiLU", 1), layer(Tensor.mish, "Mish", 1)
Sigmoid, LogSigmoid = layer(Tensor.sigmoid, "Sigmoid", 1), layer(Tensor.logsigmoid, "LogSigmoid", 1)
Hardswish, Hardtanh = layer(Tensor.hardswish, "Hardswish", 1), layer(Tensor.hardtanh, "Hardtanh", 1)
Tanh, Softplus = layer(Tensor.tanh, "Tanh", 1), layer(Tensor.softplus, "Softplus", 1)
Softsign = layer(Tensor.softsign, "Softsign", 1)


@layer
def LeakyReLU(x: Tensor, /, negative_slope: float = 0.01) -> Tensor:
    """x above 0, x * negative_slope below."""
    return x.leaky_relu(negative_slope)


@layer
def SELU(x: Tensor, /) -> Tensor:
    """ELU, scaled so that activations keep mean 0 and variance 1. Klambauer et al. (2017)."""
    return x.selu()


@layer
def GELU(x: Tensor, /, approximate: str = "none") -> Tensor:
    """x * P(N(0, 1) <= x). approximate: "none" is exact, as in PyTorch; "tanh" is what the method
    gelu() does by default."""
    return x.gelu(approximate)


@layer
def Hardsigmoid(x: Tensor, /) -> Tensor:
    """x / 6 + 1/2, between 0 and 1."""
    return x.hardsigmoid()


@layer
def Softmax(x: Tensor, /, dim: int = -1) -> Tensor:
    """exp(x) divided by its sum along an axis: positive numbers that add up to 1."""
    return x.softmax(dim)


@layer
def LogSoftmax(x: Tensor, /, dim: int = -1) -> Tensor:
    """The logarithm of Softmax."""
    return x.log_softmax(dim)


# ---- the same, and with less --------------------------------------------------------------------


@layer
def Identity(x: Tensor, /) -> Tensor:
    """x itself, where a layer is asked for and none is wanted."""
    return x


Dropout = layer(Tensor.dropout, "Dropout", 1)

# ---- shapes -------------------------------------------------------------------------------------

PixelShuffle = layer(Tensor.pixel_shuffle, "PixelShuffle", 1)
PixelUnshuffle = layer(Tensor.pixel_unshuffle, "PixelUnshuffle", 1)


@layer
def Flatten(x: Tensor, /, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """The axes from start_dim to end_dim as one: by default (batch, everything else)."""
    return x.flatten(start_dim, end_dim)


@layer
def Unflatten(x: Tensor, /, dim: int, unflattened_size: Sequence[int]) -> Tensor:
    """One axis as several."""
    return x.unflatten(dim, unflattened_size)


@layer
def CosineSimilarity(x: Tensor, y: Tensor, /, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along an axis."""
    return x.cosine_similarity(y, dim, eps)


# ---- pooling ------------------------------------------------------------------------------------


def _max_pool(axes: int) -> type[Layer]:
    def pool(
        x: Tensor, /, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
        dilation: Sizes = 1, return_indices: bool = False, ceil_mode: bool = False,
    ) -> Tensor:  # fmt: skip
        kernel = one_per_axis(kernel_size, axes, "kernel_size")
        return x.max_pool2d(kernel, stride, dilation, padding, ceil_mode, return_indices)

    return _over(axes, "MaxPool", "The largest of each window", pool)


def _avg_pool(axes: int) -> type[Layer]:
    def pool(
        x: Tensor, /, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
    ) -> Tensor:  # fmt: skip
        kernel = one_per_axis(kernel_size, axes, "kernel_size")
        return x.avg_pool2d(kernel, stride, 1, padding, ceil_mode, count_include_pad)

    return _over(axes, "AvgPool", "The mean of each window", pool)


def _adaptive_avg_pool(axes: int) -> type[Layer]:
    def pool(x: Tensor, /, output_size: Any) -> Tensor:
        return x.adaptive_avg_pool2d(one_per_axis(output_size, axes, "output_size"))

    return _over(axes, "AdaptiveAvgPool", "The means of output_size parts", pool)


def _adaptive_max_pool(axes: int) -> type[Layer]:
    def pool(x: Tensor, /, output_size: Any, return_indices: bool = False) -> Tensor:
        sizes = one_per_axis(output_size, axes, "output_size")
        return x.adaptive_max_pool2d(sizes, return_indices)

    return _over(axes, "AdaptiveMaxPool", "The largest of output_size parts", pool)


def _over(axes: int, name: str, meaning: str, pool: Callable[..., Any]) -> type[Layer]:
    """The layer of a function over so many axes, with the name and docstring that this makes."""
    pool.__name__ = f"{name}{axes}d"
    pool.__doc__ = f"{meaning}, over the last {'axis' if axes == 1 else f'{axes} axes'}."
    return layer(pool)


MaxPool1d, MaxPool2d, MaxPool3d = map(_max_pool, (1, 2, 3))
AvgPool1d, AvgPool2d, AvgPool3d = map(_avg_pool, (1, 2, 3))
AdaptiveAvgPool1d, AdaptiveAvgPool2d = map(_adaptive_avg_pool, (1, 2))
AdaptiveMaxPool1d, AdaptiveMaxPool2d = map(_adaptive_max_pool, (1, 2))

# ---- losses -------------------------------------------------------------------------------------

# Called with the prediction and then the truth. reduction: "mean", "sum" or "none".
MSELoss, L1Loss = layer(Tensor.mse_loss, "MSELoss", 2), layer(Tensor.l1_loss, "L1Loss", 2)
HuberLoss = layer(Tensor.huber_loss, "HuberLoss", 2)
SmoothL1Loss = layer(Tensor.smooth_l1_loss, "SmoothL1Loss", 2)
BCELoss = layer(Tensor.binary_crossentropy, "BCELoss", 2)
BCEWithLogitsLoss = layer(Tensor.binary_crossentropy_logits, "BCEWithLogitsLoss", 2)
KLDivLoss = layer(Tensor.kl_div, "KLDivLoss", 2)


@layer
def NLLLoss(
    x: Tensor,
    Y: Tensor,
    /,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Minus the number of the right class, Y, where x are log-probabilities (batch, classes, …).

    weight: (classes,), how much each class counts. ignore_index: a class that does not.
    """
    return x.nll_loss(Y, weight, ignore_index, reduction)


@layer
def CrossEntropyLoss(
    x: Tensor,
    Y: Tensor,
    /,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """-log of the probability that softmax of x (batch, classes, …) gives the right class, Y.

    Y: ints (batch, …), or probabilities in the shape of x. weight and ignore_index: as of NLLLoss.
    label_smoothing: so much of the truth is spread evenly over all classes.
    """
    return x.cross_entropy(Y, reduction, label_smoothing, weight, ignore_index)
