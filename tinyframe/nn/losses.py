"""Losses as layers: how far a prediction is from what it should be. See `layer` for how they work.

They are called with the prediction and then the truth, and are Tensor's methods of that kind with
PyTorch's names. reduction: "mean", "sum" or "none".
"""

from __future__ import annotations

from tinyframe.nn.layer import layer
from tinyframe.tensor.core import Tensor


@layer
def MSELoss(x: Tensor, Y: Tensor, /, reduction: str = "mean") -> Tensor:
    """The squared distance."""
    return x.mse_loss(Y, reduction)


@layer
def L1Loss(x: Tensor, Y: Tensor, /, reduction: str = "mean") -> Tensor:
    """The distance."""
    return x.l1_loss(Y, reduction)


@layer
def HuberLoss(x: Tensor, Y: Tensor, /, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Half the squared distance up to delta, and from there on a line with that slope."""
    return x.huber_loss(Y, reduction, delta)


@layer
def SmoothL1Loss(x: Tensor, Y: Tensor, /, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """HuberLoss over beta: the distance, rounded off below beta."""
    return x.smooth_l1_loss(Y, reduction, beta)


@layer
def BCELoss(x: Tensor, Y: Tensor, /, reduction: str = "mean") -> Tensor:
    """-log of the probability of the truth, where x is that of 1 and Y is 1, 0 or between."""
    return x.binary_crossentropy(Y, reduction)


@layer
def BCEWithLogitsLoss(
    x: Tensor, Y: Tensor, /, reduction: str = "mean", pos_weight: Tensor | None = None
) -> Tensor:
    """BCELoss of sigmoid(x). pos_weight: how much more a 1 counts."""
    return x.binary_crossentropy_logits(Y, reduction, pos_weight)


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


@layer
def KLDivLoss(
    x: Tensor, Y: Tensor, /, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """The divergence of the distribution Y from that whose logarithms are x, element by element.

    reduction: also "batchmean", which is the divergence by its definition.
    """
    return x.kl_div(Y, reduction, log_target)
