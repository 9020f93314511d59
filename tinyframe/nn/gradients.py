"""Gradient clipping, and loss scaling for training in half precision.

    loss.backward()
    clip_grad_norm_(optimizer.params, 1.0)
    optimizer.step()

Both happen between backward() and the optimizer's step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tinyframe.dtype import dtypes
from tinyframe.nn.initial import kept
from tinyframe.nn.optim import Optimizer, list_of_tensors
from tinyframe.tensor.core import Tensor


def clip_grad_norm_(
    parameters: Iterable[Tensor], max_norm: float, norm_type: float = 2.0
) -> Tensor:
    """Scales all gradients by one factor, so that their total norm is at most `max_norm`.

    Returns the norm before scaling, of all gradients as one vector, as a Tensor of shape ().
    norm_type: p of the p-norm; math.inf for the largest element.
    """
    grads = _gradients(parameters)
    if not grads:
        return Tensor.zeros()
    sizes = [grad.detach().abs().cast(dtypes.float32) for grad in grads]
    if norm_type == math.inf:
        norm = Tensor.stack(*[size.max() for size in sizes]).max()
    else:
        total = Tensor.stack(*[(size**norm_type).sum() for size in sizes]).sum()
        norm = total ** (1 / norm_type)
    # 1e-6 as in PyTorch, against division by 0.
    factor = (max_norm / (norm + 1e-6)).minimum(1.0)
    for grad in grads:
        grad.replace(grad * factor.cast(grad.dtype))
    return norm


def clip_grad_value_(parameters: Iterable[Tensor], clip_value: float) -> None:
    """Limits every element of the gradients to -clip_value … clip_value."""
    for grad in _gradients(parameters):
        grad.replace(grad.clip(-clip_value, clip_value))


def _gradients(parameters: Iterable[Tensor]) -> list[Tensor]:
    listed = [parameters] if isinstance(parameters, Tensor) else parameters
    found = {id(t.grad): t.grad for t in list_of_tensors(listed) if t.grad is not None}
    return list(found.values())


class GradScaler:
    """Keeps half gradients from underflowing: multiplies the loss by a scale, and divides the
    gradients by it.

    The scale grows over time. If a gradient becomes inf or NaN, the scale was too large: the
    optimizer skips that step, and the scale shrinks.

        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    init_scale: the first scale. growth_factor: its factor after growth_interval good steps.
    backoff_factor: its factor after a bad one.
    Micikevicius et al., "Mixed precision training" (2018).
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
    ):
        self.growth_factor, self.backoff_factor = growth_factor, backoff_factor
        self.growth_interval = growth_interval
        self._scale = kept(init_scale, (), dtypes.float32)
        self._good_steps = kept(0, (), dtypes.int32)
        self._is_bad = kept(False, (), dtypes.bool)
        self._unscaled: set[int] = set()

    def get_scale(self) -> Tensor:
        """The current scale."""
        return self._scale

    def scale(self, loss: Tensor) -> Tensor:
        """The loss times the scale, in float32 at least: half ends at 65504."""
        return loss * self._scale.detach().to(loss.device)

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients by the scale, for example to clip them; otherwise `step` does."""
        if id(optimizer) in self._unscaled:
            raise RuntimeError("unscale_() was called for this optimizer already; update() is next")
        self._unscaled.add(id(optimizer))
        bad = self._is_bad
        for grad in _gradients(optimizer.params):
            value = grad.cast(dtypes.float32) / self._scale.detach().to(grad.device)
            bad = bad | value.isfinite().all().logical_not().to(bad.device)
            grad.replace(value.cast(grad.dtype))
        self._is_bad.assign(bad)

    def step(self, optimizer: Optimizer) -> None:
        """The optimizer's step, skipped if a gradient is inf or NaN."""
        if id(optimizer) not in self._unscaled:
            self.unscale_(optimizer)
        optimizer.step(skip=self._is_bad)

    def update(self) -> None:
        """Adjusts the scale, after the steps of all optimizers."""
        good_steps = self._is_bad.where(0, self._good_steps + 1)
        is_time = good_steps == self.growth_interval
        factor = self._is_bad.where(
            self.backoff_factor, is_time.where(self.growth_factor, self._scale.ones_like())
        )
        self._scale.assign(self._scale * factor)
        self._good_steps.assign(is_time.where(0, good_steps))
        Tensor.realize(self._scale, self._good_steps)
        self._is_bad.assign(False)
        self._is_bad.realize()
        self._unscaled.clear()
