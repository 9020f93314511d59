"""Neural networks: layers, optimizers, files of weights, datasets.

A layer is a plain object: its parameters are attributes that are Tensors, with PyTorch's names, and
it is called. A model is any object that holds layers; `nn.state` finds the parameters in it.

    class Model:
        def __init__(self):
            self.first, self.second = nn.Linear(784, 128), nn.Linear(128, 10)

        def __call__(self, x):
            return self.second(self.first(x).relu())

    model = Model()    # or nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = nn.optim.SGD(nn.state.get_parameters(model), lr=0.1)
"""

from tinyframe.nn import datasets, lr, optim, state
from tinyframe.nn.attention import MultiheadAttention, TransformerEncoderLayer
from tinyframe.nn.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from tinyframe.nn.functions import GELU, Dropout, Flatten, MaxPool2d, ReLU, Tanh
from tinyframe.nn.gradients import clip_grad_norm_
from tinyframe.nn.layer import Layer, Sequential, layer
from tinyframe.nn.linear import Embedding, Linear
from tinyframe.nn.loader import DataLoader
from tinyframe.nn.normalization import (
    BatchNorm,
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    LayerNorm2d,
    RMSNorm,
)
from tinyframe.nn.recurrent import GRU, LSTM, LSTMCell
from tinyframe.peer_settings import no_names
from tinyframe.tensor.core import Tensor

__getattr__ = no_names(__name__, Tensor)
