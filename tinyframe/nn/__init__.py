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
from tinyframe.nn.attention import MultiheadAttention
from tinyframe.nn.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from tinyframe.nn.functions import (
    CELU,
    ELU,
    GELU,
    SELU,
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    CosineSimilarity,
    Dropout,
    Flatten,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    Identity,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    Mish,
    PixelShuffle,
    PixelUnshuffle,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Softsign,
    Tanh,
    Unflatten,
)
from tinyframe.nn.gradients import GradScaler, clip_grad_norm_, clip_grad_value_
from tinyframe.nn.layer import Layer, Sequential, layer
from tinyframe.nn.linear import Embedding, Linear
from tinyframe.nn.loader import DataLoader
from tinyframe.nn.losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
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
from tinyframe.nn.recurrent import GRU, LSTM, RNN, LSTMCell
from tinyframe.nn.transformer import TransformerEncoder, TransformerEncoderLayer

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AvgPool1d",
    "AvgPool2d", "AvgPool3d", "BCELoss", "BCEWithLogitsLoss", "BatchNorm", "BatchNorm1d",
    "BatchNorm2d", "BatchNorm3d", "CELU", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d",
    "ConvTranspose2d", "ConvTranspose3d", "CosineSimilarity", "CrossEntropyLoss", "DataLoader",
    "Dropout", "ELU", "Embedding", "Flatten", "GELU", "GRU", "GradScaler", "GroupNorm",
    "Hardsigmoid", "Hardswish", "Hardtanh", "HuberLoss", "Identity", "InstanceNorm", "KLDivLoss",
    "L1Loss", "LSTM", "LSTMCell", "Layer", "LayerNorm", "LayerNorm2d", "LeakyReLU", "Linear",
    "LogSigmoid", "LogSoftmax", "MSELoss", "MaxPool1d", "MaxPool2d", "MaxPool3d", "Mish",
    "MultiheadAttention", "NLLLoss", "PixelShuffle", "PixelUnshuffle", "RMSNorm", "RNN", "ReLU",
    "ReLU6", "SELU", "Sequential", "SiLU", "Sigmoid", "SmoothL1Loss", "Softmax", "Softplus",
    "Softsign", "Tanh", "TransformerEncoder", "TransformerEncoderLayer", "Unflatten",
    "clip_grad_norm_", "clip_grad_value_", "datasets", "layer", "lr", "optim", "state",
]  # fmt: skip
