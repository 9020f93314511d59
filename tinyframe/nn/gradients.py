"""Gradient clipping.

    loss.backward()
    clip_grad_norm_(optimizer.params, 1.0)
    optimizer.step()

It happens between backward() and the optimizer's step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tinyframe.dtype import dtypes
from tinyframe.nn.optim import list_of_tensors
from tinyframe.tensor.core import Tensor


def clip_grad_norm_(
    parameters: Iterable[Tensor], max_norm: float, norm_type: float = 2.0
) -> Tensor:
    """Scales all gradients by one factor, so that their total norm is at most `max_norm`.

    Returns the norm before scaling, of all gradients as one vector, as a Tensor of shape ().
    norm_type: p of the p-norm; math.inf for the largest element.
    """
    listed = list_of_tensors([parameters] if isinstance(parameters, Tensor) else parameters)
    grads = list({id(t.grad): t.grad for t in listed if t.grad is not None}.values())
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
