"""Initial values of parameters, drawn as in PyTorch, and memory for the state of layers.

Random values stay lazy, as `contiguous()`: the first use stores them. Zeros and ones need no memory
until they are written to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tinyframe.device import buffer_of
from tinyframe.dtype import DTypeLike, to_np_dtype
from tinyframe.tensor.base import as_int
from tinyframe.tensor.core import Tensor


def by_fan_in(shape: Sequence[int], fan_in: int) -> Tensor:
    """Uniform from -1/sqrt(fan_in) to 1/sqrt(fan_in), for weights and biases.

    fan_in: the number of inputs of each output. PyTorch writes it as `kaiming_uniform_`
    with a = sqrt(5): He et al., "Delving deep into rectifiers" (2015), with another gain.
    """
    bound = 1 / math.sqrt(max(1, as_int(fan_in)))
    return Tensor.uniform(*shape, low=-bound, high=bound).contiguous()


def kept(
    value: Tensor | float,
    shape: Sequence[int] = (),
    dtype: DTypeLike | None = None,
    device: str | None = None,
) -> Tensor:
    """`value` in memory of its own, for state that is updated in place and is not a parameter.

    Without it, two Tensors of zeros would be the same constant.
    """
    memory = Tensor.empty(*shape, dtype=dtype, device=device, requires_grad=False)
    number = to_np_dtype(memory.dtype)
    if isinstance(value, Tensor) or number is None:
        return memory.assign(value)
    # Written right away, or a kernel that fills memory would be compiled for every shape.
    filled = np.full(memory.numel(), value, number)
    buffer_of(memory.uop.base).copyin(memoryview(filled.view(np.uint8)))  # type: ignore[arg-type, unused-ignore]
    return memory
