"""Layers without parameters: the few that networks in a row are written with. See `layer`.

Every other function is a layer as it is: `Sequential(Linear(2, 8), Tensor.silu)`. They have the
arguments and defaults of PyTorch's layers, but for `inplace`: a lazy Tensor has nothing to gain
from it.
"""

from __future__ import annotations

from tinyframe.nn.layer import REQUIRED, layer
from tinyframe.tensor.core import Tensor

ReLU, Tanh = layer(Tensor.relu, "ReLU", 1), layer(Tensor.tanh, "Tanh", 1)
# PyTorch's default is exact; that of the method is the approximation.
GELU = layer(Tensor.gelu, "GELU", 1, {"approximate": "none"})
Dropout = layer(Tensor.dropout, "Dropout", 1)
Flatten = layer(Tensor.flatten, "Flatten", 1, {"start_dim": 1, "end_dim": -1})
MaxPool2d = layer(
    Tensor.max_pool2d, "MaxPool2d", 1,
    {"kernel_size": REQUIRED, "stride": None, "padding": 0, "dilation": 1,
     "return_indices": False, "ceil_mode": False},
)  # fmt: skip
