"""Layers without parameters: activations, dropout, pooling, shapes. See `layer` for how they work.

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


@layer
def ReLU(x: Tensor, /) -> Tensor:
    """max(x, 0)."""
    return x.relu()


@layer
def ReLU6(x: Tensor, /) -> Tensor:
    """x between 0 and 6, and the nearer of these elsewhere."""
    return x.relu6()


@layer
def LeakyReLU(x: Tensor, /, negative_slope: float = 0.01) -> Tensor:
    """x above 0, x * negative_slope below."""
    return x.leaky_relu(negative_slope)


@layer
def ELU(x: Tensor, /, alpha: float = 1.0) -> Tensor:
    """x above 0, alpha * (exp(x) - 1) below. Clevert et al. (2016)."""
    return x.elu(alpha)


@layer
def CELU(x: Tensor, /, alpha: float = 1.0) -> Tensor:
    """x above 0, alpha * (exp(x / alpha) - 1) below."""
    return x.celu(alpha)


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
def SiLU(x: Tensor, /) -> Tensor:
    """x * sigmoid(x)."""
    return x.silu()


@layer
def Mish(x: Tensor, /) -> Tensor:
    """x * tanh(softplus(x))."""
    return x.mish()


@layer
def Sigmoid(x: Tensor, /) -> Tensor:
    """1 / (1 + exp(-x))."""
    return x.sigmoid()


@layer
def LogSigmoid(x: Tensor, /) -> Tensor:
    """log(sigmoid(x))."""
    return x.logsigmoid()


@layer
def Hardsigmoid(x: Tensor, /) -> Tensor:
    """x / 6 + 1/2, between 0 and 1."""
    return x.hardsigmoid()


@layer
def Hardswish(x: Tensor, /) -> Tensor:
    """x * Hardsigmoid(x)."""
    return x.hardswish()


@layer
def Hardtanh(x: Tensor, /, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x between min_val and max_val, and the nearer of these elsewhere."""
    return x.hardtanh(min_val, max_val)


@layer
def Tanh(x: Tensor, /) -> Tensor:
    """The hyperbolic tangent."""
    return x.tanh()


@layer
def Softplus(x: Tensor, /, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold."""
    return x.softplus(beta, threshold)


@layer
def Softsign(x: Tensor, /) -> Tensor:
    """x / (1 + |x|)."""
    return x.softsign()


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


@layer
def Dropout(x: Tensor, /, p: float = 0.5) -> Tensor:
    """In training (`with Tensor.train():`), 0 with probability p, else x / (1 - p)."""
    return x.dropout(p)


# ---- shapes -------------------------------------------------------------------------------------


@layer
def Flatten(x: Tensor, /, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """The axes from start_dim to end_dim as one: by default (batch, everything else)."""
    return x.flatten(start_dim, end_dim)


@layer
def Unflatten(x: Tensor, /, dim: int, unflattened_size: Sequence[int]) -> Tensor:
    """One axis as several."""
    return x.unflatten(dim, unflattened_size)


@layer
def PixelShuffle(x: Tensor, /, upscale_factor: int) -> Tensor:
    """(…, channels * r * r, height, width) to (…, channels, height * r, width * r)."""
    return x.pixel_shuffle(upscale_factor)


@layer
def PixelUnshuffle(x: Tensor, /, downscale_factor: int) -> Tensor:
    """(…, channels, height * r, width * r) to (…, channels * r * r, height, width)."""
    return x.pixel_unshuffle(downscale_factor)


@layer
def CosineSimilarity(x: Tensor, y: Tensor, /, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along an axis."""
    return x.cosine_similarity(y, dim, eps)


# ---- pooling ------------------------------------------------------------------------------------


def _max_pool(axes: int) -> type[Layer]:
    def pool(
        x: Tensor,
        /,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> Tensor:
        kernel = one_per_axis(kernel_size, axes, "kernel_size")
        return x.max_pool2d(kernel, stride, dilation, padding, ceil_mode, return_indices)

    return _over(axes, "MaxPool", "The largest of each window", pool)


def _avg_pool(axes: int) -> type[Layer]:
    def pool(
        x: Tensor,
        /,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Tensor:
        kernel = one_per_axis(kernel_size, axes, "kernel_size")
        return x.avg_pool2d(
            kernel, stride, padding=padding, ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
        )  # fmt: skip

    return _over(axes, "AvgPool", "The mean of each window", pool)


def _adaptive_avg_pool(axes: int) -> type[Layer]:
    def pool(x: Tensor, /, output_size: int | Sequence[int | None]) -> Tensor:
        return x.adaptive_avg_pool2d(one_per_axis(output_size, axes, "output_size"))  # type: ignore[arg-type]

    return _over(axes, "AdaptiveAvgPool", "The means of output_size parts", pool)


def _adaptive_max_pool(axes: int) -> type[Layer]:
    def pool(
        x: Tensor, /, output_size: int | Sequence[int | None], return_indices: bool = False
    ) -> Tensor:
        sizes = one_per_axis(output_size, axes, "output_size")  # type: ignore[arg-type]
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
